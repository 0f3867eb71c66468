/* Compares the files of the command line with the outputs of dagtap record: see record_inputs.h. */
#include "cli/record_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/keep_input.h"
#include "cli/cli.h"
#include "cli/launcher.h"
#include "cli/stats_snapshot.h"

/* What the program reads: its own file, and its arguments. */
struct record_inputs {
	const char *program;
	char *const *arguments;
};

/* Whether writing OUTPUT, a file or the folder of spools, replaces or removes what has the name
 * PATH. A folder may be given to the program and have the output in it. */
static bool is_lost(const char *output, const char *path)
{
	struct kept_input input;
	struct dagtap_error unused;

	return keep_input_find(path, &input) &&
	       (!input.is_folder || keep_input_is_same(output, path)) &&
	       keep_input_check(output, &input, &unused) < 0;
}

/* Checks one of them; NAME as the message names it: the program, or its argument. */
static int check_path(const char *output, const char *path, const char *const name[2])
{
	if (!is_lost(output, path))
		return CLI_OK;
	return cli_fail("%s: %s the program%s%s; give OUT another name", output,
			keep_input_is_same(output, path) ? "is" : "holds", name[0], name[1]);
}

static int check_argument(const char *output, const char *argument)
{
	const char *const name[] = {"'s argument ", argument};
	const char *equals = strchr(argument, '=');
	int err = check_path(output, argument, name);

	return err == CLI_OK && equals ? check_path(output, equals + 1, name) : err;
}

static int check_output(const char *output, const struct record_inputs *inputs)
{
	int err;

	/* Nothing is replaced, and there may be thousands of arguments. */
	if (access(output, F_OK) < 0)
		return CLI_OK;
	err = check_path(output, inputs->program, (const char *const[]){"", ""});
	for (char *const *argument = inputs->arguments; *argument && err == CLI_OK; argument++)
		err = check_argument(output, *argument);
	return err;
}

/* Of the recordings of outliers only --force replaces one. */
static int check_outliers(const struct record_options *options, const struct record_inputs *inputs)
{
	bool are_replaced = options->has_stats && options->outlier_factor != 0 && options->force;
	int err = CLI_OK;

	for (uint64_t i = 1; are_replaced && err == CLI_OK && i <= STATS_SNAPSHOTS_MOST; i++) {
		char *path = stats_snapshot_path(options->output, i);

		err = path ? check_output(path, inputs) : cli_fail("out of memory");
		free(path);
	}
	return err;
}

int record_inputs_check(const struct record_options *options, const char *folder)
{
	struct record_inputs inputs = {.arguments = options->program + 1};
	struct dagtap_error error;
	char *path;
	int err;

	if (launch_find_program(*options->program, &path, &error) < 0)
		return cli_fail_error(&error);
	inputs.program = path;
	err = check_output(options->output, &inputs);
	if (err == CLI_OK)
		err = check_output(folder, &inputs);
	if (err == CLI_OK)
		err = check_outliers(options, &inputs);
	free(path);
	return err;
}
