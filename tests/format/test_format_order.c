/* Sorts rows by several keys; compares with a sort that compares one key after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../launched.h"
#include "format/import/row_order.h"

struct row {
	uint64_t keys[3];
	uint32_t place; /* index before sorting */
};

static uint64_t first(const void *row)
{
	return ((const struct row *)row)->keys[0];
}

static uint64_t second(const void *row)
{
	return ((const struct row *)row)->keys[1];
}

static uint64_t third(const void *row)
{
	return ((const struct row *)row)->keys[2];
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static bool is_in_order(const struct row *a, const struct row *b)
{
	for (int i = 0; i < 3; i++) {
		if (a->keys[i] != b->keys[i])
			return a->keys[i] < b->keys[i];
	}
	return a->place < b->place;
}

/* the number of values that each key may have */
static void sort_and_check(uint32_t count, const uint64_t values[3])
{
	struct row *rows = calloc(count + 1, sizeof(*rows));
	uint64_t state = count + test_seed();
	uint32_t *place;

	for (uint32_t i = 0; i < count; i++) {
		for (int key = 0; key < 3; key++)
			rows[i].keys[key] = next_random(&state) % values[key] << 20;
		rows[i].place = i;
	}
	assert_int_equal(order_rows(&(struct order_table){(void **)&rows,
							  count,
							  sizeof(*rows),
							  {first, second, third}},
				    &place),
			 0);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(place ? place[rows[i].place] : rows[i].place, i);
		assert_true(i == 0 || is_in_order(&rows[i - 1], &rows[i]));
	}
	free(place);
	free(rows);
}

/* The rows that are equal in a key are none, few, more than are sorted by comparison, or all. */
static void keys_count_from_the_first_and_equal_rows_stay_in_order(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 128, 129, 5000};
	static const uint64_t values[][3] = {{1, 1, 1},	      {1, 1, 5000},   {3, 7, 2},
					     {10, 2, 100000}, {100000, 2, 2}, {2, 2000, 3}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			sort_and_check(counts[i], values[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_count_from_the_first_and_equal_rows_stay_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
