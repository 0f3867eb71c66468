/* Finds the bytes of a node that are addresses by comparing two captures of it. Works on bytes
 * alone and allocates nothing. */
#ifndef DAGPATCH_PATCH_COMPARE_H
#define DAGPATCH_PATCH_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

/* The slots of two captures: for slot i its size, and its addresses a[i] and b[i] in the two
 * captures. */
struct compare_slots {
	uint32_t count;
	const uint64_t *bytes;
	void *const *a, *const *b;
};

/* An address that was found. */
struct compare_match {
	uint32_t byte;
	uint32_t slot; /* index in compare_slots */
	uint64_t offset;

	/* of the address from the slot's beginning */
};
enum compare_result {
	COMPARE_SAME,
	COMPARE_MATCH,	     /* the next difference is an address */
	COMPARE_UNEXPLAINED, /* no slot explains byte ret_match->byte */
	COMPARE_AMBIGUOUS,   /* more than one slot explains it */
};
struct compare_bytes {
	const uint8_t *a, *b; /* The same bytes in the two captures. */
	uint32_t size;
};

/* Finds the first difference at FROM or after it. With COMPARE_MATCH *RET_MATCH is the address;
 * its 8 bytes may begin before the first byte that differs, but not before FROM. The first
 * difference is at ret_match->byte with COMPARE_UNEXPLAINED and COMPARE_AMBIGUOUS. */
enum compare_result compare_next(const struct compare_bytes *bytes, uint32_t from,
				 const struct compare_slots *slots,
				 struct compare_match *ret_match);

/* Returns whether a slot explains the eight bytes at A and B. */
bool compare_is_address(const uint8_t *a, const uint8_t *b, const struct compare_slots *slots);

#endif
