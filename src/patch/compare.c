/* Finds the bytes of a node that are addresses: those that moved with a slot from one capture to
 * the other. */
#include <string.h>

#include "patch/compare.h"

enum { ADDRESS_BYTES = 8 };

static uint64_t read_word(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* How a slot explains an address. One past the end counts as an address of the slot, because loops
 * end there. An address inside another slot belongs to that slot, because allocators place buffers
 * next to each other. */
enum { NO_MATCH, AT_END, INSIDE };

static int explains(const struct compare_slots *slots, uint32_t slot, uint64_t a, uint64_t b)
{
	uint64_t base_a = (uintptr_t)slots->a[slot], base_b = (uintptr_t)slots->b[slot];
	uint64_t offset = a - base_a;

	if (base_a == base_b || offset != b - base_b || offset > slots->bytes[slot])
		return NO_MATCH;
	return offset < slots->bytes[slot] ? INSIDE : AT_END;
}

bool compare_is_address(const uint8_t *a, const uint8_t *b, const struct compare_slots *slots)
{
	for (uint32_t slot = 0; slot < slots->count; slot++)
		if (explains(slots, slot, read_word(a), read_word(b)) != NO_MATCH)
			return true;
	return false;
}

/* Counts the slots that explain the eight bytes at BYTE. Slots that the address is inside of have
 * priority over those that end there. */
static uint32_t count_slots(const struct compare_bytes *bytes, uint32_t byte,
			    const struct compare_slots *slots, struct compare_match *ret_match)
{
	uint64_t word_a = read_word(bytes->a + byte), word_b = read_word(bytes->b + byte);
	uint32_t matches = 0;
	int best = NO_MATCH;

	for (uint32_t slot = 0; slot < slots->count; slot++) {
		int how = explains(slots, slot, word_a, word_b);

		if (how == NO_MATCH || how < best)
			continue;
		matches = how > best ? 1 : matches + 1;
		best = how;
		*ret_match = (struct compare_match){byte, slot, word_a - (uintptr_t)slots->a[slot]};
	}
	return matches;
}

/* Tries all windows of eight bytes that contain AT, the first difference: the address may begin
 * before AT, but not before FROM. */
static uint32_t count_matches(const struct compare_bytes *bytes, uint32_t from, uint32_t at,
			      const struct compare_slots *slots, struct compare_match *ret_match)
{
	uint32_t begin = at >= from + ADDRESS_BYTES - 1 ? at - (ADDRESS_BYTES - 1) : from;
	uint32_t matches = 0;

	for (uint32_t byte = begin; byte <= at && byte + ADDRESS_BYTES <= bytes->size; byte++)
		matches += count_slots(bytes, byte, slots, ret_match);
	return matches;
}

enum compare_result compare_next(const struct compare_bytes *bytes, uint32_t from,
				 const struct compare_slots *slots, struct compare_match *ret_match)
{
	uint32_t at = from;
	uint32_t matches;

	while (at < bytes->size && bytes->a[at] == bytes->b[at])
		at++;
	if (at >= bytes->size)
		return COMPARE_SAME;
	matches = count_matches(bytes, from, at, slots, ret_match);
	if (matches == 1)
		return COMPARE_MATCH;
	ret_match->byte = at;
	return matches == 0 ? COMPARE_UNEXPLAINED : COMPARE_AMBIGUOUS;
}
