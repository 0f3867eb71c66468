/* The table of reservations: which call reserved a packet slot, although another thread may ring
 * the doorbell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/hsa/reservations.h"

#define CELLS 16

static int setup(void **state)
{
	static struct reservations r;

	*state = &r;
	return reservations_init(&r, CELLS);
}

static int teardown(void **state)
{
	reservations_reset(*state);
	reservations_release(*state);
	return 0;
}

/* Reserves COUNT slots from FIRST as the thread's innermost call CID. */
static void put_as(struct reservations *r, uint64_t cid, uint64_t first, uint64_t count)
{
	struct frame frame = {.cid = cid};

	frame_push(&frame);
	reservations_put(r, first, count);
	frame_pop(&frame);
	assert_int_equal(frame.activities, count);
}

static void slots_of_different_calls(void **state)
{
	put_as(*state, 11, 0, 1);
	put_as(*state, 12, 1, 1);
	assert_int_equal(reservations_take(*state, 0).cid, 11);
	assert_int_equal(reservations_take(*state, 1).cid, 12);
}

/* The ordinals of one call's packets continue over its reservations (H23). */
static void h23_ordinals_follow_one_another(void **state)
{
	struct frame frame = {.cid = 5};

	frame_push(&frame);
	reservations_put(*state, 0, 3);
	reservations_put(*state, 3, 1);
	frame_pop(&frame);
	for (uint32_t i = 0; i < 4; i++) {
		struct frame_context context = reservations_take(*state, i);

		assert_int_equal(context.cid, 5);
		assert_int_equal(context.ordinal, i);
	}
	assert_int_equal(frame.activities, 4);
}

/* A reservation with many more packets than the table has cells, followed by reservations of
 * other calls. */
static void h21_batch_larger_than_the_table(void **state)
{
	put_as(*state, 1, 0, 1000);
	put_as(*state, 2, 1000, 1);
	put_as(*state, 3, 1001, 1000);
	for (uint64_t i = 0; i < 2001; i++)
		assert_int_equal(reservations_take(*state, i).cid, i < 1000 ? 1 : i > 1000 ? 3 : 2);
}

/* Two reservations that use the same cell, one table size apart. */
static void one_table_apart(void **state)
{
	put_as(*state, 1, 0, CELLS);
	put_as(*state, 2, CELLS, CELLS);
	assert_int_equal(reservations_take(*state, 0).cid, 1);
	assert_int_equal(reservations_take(*state, CELLS).cid, 2);
}

/* A slot that was not reserved, or was taken already, has no call. */
static void unknown_is_not_guessed(void **state)
{
	put_as(*state, 1, 0, 2);
	assert_int_equal(reservations_take(*state, 1).cid, 0);
	assert_int_equal(reservations_take(*state, 0).cid, 1);
	assert_int_equal(reservations_take(*state, 2).cid, 0);
}

/* A reservation for which there is no room is counted and has no call (H5). */
static void h05_no_room_is_counted(void **state)
{
	struct reservations *r = *state;

	for (uint64_t i = 0; i < RESERVATION_SPARE + 3; i++)
		put_as(r, i + 1, i * CELLS, CELLS);
	assert_int_equal(atomic_load(&r->lost), 2);
	assert_int_equal(reservations_take(r, RESERVATION_SPARE * CELLS).cid,
			 RESERVATION_SPARE + 1);
	assert_int_equal(reservations_take(r, (RESERVATION_SPARE + 2) * CELLS).cid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(slots_of_different_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(h23_ordinals_follow_one_another, setup, teardown),
		cmocka_unit_test_setup_teardown(h21_batch_larger_than_the_table, setup, teardown),
		cmocka_unit_test_setup_teardown(one_table_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_is_not_guessed, setup, teardown),
		cmocka_unit_test_setup_teardown(h05_no_room_is_counted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
