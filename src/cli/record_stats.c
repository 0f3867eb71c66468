/* The options, the begin and the end of statistics: see record_stats.h. */
#include "cli/record_stats.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/human.h"
#include "cli/machine_probe.h"
#include "cli/stats_snapshot.h"
#include "stats/stats_file.h"

#define INTERVAL_NS    60000000000u
#define OUTLIER_FACTOR 8
#define RING	       "64M"
#define RING_BYTES     (64u << 20)

int record_stats_check(const struct cli_command *self, struct record_options *options)
{
	if (!options->has_stats)
		return options->interval_ns || options->outlier || options->metrics
			       ? cli_usage(self, "--stats-interval, --outlier and --metrics need "
						 "--stats")
			       : CLI_OK;
	if (options->sdk || options->has_dynolog)
		return cli_usage(self, "--stats cannot be combined with --sdk or --dynolog: they "
				       "need all rows");
	if (!options->interval_ns)
		options->interval_ns = INTERVAL_NS;
	if (!options->outlier)
		options->outlier_factor = OUTLIER_FACTOR;
	if (!options->ring) {
		options->ring = RING;
		options->ring_bytes = RING_BYTES;
	}
	return CLI_OK;
}

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	human_print_to(stderr, "dagtap: ", format, args);
	va_end(args);
}

int record_stats_open(const struct record_options *options, const struct spool_folder *folder,
		      const char *command, struct stats_follow **ret_follow)
{
	const struct stats_follow_options wanted = {
		.output = options->output,
		.force = options->force,
		.folder = folder->path,
		.keep_spool = options->keep_spool,
		.command = command,
		.interval_ns = options->interval_ns,
		.outlier_factor = options->outlier_factor,
		.metrics = options->metrics,
	};
	struct dagtap_error error;

	return stats_follow_open(&wanted, ret_follow, &error) < 0 ? cli_fail_error(&error) : CLI_OK;
}

int record_stats_begin(const struct record_options *options, const struct spool_folder *folder,
		       struct stats_follow *follow)
{
	struct dagtap_error error;

	if (stats_follow_start(follow, folder->fd, &error) < 0)
		return cli_fail_error(&error);
	if (options->metrics && !options->quiet)
		tell("metrics at %s", stats_follow_address(follow));
	return CLI_OK;
}

/* What was not counted, or the empty text. */
static const char *loss_text(const struct stats_follow_result *result, char text[128])
{
	char lost[HUMAN_CHARS], dropped[HUMAN_CHARS];

	*text = '\0';
	if (result->lost || result->dropped)
		snprintf(text, 128, "; records not counted: %s reused by the ring, %s dropped",
			 human_count(result->lost, lost), human_count(result->dropped, dropped));
	return text;
}

/* Says where the rows around the outliers are, and why those of some are nowhere. */
static void tell_outliers(const char *output, const struct stats_follow_result *result)
{
	char *first = stats_snapshot_path(output, 1);
	char *last = stats_snapshot_path(output, result->snapshots);
	char count[HUMAN_CHARS], failed[HUMAN_CHARS];

	if (result->outliers && result->snapshots && first && last)
		tell("outliers: %s; the rows around %llu of them are in %s%s%s",
		     human_count(result->outliers, count), (unsigned long long)result->snapshots,
		     first, result->snapshots > 1 ? " to " : "", result->snapshots > 1 ? last : "");
	else if (result->outliers)
		tell("outliers: %s", human_count(result->outliers, count));
	if (result->snapshots_failed)
		tell("the rows around %s outlier%s were not copied: %s%s",
		     human_count(result->snapshots_failed, failed),
		     human_ending(result->snapshots_failed), result->snapshot_failure.message,
		     result->snapshot_failure.code == -EEXIST ? "; --force replaces it" : "");
	free(first);
	free(last);
}

static void tell_result(const char *output, const struct stats_follow_result *result)
{
	char size[HUMAN_CHARS], activities[HUMAN_CHARS], keys[HUMAN_CHARS], losses[128];

	tell("%s: %s, %s activities, %s keys%s", output, human_bytes(result->file_bytes, size),
	     human_count(result->activities, activities), human_count(result->keys, keys),
	     loss_text(result, losses));
	if (result->no_writer)
		tell("%s of these: " STATS_NO_WRITER, human_count(result->no_writer, keys));
	if (result->missing)
		tell("CUPTI did not deliver %s activities of launches that have ended, and did not "
		     "count them: see dagtap stats",
		     human_count(result->missing, keys));
	if (result->left_out)
		tell("%s records of graphs did not fit: some nodes have no statistics",
		     human_count(result->left_out, keys));
	tell_outliers(output, result);
}

int record_stats_end(const struct record_options *options, struct stats_follow *follow,
		     bool has_survivors, bool *ret_is_complete)
{
	struct stats_follow_result result;

	stats_follow_finish(follow, &result);
	*ret_is_complete = !result.failed && !result.write_error;
	if (result.processes == 0) {
		if (!options->quiet)
			tell("%s used no GPU: nothing recorded; %s", options->program[0],
			     machine_advise(options->softgpu));
		return CLI_OK;
	}
	if (!options->quiet)
		tell_result(options->output, &result);
	if (has_survivors && !options->quiet)
		tell("%s left processes running: what they record from now on is not counted",
		     options->program[0]);
	if (result.failed)
		return cli_fail("%u of %u recordings could not be followed: %s", result.failed,
				result.processes, result.failure.message);
	if (result.write_error)
		return cli_fail("%s: %s: the statistics are not complete", options->output,
				strerrordesc_np(-result.write_error));
	return CLI_OK;
}
