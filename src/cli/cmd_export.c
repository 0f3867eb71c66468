/* dagtap export: writes a recording in the format of another tool. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "format/format.h"
#include "format/parts.h"
#include "trace/load.h"

#define BUFFER_BYTES (1 << 20)

struct conversion {
	const struct format *format;
	struct format_options options;
	const char *output;
	const char *input;
	bool force;
	bool has_rank;
};

static void print_formats(void)
{
	const struct format *format;

	printf("\n  -o, --output OUT       where to; - is standard output; NAME.gz is compressed\n"
	       "  -f, --force            replace OUT if it exists\n"
	       "      --format NAME      one of:\n");
	for (size_t i = 0; (format = format_at(i)); i++)
		printf("        %-12s     %s\n", format->name, format->help);
	printf("      --table NAME       of a format with several:\n");
	for (size_t i = 0; (format = format_at(i)); i++) {
		for (const struct format_table *table = format->tables; table && table->name;
		     table++)
			printf("        %s %-12s %s\n", format->name, table->name, table->help);
	}
	printf("      --compat READER    for a reader that wants it otherwise:\n");
	for (size_t i = 0; (format = format_at(i)); i++) {
		for (const struct format_table *row = format->compats; row && row->name; row++)
			printf("        %s %-9s %s\n", format->name, row->name, row->help);
	}
	printf("      --rank N           of a format that says it (kineto): which of several\n"
	       "                         programs this is; 0 if it is not given\n");
}

static int help(const struct cli_command *self)
{
	int code = cli_help(self);

	if (code != CLI_OK)
		return code;
	print_formats();
	return cli_finish_stdout();
}

/* Checks the options that only some formats have. */
static int check_options(const struct cli_command *self, const struct conversion *conversion,
			 const struct format *format)
{
	const char *table = conversion->options.table;
	const char *compat = conversion->options.compat;

	if (table && !format_find_table(format, table))
		return cli_usage(self, "%s has no table \"%s\"; dagtap export --help lists them",
				 format->name, table);
	if (compat && !format_find_row(format->compats, compat))
		return cli_usage(self, "%s knows no reader \"%s\"; dagtap export --help lists them",
				 format->name, compat);
	if (conversion->has_rank && !format->has_rank)
		return cli_usage(self, "%s has no rank", format->name);
	return CLI_OK;
}

/* Checks the command line as a whole. Any result but CLI_OK ends the command. */
static int check(const struct cli_command *self, const struct conversion *conversion,
		 const char *format)
{
	if (!format)
		return cli_usage(self, "--format is missing; dagtap export --help lists them");
	if (!conversion->format)
		return cli_usage(self, "no format \"%s\"; dagtap export --help lists them", format);
	if (!conversion->output)
		return cli_usage(self, "-o OUT is missing");
	if (!conversion->input)
		return cli_usage(self, "FILE is missing");
	return check_options(self, conversion, conversion->format);
}

static bool parse_rank(const char *text, uint32_t *ret_rank)
{
	char *end;
	unsigned long rank = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || rank > UINT32_MAX)
		return false;
	*ret_rank = (uint32_t)rank;
	return true;
}

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct conversion *ret_conversion, bool *ret_help)
{
	static const struct option options[] = {
		{"format", required_argument, NULL, 'F'}, {"table", required_argument, NULL, 't'},
		{"compat", required_argument, NULL, 'c'}, {"rank", required_argument, NULL, 'r'},
		{"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},	  {0},
	};
	struct conversion conversion = {0};
	const char *format = NULL;
	const char *rank = NULL;
	int option;

	*ret_help = false;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:fh", options, NULL)) != -1) {
		if (option == 'F')
			format = optarg;
		else if (option == 't')
			conversion.options.table = optarg;
		else if (option == 'c')
			conversion.options.compat = optarg;
		else if (option == 'r')
			rank = optarg;
		else if (option == 'o')
			conversion.output = optarg;
		else if (option == 'f')
			conversion.force = true;
		else if (option == 'h')
			*ret_help = true;
		else if (option == ':')
			return cli_usage(self, "%s needs a value", argv[optind - 1]);
		else
			return cli_usage(self, "no option %s", argv[optind - 1]);
	}
	if (*ret_help)
		return CLI_OK;
	if (argc - optind > 1)
		return cli_usage(self, "one FILE, please");
	conversion.has_rank = rank != NULL;
	if (rank && !parse_rank(rank, &conversion.options.rank))
		return cli_usage(self, "--rank %s is no number", rank);
	conversion.input = argv[optind];
	conversion.format = format ? format_find(format) : NULL;
	*ret_conversion = conversion;
	return check(self, &conversion, format);
}

static int fail_output(const struct dagtap_error *error)
{
	if (error->code == -EEXIST)
		return cli_fail("%s; --force replaces it", error->message);
	return cli_fail_error(error);
}

static int open_part(void *context, uint32_t number, FILE **ret_file)
{
	struct parts *parts = context;
	int code = parts_open(parts, ret_file);

	if (code < 0)
		return code;
	setvbuf(*ret_file, NULL, _IOFBF, BUFFER_BYTES);
	if (number > 1)
		fprintf(stderr, "dagtap: %s: too long for one file, part %u beside it\n",
			parts->path, number);
	return 0;
}

/* Returns CLI_OK; CLI_LOSS if the input is damaged and its readable part was written; or a negative
 * errno. */
static int convert(struct conversion *conversion, struct parts *parts, FILE *out)
{
	struct dagtap_error error = {.message = ""};
	bool is_stdout = strcmp(conversion->output, "-") == 0;
	struct trace *trace;
	int code = cli_open_for(conversion->format, conversion->input, &trace);

	if (code < 0)
		return code;
	/* Standard output cannot be continued in further files. */
	if (!is_stdout)
		conversion->options.open_part = open_part;
	conversion->options.context = parts;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): check() has made sure of it */
	code = conversion->format->write(trace, out, &conversion->options, &error);
	if (code < 0 && parts->error.code)
		fail_output(&parts->error);
	else if (code < 0)
		cli_fail("%s: %s", is_stdout ? "standard output" : conversion->output,
			 error.message);
	else
		code = cli_tell_damage(trace, conversion->input);
	trace_close(trace);
	return code;
}

/* Whether both names refer to the same file. Then --force would destroy the input. */
static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int cli_export(const struct cli_command *self, int argc, char **argv)
{
	struct dagtap_error error = {.message = ""};
	struct conversion conversion;
	struct parts parts;
	FILE *out;
	bool wants_help;
	int code = parse(self, argc, argv, &conversion, &wants_help);

	if (code != CLI_OK)
		return code;
	if (wants_help)
		return help(self);
	if (conversion.force && is_same_file(conversion.input, conversion.output))
		return cli_fail("%s: is what is to be exported; give OUT another name",
				conversion.output);
	parts = (struct parts){.path = conversion.output,
			       .extension = conversion.format->extension,
			       .force = conversion.force};
	if (open_part(&parts, 1, &out) < 0)
		code = fail_output(&parts.error);
	else
		code = convert(&conversion, &parts, out);
	if (code == CLI_OK || code == CLI_LOSS)
		return parts_commit(&parts, &error) < 0 ? fail_output(&error) : code;
	parts_abandon(&parts);
	return CLI_FAILED;
}
