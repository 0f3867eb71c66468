/* Radix sort (see sort.h). */
#include "base/sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define DIGIT_BITS  11
#define DIGIT_COUNT (1u << DIGIT_BITS)

static bool is_sorted(const struct sort_row *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (rows[i - 1].key > rows[i].key)
			return false;
	}
	return true;
}

static uint64_t differing_bits(const struct sort_row *rows, uint32_t count)
{
	uint64_t bits = 0;

	for (uint32_t i = 1; i < count; i++)
		bits |= rows[i].key ^ rows[0].key;
	return bits;
}

static void distribute(const struct sort_row *from, struct sort_row *to, uint32_t count,
		       unsigned shift)
{
	uint32_t place[DIGIT_COUNT] = {0};
	uint32_t next = 0;

	for (uint32_t i = 0; i < count; i++)
		place[(from[i].key >> shift) & (DIGIT_COUNT - 1)]++;
	for (uint32_t digit = 0; digit < DIGIT_COUNT; digit++) {
		uint32_t here = place[digit];

		place[digit] = next;
		next += here;
	}
	for (uint32_t i = 0; i < count; i++)
		to[place[(from[i].key >> shift) & (DIGIT_COUNT - 1)]++] = from[i];
}

/* So few rows are sorted by insertion before a radix sort would have counted its digits. */
#define SHORT_MOST 128u

static void sort_short(struct sort_row *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct sort_row row = rows[i];
		uint32_t at = i;

		for (; at > 0 && rows[at - 1].key > row.key; at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

int sort_rows(struct sort_row *rows, uint32_t count)
{
	struct sort_row *from = rows, *to, *spare;
	uint64_t bits;

	if (is_sorted(rows, count))
		return 0;
	if (count <= SHORT_MOST) {
		sort_short(rows, count);
		return 0;
	}
	spare = table_alloc(count, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	to = spare;
	bits = differing_bits(rows, count);
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct sort_row *swap = from;

		if (!((bits >> shift) & (DIGIT_COUNT - 1)))
			continue;
		distribute(from, to, count, shift);
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, (size_t)count * sizeof(*rows));
	free(spare);
	return 0;
}

int sort_apply(void *rows, uint32_t count, size_t row_bytes, struct sort_row *order)
{
	char *sorted = table_alloc(count, row_bytes);
	int err = sorted ? sort_rows(order, count) : -ENOMEM;

	for (uint32_t i = 0; i < count && err == 0; i++)
		memcpy(sorted + i * row_bytes, (char *)rows + order[i].index * row_bytes,
		       row_bytes);
	if (err == 0 && count)
		memcpy(rows, sorted, count * row_bytes);
	free(sorted);
	return err;
}

int sort_by_key(void *rows, uint32_t count, size_t row_bytes, uint64_t (*key)(const void *row))
{
	const char *row = rows;
	struct sort_row *order;
	uint32_t at = 1;
	int err;

	while (at < count && key(row + (at - 1) * row_bytes) <= key(row + at * row_bytes))
		at++;
	if (at >= count)
		return 0;
	order = table_alloc(count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct sort_row){key(row + i * row_bytes), i};
	err = sort_apply(rows, count, row_bytes, order);
	free(order);
	return err;
}
