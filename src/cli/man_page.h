/* The manual pages, from the tables of options and the texts in docs/man. Threading: the main
 * thread. */
#ifndef DAGTAP_CLI_MAN_PAGE_H
#define DAGTAP_CLI_MAN_PAGE_H

#include "cli/cli.h"

/* Prints the manual page of SELF on stdout; of dagtap itself if it is NULL. The name and synopsis
 * come first; the rest is the file PATH, in which the lines
 *
 *   @options       becomes the list of SELF's options. An option is described by the lines after
 *                  "@option NAME" up to the next line that begins with "@" or ".SH", or by its help
 *   @environment   becomes the list of the environment variables (record/environment.h)
 *   @commands      becomes the list of the commands
 *
 * COMMANDS ends with NULL. Returns as cli_finish_stdout, or CLI_FAILED after a message: PATH cannot
 * be read, or describes an option that SELF does not have. */
int man_print(const struct cli_command *self, const struct cli_command *const commands[],
	      const char *path);

#endif
