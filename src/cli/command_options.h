/* The options of the commands. Each command has one table of them, from which the parser below,
 * the help (help.h), the manual page (man_page.h) and the completion of the shell
 * (shell_completion.h) are made. Threading: the main thread. */
#ifndef DAGTAP_CLI_COMMAND_OPTIONS_H
#define DAGTAP_CLI_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_command;
struct cli_option;

/* Most rows of one table. */
#define OPTIONS_MOST 24

/* One of the values that an option takes. */
struct option_choice {
	const char *name;  /* NULL: there are no more */
	const char *group; /* a value of another option, with which it can be given; or NULL */
	const char *help;  /* NULL: the name says enough */
};

/* How the parser stores an option in the command's struct of options. */
enum option_kind {
	OPTION_FLAG, /* bool: set to true */
	OPTION_TEXT, /* const char *: the value as it is; "" if the value is optional and absent */
	OPTION_NUMBER, /* uint32_t or uint64_t: a decimal number that fits */
	OPTION_CHOICE, /* uint32_t: the index of the value among the choices */
	OPTION_HANDLER /* by calling take */
};

/* Handles a value. VALUES is the command's struct of options. Returns CLI_OK, or CLI_USAGE after a
 * message. */
typedef int option_take(const struct cli_command *self, const char *value, void *values);

struct cli_option {
	const char *name;     /* without dashes; NULL ends the table */
	char letter;	      /* 0: none */
	const char *argument; /* names the value; "[NAME]" if it may be absent; NULL: no value */
	const char *help;     /* what follows the option in the help: no capital, no full stop */
	enum option_kind kind;
	size_t offset, bytes; /* the member that stores it: OPTION_IN */
	option_take *take;
	struct option_choice (*choice)(size_t index); /* the values, from 0; NULL: any */
	bool is_required;			      /* for the synopsis; the command checks it */
};

/* The row of --threads, for commands that read a trace. It sets the limit of base/workers.h. */
#define THREADS_OPTION                                                                             \
	{                                                                                          \
		"threads", .argument = "N",                                                        \
			   .help = "use at most N threads (default: one for each CPU); the "       \
				   "output is the same",                                           \
			   .kind = OPTION_HANDLER, .take = options_take_threads                    \
	}

option_take options_take_threads;

/* Initialises the members that say where an option is stored. */
#define OPTION_IN(type, member)                                                                    \
	.offset = offsetof(struct type, member), .bytes = sizeof(((struct type *)0)->member)

/* Parses the command line as getopt_long does: long options may be abbreviated, operands may stand
 * between options (unless self->starts_program), and "--" ends the options. VALUES is the command's
 * struct of options, with the defaults filled in. Returns CLI_OK with the index of the first
 * operand, which the others follow; CLI_HELP if --help was given; or CLI_USAGE after a message. */
int options_parse(const struct cli_command *self, int argc, char **argv, void *values,
		  int *ret_first);

/* The same for a command whose one operand is a file. */
int options_parse_file(const struct cli_command *self, int argc, char **argv, void *values,
		       const char **ret_path);

/* Read a number for a handler. NAME is the option's, for the message. Return CLI_OK, or CLI_USAGE
 * after a message. */
int options_take_u64(const struct cli_command *self, const char *name, const char *value,
		     uint64_t *ret_number);
int options_take_u32(const struct cli_command *self, const char *name, const char *value,
		     uint32_t *ret_number);

#endif
