/* Measures the cells, fits the columns to the screen, and prints. */
#include "cli/cli_columns.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"
#include "cli/human.h"
#include "cli/terminal.h"

#define NAME_CHARS_LEAST  8  /* a shorter part of a name is of no use */
#define NAME_CHARS_WANTED 28 /* for so much of a name other columns are left out */

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

/* A share of so many percent is shown as a large one. */
#define SHARE_LARGE 10

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

void columns_put_percent(struct columns *columns, double part)
{
	columns_put(columns, columns->is_csv ? "%.9g" : "%.1f", 100 * part);
}

void columns_put_share(struct columns *columns, double share)
{
	put_unit(columns, COLUMN_SHARE);
	columns_put_percent(columns, share);
}

void columns_put_none(struct columns *columns, enum column_unit unit)
{
	put_unit(columns, unit);
	columns_put(columns, "%s", columns->is_csv ? "" : "-");
}

static bool is_optional(const struct columns *columns, unsigned column)
{
	char mark = columns->heads[column][0];

	return mark == '?' || mark == '~';
}

static bool is_left(const struct columns *columns, unsigned column)
{
	char mark = columns->heads[column][0];

	return mark && strchr("<>=~", mark);
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

/* A column of this width is not printed. */
#define LEFT_OUT (-1)

static bool can_cut(const struct columns *columns, unsigned column)
{
	return is_left(columns, column) && columns->heads[column][0] != '=';
}

/* The characters of a line. */
static int line_width(const struct columns *columns, const int *widths)
{
	int width = -2;

	for (unsigned i = 0; i < columns->count; i++)
		width += widths[i] == LEFT_OUT ? 0 : widths[i] + 2;
	return width;
}

/* Makes columns of names narrower, the widest first, until a line fits or the widest has LEAST
 * characters. */
static void narrow_names(const struct columns *columns, int *widths, int screen, int least)
{
	for (int excess = line_width(columns, widths) - screen; excess > 0; excess--) {
		unsigned widest = columns->count;

		for (unsigned i = 0; i < columns->count; i++) {
			if (can_cut(columns, i) && widths[i] > least &&
			    (widest == columns->count || widths[i] >= widths[widest]))
				widest = i;
		}
		if (widest == columns->count)
			return;
		widths[widest]--;
	}
}

/* Fits the table to a terminal of SCREEN characters: cuts long names, leaves out columns, and cuts
 * names to what is still of use. */
static void fit(const struct columns *columns, int *widths, int screen)
{
	int whole[COLUMN_MAX];

	memcpy(whole, widths, sizeof(whole));
	narrow_names(columns, widths, screen, NAME_CHARS_WANTED);
	for (unsigned i = columns->count; i-- && line_width(columns, widths) > screen;) {
		if (is_optional(columns, i))
			widths[i] = LEFT_OUT;
	}
	/* Gives names the room that is left. */
	for (unsigned i = 0; i < columns->count; i++) {
		if (can_cut(columns, i) && widths[i] != LEFT_OUT)
			widths[i] = whole[i];
	}
	narrow_names(columns, widths, screen, NAME_CHARS_LEAST);
}

/* A cell that is printed. */
struct cell {
	const char *text;
	int width; /* LEFT_OUT: it is not printed */
	/* Characters at its beginning that another cell of the column has too. */
	int shared;
	bool is_last; /* of its line */
	enum terminal_style style;
};

/* Prints a name that is too long for its cell. */
static void print_cut(const struct cell *cell, bool is_path)
{
	int room = cell->width - 3, chars = count_chars(cell->text);
	int head = room / 3;
	const char *text = cell->text;

	if (is_path) {
		printf("...%s", text + count_bytes(text, chars - room));
	} else if (cell->shared < room) {
		printf("%.*s...", count_bytes(text, room), text);
	} else {
		/* The beginning, and from shortly before the first difference as much as fits. */
		int from = cell->shared - 2, rest = room - head;

		if (from > chars - rest)
			from = chars - rest;
		printf("%.*s...", count_bytes(text, head), text);
		text += count_bytes(text, from);
		if (count_chars(text) <= rest)
			fputs(text, stdout);
		else
			printf("%.*s...", count_bytes(text, rest - 3), text);
	}
}

static void print_cell(const struct columns *columns, unsigned column, const struct cell *cell)
{
	int padding = cell->width - count_chars(cell->text);

	if (cell->width == LEFT_OUT) {
		if (cell->is_last)
			putchar('\n');
		return;
	}
	if (!is_left(columns, column))
		printf("%*s", padding, "");
	if (cell->style != TERMINAL_PLAIN)
		fputs(terminal_style(STDOUT_FILENO, cell->style), stdout);
	if (padding < 0 && can_cut(columns, column))
		print_cut(cell, is_path(columns, column));
	else
		fputs(cell->text, stdout);
	if (cell->style != TERMINAL_PLAIN)
		fputs(terminal_style(STDOUT_FILENO, TERMINAL_PLAIN), stdout);
	if (is_left(columns, column) && !cell->is_last && padding > 0)
		printf("%*s", padding, "");
	fputs(cell->is_last ? "\n" : "  ", stdout);
}

/* ---- what tells names apart ---- */

static int by_text(const void *left, const void *right)
{
	const char *const *const *a = left, *const *const *b = right;

	return strcmp(**a, **b);
}

/* The number of characters at the beginning of A that B has too; 0 for equal texts. */
static int count_shared(const char *a, const char *b)
{
	int chars = 0;
	size_t at = 0;

	for (; a[at] && a[at] == b[at]; at++)
		chars += !goes_on(a[at]);
	return a[at] || b[at] ? chars : 0;
}

/* By row, the most characters that its last cell shares with another one: in the order of texts,
 * with a neighbour. The caller frees it. NULL: out of memory. */
static int *find_shared(const struct columns *columns)
{
	uint32_t count = columns->cell_count / columns->count;
	int *shared = table_zeroed(count, sizeof(*shared));
	char ***sorted = table_alloc(count, sizeof(*sorted));

	for (uint32_t i = 0; i < count && sorted; i++)
		sorted[i] = &columns->cells[(i + 1) * columns->count - 1];
	if (sorted)
		qsort(sorted, count, sizeof(*sorted), by_text);
	for (uint32_t i = 1; i < count && sorted && shared; i++) {
		int chars = count_shared(*sorted[i - 1], *sorted[i]);

		for (uint32_t at = i - 1; at <= i; at++) {
			size_t row = (size_t)(sorted[at] - columns->cells) / columns->count;

			shared[row] = chars > shared[row] ? chars : shared[row];
		}
	}
	free(sorted);
	return shared;
}

/* ---- CSV ---- */

static int csv_char(unsigned char c)
{
	return isalnum(c) ? tolower(c) : '_';
}

/* The head as a program's name for it: "GPU p50" of times is "gpu_p50_ns". */
static void print_csv_head(const struct columns *columns, unsigned column)
{
	static const char *const endings[] = {[COLUMN_PLAIN] = "",
					      [COLUMN_NS] = "_ns",
					      [COLUMN_BYTES] = "_bytes",
					      [COLUMN_SHARE] = ""};
	const char *head = head_of(columns, column);
	const char *ending = endings[columns->units[column]];

	for (const char *at = head; *at; at++) {
		if (*at == '%')
			fputs("percent", stdout);
		else
			putchar(csv_char((unsigned char)*at));
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
		/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a cell has a column */
		print_csv_cell(columns, i % columns->count, columns->cells[i]);
}

/* ---- text ---- */

/* CELLS: NULL for the heads. */
static enum terminal_style style_of(const struct columns *columns, unsigned column,
				    char *const *cells)
{
	if (!cells)
		return TERMINAL_HEAD;
	if (columns->units[column] == COLUMN_SHARE && atof(cells[column]) >= SHARE_LARGE)
		return TERMINAL_LARGE;
	return TERMINAL_PLAIN;
}

static void print_row(const struct columns *columns, const int *widths, char *const *cells,
		      int shared)
{
	unsigned last = columns->count - 1;

	while (last && widths[last] == LEFT_OUT)
		last--;
	for (unsigned i = 0; i <= last; i++) {
		struct cell cell = {
			.text = cells ? cells[i] : head_of(columns, i),
			.width = widths[i],
			.shared = i + 1 == columns->count ? shared : 0,
			.is_last = i == last,
			.style = style_of(columns, i, cells),
		};

		print_cell(columns, i, &cell);
	}
}

static void print_text(const struct columns *columns)
{
	int widths[COLUMN_MAX] = {0};
	int screen = terminal_width();
	int *shared = screen ? find_shared(columns) : NULL;

	for (unsigned i = 0; i < columns->count; i++)
		widths[i] = count_chars(head_of(columns, i));
	for (uint32_t i = 0; i < columns->cell_count; i++) {
		int width = count_chars(columns->cells[i]);

		/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a cell has a column */
		if (width > widths[i % columns->count])
			widths[i % columns->count] = width;
	}
	if (screen)
		fit(columns, widths, screen);
	print_row(columns, widths, NULL, 0);
	for (uint32_t i = 0; i + columns->count <= columns->cell_count; i += columns->count)
		print_row(columns, widths, columns->cells + i,
			  shared ? shared[i / columns->count] : 0);
	free(shared);
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
