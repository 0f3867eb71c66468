/* dagtap scopes: how long each instance of a scope took on the host and on the GPUs, which
 * instances are outliers, and what differs in them. scopes_text.c and scopes_json.c print the
 * result. */
#include "cli/cmd_scopes.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/answers.h"
#include "cli/command_options.h"
#include "cli/filter_options.h"
#include "cli/help.h"
#include "cli/kernel_names.h"
#include "cli/step_options.h"
#include "trace/load.h"
#include "trace/row_table.h"

#define TEXT_ROWS 20
#define NO_NTH	  UINT32_MAX

struct scopes_options {
	const char *path, *pattern;
	const char *step_of;
	char steps[STEP_PATTERN_CHARS]; /* the pattern, where --step-of gives it */
	uint32_t nth;			/* NO_NTH: the outliers are compared */
	uint32_t limit;
	bool has_limit;
	struct filter_options filter_options;
	struct filter filter;
	bool full_names;
	bool csv;
	bool json;
};

static int take_limit(const struct cli_command *self, const char *value, void *values)
{
	struct scopes_options *options = values;

	options->has_limit = true;
	return options_take_u32(self, "limit", value, &options->limit);
}

static const struct cli_option options_of_scopes[] = {
	{"nth", .argument = "N",
	 .help = "compare this instance, from 0, with the median one (default: each outlier)",
	 .kind = OPTION_NUMBER, OPTION_IN(scopes_options, nth)},
	{"limit", .argument = "N",
	 .help = "rows to show, 0 = all (default 20; JSON has all unless given)",
	 .kind = OPTION_HANDLER, .take = take_limit},
	STEP_OPTION(scopes_options, step_of),
	FILTER_OPTIONS(scopes_options, filter_options),
	KERNEL_NAMES_OPTION(scopes_options, full_names),
	{"csv", .help = "print the table as CSV: numbers without units, times in ns",
	 OPTION_IN(scopes_options, csv)},
	{"json", .help = "print JSON (docs/json.md)", OPTION_IN(scopes_options, json)},
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct scopes_options *options)
{
	int first, err = options_parse(self, argc, argv, options, &first);

	if (err != CLI_OK)
		return err;
	if (first + 1 != argc && first + 2 != argc)
		return cli_usage(self, "one FILE, and at most one SCOPE");
	options->path = argv[first];
	options->pattern = first + 2 == argc ? argv[first + 1] : NULL;
	if (options->csv && options->json)
		return cli_usage(self, "--json or --csv, not both");
	if (options->step_of && options->pattern)
		return cli_usage(self, "SCOPE or --step-of, not both");
	if (options->step_of)
		options->pattern = step_query_pattern(options->step_of, options->steps);
	if (options->nth != NO_NTH && !options->pattern)
		return cli_usage(self, "--nth goes with a scope");
	return filter_options_read(self, &options->filter_options, &options->filter);
}

/* ---- analysis ---- */

/* Compares INSTANCE with the median instance. Returns 0 or -ENOMEM. */
static int compare(struct scopes_result *result, uint32_t instance)
{
	const struct scope_stats *stats = &result->stats;
	struct scopes_comparison *row = trace_add(result, comparisons);
	int err;

	if (!row)
		return -ENOMEM;
	row->instance = instance;
	err = scope_compare(result->trace, stats, stats->median, instance, SCOPE_BY_WORK,
			    &row->works);
	if (err == 0)
		err = scope_compare(result->trace, stats, stats->median, instance, SCOPE_BY_NODE,
				    &row->nodes);
	return err;
}

static int find_instances(struct scopes_result *result, uint32_t nth)
{
	struct dependencies deps = {0};
	int err = dependencies_make(result->trace, &deps);

	if (err == 0)
		err = scope_stats_make(&deps, result->pattern, &result->stats);
	dependencies_release(&deps);
	for (uint32_t i = 0; i < result->stats.instances.count && err == 0; i++) {
		bool is_meant = nth == NO_NTH ? result->stats.rows[i].is_outlier : nth == i;

		if (is_meant && result->stats.median != TRACE_NONE)
			err = compare(result, i);
	}
	return err;
}

static void release(struct scopes_result *result)
{
	for (uint32_t i = 0; i < result->comparisons_count; i++) {
		free(result->comparisons[i].works.rows);
		free(result->comparisons[i].nodes.rows);
	}
	free(result->comparisons);
	scope_groups_release(&result->groups);
	scope_stats_release(&result->stats);
}

static int fail_without_scopes(const struct scopes_result *result)
{
	int err = cli_fail("%s: no scope in it has times", result->file);

	step_option_offer(result->trace, "--step-of can take ", stderr);
	return err;
}

/* Whether there is anything to print. CLI_OK, or CLI_FAILED after a message. */
static int check_result(const struct scopes_result *result, uint32_t nth)
{
	uint32_t count = result->stats.instances.count;

	if (!result->pattern)
		return result->groups.count ? CLI_OK : fail_without_scopes(result);
	if (count == 0)
		return cli_fail("%s: no scope \"%s\"; `dagtap scopes %s` lists them", result->file,
				result->pattern, result->file);
	if (nth != NO_NTH && nth >= count)
		return cli_fail("%s: scope \"%s\" has %u instances, the last one is %u",
				result->file, result->pattern, count, count - 1);
	return CLI_OK;
}

static int print(const struct trace *trace, const struct scopes_options *options)
{
	struct scopes_result result = {
		.file = options->path,
		.pattern = options->pattern,
		.limit = options->limit,
		.is_csv = options->csv,
		.trace = trace,
	};
	int err = options->pattern ? find_instances(&result, options->nth)
				   : scope_groups_make(trace, &result.groups);
	int exit_code = CLI_OK;

	if (err < 0)
		exit_code = cli_fail("%s: out of memory", options->path);
	else
		exit_code = check_result(&result, options->nth);
	if (exit_code == CLI_OK && options->json)
		scopes_put_json(&result, stdout);
	else if (exit_code == CLI_OK)
		exit_code = scopes_print_text(&result);
	release(&result);
	return exit_code == CLI_OK ? cli_finish_stdout() : exit_code;
}

int scopes_write_json(const struct trace *trace, const char *path, const char *pattern,
		      uint32_t limit, FILE *out)
{
	struct scopes_result result = {
		.file = path, .pattern = pattern, .limit = limit, .trace = trace};
	int err = pattern ? find_instances(&result, NO_NTH)
			  : scope_groups_make(trace, &result.groups);

	if (err == 0 && result.groups.count + result.stats.instances.count == 0)
		err = -ENODATA;
	if (err == 0)
		err = scopes_put_json(&result, out);
	release(&result);
	return err;
}

static int scopes(const struct cli_command *self, int argc, char **argv)
{
	struct scopes_options options = {.nth = NO_NTH};
	struct trace *trace;
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	if (!options.has_limit)
		options.limit = options.json || options.csv ? 0 : TEXT_ROWS;
	if (cli_open_trace(options.path, true, &trace) < 0)
		return CLI_FAILED;
	kernel_names_use((const struct trace *const *)&trace, 1, options.full_names || options.csv);
	err = step_option_apply(options.step_of, options.path, trace);
	if (err == CLI_OK)
		err = filter_options_apply(&options.filter, options.path, trace);
	if (err == CLI_OK)
		err = print(trace, &options);
	if (err == CLI_OK)
		err = cli_tell_damage(trace, options.path);
	kernel_names_release();
	trace_close(trace);
	return err;
}

const struct cli_command cmd_scopes = {
	.name = "scopes",
	.operands = "FILE [SCOPE]",
	.help = "each instance of a scope on the host and on the GPUs; outliers and what differs",
	.options = options_of_scopes,
	.notes =
		"SCOPE is a scope's text or name, or a pattern, as in 'token *'. Without it, all\n"
		"scopes are listed; those that differ in numbers alone are one row. Where none of\n"
		"them is a step, what --step-of can take is named.\n",
	.run = scopes,
};
