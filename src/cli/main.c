/* dagtap, the command line: the table of commands and the overview. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/launcher.h"
#include "cli/man_page.h"
#include "cli/shell_completion.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "format/read.h"

static const struct cli_command *const commands[] = {
	&cmd_record, &cmd_stats,  &cmd_control, &cmd_softgpu, &cmd_summary, &cmd_check,
	&cmd_graph,  &cmd_path,	  &cmd_gaps,	&cmd_scopes,  &cmd_memory,  &cmd_collectives,
	&cmd_diff,   &cmd_report, &cmd_export,	&cmd_merge,   &cmd_info,    NULL,
};

static void print_overview(FILE *out)
{
	const struct read_format *format;

	fprintf(out,
		"usage: dagtap COMMAND ...\n\n"
		"Every piece of work a GPU did, each kernel inside a replayed graph included.\n\n");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-11s %s\n", commands[i]->name, commands[i]->help);
	fprintf(out, "\ndagtap help COMMAND says more. FILE is a .dagtap, a .spool or a folder of"
		     " spools,\nor another tool's trace:\n");
	for (size_t i = 0; (format = read_format_at(i)); i++)
		fprintf(out, "  %-10s %s\n", format->extension, format->help);
	fprintf(out,
		"Exit status: 0 done, 1 failed, 2 wrong usage, 3 check found a loss or the file is"
		" damaged;\nrecord hands the program's own through (128 + N for signal N).\n");
}

/* The command that WORD names, alone or as in "softgpu=CONFIG"; NULL if there is none. */
static const struct cli_command *find_command(const char *word)
{
	size_t chars = strcspn(word, "=");

	for (size_t i = 0; commands[i]; i++) {
		if (strlen(commands[i]->name) == chars &&
		    !strncmp(word, commands[i]->name, chars) &&
		    (!word[chars] || commands[i]->value))
			return commands[i];
	}
	return NULL;
}

/* Tells that there is no command WORD, and which one may be meant. */
static int fail_command(const char *word)
{
	struct suggestion suggestion = {.typed = word};

	for (size_t i = 0; commands[i]; i++)
		suggest(&suggestion, commands[i]->name);
	if (suggestion.word)
		cli_fail("no command \"%s\"; did you mean %s?", word, suggestion.word);
	else
		cli_fail("no command \"%s\"; dagtap --help lists them", word);
	return CLI_USAGE;
}

static int print_version(void)
{
	printf("dagtap %s\n", DAGTAP_VERSION);
	return cli_finish_stdout();
}

/* dagtap help [COMMAND] */
static int print_help(int argc, char **argv)
{
	const struct cli_command *command;

	if (argc == 0) {
		terminal_wrap_lines();
		print_overview(stdout);
		return cli_finish_stdout();
	}
	command = find_command(argv[0]);
	return command ? help_print(command) : fail_command(argv[0]);
}

/* dagtap --man NAME TEXT: what the build runs to make the manual pages. */
static int print_man(int argc, char **argv)
{
	const struct cli_command *command = argc == 2 ? find_command(argv[0]) : NULL;

	if (argc == 2 && (command || !strcmp(argv[0], "dagtap")))
		return man_print(command, commands, argv[1]);
	cli_fail("--man takes the name of a command, or dagtap, and the file of its text");
	return CLI_USAGE;
}

/* dagtap --completion SHELL */
static int print_completion(int argc, char **argv)
{
	if (argc == 1 && !strcmp(argv[0], "bash"))
		return completion_print_bash(commands);
	cli_fail("--completion takes the name of a shell: bash");
	return CLI_USAGE;
}

/* Opens /dev/null for each closed standard descriptor. Otherwise the next opened file would get
 * its number, and output for the terminal would go into that file. Opened for reading, so that
 * writing still fails and is noticed. */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	int result;

	fill_standard_descriptors();
	launch_ignore_file_limit();
	/* Fixes the threshold. Otherwise malloc raises it when the first large array is freed,
	 * and then keeps the memory of later arrays. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	if (argc < 2) {
		print_overview(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version"))
		return print_version();
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return print_help(argc - 2, argv + 2);
	if (!strcmp(argv[1], "--man"))
		return print_man(argc - 2, argv + 2);
	if (!strcmp(argv[1], "--completion"))
		return print_completion(argc - 2, argv + 2);
	command = find_command(argv[1]);
	if (command) {
		result = command->run(command, argc - 1, argv + 1);
		return result == CLI_HELP ? help_print(command) : result;
	}
	return fail_command(argv[1]);
}
