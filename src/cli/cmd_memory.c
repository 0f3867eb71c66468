/* dagtap memory: the memory that the program held, when it held the most, for what, and what it
 * never released. memory_text.c and memory_json.c print the result. */
#include "cli/cmd_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/path_window.h"
#include "base/table.h"
#include "cli/answer_frame.h"
#include "cli/answers.h"
#include "cli/help.h"
#include "trace/row_table.h"

#define TEXT_ROWS  10
#define TIME_PARTS 100

struct memory_options {
	struct answer_options answer;
	uint32_t table;
	uint32_t parts;
};

static struct option_choice table_choice(size_t index)
{
	static const struct option_choice tables[] = {
		[MEMORY_DEVICES] = {"devices", NULL, "each kind of memory of each device"},
		[MEMORY_PEAK] = {"peak", NULL, "what was held at the peaks"},
		[MEMORY_SCOPES] = {"scopes", NULL, "each scope, stream and function"},
		[MEMORY_LEAKS] = {"leaks", NULL, "what was never released"},
		[MEMORY_FAILED] = {"failed", NULL, "allocations that failed"},
		[MEMORY_TIME] = {"time", NULL, "the most and the last in parts of the time"},
		[MEMORY_TABLE_COUNT] = {0},
	};

	return tables[index];
}

static const struct cli_option options_of_memory[] = {
	{"table", .argument = "NAME", .help = "print only this table (CSV: devices by default):",
	 .kind = OPTION_CHOICE, OPTION_IN(memory_options, table), .choice = table_choice},
	{"parts", .argument = "N", .help = "parts of the time in the table time (default 100)",
	 .kind = OPTION_NUMBER, OPTION_IN(memory_options, parts)},
	ANSWER_LIMIT(memory_options, answer,
		     "rows of each table, 0 = all (default 10; JSON has all unless given)"),
	FILTER_OPTIONS_OF_CALLS(memory_options, answer.filter_options),
	ANSWER_OUTPUTS(memory_options, answer),
	{0},
};

/* ---- analysis ---- */

static int compare_shares(const void *left, const void *right, void *context)
{
	const struct memory_use *uses = context;
	const struct memory_use *a = &uses[*(const uint32_t *)left];
	const struct memory_use *b = &uses[*(const uint32_t *)right];

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->peak_share != b->peak_share)
		return a->peak_share < b->peak_share ? 1 : -1;
	return (a > b) - (a < b);
}

static int find_peak_uses(struct memory_result *result)
{
	const struct memory *memory = &result->memory;

	result->peak_uses = table_alloc(memory->uses_count, sizeof(*result->peak_uses));
	if (!result->peak_uses)
		return -ENOMEM;
	for (uint32_t i = 0; i < memory->uses_count; i++) {
		if (memory->uses[i].peak_count)
			result->peak_uses[result->peak_uses_count++] = i;
	}
	qsort_r(result->peak_uses, result->peak_uses_count, sizeof(*result->peak_uses),
		compare_shares, memory->uses);
	return 0;
}

/* Fills RESULT's analysis. IS_SELECTED is by block; NULL: all. Returns 0 or -ENOMEM. */
static int find(struct memory_result *result, const bool *is_selected, uint32_t parts)
{
	int64_t end_ns;
	int err = memory_make(result->trace, &result->blocks, is_selected, parts, &result->memory);

	path_bounds(result->trace, &result->begin_ns, &end_ns);
	/* HSA allocates before the first work, and its calls have no rows. */
	if (result->blocks.rows[0].begin_ns < result->begin_ns)
		result->begin_ns = result->blocks.rows[0].begin_ns;
	return err == 0 ? find_peak_uses(result) : err;
}

static void release(struct memory_result *result)
{
	free(result->peak_uses);
	memory_release(&result->memory);
	memory_blocks_release(&result->blocks);
}

/* ---- the command ---- */

static int print_selected(struct memory_result *result, const struct memory_options *options)
{
	const struct answer_options *answer = &options->answer;
	bool *is_selected = table_alloc(result->blocks.count, sizeof(*is_selected));
	uint32_t count = 0;
	int err = is_selected ? filter_select_blocks(result->trace, &answer->filter,
						     &result->blocks, is_selected, &count)
			      : -ENOMEM;

	if (err == 0 && count)
		err = find(result, is_selected, options->parts);
	free(is_selected);
	if (err < 0)
		return cli_fail("%s: out of memory", result->file);
	if (result->blocks.count == 0)
		return cli_fail("%s: no allocation of memory in it", result->file);
	if (count == 0)
		return cli_fail("%s: nothing in it is what the options select", result->file);
	if (!answer->json)
		return memory_print_text(result);
	memory_put_json(result, stdout);
	return CLI_OK;
}

static int print(struct trace *trace, const void *memory_options)
{
	const struct memory_options *options = memory_options;
	struct memory_result result = {
		.file = options->answer.path,
		.trace = trace,
		.table = (enum memory_table)options->table,
		.limit = options->answer.limit,
		.is_csv = options->answer.csv,
	};
	int err = memory_blocks_find(trace, &result.blocks);

	err = err < 0 ? cli_fail("%s: out of memory", result.file)
		      : print_selected(&result, options);
	release(&result);
	return err;
}

int memory_write_json(const struct trace *trace, const char *path, uint32_t limit, FILE *out)
{
	struct memory_result result = {
		.file = path, .trace = trace, .table = MEMORY_TABLE_COUNT, .limit = limit};
	int err = memory_blocks_find(trace, &result.blocks);

	if (err == 0 && result.blocks.count == 0)
		err = -ENODATA;
	if (err == 0)
		err = find(&result, NULL, TIME_PARTS);
	if (err == 0)
		err = memory_put_json(&result, out);
	release(&result);
	return err;
}

static int memory(const struct cli_command *self, int argc, char **argv)
{
	struct memory_options options = {
		.answer = {.limit = ROWS_DEFAULT, .parts = CLI_SCOPES | CLI_IDLE_CALLS | CLI_NODES},
		.table = MEMORY_TABLE_COUNT,
		.parts = TIME_PARTS,
	};
	int err = options_parse_file(self, argc, argv, &options, &options.answer.path);

	if (err != CLI_OK)
		return err;
	if (options.parts == 0 || options.parts > 1000000)
		return cli_usage(self, "--parts takes 1 to 1000000");
	if (options.answer.csv && options.table == MEMORY_TABLE_COUNT)
		options.table = MEMORY_DEVICES;
	return answer_run(self, &options.answer, (struct answer_rows){.text = TEXT_ROWS}, print,
			  &options);
}

const struct cli_command cmd_memory = {
	.name = "memory",
	.operands = "FILE",
	.help = "the memory that was held, by whom, the peaks, and what was never released",
	.options = options_of_memory,
	.notes = "The options that select choose allocations: those that were made in the scope "
		 "and\n"
		 "on the stream, and that were held in the time from --from to --to.\n",
	.run = memory,
};
