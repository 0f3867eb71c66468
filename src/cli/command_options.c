/* The one parser of options: translates a command's table for getopt_long. */
#include "cli/command_options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/workers.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/suggest.h"

/* What getopt_long returns for the table's row I is FIRST_ROW + I, and for --help HELP_ROW. No
 * character has such a value. */
enum { HELP_ROW = 256, FIRST_ROW };

int options_take_u64(const struct cli_command *self, const char *name, const char *value,
		     uint64_t *ret_number)
{
	if (!cli_is_number(value, ret_number))
		return cli_usage(self, "--%s takes a number, not \"%s\"", name, value);
	return CLI_OK;
}

int options_take_u32(const struct cli_command *self, const char *name, const char *value,
		     uint32_t *ret_number)
{
	uint64_t number;

	if (!cli_is_number(value, &number) || number > UINT32_MAX)
		return cli_usage(self, "--%s takes a number, not \"%s\"", name, value);
	*ret_number = (uint32_t)number;
	return CLI_OK;
}

int options_take_threads(const struct cli_command *self, const char *value, void *values)
{
	uint32_t threads = 0;
	int err = options_take_u32(self, "threads", value, &threads);

	if (err == CLI_OK && threads == 0)
		return cli_usage(self, "--threads takes a number from 1 on");
	if (err == CLI_OK)
		workers_limit(threads);
	return err;
}

static int take_choice(const struct cli_command *self, const struct cli_option *option,
		       const char *value, uint32_t *ret_index)
{
	struct option_choice choice;
	char names[HELP_NAMES_CHARS];

	for (uint32_t i = 0; (choice = option->choice(i)).name; i++) {
		if (!strcmp(choice.name, value)) {
			*ret_index = i;
			return CLI_OK;
		}
	}
	return cli_usage(self, "--%s takes %s, not \"%s\"", option->name,
			 help_choice_names(option, names), value);
}

static int store(const struct cli_command *self, const struct cli_option *option, const char *value,
		 void *values)
{
	void *member = (char *)values + option->offset;

	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)member = true;
		return CLI_OK;
	case OPTION_TEXT:
		*(const char **)member = value ? value : "";
		return CLI_OK;
	case OPTION_NUMBER:
		if (option->bytes == sizeof(uint64_t))
			return options_take_u64(self, option->name, value, member);
		return options_take_u32(self, option->name, value, member);
	case OPTION_CHOICE:
		return take_choice(self, option, value, member);
	case OPTION_HANDLER:
		break;
	}
	return option->take(self, value, values);
}

static int has_arg(const struct cli_option *option)
{
	if (!option->argument)
		return no_argument;
	return option->argument[0] == '[' ? optional_argument : required_argument;
}

/* The table in the two forms that getopt_long takes. */
struct getopt_table {
	char letters[2 + 2 * OPTIONS_MOST + 2];
	struct option rows[OPTIONS_MOST + 2];
};

static void translate(const struct cli_command *self, struct getopt_table *table)
{
	char *letter = table->letters;
	size_t count = 0;

	memset(table, 0, sizeof(*table));
	if (self->starts_program)
		*letter++ = '+'; /* the first operand ends the options */
	*letter++ = 'h';
	for (const struct cli_option *option = self->options; option->name; option++) {
		assert(count < OPTIONS_MOST);
		table->rows[count] = (struct option){.name = option->name,
						     .has_arg = has_arg(option),
						     .val = FIRST_ROW + (int)count};
		count++;
		if (!option->letter)
			continue;
		*letter++ = option->letter;
		if (option->argument)
			*letter++ = ':';
	}
	table->rows[count] = (struct option){.name = "help", .val = HELP_ROW};
}

/* The option that getopt_long found; NULL for one that it refused. */
static const struct cli_option *find(const struct cli_command *self, int found)
{
	const struct cli_option *option = self->options;

	if (found >= FIRST_ROW)
		return option + (found - FIRST_ROW);
	while (option->name && option->letter != found)
		option++;
	return option->name ? option : NULL;
}

/* WORD is an option that getopt_long has refused, with a message. Tells which one may be meant. */
static int refuse(const struct cli_command *self, const char *word)
{
	struct suggestion suggestion = {0};
	char name[HELP_CHARS];

	if (strncmp(word, "--", 2) != 0)
		return cli_usage(self, "see dagtap help %s", self->name);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	suggestion.typed = name;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each command has a table */
	for (const struct cli_option *option = self->options; option->name; option++)
		suggest(&suggestion, option->name);
	if (suggestion.word && strcmp(suggestion.word, name) != 0)
		return cli_usage(self, "did you mean --%s?", suggestion.word);
	return cli_usage(self, "see dagtap help %s", self->name);
}

int options_parse(const struct cli_command *self, int argc, char **argv, void *values,
		  int *ret_first)
{
	struct getopt_table table;
	char *word = argv[0];
	char name[32];
	int found, err = CLI_OK;

	translate(self, &table);
	/* getopt's messages begin with argv[0]. */
	snprintf(name, sizeof(name), "dagtap %s", self->name);
	argv[0] = name;
	while (err == CLI_OK &&
	       (found = getopt_long(argc, argv, table.letters, table.rows, NULL)) != -1) {
		const struct cli_option *option = find(self, found);

		if (found == 'h' || found == HELP_ROW)
			err = CLI_HELP;
		else if (!option)
			err = refuse(self, argv[optind - 1]);
		else
			err = store(self, option, optarg, values);
	}
	argv[0] = word;
	if (err == CLI_OK)
		*ret_first = optind;
	return err;
}

int options_parse_file(const struct cli_command *self, int argc, char **argv, void *values,
		       const char **ret_path)
{
	int first, err = options_parse(self, argc, argv, values, &first);

	if (err != CLI_OK)
		return err;
	if (first + 1 != argc)
		return cli_usage(self, first < argc ? "one file at a time" : "which file?");
	*ret_path = argv[first];
	return CLI_OK;
}
