/* Implements dagtap/columns.h, which has the contracts, on the tables (format/tables/tables.h) and
 * their Arrow streams (format/arrow/arrow.h). */
#include <dagtap/columns.h>

#include <errno.h>

#include "format/arrow/arrow.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert(DAGTAP_COLUMNS_VERSION == TABLES_VERSION, "one version for all formats");

EXPORT int dagtap_columns_get_table(size_t index, struct dagtap_columns_table *ret_table)
{
	if (!table_at(index))
		return -ERANGE;
	*ret_table = (struct dagtap_columns_table){
		.name = table_names[index].name,
		.help = table_names[index].help,
	};
	return 0;
}

EXPORT int dagtap_columns_get_column(const char *table, size_t index,
				     struct dagtap_columns_column *ret_column)
{
	const struct table *found = table_find(table);
	const struct table_column *column;

	if (!found)
		return -EINVAL;
	if (index >= found->columns_count)
		return -ERANGE;
	column = &found->columns[index];
	*ret_column = (struct dagtap_columns_column){
		.name = column->name,
		.unit = column->unit ? column->unit : "",
		.format = arrow_format(column),
		.is_dictionary = column->type == TABLE_NAME,
	};
	return 0;
}

EXPORT int dagtap_columns_open(const struct dagtap_trace *trace, const char *table,
			       const char *const *columns, struct ArrowArrayStream *ret_stream,
			       struct dagtap_error *error)
{
	return arrow_open((const struct trace *)trace, table, columns, ret_stream, error);
}
