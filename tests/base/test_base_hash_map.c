/* Hashes, the hash index and the numbering of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/numbers.h"

static void a_hash_of_bytes_depends_on_each_byte_and_the_size(void **state)
{
	uint8_t bytes[80] = {0};

	for (size_t size = 0; size < sizeof(bytes); size++) {
		uint64_t hash = hash_bytes(bytes, size);

		assert_true(hash != hash_bytes(bytes, size + 1));
		for (size_t i = 0; i < size; i++) {
			bytes[i] = 1;
			assert_true(hash != hash_bytes(bytes, size));
			bytes[i] = 0;
		}
		assert_true(hash == hash_bytes(bytes, size));
	}
}

static void a_hash_of_bytes_does_not_depend_on_their_place(void **state)
{
	static const char text[] = "a kernel's name that is longer than 32 bytes";
	char room[sizeof(text) + 8];

	for (size_t shift = 0; shift < 8; shift++) {
		memcpy(room + shift, text, sizeof(text));
		assert_true(hash_bytes(text, sizeof(text)) ==
			    hash_bytes(room + shift, sizeof(text)));
	}
}

static void rows_with_one_hash_are_all_found(void **state)
{
	struct hash_map map = {0};
	struct hash_probe probe;
	uint32_t seen = 0;

	for (uint32_t row = 0; row < 1000; row++) {
		assert_int_equal(hash_map_reserve(&map), 0);
		probe = hash_map_probe(&map, (uint64_t)(row % 2) << 32);
		while (hash_map_next(&map, &probe))
			assert_int_equal(probe.row % 2, row % 2);
		hash_map_put(&map, &probe, row);
	}
	assert_int_equal(map.count, 1000);
	probe = hash_map_probe(&map, 1ull << 32);
	while (hash_map_next(&map, &probe))
		seen++;
	assert_int_equal(seen, 500);
	hash_map_clear(&map);
	assert_int_equal(map.count, 0);
	probe = hash_map_probe(&map, 0);
	assert_false(hash_map_next(&map, &probe));
	hash_map_release(&map);
}

/* Whether the map has ROW, which the test puts with the hash (ROW % 7) << 32. */
static bool has_row(const struct hash_map *map, uint32_t row)
{
	struct hash_probe probe = hash_map_probe(map, (uint64_t)(row % 7) << 32);

	while (hash_map_next(map, &probe))
		if (probe.row == row)
			return true;
	return false;
}

static void rows_of_crowded_slots_can_be_removed_in_any_order(void **state)
{
	struct hash_map map = {0};
	bool is_in[60] = {0};
	uint64_t random = 1;

	assert_false(hash_map_remove(&map, 0, 0));
	for (int turn = 0; turn < 20000; turn++) {
		uint32_t row = (uint32_t)((random = random * 6364136223846793005u + 1) >> 33) % 60;
		uint64_t hash = (uint64_t)(row % 7) << 32;

		assert_int_equal(hash_map_reserve(&map), 0);
		if (is_in[row]) {
			assert_true(hash_map_remove(&map, hash, row));
		} else {
			struct hash_probe probe = hash_map_probe(&map, hash);

			while (hash_map_next(&map, &probe))
				;
			hash_map_put(&map, &probe, row);
		}
		is_in[row] = !is_in[row];
		for (uint32_t i = 0; i < 60; i++)
			assert_int_equal(has_row(&map, i), is_in[i]);
	}
	assert_false(hash_map_remove(&map, 0, 70));
	hash_map_release(&map);
}

static void pairs_are_numbered_by_first_sight(void **state)
{
	struct numbers numbers = {0};

	assert_int_equal(numbers_find(&numbers, 1, 2), NUMBERS_NONE);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(numbers_get(&numbers, i % 3, i << 40), i);
	for (uint64_t i = 0; i < 10000; i++) {
		assert_int_equal(numbers_get(&numbers, i % 3, i << 40), i);
		assert_int_equal(numbers_find(&numbers, i % 3, i << 40), i);
	}
	assert_int_equal(numbers_find(&numbers, 1, 0), NUMBERS_NONE);
	assert_int_equal(numbers.count, 10000);
	assert_int_equal(numbers.pairs[7].high, 1);
	numbers_release(&numbers);
	assert_int_equal(numbers_get(&numbers, 5, 6), 0);
	numbers_release(&numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hash_of_bytes_depends_on_each_byte_and_the_size),
		cmocka_unit_test(a_hash_of_bytes_does_not_depend_on_their_place),
		cmocka_unit_test(rows_with_one_hash_are_all_found),
		cmocka_unit_test(rows_of_crowded_slots_can_be_removed_in_any_order),
		cmocka_unit_test(pairs_are_numbered_by_first_sight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
