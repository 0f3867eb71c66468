/* Consecutive numbers for pairs of 64-bit values (see numbers.h). */
#include "base/numbers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/table.h"

/* Moves PROBE to the number of the pair. False: the pair is new. */
static bool find(const struct numbers *numbers, struct hash_probe *probe, uint64_t high,
		 uint64_t low)
{
	*probe = hash_map_probe(&numbers->map, hash_mix(high, low));
	while (hash_map_next(&numbers->map, probe)) {
		const struct numbers_pair *pair = &numbers->pairs[probe->row];

		if (pair->low == low && pair->high == high)
			return true;
	}
	return false;
}

static bool is_last(const struct numbers *numbers, uint64_t high, uint64_t low)
{
	const struct numbers_pair *last;

	if (numbers->count == 0)
		return false;
	last = &numbers->pairs[numbers->last];
	return last->high == high && last->low == low;
}

/* As numbers_get, for a pair that is not the last one. */
static uint32_t find_or_add(struct numbers *numbers, uint64_t high, uint64_t low)
{
	struct numbers_pair *pair;
	struct hash_probe probe;

	if (hash_map_reserve(&numbers->map) < 0)
		return NUMBERS_NONE;
	if (find(numbers, &probe, high, low))
		return probe.row;
	pair = table_add((void **)&numbers->pairs, &numbers->count, sizeof(*pair));
	if (!pair)
		return NUMBERS_NONE;
	*pair = (struct numbers_pair){high, low};
	hash_map_put(&numbers->map, &probe, numbers->count - 1);
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
	struct hash_probe probe;

	return numbers->count && find(numbers, &probe, high, low) ? probe.row : NUMBERS_NONE;
}

void numbers_release(struct numbers *numbers)
{
	free(numbers->pairs);
	hash_map_release(&numbers->map);
	*numbers = (struct numbers){0};
}
