/* What Kineto's writer makes of several processes, and its compressed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "../launched.h"
#include "format/output.h"
#include "kept.h"
#include "kineto_rows.h"
#include "sample.h"

/* ---- several processes ---- */

/*
 * The sample's process twice. The second has the same ids, and a pid that is also a GPU's number.
 */
static void processes_do_not_mix(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_process processes[2] = {trace->processes[0], trace->processes[0]};
	struct trace_stream streams[3] = {trace->streams[0], trace->streams[1], trace->streams[1]};
	struct trace_call calls[SAMPLE_CALLS + 1];
	struct trace_activity activities[SAMPLE_ACTIVITIES];
	struct kineto_file file;
	struct json_object *call, *copy;

	memcpy(calls, trace->calls, SAMPLE_CALLS * sizeof(*calls));
	memcpy(activities, trace->activities, sizeof(activities));
	processes[1].pid = 0;
	streams[2].process = 1;
	calls[SAMPLE_CALLS] = calls[2];
	calls[SAMPLE_CALLS].process = 1;
	calls[SAMPLE_CALLS].thread = TRACE_NONE;
	calls[SAMPLE_CALLS].cid = 3;
	calls[SAMPLE_CALLS].begin_ns = 1008000;
	activities[6].process = 1;
	activities[6].call = SAMPLE_CALLS;
	activities[6].stream = 2;
	trace->processes = processes;
	trace->processes_count = 2;
	trace->streams = streams;
	trace->streams_count = 3;
	trace->calls = calls;
	trace->calls_count = SAMPLE_CALLS + 1;
	trace->activities = activities;
	file = kineto_write(trace, NULL);
	call = kineto_find(&file, "cuda_runtime", "hipMemcpyAsync", 1);
	copy = kineto_find(&file, "gpu_memcpy", NULL, 0);
	/* numbered after the first process's five calls */
	assert_int_equal(kineto_number(kineto_get(call, "args"), "correlation"), 8);
	assert_int_equal(kineto_number(kineto_get(copy, "args"), "correlation"), 8);
	assert_true(kineto_number(call, "pid") > 4194304);
	assert_int_equal(kineto_number(copy, "pid"), 0);
	assert_int_equal(kineto_number(copy, "tid"), 3);
}

/* ---- compression ---- */

static void write_to(const char *path)
{
	struct dagtap_error error;
	struct output output;

	assert_int_equal(output_open(&output, path, true, REPLACE_NAMELESS, &error), 0);
	assert_int_equal(format_kineto.write(sample_trace(), output.file, NULL, &error), 0);
	assert_int_equal(output_commit(&output, &error), 0);
}

static void name_that_ends_in_gz_is_compressed(void **state)
{
	char folder[TEST_PATH_BYTES], path[2 * TEST_PATH_BYTES];
	size_t bytes;
	char *plain = sample_write(sample_trace(), &format_kineto, NULL, &bytes);
	char *read = malloc(bytes + 1);
	unsigned char magic[2];
	gzFile packed;
	FILE *raw;

	assert_non_null(mkdtemp(test_path(folder, "kineto")));
	snprintf(path, sizeof(path), "%s/a.pt.trace.json.gz", folder);
	write_to(path);
	raw = fopen(path, "r");
	assert_int_equal(fread(magic, 1, 2, raw), 2);
	assert_int_equal(magic[0] << 8 | magic[1], 0x1f8b);
	fclose(raw);
	packed = gzopen(path, "r");
	assert_int_equal(gzread(packed, read, (unsigned)bytes + 1), bytes);
	assert_memory_equal(read, plain, bytes);
	/* gzclose checks the sum and the length at the end. */
	assert_int_equal(gzclose(packed), Z_OK);
	unlink(path);
	rmdir(folder);
	free(read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(processes_do_not_mix),
		KEPT_CASE(name_that_ends_in_gz_is_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
