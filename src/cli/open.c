/* Opening a recording for a command, with progress and messages (cli.h). */
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "format/format.h"
#include "format/read.h"

static void show_progress(void *context, uint64_t done, uint64_t total)
{
	fprintf(stderr, "\rdagtap: loading %s: %llu %%\033[K", (const char *)context,
		(unsigned long long)(done * 100 / total));
}

static int open_with(struct trace_options options, const char *path, struct trace **ret_trace)
{
	bool is_terminal = isatty(STDERR_FILENO);
	struct dagtap_error error;
	int result;

	options.progress = is_terminal ? show_progress : NULL;
	options.progress_context = (void *)path;
	result = read_open(path, &options, ret_trace, &error);

	if (is_terminal)
		fputs("\r\033[K", stderr);
	if (result < 0)
		cli_fail_error(&error);
	return result;
}

int cli_open_trace(const char *path, enum cli_parts parts, struct trace **ret_trace)
{
	enum cli_parts all_calls = CLI_WAITS | CLI_LEDGER | CLI_IDLE_CALLS;
	enum cli_parts nodes = CLI_WAITS | CLI_LEDGER | CLI_NODES;

	return open_with((struct trace_options){.is_brief = true,
						.without_waits = !(parts & CLI_WAITS),
						.without_scopes = !(parts & CLI_SCOPES),
						.without_ledger = !(parts & CLI_LEDGER),
						.without_idle_calls = !(parts & all_calls),
						.without_nodes = !(parts & nodes)},
			 path, ret_trace);
}

int cli_open_for(const struct format *format, const char *path, struct trace **ret_trace)
{
	return open_with((struct trace_options){.is_brief = format->is_brief,
						.without_waits = format->without_waits},
			 path, ret_trace);
}

int cli_tell_damage(const struct trace *trace, const char *path)
{
	const char *first = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (!trace->messages[i].damage)
			continue;
		if (count++ == 0)
			first = trace_text(trace, trace->messages[i].text);
	}
	if (count == 0)
		return CLI_OK;
	if (count == 1)
		cli_fail("%s: damaged: %s", path, first);
	else
		cli_fail("%s: damaged in %u places, first: %s", path, count, first);
	return CLI_LOSS;
}
