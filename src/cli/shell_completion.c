/* Prints the script that completes dagtap's command line in bash: the commands, the options of
 * each, and the values of options that have choices. Everything else is completed as a file
 * name. */
#include "cli/shell_completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/command_options.h"

/* COMP_WORDS has "--by=x" as three words, because '=' separates words in bash. */
static const char head[] =
	"# Completion of dagtap for bash; printed by dagtap --completion bash.\n"
	"_dagtap()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command=${COMP_WORDS[1]} words= i\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [ \"$word\" = = ]; then\n"
	"\t\tword=\n"
	"\telif [ \"$before\" = = ] && [ \"$COMP_CWORD\" -ge 3 ]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\t[ \"${COMP_WORDS[i]}\" != -- ] || return 0\n"
	"\tdone\n";

static const char tail[] = "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
			   "}\n"
			   "complete -o default -F _dagtap dagtap\n";

static void print_values(const struct cli_command *command, const struct cli_option *option)
{
	struct option_choice choice;

	printf("\t%s:--%s", command->name, option->name);
	if (option->letter)
		printf(" | %s:-%c", command->name, option->letter);
	/* Without choices there are no words: bash completes file names. */
	fputs(") words=\"", stdout);
	for (size_t i = 0; option->choice && (choice = option->choice(i)).name; i++)
		printf("%s%s", i ? " " : "", choice.name);
	puts("\" ;;");
}

static void print_options(const struct cli_command *command)
{
	printf("\t\t\t%s) words=\"", command->name);
	for (const struct cli_option *option = command->options; option->name; option++)
		printf("--%s ", option->name);
	puts("--help\" ;;");
}

/* PATTERN is of the command line; OTHERS are offered with the names of the commands. */
static void print_commands(const char *pattern, const char *others,
			   const struct cli_command *const commands[])
{
	printf("\t\t%s) words=\"", pattern);
	for (size_t i = 0; commands[i]; i++)
		printf("%s ", commands[i]->name);
	printf("%s\" ;;\n", others);
}

int completion_print_bash(const struct cli_command *const commands[])
{
	fputs(head, stdout);
	puts("\tcase $command:$before in");
	for (size_t i = 0; commands[i]; i++) {
		for (const struct cli_option *option = commands[i]->options; option->name;
		     option++) {
			if (option->argument)
				print_values(commands[i], option);
		}
	}
	puts("\t*)\n\t\tcase $COMP_CWORD:$command:$word in");
	print_commands("1:*", "help --help --version", commands);
	print_commands("2:help:*", "", commands);
	puts("\t\t*:-*)\n\t\t\tcase $command in");
	for (size_t i = 0; commands[i]; i++) {
		print_options(commands[i]);
	}
	puts("\t\t\tesac\n\t\t\t;;\n\t\tesac\n\t\t;;\n\tesac");
	fputs(tail, stdout);
	return cli_finish_stdout();
}
