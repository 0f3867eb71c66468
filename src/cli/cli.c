/* What all commands share: messages, the help of a command, numbers on the command line (cli.h). */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/human.h"

int(cli_fail)(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!human_print_to(stderr, "dagtap: ", format, args))
		fputs("dagtap: out of memory\n", stderr);
	va_end(args);
	return CLI_FAILED;
}

int cli_fail_error(const struct dagtap_error *error)
{
	return cli_fail("%s", error->message);
}

int(cli_usage)(const struct cli_command *self, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "dagtap %s: ", self->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nusage: dagtap %s %s\n", self->name, self->synopsis);
	return CLI_USAGE;
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

int cli_take_number(const struct cli_command *self, const char *option, uint64_t *ret_number)
{
	if (!cli_is_number(optarg, ret_number))
		return cli_usage(self, "%s takes a number, not \"%s\"", option, optarg);
	return CLI_OK;
}

int cli_take_limit(const struct cli_command *self, uint32_t *ret_limit)
{
	uint64_t limit;

	if (!cli_is_number(optarg, &limit) || limit > UINT32_MAX)
		return cli_usage(self, "--limit takes a number, not \"%s\"", optarg);
	*ret_limit = (uint32_t)limit;
	return CLI_OK;
}

int cli_help(const struct cli_command *self)
{
	printf("usage: dagtap %s %s\n\n%s\n", self->name, self->synopsis, self->help);
	if (self->options)
		printf("\n%s", self->options);
	return cli_finish_stdout();
}

int cli_finish_stdout(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return cli_fail("standard output: %s", strerror(errno));
	return CLI_OK;
}
