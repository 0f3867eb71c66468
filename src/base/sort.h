/* Stable radix sort of rows by a 64-bit key, for millions of rows that are mostly in order
 * already. */
#ifndef DAGTAP_BASE_SORT_H
#define DAGTAP_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_row {
	uint64_t key;
	uint32_t index; /* index of the element that the key belongs to */
};

/* Sorts ROWS by ascending key; equal keys keep their order. To sort by several keys, sort by the
 * least significant one first. Returns 0, or -ENOMEM with the rows in their old order. Cost: rows
 * in order are only compared; else a pass per 11 bits in which keys differ, and memory for a second
 * copy. */
int sort_rows(struct sort_row *rows, uint32_t count);

/* Brings ROWS, COUNT rows of ROW_BYTES, into the order of ORDER, whose element I has the key of row
 * I and the index I. Sorts ORDER. Returns 0, or -ENOMEM with ROWS unchanged. */
int sort_apply(void *rows, uint32_t count, size_t row_bytes, struct sort_row *order);

/* Sorts ROWS, COUNT rows of ROW_BYTES, by ascending KEY; equal keys keep their order. Returns 0, or
 * -ENOMEM with ROWS unchanged. Cost: rows in order are only compared; else as sort_rows, and memory
 * for a copy of the rows. */
int sort_by_key(void *rows, uint32_t count, size_t row_bytes, uint64_t (*key)(const void *row));

#endif
