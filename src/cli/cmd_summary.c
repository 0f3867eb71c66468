/* dagtap summary: times by kernel, stream, graph, scope or call. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/summary.h"
#include "cli/answer_frame.h"
#include "cli/answers.h"
#include "cli/human.h"
#include "cli/rank_output.h"
#include "cli/step_options.h"
#include "cli/tally_output.h"
#include "trace/ledger/ledger.h"
#include "trace/occupancy.h"
#include "wire/json.h"

struct summary_options {
	struct answer_options answer;
	uint32_t by; /* index into groupings */
	bool occupancy;
};

static const struct {
	const char *name;
	enum summary_by by;
	const char *head;
} groupings[] = {
	{"kernel", SUMMARY_BY_KERNEL, "<kernel"}, {"stream", SUMMARY_BY_STREAM, "<stream"},
	{"graph", SUMMARY_BY_GRAPH, "<graph"},	  {"scope", SUMMARY_BY_SCOPE, ">scope"},
	{"api", SUMMARY_BY_API, "<call"},	  {"copy", SUMMARY_BY_COPY, "<what"},
};

#define GROUPING_COUNT (sizeof(groupings) / sizeof(groupings[0]))

static struct option_choice grouping_choice(size_t index)
{
	return (struct option_choice){.name = index < GROUPING_COUNT ? groupings[index].name
								     : NULL};
}

static const struct cli_option options_of_summary[] = {
	{"by", .argument = "WHAT", .help = "what a row is, kernel by default:",
	 .kind = OPTION_CHOICE, OPTION_IN(summary_options, by), .choice = grouping_choice},
	ANSWER_LIMIT(summary_options, answer,
		     "rows to show, 0 = all (default 30; JSON always has all)"),
	{"occupancy", .help = "by kernel: with the theoretical occupancy and what limits it",
	 OPTION_IN(summary_options, occupancy)},
	STEP_OPTION(summary_options, answer.step_of),
	FILTER_OPTIONS(summary_options, answer.filter_options),
	ANSWER_OUTPUTS(summary_options, answer),
	{0},
};

static void json_totals(struct json *json, const struct summary_totals *totals)
{
	json_key(json, "totals");
	json_object_begin(json);
	json_put_u64(json, "kernels", totals->kernels);
	json_put_u64(json, "graph_kernels", totals->graph_kernels);
	json_put_u64(json, "copies", totals->copies);
	json_put_u64(json, "memsets", totals->memsets);
	json_put_u64(json, "api_calls", totals->api_calls);
	json_put_u64(json, "graph_launches", totals->graph_launches);
	json_put_u64(json, "untimed", totals->untimed);
	json_put_u64(json, "impossible", totals->impossible);
	json_put_u64(json, "orphan_activities", totals->orphans);
	json_put_u64(json, "copied_bytes", totals->copied_bytes);
	json_put_u64(json, "processes", totals->processes);
	json_put_u64(json, "threads", totals->threads);
	json_put_u64(json, "gpus", totals->gpus);
	json_put_u64(json, "streams", totals->streams);
	json_put_u64(json, "graphs", totals->graphs);
	json_put_i64(json, "kernel_ns", totals->kernel_ns);
	json_put_i64(json, "span_ns", tally_span(totals->begin_ns, totals->end_ns));
	json_object_end(json);
}

static void json_occupancy(struct json *json, const struct summary_row *row)
{
	char text[OCCUPANCY_TEXT_CHARS];

	json_key(json, "occupancy");
	if (row->occupancy_limits)
		json_double(json, row->occupancy);
	else
		json_null(json);
	json_put_text(json, "occupancy_limit",
		      row->occupancy_limits ? occupancy_limits_text(row->occupancy_limits, text)
					    : NULL);
}

/* LIMIT: the most rows, 0 = all. */
static void json_table(struct json *json, const struct summary_table *table, const char *key,
		       enum summary_by by, uint32_t limit)
{
	json_key(json, key);
	json_array_begin(json);
	for (uint32_t i = 0; i < table->count && (limit == 0 || i < limit); i++) {
		const struct summary_row *row = &table->rows[i];
		const struct tally *tally = &row->tally;

		json_row_begin(json);
		json_put_text(json, "name", row->name);
		json_put_u64(json, "count", tally->count);
		json_put_i64(json, "total_ns", tally->total_ns);
		tally_put_json(json, "", tally);
		json_put_u64(json, "untimed", tally->count - tally->timed);
		if (by == SUMMARY_BY_COPY) {
			json_put_u64(json, "bytes", row->bytes);
			json_put_double(json, "bytes_per_s", summary_bytes_per_s(row));
		}
		if (by == SUMMARY_BY_KERNEL)
			json_occupancy(json, row);
		json_object_end(json);
	}
	json_array_end(json);
}

static int write_json(const struct trace *trace, const char *path, uint32_t grouping,
		      uint32_t limit, FILE *out)
{
	enum summary_by by[] = {SUMMARY_BY_KERNEL, SUMMARY_BY_COPY, groupings[grouping].by};
	uint32_t count = by[2] == SUMMARY_BY_KERNEL ? 2 : 3;
	struct summary_table tables[3];
	struct summary_totals totals;
	struct json json;
	int err = summary_make_all(trace, by, count, tables, &totals);

	if (err < 0)
		return err;
	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", path);
	json_put_text(&json, "command", trace_text(trace, trace->command));
	json_put_text(&json, "state", ledger_state_text(trace));
	rank_output_put_json(&json, trace);
	json_totals(&json, &totals);
	json_table(&json, &tables[0], "kernels", by[0], limit);
	json_table(&json, &tables[1], "copies", by[1], limit);
	if (count > 2) {
		json_put_text(&json, "by", groupings[grouping].name);
		json_table(&json, &tables[2], "rows", by[2], limit);
	}
	json_object_end(&json);
	for (uint32_t i = 0; i < count; i++)
		summary_release(&tables[i]);
	return json_finish(&json);
}

int summary_write_json(const struct trace *trace, const char *path, const char *by, uint32_t limit,
		       FILE *out)
{
	uint32_t grouping = 0;

	while (grouping + 1 < GROUPING_COUNT && strcmp(groupings[grouping].name, by) != 0)
		grouping++;
	return write_json(trace, path, grouping, limit, out);
}

static void print_totals(const struct trace *trace, const struct summary_totals *totals)
{
	char a[HUMAN_CHARS], b[HUMAN_CHARS], c[HUMAN_CHARS];

	if (trace->command)
		human_print("command   %s", trace_text(trace, trace->command));
	printf("kernels   %s (%s of them from %s graph launch%s), recording %s\n",
	       human_count(totals->kernels, a), human_count(totals->graph_kernels, b),
	       human_count(totals->graph_launches, c), totals->graph_launches == 1 ? "" : "es",
	       ledger_state_text(trace));
	printf("copies    %s (%s), memsets %s\n", human_count(totals->copies, a),
	       human_bytes(totals->copied_bytes, b), human_count(totals->memsets, c));
	printf("calls     %s by %s thread%s", human_count(totals->api_calls, a),
	       human_count(totals->threads, b), human_ending(totals->threads));
	printf(" of %s process%s, %s GPU%s\n", human_count(totals->processes, a),
	       totals->processes == 1 ? "" : "es", human_count(totals->gpus, b),
	       human_ending(totals->gpus));
	printf("GPU time  %s of kernels", human_ns((double)totals->kernel_ns, a));
	printf(" in %s from first to last\n",
	       human_ns((double)tally_span(totals->begin_ns, totals->end_ns), a));
	rank_output_print_head(trace);
	if (totals->untimed || totals->orphans)
		printf("note      %s %s without times, %s outside any call\n",
		       human_count(totals->untimed, a),
		       totals->untimed == 1 ? "activity" : "activities",
		       human_count(totals->orphans, b));
	if (totals->impossible)
		printf("note      %s of them: the times of CUPTI are impossible, and are in no sum "
		       "(dagtap "
		       "check names %s)\n",
		       human_count(totals->impossible, a), totals->impossible == 1 ? "it" : "them");
	putchar('\n');
}

/* The columns of a table besides the times. */
enum more_columns { MORE_NONE, MORE_BYTES, MORE_OCCUPANCY };

static void put_more(struct columns *columns, const struct summary_row *row, enum more_columns more)
{
	char text[OCCUPANCY_TEXT_CHARS];

	if (more == MORE_BYTES) {
		columns_put_bytes(columns, row->bytes);
		if (columns->is_csv)
			columns_put(columns, "%.17g", summary_bytes_per_s(row));
		else
			columns_put(columns, "%s",
				    human_bytes((uint64_t)summary_bytes_per_s(row), text));
	}
	if (more == MORE_OCCUPANCY && row->occupancy_limits) {
		columns_put_percent(columns, row->occupancy);
		columns_put(columns, "%s", occupancy_limits_text(row->occupancy_limits, text));
	} else if (more == MORE_OCCUPANCY) {
		columns_put_none(columns, COLUMN_PLAIN);
		columns_put_none(columns, COLUMN_PLAIN);
	}
}

static void put_row(struct columns *columns, const struct summary_row *row, int64_t all_ns,
		    enum more_columns more)
{
	const struct tally *tally = &row->tally;

	columns_put_count(columns, tally->count);
	columns_put_ns(columns, (double)tally->total_ns);
	columns_put_share(columns, all_ns > 0 ? (double)tally->total_ns / (double)all_ns : 0);
	tally_put_cells(columns, tally);
	put_more(columns, row, more);
	columns_put(columns, "%s", kernel_names_text(row->name));
}

static int print_table(const struct summary_table *table, enum summary_by by, const char *head,
		       const struct summary_options *options)
{
	static const char *const more_heads[][2] = {
		[MORE_NONE] = {NULL, NULL},
		[MORE_BYTES] = {"?bytes", "bytes per s"},
		[MORE_OCCUPANCY] = {"occupancy %", "<limited by"},
	};
	enum more_columns more = by == SUMMARY_BY_COPY				 ? MORE_BYTES
				 : by == SUMMARY_BY_KERNEL && options->occupancy ? MORE_OCCUPANCY
										 : MORE_NONE;
	const char *heads[] = {"count", "total", "?%", TALLY_HEADS, NULL, NULL, NULL, NULL};
	const char **end = heads + 8;
	uint32_t limit = options->answer.limit;
	struct columns columns;
	int64_t all_ns = 0;

	if (limit == 0 || limit > table->count)
		limit = table->count;
	for (int i = 0; i < 2 && more_heads[more][i]; i++)
		*end++ = more_heads[more][i];
	*end = head;
	columns_init(&columns, heads);
	columns.is_csv = options->answer.csv;
	for (uint32_t i = 0; i < table->count; i++)
		all_ns = tally_sum(all_ns, table->rows[i].tally.total_ns);
	for (uint32_t i = 0; i < limit; i++)
		put_row(&columns, &table->rows[i], all_ns, more);
	if ((table->count || options->answer.csv) && columns_print(&columns) < 0)
		return cli_fail("out of memory");
	if (limit < table->count && !options->answer.csv)
		printf("... %u more (--limit 0 shows all)\n", table->count - limit);
	return CLI_OK;
}

static int print_text(const struct trace *trace, const struct summary_options *options)
{
	enum summary_by by[] = {groupings[options->by].by, SUMMARY_BY_COPY};
	uint32_t count = by[0] == SUMMARY_BY_KERNEL && !options->answer.csv ? 2 : 1;
	struct summary_table tables[2];
	struct summary_totals totals;
	int err;

	if (summary_make_all(trace, by, count, tables, &totals) < 0)
		return cli_fail("out of memory");
	if (!options->answer.csv)
		print_totals(trace, &totals);
	err = print_table(&tables[0], by[0], groupings[options->by].head, options);
	if (err == CLI_OK && count == 2 && totals.copies + totals.memsets) {
		putchar('\n');
		err = print_table(&tables[1], by[1], "<what", options);
	}
	for (uint32_t i = 0; i < count; i++)
		summary_release(&tables[i]);
	return err;
}

static int print(struct trace *trace, const void *summary_options)
{
	const struct summary_options *options = summary_options;
	const struct answer_options *answer = &options->answer;
	int err = filter_options_apply(&answer->filter, answer->path, trace);

	if (err != CLI_OK)
		return err;
	if (!answer->json)
		return print_text(trace, options);
	if (write_json(trace, answer->path, options->by, 0, stdout) == -ENOMEM)
		return cli_fail("out of memory");
	return CLI_OK;
}

static int summary(const struct cli_command *self, int argc, char **argv)
{
	struct summary_options options = {.answer.limit = ROWS_DEFAULT};
	int err = options_parse_file(self, argc, argv, &options, &options.answer.path);

	if (err != CLI_OK)
		return err;
	if (groupings[options.by].by == SUMMARY_BY_SCOPE)
		options.answer.parts = CLI_SCOPES | CLI_NODES;
	if (groupings[options.by].by == SUMMARY_BY_API)
		options.answer.parts = CLI_IDLE_CALLS;
	return answer_run(self, &options.answer, (struct answer_rows){.text = 30}, print, &options);
}

const struct cli_command cmd_summary = {
	.name = "summary",
	.operands = "FILE",
	.help = "where the time went",
	.options = options_of_summary,
	.run = summary,
};
