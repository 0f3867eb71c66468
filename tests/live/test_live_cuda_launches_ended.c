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

/* The wait is for a launch beside the one that is read late. */
static void a_wait_shows_nothing_of_a_launch_that_is_read_late(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));

	(void)state;
	assert_non_null(launches);
	launches_enter(launches, 7, 0, 10);
	launches_enter(launches, 7, 1, 11);
	launches_leave(launches, 7, 1, (struct returned){.cid = 11, .tid = 2});
	launches_activities(launches, 7, 1, 11);
	launches_stream_wait(launches, 1 + 11 % STREAMS, 20);
	launches_enter(launches, 7, 2, 30);
	launches_leave(launches, 7, 2, (struct returned){.cid = 30, .tid = 2});
	launches_leave(launches, 7, 0, (struct returned){.cid = 10, .end_ns = 115, .tid = 1});
	assert_int_equal(launches_count(launches, 3).absent, 2 * NODES);
	assert_int_equal(launches_count(launches, 3).unended, 2 * NODES);
	launches_stream_wait(launches, 1 + 30 % STREAMS, 40);
	assert_int_equal(launches_count(launches, 3).unended, 0);
	cuda_launches_release(launches);
	free(launches);
}

static void put_alone(struct cuda_launches *launches, uint64_t context, uint64_t cid)
{
	const struct record_cuda_kernel kernel = {
		.header = {RECORD_CUDA_KERNEL, sizeof(kernel) / 8, 0},
		.cid = cid,
		.context = (uint32_t)context,
	};

	assert_int_equal(cuda_launches_add_activity(launches, &kernel.header, NULL), 0);
}

/* What is absent of COUNT kernels without a graph, and need not have ended. */
static uint64_t count_alone(const struct cuda_launches *launches, uint64_t count)
{
	const struct cuda_launch_witnesses witnesses = {.kernel_launches = count};
	struct deliveries found;

	cuda_launches_count(launches, &witnesses, &found);
	assert_int_equal(found.absent, 1);
	return found.unended;
}

/* The name of the function that launched it comes later than the call. */
static void a_launch_without_a_name_may_be_the_newest(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));

	(void)state;
	assert_non_null(launches);
	put_alone(launches, CONTEXT, 1);
	launches_context_wait(launches, CONTEXT, 2);
	launches_call(launches, NULL, (struct returned){.function = KERNEL_LAUNCH, .cid = 3});
	assert_int_equal(count_alone(launches, 2), 1);
	launches_name(launches, KERNEL_LAUNCH, "cuLaunchKernel");
	assert_int_equal(count_alone(launches, 2), 1);
	launches_context_wait(launches, CONTEXT, 4);
	assert_int_equal(count_alone(launches, 2), 0);
	cuda_launches_release(launches);
	free(launches);
}

/* No kernel of the second context has come. */
static void a_kernel_may_run_in_a_context_that_only_copies_name(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	const struct record_cuda_copy copy = {
		.header = {RECORD_CUDA_COPY, sizeof(copy) / 8, RECORD_CUDA_COPY_MEMCPY},
		.cid = 2,
		.context = CONTEXT + 1,
	};

	(void)state;
	assert_non_null(launches);
	put_alone(launches, CONTEXT, 1);
	launches_context_wait(launches, CONTEXT, 3);
	assert_int_equal(count_alone(launches, 2), 0);
	assert_int_equal(cuda_launches_add_activity(launches, &copy.header, NULL), 0);
	assert_int_equal(count_alone(launches, 2), 1);
	cuda_launches_release(launches);
	free(launches);
}

static void a_kernel_may_run_in_a_context_that_only_waits_name(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));

	(void)state;
	assert_non_null(launches);
	put_alone(launches, CONTEXT, 1);
	launches_context_wait(launches, CONTEXT, 3);
	assert_int_equal(count_alone(launches, 2), 0);
	launches_context_wait(launches, CONTEXT + 1, 4);
	assert_int_equal(count_alone(launches, 2), 1);
	cuda_launches_release(launches);
	free(launches);
}

/* CUPTI did not tell the contexts of a launch and of a wait. */
static void a_wait_in_an_unknown_context_shows_nothing(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	const struct record_graph_launch launch = {.exec_id = 7, .replay = 1, .cid = 10};

	(void)state;
	assert_non_null(launches);
	launches_whole_launch(launches, 7, 0, 1);
	launches_enter(launches, 7, 1, 10);
	launches_call(launches, &launch, (struct returned){.cid = 10, .args = {3, 0}});
	launches_call(launches, NULL,
		      (struct returned){.function = STREAM_WAIT, .cid = 20, .args = {3, 0}});
	launches_context_wait(launches, 0, 30);
	assert_int_equal(launches_count(launches, 2).absent, NODES);
	assert_int_equal(launches_count(launches, 2).unended, NODES);
	cuda_launches_release(launches);
	free(launches);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_that_have_not_returned_need_not_have_ended),
		cmocka_unit_test(overlapping_launches_may_run_in_any_order),
		cmocka_unit_test(launches_that_are_read_late_have_ended_with_the_newest),
		cmocka_unit_test(a_wait_shows_nothing_of_a_launch_that_is_read_late),
		cmocka_unit_test(a_launch_without_a_name_may_be_the_newest),
		cmocka_unit_test(a_kernel_may_run_in_a_context_that_only_copies_name),
		cmocka_unit_test(a_kernel_may_run_in_a_context_that_only_waits_name),
		cmocka_unit_test(a_wait_in_an_unknown_context_shows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
