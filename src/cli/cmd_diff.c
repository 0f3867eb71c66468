/* dagtap diff: shows what changed from one trace to another. diff_json.c prints the JSON. */
#include "cli/cmd_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/kernel_names.h"
#include "cli/tally_output.h"
#include "cli/terminal.h"
#include "trace/load.h"

static const struct {
	const char *name;
	enum summary_by by;
	const char *head;
	const char *rows; /* what several of its rows are */
} groupings[] = {
	{"kernel", SUMMARY_BY_KERNEL, "<kernel", "kernels"},
	{"node", SUMMARY_BY_NODE, "<graph node", "graph nodes"},
	{"scope", SUMMARY_BY_SCOPE, ">scope", "scopes"},
	{"api", SUMMARY_BY_API, "<call", "calls"},
};

#define GROUPING_COUNT (sizeof(groupings) / sizeof(groupings[0]))

static struct option_choice grouping_choice(size_t index)
{
	return (struct option_choice){.name = index < GROUPING_COUNT ? groupings[index].name
								     : NULL};
}

static int take_threshold(const struct cli_command *self, const char *text, void *values)
{
	struct diff_options *options = values;
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent >= 0))
		return cli_usage(self, "\"%s\" is not a percentage", text);
	options->threshold_percent = percent;
	return CLI_OK;
}

static const struct cli_option options_of_diff[] = {
	{"by", .argument = "WHAT", .help = "what is compared, kernel by default (node: of graphs):",
	 .kind = OPTION_CHOICE, OPTION_IN(diff_options, by), .choice = grouping_choice},
	{"per-scope", .argument = "PATTERN",
	 .help = "compare the times in each instance of such scopes, as in 'token *'",
	 .kind = OPTION_TEXT, OPTION_IN(diff_options, scope)},
	{"per-replay", .help = "compare the times in each replay of a graph",
	 OPTION_IN(diff_options, is_by_replay)},
	{"threshold", .argument = "PCT",
	 .help = "only what changed by at least PCT percent of A's total", .kind = OPTION_HANDLER,
	 .take = take_threshold},
	{"limit", .argument = "N",
	 .help = "rows to show, 0 = all (default 30; JSON always has all)", .kind = OPTION_NUMBER,
	 OPTION_IN(diff_options, limit)},
	FILTER_OPTIONS(diff_options, filter_options),
	KERNEL_NAMES_OPTION(diff_options, full_names),
	{"csv", .help = "print the table as CSV: numbers without units, times in ns",
	 OPTION_IN(diff_options, csv)},
	{"json", .help = "print JSON (docs/json.md)", OPTION_IN(diff_options, json)},
	THREADS_OPTION,
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct diff_options *options)
{
	int first, err = options_parse(self, argc, argv, options, &first);

	if (err != CLI_OK)
		return err;
	if (first + 2 != argc)
		return cli_usage(self, "two files, please");
	if (options->csv && options->json)
		return cli_usage(self, "--json or --csv, not both");
	if (options->limit == ROWS_DEFAULT)
		options->limit = options->csv ? 0 : 30;
	if (options->scope && options->is_by_replay)
		return cli_usage(self, "--per-scope or --per-replay, not both");
	if ((options->scope || options->is_by_replay) &&
	    groupings[options->by].by == SUMMARY_BY_API)
		return cli_usage(self, "calls are not compared by instance or replay");
	options->paths[0] = argv[first];
	options->paths[1] = argv[first + 1];
	return filter_options_read(self, &options->filter_options, &options->filter);
}

/* Puts the means of the durations in both. */
static void put_means(struct columns *columns, const struct diff_row *row)
{
	const struct tally *sides[2] = {&row->a, &row->b};

	for (int side = 0; side < 2; side++) {
		if (sides[side]->timed)
			columns_put_ns(columns, tally_mean(sides[side]));
		else
			columns_put_none(columns, COLUMN_NS);
	}
}

static void put_row(struct columns *columns, const struct diff_table *table,
		    const struct diff_row *row)
{
	char text[HUMAN_CHARS];

	if (table->a_parts) {
		columns_put(columns, "%.4g", (double)row->a_activities / table->a_parts);
		columns_put(columns, "%.4g",
			    table->b_parts ? (double)row->b_activities / table->b_parts : 0);
	} else {
		columns_put_count(columns, row->a_activities);
		columns_put_count(columns, row->b_activities);
	}
	put_means(columns, row);
	if (columns->is_csv)
		columns_put_ns(columns, (double)row->change_ns);
	else
		columns_put(columns, "%s%s", row->change_ns > 0 ? "+" : "",
			    human_ns((double)row->change_ns, text));
	if (row->a_activities == 0 || row->b_activities == 0)
		columns_put(columns, "%s", diff_row_state(row));
	else if (row->base_ns == 0)
		columns_put(columns, "-");
	else
		columns_put(columns, "%+.1f",
			    100.0 * (double)row->change_ns / (double)row->base_ns);
	if (isnan(row->probability))
		columns_put(columns, "-");
	else
		columns_put(columns, "%.2g", row->probability);
}

/* The name of a node ends with that of its kernel. */
static void put_row_name(struct columns *columns, const char *name)
{
	const char *kernel = strstr(name, ": ");
	bool is_node = !strncmp(name, "graph ", 6) && kernel;

	if (is_node)
		columns_put(columns, "%.*s%s", (int)(kernel - name) + 2, name,
			    kernel_names_text(kernel + 2));
	else
		columns_put(columns, "%s", kernel_names_text(name));
}

static bool is_listed(const struct diff_row *row, const struct diff_options *options)
{
	return row->has_changed && diff_is_notable(row, options->threshold_percent);
}

static uint32_t count_listed(const struct diff_table *table, const struct diff_options *options)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->count; i++)
		count += is_listed(&table->rows[i], options);
	return count;
}

/* Prints what changed, if anything did. */
static int print_table(const struct diff_table *table, const char *head,
		       const struct diff_options *options)
{
	const char *heads[] = {"?count A", "?count B", "?mean A", "?mean B", "change",
			       "%",	   "?p",       head,	  NULL};
	uint32_t shown = 0, more = 0;
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = options->csv;
	for (int i = 2; i < 5; i++) /* the means and the change, also without rows */
		columns.units[i] = COLUMN_NS;
	for (uint32_t i = 0; i < table->count; i++) {
		const struct diff_row *row = &table->rows[i];

		if (!is_listed(row, options))
			continue;
		if (options->limit && shown == options->limit) {
			more++;
			continue;
		}
		put_row(&columns, table, row);
		put_row_name(&columns, row->name);
		shown++;
	}
	if ((shown || options->csv) && columns_print(&columns) < 0)
		return cli_fail("out of memory");
	if (more && !options->csv)
		printf("... %u more (--limit 0 shows all)\n", more);
	return CLI_OK;
}

static double percent_of(int64_t part_ns, int64_t all_ns)
{
	return 100.0 * (double)part_ns / (double)all_ns;
}

/* Says of the rows that are not listed how many they are and what they took: the change of the sum
 * that print_totals shows may be theirs. ROWS is what the table's rows are. */
static void print_unlisted(const struct diff_table *table, const char *rows,
			   const struct diff_options *options)
{
	uint32_t small = table->changed - count_listed(table, options);
	int64_t base_ns = table->unchanged_base_ns, change_ns = table->unchanged_change_ns;
	char a_text[HUMAN_CHARS], b_text[HUMAN_CHARS];

	if (small)
		printf("... %u changed by less than %g %% (--threshold)\n", small,
		       options->threshold_percent);
	if (table->changed == table->count)
		return;
	printf("... %u of %u %s did not change (less than %g %%, or their spread explains it)",
	       table->count - table->changed, table->count, rows, DIFF_LEAST_PERCENT);
	if (base_ns > 0)
		printf(": %.1f %% of the time in A, %s -> %s (%+.1f %%)",
		       percent_of(base_ns, table->base_ns), human_ns((double)base_ns, a_text),
		       human_ns((double)tally_sum(base_ns, change_ns), b_text),
		       percent_of(change_ns, base_ns));
	putchar('\n');
}

static void print_counts(const char *what, uint64_t a, uint64_t b)
{
	char a_text[HUMAN_CHARS], b_text[HUMAN_CHARS];

	printf("%-9s %s -> %s\n", what, human_count(a, a_text), human_count(b, b_text));
}

static void print_totals(const struct diff_pair *pair, const struct diff_options *options)
{
	const struct summary_totals *a = &pair->totals[0], *b = &pair->totals[1];
	char a_text[HUMAN_CHARS], b_text[HUMAN_CHARS];

	printf("A         %s\nB         %s\n", options->paths[0], options->paths[1]);
	print_counts("kernels", a->kernels, b->kernels);
	print_counts("copies", a->copies, b->copies);
	print_counts("memsets", a->memsets, b->memsets);
	print_counts("calls", a->api_calls, b->api_calls);
	printf("GPU time  %s -> %s of kernels", human_ns((double)a->kernel_ns, a_text),
	       human_ns((double)b->kernel_ns, b_text));
	if (a->kernel_ns)
		printf(" (%+.1f %%)",
		       percent_of(tally_span(a->kernel_ns, b->kernel_ns), a->kernel_ns));
	printf("\n\n");
}

/* Prints the tables of what changed. */
static int print_text(const struct diff_pair *pair, const struct diff_options *options,
		      const struct diff_table *table, const struct diff_table *copies)
{
	uint32_t listed_copies = count_listed(copies, options);
	uint32_t listed = count_listed(table, options) + listed_copies;
	int err;

	if (options->csv)
		return print_table(table, groupings[options->by].head, options);
	terminal_wrap_lines();
	print_totals(pair, options);
	if (options->scope || options->is_by_replay)
		printf("%s  %u -> %u; counts and times are those of one\n\n",
		       options->scope ? "instances" : "replays  ", table->a_parts, table->b_parts);
	if (listed == 0) {
		printf("nothing changed: %u rows have the same counts, and their times differ by "
		       "less than %g %% or than their spread explains\n",
		       table->count + copies->count,
		       fmax(DIFF_LEAST_PERCENT, options->threshold_percent));
		return CLI_OK;
	}
	err = print_table(table, groupings[options->by].head, options);
	print_unlisted(table, groupings[options->by].rows, options);
	if (listed_copies)
		putchar('\n');
	if (err == CLI_OK)
		err = print_table(copies, "<what", options);
	print_unlisted(copies, "kinds of copies and memsets", options);
	return err;
}

/* Whether both traces have what is compared. CLI_OK, or CLI_FAILED after a message. */
static int check_parts(const struct diff_options *options, const struct diff_table *table)
{
	if (!options->scope && !options->is_by_replay)
		return CLI_OK;
	for (int side = 0; side < 2; side++) {
		if (side ? table->b_parts : table->a_parts)
			continue;
		if (options->scope)
			return cli_fail("%s: no scope \"%s\"; dagtap scopes lists them",
					options->paths[side], options->scope);
		return cli_fail("%s: no graph was launched", options->paths[side]);
	}
	return CLI_OK;
}

/* Both tables are empty before. Returns 0 or -ENOMEM; the caller releases both in any case. */
static int make_tables(const struct diff_pair *pair, const struct diff_options *options,
		       struct diff_table *table, struct diff_table *copies)
{
	struct diff_query query = {.by = groupings[options->by].by,
				   .scope = options->scope,
				   .is_by_replay = options->is_by_replay};
	bool has_copies = query.by == SUMMARY_BY_KERNEL;
	int err = diff_make(pair->traces[0], pair->traces[1], &query, table);

	query.by = SUMMARY_BY_COPY;
	if (err == 0 && has_copies)
		err = diff_make(pair->traces[0], pair->traces[1], &query, copies);
	return err;
}

int diff_write_json(struct trace *const traces[2], const char *const paths[2], const char *by,
		    FILE *out)
{
	struct diff_options options = {.paths = {paths[0], paths[1]}};
	struct diff_pair pair = {{traces[0], traces[1]},
				 {summary_count(traces[0]), summary_count(traces[1])}};
	struct diff_table table = {0}, copies = {0};
	int err;

	while (options.by + 1 < GROUPING_COUNT && strcmp(groupings[options.by].name, by) != 0)
		options.by++;
	err = make_tables(&pair, &options, &table, &copies);
	if (err == 0)
		err = diff_put_json(&pair, &options, groupings[options.by].name, &table, &copies,
				    out);
	diff_release(&table);
	diff_release(&copies);
	return err;
}

static int compare(const struct diff_pair *pair, const struct diff_options *options)
{
	struct diff_table table = {0}, copies = {0};
	int err = make_tables(pair, options, &table, &copies);

	if (err < 0)
		err = cli_fail("out of memory");
	else
		err = check_parts(options, &table);
	if (err == CLI_OK && options->json)
		diff_put_json(pair, options, groupings[options->by].name, &table, &copies, stdout);
	else if (err == CLI_OK)
		err = print_text(pair, options, &table, &copies);
	diff_release(&table);
	diff_release(&copies);
	return err == CLI_OK ? cli_finish_stdout() : err;
}

static int diff(const struct cli_command *self, int argc, char **argv)
{
	struct diff_options options = {.limit = ROWS_DEFAULT};
	struct diff_pair pair = {0};
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	for (int side = 0; side < 2 && err == CLI_OK; side++) {
		if (cli_open_trace(options.paths[side], CLI_SCOPES | CLI_IDLE_CALLS | CLI_NODES,
				   &pair.traces[side]) < 0)
			err = CLI_FAILED;
		else
			err = filter_options_apply(&options.filter, options.paths[side],
						   pair.traces[side]);
		if (err == CLI_OK)
			pair.totals[side] = summary_count(pair.traces[side]);
	}
	if (err == CLI_OK)
		kernel_names_use((const struct trace *const *)pair.traces, 2,
				 options.full_names || options.csv);
	if (err == CLI_OK)
		err = compare(&pair, &options);
	for (int side = 0; side < 2; side++) {
		if (err == CLI_OK)
			err = cli_tell_damage(pair.traces[side], options.paths[side]);
	}
	kernel_names_release();
	trace_close(pair.traces[0]);
	trace_close(pair.traces[1]);
	return err;
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.operands = "A B",
	.help = "what changed from one trace to another",
	.options = options_of_diff,
	.notes = "Exit status 0 whether or not anything changed.\n",
	.run = diff,
};
