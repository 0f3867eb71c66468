/* Growing arrays, interned strings, sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "trace/row_table.h"
#include "trace/sort.h"
#include "trace/strtab.h"

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

static void equal_text_has_equal_numbers(void **state)
{
	struct strtab tab;
	char text[32];

	assert_int_equal(strtab_init(&tab), 0);
	assert_int_equal(strtab_intern_z(&tab, ""), 0);
	for (uint32_t i = 1; i <= 5000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(strtab_intern_z(&tab, text), i);
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(strtab_intern_z(&tab, text), i);
		assert_string_equal(tab.strings[i], text);
	}
	assert_int_equal(strtab_intern(&tab, "text 7 and more", 6), 7);
	assert_int_equal(strtab_intern(&tab, "text 8\0hidden", 13), 8);
	assert_int_equal(strtab_intern_field(&tab, "text 9", 6), 9);
	strtab_release(&tab);
}

static void sort_is_stable_and_complete(void **state)
{
	enum { COUNT = 10000 };
	struct sort_row *rows = malloc(COUNT * sizeof(*rows));
	uint64_t random = test_seed();

	for (uint32_t i = 0; i < COUNT; i++) {
		random = random * 6364136223846793005ull + 1;
		rows[i] = (struct sort_row){random >> 57 << 50 | (random >> 40 & 3), i};
	}
	assert_int_equal(sort_rows(rows, COUNT), 0);
	for (uint32_t i = 1; i < COUNT; i++) {
		assert_true(rows[i - 1].key <= rows[i].key);
		if (rows[i - 1].key == rows[i].key)
			assert_true(rows[i - 1].index < rows[i].index);
	}
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_keep_their_place_as_a_table_grows),
		cmocka_unit_test(extension_by_nothing_gives_an_address),
		cmocka_unit_test(equal_text_has_equal_numbers),
		cmocka_unit_test(sort_is_stable_and_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
