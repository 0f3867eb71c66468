/* Measures the cells, fits the columns to the screen, and prints. */
#include "cli/columns.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/table.h"
#include "cli/human.h"

#define LAST_CHARS_LEAST  16 /* a shorter part of a name is of no use */
#define LAST_CHARS_WANTED 28 /* for so much of a name other columns are left out */

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

static void put_unit(struct columns *columns, enum column_unit unit)
{
	columns->units[columns->cell_count % columns->count] = unit;
}

void columns_put_count(struct columns *columns, uint64_t count)
{
	char text[HUMAN_CHARS];

	if (columns->is_csv)
		columns_put(columns, "%" PRIu64, count);
	else
		columns_put(columns, "%s", human_count(count, text));
}

void columns_put_ns(struct columns *columns, double ns)
{
	char text[HUMAN_CHARS];

	put_unit(columns, COLUMN_NS);
	if (!columns->is_csv)
		columns_put(columns, "%s", human_ns(ns, text));
	else if (ns == rint(ns))
		columns_put(columns, "%.0f", ns);
	else
		columns_put(columns, "%.17g", ns);
}

void columns_put_bytes(struct columns *columns, uint64_t bytes)
{
	char text[HUMAN_CHARS];

	put_unit(columns, COLUMN_BYTES);
	if (columns->is_csv)
		columns_put(columns, "%" PRIu64, bytes);
	else
		columns_put(columns, "%s", human_bytes(bytes, text));
}

void columns_put_share(struct columns *columns, double share)
{
	columns_put(columns, columns->is_csv ? "%.9g" : "%.1f", 100 * share);
}

void columns_put_none(struct columns *columns)
{
	columns_put(columns, "%s", columns->is_csv ? "" : "-");
}

static bool is_optional(const struct columns *columns, unsigned column)
{
	return columns->heads[column][0] == '?';
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

/* The head of a column without its mark. */
static const char *head_of(const struct columns *columns, unsigned column)
{
	return columns->heads[column] + (is_left(columns, column) || is_optional(columns, column));
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

/* A column of this width is not printed. */
#define LEFT_OUT (-1)

/* What is left of a line of SCREEN characters for the last column. */
static int rest_of(const struct columns *columns, const int *widths, int screen)
{
	for (unsigned i = 0; i + 1 < columns->count; i++)
		screen -= widths[i] == LEFT_OUT ? 0 : widths[i] + 2;
	return screen;
}

/* Leaves out columns until the table fits the terminal, and cuts the last column. */
static void fit(const struct columns *columns, int *widths)
{
	unsigned last = columns->count - 1;
	char mark = columns->heads[last][0];
	bool can_cut = is_left(columns, last) && mark != '=';
	int screen = screen_width(), wanted = widths[last];

	if (screen == 0) {
		if (is_left(columns, last))
			widths[last] = INT_MAX;
		return;
	}
	if (can_cut && wanted > LAST_CHARS_WANTED)
		wanted = LAST_CHARS_WANTED;
	for (unsigned i = columns->count; i-- && rest_of(columns, widths, screen) < wanted;) {
		if (is_optional(columns, i))
			widths[i] = LEFT_OUT;
	}
	if (can_cut)
		widths[last] = rest_of(columns, widths, screen);
	if (can_cut && widths[last] < LAST_CHARS_LEAST)
		widths[last] = LAST_CHARS_LEAST;
	else if (mark == '=')
		widths[last] = INT_MAX;
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

	if (width == LEFT_OUT) {
		if (column + 1 == columns->count)
			putchar('\n');
		return;
	}
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

/* ---- CSV ---- */

/* The head as a program's name for it: "GPU p50" of times is "gpu_p50_ns". */
static void print_csv_head(const struct columns *columns, unsigned column)
{
	static const char *const endings[] = {
		[COLUMN_PLAIN] = "", [COLUMN_NS] = "_ns", [COLUMN_BYTES] = "_bytes"};
	const char *head = head_of(columns, column);
	const char *ending = endings[columns->units[column]];

	for (const char *at = head; *at; at++) {
		if (*at == '%')
			fputs("percent", stdout);
		else
			putchar(isalnum((unsigned char)*at) ? tolower((unsigned char)*at) : '_');
	}
	fputs(*ending && !strcmp(head, ending + 1) ? "" : ending, stdout);
	putchar(column + 1 == columns->count ? '\n' : ',');
}

static void print_csv_cell(const struct columns *columns, unsigned column, const char *text)
{
	if (strpbrk(text, ",\"\r\n")) {
		putchar('"');
		for (; *text; text++) {
			if (*text == '"')
				putchar('"');
			putchar(*text);
		}
		putchar('"');
	} else {
		fputs(text, stdout);
	}
	putchar(column + 1 == columns->count ? '\n' : ',');
}

static void print_csv(const struct columns *columns)
{
	for (unsigned i = 0; i < columns->count; i++)
		print_csv_head(columns, i);
	for (uint32_t i = 0; i < columns->cell_count; i++)
		print_csv_cell(columns, i % columns->count, columns->cells[i]);
}

/* ---- text ---- */

static unsigned column_after(const struct columns *columns, unsigned column)
{
	return column + 1 < columns->count ? column + 1 : 0;
}

static void print_text(const struct columns *columns)
{
	int widths[COLUMN_MAX] = {0};
	unsigned column = 0;

	for (unsigned i = 0; i < columns->count; i++)
		widths[i] = (int)strlen(head_of(columns, i));
	for (uint32_t i = 0; i < columns->cell_count; i++, column = column_after(columns, column)) {
		int width = count_chars(columns->cells[i]);

		if (width > widths[column])
			widths[column] = width;
	}
	fit(columns, widths);
	for (unsigned i = 0; i < columns->count; i++)
		print_cell(columns, i, widths[i], head_of(columns, i));
	column = 0;
	for (uint32_t i = 0; i < columns->cell_count; i++, column = column_after(columns, column))
		print_cell(columns, column, widths[column], columns->cells[i]);
}

int columns_print(struct columns *columns)
{
	if (!columns->error && columns->is_csv)
		print_csv(columns);
	else if (!columns->error)
		print_text(columns);
	for (uint32_t i = 0; i < columns->cell_count; i++)
		free(columns->cells[i]);
	free(columns->cells);
	return columns->error;
}
