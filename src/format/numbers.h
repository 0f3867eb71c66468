/* Numbers for pairs of ids: 0, 1, 2 ... in the order of first sight. Starts zeroed. */
#ifndef DAGTAP_FORMAT_NUMBERS_H
#define DAGTAP_FORMAT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define NUMBERS_NONE UINT32_MAX

struct numbers_pair {
	uint64_t high, low;
};

struct numbers {
	struct numbers_pair *pairs; /* by number */
	uint32_t count;
	uint32_t *slots; /* number + 1, 0 = free */
	uint32_t slot_count;
};

/* NUMBERS_NONE: out of memory. */
uint32_t numbers_get(struct numbers *numbers, uint64_t high, uint64_t low);

/* NUMBERS_NONE: not seen. */
uint32_t numbers_find(const struct numbers *numbers, uint64_t high, uint64_t low);

void numbers_release(struct numbers *numbers);

#endif
