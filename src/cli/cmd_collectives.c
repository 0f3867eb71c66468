/* dagtap collectives: the operations of NCCL and RCCL, their bandwidth, and which rank was late.
 * collectives_text.c and collectives_json.c print the result. */
#include "cli/cmd_collectives.h"

#include "cli/answer_frame.h"
#include "cli/help.h"

#define TEXT_ROWS 10

struct collectives_options {
	struct answer_options answer;
	uint32_t table;
};

static struct option_choice table_choice(size_t index)
{
	static const struct option_choice tables[] = {
		[COLLECTIVES_OPERATIONS] = {"operations", NULL, "each operation by size"},
		[COLLECTIVES_LATE] = {"late", NULL, "each collective, and which rank was late"},
		[COLLECTIVES_RANKS] = {"ranks", NULL, "how late each rank was in all"},
		[COLLECTIVES_TABLE_COUNT] = {0},
	};

	return tables[index];
}

static const struct cli_option options_of_collectives[] = {
	{"table", .argument = "NAME", .help = "print only this table (CSV: operations by default):",
	 .kind = OPTION_CHOICE, OPTION_IN(collectives_options, table), .choice = table_choice},
	ANSWER_LIMIT(collectives_options, answer,
		     "rows of each table, 0 = all (default 10; JSON has all unless given)"),
	FILTER_OPTIONS(collectives_options, answer.filter_options),
	ANSWER_OUTPUTS(collectives_options, answer),
	{0},
};

static int print_found(const struct collectives_result *result, const struct answer_options *answer)
{
	if (result->collectives.rows_count == 0)
		return cli_fail("%s: no collective of NCCL or RCCL in it%s", result->file,
				filter_is_given(&answer->filter) ? " is what the options select"
								 : "");
	if (!answer->json)
		return collectives_print_text(result);
	collectives_put_json(result, stdout);
	return CLI_OK;
}

static int print(struct trace *trace, const void *collectives_options)
{
	const struct collectives_options *options = collectives_options;
	const struct answer_options *answer = &options->answer;
	struct collectives_result result = {
		.file = answer->path,
		.trace = trace,
		.table = (enum collectives_table)options->table,
		.limit = answer->limit,
		.is_csv = answer->csv,
	};
	struct dependencies deps = {0};
	struct selection selection;
	int err = filter_options_select(&answer->filter, answer->path, trace, &selection);

	if (err != CLI_OK)
		return err;
	err = dependencies_make(trace, &deps);
	if (err == 0)
		err = collectives_make(&deps, filter_is_given(&answer->filter) ? &selection : NULL,
				       &result.collectives);
	err = err < 0 ? cli_fail("%s: out of memory", result.file) : print_found(&result, answer);
	collectives_release(&result.collectives);
	dependencies_release(&deps);
	selection_release(&selection);
	return err;
}

static int collectives(const struct cli_command *self, int argc, char **argv)
{
	struct collectives_options options = {
		.answer = {.limit = ROWS_DEFAULT, .parts = CLI_WAITS},
		.table = COLLECTIVES_TABLE_COUNT,
	};
	int err = options_parse_file(self, argc, argv, &options, &options.answer.path);

	if (err != CLI_OK)
		return err;
	if (options.answer.csv && options.table == COLLECTIVES_TABLE_COUNT)
		options.table = COLLECTIVES_OPERATIONS;
	return answer_run(self, &options.answer, (struct answer_rows){.text = TEXT_ROWS}, print,
			  &options);
}

const struct cli_command cmd_collectives = {
	.name = "collectives",
	.operands = "FILE",
	.help = "the collectives of NCCL and RCCL, their bandwidth, and which rank was late",
	.options = options_of_collectives,
	.notes = "Bandwidths are as nccl-tests define them. The time of an operation on one rank "
		 "contains\n"
		 "its wait for the other ranks.\n",
	.run = collectives,
};
