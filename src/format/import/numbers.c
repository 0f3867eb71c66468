/* A hash table with linear probing from pairs of ids to consecutive numbers. */
#include "format/import/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

/* Slot counts are powers of two. At SLOTS_MOST numbers_get fails instead of growing. */
#define FIRST_SLOTS 64u
#define SLOTS_MOST  (1u << 31)

static uint32_t first_slot(const struct numbers *numbers, uint64_t high, uint64_t low)
{
	uint64_t hash = (high * 0xff51afd7ed558ccdull) ^ low;

	hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(hash >> 32) & (numbers->slot_count - 1);
}

/* The slot of the pair, or the free slot in which it belongs. */
static uint32_t find_slot(const struct numbers *numbers, uint64_t high, uint64_t low)
{
	uint32_t at = first_slot(numbers, high, low);

	while (numbers->slots[at]) {
		const struct numbers_pair *pair = &numbers->pairs[numbers->slots[at] - 1];

		if (pair->high == high && pair->low == low)
			break;
		at = (at + 1) & (numbers->slot_count - 1);
	}
	return at;
}

static int grow(struct numbers *numbers)
{
	uint32_t slot_count = numbers->slot_count ? numbers->slot_count * 2 : FIRST_SLOTS;
	const struct numbers_pair *pairs = numbers->pairs;
	uint32_t *slots = table_alloc(slot_count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	memset(slots, 0, slot_count * sizeof(*slots));
	free(numbers->slots);
	numbers->slots = slots;
	numbers->slot_count = slot_count;
	for (uint32_t i = 0; i < numbers->count; i++) {
		uint32_t at = first_slot(numbers, pairs[i].high, pairs[i].low);

		/* the pairs are distinct, so no comparison is needed */
		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	return 0;
}

static bool is_last(const struct numbers *numbers, uint64_t high, uint64_t low)
{
	const struct numbers_pair *last = &numbers->pairs[numbers->last];

	return numbers->count && last->high == high && last->low == low;
}

/* As numbers_get, for a pair that is not the last one. */
static uint32_t find_or_add(struct numbers *numbers, uint64_t high, uint64_t low)
{
	struct numbers_pair *pair;
	uint32_t at;

	if (numbers->count >= numbers->slot_count / 2 &&
	    (numbers->slot_count == SLOTS_MOST || grow(numbers) < 0))
		return NUMBERS_NONE;
	at = find_slot(numbers, high, low);
	if (numbers->slots[at])
		return numbers->slots[at] - 1;
	pair = table_add((void **)&numbers->pairs, &numbers->count, sizeof(*pair));
	if (!pair)
		return NUMBERS_NONE;
	*pair = (struct numbers_pair){high, low};
	numbers->slots[at] = numbers->count;
	return numbers->count - 1;
}

uint32_t numbers_get(struct numbers *numbers, uint64_t high, uint64_t low)
{
	uint32_t number;

	if (is_last(numbers, high, low))
		return numbers->last;
	number = find_or_add(numbers, high, low);
	if (number != NUMBERS_NONE)
		numbers->last = number;
	return number;
}

int64_t numbers_row(struct numbers *numbers, uint64_t high, uint64_t low, void **rows,
		    uint32_t *count, size_t row_bytes, void **ret_new)
{
	uint32_t known = numbers->count;
	uint32_t number = numbers_get(numbers, high, low);

	*ret_new = NULL;
	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number == known)
		*ret_new = table_add(rows, count, row_bytes);
	return number == known && !*ret_new ? -ENOMEM : (int64_t)number;
}

uint32_t numbers_find(const struct numbers *numbers, uint64_t high, uint64_t low)
{
	uint32_t at;

	if (numbers->count == 0)
		return NUMBERS_NONE;
	at = find_slot(numbers, high, low);
	return numbers->slots[at] ? numbers->slots[at] - 1 : NUMBERS_NONE;
}

void numbers_release(struct numbers *numbers)
{
	free(numbers->pairs);
	free(numbers->slots);
	*numbers = (struct numbers){0};
}
