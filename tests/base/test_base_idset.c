/* Ranks of ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idset.h"

static void the_rank_is_the_number_of_smaller_ids(void **state)
{
	struct idset set = {0};

	/* Far apart, so that each id has a page; in falling order, and each twice. */
	for (uint64_t i = 3000; i-- > 0;) {
		assert_int_equal(idset_add(&set, i * i * 1000 + 5), 0);
		assert_int_equal(idset_add(&set, i * i * 1000 + 5), 0);
	}
	assert_int_equal(idset_finish(&set), 0);
	assert_int_equal(set.count, 3000);
	for (uint64_t i = 0; i < 3000; i++) {
		assert_int_equal(idset_find(&set, i * i * 1000 + 5), i);
		assert_int_equal(idset_find(&set, i * i * 1000 + 6), UINT32_MAX);
	}
	assert_int_equal(idset_find(&set, UINT64_MAX), UINT32_MAX);
	idset_release(&set);
}

static void a_run_of_ids_shares_pages(void **state)
{
	struct idset set = {0};
	struct idset_last last = {0};

	for (uint64_t id = 100; id < 2100; id += 2)
		assert_int_equal(idset_add(&set, id), 0);
	assert_int_equal(idset_finish(&set), 0);
	assert_true(set.page_count <= 5);
	for (uint64_t id = 100; id < 2100; id++) {
		uint32_t rank = id % 2 ? UINT32_MAX : (uint32_t)(id - 100) / 2;

		assert_int_equal(idset_find(&set, id), rank);
		assert_int_equal(idset_find_again(&set, id, &last), rank);
		assert_int_equal(idset_find_again(&set, id, &last), rank);
	}
	idset_release(&set);
}

/* As several threads do, each of which sees some of the ids, in any order. */
static void merged_sets_have_the_ids_of_all(void **state)
{
	struct idset set = {0}, others[3] = {{0}};

	for (uint64_t id = 5000; id-- > 0;)
		assert_int_equal(idset_add(&others[id * 7 % 11 % 3], id * 3), 0);
	assert_int_equal(idset_add(&others[0], 3), 0);
	assert_int_equal(idset_add(&others[1], 3), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(idset_merge(&set, &others[i]), 0);
		assert_null(others[i].pages);
	}
	assert_int_equal(idset_finish(&set), 0);
	assert_int_equal(set.count, 5000);
	for (uint64_t id = 0; id < 15000; id++)
		assert_int_equal(idset_find(&set, id), id % 3 ? UINT32_MAX : (uint32_t)id / 3);
	idset_release(&set);
}

static void an_intersection_has_the_ids_of_both(void **state)
{
	struct idset set = {0}, with = {0};

	for (uint64_t id = 0; id < 9000; id += 2)
		assert_int_equal(idset_add(&set, id), 0);
	/* Ids in the middle and far away, and pages without a common id. */
	for (uint64_t id = 3000; id < 6000; id += 3)
		assert_int_equal(idset_add(&with, id), 0);
	assert_int_equal(idset_add(&with, 8001), 0);
	assert_int_equal(idset_add(&with, 1ull << 60), 0);
	assert_int_equal(idset_finish(&set), 0);
	assert_int_equal(idset_finish(&with), 0);
	assert_int_equal(idset_intersect(&set, &with), 0);
	assert_int_equal(set.count, 500);
	for (uint64_t id = 0; id < 9000; id++) {
		bool is_in = id >= 3000 && id < 6000 && id % 6 == 0;

		assert_int_equal(idset_find(&set, id),
				 is_in ? (uint32_t)(id - 3000) / 6 : UINT32_MAX);
	}
	idset_release(&set);
	idset_release(&with);
}

static void an_empty_set_holds_nothing(void **state)
{
	struct idset set = {0};

	assert_int_equal(idset_finish(&set), 0);
	assert_int_equal(idset_find(&set, 1), UINT32_MAX);
	idset_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rank_is_the_number_of_smaller_ids),
		cmocka_unit_test(a_run_of_ids_shares_pages),
		cmocka_unit_test(merged_sets_have_the_ids_of_all),
		cmocka_unit_test(an_intersection_has_the_ids_of_both),
		cmocka_unit_test(an_empty_set_holds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
