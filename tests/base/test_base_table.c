/* Growing arrays: rows stay, new ones are zeroed, and what is too large is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/table.h"

static void rows_keep_their_place_as_a_table_grows(void **state)
{
	uint64_t *rows = NULL;
	uint32_t count = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *row = table_add((void **)&rows, &count, sizeof(*rows));

		assert_non_null(row);
		assert_int_equal(*row, 0);
		*row = i;
	}
	assert_int_equal(count, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(rows[i], i);
	free(rows);
}

static void rows_are_added_one_by_one_and_many_at_once(void **state)
{
	uint64_t more[100], *rows = NULL, *row;
	uint32_t count = 0;

	for (uint64_t i = 0; i < 100; i++)
		more[i] = i;
	assert_int_equal(table_add_rows((void **)&rows, &count, NULL, 0, sizeof(*rows)), 0);
	for (uint32_t many = 0; many <= 100; many++) {
		uint32_t before = count;

		assert_int_equal(table_add_rows((void **)&rows, &count, more, many, sizeof(*rows)),
				 0);
		row = table_add((void **)&rows, &count, sizeof(*rows));
		assert_non_null(row);
		assert_int_equal(*row, 0);
		assert_int_equal(count, before + many + 1);
		assert_memory_equal(rows + before, more, many * sizeof(*rows));
	}
	assert_int_equal(table_add_rows((void **)&rows, &count, more, UINT32_MAX, sizeof(*rows)),
			 -ENOMEM);
	free(rows);
}

static void extension_by_nothing_gives_an_address(void **state)
{
	uint64_t *rows = NULL;
	uint32_t count = 0;

	assert_non_null(table_extend((void **)&rows, &count, 0, sizeof(*rows)));
	assert_int_equal(count, 0);
	assert_non_null(table_extend((void **)&rows, &count, 3, sizeof(*rows)));
	assert_int_equal(count, 3);
	assert_null(table_extend((void **)&rows, &count, UINT32_MAX, sizeof(*rows)));
	assert_int_equal(count, 3);
	free(rows);
}

static void a_reserve_doubles_the_room_or_takes_what_is_asked(void **state)
{
	uint8_t *bytes = NULL;
	size_t room = 0, before;

	assert_int_equal(table_reserve((void **)&bytes, &room, 0, 1), 0);
	assert_null(bytes);
	assert_int_equal(table_reserve((void **)&bytes, &room, 1, 1), 0);
	assert_true(room >= 1);
	bytes[0] = 7;
	before = room;
	assert_int_equal(table_reserve((void **)&bytes, &room, before + 1, 1), 0);
	assert_int_equal(room, before * 2);
	assert_int_equal(table_reserve((void **)&bytes, &room, 100000, 1), 0);
	assert_int_equal(room, 100000);
	assert_int_equal(bytes[0], 7);
	free(bytes);
}

static void what_no_memory_can_hold_is_refused(void **state)
{
	uint64_t *rows = NULL, *before;
	size_t room = 0;

	assert_int_equal(table_reserve((void **)&rows, &room, 3, sizeof(*rows)), 0);
	before = rows;
	assert_int_equal(table_reserve((void **)&rows, &room, SIZE_MAX / 4, sizeof(*rows)),
			 -ENOMEM);
	assert_int_equal(table_reserve((void **)&rows, &room, SIZE_MAX / 16, sizeof(*rows)),
			 -ENOMEM);
	assert_ptr_equal(rows, before);
	assert_true(room >= 3 && room < SIZE_MAX / 16);
	assert_null(table_alloc(SIZE_MAX / 4, sizeof(*rows)));
	assert_null(table_zeroed(SIZE_MAX, 1));
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_keep_their_place_as_a_table_grows),
		cmocka_unit_test(rows_are_added_one_by_one_and_many_at_once),
		cmocka_unit_test(extension_by_nothing_gives_an_address),
		cmocka_unit_test(a_reserve_doubles_the_room_or_takes_what_is_asked),
		cmocka_unit_test(what_no_memory_can_hold_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
