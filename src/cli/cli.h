/* What the sub-commands share. One file a command; main.c holds the one table of them, from which
 * the help is printed. */
#ifndef DAGTAP_CLI_CLI_H
#define DAGTAP_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/model.h"

struct format;

enum cli_exit { CLI_OK, CLI_FAILED, CLI_USAGE, CLI_LOSS };

struct cli_command {
	const char *name;
	const char *synopsis; /* what follows "dagtap NAME" */
	const char *help;     /* one line */
	const char *options;  /* lines of "  -x, --xyz   text\n", or NULL */
	/* argv[0] is for complaints; softgpu's is what was typed. */
	int (*run)(const struct cli_command *self, int argc, char **argv);
};

int cli_record(const struct cli_command *self, int argc, char **argv);
int cli_softgpu(const struct cli_command *self, int argc, char **argv);
int cli_summary(const struct cli_command *self, int argc, char **argv);
int cli_check(const struct cli_command *self, int argc, char **argv);
int cli_graph(const struct cli_command *self, int argc, char **argv);
int cli_path(const struct cli_command *self, int argc, char **argv);
int cli_info(const struct cli_command *self, int argc, char **argv);
int cli_diff(const struct cli_command *self, int argc, char **argv);
int cli_export(const struct cli_command *self, int argc, char **argv);

/* One line on stderr, "dagtap: ..."; returns CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_fail_error(const struct dagtap_error *error);

/* The complaint and the command's usage on stderr; returns CLI_USAGE. */
int cli_usage(const struct cli_command *self, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The value of the option that getopt has just found. CLI_OK, or CLI_USAGE after a complaint. */
int cli_take_number(const struct cli_command *self, const char *option, uint64_t *ret_number);
int cli_take_limit(const struct cli_command *self, uint32_t *ret_limit);

/* A whole number and nothing else, not even a sign or a space. */
bool cli_is_number(const char *text, uint64_t *ret_number);

#ifdef __clang_analyzer__ /* it sees one file at a time, and not what they return */
#define cli_fail(...)	     (cli_fail(__VA_ARGS__), CLI_FAILED)
#define cli_usage(self, ...) (cli_usage(self, __VA_ARGS__), CLI_USAGE)
#endif

/* The full help of a command on stdout; returns CLI_OK. */
int cli_help(const struct cli_command *self);

/* Opens a recording, with progress on stderr when that is a terminal; IS_BRIEF as in trace_options.
 * 0, or -errno after a line on stderr. */
int cli_open_trace(const char *path, bool is_brief, struct trace **ret_trace);

/* The same, with what FORMAT writes. */
int cli_open_for(const struct format *format, const char *path, struct trace **ret_trace);

/* CLI_OK, or one line on stderr and CLI_LOSS when the recording is damaged: then what a command shows
 * is what is left of it. */
int cli_tell_damage(const struct trace *trace, const char *path);

/* Flushes stdout: CLI_OK, or CLI_FAILED with a line when something could not be written. */
int cli_finish_stdout(void);

#endif
