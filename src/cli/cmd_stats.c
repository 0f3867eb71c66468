/* dagtap stats: prints the statistics that dagtap record --stats has kept, of several files
 * together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/human.h"
#include "stats/stats_file.h"
#include "wire/json.h"

struct stats_options {
	bool json;
	bool csv;
	uint32_t kind; /* enum stat_kind + 1; 0: all */
	uint32_t limit;
};

static struct option_choice kind_choice(size_t index)
{
	if (index == 0)
		return (struct option_choice){.name = "all"};
	return (struct option_choice){.name = index <= STAT_KIND_COUNT
						      ? stat_kind_text((enum stat_kind)(index - 1))
						      : NULL};
}

static const struct cli_option options_of_stats[] = {
	{"by", 0, "KIND", "what to show, by default all:", OPTION_CHOICE,
	 OPTION_IN(stats_options, kind), .choice = kind_choice},
	{"limit", 0, "N", "rows to show, those with the most time first, 0 = all (default 30)",
	 OPTION_NUMBER, OPTION_IN(stats_options, limit)},
	{"json", .help = "print JSON", OPTION_IN(stats_options, json)},
	{"csv", .help = "print CSV, times in ns", OPTION_IN(stats_options, csv)},
	{0},
};

/* What is printed: rows of all files, in their order. */
struct answer {
	struct stats stats;
	struct stats_reading reading;
	uint32_t *order; /* owned; keys with rows, those with the most time first */
	uint32_t count;	 /* of order */
	uint32_t shown;
};

static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};

static const struct stat_row *row_at(const struct answer *answer, uint32_t place)
{
	return &answer->stats.processes[0].rows[answer->order[place]];
}

static const struct stat_key *key_at(const struct answer *answer, uint32_t place)
{
	return &answer->stats.keys[answer->order[place]];
}

/* ---- the order ---- */

static int by_time(const void *left, const void *right, void *rows_of)
{
	const struct stat_row *rows = rows_of;
	const uint32_t *a = left, *b = right;
	uint64_t first = rows[*a].total.sum, second = rows[*b].total.sum;

	if (first != second)
		return first > second ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static int make_order(struct answer *answer, const struct stats_options *options)
{
	struct stat_process *process = &answer->stats.processes[0];
	uint32_t limit = options->limit;

	answer->order = calloc((size_t)process->rows_count + 1, sizeof(*answer->order));
	if (!answer->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < process->rows_count; i++) {
		const struct stat_row *row = &process->rows[i];

		if ((row->total.count || row->untimed_total) &&
		    (!options->kind || answer->stats.keys[i].kind == options->kind - 1))
			answer->order[answer->count++] = i;
	}
	qsort_r(answer->order, answer->count, sizeof(*answer->order), by_time, process->rows);
	if (limit == ROWS_DEFAULT)
		limit = options->json || options->csv ? 0 : 30;
	answer->shown = limit && limit < answer->count ? limit : answer->count;
	return 0;
}

/* ---- JSON ---- */

static void json_quantile(struct json *json, const char *key, const struct sketch *sketch,
			  double quantile)
{
	json_put_double(json, key, sketch_quantile(sketch, quantile));
}

static void json_row(struct json *json, const struct answer *answer, uint32_t place)
{
	const struct stat_row *row = row_at(answer, place);
	const struct stat_key *key = key_at(answer, place);
	const struct sketch *sketch = &row->total;

	json_row_begin(json);
	json_put_text(json, "kind", stat_kind_text(key->kind));
	json_put_text(json, "name", answer->stats.names.strings[key->name]);
	if (key->kind == STAT_NODE) {
		json_put_u64(json, "graph", key->graph);
		json_put_u64(json, "node", key->node);
	}
	json_put_u64(json, "count", sketch->count);
	json_put_u64(json, "untimed", row->untimed_total);
	json_put_u64(json, "total_ns", sketch->sum);
	json_put_u64(json, "min_ns", sketch->least);
	json_quantile(json, "p50_ns", sketch, 0.5);
	json_quantile(json, "p90_ns", sketch, 0.9);
	json_quantile(json, "p99_ns", sketch, 0.99);
	json_quantile(json, "p999_ns", sketch, 0.999);
	json_put_u64(json, "max_ns", sketch->largest);
	json_put_u64(json, "collapsed", sketch->collapsed);
	json_object_end(json);
}

/* What was launched on CUDA beside what came; nothing if no process of the files tells it. */
static void json_deliveries(struct json *json, const struct stat_deliveries *row)
{
	if (!row->is_known)
		return;
	json_key(json, "cuda_deliveries");
	json_object_begin(json);
#define X(name, help) json_put_u64(json, #name, row->name);
	STAT_DELIVERIES(X)
#undef X
	json_object_end(json);
}

static int print_json(const struct answer *answer)
{
	const struct stats_reading *reading = &answer->reading;
	struct json json;

	json_init(&json, stdout);
	json_object_begin(&json);
	json_put_double(&json, "relative_error", SKETCH_ERROR);
	json_put_u64(&json, "files", reading->files);
	json_put_u64(&json, "processes", reading->processes);
	json_put_u64(&json, "processes_ended", reading->processes_ended);
	json_put_u64(&json, "intervals", reading->intervals);
	json_put_u64(&json, "begin_ns", reading->begin_ns);
	json_put_u64(&json, "end_ns", reading->end_ns);
	json_put_u64(&json, "lost_records", reading->lost);
	json_put_u64(&json, "dropped_records", reading->dropped);
	json_put_u64(&json, "no_writer_records", reading->no_writer);
	json_put_u64(&json, "cut_off_calls", reading->cut_off);
	json_put_u64(&json, "graph_records_left_out", reading->left_out);
	json_put_u64(&json, "snapshots", reading->snapshots);
	json_put_u64(&json, "cut_lines", reading->cut_lines);
	json_deliveries(&json, &reading->deliveries);
	json_key(&json, "rows");
	json_array_begin(&json);
	for (uint32_t i = 0; i < answer->shown; i++)
		json_row(&json, answer, i);
	json_array_end(&json);
	json_object_end(&json);
	json_finish(&json);
	return cli_finish_stdout();
}

/* ---- text ---- */

static void put_name(struct columns *columns, const struct answer *answer, uint32_t place)
{
	const struct stat_key *key = key_at(answer, place);

	columns_put(columns, "%s", stat_kind_text(key->kind));
	if (key->kind == STAT_NODE)
		columns_put(columns, "%llu.%u", (unsigned long long)key->graph, key->node);
	else
		columns_put_none(columns, COLUMN_PLAIN);
	columns_put(columns, "%s", answer->stats.names.strings[key->name]);
}

static int print_table(const struct answer *answer, bool is_csv)
{
	static const char *const heads[] = {"<kind", "?node", "<name", "count",	 "total", "?min",
					    "p50",   "?p90",  "p99",   "?p99.9", "max",	  NULL};
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = is_csv;
	for (uint32_t i = 0; i < answer->shown; i++) {
		const struct sketch *sketch = &row_at(answer, i)->total;

		put_name(&columns, answer, i);
		columns_put_count(&columns, sketch->count);
		columns_put_ns(&columns, (double)sketch->sum);
		columns_put_ns(&columns, (double)sketch->least);
		for (size_t q = 0; q < sizeof(quantiles) / sizeof(*quantiles); q++)
			columns_put_ns(&columns, sketch_quantile(sketch, quantiles[q]));
		columns_put_ns(&columns, (double)sketch->largest);
	}
	return columns_print(&columns) < 0 ? cli_fail("out of memory") : CLI_OK;
}

static void print_kind(const char *what, uint64_t launched, uint64_t delivered)
{
	char first[HUMAN_CHARS], second[HUMAN_CHARS];

	if (launched)
		human_print("  %s: %s launched, %s came", what, human_count(launched, first),
			    human_count(delivered, second));
}

/* What was launched on CUDA beside what CUPTI delivered. */
static void print_deliveries(const struct stat_deliveries *row)
{
	char a[HUMAN_CHARS], b[HUMAN_CHARS], c[HUMAN_CHARS];

	if (!row->is_known)
		return;
	human_print("CUDA: %s launches of graphs and %s kernels alone are compared with what came",
		    human_count(row->graph_launches, a), human_count(row->kernel_launches, b));
	print_kind("kernels", row->launched_kernels, row->delivered_kernels);
	print_kind("copies", row->launched_copies, row->delivered_copies);
	print_kind("memsets", row->launched_memsets, row->delivered_memsets);
	if (row->not_read || row->pending || row->missing)
		human_print("  did not come: %s lost or dropped, %s that need not have ended, "
			    "%s missing without a reason",
			    human_count(row->not_read, a), human_count(row->pending, b),
			    human_count(row->missing, c));
	if (row->uncompared_launches || row->uncompared_activities)
		human_print("  not comparable: %s launches of graphs, %s activities that came",
			    human_count(row->uncompared_launches, a),
			    human_count(row->uncompared_activities, b));
}

/* What the numbers do not include. */
static void print_notes(const struct answer *answer)
{
	const struct stats_reading *reading = &answer->reading;
	char lost[HUMAN_CHARS], dropped[HUMAN_CHARS], open[HUMAN_CHARS], left[HUMAN_CHARS];

	if (reading->lost || reading->dropped)
		human_print("not counted: %s records that the ring reused before they were read, "
			    "%s that a process could not write or CUPTI dropped",
			    human_count(reading->lost, lost),
			    human_count(reading->dropped, dropped));
	if (reading->no_writer)
		human_print("  %s of these: " STATS_NO_WRITER,
			    human_count(reading->no_writer, dropped));
	print_deliveries(&reading->deliveries);
	if (reading->processes > reading->processes_ended)
		human_print("without an end: %s of the processes; killed, or still recorded",
			    human_count(reading->processes - reading->processes_ended, open));
	if (reading->left_out)
		human_print("without nodes: graphs of which %s records did not fit",
			    human_count(reading->left_out, left));
}

static int print_text(const struct answer *answer, const struct stats_options *options)
{
	int err;

	if (options->csv)
		return print_table(answer, true);
	human_print("%llu file%s, %llu process%s; quantiles within %g %%",
		    (unsigned long long)answer->reading.files, human_ending(answer->reading.files),
		    (unsigned long long)answer->reading.processes,
		    answer->reading.processes == 1 ? "" : "es", SKETCH_ERROR * 100);
	err = print_table(answer, false);
	if (answer->shown < answer->count)
		printf("... %u more (--limit 0 shows all)\n", answer->count - answer->shown);
	print_notes(answer);
	return err;
}

/* ---- the command ---- */

static int read_all(struct answer *answer, char **paths)
{
	struct dagtap_error error;
	uint32_t process;

	if (stats_init(&answer->stats) < 0 ||
	    stats_add_process(&answer->stats, 0, 0, "", 0, &process) < 0)
		return cli_fail("out of memory");
	for (; *paths; paths++) {
		if (stats_read(*paths, &answer->stats, &answer->reading, &error) < 0)
			return cli_fail_error(&error);
	}
	return CLI_OK;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
	struct stats_options options = {.limit = ROWS_DEFAULT};
	struct answer answer = {0};
	int first, err = options_parse(self, argc, argv, &options, &first);

	if (err != CLI_OK)
		return err;
	if (first == argc)
		return cli_usage(self, "FILE is missing");
	err = read_all(&answer, argv + first);
	if (err == CLI_OK && make_order(&answer, &options) < 0)
		err = cli_fail("out of memory");
	if (err == CLI_OK)
		err = options.json ? print_json(&answer) : print_text(&answer, &options);
	free(answer.order);
	stats_release(&answer.stats);
	return err == CLI_OK ? cli_finish_stdout() : err;
}

const struct cli_command cmd_stats = {
	.name = "stats",
	.operands = "FILE...",
	.help = "show what dagtap record --stats has kept",
	.options = options_of_stats,
	.notes = "Files of several ranks or runs are added up.\n",
	.run = run,
};
