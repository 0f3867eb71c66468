/* The completion of dagtap's command line in bash, from the tables of options. Threading: the main
 * thread. */
#ifndef DAGTAP_CLI_SHELL_COMPLETION_H
#define DAGTAP_CLI_SHELL_COMPLETION_H

#include "cli/cli.h"

/* Prints a script for bash on stdout. COMMANDS ends with NULL. Returns as cli_finish_stdout. */
int completion_print_bash(const struct cli_command *const commands[]);

#endif
