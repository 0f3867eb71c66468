/* What of a rank's recording is loaded to merge it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "merge/rank_collectives.h"
#include "merge/rank_recording.h"
#include "merge_job.h"
#include "rank_scene.h"

static struct rank_scene scene;
static struct rank_recording recording;

static int setup(void **state)
{
	rank_scene_init(&scene, 1, 3, "host", 1000);
	return 0;
}

/* Asserts that both recordings have the same collectives and members. If some were left out, TRACE
 * may also have the first of each member. */
static void assert_same_collectives(const struct trace *trace, const struct trace *whole)
{
	struct rank_collectives found, all;
	uint32_t more = 0;

	assert_int_equal(rank_collectives_find(trace, &found), 0);
	assert_int_equal(rank_collectives_find(whole, &all), 0);
	for (uint32_t i = 0; i < all.count; i++) {
		while (all.found > all.count && more < all.member_count &&
		       found.rows[i + more].number != all.rows[i].number)
			more++;
		assert_memory_equal(&found.rows[i + more], &all.rows[i], sizeof(*all.rows));
	}
	assert_int_equal(found.count, all.count + more);
	assert_int_equal(found.member_count, all.member_count);
	for (uint32_t i = 0; i < all.member_count; i++) {
		assert_int_equal(found.members[i].communicator, all.members[i].communicator);
		assert_int_equal(found.members[i].ranks, all.members[i].ranks);
		assert_int_equal(found.members[i].rank, all.members[i].rank);
		assert_int_equal(found.members[i].process, all.members[i].process);
	}
	rank_collectives_release(&found);
	rank_collectives_release(&all);
}

/* Writes the scene's file into PATH and opens it. */
static void open_file(char path[TEST_PATH_BYTES])
{
	struct bundle bundle;

	close(mkstemp(test_path(path, "merge")));
	rank_scene_write(&scene, path);
	scene_release(&scene.scene);
	assert_int_equal(bundle_open(path, &bundle, NULL), 0);
	assert_int_equal(rank_recording_open(path, &bundle, &recording, NULL), 0);
	bundle_close(&bundle);
	assert_int_equal(recording.count, 1);
}

static const struct trace *open_scene(void)
{
	char path[TEST_PATH_BYTES];

	open_file(path);
	unlink(path);
	return recording.traces[0];
}

/* Opens the scene's file, and compares its process and its collectives with those of the whole
 * recording. */
static const struct trace *open_rank(void)
{
	char path[TEST_PATH_BYTES];
	const struct trace_process *process;
	struct trace *whole;

	open_file(path);
	assert_int_equal(trace_open(path, NULL, &whole, NULL), 0);
	unlink(path);
	assert_int_equal(recording.traces[0]->processes_count, 1);
	process = &recording.traces[0]->processes[0];
	assert_int_equal(process->pid, 101);
	assert_int_equal(process->start_ns, whole->processes[0].start_ns);
	assert_int_equal(process->end_ns, whole->processes[0].end_ns);
	assert_int_equal(process->start_realtime_ns, whole->processes[0].start_realtime_ns);
	assert_int_equal(process->session, whole->processes[0].session);
	assert_int_equal(process->state, whole->processes[0].state);
	assert_string_equal(trace_text(recording.traces[0], process->host), "host");
	assert_same_collectives(recording.traces[0], whole);
	trace_close(whole);
	return recording.traces[0];
}

static int leave(void **state)
{
	rank_recording_close(&recording);
	return 0;
}

/* The names of the functions are in the recording, whether they were called or not. */
static void without_collectives_nothing_is_loaded(void **state)
{
	const struct trace *trace;

	rank_scene_kernel(&scene, rank_scene_call(&scene, RANK_BROADCAST, 1), 20000, 30000);
	rank_scene_kernel(&scene, 0, 40000, 50000);
	rank_scene_close(&scene, 10000000);
	trace = open_rank();
	assert_int_equal(trace->calls_count, 0);
	assert_int_equal(trace->activities_count, 0);
}

static void of_others_only_collectives_are_loaded(void **state)
{
	const struct trace *trace;

	rank_scene_kernel(&scene, 0, 20000, 30000);
	rank_scene_reduce(&scene, 1, 40000, 50000);
	rank_scene_close(&scene, 10000000);
	trace = open_rank();
	assert_int_equal(trace->calls_count, 2);
	assert_int_equal(trace->activities_count, 1);
}

/* When it ended, only its last record tells. */
static void a_process_that_was_cut_off_has_its_last_time(void **state)
{
	const struct trace *trace;

	rank_scene_reduce(&scene, 1, 40000, 50000);
	scene.scene.ns = 2000000000;
	rank_scene_kernel(&scene, 0, 20000, 30000);
	trace = open_rank();
	assert_int_equal(trace->processes[0].state, TRACE_TRUNCATED);
	assert_int_equal(trace->processes[0].end_ns, 2000000001);
	assert_int_equal(trace->activities_count, 1);
}

/* Puts something into the scene: an operation, a group of up to four, or kernels of others. */
static void put_something(uint64_t *seed, uint64_t *number, int64_t ns)
{
	uint32_t count = (uint32_t)(job_random(seed) * 4);
	double kind = job_random(seed);
	uint64_t end;

	scene.communicator = job_random(seed) < 0.7 ? 0xc0ffee : 0xbee;
	if (kind < 0.4) {
		rank_scene_reduce(&scene, ++*number, ns, ns + 20000);
		return;
	}
	if (kind < 0.6) {
		end = rank_scene_call(&scene, RANK_BROADCAST, ++*number);
	} else if (kind < 0.8) {
		rank_scene_call(&scene, RANK_GROUP_START, 0);
		for (uint32_t i = 0; i < count; i++)
			rank_scene_call(&scene, RANK_ALL_REDUCE, ++*number);
		end = rank_scene_call(&scene, RANK_GROUP_END, 0);
	} else {
		end = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		rank_scene_kernel(&scene, end, ns + 1000 * i, ns + 1000 * i + 5000);
}

/* Also if the last group is open, and if the end of the process is missing. */
static void the_collectives_are_those_of_the_whole_recording(void **state)
{
	for (uint64_t number = 0; number < 200; number++) {
		uint64_t seed = number, operation = 0;

		for (int64_t i = 0; i < 100; i++)
			put_something(&seed, &operation, 1000000 + 100000 * i);
		if (number % 4 == 0)
			rank_scene_call(&scene, RANK_GROUP_START, 0);
		if (number % 4 < 2)
			rank_scene_call(&scene, RANK_ALL_REDUCE, operation + 1);
		rank_scene_return(&scene);
		if (number % 3)
			rank_scene_close(&scene, 1000000000);
		open_rank();
		rank_recording_close(&recording);
		setup(state);
	}
	scene_release(&scene.scene);
}

/* The kernels name CUDA's inner calls, which have no record of a call. */
static void collectives_on_cuda_are_loaded(void **state)
{
	const struct record_anchor anchors[] = {{.tick = 1000, .host_ns = 1000},
						{.tick = 2000000, .host_ns = 2000000}};
	const struct trace *trace;
	struct rank_collectives found;

	for (int i = 0; i < 2; i++)
		scene_put(&scene.scene, 0, RECORD_ANCHOR, RECORD_CUDA_CLOCK, &anchors[i],
			  sizeof(anchors[i]));
	for (int64_t i = 0; i < 10; i++) {
		rank_scene_cuda_kernel(&scene,
				       rank_scene_call(&scene, RANK_ALL_REDUCE, (uint64_t)i + 1),
				       1000000 + i * 1000, 1000500 + i * 1000);
		rank_scene_cuda_kernel(&scene, 0, 1000600 + i * 1000, 1000700 + i * 1000);
	}
	rank_scene_close(&scene, 1000000000);
	trace = open_rank();
	assert_int_equal(trace->activities_count, 10);
	assert_int_equal(rank_collectives_find(trace, &found), 0);
	assert_int_equal(found.count, 10);
	rank_collectives_release(&found);
}

/* A call of RCCL whose kernels name CUDA's calls at two depths inside of it, the records of which
 * come in reversed order. */
static void calls_of_cuda_are_found_to_a_depth(void **state)
{
	const uint64_t call = rank_scene_call(&scene, RANK_ALL_REDUCE, 1);
	uint64_t cids[2 * TRACE_PARENTS_MOST];

	for (int i = 0; i < 2 * TRACE_PARENTS_MOST; i++)
		cids[i] = scene_reserve_cid(&scene.scene);
	for (int i = 2 * TRACE_PARENTS_MOST - 1; i >= 0; i--) {
		const struct record_cuda_inner inner = {.cid = cids[i],
							.outer = i ? cids[i - 1] : call};

		scene_put(&scene.scene, 0, RECORD_CUDA_INNER, 0, &inner, sizeof(inner));
	}
	for (int i = 0; i < 2; i++) {
		const struct record_cuda_kernel kernel = {.cid = cids[TRACE_PARENTS_MOST - 1 + i],
							  .start = 1000000,
							  .end = 1000500,
							  .context = 1,
							  .stream = 7};

		scene_put(&scene.scene, 1, RECORD_CUDA_KERNEL, 1, &kernel, sizeof(kernel));
	}
	rank_scene_close(&scene, 1000000000);
	assert_int_equal(open_scene()->activities_count, 1);
}

/* Of COUNT operations with a kernel of another call after each. */
static uint32_t calls_of_long(uint32_t count)
{
	uint32_t calls;

	scene_release(&scene.scene);
	rank_scene_init_long(&scene, 1, 3, "host", 1000, count / 60 + 8);
	for (uint32_t i = 0; i < count; i++) {
		rank_scene_reduce(&scene, i + 1, 100000 + 10000 * (int64_t)i,
				  105000 + 10000 * (int64_t)i);
		rank_scene_kernel(&scene, 0, 106000 + 10000 * (int64_t)i,
				  109000 + 10000 * (int64_t)i);
	}
	rank_scene_close(&scene, 100000 + 10000 * (int64_t)count);
	calls = open_rank()->calls_count;
	rank_recording_close(&recording);
	return calls;
}

/* Each operation is two calls. The first tells that the rank is in the communicator. */
static void what_is_loaded_does_not_grow_with_the_recording(void **state)
{
	assert_int_equal(calls_of_long(RANK_COLLECTIVES_MOST), 2 * RANK_COLLECTIVES_MOST);
	assert_int_equal(calls_of_long(RANK_COLLECTIVES_MOST + 1), RANK_COLLECTIVES_MOST + 2);
	assert_int_equal(calls_of_long(4 * RANK_COLLECTIVES_MOST - 4),
			 2 * RANK_COLLECTIVES_MOST - 2 + 2);
}

/* As a damaged file may have it: of four operations, three are on communicators of their own. */
static void what_is_loaded_does_not_grow_with_the_communicators(void **state)
{
	const uint32_t count = 2 * RANK_COLLECTIVES_MOST;
	struct rank_collectives found;
	uint32_t shared = 0;

	scene_release(&scene.scene);
	rank_scene_init_long(&scene, 1, 3, "host", 1000, count / 60 + 8);
	for (uint32_t i = 1; i <= count; i++) {
		scene.communicator = i % 4 ? 1000 + i : 1;
		rank_scene_reduce(&scene, i, 10000 * (int64_t)i, 10000 * (int64_t)i + 5000);
	}
	rank_scene_close(&scene, 10000 * (int64_t)(count + 1));
	assert_true(open_scene()->calls_count <= 2 * RANK_COLLECTIVES_MOST);
	assert_int_equal(rank_collectives_find(recording.traces[0], &found), 0);
	for (uint32_t i = 0; i < found.count; i++)
		shared += found.rows[i].communicator == 1;
	assert_true(shared >= count / 8);
	rank_collectives_release(&found);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_collectives_nothing_is_loaded),
		CASE(of_others_only_collectives_are_loaded),
		CASE(a_process_that_was_cut_off_has_its_last_time),
		CASE(the_collectives_are_those_of_the_whole_recording),
		CASE(collectives_on_cuda_are_loaded),
		CASE(calls_of_cuda_are_found_to_a_depth),
		CASE(what_is_loaded_does_not_grow_with_the_recording),
		CASE(what_is_loaded_does_not_grow_with_the_communicators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
