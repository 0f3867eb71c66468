/* Implements dagtap/export.h on the table of formats (format/format.h). dagtap/export.h has the
 * contracts. */
#include <dagtap/export.h>

#include <errno.h>
#include <string.h>

#include "api/trace_holders.h"
#include "base/error_text.h"
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

EXPORT int dagtap_export(const struct dagtap_trace *trace, const char *format, const char *table,
			 const char *path, int replace, struct dagtap_error *error)
{
	const struct format *found = format_find(format);
	struct parts parts;

	if (!found)
		return dagtap_error_set(error, -EINVAL, "no format \"%s\"", format);
	if (table && !format_find_table(found, table))
		return dagtap_error_set(error, -EINVAL, "format %s has no table \"%s\"", format,
					table);
	if (found->write_folder)
		return folder_write(found, (const struct trace *)trace, path, replace != 0, NULL,
				    error);
	parts = (struct parts){
		.path = path,
		.extension = found->extension,
		.force = replace != 0,
	};
	return write_parts(trace->model, found, table, &parts, error);
}
