/* Prints the result of `dagtap collectives` as text, and its tables as CSV. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli_columns.h"
#include "cli/cmd_collectives.h"
#include "cli/human.h"
#include "cli/kernel_names.h"

/* Prints the COUNT rows of a table, of which the limit's are in COLUMNS. */
static int print_columns(const struct collectives_result *result, struct columns *columns,
			 uint32_t count)
{
	uint32_t shown = collectives_rows_shown(result, count);

	if (columns_print(columns) < 0)
		return cli_fail("out of memory");
	if (shown < count && !result->is_csv)
		printf("... %u more (--limit 0 shows all)\n", count - shown);
	return CLI_OK;
}

/* Puts bytes per second as GB/s. */
static void put_rate(struct columns *columns, double rate)
{
	if (rate > 0)
		columns_put(columns, columns->is_csv ? "%.9g" : "%.2f", rate / 1e9);
	else
		columns_put_none(columns, COLUMN_PLAIN);
}

static void put_bytes(struct columns *columns, uint64_t bytes)
{
	if (bytes)
		columns_put_bytes(columns, bytes);
	else
		columns_put_none(columns, COLUMN_BYTES);
}

static void put_rank(struct columns *columns, int32_t rank)
{
	if (rank >= 0)
		columns_put(columns, "%d", rank);
	else
		columns_put_none(columns, COLUMN_PLAIN);
}

static void put_process(struct columns *columns, const struct collectives_result *result,
			uint32_t process)
{
	columns_put(columns, "%u", result->trace->processes[process].pid);
}

static bool is_merged(const struct collectives_result *result)
{
	return result->trace->clocks_count != 0;
}

/* Puts the uncertainty of a time, a column that merged recordings alone have. */
static void put_error(struct columns *columns, const struct collectives_result *result, uint64_t ns)
{
	if (is_merged(result))
		columns_put_ns(columns, (double)ns);
}

/* Three cells; CAUSE may be NULL. */
static void put_cause(struct columns *columns, const struct collectives_result *result,
		      const struct collective_cause *cause)
{
	const char *name;

	if (!cause || cause->kind == PATH_KIND_COUNT) {
		columns_put_none(columns, COLUMN_NS);
		columns_put(columns, "%s", "");
		columns_put(columns, "%s", "");
		return;
	}
	name = trace_text(result->trace, cause->name);
	columns_put_ns(columns, (double)cause->ns);
	columns_put(columns, "%s", path_kind_key(cause->kind));
	columns_put(columns, "%s", cause->kind == PATH_KERNEL ? kernel_names_text(name) : name);
}

static int print_operations(const struct collectives_result *result)
{
	static const char *const heads[] = {"communicator", "ranks",	"<operation",	  "bytes",
					    "count",	    "?mean",	"?p50",		  "?p99",
					    "alg GB/s",	    "bus GB/s", "?together GB/s", NULL};
	const struct collectives *collectives = &result->collectives;
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = result->is_csv;
	for (uint32_t i = 0; i < collectives_rows_shown(result, collectives->stats_count); i++) {
		const struct collective_row *row = &collectives->stats[i];
		uint32_t ranks = collectives->communicators[row->communicator].ranks;
		double whole_ns =
			row->whole_count ? (double)row->whole_ns / (double)row->whole_count : 0;

		columns_put(&columns, "%u", row->communicator);
		put_rank(&columns, ranks ? (int32_t)ranks : -1);
		columns_put(&columns, "%s", collective_kind_key(row->kind));
		put_bytes(&columns, row->bytes);
		columns_put_count(&columns, row->count);
		if (row->duration.count == 0) {
			for (int k = 0; k < 3; k++)
				columns_put_none(&columns, COLUMN_NS);
		} else {
			columns_put_ns(&columns, row->duration.mean);
			columns_put_ns(&columns, row->duration.p50);
			columns_put_ns(&columns, row->duration.p99);
		}
		put_rate(&columns, collective_algorithm_rate(row->bytes, row->duration.mean));
		put_rate(&columns,
			 collective_bus_rate(row->kind, ranks, row->bytes, row->duration.mean));
		put_rate(&columns, collective_bus_rate(row->kind, ranks, row->bytes, whole_ns));
	}
	return print_columns(result, &columns, collectives->stats_count);
}

static int print_late(const struct collectives_result *result)
{
	static const char *const heads[] = {
		"communicator", "number", "<operation", "?bytes",   "?ranks", "spread", "late rank",
		"?late pid",	"?alone", "?more",	"~because", "~what",  NULL};
	static const char *const merged_heads[] = {
		"communicator", "number",   "<operation", "?bytes",    "?ranks",
		"spread",	"right to", "late rank",  "?late pid", "?alone",
		"?more",	"~because", "~what",	  NULL};
	const struct collectives *collectives = &result->collectives;
	struct columns columns;

	columns_init(&columns, is_merged(result) ? merged_heads : heads);
	columns.is_csv = result->is_csv;
	for (uint32_t i = 0; i < collectives_rows_shown(result, collectives->instances_count);
	     i++) {
		const struct collective_instance *row = &collectives->instances[i];
		const struct collective *late = &collectives->rows[row->late];

		columns_put(&columns, "%u", late->communicator);
		columns_put(&columns, "%" PRIu64, late->number);
		columns_put(&columns, "%s", collective_kind_key(late->kind));
		put_bytes(&columns, late->bytes);
		columns_put(&columns, "%u", row->count);
		columns_put_ns(&columns, (double)row->spread_ns);
		put_error(&columns, result, row->spread_error_ns);
		put_rank(&columns, late->rank);
		put_process(&columns, result, late->process);
		columns_put_ns(&columns, (double)row->alone_ns);
		put_cause(&columns, result, &row->cause);
	}
	return print_columns(result, &columns, collectives->instances_count);
}

static int print_ranks(const struct collectives_result *result)
{
	static const char *const heads[] = {
		"communicator", "rank",	  "?pid",  "?GPU",     "collectives", "last", "late",
		"?at most",	"?alone", "?more", "~because", "~what",	      NULL};
	static const char *const merged_heads[] = {"communicator", "rank",     "?pid",	 "?GPU",
						   "collectives",  "last",     "surely", "late",
						   "right to",	   "?at most", "?alone", "?more",
						   "~because",	   "~what",    NULL};
	const struct collectives *collectives = &result->collectives;
	struct columns columns;

	columns_init(&columns, is_merged(result) ? merged_heads : heads);
	columns.is_csv = result->is_csv;
	for (uint32_t i = 0; i < collectives_rows_shown(result, collectives->ranks_count); i++) {
		const struct collective_rank *row = &collectives->ranks[i];

		columns_put(&columns, "%u", row->communicator);
		put_rank(&columns, row->rank);
		put_process(&columns, result, row->process);
		if (row->agent == TRACE_NONE)
			columns_put_none(&columns, COLUMN_PLAIN);
		else
			columns_put(&columns, "%u", result->trace->agents[row->agent].gpu_ordinal);
		columns_put(&columns, "%u", row->count);
		columns_put(&columns, "%u", row->last);
		if (is_merged(result))
			columns_put(&columns, "%u", row->surely_last);
		columns_put_ns(&columns, (double)row->late_ns);
		put_error(&columns, result, row->late_error_ns);
		columns_put_ns(&columns, (double)row->most_ns);
		columns_put_ns(&columns, (double)row->alone_ns);
		put_cause(&columns, result,
			  row->cause_count ? &collectives->causes[row->cause_first] : NULL);
	}
	return print_columns(result, &columns, collectives->ranks_count);
}

static void print_notes(const struct collectives *collectives)
{
	char text[HUMAN_CHARS];

	if (collectives->foreign)
		printf("%s collective%s left out: the ranks ran on several hosts, whose clocks "
		       "differ (dagtap merge compares them)\n",
		       human_count(collectives->foreign, text), human_ending(collectives->foreign));
	if (collectives->mismatched)
		printf("%s collective%s left out: the ranks do not agree on operation and size\n",
		       human_count(collectives->mismatched, text),
		       human_ending(collectives->mismatched));
	if (collectives->unnumbered)
		printf("%s kernel%s of collectives in replays of graphs: no call tells which "
		       "operation they are\n",
		       human_count(collectives->unnumbered, text),
		       human_ending(collectives->unnumbered));
}

int collectives_print_text(const struct collectives_result *result)
{
	static int (*const tables[])(const struct collectives_result *) = {
		[COLLECTIVES_OPERATIONS] = print_operations,
		[COLLECTIVES_LATE] = print_late,
		[COLLECTIVES_RANKS] = print_ranks,
	};
	static const char *const titles[] = {
		[COLLECTIVES_OPERATIONS] = NULL,
		[COLLECTIVES_LATE] = "\nCollectives by how late the last rank began:\n",
		[COLLECTIVES_RANKS] = "\nRanks, later than the first one:\n",
	};
	bool is_all = result->table == COLLECTIVES_TABLE_COUNT;
	int err = CLI_OK;

	for (int table = 0; table < COLLECTIVES_TABLE_COUNT && err == CLI_OK; table++) {
		if (!is_all && result->table != (enum collectives_table)table)
			continue;
		if (is_all && table != COLLECTIVES_OPERATIONS &&
		    result->collectives.instances_count == 0)
			continue;
		if (is_all && titles[table])
			printf("%s", titles[table]);
		err = tables[table](result);
	}
	if (err == CLI_OK && !result->is_csv)
		print_notes(&result->collectives);
	return err;
}
