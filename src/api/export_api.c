/* Implements dagtap/export.h on the table of formats (format/format.h). dagtap/export.h has the
 * contracts. */
#include <dagtap/export.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/trace_holders.h"
#include "base/error_text.h"
#include "base/keep_input.h"
#include "format/folder.h"
#include "format/format.h"
#include "format/parts.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int dagtap_export_get_format(size_t index, struct dagtap_export_format *ret_format)
{
	const struct format *format = format_at(index);

	if (!format)
		return -ERANGE;
	*ret_format = (struct dagtap_export_format){
		.name = format->name,
		.extension = format->extension,
		.help = format->help,
	};
	return 0;
}

/* format_options.open_part: parts go into numbered files. */
static int open_part(void *context, uint32_t number, FILE **ret_out)
{
	(void)number;
	return parts_open(context, ret_out);
}

static int write_parts(const struct trace *trace, const struct format *format, const char *table,
		       struct parts *parts, struct dagtap_error *error)
{
	struct format_options options = {
		.table = table,
		.open_part = open_part,
		.context = parts,
	};
	FILE *out;
	int err = parts_open(parts, &out);

	if (err == 0)
		err = format->write(trace, out, &options, error);
	/* If opening a part failed, its error says more than the format's. */
	if (err < 0 && parts->error.code && error)
		*error = parts->error;
	if (err < 0) {
		parts_abandon(parts);
		return err;
	}
	return parts_commit(parts, error);
}

/* Checks that FORMAT exists and has what the options name. Returns 0 or -EINVAL. */
static int check(const struct format *format, const char *name,
		 const struct format_options *options, struct dagtap_error *error)
{
	if (!format)
		return dagtap_error_set(error, -EINVAL, "no format \"%s\"", name);
	if (options->table && !format_find_table(format, options->table))
		return dagtap_error_set(error, -EINVAL, "format %s has no table \"%s\"", name,
					options->table);
	if (options->compat && !format_find_row(format->compats, options->compat))
		return dagtap_error_set(error, -EINVAL,
					"format %s has no variant for a reader \"%s\"", name,
					options->compat);
	return 0;
}

/* A stream of its own on the file that FD is open on, or NULL. */
static FILE *open_stream(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = own < 0 ? NULL : fdopen(own, "w");

	if (!out && own >= 0)
		close(own);
	return out;
}

EXPORT int dagtap_export_to_sized(const struct dagtap_trace *trace, const char *format,
				  const struct dagtap_export_options *options, size_t size, int fd,
				  struct dagtap_error *error)
{
	const struct format *found = format_find(format);
	struct dagtap_export_options given = {0};
	struct format_options inner = {0};
	FILE *out;
	int err;

	if (options)
		memcpy(&given, options, size < sizeof(given) ? size : sizeof(given));
	inner.table = given.table;
	inner.compat = given.compat;
	_Static_assert(sizeof(struct format_thread) == sizeof(struct dagtap_export_thread) &&
			       offsetof(struct format_thread, id) ==
				       offsetof(struct dagtap_export_thread, id),
		       "the same struct");
	inner.threads = (const struct format_thread *)given.threads;
	inner.threads_count = given.threads_count;
	err = check(found, format, &inner, error);
	if (err)
		return err;
	if (!found->write)
		return dagtap_error_set(error, -EINVAL, "format %s writes a folder", format);
	out = open_stream(fd);
	if (!out)
		return dagtap_error_set(error, -errno, "descriptor %d: %s", fd, strerror(errno));
	err = found->write(trace->model, out, &inner, error);
	if (fclose(out) != 0 && !err)
		err = dagtap_error_set(error, -errno, "descriptor %d: %s", fd, strerror(errno));
	return err < 0 ? err : 0;
}

EXPORT int dagtap_export(const struct dagtap_trace *trace, const char *format, const char *table,
			 const char *path, int replace, struct dagtap_error *error)
{
	const struct format *found = format_find(format);
	const struct format_options options = {.table = table};
	struct parts parts;
	int err = check(found, format, &options, error);

	if (err)
		return err;
	if (trace->has_input)
		err = keep_input_check(path, &trace->input, error);
	if (err)
		return err;
	if (found->write_folder)
		return folder_write(found, trace->model, path, replace != 0, NULL, error);
	parts = (struct parts){
		.path = path,
		.inputs = &trace->input,
		.inputs_count = trace->has_input,
		.extension = found->extension,
		.force = replace != 0,
		.way = found->way,
	};
	return write_parts(trace->model, found, table, &parts, error);
}
