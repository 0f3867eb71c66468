/* Tables on stdout: aligned, for people, or as CSV, for programs. Cells are kept until the table is
 * printed; then every column gets the width that its cells need. On a terminal the table fits its
 * width, from 40 columns on: columns that are marked so are left out, and names
 * are cut; heads and large shares are coloured. A pipe or a file gets everything, and no colour. */
#ifndef DAGTAP_CLI_CLI_COLUMNS_H
#define DAGTAP_CLI_CLI_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#define COLUMN_MAX 16

/* As a command's default number of rows: all in CSV, else as many as the help says. */
#define ROWS_DEFAULT UINT32_MAX

enum column_unit { COLUMN_PLAIN, COLUMN_NS, COLUMN_BYTES, COLUMN_SHARE };

struct columns {
	/* The heads of the columns, then NULL. The first character says how the column is
	 * aligned. '<': to the left. '>': to the left, paths: of one that is too long the end is
	 * shown, of other names the part that tells them from the others in the column. '=': to the
	 * left, sentences, which are never cut. '?': to the right, and left out where the terminal
	 * is too narrow, the last such column first. '~': names that are left out so. Others: to
	 * the right. */
	const char *const *heads;
	unsigned count; /* columns */
	bool is_csv;	/* set it after columns_init, before the first cell */
	enum column_unit units[COLUMN_MAX];
	char **cells; /* owned, row by row */
	uint32_t cell_count;
	int error; /* -ENOMEM, or 0 */
};

/* HEADS must live until the table is printed. */
void columns_init(struct columns *columns, const char *const *heads);

/* Adds one cell: row by row, left to right. Control characters in it become '?'. */
void columns_put(struct columns *columns, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a number. CSV has times in ns, sizes in bytes and all numbers without commas; the heads of
 * such columns end with the unit. */
void columns_put_count(struct columns *columns, uint64_t count);
void columns_put_ns(struct columns *columns, double ns);
void columns_put_bytes(struct columns *columns, uint64_t bytes);

/* Add a part of 1 as a percentage; a share of the table's whole, of which large ones are coloured;
 * and the absence of a value: "-", in CSV nothing. */
void columns_put_percent(struct columns *columns, double part);
void columns_put_share(struct columns *columns, double share);
void columns_put_none(struct columns *columns, enum column_unit unit);

/* Prints the table and frees its cells. Returns 0, or -ENOMEM if a cell could not be added; then
 * it prints nothing. */
int columns_print(struct columns *columns);

#endif
