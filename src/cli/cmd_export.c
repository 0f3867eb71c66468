/* dagtap export: writes a recording in the format of another tool. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keep_input.h"
#include "cli/cli.h"
#include "cli/command_options.h"
#include "cli/export_file.h"
#include "cli/filter_options.h"
#include "cli/help.h"
#include "cli/output_file.h"
#include "cli/parquet_filter.h"
#include "cli/step_options.h"
#include "format/folder.h"
#include "format/format.h"
#include "format/gzip.h"
#include "format/parts.h"
#include "format/read.h"
#include "trace/load.h"

#define BUFFER_BYTES (1 << 20)

struct conversion {
	const char *format_name;
	const struct format *format;
	struct format_options options;
	const char *step_of; /* what is written as steps; or NULL */
	struct filter_options filter_options;
	struct filter filter;
	const char *with;
	const char *output;
	const char *input;
	bool force;
	bool has_rank;
};

static struct option_choice format_choice(size_t index)
{
	const struct format *format = format_at(index);

	return format ? (struct option_choice){.name = format->name, .help = format->help}
		      : (struct option_choice){0};
}

/* The formats with tables have the same ones. */
static struct option_choice table_choice(size_t index)
{
	const struct format_table *row = &format_csv.tables[index];

	return (struct option_choice){.name = row->name, .help = row->help};
}

/* The row at INDEX of the compats of all formats. */
static struct option_choice compat_choice(size_t index)
{
	const struct format *format;

	for (size_t i = 0; (format = format_at(i)); i++) {
		const struct format_table *row = format->compats;

		for (; row && row->name; row++) {
			if (index-- == 0)
				return (struct option_choice){row->name, format->name, row->help};
		}
	}
	return (struct option_choice){0};
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
		return cli_usage(
			self,
			"%s has no variant for a reader \"%s\"; dagtap export --help lists them",
			format->name, compat);
	if (format->write_folder && strcmp(conversion->output, "-") == 0)
		return cli_usage(self, "%s is a folder; give OUT its name", format->name);
	if (conversion->with && !format->has_with)
		return cli_usage(self, "%s cannot be joined with a profile", format->name);
	if (conversion->has_rank && !format->has_rank)
		return cli_usage(self, "%s has no rank", format->name);
	if (format == &format_parquet && gzip_is_name(conversion->output))
		return cli_usage(self, "Parquet is compressed inside: give OUT no .gz");
	return CLI_OK;
}

/* Checks the command line as a whole. Any result but CLI_OK ends the command. */
static int check(const struct cli_command *self, struct conversion *conversion)
{
	int err = filter_options_read(self, &conversion->filter_options, &conversion->filter);

	if (err != CLI_OK)
		return err;
	if (!conversion->format_name)
		return cli_usage(self, "--format is missing; dagtap export --help lists them");
	if (!conversion->format)
		return cli_usage(self, "no format \"%s\"; dagtap export --help lists them",
				 conversion->format_name);
	if (!conversion->output)
		return cli_usage(self, "-o OUT is missing");
	if (!conversion->input)
		return cli_usage(self, "FILE is missing");
	return check_options(self, conversion, conversion->format);
}

static int take_rank(const struct cli_command *self, const char *value, void *values)
{
	struct conversion *conversion = values;

	conversion->has_rank = true;
	return options_take_u32(self, "rank", value, &conversion->options.rank);
}

/* The names are checked when all options are known: by then the format is. */
static const struct cli_option options_of_export[] = {
	{"format", .argument = "NAME", .help = "one of:", .kind = OPTION_TEXT,
	 OPTION_IN(conversion, format_name), .choice = format_choice, .is_required = true},
	{"output", 'o', "OUT", "the output; - is standard output; NAME.gz is compressed",
	 .kind = OPTION_TEXT, OPTION_IN(conversion, output), .is_required = true},
	{"force", 'f', NULL, "replace OUT if it exists", OPTION_IN(conversion, force)},
	{"table", .argument = "NAME", .help = "which table, of csv, arrow and parquet:",
	 .kind = OPTION_TEXT, OPTION_IN(conversion, options.table), .choice = table_choice},
	{"compat", .argument = "READER", .help = "for a reader that needs a variant:",
	 .kind = OPTION_TEXT, OPTION_IN(conversion, options.compat), .choice = compat_choice},
	{"with", .argument = "PROFILE",
	 .help = "of xspace: a profile of JAX (.xplane.pb) of the same program; its events and HLO "
		 "protos are written beside the recording",
	 .kind = OPTION_TEXT, OPTION_IN(conversion, with)},
	STEP_OPTION(conversion, step_of),
	FILTER_OPTIONS(conversion, filter_options),
	{"rank", .argument = "N",
	 .help = "of a format that stores it (kineto): the number of this program among several; "
		 "0 by default",
	 .kind = OPTION_HANDLER, .take = take_rank},
	THREADS_OPTION,
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct conversion *conversion)
{
	int first, err = options_parse(self, argc, argv, conversion, &first);

	if (err != CLI_OK)
		return err;
	if (argc - first > 1)
		return cli_usage(self, "one FILE at a time");
	conversion->input = argv[first];
	if (conversion->format_name)
		conversion->format = format_find(conversion->format_name);
	return check(self, conversion);
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

/* Hands the Arrow stream of the table to the program that makes Parquet of it. Returns 0, or a
 * negative errno with a line in ERROR. */
static int write_parquet(const struct trace *trace, FILE *out, const struct format_options *options,
			 struct dagtap_error *error)
{
	struct dagtap_error write_error = {.message = ""};
	struct parquet_filter filter;
	int written, err = parquet_filter_start(out, &filter, error);

	if (err < 0)
		return err;
	written = format_arrow.write(trace, filter.in, options, &write_error);
	err = parquet_filter_finish(&filter, error);
	/* If the program has ended, its reason says more than the write that failed. */
	if (err == 0 && written < 0) {
		*error = write_error;
		return written;
	}
	return err;
}

/* Writes the trace beside the profile that --with names. */
static int write_with(const struct conversion *conversion, const struct trace *trace, FILE *out,
		      struct dagtap_error *error)
{
	struct format_options options = conversion->options;
	struct read_file profile;
	int code;

	errno = 0;
	profile = read_map(conversion->with);
	if (!profile.bytes)
		return dagtap_error_set(error, errno ? -errno : -EINVAL, "%s: %s", conversion->with,
					errno ? strerror(errno) : "not a file with bytes");
	options.with = &profile;
	code = conversion->format->write(trace, out, &options, error);
	read_unmap(&profile);
	return code;
}

static int write_trace(const struct conversion *conversion, const struct trace *trace, FILE *out,
		       struct dagtap_error *error)
{
	const struct format *format = conversion->format;

	if (format->write_folder)
		return folder_write(format, trace, conversion->output, conversion->force,
				    &conversion->options, error);
	if (format == &format_parquet)
		return write_parquet(trace, out, &conversion->options, error);
	if (conversion->with)
		return write_with(conversion, trace, out, error);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): check() has made sure of it */
	return format->write(trace, out, &conversion->options, error);
}

/* Says why the output could not be written. A folder's error has its name. */
static void fail_write(const struct conversion *conversion, bool is_stdout,
		       const struct dagtap_error *error)
{
	if (conversion->format->write_folder)
		output_file_fail(error);
	else
		cli_fail("%s: %s", is_stdout ? "standard output" : conversion->output,
			 error->message);
}

/* OUT is NULL if the output is a folder. Returns CLI_OK; CLI_LOSS if the input is damaged and its
 * readable part was written; or a negative errno. */
static int convert(struct conversion *conversion, struct parts *parts, FILE *out)
{
	struct dagtap_error error = {.message = ""};
	bool is_stdout = strcmp(conversion->output, "-") == 0;
	struct trace *trace;
	int code = cli_open_for(conversion->format, conversion->input, &trace);

	if (code < 0)
		return code;
	if (step_option_apply(conversion->step_of, conversion->input, trace) != CLI_OK ||
	    filter_options_apply(&conversion->filter, conversion->input, trace) != CLI_OK) {
		trace_close(trace);
		return -ENODATA;
	}
	/* Standard output cannot be continued in further files. */
	if (!is_stdout)
		conversion->options.open_part = open_part;
	conversion->options.context = parts;
	code = write_trace(conversion, trace, out, &error);
	if (code < 0 && parts->error.code)
		output_file_fail(&parts->error);
	else if (code < 0)
		fail_write(conversion, is_stdout, &error);
	else
		code = cli_tell_damage(trace, conversion->input);
	conversion->options.context = NULL;
	trace_close(trace);
	return code;
}

/* Returns CLI_OK, CLI_LOSS or CLI_FAILED. */
static int write_output(struct conversion *conversion)
{
	const char *const inputs[] = {conversion->input, conversion->with};
	struct dagtap_error error = {.message = ""};
	struct kept_input kept[2];
	uint32_t kept_count = 0;
	struct parts parts;
	FILE *out = NULL;
	int code = output_file_check(conversion->output, inputs, conversion->with ? 2 : 1);

	if (code != CLI_OK)
		return code;
	kept_count += keep_input_find(conversion->input, &kept[kept_count]);
	if (conversion->with)
		kept_count += keep_input_find(conversion->with, &kept[kept_count]);
	parts = (struct parts){.path = conversion->output,
			       .inputs = kept,
			       .inputs_count = kept_count,
			       .extension = conversion->format->extension,
			       .force = conversion->force,
			       .way = conversion->format->way};
	if (!conversion->format->write_folder && open_part(&parts, 1, &out) < 0)
		code = output_file_fail(&parts.error);
	else
		code = convert(conversion, &parts, out);
	if (code == CLI_OK || code == CLI_LOSS)
		return parts_commit(&parts, &error) < 0 ? output_file_fail(&error) : code;
	parts_abandon(&parts);
	return CLI_FAILED;
}

int export_file(const char *name, const char *input, const char *output)
{
	struct conversion conversion = {.format_name = name,
					.format = format_find(name),
					.output = output,
					.input = input,
					.force = true};

	return write_output(&conversion);
}

static int export(const struct cli_command *self, int argc, char **argv)
{
	struct conversion conversion = {0};
	int code = parse(self, argc, argv, &conversion);

	return code == CLI_OK ? write_output(&conversion) : code;
}

const struct cli_command cmd_export = {
	.name = "export",
	.operands = "FILE",
	.help = "convert a recording for other tools",
	.options = options_of_export,
	.run = export,
};
