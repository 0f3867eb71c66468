/* Packs a folder of spools into one .dagtap file. Threading: the main thread, and
 * gather_interrupt in a signal handler. */
#ifndef DAGTAP_CLI_GATHER_H
#define DAGTAP_CLI_GATHER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error_text.h"
#include "trace/pack/bundle.h"

struct gather_request {
	const char *folder; /* name of the folder of spools, for messages */
	int folder_fd;
	const char *output; /* path of the .dagtap file */
	bool force;	    /* replaces an existing output */
	bool leave_live;    /* leaves spools alone whose process still records */
	bool keep;	    /* does not remove the gathered spools */
	const struct bundle_meta *meta;
};

#define GATHER_ABSENCE_BYTES 512

struct gather_result {
	uint32_t spool_count;	/* gathered spools; 0: no file was written */
	uint32_t live_count;	/* spools left alone because their process still records */
	uint32_t foreign_count; /* spool names that are no regular files: left alone, reported */
	uint64_t file_bytes;
	uint64_t dispatches, calls; /* records in the file */
	uint64_t lost;		    /* records that were dropped for any cause but a ring */
	bool is_truncated;	    /* a process was killed, or still runs */
	bool is_damaged;	    /* a spool does not hold what its process wrote */

	/* Of the first process that recorded no work of a GPU: the capture source that is absent,
	 * and the reason; "" if none is reported. */
	char absence[GATHER_ABSENCE_BYTES];
};

/* Packs the spools of the folder into request->output, shows the progress on stderr if that is a
 * terminal, and removes the spools unless `keep` is set. A file that is no readable spool is
 * stored unchanged. Returns 0; or a negative errno with ERROR filled, and then neither writes the
 * output nor removes a spool. */
int gather_spools(const struct gather_request *request, struct gather_result *ret_result,
		  struct dagtap_error *error);

/* Packs the one spool NAME, whose process may be recording: then up to one moment. Removes nothing.
 * Otherwise as gather_spools; -EEXIST if the output exists and is not to be replaced. */
int gather_one(const struct gather_request *request, const char *name,
	       struct gather_result *ret_result, struct dagtap_error *error);

/* A signal handler. A gather_spools that is running, and every later one, fails with -EINTR. */
void gather_interrupt(int signal_number);

/* Whether gather_interrupt has run. */
bool gather_is_interrupted(void);

/* Writes a line to OUT for each process that could not make a spool and left a file with its errno
 * (SPOOL_LOST_SUFFIX). Returns how many. */
uint32_t gather_tell_lost(int folder_fd, FILE *out);

#endif
