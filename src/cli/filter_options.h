/* The options that select rows of a trace, the same in every command that has them, and the rows
 * that they select (analyze/filter.h). */
#ifndef DAGTAP_CLI_FILTER_OPTIONS_H
#define DAGTAP_CLI_FILTER_OPTIONS_H

#include "analyze/filter.h"
#include "cli/cli.h"
#include "cli/command_options.h"

/* The values of the options as they were typed; NULL: not given. */
struct filter_options {
	const char *kernel, *scope, *from, *to, *stream, *device;
};

/* The rows of a command's table of options; MEMBER of TYPE is a struct filter_options. */
#define FILTER_OPTIONS(type, member)                                                               \
	{"kernel", .argument = "PATTERN", .help = "only kernels of this name, as in '*gemm*'",     \
	 .kind = OPTION_TEXT, OPTION_IN(type, member.kernel)},                                     \
		FILTER_OPTIONS_OF_CALLS(type, member)

/* The same for a command that shows no kernels. */
#define FILTER_OPTIONS_OF_CALLS(type, member)                                                      \
	{"scope", .argument = "PATTERN", .help = "only what is in such scopes, as in 'token *'",   \
	 .kind = OPTION_TEXT, OPTION_IN(type, member.scope)},                                      \
		{"from", .argument = "TIME",                                                       \
		 .help = "only what ends after this: ns as the recording has them, or since its "  \
			 "begin with a unit, as in 1.5s",                                          \
		 .kind = OPTION_TEXT, OPTION_IN(type, member.from)},                               \
		{"to", .argument = "TIME", .help = "only what begins before this",                 \
		 .kind = OPTION_TEXT, OPTION_IN(type, member.to)},                                 \
		{"stream", .argument = "N", .help = "only work of streams with this number",       \
		 .kind = OPTION_TEXT, OPTION_IN(type, member.stream)},                             \
	{                                                                                          \
		"device", .argument = "N", .help = "only work of this GPU", .kind = OPTION_TEXT,   \
			  OPTION_IN(type, member.device)                                           \
	}

/* Reads the values. Returns CLI_OK, or CLI_USAGE after a message. */
int filter_options_read(const struct cli_command *self, const struct filter_options *options,
			struct filter *ret_filter);

/* Reads TEXT, the value of the option NAME: ns, or a number with ns, us, ms or s, which counts from
 * the begin of the recording. Returns the same. */
int filter_options_read_time(const struct cli_command *self, const char *name, const char *text,
			     struct filter_time *ret_time);

/* Removes from TRACE, which was read from PATH, what FILTER does not select. Returns CLI_OK, or
 * CLI_FAILED after a message: also if nothing is selected. */
int filter_options_apply(const struct filter *filter, const char *path, struct trace *trace);

/* Selects rows of TRACE and removes none; the caller releases RET_SELECTION. Returns the same. */
int filter_options_select(const struct filter *filter, const char *path, const struct trace *trace,
			  struct selection *ret_selection);

#endif
