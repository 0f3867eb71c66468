/* From a folder of spools to one .dagtap file. */
#ifndef DAGTAP_CLI_GATHER_H
#define DAGTAP_CLI_GATHER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/bundle.h"

struct gather_request {
	const char *folder; /* of the spools: what messages call it */
	int folder_fd;
	const char *output;
	bool force;	 /* replace OUTPUT */
	bool leave_live; /* spools whose process still records stay where they are */
	bool keep;	 /* the others stay too, once they are in OUTPUT */
	const struct bundle_meta *meta;
};

#define GATHER_ABSENCE_BYTES 512

struct gather_result {
	uint32_t spool_count;	/* 0: none to gather, and no file was written */
	uint32_t live_count;	/* left alone */
	uint32_t foreign_count; /* of that name, and no files of their own: left alone and told */
	uint64_t file_bytes;
	uint64_t dispatches, calls; /* records that are in it */
	uint64_t lost;		    /* that no room was found for */
	bool is_truncated;	    /* a process was killed, or still runs */
	bool is_damaged;	    /* a spool does not hold what its process wrote */

	/* Of the first process that recorded no work of a GPU: the source that could not be used, and why; "" if
	 * none says so. */
	char absence[GATHER_ABSENCE_BYTES];
};

int gather_spools(const struct gather_request *request, struct gather_result *ret_result,
		  struct dagtap_error *error);

/* A signal handler: gather_spools, under way or yet to come, ends with -EINTR and writes no OUTPUT. */
void gather_interrupt(int signal_number);
bool gather_is_interrupted(void);

/* Spools in the folder FD whose process is alive and still records. */
uint32_t gather_count_live(int folder_fd);

/* Spools whose process is alive; it may have done with recording and be about to end. */
uint32_t gather_count_processes(int folder_fd);

/* Writes a line to OUT for each process that left word in the folder of why it has no spool;
 * returns how many. */
uint32_t gather_tell_lost(int folder_fd, FILE *out);

#endif
