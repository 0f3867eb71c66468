/* Prints the usage and the help of a command. */
#include "cli/help.h"
#include "cli/terminal.h"

#include <stdarg.h>
#include <string.h>

#include "cli/command_options.h"

#define WIDTH	    80
#define TEXT_COLUMN 25 /* where the text of an option begins */

static const struct help_marks plain = {"", "", "", ""};

/* Writes the option's value, after SEPARATOR if it has to be given. */
static void put_value(FILE *out, const struct cli_option *option, const struct help_marks *marks,
		      const char *separator)
{
	const char *name = option->argument;
	int chars;

	if (!name)
		return;
	chars = (int)strlen(name);
	if (name[0] == '[')
		fprintf(out, "[=%s%.*s%s]", marks->named, chars - 2, name + 1, marks->named_end);
	else
		fprintf(out, "%s%s%s%s", separator, marks->named, name, marks->named_end);
}

const char *help_option(const struct cli_option *option, const struct help_marks *marks,
			char *buffer)
{
	FILE *out = fmemopen(buffer, HELP_CHARS, "w");

	buffer[0] = '\0';
	if (!out)
		return buffer;
	if (option->letter)
		fprintf(out, "%s-%c%s, ", marks->typed, option->letter, marks->typed_end);
	fprintf(out, "%s--%s%s", marks->typed, option->name, marks->typed_end);
	put_value(out, option, marks, " ");
	fclose(out);
	return buffer;
}

const char *help_synopsis(const struct cli_option *option, const struct help_marks *marks,
			  char *buffer)
{
	FILE *out = fmemopen(buffer, HELP_CHARS, "w");

	buffer[0] = '\0';
	if (!out)
		return buffer;
	fputs(option->is_required ? "" : "[", out);
	if (option->letter)
		fprintf(out, "%s-%c%s", marks->typed, option->letter, marks->typed_end);
	else
		fprintf(out, "%s--%s%s", marks->typed, option->name, marks->typed_end);
	put_value(out, option, marks, " ");
	fputs(option->is_required ? "" : "]", out);
	fclose(out);
	return buffer;
}

const char *help_choice_names(const struct cli_option *option, char *buffer)
{
	struct option_choice choice = option->choice(0), next;
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 1; choice.name && used < HELP_NAMES_CHARS; i++) {
		next = option->choice(i);
		used += (size_t)snprintf(buffer + used, HELP_NAMES_CHARS - used, "%s%s",
					 i == 1	     ? ""
					 : next.name ? ", "
						     : " or ",
					 choice.name);
		choice = next;
	}
	return buffer;
}

/* Words that are printed with spaces between, on as many lines as they take. */
struct paragraph {
	FILE *out;
	int indent; /* where its lines begin */
	int column; /* 0: nothing is printed yet, and OUT is at the indent */
};

static void put_word(struct paragraph *paragraph, const char *word)
{
	int chars = (int)strlen(word);

	if (!paragraph->column)
		paragraph->column = paragraph->indent;
	else if (paragraph->column + 1 + chars < WIDTH)
		paragraph->column += fprintf(paragraph->out, " ");
	else
		paragraph->column = fprintf(paragraph->out, "\n%*s", paragraph->indent, "") - 1;
	paragraph->column += fprintf(paragraph->out, "%s", word);
}

static void put_words(struct paragraph *paragraph, const char *text)
{
	char word[HELP_CHARS];

	while (*(text += strspn(text, " "))) {
		size_t chars = strcspn(text, " ");

		snprintf(word, sizeof(word), "%.*s", (int)chars, text);
		put_word(paragraph, word);
		text += chars;
	}
}

static void put_usage(FILE *out, const struct cli_command *self)
{
	const char *value = self->value;
	char text[HELP_CHARS];
	struct paragraph paragraph = {.out = out};

	paragraph.indent = fprintf(out, "usage: dagtap %s%s%s%s ", self->name, value ? "[=" : "",
				   value ? value : "", value ? "]" : "");
	for (const struct cli_option *option = self->options; option->name; option++)
		put_word(&paragraph, help_synopsis(option, &plain, text));
	put_word(&paragraph, self->operands);
	putc('\n', out);
}

int(cli_usage)(const struct cli_command *self, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "dagtap %s: ", self->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
	put_usage(stderr, self);
	return CLI_USAGE;
}

/* Prints the choices, one a line with their help. */
static void put_choices(const struct cli_option *option)
{
	struct option_choice choice;
	char head[HELP_CHARS];

	for (size_t i = 0; (choice = option->choice(i)).name; i++) {
		struct paragraph paragraph = {.out = stdout, .indent = TEXT_COLUMN};

		snprintf(head, sizeof(head), "%s%s%s", choice.group ? choice.group : "",
			 choice.group ? " " : "", choice.name);
		printf("\n        %-16s ", head);
		put_words(&paragraph, choice.help);
	}
}

static void put_option(const struct cli_option *option)
{
	struct paragraph paragraph = {.out = stdout, .indent = TEXT_COLUMN};
	char text[HELP_CHARS], names[HELP_NAMES_CHARS];
	int column =
		printf("  %s%s", option->letter ? "" : "    ", help_option(option, &plain, text));

	if (column < TEXT_COLUMN)
		printf("%*s", TEXT_COLUMN - column, "");
	else
		printf("\n%*s", TEXT_COLUMN, "");
	put_words(&paragraph, option->help);
	if (option->choice && option->choice(0).help)
		put_choices(option);
	else if (option->choice)
		put_words(&paragraph, help_choice_names(option, names));
	putchar('\n');
}

int help_print(const struct cli_command *self)
{
	static const struct cli_option help_row = {
		.name = "help", .letter = 'h', .help = "print this text"};
	int err;

	terminal_wrap_lines();
	put_usage(stdout, self);
	printf("\n%s\n\n", self->help);
	for (const struct cli_option *option = self->options; option->name; option++)
		put_option(option);
	put_option(&help_row);
	if (self->notes)
		printf("\n%s", self->notes);
	err = self->print_more ? self->print_more() : CLI_OK;
	return err == CLI_OK ? cli_finish_stdout() : err;
}
