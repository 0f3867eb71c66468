/* Files of statistics: JSON lines, as docs/stats.md describes them. A file is written line by line
 * while the program runs, so after a kill it holds all intervals but the last one.
 *
 * Threading: one thread at a time uses a writer; reading shares nothing. */
#ifndef DAGTAP_STATS_STATS_FILE_H
#define DAGTAP_STATS_STATS_FILE_H

#include <stdio.h>

#include "base/error_text.h"
#include "stats/stats.h"

#define STATS_FILE_VERSION 1

/* The cause of the records that `no_writer` counts, for messages. */
#define STATS_NO_WRITER "more threads at once than can be recorded (511 in a ring)"

struct stats_writer {
	FILE *out;	       /* the caller's */
	uint32_t keys_written; /* keys of stats that have their line */
	uint32_t processes_written;
	int error; /* of the first write that failed */
};

/* Write a line, or lines; each is flushed. Return 0 or a negative errno. After a write that failed
 * nothing more is written, so the file is cut off in its last line at most; all functions then
 * return the error of that write. COMMAND and HOST are of the recording; times are CLOCK_REALTIME,
 * ns. */
int stats_write_head(struct stats_writer *writer, FILE *out, const char *host, const char *command,
		     uint64_t start_ns);

/* Writes the open interval of PROCESS, and before it the keys and processes that are new. Writes no
 * line if the interval holds nothing. */
int stats_write_interval(struct stats_writer *writer, const struct stats *stats, uint32_t process,
			 uint64_t begin_ns, uint64_t end_ns);

/* Writes what PROCESS launched and what came of it so far. Writes no line if it is not known, or as
 * it was at the end of the last interval. */
int stats_write_deliveries(struct stats_writer *writer, const struct stats *stats,
			   uint32_t process);

/* FILE is the recording that holds its rows; NULL: none was written. */
int stats_write_outlier(struct stats_writer *writer, const struct stats *stats,
			const struct stat_outlier *outlier, const char *file);

/* The last line of PROCESS. */
int stats_write_end(struct stats_writer *writer, const struct stats *stats, uint32_t process);

/* What stats_read has met besides statistics; the counts add up over the files that were read. */
struct stats_reading {
	uint64_t files;
	uint64_t processes, processes_ended;	 /* without an end: killed, or still recorded */
	uint64_t intervals, outliers, snapshots; /* outliers of which rows were written */
	/* As in struct stat_process. */
	uint64_t lost, dropped, no_writer, cut_off, left_out;
	uint64_t cut_lines;		   /* files whose last line is cut off */
	uint64_t begin_ns, end_ns;	   /* of all intervals; 0: there are none */
	struct stat_deliveries deliveries; /* of each process the last line */
};

/* Reads the file at PATH and adds its statistics to process 0 of STATS, which has it, and to
 * READING. Returns 0, or with ERROR filled -EBADMSG (not such a file, or damaged; the error says
 * the line), -EPROTONOSUPPORT (another version), -ENOMEM, or the errno of open or read. */
int stats_read(const char *path, struct stats *stats, struct stats_reading *reading,
	       struct dagtap_error *error);

/* The same for a stream, which stays the caller's; NAME stands for it in messages. */
int stats_read_stream(FILE *in, const char *name, struct stats *stats,
		      struct stats_reading *reading, struct dagtap_error *error);

#endif
