/* What dagtap record --stats does before and after the program runs. Threading: the main thread. */
#ifndef DAGTAP_CLI_RECORD_STATS_H
#define DAGTAP_CLI_RECORD_STATS_H

#include "cli/cli.h"
#include "cli/record_options.h"
#include "cli/spool_folder.h"
#include "cli/stats_follow.h"

/* Checks the options that belong to --stats and sets their defaults. Returns CLI_OK, or CLI_USAGE
 * after a message. */
int record_stats_check(const struct cli_command *self, struct record_options *options);

/* Opens all that statistics need, before the folder of spools FOLDER is made. COMMAND lives until
 * record_stats_end. Returns CLI_OK, or CLI_FAILED after a message. */
int record_stats_open(const struct record_options *options, const struct spool_folder *folder,
		      const char *command, struct stats_follow **ret_follow);

/* Begins to follow what is recorded in FOLDER. Returns CLI_OK, or CLI_FAILED after a message. */
int record_stats_begin(const struct record_options *options, const struct spool_folder *folder,
		       struct stats_follow *follow);

/* Ends it, and tells the result unless --quiet is given. HAS_SURVIVORS: some processes still
 * record. Without a recording the file is removed. *RET_IS_COMPLETE: all recordings were read, and
 * the file was written. Returns CLI_OK, or CLI_FAILED after a message. */
int record_stats_end(const struct record_options *options, struct stats_follow *follow,
		     bool has_survivors, bool *ret_is_complete);

#endif
