/* What all commands share: messages, numbers, the end of the output (cli.h). */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/human.h"
#include "cli/terminal.h"

int(cli_fail)(const char *format, ...)
{
	char label[32];
	va_list args;

	snprintf(label, sizeof(label), "%sdagtap:%s ", terminal_style(STDERR_FILENO, TERMINAL_BAD),
		 terminal_style(STDERR_FILENO, TERMINAL_PLAIN));
	va_start(args, format);
	if (!human_print_to(stderr, label, format, args))
		fputs("dagtap: out of memory\n", stderr);
	va_end(args);
	return CLI_FAILED;
}

int cli_fail_error(const struct dagtap_error *error)
{
	return cli_fail("%s", error->message);
}

bool cli_is_number(const char *text, uint64_t *ret_number)
{
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return false;
	*ret_number = number;
	return true;
}

int cli_finish_stdout(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return cli_fail("standard output: %s", strerror(errno));
	return CLI_OK;
}
