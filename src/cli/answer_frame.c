/* Runs the commands that answer one question about one trace (answer_frame.h). */
#include "cli/answer_frame.h"

#include "cli/help.h"
#include "cli/step_options.h"
#include "cli/terminal.h"
#include "trace/load.h"

static int check_options(const struct cli_command *self, struct answer_options *shared,
			 struct answer_rows rows)
{
	if (shared->csv && shared->json)
		return cli_usage(self, "--json or --csv, not both");
	if (shared->limit == ROWS_DEFAULT)
		shared->limit = shared->csv ? 0 : shared->json ? rows.json : rows.text;
	return filter_options_read(self, &shared->filter_options, &shared->filter);
}

int answer_run(const struct cli_command *self, struct answer_options *shared,
	       struct answer_rows rows, answer_print *print, const void *options)
{
	struct trace *trace;
	int err = check_options(self, shared, rows);

	if (err != CLI_OK)
		return err;
	if (shared->step_of || shared->filter.scope)
		shared->parts |= CLI_SCOPES | CLI_NODES;
	if (shared->step_of || filter_is_given(&shared->filter))
		shared->parts |= CLI_IDLE_CALLS | CLI_NODES;
	if (cli_open_trace(shared->path, shared->parts, &trace) < 0)
		return CLI_FAILED;
	if (!shared->json && !shared->csv)
		terminal_wrap_lines();
	kernel_names_use((const struct trace *const *)&trace, 1, shared->full_names || shared->csv);
	err = step_option_apply(shared->step_of, shared->path, trace);
	if (err == CLI_OK)
		err = print(trace, options);
	if (err == CLI_OK)
		err = cli_finish_stdout();
	if (err == CLI_OK)
		err = cli_tell_damage(trace, shared->path);
	kernel_names_release();
	trace_close(trace);
	return err;
}
