/* Functions that the sub-commands share. Each command has one file; main.c has the table of
 * commands, from which the help is printed. Only the command line picks exit codes, and only it
 * prints. Threading: the main thread. */
#ifndef DAGTAP_CLI_CLI_H
#define DAGTAP_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error_text.h"
#include "trace/trace_model.h"

struct format;

/* Exit codes. LOSS: the check found a loss, or the file is damaged. */
enum cli_exit { CLI_OK, CLI_FAILED, CLI_USAGE, CLI_LOSS };

struct cli_command {
	const char *name;
	const char *synopsis; /* the arguments after "dagtap NAME" */
	const char *help;     /* one line */
	const char *options;  /* lines of "  -x, --xyz   text\n", or NULL */
	/* Runs the command and returns a cli_exit, or, for record, the program's exit
	 * status. argv[0] is "dagtap NAME", for getopt's messages; for softgpu it is the word that
	 * was typed, which may hold a configuration. */
	int (*run)(const struct cli_command *self, int argc, char **argv);
};

/* The run functions of the commands. */
int cli_record(const struct cli_command *self, int argc, char **argv);
int cli_softgpu(const struct cli_command *self, int argc, char **argv);
int cli_summary(const struct cli_command *self, int argc, char **argv);
int cli_check(const struct cli_command *self, int argc, char **argv);
int cli_graph(const struct cli_command *self, int argc, char **argv);
int cli_path(const struct cli_command *self, int argc, char **argv);
int cli_info(const struct cli_command *self, int argc, char **argv);
int cli_diff(const struct cli_command *self, int argc, char **argv);
int cli_export(const struct cli_command *self, int argc, char **argv);

/* Print one line "dagtap: ..." on stderr, without control characters, and return CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_fail_error(const struct dagtap_error *error);

/* Prints a message and the command's usage on stderr, and returns CLI_USAGE. */
int cli_usage(const struct cli_command *self, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Parse the value of the option that getopt has just found (optarg); OPTION is its name for
 * messages. Return CLI_OK, or CLI_USAGE after a message. */
int cli_take_number(const struct cli_command *self, const char *option, uint64_t *ret_number);
int cli_take_limit(const struct cli_command *self, uint32_t *ret_limit);

/* Whether TEXT is an unsigned decimal number of 64 bits and nothing else, without sign or space. */
bool cli_is_number(const char *text, uint64_t *ret_number);

#ifdef __clang_analyzer__ /* tells the analyzer, which does not see cli.c, what they return */
#define cli_fail(...)	     (cli_fail(__VA_ARGS__), CLI_FAILED)
#define cli_usage(self, ...) (cli_usage(self, __VA_ARGS__), CLI_USAGE)
#endif

/* Prints the full help of a command on stdout. Returns as cli_finish_stdout. */
int cli_help(const struct cli_command *self);

/* Opens a recording, or another tool's trace, and shows the progress on stderr if that is a
 * terminal. IS_BRIEF is as in trace_options. The caller closes *RET_TRACE with trace_close.
 * Returns 0, or a negative errno after a message on stderr. */
int cli_open_trace(const char *path, bool is_brief, struct trace **ret_trace);

/* The same, but loads only the parts of the trace that FORMAT writes. */
int cli_open_for(const struct format *format, const char *path, struct trace **ret_trace);

/* Returns CLI_OK. If the recording is damaged, prints one line on stderr and returns CLI_LOSS:
 * the command has shown only the readable part of it. */
int cli_tell_damage(const struct trace *trace, const char *path);

/* Flushes stdout. Returns CLI_OK, or CLI_FAILED after a message if any output could not be
 * written. */
int cli_finish_stdout(void);

#endif
