/* The public calls of libdagtap-trace return the contents of a known recording. */
#include <dagtap/export.h>
#include <dagtap/trace.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "scene.h"

static char folder[TEST_PATH_BYTES];

static char *in_folder(const char *name)
{
	static char path[2 * TEST_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Makes two replays of a graph of two kernels, then an orphan. */
static void make_recording(const char *path)
{
	struct scene scene;

	scene_init(&scene, 42);
	scene_graph(&scene, 7, 9, 2, (uint64_t[]){0x101, 0x102}, (uint32_t[]){64, 32});
	for (uint64_t replay = 0; replay < 2; replay++) {
		uint64_t cid =
			scene_call(&scene, SCENE_GRAPH_LAUNCH, 2, (uint64_t[]){0x9000, 0}, 2);

		scene_graph_launch(&scene, 9, replay, cid);
		scene_run(&scene, cid, 0, 1, 64);
		scene_run(&scene, cid, 1, 2, 32);
	}
	scene_run(&scene, 0, 0, 1, 5);
	scene_close(&scene);
	write_file(path, scene.image, scene_bytes(&scene));
	scene_release(&scene);
}

static struct dagtap_trace *open_recording(void)
{
	struct dagtap_error error = {0};
	struct dagtap_trace *trace;

	make_recording(in_folder("run.spool"));
	if (dagtap_trace_open(in_folder("run.spool"), &trace, &error) < 0)
		fail_msg("%s", error.message);
	return trace;
}

static void rows_are_given_out(void **state)
{
	struct dagtap_trace *trace = open_recording();
	struct dagtap_trace_process process;
	struct dagtap_trace_activity activity;
	struct dagtap_trace_call call;
	struct dagtap_trace_launch launch;
	struct dagtap_trace_graph graph;
	struct dagtap_trace_node node;

	assert_int_equal(dagtap_trace_count(trace, DAGTAP_TRACE_ACTIVITY), 5);
	assert_int_equal(dagtap_trace_count(trace, DAGTAP_TRACE_CALL), 2);
	assert_int_equal(dagtap_trace_count(trace, DAGTAP_TRACE_LAUNCH), 2);
	assert_int_equal(dagtap_trace_count(trace, (enum dagtap_trace_array)99), 0);

	assert_int_equal(dagtap_trace_get_process(trace, 0, &process), 0);
	assert_int_equal(process.pid, 42);
	assert_true(process.is_complete);

	assert_int_equal(dagtap_trace_get_activity(trace, 3, &activity), 0);
	assert_int_equal(activity.kind, DAGTAP_TRACE_KERNEL);
	assert_string_equal(activity.name, "two");
	assert_int_equal(activity.grid[0], 32);
	assert_int_equal(activity.confidence, DAGTAP_TRACE_NODE_EXACT);
	assert_true(activity.is_timed);
	assert_int_equal(activity.end_ns - activity.start_ns, 1000);
	assert_int_equal(activity.end_tick - activity.start_tick, 100);

	assert_int_equal(dagtap_trace_get_call(trace, activity.call, &call), 0);
	assert_string_equal(call.name, "hipGraphLaunch");
	assert_int_equal(call.cid, activity.cid);
	assert_int_equal(call.activity_first, 2);
	assert_int_equal(call.activity_count, 2);
	assert_int_equal(dagtap_trace_get_launch(trace, activity.launch, &launch), 0);
	assert_int_equal(launch.replay, 1);
	assert_true(launch.is_exact);
	assert_int_equal(dagtap_trace_get_graph(trace, launch.graph, &graph), 0);
	assert_int_equal(graph.id, 7);
	assert_int_equal(dagtap_trace_get_node(trace, activity.node, &node), 0);
	assert_int_equal(node.index, 1);
	assert_string_equal(node.type, "kernel");

	assert_int_equal(dagtap_trace_get_activity(trace, 4, &activity), 0);
	assert_int_equal(activity.call, DAGTAP_TRACE_NONE);
	dagtap_trace_close(trace);
}

static void rows_that_are_not_there_leave_the_callers_alone(void **state)
{
	struct dagtap_trace *trace = open_recording();
	struct dagtap_trace_activity activity = {.cid = 12345};

	assert_int_equal(dagtap_trace_get_activity(trace, 5, &activity), -ERANGE);
	assert_int_equal(dagtap_trace_get_activity(trace, DAGTAP_TRACE_NONE, &activity), -ERANGE);
	assert_int_equal(activity.cid, 12345);
	dagtap_trace_close(trace);
}

/* Rows fit a program that was built with fewer fields and one that was built with more. */
static void rows_of_other_versions_fit(void **state)
{
	struct dagtap_trace *trace = open_recording();
	struct {
		struct dagtap_trace_thread thread;
		uint64_t later;
	} longer = {.later = 7};
	struct dagtap_trace_thread shorter = {.tid = 9};

	assert_int_equal(dagtap_trace_get_thread_sized(trace, 0, &longer.thread, sizeof(longer)),
			 0);
	assert_int_equal(longer.thread.tid, 10);
	assert_int_equal(longer.later, 0);
	assert_int_equal(dagtap_trace_get_thread_sized(trace, 0, &shorter,
						       offsetof(struct dagtap_trace_thread, tid)),
			 0);
	assert_int_equal(shorter.tid, 9);
	dagtap_trace_close(trace);
}

static void exports_give_their_file_or_none(void **state)
{
	struct dagtap_trace *trace = open_recording();
	struct dagtap_export_format format;
	struct dagtap_error error = {0};
	char path[2 * TEST_PATH_BYTES];
	size_t formats = 0;

	while (dagtap_export_get_format(formats, &format) == 0)
		formats++;
	assert_true(formats >= 4);
	snprintf(path, sizeof(path), "%s", in_folder("run.csv"));
	assert_int_equal(dagtap_export(trace, "csv", NULL, path, 0, &error), 0);
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(dagtap_export(trace, "csv", NULL, path, 0, &error), -EEXIST);
	assert_null(strstr(error.message, "--")); /* names no option of the command line */
	assert_int_equal(dagtap_export(trace, "csv", "calls", path, 1, &error), 0);
	assert_int_equal(dagtap_export(trace, "csv", "none", path, 1, &error), -EINVAL);
	assert_int_equal(dagtap_export(trace, "none", NULL, path, 1, &error), -EINVAL);
	assert_non_null(strstr(error.message, "no format \"none\""));
	assert_int_equal(dagtap_export(trace, "csv", NULL, in_folder("no/folder"), 0, &error),
			 -ENOENT);
	unlink(path);
	dagtap_trace_close(trace);
}

/* The file that was read is kept under the name that it has now, and its old name is free. */
static void input_is_kept_after_a_rename(void **state)
{
	struct dagtap_trace *trace = open_recording();
	struct dagtap_error error = {0};
	char path[2 * TEST_PATH_BYTES], moved[2 * TEST_PATH_BYTES];

	snprintf(path, sizeof(path), "%s", in_folder("run.spool"));
	snprintf(moved, sizeof(moved), "%s", in_folder("moved.spool"));
	assert_int_equal(dagtap_export(trace, "csv", NULL, path, 1, &error), -EBUSY);
	assert_int_equal(rename(path, moved), 0);
	write_file(path, "other", 5);
	assert_int_equal(dagtap_export(trace, "csv", NULL, moved, 1, &error), -EBUSY);
	assert_non_null(strstr(error.message, "moved.spool: is the input"));
	assert_int_equal(dagtap_export(trace, "csv", NULL, path, 1, &error), 0);
	unlink(path);
	unlink(moved);
	dagtap_trace_close(trace);
}

static void an_open_file_takes_the_same_bytes(void **state)
{
	const struct dagtap_export_options calls = {.table = "calls"}, none = {.table = "none"},
					   pjrt = {.compat = "pjrt"},
					   no_reader = {.compat = "none"};
	struct dagtap_trace *trace = open_recording();
	struct dagtap_error error = {0};
	char path[2 * TEST_PATH_BYTES], one[4096], other[4096];
	FILE *file = test_file();
	int fd = fileno(file);
	size_t size;

	snprintf(path, sizeof(path), "%s", in_folder("run.csv"));
	assert_int_equal(dagtap_export(trace, "csv", "calls", path, 0, &error), 0);
	assert_int_equal(dagtap_export_to(trace, "csv", &calls, fd, &error), 0);
	size = (size_t)lseek(fd, 0, SEEK_CUR);
	assert_int_equal(pread(fd, one, sizeof(one), 0), size);
	fclose(file);
	file = fopen(path, "r");
	assert_int_equal(fread(other, 1, sizeof(other), file), size);
	assert_memory_equal(one, other, size);
	unlink(path);
	assert_int_equal(dagtap_export_to(trace, "xspace", &pjrt, fileno(file), NULL), -EINVAL);
	fclose(file);
	assert_int_equal(dagtap_export_to(trace, "csv", NULL, -1, &error), -EBADF);
	assert_int_equal(dagtap_export_to(trace, "csv", &none, 1, &error), -EINVAL);
	assert_int_equal(dagtap_export_to(trace, "xspace", &no_reader, 1, &error), -EINVAL);
	assert_int_equal(dagtap_export_to(trace, "none", NULL, 1, &error), -EINVAL);
	assert_int_equal(dagtap_export_to(trace, "otf2", NULL, 1, &error), -EINVAL);
	/* a caller whose options have no `compat` yet */
	file = test_file();
	assert_int_equal(dagtap_export_to_sized(trace, "xspace", &no_reader,
						offsetof(struct dagtap_export_options, compat),
						fileno(file), &error),
			 0);
	fclose(file);
	dagtap_trace_close(trace);
}

static void what_cannot_be_read_is_said(void **state)
{
	struct dagtap_error error = {0};
	struct dagtap_trace *trace = NULL;

	assert_int_equal(dagtap_trace_open(in_folder("none"), &trace, &error), -ENOENT);
	assert_non_null(strstr(error.message, "none"));
	assert_true(dagtap_trace_open(in_folder("none"), &trace, NULL) < 0);
	assert_null(trace);
	dagtap_trace_close(NULL);
}

static int make_folder(void **state)
{
	return mkdtemp(test_path(folder, "api")) ? 0 : -1;
}

static int remove_folder(void **state)
{
	unlink(in_folder("run.spool"));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_given_out),
		cmocka_unit_test(rows_that_are_not_there_leave_the_callers_alone),
		cmocka_unit_test(rows_of_other_versions_fit),
		cmocka_unit_test(exports_give_their_file_or_none),
		cmocka_unit_test(input_is_kept_after_a_rename),
		cmocka_unit_test(an_open_file_takes_the_same_bytes),
		cmocka_unit_test(what_cannot_be_read_is_said),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
