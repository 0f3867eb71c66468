/* Numbers pairs of ids: 0, 1, 2, ... in the order in which they are first seen. A hash table with
 * open addressing, at most half full. A zeroed struct numbers is empty and ready.
 *
 * Threading: one thread at a time. Cost of a call: a hash and usually one probe. */
#ifndef DAGTAP_FORMAT_NUMBERS_H
#define DAGTAP_FORMAT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define NUMBERS_NONE UINT32_MAX

struct numbers_pair {
	uint64_t high, low;
};

struct numbers {
	struct numbers_pair *pairs; /* by number, 0 to count - 1 */
	uint32_t count;
	uint32_t *slots;     /* number + 1, 0 = free */
	uint32_t slot_count; /* a power of two, or 0 before the first pair */
};

/* The number of the pair; a new pair gets the next number. NUMBERS_NONE: out of memory. */
uint32_t numbers_get(struct numbers *numbers, uint64_t high, uint64_t low);

/* The number of the pair; NUMBERS_NONE if numbers_get has not seen it. */
uint32_t numbers_find(const struct numbers *numbers, uint64_t high, uint64_t low);

/* Frees the memory; the map is empty and usable again. */
void numbers_release(struct numbers *numbers);

#endif
