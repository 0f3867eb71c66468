/* Writes models as XSpace and reads them back: a recording of ours, and a real profile of JAX. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/xspace/xspace_reader.h"
#include "read_case.h"
#include "same_trace.h"
#include "xspace_maker.h"
#include "xspace_written.h"

static struct trace *open_bytes(const void *bytes, size_t size)
{
	struct dagtap_error error = {.message = ""};
	const struct read_file file = {"test", bytes, size};
	struct trace *trace;

	if (xspace_open(&file, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	return read_keep(trace);
}

static void name_domain(struct scene *scene)
{
	for (uint32_t i = 0; i < scene->trace.apis_count; i++)
		scene->apis[i].domain = RECORD_DOMAIN_HIP;
}

static struct trace *write_and_open(const struct trace *trace)
{
	struct dagtap_error error = {.message = ""};
	struct trace *again;
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	assert_non_null(out);
	assert_int_equal(format_xspace.write(trace, out, NULL, &error), 0);
	assert_int_equal(fclose(out), 0);
	again = open_bytes(bytes, size);
	free(bytes);
	return again;
}

static void name_process(struct scene *scene)
{
	scene->processes[0].exe = scene_string(scene, "/usr/bin/program");
	scene->processes[0].command = scene_string(scene, "program --size 4");
	scene->processes[0].start_realtime_ns = 1700000000000000000;
	scene->agents[1].compute_units = 60;
	scene->agents[1].clock_khz = 1725000;
	scene->agents[1].memory_bytes_per_s = UINT64_C(1024000000000);
	scene->agents[1].memory_bytes = UINT64_C(32) << 30;
	scene->agents[1].product = scene_string(scene, "Software GPU");
}

static uint64_t scope_id(uint64_t counter)
{
	return UINT64_C(1) << 48 | counter;
}

/* A step with two annotations in it, one of them with attributes; a range and a mark. */
static void add_scopes(struct scene *scene)
{
	struct trace_scope *scope = scene_scope(scene, "train", scope_id(1), TRACE_NONE);

	scope->kind = RECORD_SCOPE_STEP;
	scope->begin_ns = 5000100;
	scope->end_ns = 5900000;
	scope = scene_scope(scene, "module \"a\"::b", scope_id(2), 0);
	scope->begin_ns = 5000200;
	scope->end_ns = 5800000;
	scene_attribute(scene, scope, "hlo_module", "jit_step");
	scope = scene_scope(scene, "op \xe2\x82\xac", scope_id(3), 1);
	scope->kind = RECORD_SCOPE_ROCTX;
	scope->begin_ns = 5000300;
	scope->end_ns = 5700000;
	scope->open = true;
	scope = scene_scope(scene, "range", scope_id(4), TRACE_NONE);
	scope->kind = RECORD_SCOPE_RANGE;
	scope->begin_ns = 5000150;
	scope->end_ns = 5850000;
	scope = scene_scope(scene, "mark", scope_id(5), TRACE_NONE);
	scope->kind = RECORD_SCOPE_MARK;
	scope->begin_ns = scope->end_ns = 5000400;
}

/* Two replays of two nodes; in the file they are under their launches. */
static void add_replays(struct scene *scene)
{
	uint32_t exec = scene_graph(scene, 5, 2);
	uint32_t a = scene_kernel(scene, "a", 1000, 256);
	uint32_t b = scene_kernel(scene, "b", 512, 64);

	scene->works[a].group_bytes = 1024;
	scene->works[b].private_bytes = 32;
	for (int64_t i = 0; i < 2; i++) {
		struct trace_call *call = scene_call(scene, "hipGraphLaunch", 10 + (uint64_t)i,
						     5001000 + 1000 * i, 5001500 + 1000 * i);

		call->scope = 2;
		scene_launch(scene, exec, (uint64_t)i);
		for (uint32_t node = 0; node < 2; node++) {
			struct trace_activity *row =
				scene_activity(scene, node ? b : a, 5010000 + 1000 * i + 300 * node,
					       5010200 + 1000 * i + 300 * node);

			row->scope = 2;
			row->launch = (uint32_t)i;
			row->node = node;
			row->confidence =
				node ? TRACE_CONFIDENCE_SIGNATURE : TRACE_CONFIDENCE_EXACT;
		}
	}
}

static void add_other_work(struct scene *scene)
{
	struct trace_call *call;

	scene_call(scene, "hipMemcpyAsync", UINT64_C(1) << 40, 5020000, 5021000);
	scene_activity(scene, scene_copy(scene, TRACE_H2D, 4096), 5022000, 5023000);
	call = scene_call(scene, "hipMalloc", (UINT64_C(1) << 40) + 1, 5024000, 5025000);
	call->result = -2;
	call = scene_call(scene, "hipLaunchKernel", (UINT64_C(1) << 40) + 2, 5026000, 5027000);
	call->activities_expected = 1;
}

/* The model is as a loader leaves it, except for the order of activities without a call. */
static void a_recording_reads_back(void **state)
{
	struct scene *scene = scene_create(5000000, 1);
	struct trace *again;

	name_process(scene);
	add_scopes(scene);
	add_replays(scene);
	add_other_work(scene);
	name_domain(scene);
	again = write_and_open(&scene->trace);
	expect_same_trace(&scene->trace, again);
	assert_null(again->activity_attributes);
	assert_null(again->call_attributes);
}

/* Overlapping work is written to several tracks and read back to its stream. */
static void tracks_read_back(void **state)
{
	struct scene *scene = scene_create(1000, 1);
	uint32_t kernel = scene_kernel(scene, "k", 64, 64);
	struct trace *again;

	scene_call(scene, "hipGraphLaunch", 1, 2000, 3000);
	for (int64_t i = 0; i < 4; i++)
		scene_activity(scene, kernel, 4000 + 10 * i, 5000 + 10 * i);
	name_domain(scene);
	again = write_and_open(&scene->trace);
	expect_same_trace(&scene->trace, again);
	assert_int_equal(again->streams_count, 1);
}

static const char *jax_path(void)
{
	static char path[4096];
	const char *source = getenv("SOURCE_DIR");

	snprintf(path, sizeof(path), "%s/tests/data/jax-small.xplane.pb", source ? source : ".");
	return path;
}

static struct trace *open_jax(void)
{
	int fd = open(jax_path(), O_RDONLY | O_CLOEXEC);
	struct stat status;
	struct trace *trace;
	void *bytes;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	close(fd);
	trace = open_bytes(bytes, (size_t)status.st_size);
	munmap(bytes, (size_t)status.st_size);
	return trace;
}

/* Compares every device event, every stat and every scope. */
static void a_profile_of_jax_reads_back(void **state)
{
	struct trace *trace = open_jax();
	struct trace *again = write_and_open(trace);
	struct trace *third = write_and_open(again);

	assert_int_equal(trace->activities_count, 164);
	assert_int_equal(trace->calls_count, 164);
	assert_non_null(trace->activity_attributes);
	expect_same_trace(trace, again);
	expect_same_trace(again, third);
}

/* Lines may count from 1970; after reading, times count from the earliest one. */
static void lines_that_count_from_1970_read_back(void **state)
{
	const int64_t since_1970_ns = INT64_C(1700000000000000000);
	struct maker maker = {0};
	struct trace *trace, *again;

	maker_plane(&maker, "/device:GPU:0", 0);
	maker_line(&maker, 7, "Stream #7(Compute)", since_1970_ns);
	maker_event(
		&maker, "kernel", 5000000, 2000000,
		STATS(U64("correlation_id", 7), REF("kernel_details", "grid:1,1,1 block:32,1,1")));
	maker_plane(&maker, "/host:CPU", 1);
	maker_line(&maker, 9, "program", since_1970_ns);
	maker_event(&maker, "cuLaunchKernel", 1000000, 3000000, STATS(U64("correlation_id", 7)));
	maker_finish(&maker);
	trace = open_bytes(maker.bytes.bytes, maker.bytes.used);
	again = write_and_open(trace);
	assert_int_equal(trace->activities[0].start_ns, since_1970_ns + 5000);
	assert_int_equal(again->activities_count, 1);
	assert_int_equal(again->calls_count, 1);
	assert_int_equal(again->activities[0].start_ns - again->calls[0].begin_ns, 4000);
	assert_int_equal(again->activities[0].end_ns - again->activities[0].start_ns, 2000);
	proto_release(&maker.bytes);
}

/* Figures computed from the file with another decoder. */
static void what_jax_says(void **state)
{
	struct trace *trace = open_jax();
	unsigned kinds[RECORD_SCOPE_STEP + 1] = {0};
	unsigned untimed = 0, attributes = 0;
	int64_t kernel_ns = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		kernel_ns += row->end_ns - row->start_ns;
		attributes += trace->attribute_sets[trace->activity_attributes[i]].count;
		assert_int_equal(row->call, i);
	}
	assert_int_equal(kernel_ns, 256644);
	assert_int_equal(attributes, 160 * (13 - 2) + 4 * (12 - 2));
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		untimed += trace->scopes[i].untimed;
		kinds[trace->scopes[i].kind] += !trace->scopes[i].untimed;
	}
	assert_int_equal(untimed, 170);
	assert_int_equal(kinds[RECORD_SCOPE_STEP], 4);
	assert_int_equal(kinds[RECORD_SCOPE_MARK], 88);
	assert_int_equal(kinds[RECORD_SCOPE_DAGTAP], 605 - 164 - 4 - 88);
	assert_int_equal(trace->processes[0].pid, 650);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(a_recording_reads_back),
		KEPT_CASE(tracks_read_back),
		KEPT_CASE(a_profile_of_jax_reads_back),
		KEPT_CASE(lines_that_count_from_1970_read_back),
		KEPT_CASE(what_jax_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
