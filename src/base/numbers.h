/* Numbers keys: 0, 1, 2, ... in the order in which they are first seen. A key is a pair of 64-bit
 * values, for example the number of a process and an id in it. A zeroed struct numbers is empty and
 * ready.
 *
 * Threading: one thread at a time. Cost of a call: a comparison with the pair of the last call,
 * then a hash and usually one probe. */
#ifndef DAGTAP_BASE_NUMBERS_H
#define DAGTAP_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

#define NUMBERS_NONE UINT32_MAX

struct numbers_pair {
	uint64_t high, low;
};

struct numbers {
	struct numbers_pair *pairs; /* by number, 0 to count - 1 */
	uint32_t count;
	uint32_t last;	     /* result of the last numbers_get; rows repeat their ids */
	struct hash_map map; /* numbers by the hash of their pair */
};

/* The number of the pair; a new pair gets the next number. NUMBERS_NONE: out of memory. */
uint32_t numbers_get(struct numbers *numbers, uint64_t high, uint64_t low);

/* The number of the pair; NUMBERS_NONE if numbers_get has not seen it. */
uint32_t numbers_find(const struct numbers *numbers, uint64_t high, uint64_t low);

/* The number of the pair, which is the index of its row in the table ROWS (base/table.h). For a new
 * pair appends a zeroed row and sets *RET_NEW to it; for a known one sets *RET_NEW to NULL. Returns
 * -ENOMEM, with *RET_NEW NULL, if there is no memory. Nothing else may add rows to the table. */
int64_t numbers_row(struct numbers *numbers, uint64_t high, uint64_t low, void **rows,
		    uint32_t *count, size_t row_bytes, void **ret_new);

/* Frees the memory; the map is empty and usable again. */
void numbers_release(struct numbers *numbers);

#endif
