/* Wraps dispatch tables of every shape and checks which slots are wrapped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/dispatch_table.h"

enum { FUNCTIONS = 3, SLOTS = 5 };

static void first(void)
{
}
static void second(void)
{
}
static void third(void)
{
}
static void wrap_first(void)
{
}
static void wrap_second(void)
{
}
static void wrap_third(void)
{
}
static void other_first(void)
{
}

/* Slots 1 and 3 are not wrapped. */
static const struct table_slot slots[SLOTS] = {
	[0] = {0, {wrap_first, other_first}},
	[2] = {1, {wrap_second, wrap_second}},
	[4] = {2, {wrap_third, wrap_third}},
};
static const struct table_layout layout = {slots, SLOTS};

struct made_up {
	size_t size_bytes;
	void (*functions[SLOTS + 2])(void);
};

struct fixture {
	void *_Atomic nexts[DOOR_TABLES][FUNCTIONS];
	struct table_door door;
	struct made_up table;
};

static void reset(struct fixture *f, size_t function_count)
{
	*f = (struct fixture){
		.door = {.name = "test",
			 .major_first = 6,
			 .major_last = 7,
			 .nexts = {f->nexts[0], f->nexts[1]},
			 .state = {.lock = PTHREAD_MUTEX_INITIALIZER}},
		.table = {sizeof(size_t) + function_count * sizeof(void *),
			  {first, first, second, first, third, first, first}},
	};
}

static void a_table_of_the_expected_size(void **state)
{
	struct fixture f;

	reset(&f, SLOTS);
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70200), 0);
	assert_ptr_equal(f.table.functions[0], wrap_first);
	assert_ptr_equal(f.table.functions[1], first);
	assert_ptr_equal(f.table.functions[2], wrap_second);
	assert_ptr_equal(f.table.functions[3], first);
	assert_ptr_equal(f.table.functions[4], wrap_third);
	assert_ptr_equal(f.nexts[0][0], first);
	assert_ptr_equal(f.nexts[0][1], second);
	assert_ptr_equal(f.nexts[0][2], third);
	assert_int_equal(f.door.state.taken[0].wrapped_count, 3);
}

static void a_shorter_table_is_used_as_far_as_it_reaches(void **state)
{
	struct fixture f;

	reset(&f, 3);
	assert_int_equal(table_take(&f.door, &layout, &f.table, 60100), 0);
	assert_ptr_equal(f.table.functions[2], wrap_second);
	assert_ptr_equal(f.table.functions[4], third);
	assert_null(f.nexts[0][2]);
	assert_int_equal(f.door.state.taken[0].wrapped_count, 2);
}

static void a_longer_table_keeps_what_is_not_known(void **state)
{
	struct fixture f;

	reset(&f, SLOTS + 2);
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70900), 0);
	assert_ptr_equal(f.table.functions[SLOTS], first);
	assert_ptr_equal(f.table.functions[SLOTS + 1], first);
	assert_int_equal(f.door.state.taken[0].wrapped_count, 3);
}

static void a_slot_without_function_stays_so(void **state)
{
	struct fixture f;

	reset(&f, SLOTS);
	f.table.functions[2] = NULL;
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70200), 0);
	assert_null(f.table.functions[2]);
	assert_null(f.nexts[0][1]);
	assert_int_equal(f.door.state.taken[0].wrapped_count, 2);
}

static void other_majors_and_no_tables_are_left_alone(void **state)
{
	static const struct {
		uint64_t version;
		size_t size_bytes;
	} refused[] = {
		{80000, 48},
		{50200, 48},
		{0, 48},
		{70200, 0},
		{70200, 8},
		{70200, 47},
		{70200, 65544},
		{70200, SIZE_MAX},
		{0xffffffffffffffff, 48},
		{0x100000000 + 70200, 48},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct fixture f;
		struct made_up before;

		reset(&f, SLOTS);
		f.table.size_bytes = refused[i].size_bytes;
		before = f.table;
		assert_int_equal(table_take(&f.door, &layout, &f.table, refused[i].version),
				 -ENOTSUP);
		assert_memory_equal(&f.table, &before, sizeof(before));
		assert_null(f.nexts[0][0]);
	}
}

static void no_table_at_all(void **state)
{
	struct fixture f;

	reset(&f, SLOTS);
	assert_int_equal(table_take(&f.door, &layout, NULL, 70200), -ENOTSUP);
	assert_int_equal(f.door.state.count, 0);
}

static void a_table_that_comes_again_is_left_as_it_is(void **state)
{
	struct fixture f;

	reset(&f, SLOTS);
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70200), 0);
	f.table.functions[0] = other_first; /* another tool has put its wrapper around ours */
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70200), 0);
	assert_ptr_equal(f.table.functions[0], other_first);
	assert_ptr_equal(f.nexts[0][0], first);
	assert_int_equal(f.door.state.count, 1);
}

static void a_second_instance_has_wrappers_of_its_own(void **state)
{
	struct fixture f;
	struct made_up other;

	reset(&f, SLOTS);
	other = f.table;
	other.functions[0] = second;
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70200), 0);
	assert_int_equal(table_take(&f.door, &layout, &other, 60200), 0);
	assert_ptr_equal(other.functions[0], other_first);
	assert_ptr_equal(f.nexts[0][0], first);
	assert_ptr_equal(f.nexts[1][0], second);
}

static void one_instance_too_many_is_left_alone(void **state)
{
	struct fixture f;
	struct made_up other, third_one;

	reset(&f, SLOTS);
	other = third_one = f.table;
	assert_int_equal(table_take(&f.door, &layout, &f.table, 70200), 0);
	assert_int_equal(table_take(&f.door, &layout, &other, 70200), 0);
	assert_int_equal(table_take(&f.door, &layout, &third_one, 70200), 0);
	assert_ptr_equal(third_one.functions[0], first);
	assert_int_equal(f.door.state.count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_of_the_expected_size),
		cmocka_unit_test(a_shorter_table_is_used_as_far_as_it_reaches),
		cmocka_unit_test(a_longer_table_keeps_what_is_not_known),
		cmocka_unit_test(a_slot_without_function_stays_so),
		cmocka_unit_test(other_majors_and_no_tables_are_left_alone),
		cmocka_unit_test(no_table_at_all),
		cmocka_unit_test(a_table_that_comes_again_is_left_as_it_is),
		cmocka_unit_test(a_second_instance_has_wrappers_of_its_own),
		cmocka_unit_test(one_instance_too_many_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
