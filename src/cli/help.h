/* The usage and the help of a command, from its table of options. Threading: the main thread. */
#ifndef DAGTAP_CLI_HELP_H
#define DAGTAP_CLI_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"

/* Prints a message and the command's usage on stderr, and returns CLI_USAGE. */
int cli_usage(const struct cli_command *self, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* tells the analyzer, which does not see help.c, what it returns */
#define cli_usage(self, ...) (cli_usage(self, __VA_ARGS__), CLI_USAGE)
#endif

/* Prints the full help of a command on stdout. Returns as cli_finish_stdout. */
int help_print(const struct cli_command *self);

/* Text that is put around the parts of an option: its name, and the name of its value. */
struct help_marks {
	const char *typed, *typed_end; /* around "-o" and "--output" */
	const char *named, *named_end; /* around FILE */
};

/* Write an option into BUFFER, of HELP_CHARS bytes, and return it: help_option as the list of
 * options has it, "-o, --output FILE"; help_synopsis as the synopsis has it, "[-o FILE]". */
#define HELP_CHARS 128
const char *help_option(const struct cli_option *option, const struct help_marks *marks,
			char *buffer);
const char *help_synopsis(const struct cli_option *option, const struct help_marks *marks,
			  char *buffer);

/* Writes the names of an option's choices into BUFFER, of HELP_NAMES_CHARS bytes, as in "a, b or
 * c", and returns it. */
#define HELP_NAMES_CHARS 256
const char *help_choice_names(const struct cli_option *option, char *buffer);

#endif
