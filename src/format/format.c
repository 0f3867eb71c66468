/* Lookups in the tables and compats of one format. */
#include "format/format.h"

#include <string.h>

const struct format_table *format_find_row(const struct format_table *tables, const char *name)
{
	while (tables && tables->name) {
		if (strcmp(tables->name, name) == 0)
			return tables;
		tables++;
	}
	return NULL;
}

const struct format_table *format_find_table(const struct format *format, const char *name)
{
	return format_find_row(format->tables, name);
}
