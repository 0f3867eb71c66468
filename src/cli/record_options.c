/* The table of options of dagtap record, and what checks and hands on their values; see
 * record_options.h. */
#include "cli/record_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/launcher.h"
#include "cli/metrics_door.h"
#include "format/words.h"
#include "record/environment.h"
#include "record/spooler.h"

static struct option_choice backend_choice(size_t index)
{
	static const char *const names[] = {
		[LAUNCH_AUTO] = "auto", [LAUNCH_HSA] = "hsa", [LAUNCH_CUDA] = "cuda", NULL};

	return (struct option_choice){.name = names[index]};
}

static struct option_choice mode_choice(size_t index)
{
	enum record_queue_mode mode = (enum record_queue_mode)(index + 1); /* 0 is unknown */

	return (struct option_choice){
		.name = mode < RECORD_QUEUE_MODE_COUNT ? words_queue_mode(mode) : NULL};
}

static int take_hsa_mode(const struct cli_command *self, const char *value, void *values)
{
	struct record_options *options = values;

	options->hsa_mode = value;
	for (size_t i = 0; mode_choice(i).name; i++) {
		if (!strcmp(value, mode_choice(i).name))
			return CLI_OK;
	}
	return cli_usage(self, "no HSA mode \"%s\"", value);
}

static struct option_choice calls_choice(size_t index)
{
	static const struct option_choice choices[] = {
		{.name = "selected",
		 .help = "those that launch, copy, set, allocate or free "
			 "memory, build graphs, or can wait"},
		{.name = "all", .help = "every call"},
		{.name = NULL},
	};

	return choices[index];
}

static int take_calls(const struct cli_command *self, const char *value, void *values)
{
	struct record_options *options = values;

	options->calls = value;
	for (size_t i = 0; calls_choice(i).name; i++) {
		if (!strcmp(value, calls_choice(i).name))
			return CLI_OK;
	}
	return cli_usage(self, "no calls \"%s\"", value);
}

static int take_ring(const struct cli_command *self, const char *value, void *values)
{
	struct record_options *options = values;
	uint64_t ns;

	options->ring = value;
	if (!amount_size_and_age(value, &options->ring_bytes, &ns))
		return cli_usage(self,
				 "--ring %s: neither a size (64M), nor seconds (30s), nor both "
				 "(64M,30s)",
				 value);
	if (!options->ring_bytes)
		options->ring_bytes = SPOOLER_RING_BYTES_DEFAULT;
	return CLI_OK;
}

static int take_ready(const struct cli_command *self, const char *value, void *values)
{
	struct record_options *options = values;
	uint64_t bytes = 0;
	const char *end = amount_bytes(value, &bytes);

	options->ready = value;
	if (!end || *end || !bytes)
		return cli_usage(self, "--ready %s: not a size (64M)", value);
	return CLI_OK;
}

static int take_seconds(const struct cli_command *self, const char *name, const char *value,
			const char **ret_value)
{
	uint64_t ns;

	*ret_value = value;
	if (!amount_seconds(value, &ns) || !ns)
		return cli_usage(self, "--%s %s: not a number of seconds (5, 0.5)", name, value);
	return CLI_OK;
}

static int take_delay(const struct cli_command *self, const char *value, void *values)
{
	return take_seconds(self, "delay", value, &((struct record_options *)values)->delay);
}

static int take_duration(const struct cli_command *self, const char *value, void *values)
{
	return take_seconds(self, "duration", value, &((struct record_options *)values)->duration);
}

static int take_scope(const struct cli_command *self, const char *value, void *values)
{
	((struct record_options *)values)->scope = value;
	if (!*value || strlen(value) >= RECORD_CAPTURE_RANGE_BYTES)
		return cli_usage(self, "--capture-range: the text of a scope has 1 to %d bytes",
				 RECORD_CAPTURE_RANGE_BYTES - 1);
	return CLI_OK;
}

static int take_iterations(const struct cli_command *self, const char *value, void *values)
{
	((struct record_options *)values)->iterations = value;
	if (!*value || strlen(value) >= RECORD_CAPTURE_RANGE_BYTES)
		return cli_usage(self, "--iterations: the text of a scope has 1 to %d bytes",
				 RECORD_CAPTURE_RANGE_BYTES - 1);
	return CLI_OK;
}

static int take_count(const struct cli_command *self, const char *value, void *values)
{
	uint64_t *count = &((struct record_options *)values)->count;
	int err = options_take_u64(self, "count", value, count);

	return err != CLI_OK || *count ? err : cli_usage(self, "--count 0: nothing is recorded");
}

static int take_interval(const struct cli_command *self, const char *value, void *values)
{
	const char *unused;

	(void)amount_seconds(value, &((struct record_options *)values)->interval_ns);
	return take_seconds(self, "stats-interval", value, &unused);
}

static int take_outlier(const struct cli_command *self, const char *value, void *values)
{
	struct record_options *options = values;
	char *end;

	options->outlier = value;
	options->outlier_factor = strtod(value, &end);
	if (end == value || *end || *value < '0' || *value > '9' ||
	    (options->outlier_factor != 0 && options->outlier_factor < 1))
		return cli_usage(self, "--outlier %s: neither 0 nor a factor of 1 or more", value);
	return CLI_OK;
}

static int take_metrics(const struct cli_command *self, const char *value, void *values)
{
	((struct record_options *)values)->metrics = value;
	if (!metrics_address_is_sound(value))
		return cli_usage(self, "--metrics %s: neither unix:PATH nor 127.0.0.1:PORT", value);
	return CLI_OK;
}

const struct cli_option options_of_record[] = {
	{"output", 'o', "OUT", "the recording, by default dagtap-PROGRAM-PID.dagtap", OPTION_TEXT,
	 OPTION_IN(record_options, output)},
	{"force", 'f', NULL, "replace OUT if it exists", OPTION_FLAG,
	 OPTION_IN(record_options, force)},
	{"quiet", 'q', NULL, "print no line at the end", OPTION_FLAG,
	 OPTION_IN(record_options, quiet)},
	{"softgpu", 0, "[CONFIG]", "run on the software GPU (see dagtap-softgpu(1))", OPTION_TEXT,
	 OPTION_IN(record_options, softgpu)},
	{"sdk", 0, NULL, "give the program's own profiler its records, as rocprofiler-sdk does",
	 OPTION_FLAG, OPTION_IN(record_options, sdk)},
	{"backend", 0, "NAME", "which vendor's GPUs, auto by default:", OPTION_CHOICE,
	 OPTION_IN(record_options, backend), .choice = backend_choice},
	{"ring", 0, "HOW", "keep the last SIZE (64M), SECONDSs (30s), or both (64M,30s)",
	 OPTION_HANDLER, .take = take_ring},
	{"ready", 0, "SIZE", "most memory kept ready for the records of a process: 64M, 256M ...",
	 OPTION_HANDLER, .take = take_ready},
	{"calls", 0, "WHICH", "which calls are recorded, by default selected:", OPTION_HANDLER,
	 .take = take_calls, .choice = calls_choice},
	{"wait", 0, NULL, "record nothing before the program starts the recording", OPTION_FLAG,
	 OPTION_IN(record_options, waits)},
	{"capture-range", 0, "NAME", "record while a scope NAME is open on some thread",
	 OPTION_HANDLER, .take = take_scope},
	{"skip", 0, "N", "leave out the first N of these scopes", OPTION_NUMBER,
	 OPTION_IN(record_options, skip)},
	{"count", 0, "M", "record M of these scopes, not all", OPTION_HANDLER, .take = take_count},
	{"delay", 0, "SECONDS", "record nothing in a process's first SECONDS", OPTION_HANDLER,
	 .take = take_delay},
	{"duration", 0, "SECONDS", "end the recording of a process after SECONDS", OPTION_HANDLER,
	 .take = take_duration},
	{"control", 0, NULL, "let dagtap control start and stop the recording", OPTION_FLAG,
	 OPTION_IN(record_options, has_control)},
	{"dynolog", 0, NULL, "record what dynolog's daemon asks for, and nothing else", OPTION_FLAG,
	 OPTION_IN(record_options, has_dynolog)},
	{"iterations", 0, "NAME", "with --dynolog, count scopes NAME where it asks for iterations",
	 OPTION_HANDLER, .take = take_iterations},
	{"stats", 0, NULL, "keep statistics, not rows: OUT is a file for dagtap stats", OPTION_FLAG,
	 OPTION_IN(record_options, has_stats)},
	{"stats-interval", 0, "SECONDS", "with --stats, the length of an interval (default 60)",
	 OPTION_HANDLER, .take = take_interval},
	{"outlier", 0, "FACTOR",
	 "with --stats, keep the rows around what takes FACTOR times the p99 (default 8; 0: none)",
	 OPTION_HANDLER, .take = take_outlier},
	{"metrics", 0, "ADDRESS", "with --stats, answer Prometheus at unix:PATH or 127.0.0.1:PORT",
	 OPTION_HANDLER, .take = take_metrics},
	{"hsa-mode", 0, "MODE", "how kernels are timed, by default harvest:", OPTION_HANDLER,
	 .take = take_hsa_mode, .choice = mode_choice},
	{"keep-spool", 0, NULL, "leave the folder of spools beside OUT", OPTION_FLAG,
	 OPTION_IN(record_options, keep_spool)},
	{0},
};

/* Sets VARIABLE unless VALUE is NULL. */
static bool set_variable(const char *variable, const char *value)
{
	return !value || setenv(variable, value, 1) == 0;
}

static bool set_number(const char *variable, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return set_variable(variable, value ? text : NULL);
}

int record_options_export(const struct record_options *options)
{
	bool are_set = set_variable("DAGTAP_READY", options->ready) &&
		       set_variable("DAGTAP_RING", options->ring) &&
		       set_variable("DAGTAP_CALLS", options->calls) &&
		       set_variable("DAGTAP_HSA_MODE", options->hsa_mode) &&
		       set_variable("DAGTAP_WAIT", options->waits ? "1" : NULL) &&
		       set_variable("DAGTAP_CONTROL", options->has_control ? "1" : NULL) &&
		       set_variable("DAGTAP_DYNOLOG", options->has_dynolog ? "1" : NULL) &&
		       set_variable("DAGTAP_ITERATIONS", options->iterations) &&
		       set_variable("DAGTAP_CAPTURE_RANGE", options->scope) &&
		       set_number("DAGTAP_SKIP", options->skip) &&
		       set_number("DAGTAP_COUNT", options->count) &&
		       set_variable("DAGTAP_DELAY", options->delay) &&
		       set_variable("DAGTAP_DURATION", options->duration);

	return are_set ? CLI_OK : cli_fail("environment: %s", strerror(errno));
}
