/* Numbers for pairs of ids: 0, 1, 2 ... in the order of first sight. Starts zeroed. */
#ifndef DAGTAP_FORMAT_XSPACE_READER_NUMBERS_H
#define DAGTAP_FORMAT_XSPACE_READER_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define XREAD_NONE UINT32_MAX

struct xread_pair {
	uint64_t high, low;
};

struct xread_numbers {
	struct xread_pair *pairs; /* by number */
	uint32_t count;
	uint32_t *slots; /* number + 1, 0 = free */
	uint32_t slot_count;
};

/* XREAD_NONE: out of memory. */
uint32_t xread_number(struct xread_numbers *numbers, uint64_t high, uint64_t low);

/* XREAD_NONE: not seen. */
uint32_t xread_number_find(const struct xread_numbers *numbers, uint64_t high, uint64_t low);

void xread_numbers_release(struct xread_numbers *numbers);

#endif
