/* Prints manual pages in roff. */
#include "cli/man_page.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_options.h"
#include "cli/help.h"
#include "record/environment.h"

struct page {
	const struct cli_command *self; /* NULL: dagtap */
	const struct cli_command *const *commands;
	char **lines; /* of the text, without their newlines; NULL ends them */
};

/* Prints TEXT so that roff takes no character of it for a command. */
static void put_escaped(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

/* Prints a help line, which is not empty, as a sentence. */
static void put_sentence(const char *text)
{
	char first[] = {(char)toupper((unsigned char)text[0]), '\0'};
	char last = text[strlen(text) - 1];

	put_escaped(first);
	put_escaped(text + 1);
	puts(strchr(".:?", last) ? "" : ".");
}

/* ---- the head of a page ---- */

static const struct help_marks roff = {"\\fB", "\\fR", "\\fI", "\\fR"};

/* Prints what help_option and help_synopsis wrote: their dashes belong to names. */
static void put_marked(const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			putchar('\\');
		putchar(*text);
	}
}

static void put_synopsis(const struct cli_command *self)
{
	char text[HELP_CHARS];

	printf("\\fBdagtap %s\\fR", self->name);
	if (self->value)
		printf("[=\\fI%s\\fR]", self->value);
	putchar('\n');
	for (const struct cli_option *option = self->options; option->name; option++) {
		put_marked(help_synopsis(option, &roff, text));
		putchar('\n');
	}
	if (self->starts_program)
		fputs("\\fB\\-\\-\\fR ", stdout);
	fputs("\\fI", stdout);
	put_escaped(self->operands + (self->starts_program ? strlen("-- ") : 0));
	fputs("\\fR\n", stdout);
}

static void put_head(const struct cli_command *self)
{
	const char *help = self ? self->help
				: "show every piece of work a GPU did, graph kernels "
				  "included";
	fputs(".\\\" Made by dagtap --man.\n.TH DAGTAP", stdout);
	if (self)
		putchar('-');
	for (const char *at = self ? self->name : ""; *at; at++)
		putchar(toupper((unsigned char)*at));
	printf(" 1 \"\" \"dagtap %s\" \"User commands\"\n.SH NAME\ndagtap%s%s \\- ", DAGTAP_VERSION,
	       self ? "\\-" : "", self ? self->name : "");
	put_escaped(help);
	puts("\n.SH SYNOPSIS");
	if (self)
		put_synopsis(self);
	else
		puts("\\fBdagtap\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]");
}

/* ---- sections from tables ---- */

static void put_choices(const struct cli_option *option)
{
	struct option_choice choice = option->choice(0);
	char names[HELP_NAMES_CHARS];

	if (!choice.help) {
		put_escaped(help_choice_names(option, names));
		puts(".");
		return;
	}
	puts(".RS");
	for (size_t i = 0; (choice = option->choice(i)).name; i++) {
		fputs(".TP\n\\fB", stdout);
		put_escaped(choice.name);
		fputs("\\fR", stdout);
		if (choice.group)
			printf(" (%s)", choice.group);
		putchar('\n');
		put_sentence(choice.help);
	}
	puts(".RE");
}

/* Whether the line ends the description of an option. */
static bool is_end(const char *line)
{
	return line[0] == '@' || !strncmp(line, ".SH", 3);
}

/* Returns the option that "@option NAME" names; NULL if the line is something else, or there is no
 * such option. */
static const struct cli_option *described(const struct page *page, const char *line)
{
	const char *name = line + strlen("@option ");

	if (!page->self || strncmp(line, "@option ", strlen("@option ")) != 0)
		return NULL;
	for (const struct cli_option *option = page->self->options; option->name; option++)
		if (!strcmp(option->name, name))
			return option;
	return NULL;
}

static void put_option(const struct page *page, const struct cli_option *option)
{
	char text[HELP_CHARS];
	char **line = page->lines;

	puts(".TP");
	put_marked(help_option(option, &roff, text));
	putchar('\n');
	while (*line && described(page, *line) != option)
		line++;
	if (*line) {
		for (line++; *line && !is_end(*line); line++)
			puts(*line);
	} else {
		put_sentence(option->help);
		if (option->choice)
			put_choices(option);
	}
}

static void put_options(const struct page *page)
{
	for (const struct cli_option *option = page->self->options; option->name; option++)
		put_option(page, option);
	puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint the options and their values.");
}

static void put_environment(void)
{
	static const struct {
		const char *name, *value, *help;
	} rows[] = {
#define X(id, name, value, help) {name, value, help},
		ENVIRONMENT_VARIABLES(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		printf(".TP\n.B %s\n", rows[i].name);
		put_sentence(rows[i].help);
		if (*rows[i].value)
			printf("Default: %s.\n", rows[i].value);
	}
}

static void put_commands(const struct page *page)
{
	for (const struct cli_command *const *command = page->commands; *command; command++) {
		puts(".TP");
		printf("\\fBdagtap\\-%s\\fR(1)\n", (*command)->name);
		put_sentence((*command)->help);
	}
}

/* ---- the page ---- */

static int put_line(const struct page *page, char ***at)
{
	char **line = *at;

	*at = line + 1;
	if ((*line)[0] != '@') {
		puts(*line);
	} else if (!strcmp(*line, "@options") && page->self) {
		put_options(page);
	} else if (!strcmp(*line, "@environment")) {
		put_environment();
	} else if (!strcmp(*line, "@commands")) {
		put_commands(page);
	} else if (described(page, *line)) {
		/* put_options has printed it. */
		while (**at && !is_end(**at))
			++*at;
	} else {
		return cli_fail("the text of a manual page has \"%s\"", *line);
	}
	return CLI_OK;
}

/* Splits TEXT, in which it ends the lines. Returns NULL if out of memory. */
static char **split(char *text)
{
	size_t count = 2;
	char **lines, *rest = text;

	for (const char *at = text; *at; at++)
		count += *at == '\n';
	lines = calloc(count, sizeof(*lines));
	for (size_t i = 0; lines && rest && *rest; i++)
		lines[i] = strsep(&rest, "\n");
	return lines;
}

int man_print(const struct cli_command *self, const struct cli_command *const commands[],
	      const char *path)
{
	struct page page = {.self = self, .commands = commands};
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	int err = CLI_OK;

	if (!file)
		return cli_fail("%s: %s", path, strerror(errno));
	if (getdelim(&text, &room, '\0', file) < 0)
		err = cli_fail("%s: cannot be read, or is empty", path);
	else if (!(page.lines = split(text)))
		err = cli_fail("out of memory");
	if (err == CLI_OK)
		put_head(self);
	for (char **line = page.lines; err == CLI_OK && *line;)
		err = put_line(&page, &line);
	free(page.lines);
	free(text);
	fclose(file);
	return err == CLI_OK ? cli_finish_stdout() : err;
}
