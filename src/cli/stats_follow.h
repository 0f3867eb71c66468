/* Follows the spools of a folder while their processes run, and keeps statistics of them
 * (stats/stats.h) in a file, which grows by the interval. When an activity is an outlier, copies
 * what the ring of its process holds into a recording.
 *
 * Threading: one thread starts and finishes; a thread of its own, which blocks all signals, reads.
 * The traced processes never wait for it. */
#ifndef DAGTAP_CLI_STATS_FOLLOW_H
#define DAGTAP_CLI_STATS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error_text.h"

struct stats_follow;

/* All texts live until stats_follow_finish. */
struct stats_follow_options {
	const char *output; /* the file of statistics; made when the first process is found */
	bool force;	    /* replaces an existing file then, but only a regular one */
	const char *folder; /* of spools, for messages */
	/* Else a spool is removed when it is read to its end and its statistics are written. */
	bool keep_spool;
	const char *command; /* of the recording */
	uint64_t interval_ns;
	double outlier_factor; /* stats.outlier_factor */
	const char *metrics;   /* an address of metrics_door.h; NULL: none */
};

struct stats_follow_result {
	uint32_t processes; /* whose recordings were read */
	uint32_t failed;    /* of these, recordings that could not be followed */
	uint64_t activities, keys;
	uint64_t lost, dropped, no_writer, left_out; /* as in struct stat_process */
	uint64_t missing;			     /* as in struct stat_deliveries */
	uint64_t outliers, snapshots;
	uint64_t snapshots_failed; /* outliers of which no recording could be made */
	uint64_t file_bytes;
	int write_error; /* a negative errno: the file is not complete */
	/* Why the first of the failed ones could not be followed. */
	struct dagtap_error failure;
	struct dagtap_error snapshot_failure; /* the same of the first of snapshots_failed */
};

/* Makes the file without its name, and answers for metrics; the folder of spools need not exist
 * yet. Returns 0, or a negative errno with ERROR filled: of replace_begin (base/replace.h), of
 * metrics_door_open, or -ENOMEM. */
int stats_follow_open(const struct stats_follow_options *options, struct stats_follow **ret_follow,
		      struct dagtap_error *error);

/* Starts to read the folder of spools FOLDER_FD, which is open until stats_follow_finish. Returns
 * 0, or a negative errno of pthread_create with ERROR filled. */
int stats_follow_start(struct stats_follow *follow, int folder_fd, struct dagtap_error *error);

/* The address of the metrics; NULL: there are none. */
const char *stats_follow_address(const struct stats_follow *follow);

/* Reads what is left once the processes have ended, ends the file, and frees FOLLOW. If no process
 * was found, or nothing was started, no file is made, and an existing one is as it was. */
void stats_follow_finish(struct stats_follow *follow, struct stats_follow_result *ret_result);

#endif
