/* Which bytes of a node are addresses, by two captures of it: on bytes alone. */
#ifndef DAGPATCH_PATCH_COMPARE_H
#define DAGPATCH_PATCH_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

struct compare_slots {
	uint32_t count;
	const uint64_t *bytes;
	void *const *a, *const *b;
};
struct compare_match {
	uint32_t byte;
	uint32_t slot; /* index in compare_slots */
	uint64_t offset;
};
enum compare_result {
	COMPARE_SAME,
	COMPARE_MATCH,	     /* the next difference is an address */
	COMPARE_UNEXPLAINED, /* no slot explains byte RET_MATCH.byte */
	COMPARE_AMBIGUOUS,   /* more than one does */
};
struct compare_bytes {
	const uint8_t *a, *b;
	uint32_t size;
};
/* The first difference at FROM or after it. */
enum compare_result compare_next(const struct compare_bytes *bytes, uint32_t from,
				 const struct compare_slots *slots,
				 struct compare_match *ret_match);
/* Does a slot explain these eight bytes? */
bool compare_is_address(const uint8_t *a, const uint8_t *b, const struct compare_slots *slots);

#endif
