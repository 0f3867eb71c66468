/* dagtap scopes: how long each instance of a scope took on the host and on the GPUs, which
 * instances are outliers, and what differs in them. scopes_text.c and scopes_json.c print the
 * result. */
#include "cli/cmd_scopes.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/answer_frame.h"
#include "cli/answers.h"
#include "cli/help.h"
#include "cli/step_options.h"
#include "trace/row_table.h"

#define TEXT_ROWS 20
#define NO_NTH	  UINT32_MAX

struct scopes_options {
	struct answer_options answer;
	const char *pattern;
	char steps[STEP_PATTERN_CHARS]; /* the pattern, where --step-of gives it */
	uint32_t nth;			/* NO_NTH: the outliers are compared */
};

static const struct cli_option options_of_scopes[] = {
	{"nth", .argument = "N",
	 .help = "compare this instance, from 0, with the median one (default: each outlier)",
	 .kind = OPTION_NUMBER, OPTION_IN(scopes_options, nth)},
	ANSWER_LIMIT(scopes_options, answer,
		     "rows to show, 0 = all (default 20; JSON has all unless given)"),
	STEP_OPTION(scopes_options, answer.step_of),
	FILTER_OPTIONS(scopes_options, answer.filter_options),
	ANSWER_OUTPUTS(scopes_options, answer),
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
	options->answer.path = argv[first];
	options->pattern = first + 2 == argc ? argv[first + 1] : NULL;
	if (options->answer.step_of && options->pattern)
		return cli_usage(self, "SCOPE or --step-of, not both");
	if (options->answer.step_of)
		options->pattern = step_query_pattern(options->answer.step_of, options->steps);
	if (options->nth != NO_NTH && !options->pattern)
		return cli_usage(self, "--nth goes with a scope");
	return CLI_OK;
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

static int find_instances(const struct dependencies *deps, struct scopes_result *result,
			  uint32_t nth)
{
	int err = scope_stats_make(deps, result->pattern, &result->stats);

	for (uint32_t i = 0; i < result->stats.instances.count && err == 0; i++) {
		bool is_meant = nth == NO_NTH ? result->stats.rows[i].is_outlier : nth == i;

		if (is_meant && result->stats.median != TRACE_NONE)
			err = compare(result, i);
	}
	return err;
}

int scopes_find(const struct dependencies *deps, struct scopes_result *result)
{
	return find_instances(deps, result, NO_NTH);
}

void scopes_release(struct scopes_result *result)
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

static int print(struct trace *trace, const void *scopes_options)
{
	const struct scopes_options *options = scopes_options;
	const struct answer_options *answer = &options->answer;
	struct scopes_result result = {
		.file = answer->path,
		.pattern = options->pattern,
		.limit = answer->limit,
		.is_csv = answer->csv,
		.trace = trace,
	};
	struct dependencies deps = {0};
	int exit_code = filter_options_apply(&answer->filter, answer->path, trace), err;

	if (exit_code != CLI_OK)
		return exit_code;
	err = options->pattern ? dependencies_make(trace, &deps)
			       : scope_groups_make(trace, &result.groups);
	if (err == 0 && options->pattern)
		err = find_instances(&deps, &result, options->nth);
	dependencies_release(&deps);
	if (err < 0)
		exit_code = cli_fail("%s: out of memory", answer->path);
	else
		exit_code = check_result(&result, options->nth);
	if (exit_code == CLI_OK && answer->json)
		scopes_put_json(&result, stdout);
	else if (exit_code == CLI_OK)
		exit_code = scopes_print_text(&result);
	scopes_release(&result);
	return exit_code;
}

int scopes_write_json(const struct trace *trace, const char *path, uint32_t limit, FILE *out)
{
	struct scopes_result result = {.file = path, .limit = limit, .trace = trace};
	int err = scope_groups_make(trace, &result.groups);

	if (err == 0)
		err = result.groups.count ? scopes_put_json(&result, out) : -ENODATA;
	scopes_release(&result);
	return err;
}

static int scopes(const struct cli_command *self, int argc, char **argv)
{
	struct scopes_options options = {.answer.limit = ROWS_DEFAULT, .nth = NO_NTH};
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	options.answer.parts = CLI_SCOPES | (options.pattern ? CLI_WAITS : 0);
	return answer_run(self, &options.answer, (struct answer_rows){.text = TEXT_ROWS}, print,
			  &options);
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
