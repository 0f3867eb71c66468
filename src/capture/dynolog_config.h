/* The text by which dynolog's daemon asks for a trace: lines KEY=VALUE, as Kineto reads them.
 * Threading: nothing is shared. */
#ifndef DAGTAP_CAPTURE_DYNOLOG_CONFIG_H
#define DAGTAP_CAPTURE_DYNOLOG_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DYNOLOG_DURATION_MS 500 /* Kineto's, where the text has none */

struct dynolog_config {
	uint64_t start_ms;    /* PROFILE_START_TIME: ms since the epoch; 0: now */
	uint64_t duration_ms; /* ACTIVITIES_DURATION_MSECS */
	bool has_duration;    /* or it is the default */
	/* ACTIVITIES_ITERATIONS: it asks for so many iterations of the program; 0: it does not. The
	 * first, and of what it is a multiple if that one is over: PROFILE_START_ITERATION and
	 * PROFILE_START_ITERATION_ROUNDUP. */
	uint64_t iterations, first_iteration, round_up;
	char log_file[PATH_MAX]; /* ACTIVITIES_LOG_FILE, without "file://"; "": not given */
};

/* Reads TEXT, of BYTES bytes, which need not be terminated. Unknown keys, comments and lines that
 * cannot be parsed are skipped. Returns false if no line is KEY=VALUE. */
bool dynolog_config_read(const char *text, size_t bytes, struct dynolog_config *ret_config);

/* Makes the name of the file that process PID writes, as Kineto does: "_PID" stands before the last
 * ".json", or at the end where there is none. A relative name begins in FOLDER. Returns false if
 * it does not fit. */
bool dynolog_output_name(const char *log_file, const char *folder, pid_t pid,
			 char ret_name[PATH_MAX]);

#endif
