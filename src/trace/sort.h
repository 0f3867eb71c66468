/* Stable radix sort of rows by a 64-bit key: millions of rows, mostly in order already. */
#ifndef DAGTAP_TRACE_SORT_H
#define DAGTAP_TRACE_SORT_H

#include <stdint.h>

struct sort_row {
	uint64_t key;
	uint32_t index; /* what the key belongs to */
};

/* 0 or -ENOMEM. To sort by several keys, sort by the least significant one first. */
int sort_rows(struct sort_row *rows, uint32_t count);

#endif
