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
#include "merge/rank_recording.h"
#include "rank_scene.h"

static struct rank_scene scene;
static struct rank_recording recording;

static int setup(void **state)
{
	rank_scene_init(&scene, 1, 3, "host", 1000);
	return 0;
}

/* Opens the scene's file, and compares its process with that of the whole recording. */
static const struct trace *open_rank(void)
{
	char path[TEST_PATH_BYTES];
	const struct trace_process *process;
	struct bundle bundle;
	struct trace *whole;

	close(mkstemp(test_path(path, "merge")));
	rank_scene_write(&scene, path);
	scene_release(&scene.scene);
	assert_int_equal(bundle_open(path, &bundle, NULL), 0);
	assert_int_equal(rank_recording_open(path, &bundle, &recording, NULL), 0);
	bundle_close(&bundle);
	assert_int_equal(trace_open(path, NULL, &whole, NULL), 0);
	unlink(path);
	assert_int_equal(recording.count, 1);
	assert_int_equal(recording.traces[0]->processes_count, 1);
	process = &recording.traces[0]->processes[0];
	assert_int_equal(process->pid, 101);
	assert_int_equal(process->start_ns, whole->processes[0].start_ns);
	assert_int_equal(process->end_ns, whole->processes[0].end_ns);
	assert_int_equal(process->start_realtime_ns, whole->processes[0].start_realtime_ns);
	assert_int_equal(process->session, whole->processes[0].session);
	assert_int_equal(process->state, whole->processes[0].state);
	assert_string_equal(trace_text(recording.traces[0], process->host), "host");
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

static void with_a_collective_all_is_loaded(void **state)
{
	const struct trace *trace;

	rank_scene_kernel(&scene, 0, 20000, 30000);
	rank_scene_reduce(&scene, 1, 40000, 50000);
	rank_scene_close(&scene, 10000000);
	trace = open_rank();
	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(trace->activities_count, 2);
}

/* When it ended, only its last record tells. */
static void a_process_that_was_cut_off_is_loaded(void **state)
{
	const struct trace *trace;

	rank_scene_kernel(&scene, 0, 20000, 30000);
	trace = open_rank();
	assert_int_equal(trace->processes[0].state, TRACE_TRUNCATED);
	assert_int_equal(trace->activities_count, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_collectives_nothing_is_loaded),
		CASE(with_a_collective_all_is_loaded),
		CASE(a_process_that_was_cut_off_is_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
