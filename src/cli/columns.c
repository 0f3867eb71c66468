#include "cli/columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_MAX 16
#define FIRST_ROOM 64

void columns_init(struct columns *columns, const char *const *heads)
{
	*columns = (struct columns){.heads = heads};
	while (heads[columns->count] && columns->count < COLUMN_MAX)
		columns->count++;
}

static int make_room(struct columns *columns)
{
	uint32_t count = columns->cell_count;
	char **cells;

	/* Room doubles: it is full when the count is a power of two. */
	if (count && (count < FIRST_ROOM || (count & (count - 1)) != 0))
		return 0;
	cells = reallocarray(columns->cells, count ? (size_t)count * 2 : FIRST_ROOM,
			     sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	columns->cells = cells;
	return 0;
}

void columns_put(struct columns *columns, const char *format, ...)
{
	va_list args;
	char *cell;
	int result;

	if (columns->error)
		return;
	va_start(args, format);
	result = vasprintf(&cell, format, args);
	va_end(args);
	if (result < 0 || make_room(columns) < 0) {
		if (result >= 0)
			free(cell);
		columns->error = -ENOMEM;
		return;
	}
	columns->cells[columns->cell_count++] = cell;
}

static bool is_left(const struct columns *columns, unsigned column)
{
	return columns->heads[column][0] == '<';
}

static void print_cell(const struct columns *columns, unsigned column, int width, const char *text)
{
	bool is_last = column + 1 == columns->count;

	if (!is_left(columns, column))
		printf("%*s", width, text);
	else if (is_last)
		fputs(text, stdout);
	else
		printf("%-*s", width, text);
	fputs(is_last ? "\n" : "  ", stdout);
}

static unsigned column_after(const struct columns *columns, unsigned column)
{
	return column + 1 < columns->count ? column + 1 : 0;
}

int columns_print(struct columns *columns)
{
	int widths[COLUMN_MAX] = {0};
	unsigned column = 0;

	for (unsigned i = 0; i < columns->count; i++)
		widths[i] = (int)strlen(columns->heads[i]) - is_left(columns, i);
	for (uint32_t i = 0; i < columns->cell_count; i++, column = column_after(columns, column)) {
		int width = (int)strlen(columns->cells[i]);

		if (width > widths[column])
			widths[column] = width;
	}
	for (unsigned i = 0; i < columns->count && !columns->error; i++)
		print_cell(columns, i, widths[i], columns->heads[i] + is_left(columns, i));
	column = 0;
	for (uint32_t i = 0; i < columns->cell_count; i++, column = column_after(columns, column)) {
		if (!columns->error)
			print_cell(columns, column, widths[column], columns->cells[i]);
		free(columns->cells[i]);
	}
	free(columns->cells);
	return columns->error;
}
