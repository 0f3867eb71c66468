/* dagtap report: one page about a recording, or about two side by side, for a browser. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/output_file.h"
#include "cli/report_data.h"
#include "cli/report_page.h"
#include "cli/step_options.h"
#include "format/output.h"
#include "trace/load.h"

struct report_options {
	const char *paths[2];
	uint32_t paths_count;
	const char *output;
	const char *steps;
	bool force;
	bool json;
};

static const struct cli_option options_of_report[] = {
	{"output", 'o', "OUT", "where to; - is standard output", .kind = OPTION_TEXT,
	 OPTION_IN(report_options, output), .is_required = true},
	{"force", 'f', NULL, "replace OUT if it exists", OPTION_IN(report_options, force)},
	STEP_OPTION(report_options, steps),
	{"json", .help = "write the page's data alone (docs/json.md)",
	 OPTION_IN(report_options, json)},
	THREADS_OPTION,
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct report_options *options)
{
	int first, err = options_parse(self, argc, argv, options, &first);

	if (err != CLI_OK)
		return err;
	if (first + 1 != argc && first + 2 != argc)
		return cli_usage(self, "one file, or two that are compared, please");
	options->paths_count = (uint32_t)(argc - first);
	memcpy(options->paths, argv + first, options->paths_count * sizeof(*argv));
	if (!options->output && !options->json)
		return cli_usage(self, "-o OUT is missing");
	if (options->steps && options->paths_count == 2)
		return cli_usage(self, "--step-of goes with one file");
	if (!options->output)
		options->output = "-";
	return output_file_check(options->output, options->paths, options->paths_count);
}

/* Writes the data of the traces to OUT. Returns 0 or a negative errno. */
static int write_data(struct trace *const traces[2], const struct report_options *options,
		      FILE *out)
{
	if (options->paths_count == 2)
		return report_write_comparison(traces, options->paths, out);
	return report_write_recording(traces[0], options->paths[0], options->steps, out);
}

static int write_page(struct trace *const traces[2], const struct report_options *options,
		      FILE *out)
{
	char *data = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&data, &bytes);
	int err;

	if (!memory)
		return -ENOMEM;
	err = write_data(traces, options, memory);
	if (fclose(memory) != 0 && err == 0)
		err = -ENOMEM;
	if (err == 0)
		err = report_page_write(data, bytes, out);
	free(data);
	return err;
}

static int write_output(struct trace *const traces[2], const struct report_options *options)
{
	struct dagtap_error error = {.message = ""};
	struct output output;
	int err;

	if (output_open(&output, options->output, options->force, REPLACE_NAMELESS, &error) < 0)
		return output_file_fail(&error);
	err = options->json ? write_data(traces, options, output.file)
			    : write_page(traces, options, output.file);
	if (err < 0) {
		output_abandon(&output);
		return cli_fail("%s: %s", options->output, strerror(-err));
	}
	return output_commit(&output, &error) < 0 ? output_file_fail(&error) : CLI_OK;
}

/* Makes the steps that the user has chosen, or else chooses some. CHOSEN has SCOPE_PATTERN_CHARS
 * bytes and lives as long as OPTIONS. Returns a cli_exit. */
static int make_steps(struct report_options *options, struct trace *trace, char *chosen)
{
	if (options->steps)
		return step_option_apply(options->steps, options->paths[0], trace);
	if (options->paths_count == 2)
		return CLI_OK;
	if (step_query_choose(trace, chosen) < 0)
		return cli_fail("%s: out of memory", options->paths[0]);
	if (!*chosen)
		return CLI_OK;
	options->steps = chosen;
	/* Scopes are there already, and the page shows them as they were recorded. */
	return step_query_is_about_graphs(chosen)
		       ? step_option_apply(chosen, options->paths[0], trace)
		       : CLI_OK;
}

static int report(const struct cli_command *self, int argc, char **argv)
{
	struct report_options options = {0};
	struct trace *traces[2] = {NULL, NULL};
	char chosen[SCOPE_PATTERN_CHARS];
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	for (uint32_t i = 0; i < options.paths_count && err == CLI_OK; i++) {
		if (cli_open_trace(options.paths[i], CLI_PARTS_ALL, &traces[i]) < 0)
			err = CLI_FAILED;
	}
	if (err == CLI_OK)
		err = make_steps(&options, traces[0], chosen);
	if (err == CLI_OK)
		err = write_output(traces, &options);
	for (uint32_t i = 0; i < options.paths_count && err == CLI_OK; i++)
		err = cli_tell_damage(traces[i], options.paths[i]);
	trace_close(traces[0]);
	trace_close(traces[1]);
	return err;
}

const struct cli_command cmd_report = {
	.name = "report",
	.operands = "FILE [B]",
	.help = "one page for a browser about a recording; of two, what changed",
	.options = options_of_report,
	.notes = "The page needs no network, and has 20 MB at most; it says what it holds.\n",
	.run = report,
};
