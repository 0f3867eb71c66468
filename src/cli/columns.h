/* Aligned tables on stdout: cells are kept until the table is printed, then every column gets the
 * width it needs. */
#ifndef DAGTAP_CLI_COLUMNS_H
#define DAGTAP_CLI_COLUMNS_H

#include <stdint.h>

struct columns {
	const char *const *heads; /* ends with NULL; a head that starts with '<' is a left column */
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
