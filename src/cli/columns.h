/* Aligned tables on stdout. Cells are kept until the table is printed; then every column gets the
 * width that its cells need. On a terminal, names in the last column are cut at the end of the
 * line. */
#ifndef DAGTAP_CLI_COLUMNS_H
#define DAGTAP_CLI_COLUMNS_H

#include <stdint.h>

struct columns {
	/* The heads of the columns, then NULL. The first character says how the column is
	 * aligned. '<': to the left. '>': to the left, paths; of one that is too long the end is
	 * shown. '=': to the left, sentences, which are never cut. Others: to the right. */
	const char *const *heads;
	unsigned count; /* columns */
	char **cells;	/* owned, row by row */
	uint32_t cell_count;
	int error; /* -ENOMEM, or 0 */
};

/* HEADS must live until the table is printed. */
void columns_init(struct columns *columns, const char *const *heads);

/* Adds one cell: row by row, left to right. Control characters in it become '?'. */
void columns_put(struct columns *columns, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the table and frees its cells. Returns 0, or -ENOMEM if a cell could not be added; then
 * it prints nothing. */
int columns_print(struct columns *columns);

#endif
