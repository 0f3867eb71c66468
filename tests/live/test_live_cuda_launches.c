/* That what cuda_launches keeps does not grow with time, however many launches, activities and
 * executable graphs there were. */
#include <stdlib.h>

#include "played_launches.h"

enum { EXECS = 200000, LATE = 20 };

/* 200,000 executable graphs, each made, launched once and destroyed. */
static void execs_that_are_gone_leave_nothing(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	const uint32_t held = CUDA_LAUNCHES_HELD / NODES + 4;
	struct deliveries found;
	uint64_t cid = 0;

	(void)state;
	assert_non_null(launches);
	for (uint64_t exec = 1; exec <= EXECS; exec++) {
		launches_whole_launch(launches, exec, 0, ++cid);
		launches_destroy(launches, exec, ++cid);
		assert_true(launches->by_id.count <= held);
		assert_true(launches->nodes_count <= held);
	}
	assert_true(launches->rows_count <= held);
	assert_true(launches->by_id.slot_count <= 4 * held);
	found = launches_count(launches, EXECS);
	assert_int_equal(found.graph_launches, EXECS);
	assert_int_equal(found.delivered[DELIVERY_KERNELS], EXECS * KERNELS);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_launches, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* One executable graph, launched 200,000 times on a few streams. */
static void launches_of_one_exec_leave_nothing(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	for (uint64_t replay = 0; replay < EXECS; replay++)
		launches_whole_launch(launches, 7, replay, replay + 1);
	assert_int_equal(launches->rows_count, 1);
	assert_int_equal(launches->nodes_count, 1);
	found = launches_count(launches, EXECS);
	assert_int_equal(found.delivered[DELIVERY_KERNELS], EXECS * KERNELS);
	assert_int_equal(found.absent, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* More executable graphs than there are rows, none of which is destroyed. */
static void too_many_execs_are_not_compared(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	uint64_t all = CUDA_LAUNCHES_MOST + 100;
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	for (uint64_t exec = 1; exec <= all; exec++)
		launches_whole_launch(launches, exec, 0, exec);
	found = launches_count(launches, all);
	assert_int_equal(found.graph_launches, CUDA_LAUNCHES_MOST);
	assert_int_equal(found.uncompared_launches, 100);
	assert_int_equal(found.uncompared_activities, 100 * (NODES + 1));
	assert_int_equal(found.absent, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* A launch that the reader got no record of, and one that failed on an unknown graph. */
static void what_the_reader_did_not_get_is_not_missing(void **state)
{
	const struct cuda_launch_witnesses witnesses = {.graph_launches = 4, .launches_failed = 1};
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	launches_whole_launch(launches, 7, 0, 1);
	launches_launch(launches, 7, 2, 3);
	cuda_launches_count(launches, &witnesses, &found);
	assert_int_equal(found.graph_launches, 3);
	assert_int_equal(found.uncompared_launches, 1);
	assert_int_equal(found.absent, 2 * NODES);
	assert_int_equal(found.unended, 2 * NODES);
	launches_whole_launch(launches, 7, 3, 4);
	cuda_launches_count(launches, &witnesses, &found);
	assert_int_equal(found.absent, 2 * NODES);
	/* Launches before the last one have ended; one of them may be the one that failed. */
	assert_int_equal(found.unended, NODES);
	cuda_launches_release(launches);
	free(launches);
}

/* Ten launches. Those of one thread have one number, and those of the other lie between them. */
static void put_mixed_launches(struct cuda_launches *launches, uint64_t exec)
{
	for (uint64_t replay = 0; replay < 10; replay++) {
		uint64_t cid = replay % 2 ? 6 : 100 + replay;

		launches_enter(launches, exec, replay, cid);
		launches_leave(launches, exec, replay,
			       (struct returned){.cid = cid, .tid = replay % 2 ? 2 : 1});
	}
}

/* CUPTI may give all calls of a thread one number (docs/cuda.md). */
static void launches_with_one_number_are_not_compared(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	for (uint64_t replay = 0; replay < 10; replay++)
		launches_whole_launch(launches, 7, replay, 5);
	put_mixed_launches(launches, 8);
	for (uint64_t replay = 1; replay < 10; replay += 2)
		launches_activities(launches, 8, replay, 6);
	launches_whole_launch(launches, 9, 0, 200);
	found = launches_count(launches, 21);
	assert_int_equal(found.graph_launches, 1);
	assert_int_equal(found.uncompared_launches, 20);
	assert_int_equal(found.absent, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* The activities of one thread come before those of the other, as from two buffers. */
static void copies_of_launches_with_one_number_are_not_compared(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	put_mixed_launches(launches, 7);
	for (uint64_t replay = 1; replay < 10; replay += 2)
		launches_piece(launches, 7, replay, 6);
	for (uint64_t replay = 0; replay < 10; replay += 2)
		launches_piece(launches, 7, replay, 100 + replay);
	found = launches_count(launches, 10);
	assert_int_equal(found.uncompared_launches, 10);
	assert_int_equal(found.absent, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* Pieces of two launches come in turn, from the buffers of two threads. */
static void mixed_pieces_do_not_add_a_node(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	launches_launch(launches, 7, 0, 5);
	launches_launch(launches, 7, 1, 6);
	launches_piece(launches, 7, 0, 5);
	launches_piece(launches, 7, 1, 6);
	launches_piece(launches, 7, 0, 5);
	launches_piece(launches, 7, 1, 6);
	found = launches_count(launches, 2);
	assert_int_equal(found.launched[DELIVERY_COPIES], 2);
	assert_int_equal(found.delivered[DELIVERY_COPIES], 2);
	assert_int_equal(found.absent, 0);
	/* The later piece of the earlier launch. */
	assert_int_equal(found.uncompared_activities, 1);
	cuda_launches_release(launches);
	free(launches);
}

/* CUDA may run a memset between kernels as a kernel, in some launches and not in others. */
static void memsets_that_come_as_kernels_are_not_missing(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	for (uint64_t replay = 0; replay < 100; replay++) {
		launches_launch(launches, 7, replay, replay + 1);
		launches_kernel(launches, 7, replay, replay + 1, 1);
		if (replay % 2)
			launches_kernel(launches, 7, replay, replay + 1, 2);
		else
			launches_memset(launches, 7, replay, replay + 1, 2);
	}
	/* What ran may tell the type of a node. */
	launched_exec_find(launches, 7)->kernels = 2;
	found = launches_count(launches, 100);
	assert_int_equal(found.launched[DELIVERY_KERNELS], 150);
	assert_int_equal(found.delivered[DELIVERY_KERNELS], 150);
	assert_int_equal(found.launched[DELIVERY_MEMSETS], 50);
	assert_int_equal(found.delivered[DELIVERY_MEMSETS], 50);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_activities, 0);
	launches_launch(launches, 7, 100, 101);
	launches_kernel(launches, 7, 100, 101, 1);
	assert_int_equal(launches_count(launches, 101).absent, 1);
	cuda_launches_release(launches);
	free(launches);
}

/* Copies of a graph with conditional nodes are not compared. */
static void copies_beside_bodies_do_not_stand_for_kernels(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	launches_whole_launch(launches, 7, 0, 1);
	launches_launch(launches, 7, 1, 2);
	launches_kernel(launches, 7, 1, 2, 1);
	launches_piece(launches, 7, 1, 2);
	launched_exec_find(launches, 7)->kernels = KERNELS;
	launched_exec_find(launches, 7)->has_bodies = true;
	found = launches_count(launches, 2);
	assert_int_equal(found.launched[DELIVERY_KERNELS], 2 * KERNELS);
	assert_int_equal(found.absent, 1);
	assert_int_equal(found.uncompared_activities, 2);
	cuda_launches_release(launches);
	free(launches);
}

/* Execs that are gone, some of whose activities lie in the buffer of a slow thread. */
static void what_comes_late_of_execs_that_are_gone_is_not_missing(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;
	uint64_t cid = 1000;

	(void)state;
	assert_non_null(launches);
	for (uint64_t exec = 1; exec <= LATE; exec++) {
		launches_whole_launch(launches, exec, 0, 2 * exec);
		launches_launch(launches, exec, 1, 2 * exec + 1);
		launches_destroy(launches, exec, 2 * exec + 1);
	}
	/* A new launch whose activities are all there. */
	for (uint64_t replay = 0; replay < EXECS; replay++)
		launches_whole_launch(launches, LATE + 1, replay, ++cid);
	found = launches_count(launches, EXECS + 2 * LATE);
	assert_int_equal(found.absent, LATE * NODES);
	for (uint64_t exec = 1; exec <= LATE; exec++)
		launches_activities(launches, exec, 1, 2 * exec + 1);
	found = launches_count(launches, EXECS + 2 * LATE);
	assert_int_equal(found.graph_launches, EXECS + 2 * LATE);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_activities, 0);
	for (uint64_t replay = EXECS; replay < EXECS + CUDA_LAUNCHES_HELD; replay++)
		launches_whole_launch(launches, LATE + 1, replay, ++cid);
	assert_int_equal(launches->by_id.count, 1);
	cuda_launches_release(launches);
	free(launches);
}

/* Activities of execs that were added to the sums, and of those launched before the recording. */
static void activities_of_unlaunched_execs_take_no_room_for_good(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	const struct record_graph_launch late = {.exec_id = 2, .replay = 3, .cid = 9000001};
	struct deliveries found;
	uint64_t cid = 1;

	(void)state;
	assert_non_null(launches);
	launches_whole_launch(launches, 1, 0, ++cid);
	for (uint64_t exec = 2; exec <= EXECS; exec++)
		launches_activities(launches, exec, 0, ++cid);
	assert_true(launches->rows_count <= CUDA_LAUNCHES_MOST);
	for (uint64_t exec = EXECS + 1; exec <= EXECS + 100; exec++)
		launches_whole_launch(launches, exec, 0, ++cid);
	/* Its launches before this one may be in the sums. */
	assert_int_equal(cuda_launches_add_launch(launches, &late), 0);
	launches_kernel(launches, 2, 3, 9000001, 1);
	found = launches_count(launches, 105);
	assert_int_equal(found.graph_launches, 101);
	assert_int_equal(found.uncompared_launches, 4);
	assert_int_equal(found.absent, 0);
	assert_false(launches->is_crowded);
	cuda_launches_release(launches);
	free(launches);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(execs_that_are_gone_leave_nothing),
		cmocka_unit_test(launches_of_one_exec_leave_nothing),
		cmocka_unit_test(too_many_execs_are_not_compared),
		cmocka_unit_test(what_the_reader_did_not_get_is_not_missing),
		cmocka_unit_test(launches_with_one_number_are_not_compared),
		cmocka_unit_test(copies_of_launches_with_one_number_are_not_compared),
		cmocka_unit_test(mixed_pieces_do_not_add_a_node),
		cmocka_unit_test(memsets_that_come_as_kernels_are_not_missing),
		cmocka_unit_test(copies_beside_bodies_do_not_stand_for_kernels),
		cmocka_unit_test(what_comes_late_of_execs_that_are_gone_is_not_missing),
		cmocka_unit_test(activities_of_unlaunched_execs_take_no_room_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
