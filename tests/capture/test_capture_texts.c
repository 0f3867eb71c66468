/* Interned texts are stored once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/texts.h"

#define MANY 10000

static void the_same_text_is_the_same_row(void **state)
{
	struct texts texts = {0};
	char name[] = "a name";
	struct text *row = texts_keep(&texts, NULL, name), *empty = texts_keep(&texts, NULL, "");
	struct text *other;

	assert_int_equal(row->number, 1);
	assert_int_equal(row->spool, 0);
	assert_int_equal(row->bytes, 6);
	assert_int_equal(empty->number, 2);
	assert_int_equal(empty->bytes, 0);
	name[0] = 'b';
	other = texts_keep(&texts, NULL, name);
	assert_int_equal(other->number, 3);
	assert_string_equal(row->text, "a name");
	assert_ptr_equal(texts_keep(&texts, NULL, "a name"), row);
	assert_ptr_equal(texts_keep(&texts, NULL, ""), empty);
	free(row);
	free(empty);
	free(other);
	free(texts.rows);
	hash_map_release(&texts.map);
}

static void the_same_text_in_another_group_is_another_row(void **state)
{
	struct texts groups = {0}, texts = {0};
	struct text *group = texts_keep(&groups, NULL, "group");
	struct text *outside = texts_keep(&texts, NULL, "text");
	struct text *inside = texts_keep(&texts, group, "text");

	assert_ptr_not_equal(outside, inside);
	assert_null(outside->group);
	assert_ptr_equal(inside->group, group);
	assert_ptr_equal(texts_keep(&texts, group, "text"), inside);
	assert_ptr_equal(texts_keep(&texts, NULL, "text"), outside);
	free(group);
	free(outside);
	free(inside);
	free(groups.rows);
	free(texts.rows);
	hash_map_release(&groups.map);
	hash_map_release(&texts.map);
}

/* Rows keep their addresses however many are added. */
static void rows_outlive_growth(void **state)
{
	struct texts texts = {0};
	struct text *rows[MANY];
	char name[32];

	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "command %u", i);
		rows[i] = texts_keep(&texts, NULL, name);
		assert_int_equal(rows[i]->number, i + 1);
	}
	assert_true(texts.map.slot_count <= 4 * MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "command %u", i);
		assert_ptr_equal(texts_keep(&texts, NULL, name), rows[i]);
		assert_string_equal(rows[i]->text, name);
	}
	for (uint32_t i = 0; i < MANY; i++)
		free(rows[i]);
	free(texts.rows);
	hash_map_release(&texts.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_is_the_same_row),
		cmocka_unit_test(the_same_text_in_another_group_is_another_row),
		cmocka_unit_test(rows_outlive_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
