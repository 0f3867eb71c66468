/* That what cuda_launches keeps does not grow with time, however many launches, activities and
 * executable graphs there were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/cuda_launch_rows.h"

enum { CONTEXT = 1, EXECS = 200000, KERNELS = 2, NODES = KERNELS + 1, STREAMS = 4, LATE = 20 };

static void enter_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			 uint64_t cid)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};

	assert_int_equal(cuda_launches_add_launch(launches, &launch), 0);
}

/* A call that has returned. It began at ten times its CID. */
struct returned {
	uint32_t tid, function; /* from RECORD_CUDA_FUNCTION_FIRST on */
	uint64_t cid, end_ns;	/* 0: right after its begin */
	uint64_t args[2];
};

static void add_call(struct cuda_launches *launches, const struct record_graph_launch *launch,
		     struct returned call)
{
	const struct {
		struct record_api api;
		uint64_t args[2];
	} record = {{.header = {RECORD_API, sizeof(record) / 8,
				RECORD_CUDA_FUNCTION_FIRST + call.function},
		     .cid = call.cid,
		     .begin_ns = call.cid * 10,
		     .end_ns = call.end_ns ? call.end_ns : call.cid * 10 + 1},
		    {call.args[0], call.args[1]}};

	assert_int_equal(cuda_launches_add_call(launches, &record.api, launch, call.tid), 0);
}

static void leave_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			 struct returned call)
{
	const struct record_graph_launch launch = {
		.exec_id = exec, .replay = replay, .cid = call.cid};

	call.args[0] = 1 + call.cid % STREAMS;
	call.args[1] = CONTEXT;
	add_call(launches, &launch, call);
}

enum { STREAM_WAIT = 1, CONTEXT_WAIT };

static void name_function(struct cuda_launches *launches, uint32_t function, const char *name)
{
	struct {
		struct record_api_name name;
		char text[24];
	} record = {{.header = {RECORD_API_NAME, sizeof(record) / 8,
				RECORD_CUDA_FUNCTION_FIRST + function},
		     .text_bytes = sizeof(record.text)},
		    ""};

	strncpy(record.text, name, sizeof(record.text) - 1);
	cuda_launches_add_name(launches, &record.name);
}

static void wait_for_stream(struct cuda_launches *launches, uint64_t stream, uint64_t cid)
{
	name_function(launches, STREAM_WAIT, "cuStreamSynchronize");
	add_call(launches, NULL,
		 (struct returned){.function = STREAM_WAIT, .cid = cid, .args = {stream, CONTEXT}});
}

static void wait_for_context(struct cuda_launches *launches, uint64_t context, uint64_t cid)
{
	name_function(launches, CONTEXT_WAIT, "cuCtxSynchronize");
	add_call(launches, NULL,
		 (struct returned){.function = CONTEXT_WAIT, .cid = cid, .args = {context}});
}

static void add_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid)
{
	enter_launch(launches, exec, replay, cid);
	leave_launch(launches, exec, replay, (struct returned){.cid = cid, .tid = 1});
}

static void put_kernel(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid,
		       uint64_t node)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};
	const struct record_cuda_kernel kernel = {
		.header = {RECORD_CUDA_KERNEL, sizeof(kernel) / 8, 0},
		.cid = cid,
		.graph = (uint32_t)exec,
		.node = exec << 32 | node,
	};

	assert_int_equal(cuda_launches_add_activity(launches, &kernel.header, &launch), 0);
}

static void put_piece(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid)
{
	const struct record_graph_launch launch = {.exec_id = exec, .replay = replay, .cid = cid};
	const struct record_cuda_copy copy = {
		.header = {RECORD_CUDA_COPY, sizeof(copy) / 8, RECORD_CUDA_COPY_MEMCPY},
		.cid = cid,
		.graph = (uint32_t)exec,
		.node = exec << 32 | (KERNELS + 1),
	};

	assert_int_equal(cuda_launches_add_activity(launches, &copy.header, &launch), 0);
}

/* What comes of a launch: kernels, and a copy in two pieces. */
static void put_activities(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			   uint64_t cid)
{
	for (uint64_t node = 1; node <= KERNELS; node++)
		put_kernel(launches, exec, replay, cid, node);
	put_piece(launches, exec, replay, cid);
	put_piece(launches, exec, replay, cid);
}

static void put_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid)
{
	add_launch(launches, exec, replay, cid);
	put_activities(launches, exec, replay, cid);
}

static void destroy(struct cuda_launches *launches, uint64_t exec, uint64_t cid)
{
	const struct record_cuda_graph step = {
		.header = {RECORD_CUDA_GRAPH, sizeof(step) / 8, RECORD_CUDA_EXEC_GONE},
		.cid = cid,
		.exec = (uint32_t)exec,
	};

	assert_int_equal(cuda_launches_add_step(launches, &step), 0);
}

static struct deliveries count(const struct cuda_launches *launches, uint64_t graph_launches)
{
	const struct cuda_launch_witnesses witnesses = {.graph_launches = graph_launches};
	struct deliveries found;

	cuda_launches_count(launches, &witnesses, &found);
	return found;
}

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
		put_launch(launches, exec, 0, ++cid);
		destroy(launches, exec, ++cid);
		assert_true(launches->by_id.count <= held);
		assert_true(launches->nodes_count <= held);
	}
	assert_true(launches->rows_count <= held);
	assert_true(launches->by_id.slot_count <= 4 * held);
	found = count(launches, EXECS);
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
		put_launch(launches, 7, replay, replay + 1);
	assert_int_equal(launches->rows_count, 1);
	assert_int_equal(launches->nodes_count, 1);
	found = count(launches, EXECS);
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
		put_launch(launches, exec, 0, exec);
	found = count(launches, all);
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
	put_launch(launches, 7, 0, 1);
	add_launch(launches, 7, 2, 3);
	cuda_launches_count(launches, &witnesses, &found);
	assert_int_equal(found.graph_launches, 3);
	assert_int_equal(found.uncompared_launches, 1);
	assert_int_equal(found.absent, 2 * NODES);
	assert_int_equal(found.unended, 2 * NODES);
	put_launch(launches, 7, 3, 4);
	cuda_launches_count(launches, &witnesses, &found);
	assert_int_equal(found.absent, 2 * NODES);
	/* Launches before the last one have ended; one of them may be the one that failed. */
	assert_int_equal(found.unended, NODES);
	cuda_launches_release(launches);
	free(launches);
}

/* A thread is inside a launch while another one launches the same graph. */
static void launches_that_have_not_returned_need_not_have_ended(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));
	struct deliveries found;

	(void)state;
	assert_non_null(launches);
	put_launch(launches, 7, 0, 1);
	enter_launch(launches, 7, 1, 2);
	put_launch(launches, 7, 2, 3);
	found = count(launches, 3);
	assert_int_equal(found.absent, NODES);
	assert_int_equal(found.unended, NODES);
	leave_launch(launches, 7, 1, (struct returned){.cid = 2, .tid = 2});
	put_launch(launches, 7, 3, 4);
	found = count(launches, 4);
	assert_int_equal(found.absent, NODES);
	assert_int_equal(found.unended, 0);
	cuda_launches_release(launches);
	free(launches);
}

/* Two threads launch a graph at the same time. The activities of one launch come. */
static void put_overlapping_launches(struct cuda_launches *launches, uint64_t exec, uint64_t cid)
{
	enter_launch(launches, exec, 0, cid);
	enter_launch(launches, exec, 1, cid + 1);
	leave_launch(launches, exec, 1, (struct returned){.cid = cid + 1, .tid = 2});
	put_activities(launches, exec, 1, cid + 1);
	leave_launch(launches, exec, 0,
		     (struct returned){.cid = cid, .end_ns = cid * 10 + 15, .tid = 1});
}

/* A thread stops between the number of its launch and its call. */
static void put_swapped_launches(struct cuda_launches *launches, uint64_t exec, uint64_t cid)
{
	enter_launch(launches, exec, 0, cid + 1);
	enter_launch(launches, exec, 1, cid);
	leave_launch(launches, exec, 1, (struct returned){.cid = cid, .tid = 2});
	put_activities(launches, exec, 1, cid);
	leave_launch(launches, exec, 0, (struct returned){.cid = cid + 1, .tid = 1});
}

static void overlapping_launches_may_run_in_any_order(void **state)
{
	struct cuda_launches *launches = calloc(1, sizeof(*launches));

	(void)state;
	assert_non_null(launches);
	put_overlapping_launches(launches, 7, 10);
	put_overlapping_launches(launches, 8, 20);
	put_swapped_launches(launches, 9, 30);
	assert_int_equal(count(launches, 6).absent, 3 * NODES);
	assert_int_equal(count(launches, 6).unended, 3 * NODES);
	/* It does not wait for the other thread's stream. */
	wait_for_stream(launches, 1 + 21 % STREAMS, 40);
	assert_int_equal(count(launches, 6).unended, 3 * NODES);
	put_launch(launches, 7, 2, 50);
	assert_int_equal(count(launches, 7).unended, 2 * NODES);
	wait_for_context(launches, CONTEXT, 60);
	assert_int_equal(count(launches, 7).unended, 0);
	assert_int_equal(count(launches, 7).absent, 3 * NODES);
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
		enter_launch(launches, 7, replay, 10 + replay);
	leave_launch(launches, 7, 2, (struct returned){.cid = 12, .tid = 2});
	leave_launch(launches, 7, 0, (struct returned){.cid = 10, .tid = 1});
	leave_launch(launches, 7, 1, (struct returned){.cid = 11, .tid = 1});
	put_activities(launches, 7, 1, 11);
	assert_int_equal(count(launches, 3).absent, 2 * NODES);
	assert_int_equal(count(launches, 3).unended, 2 * NODES);
	put_kernel(launches, 7, 2, 12, 1);
	assert_int_equal(count(launches, 3).absent, 2 * NODES - 1);
	assert_int_equal(count(launches, 3).unended, NODES - 1);
	cuda_launches_release(launches);
	free(launches);
}

/* Ten launches. Those of one thread have one number, and those of the other lie between them. */
static void put_mixed_launches(struct cuda_launches *launches, uint64_t exec)
{
	for (uint64_t replay = 0; replay < 10; replay++) {
		uint64_t cid = replay % 2 ? 6 : 100 + replay;

		enter_launch(launches, exec, replay, cid);
		leave_launch(launches, exec, replay,
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
		put_launch(launches, 7, replay, 5);
	put_mixed_launches(launches, 8);
	for (uint64_t replay = 1; replay < 10; replay += 2)
		put_activities(launches, 8, replay, 6);
	put_launch(launches, 9, 0, 200);
	found = count(launches, 21);
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
		put_piece(launches, 7, replay, 6);
	for (uint64_t replay = 0; replay < 10; replay += 2)
		put_piece(launches, 7, replay, 100 + replay);
	found = count(launches, 10);
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
	add_launch(launches, 7, 0, 5);
	add_launch(launches, 7, 1, 6);
	put_piece(launches, 7, 0, 5);
	put_piece(launches, 7, 1, 6);
	put_piece(launches, 7, 0, 5);
	put_piece(launches, 7, 1, 6);
	found = count(launches, 2);
	assert_int_equal(found.launched[DELIVERY_COPIES], 2);
	assert_int_equal(found.delivered[DELIVERY_COPIES], 2);
	assert_int_equal(found.absent, 0);
	/* The later piece of the earlier launch. */
	assert_int_equal(found.uncompared_activities, 1);
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
		put_launch(launches, exec, 0, 2 * exec);
		add_launch(launches, exec, 1, 2 * exec + 1);
		destroy(launches, exec, 2 * exec + 1);
	}
	/* A new launch whose activities are all there. */
	for (uint64_t replay = 0; replay < EXECS; replay++)
		put_launch(launches, LATE + 1, replay, ++cid);
	found = count(launches, EXECS + 2 * LATE);
	assert_int_equal(found.absent, LATE * NODES);
	for (uint64_t exec = 1; exec <= LATE; exec++)
		put_activities(launches, exec, 1, 2 * exec + 1);
	found = count(launches, EXECS + 2 * LATE);
	assert_int_equal(found.graph_launches, EXECS + 2 * LATE);
	assert_int_equal(found.absent, 0);
	assert_int_equal(found.uncompared_activities, 0);
	for (uint64_t replay = EXECS; replay < EXECS + CUDA_LAUNCHES_HELD; replay++)
		put_launch(launches, LATE + 1, replay, ++cid);
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
	put_launch(launches, 1, 0, ++cid);
	for (uint64_t exec = 2; exec <= EXECS; exec++)
		put_activities(launches, exec, 0, ++cid);
	assert_true(launches->rows_count <= CUDA_LAUNCHES_MOST);
	for (uint64_t exec = EXECS + 1; exec <= EXECS + 100; exec++)
		put_launch(launches, exec, 0, ++cid);
	/* Its launches before this one may be in the sums. */
	assert_int_equal(cuda_launches_add_launch(launches, &late), 0);
	put_kernel(launches, 2, 3, 9000001, 1);
	found = count(launches, 105);
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
		cmocka_unit_test(launches_that_have_not_returned_need_not_have_ended),
		cmocka_unit_test(overlapping_launches_may_run_in_any_order),
		cmocka_unit_test(launches_that_are_read_late_have_ended_with_the_newest),
		cmocka_unit_test(launches_with_one_number_are_not_compared),
		cmocka_unit_test(copies_of_launches_with_one_number_are_not_compared),
		cmocka_unit_test(mixed_pieces_do_not_add_a_node),
		cmocka_unit_test(what_comes_late_of_execs_that_are_gone_is_not_missing),
		cmocka_unit_test(activities_of_unlaunched_execs_take_no_room_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
