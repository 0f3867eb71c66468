/* The table of all export formats. */
#include "format/format.h"

#include <errno.h>
#include <string.h>

#include "format/tables/tables.h"

/* Nothing here writes Parquet: dagtap's own libraries need no Arrow. `dagtap export` gives the
 * Arrow stream of the table to the Python package dagtap (cli/parquet_filter.h), and
 * Recording.export of that package writes it itself. */
static int refuse_parquet(const struct trace *trace, FILE *out,
			  const struct format_options *options, struct dagtap_error *error)
{
	return dagtap_error_set(error, -ENOTSUP,
				"Parquet is written by `dagtap export` and by the Python package "
				"dagtap (dagtap.parquet), not by libdagtap-trace; arrow and sqlite "
				"have the same tables");
}

const struct format format_parquet = {
	.name = "parquet",
	.extension = ".parquet",
	.help = "one table a file, by the Python package dagtap (docs/python.md)",
	.tables = table_names,
	.write = refuse_parquet,
};

static const struct format *const formats[] = {
	&format_perfetto, &format_perfetto_events, &format_xspace, &format_kineto,  &format_csv,
	&format_arrow,	  &format_sqlite,	   &format_otf2,   &format_parquet, &format_rocpd,
};

const struct format *format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

const struct format *format_find(const char *name)
{
	const struct format *format;

	for (size_t i = 0; (format = format_at(i)); i++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}
