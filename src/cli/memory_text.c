/* Prints the result of `dagtap memory` as text, and its tables as CSV. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/tally.h"
#include "cli/cli_columns.h"
#include "cli/cmd_memory.h"
#include "cli/human.h"
#include "cli/path_names.h"
#include "format/words.h"

/* Prints the COUNT rows of a table, of which the limit's are in COLUMNS. */
static int print_columns(const struct memory_result *result, struct columns *columns,
			 uint32_t count)
{
	uint32_t shown = memory_rows_shown(result, count);

	if (columns_print(columns) < 0)
		return cli_fail("out of memory");
	if (shown < count && !result->is_csv)
		printf("... %u more (--limit 0 shows all)\n", count - shown);
	return CLI_OK;
}

/* ---- cells ---- */

static void put_device(struct columns *columns, const struct memory_result *result,
		       uint32_t process, uint32_t agent)
{
	const struct trace *trace = result->trace;
	char of[32] = "";

	if (trace->processes_count > 1)
		snprintf(of, sizeof(of), "process %u ", trace->processes[process].pid);
	if (agent == TRACE_NONE)
		columns_put(columns, "%s?", of);
	else if (trace->agents[agent].is_gpu)
		columns_put(columns, "%sGPU %u", of, trace->agents[agent].gpu_ordinal);
	else
		columns_put(columns, "%shost", of);
}

static void put_place(struct columns *columns, const struct memory_result *result, uint32_t index)
{
	const struct memory_place *place = &result->memory.places[index];

	put_device(columns, result, place->process, place->agent);
	columns_put(columns, "%s", words_memory_kind(place->kind));
}

static void put_stream(struct columns *columns, const struct memory_result *result, uint32_t stream)
{
	if (stream == TRACE_NONE)
		columns_put_none(columns, COLUMN_PLAIN);
	else
		columns_put(columns, "%u", result->trace->streams[stream].ordinal);
}

/* What a use is: four cells. */
static void put_use(struct columns *columns, const struct memory_result *result,
		    const struct memory_use *use)
{
	put_place(columns, result, use->place);
	put_stream(columns, result, use->stream);
	columns_put(columns, "%s", trace_text(result->trace, use->function));
	columns_put(columns, "%s", trace_text(result->trace, use->scope));
}

#define USE_HEADS "<device", "~kind", "?stream", "~function", "<scope"

static void put_at(struct columns *columns, const struct memory_result *result, int64_t ns)
{
	columns_put_ns(columns, (double)tally_span(result->begin_ns, ns));
}

static void begin_table(struct columns *columns, const struct memory_result *result,
			const char *const *heads)
{
	columns_init(columns, heads);
	columns->is_csv = result->is_csv;
}

/* ---- the tables ---- */

static int print_devices(const struct memory_result *result)
{
	static const char *const heads[] = {"<device",	 "<kind",      "?allocations",
					    "?releases", "?allocated", "peak",
					    "?at",	 "at the end", NULL};
	uint32_t count = result->memory.places_count;
	struct columns columns;

	begin_table(&columns, result, heads);
	for (uint32_t i = 0; i < memory_rows_shown(result, count); i++) {
		const struct memory_place *place = &result->memory.places[i];

		put_place(&columns, result, i);
		columns_put_count(&columns, place->allocations);
		columns_put_count(&columns, place->releases);
		columns_put_bytes(&columns, place->allocated_bytes);
		columns_put_bytes(&columns, place->peak_bytes);
		put_at(&columns, result, place->peak_ns);
		columns_put_bytes(&columns, place->live_bytes);
	}
	return print_columns(result, &columns, count);
}

static int print_peak(const struct memory_result *result)
{
	static const char *const heads[] = {"at the peak", "?%", "?blocks", USE_HEADS, NULL};
	uint32_t count = result->peak_uses_count;
	struct columns columns;

	begin_table(&columns, result, heads);
	for (uint32_t i = 0; i < memory_rows_shown(result, count); i++) {
		const struct memory_use *use = &result->memory.uses[result->peak_uses[i]];
		uint64_t peak = result->memory.places[use->place].peak_bytes;

		columns_put_bytes(&columns, use->peak_share);
		columns_put_share(&columns, peak ? (double)use->peak_share / (double)peak : 0);
		columns_put_count(&columns, use->peak_count);
		put_use(&columns, result, use);
	}
	return print_columns(result, &columns, count);
}

static int print_scopes(const struct memory_result *result)
{
	static const char *const heads[] = {"peak",	   "?allocations", "?allocated",
					    "?at the end", USE_HEADS,	   NULL};
	uint32_t count = result->memory.uses_count;
	struct columns columns;

	begin_table(&columns, result, heads);
	for (uint32_t i = 0; i < memory_rows_shown(result, count); i++) {
		const struct memory_use *use = &result->memory.uses[i];

		columns_put_bytes(&columns, use->peak_bytes);
		columns_put_count(&columns, use->allocations);
		columns_put_bytes(&columns, use->allocated_bytes);
		columns_put_bytes(&columns, use->live_bytes);
		put_use(&columns, result, use);
	}
	return print_columns(result, &columns, count);
}

static int print_leaks(const struct memory_result *result)
{
	static const char *const heads[] = {"never released", "?blocks", "?of each", USE_HEADS,
					    NULL};
	uint32_t count = result->memory.leaks_count;
	struct columns columns;

	begin_table(&columns, result, heads);
	for (uint32_t i = 0; i < memory_rows_shown(result, count); i++) {
		const struct memory_leak *leak = &result->memory.leaks[i];

		columns_put_bytes(&columns, leak->bytes * leak->count);
		columns_put_count(&columns, leak->count);
		columns_put_bytes(&columns, leak->bytes);
		put_use(&columns, result, &result->memory.uses[leak->use]);
	}
	return print_columns(result, &columns, count);
}

static int print_failed(const struct memory_result *result)
{
	static const char *const heads[] = {"failed at", "wanted",    "?result", "<device",
					    "?stream",	 "~function", "<scope",	 NULL};
	const struct trace *trace = result->trace;
	uint32_t count = result->memory.failures_count;
	struct columns columns;

	begin_table(&columns, result, heads);
	for (uint32_t i = 0; i < memory_rows_shown(result, count); i++) {
		const struct memory_block *block = &result->blocks.rows[result->memory.failures[i]];

		put_at(&columns, result, block->begin_ns);
		if (block->bytes)
			columns_put_bytes(&columns, block->bytes);
		else
			columns_put_none(&columns, COLUMN_BYTES);
		columns_put(&columns, "%" PRId32, block->result);
		put_device(&columns, result, block->process, block->agent);
		put_stream(&columns, result, block->stream);
		columns_put(&columns, "%s",
			    block->call == TRACE_NONE
				    ? ""
				    : trace_text(trace,
						 trace->apis[trace->calls[block->call].api].name));
		columns_put(&columns, "%s", path_scope_text(trace, block->scope));
	}
	return print_columns(result, &columns, count);
}

static int print_time(const struct memory_result *result)
{
	static const char *const heads[] = {"from",    "?to",	"most", "at the end",
					    "<device", "<kind", NULL};
	uint32_t count = result->memory.steps_count;
	struct columns columns;

	begin_table(&columns, result, heads);
	for (uint32_t i = 0; i < memory_rows_shown(result, count); i++) {
		const struct memory_step *step = &result->memory.steps[i];

		put_at(&columns, result, step->begin_ns);
		put_at(&columns, result, step->end_ns);
		columns_put_bytes(&columns, step->peak_bytes);
		columns_put_bytes(&columns, step->live_bytes);
		put_place(&columns, result, step->place);
	}
	return print_columns(result, &columns, count);
}

/* ---- all of it ---- */

static void print_totals(const struct memory_result *result)
{
	const struct memory *memory = &result->memory;
	uint64_t allocations = 0, releases = 0;
	char a[HUMAN_CHARS], b[HUMAN_CHARS], c[HUMAN_CHARS];

	for (uint32_t i = 0; i < memory->places_count; i++) {
		allocations += memory->places[i].allocations;
		releases += memory->places[i].releases;
	}
	printf("%s allocation%s, %s released", human_count(allocations, a),
	       human_ending(allocations), human_count(releases, b));
	printf(", %s failed\n", human_count(memory->failures_count, c));
	if (result->blocks.unknown_releases)
		printf("%s release%s of what was allocated before\n",
		       human_count(result->blocks.unknown_releases, a),
		       human_ending(result->blocks.unknown_releases));
}

int memory_print_text(const struct memory_result *result)
{
	static int (*const tables[])(const struct memory_result *) = {
		[MEMORY_DEVICES] = print_devices, [MEMORY_PEAK] = print_peak,
		[MEMORY_SCOPES] = print_scopes,	  [MEMORY_LEAKS] = print_leaks,
		[MEMORY_FAILED] = print_failed,	  [MEMORY_TIME] = print_time,
	};
	const uint32_t counts[] = {
		[MEMORY_DEVICES] = result->memory.places_count,
		[MEMORY_PEAK] = result->peak_uses_count,
		[MEMORY_SCOPES] = result->memory.uses_count,
		[MEMORY_LEAKS] = result->memory.leaks_count,
		[MEMORY_FAILED] = result->memory.failures_count,
	};
	int err = CLI_OK;

	if (result->table != MEMORY_TABLE_COUNT)
		return tables[result->table](result);
	print_totals(result);
	for (int table = 0; table < MEMORY_TIME && err == CLI_OK; table++) {
		if (counts[table] == 0)
			continue;
		putchar('\n');
		err = tables[table](result);
	}
	return err;
}
