/* Functions that the sub-commands share. Each command has one file; main.c has the table of
 * commands. Only the command line picks exit codes, and only it
 * prints. Threading: the main thread. */
#ifndef DAGTAP_CLI_CLI_H
#define DAGTAP_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error_text.h"
#include "trace/trace_model.h"

struct cli_option;
struct format;

/* Exit codes. LOSS: the check found a loss, or the file is damaged. HELP is none, and no errno
 * either: a command returns it to main.c, which prints the command's help and exits with OK. */
enum cli_exit { CLI_OK, CLI_FAILED, CLI_USAGE, CLI_LOSS, CLI_HELP = 256 };

struct cli_command {
	const char *name;
	const char *value;    /* names what may follow the name, as in "softgpu=CONFIG"; or NULL */
	const char *operands; /* as the help names them: "FILE" */
	const char *help;     /* one line */
	const struct cli_option *options; /* command_options.h; ends with a row without a name */
	const char *notes;		  /* the last lines of the help, or NULL */
	int (*print_more)(void);	  /* prints more help, after the notes; or NULL */
	bool starts_program;		  /* what follows the first operand is a program's */

	/* Runs the command and returns a cli_exit, or, for record, the program's exit
	 * status. argv[0] is the word that was typed: the name, or "softgpu=CONFIG". */
	int (*run)(const struct cli_command *self, int argc, char **argv);
};

/* The commands, each defined in the file cmd_NAME.c. */
extern const struct cli_command cmd_record, cmd_softgpu, cmd_summary, cmd_check, cmd_graph,
	cmd_path, cmd_gaps, cmd_scopes, cmd_memory, cmd_diff, cmd_report, cmd_export, cmd_info,
	cmd_control, cmd_merge, cmd_collectives, cmd_stats;

/* Print one line "dagtap: ..." on stderr, without control characters, and return CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_fail_error(const struct dagtap_error *error);

/* Whether TEXT is an unsigned decimal number of 64 bits and nothing else, without sign or space. */
bool cli_is_number(const char *text, uint64_t *ret_number);

#ifdef __clang_analyzer__ /* tells the analyzer, which does not see cli.c, what it returns */
#define cli_fail(...) (cli_fail(__VA_ARGS__), CLI_FAILED)
#endif

/* What a command needs of a trace besides activities, calls and graphs; bits. */
enum cli_parts {
	CLI_PARTS_NONE = 0,
	CLI_WAITS = 1, /* events, their records and waits: dependencies come from them */
	CLI_SCOPES = 2,
	CLI_LEDGER = 4, /* sources and drops; only with CLI_SCOPES, which it counts */
	/* idle calls (trace_options.without_idle_calls); waits and the ledger bring them, too */
	CLI_IDLE_CALLS = 8,
	/* the nodes of activities; waits and the ledger bring them, too */
	CLI_NODES = 16,
	CLI_PARTS_ALL = CLI_WAITS | CLI_SCOPES | CLI_LEDGER | CLI_IDLE_CALLS | CLI_NODES
};

/* Opens a recording, or another tool's trace, and shows the progress on stderr if that is a
 * terminal. PARTS: what is loaded besides; a recording's arguments of calls and ticks are not. The
 * caller closes *RET_TRACE with trace_close. Returns 0, or a negative errno after a message on
 * stderr. */
int cli_open_trace(const char *path, enum cli_parts parts, struct trace **ret_trace);

/* The same, but loads only the parts of the trace that FORMAT writes. */
int cli_open_for(const struct format *format, const char *path, struct trace **ret_trace);

/* Returns CLI_OK. If the recording is damaged, prints one line on stderr and returns CLI_LOSS:
 * the command has shown only the readable part of it. */
int cli_tell_damage(const struct trace *trace, const char *path);

/* Flushes stdout. Returns CLI_OK, or CLI_FAILED after a message if any output could not be
 * written. */
int cli_finish_stdout(void);

#endif
