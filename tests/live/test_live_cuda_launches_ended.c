/* Which launches cuda_launches takes for ended: what is absent of others need not be missing. */
#include <stdlib.h>

#include "played_launches.h"

/* A thread is inside a launch while another one launches the same graph. */
static void launches_that_have_not_returned_need_not_have_ended(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	launches_whole_launch(launches, 7, 0, 1);
	launches_enter(launches, 7, 1, 2);
	launches_whole_launch(launches, 7, 2, 3);
	found = launches_count(launches, 3);
	assert_int_equal(found.absent, NODES);
	assert_int_equal(found.unended, NODES);
	launches_leave(launches, 7, 1, (struct returned){.cid = 2, .tid = 2});
	launches_whole_launch(launches, 7, 3, 4);
	found = launches_count(launches, 4);
	assert_int_equal(found.absent, NODES);
	assert_int_equal(found.unended, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* Two threads launch a graph at the same time. The activities of one launch come. */
static void put_overlapping_launches(struct cuda_launches *launches, uint64_t exec, uint64_t cid)
{
	launches_enter(launches, exec, 0, cid);
	launches_enter(launches, exec, 1, cid + 1);
	launches_leave(launches, exec, 1, (struct returned){.cid = cid + 1, .tid = 2});
	launches_activities(launches, exec, 1, cid + 1);
	launches_leave(launches, exec, 0,
		       (struct returned){.cid = cid, .end_ns = cid * 10 + 15, .tid = 1});
}

/* A thread stops between the number of its launch and its call. */
static void put_swapped_launches(struct cuda_launches *launches, uint64_t exec, uint64_t cid)
{
	launches_enter(launches, exec, 0, cid + 1);
	launches_enter(launches, exec, 1, cid);
	launches_leave(launches, exec, 1, (struct returned){.cid = cid, .tid = 2});
	launches_activities(launches, exec, 1, cid);
	launches_leave(launches, exec, 0, (struct returned){.cid = cid + 1, .tid = 1});
}

static void overlapping_launches_may_run_in_any_order(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));

	(void)state;
	assert_non_null(launches);
	put_overlapping_launches(launches, 7, 10);
	put_overlapping_launches(launches, 8, 20);
	put_swapped_launches(launches, 9, 30);
	assert_int_equal(launches_count(launches, 6).absent, 3 * NODES);
	assert_int_equal(launches_count(launches, 6).unended, 3 * NODES);
	/* It does not wait for the other thread's stream. */
	launches_stream_wait(launches, 1 + 21 % STREAMS, 40);
	assert_int_equal(launches_count(launches, 6).unended, 3 * NODES);
	launches_whole_launch(launches, 7, 2, 50);
	assert_int_equal(launches_count(launches, 7).unended, 2 * NODES);
	launches_context_wait(launches, CONTEXT, 60);
	assert_int_equal(launches_count(launches, 7).unended, 0);
	assert_int_equal(launches_count(launches, 7).absent, 3 * NODES);
	cuda_launches_release(launches);
	free(launches);
}

/* The calls of one thread are read after those of the other. */
static void launches_that_are_read_late_have_ended_with_the_newest(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));

	(void)state;
	assert_non_null(launches);
	for (uint64_t replay = 0; replay < 3; replay++)
		launches_enter(launches, 7, replay, 10 + replay);
	launches_leave(launches, 7, 2, (struct returned){.cid = 12, .tid = 2});
	launches_leave(launches, 7, 0, (struct returned){.cid = 10, .tid = 1});
	launches_leave(launches, 7, 1, (struct returned){.cid = 11, .tid = 1});
	launches_activities(launches, 7, 1, 11);
	assert_int_equal(launches_count(launches, 3).absent, 2 * NODES);
	assert_int_equal(launches_count(launches, 3).unended, 2 * NODES);
	launches_kernel(launches, 7, 2, 12, 1);
	assert_int_equal(launches_count(launches, 3).absent, 2 * NODES - 1);
	assert_int_equal(launches_count(launches, 3).unended, NODES - 1);
	cuda_launches_release(launches);
	free(launches);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_that_have_not_returned_need_not_have_ended),
		cmocka_unit_test(overlapping_launches_may_run_in_any_order),
		cmocka_unit_test(launches_that_are_read_late_have_ended_with_the_newest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
