/* Aligned tables on stdout: cells are kept until the table is printed, then every column gets the
 * width it needs. On a terminal a last column of names is cut where the line would end. */
#ifndef DAGTAP_CLI_COLUMNS_H
#define DAGTAP_CLI_COLUMNS_H

#include <stdint.h>

struct columns {
	/* Ends with NULL. A head that starts with '<' is a left column; with '>' one of paths, of which the
	 * ends are shown where they are too long; with '=' one of sentences, which are shown whole. */
	const char *const *heads;
	unsigned count;
	char **cells;
	uint32_t cell_count;
	int error;
};

void columns_init(struct columns *columns, const char *const *heads);

/* One cell, row by row, left to right. */
void columns_put(struct columns *columns, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints and releases; 0 or -ENOMEM. */
int columns_print(struct columns *columns);

#endif
