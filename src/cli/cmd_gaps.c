/* dagtap gaps: the longest gaps of GPUs, why they are there, and what the host did in them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/gaps.h"
#include "cli/answer_frame.h"
#include "cli/answers.h"
#include "cli/human.h"
#include "cli/kernel_names.h"
#include "cli/path_names.h"
#include "wire/json.h"

struct gaps_options {
	struct answer_options answer;
};

static const struct cli_option options_of_gaps[] = {
	ANSWER_LIMIT(gaps_options, answer, "gaps to show, the longest first, 0 = all (default 10)"),
	FILTER_OPTIONS(gaps_options, answer.filter_options),
	ANSWER_OUTPUTS(gaps_options, answer),
	{0},
};

/* ---- JSON ---- */

static void json_parts(struct json *json, const struct trace *trace, const char *key,
		       const struct gap_part *rows, uint32_t count)
{
	json_key(json, key);
	json_array_begin(json);
	for (uint32_t i = 0; i < count; i++) {
		json_row_begin(json);
		json_put_text(json, "name", trace_text(trace, rows[i].name));
		json_put_u64(json, "count", rows[i].count);
		json_put_i64(json, "ns", rows[i].ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_gap(struct json *json, const struct trace *trace, const struct gaps *gaps,
		     const struct gap *gap)
{
	const struct trace_agent *agent = &trace->agents[gap->agent];

	json_object_begin(json);
	json_put_u64(json, "pid", trace->processes[agent->process].pid);
	json_put_u64(json, "gpu", agent->gpu_ordinal);
	json_put_i64(json, "begin_ns", gap->begin_ns);
	json_put_i64(json, "end_ns", gap->end_ns);
	json_put_i64(json, "duration_ns", gap_ns(gap));
	json_put_text(json, "cause", idle_cause_key(gap_cause(gap)));
	json_key(json, "idle_ns");
	json_object_begin(json);
	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
		json_put_i64(json, idle_cause_key((enum idle_cause)cause), gap->cause_ns[cause]);
	json_object_end(json);
	json_key(json, "scope");
	if (gap->scope == TRACE_NONE)
		json_null(json);
	else
		json_text(json, path_scope_text(trace, gap->scope));
	json_parts(json, trace, "scopes", gaps->scopes.rows + gap->first_scope, gap->scopes);
	json_parts(json, trace, "calls", gaps->calls.rows + gap->first_call, gap->calls);
	path_put_activity(json, trace, "before", gap->before);
	path_put_activity(json, trace, "after", gap->after);
	json_object_end(json);
}

static int write_json(const struct trace *trace, const char *path, const struct gaps *gaps,
		      FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", path);
	json_key(&json, "gaps");
	json_array_begin(&json);
	for (uint32_t i = 0; i < gaps->count; i++)
		json_gap(&json, trace, gaps, &gaps->rows[i]);
	json_array_end(&json);
	json_put_u64(&json, "gap_count", gaps->found);
	json_put_i64(&json, "total_ns", gaps->total_ns);
	json_object_end(&json);
	return json_finish(&json);
}

/* ---- text ---- */

/* Puts the function that took most of the gap. */
static void put_call(struct columns *columns, const struct trace *trace, const struct gaps *gaps,
		     const struct gap *gap)
{
	const struct gap_part *part = &gaps->calls.rows[gap->first_call];
	char time[HUMAN_CHARS], count[HUMAN_CHARS];

	if (columns->is_csv)
		columns_put(columns, "%s", gap->calls ? trace_text(trace, part->name) : "");
	else if (gap->calls == 0)
		columns_put(columns, "none");
	else
		columns_put(columns, "%s in %s %s", human_ns((double)part->ns, time),
			    human_count(part->count, count), trace_text(trace, part->name));
}

static int print_text(const struct trace *trace, const struct answer_options *options,
		      const struct gaps *gaps)
{
	static const char *const heads[] = {"idle",   "at",	"?GPU",	  "<for",
					    "<scope", "~calls", "~until", NULL};
	struct columns columns;
	int64_t begin_ns, end_ns;
	char text[HUMAN_CHARS];

	path_bounds(trace, &begin_ns, &end_ns);
	if (gaps->found == 0)
		return cli_fail("%s: no GPU has a gap between two activities", options->path);
	if (!options->csv) {
		printf("%s gap%s", human_count(gaps->found, text), human_ending(gaps->found));
		printf(", %s in all\n", human_ns((double)gaps->total_ns, text));
	}
	columns_init(&columns, heads);
	columns.is_csv = options->csv;
	for (uint32_t i = 0; i < gaps->count; i++) {
		const struct gap *gap = &gaps->rows[i];

		columns_put_ns(&columns, (double)gap_ns(gap));
		columns_put_ns(&columns, (double)tally_span(begin_ns, gap->begin_ns));
		columns_put(&columns, "%u", trace->agents[gap->agent].gpu_ordinal);
		columns_put(&columns, "%s", idle_cause_key(gap_cause(gap)));
		columns_put(&columns, "%s", path_scope_text(trace, gap->scope));
		put_call(&columns, trace, gaps, gap);
		columns_put(&columns, "%s",
			    kernel_names_text(path_activity_text(trace, gap->after)));
	}
	if (columns_print(&columns) < 0)
		return cli_fail("out of memory");
	if (gaps->count < gaps->found && !options->csv)
		printf("... %u more (--limit 0 shows all)\n", gaps->found - gaps->count);
	return CLI_OK;
}

/* ---- the command ---- */

static int print(struct trace *trace, const void *gaps_options)
{
	const struct answer_options *options = &((const struct gaps_options *)gaps_options)->answer;
	struct dependencies deps = {0};
	struct selection selection;
	struct gaps gaps = {0};
	int err = filter_options_select(&options->filter, options->path, trace, &selection);

	if (err != CLI_OK)
		return err;
	err = dependencies_make(trace, &deps);
	if (err == 0)
		err = gaps_find(&deps, selection.activities, options->limit, &gaps);
	if (err < 0) {
		err = cli_fail("%s: out of memory", options->path);
	} else if (options->json) {
		write_json(trace, options->path, &gaps, stdout);
		err = CLI_OK;
	} else {
		err = print_text(trace, options, &gaps);
	}
	gaps_release(&gaps);
	dependencies_release(&deps);
	selection_release(&selection);
	return err;
}

int gaps_write_json(const struct dependencies *deps, const char *path, uint32_t limit, FILE *out)
{
	struct gaps gaps = {0};
	int err = gaps_find(deps, NULL, limit, &gaps);

	if (err == 0)
		err = gaps.found ? write_json(deps->trace, path, &gaps, out) : -ENODATA;
	gaps_release(&gaps);
	return err;
}

static int gaps(const struct cli_command *self, int argc, char **argv)
{
	struct gaps_options options = {
		.answer = {.limit = ROWS_DEFAULT, .parts = CLI_WAITS | CLI_SCOPES}};
	int err = options_parse_file(self, argc, argv, &options, &options.answer.path);

	if (err != CLI_OK)
		return err;
	return answer_run(self, &options.answer, (struct answer_rows){.text = 10, .json = 10},
			  print, &options);
}

const struct cli_command cmd_gaps = {
	.name = "gaps",
	.operands = "FILE",
	.help = "the longest gaps of GPUs, why, and what the host did in them",
	.options = options_of_gaps,
	.notes =
		"The options that select work show the gaps before it, whatever ran before them.\n",
	.run = gaps,
};
