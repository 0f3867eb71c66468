/* dagtap export: a recording in another tool's format. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
};

static void print_formats(void)
{
	const struct format *format;

	printf("\n  -o, --output OUT       where to; - is standard output\n"
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
}

static int help(const struct cli_command *self)
{
	int code = cli_help(self);

	if (code != CLI_OK)
		return code;
	print_formats();
	return cli_finish_stdout();
}

/* What getopt found; anything but CLI_OK ends the command. */
static int check(const struct cli_command *self, const struct conversion *conversion,
		 const char *format)
{
	if (!format)
		return cli_usage(self, "--format is missing; dagtap export --help lists them");
	if (!conversion->format)
		return cli_usage(self, "no format \"%s\"; dagtap export --help lists them", format);
	if (conversion->options.table &&
	    !format_find_table(conversion->format, conversion->options.table))
		return cli_usage(self, "%s has no table \"%s\"; dagtap export --help lists them",
				 format, conversion->options.table);
	if (!conversion->output)
		return cli_usage(self, "-o OUT is missing");
	if (!conversion->input)
		return cli_usage(self, "FILE is missing");
	return CLI_OK;
}

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct conversion *ret_conversion, bool *ret_help)
{
	static const struct option options[] = {
		{"format", required_argument, NULL, 'F'}, {"table", required_argument, NULL, 't'},
		{"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},	  {0},
	};
	struct conversion conversion = {0};
	const char *format = NULL;
	int option;

	*ret_help = false;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:fh", options, NULL)) != -1) {
		if (option == 'F')
			format = optarg;
		else if (option == 't')
			conversion.options.table = optarg;
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
	conversion.input = argv[optind];
	conversion.format = format ? format_find(format) : NULL;
	*ret_conversion = conversion;
	return check(self, &conversion, format);
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

/* CLI_OK, CLI_LOSS when the input is damaged and what is left was written, or -errno. */
static int convert(struct conversion *conversion, struct parts *parts, FILE *out)
{
	struct dagtap_error error = {.message = ""};
	struct trace *trace;
	int code = cli_open_trace(conversion->input, conversion->format->is_brief, &trace);

	if (code < 0)
		return code;
	/* Standard output cannot go on elsewhere. */
	if (strcmp(conversion->output, "-") != 0)
		conversion->options.open_part = open_part;
	conversion->options.context = parts;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): check() saw that there is one */
	code = conversion->format->write(trace, out, &conversion->options, &error);
	if (code < 0)
		cli_fail_error(parts->error.code ? &parts->error : &error);
	else
		code = cli_tell_damage(trace, conversion->input);
	trace_close(trace);
	return code;
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
	parts = (struct parts){.path = conversion.output,
			       .extension = conversion.format->extension,
			       .force = conversion.force};
	if (open_part(&parts, 1, &out) < 0)
		code = cli_fail_error(&parts.error);
	else
		code = convert(&conversion, &parts, out);
	if (code == CLI_OK || code == CLI_LOSS)
		return parts_commit(&parts, &error) < 0 ? cli_fail_error(&error) : code;
	parts_abandon(&parts);
	return CLI_FAILED;
}
