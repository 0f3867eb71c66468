/* Measures the cells, fits the last column to the screen, and prints. */
#include "cli/columns.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/table.h"
#include "cli/human.h"

#define COLUMN_MAX	 16
#define LAST_CHARS_LEAST 16 /* a shorter part of a name is of no use */

void columns_init(struct columns *columns, const char *const *heads)
{
	*columns = (struct columns){.heads = heads};
	while (heads[columns->count] && columns->count < COLUMN_MAX)
		columns->count++;
}

void columns_put(struct columns *columns, const char *format, ...)
{
	va_list args;
	char *cell, **row = NULL;
	int result;

	if (columns->error)
		return;
	va_start(args, format);
	result = vasprintf(&cell, format, args);
	va_end(args);
	if (result >= 0) {
		row = table_add((void **)&columns->cells, &columns->cell_count, sizeof(*row));
		if (!row)
			free(cell);
	}
	if (!row) {
		columns->error = -ENOMEM;
		return;
	}
	human_make_plain(cell);
	*row = cell;
}

static bool is_left(const struct columns *columns, unsigned column)
{
	char mark = columns->heads[column][0];

	return mark && strchr("<>=", mark);
}

static bool is_path(const struct columns *columns, unsigned column)
{
	return columns->heads[column][0] == '>';
}

/* Whether the byte continues a UTF-8 character, and so takes no column of the screen. */
static bool goes_on(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static int count_chars(const char *text)
{
	int chars = 0;

	for (; *text; text++)
		chars += !goes_on(*text);
	return chars;
}

/* Number of bytes of the first CHARS characters. */
static int count_bytes(const char *text, int chars)
{
	int bytes = 0;

	while (text[bytes] && (goes_on(text[bytes]) || chars-- > 0))
		bytes++;
	return bytes;
}

/* The width of the terminal; 0 if stdout is none. */
static int screen_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* The characters that fit in the last column. INT_MAX: it need not fit. */
static int last_room(const struct columns *columns, const int *widths)
{
	int room = screen_width();

	if (room == 0 || !is_left(columns, columns->count - 1) ||
	    columns->heads[columns->count - 1][0] == '=')
		return INT_MAX;
	for (unsigned i = 0; i + 1 < columns->count; i++)
		room -= widths[i] + 2;
	return room > LAST_CHARS_LEAST ? room : LAST_CHARS_LEAST;
}

static void print_last(const char *text, int room, bool is_path)
{
	int chars = count_chars(text);

	if (chars <= room)
		puts(text);
	else if (is_path)
		printf("...%s\n", text + count_bytes(text, chars - (room - 3)));
	else
		printf("%.*s...\n", count_bytes(text, room - 3), text);
}

static void print_cell(const struct columns *columns, unsigned column, int width, const char *text)
{
	int padding = width - count_chars(text);

	if (column + 1 == columns->count && is_left(columns, column)) {
		print_last(text, width, is_path(columns, column));
		return;
	}
	if (!is_left(columns, column))
		printf("%*s%s", padding, "", text);
	else
		printf("%s%*s", text, padding, "");
	fputs(column + 1 == columns->count ? "\n" : "  ", stdout);
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
		int width = count_chars(columns->cells[i]);

		if (width > widths[column])
			widths[column] = width;
	}
	if (is_left(columns, columns->count - 1))
		widths[columns->count - 1] = last_room(columns, widths);
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
