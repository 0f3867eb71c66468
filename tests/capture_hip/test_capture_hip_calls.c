/* The real HIP runtime on the software GPU under the tool: compares what the recording holds
 * of calls and memory with what the program did (hip_scenes.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hip_recording.h"
#include "trace/load.h"

/* The scene itself compares results and hipGetLastError with the values that HIP gives without
 * the tool. */
static void errors_stay_the_programs(void **state)
{
	struct recording *r = recording_of_scene("errors");
	const struct record_api *call = recording_find_call(r, "hipGraphLaunch", 0);
	const struct record_graph_launch *launch = recording_find(r, RECORD_GRAPH_LAUNCH, 0);

	assert_int_equal(call->result, 1);
	assert_int_equal(launch->exec_id, 0);
	assert_int_equal(recording_find_call(r, "hipMalloc", 0)->result, 2);
	recording_assert_complete(r);
	recording_free(r);
}

/* A call that HIP makes inside another call is recorded with the outer call as its parent. */
static void nested_calls_know_their_parent(void **state)
{
	struct recording *r = recording_of_scene("nested");
	const struct record_api *outer =
		recording_find_call(r, "hipGraphExecChildGraphNodeSetParams", 0);
	const struct record_api *inner = recording_find_call(r, "hipGraphExecUpdate", 0);

	assert_int_equal(inner->parent, outer->cid);
	assert_int_equal(outer->parent, 0);
	assert_true(inner->begin_ns >= outer->begin_ns && inner->end_ns <= outer->end_ns);
	/* The tool's own calls of the runtime are not recorded. */
	assert_null(recording_find_call(r, "hipGraphGetNodes", 0));
	recording_free(r);
}

/* Threads that build and launch graphs at the same time each get their own rows. */
static void threads_build_and_launch(void **state)
{
	struct recording *r = recording_of_scene("threads");
	uint64_t ids[101] = {0};

	assert_int_equal(recording_count(r, RECORD_GRAPH), 100);
	assert_int_equal(recording_count(r, RECORD_GRAPH_NODE), 500);
	assert_int_equal(recording_count(r, RECORD_GRAPH_LAUNCH), 200);
	for (size_t i = 0; i < 200; i++) {
		const struct record_graph_launch *launch =
			recording_find(r, RECORD_GRAPH_LAUNCH, i);

		assert_in_range(launch->exec_id, 1, 100);
		assert_int_equal(launch->replay, ids[launch->exec_id]++);
	}
	recording_assert_complete(r);
	recording_free(r);
}

static const struct record_source *last_hip_source(const struct recording *r)
{
	const struct record_source *source, *last = NULL;

	for (size_t i = 0; (source = recording_find(r, RECORD_SOURCE, i)); i++)
		if (!strncmp(source->name, "hip", sizeof(source->name)))
			last = source;
	assert_non_null(last);
	return last;
}

static void assert_dispatches_are_nobodys(const struct recording *r)
{
	const struct record_dispatch *dispatch;

	assert_non_null(recording_find(r, RECORD_DISPATCH, 0));
	for (size_t i = 0; (dispatch = recording_find(r, RECORD_DISPATCH, i)); i++)
		assert_int_equal(dispatch->cid, 0);
	assert_int_equal(last_hip_source(r)->header.tag, RECORD_SOURCE_PARTIAL);
}

/* Calls through dlsym on the library itself pass every wrapper. The dispatches are recorded, and
 * the trace says that their calls were not seen. */
static void unseen_calls_are_said(void **state)
{
	struct recording *r = recording_of_scene("unseen");

	assert_int_equal(recording_count(r, RECORD_API), 0);
	assert_dispatches_are_nobodys(r);
	recording_free(r);
}

/* With AMD_DIRECT_DISPATCH=0 another thread sends the packets. The recording must not guess
 * which call caused them. */
static void dispatches_by_a_worker(void **state)
{
	struct recording *r =
		recording_make("examples/graph-bubbles", "20", "AMD_DIRECT_DISPATCH=0");

	assert_int_equal(r->exit_code, 0);
	assert_dispatches_are_nobodys(r);
	recording_assert_complete(r);
	recording_free(r);
}

/* HIP is loaded with an RTLD_LOCAL library, where RTLD_NEXT does not find it. */
static void a_plugin_is_seen(void **state)
{
	struct recording *r = recording_make("examples/plugin", "20", NULL);

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(last_hip_source(r)->header.tag, RECORD_SOURCE_ON);
	assert_non_null(recording_find_call(r, "hipLaunchKernel", 0));
	assert_non_null(recording_find(r, RECORD_GRAPH_LAUNCH, 0));
	recording_assert_complete(r);
	recording_free(r);
}

/* Every dispatch of a launch has the cid of the call that made it. */
static void dispatches_are_under_their_call(void **state)
{
	struct recording *r = recording_of_scene("nodes");
	const struct record_graph_launch *launch;
	const struct record_dispatch *dispatch;
	size_t mixes = 0;

	for (size_t i = 0; (launch = recording_find(r, RECORD_GRAPH_LAUNCH, i)); i++)
		for (size_t k = 0; (dispatch = recording_find(r, RECORD_DISPATCH, k)); k++)
			mixes += dispatch->cid == launch->cid && dispatch->workgroup[0] == 64 &&
				 dispatch->grid[0] <= 256;
	/* Two kernels of the child and one of the graph, in four launches. */
	assert_int_equal(mixes, 12);
	recording_free(r);
}

/* The constructor's call is recorded. The destructor's call comes after the end of the recording
 * and passes unrecorded. */
static void before_and_after_the_tool(void **state)
{
	struct recording *r = recording_make("tests/hip-early-main", NULL, "DAGTAP_CALLS=all");

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 1);
	assert_non_null(recording_find_call(r, "hipGetDeviceCount", 0));
	assert_true(spool_reader_info(r->reader)->closed);
	recording_free(r);
}

/* ---- calls that only read or set a state ---- */

static void calls_that_only_read_have_no_row(void **state)
{
	struct recording *r = recording_of_scene("reads");

	assert_int_equal(recording_count(r, RECORD_API), 2);
	assert_non_null(recording_find_call(r, "hipMalloc", 0));
	assert_non_null(recording_find_call(r, "hipFree", 0));
	assert_int_equal(recording_witness(r, "hip", "calls_selected"), 1);
	recording_assert_complete(r);
	recording_free(r);
}

static void all_calls_have_one(void **state)
{
	struct recording *r = recording_make("tests/hip-scenes", "reads", "DAGTAP_CALLS=all");

	assert_int_equal(r->exit_code, 0);
	assert_non_null(recording_find_call(r, "hipGetDeviceCount", 0));
	assert_non_null(recording_find_call(r, "hipSetDevice", 0));
	assert_non_null(recording_find_call(r, "hipGetDevice", 1));
	assert_non_null(recording_find_call(r, "hipGetLastError", 0));
	assert_non_null(recording_find_call(r, "hipPeekAtLastError", 0));
	assert_int_equal(recording_count(r, RECORD_API), 8);
	recording_assert_complete(r);
	recording_free(r);
}

/* The ledger has no count of them. */
static void the_ledger_says_what_was_not_subscribed(void **state)
{
	char *output;
	struct trace *trace =
		recording_load((const char *const[]){"tests/hip-scenes", "reads", NULL}, &output);
	const struct trace_source *hip = NULL;

	for (uint32_t i = 0; i < trace->sources_count; i++)
		if (!strcmp(trace_text(trace, trace->sources[i].name), "hip"))
			hip = &trace->sources[i];
	assert_non_null(hip);
	assert_int_equal(hip->expected, 2);
	assert_int_equal(hip->unexplained, 0);
	assert_non_null(strstr(trace_text(trace, hip->text), "not subscribed"));
	trace_close(trace);
	free(output);
}

/* A program that does not use the GPU writes no spool. */
static void no_gpu_no_file(void **state)
{
	struct recording *r = recording_make("tests/hip-scenes", "idle", NULL);

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 0);
	recording_free(r);
}

/* Without DAGTAP_SPOOL the tool records nothing and the program runs as usual. */
static void without_a_spool_nothing_happens(void **state)
{
	struct recording *r = recording_make("tests/hip-scenes", "nodes", "DAGTAP_SPOOL=");

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 0);
	recording_free(r);
}

static const struct record_memory *find_memory(const struct recording *r,
					       enum record_memory_type type, uint64_t address)
{
	const struct record_memory *memory;

	for (size_t i = 0; (memory = recording_find(r, RECORD_MEMORY, i)); i++)
		if (memory->header.tag == type && memory->address == address)
			return memory;
	fail_msg("no record %d of %llx", type, (unsigned long long)address);
	return NULL;
}

static void assert_allocated(const struct recording *r, size_t nth, enum record_memory_kind kind,
			     uint64_t bytes)
{
	const struct record_memory *memory =
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "memory", nth));

	assert_int_equal(memory->kind, kind);
	assert_int_equal(memory->bytes, bytes);
	assert_int_equal(memory->result, 0);
}

/* Each function that allocates has a record with what it allocated, each one that releases one
 * with the address; a release of NULL or of something else has none. */
static void memory_of_every_kind(void **state)
{
	struct recording *r = recording_of_scene("allocations");
	const struct record_memory *freed =
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "freed", 0));

	assert_int_equal(freed->bytes, 1000);
	assert_allocated(r, 1, RECORD_MEMORY_KIND_HOST, 4000);
	assert_allocated(r, 2, RECORD_MEMORY_KIND_DEVICE, 7 * recording_said(r, "pitch", 0));
	assert_allocated(r, 3, RECORD_MEMORY_KIND_DEVICE, 15 * recording_said(r, "pitch", 1));
	assert_allocated(r, 4, RECORD_MEMORY_KIND_DEVICE, 2000);
	assert_allocated(r, 5, RECORD_MEMORY_KIND_ARRAY, 16 * 8 * 4);
	assert_int_equal(find_memory(r, RECORD_MEMORY_FAIL, 0)->bytes, (uint64_t)1 << 50);
	assert_int_equal(find_memory(r, RECORD_MEMORY_FAIL, 0)->result, 2);
	find_memory(r, RECORD_MEMORY_RELEASE, recording_said(r, "freed", 0));
	find_memory(r, RECORD_MEMORY_RELEASE, recording_said(r, "memory", 4));
	find_memory(r, RECORD_MEMORY_RELEASE, recording_said(r, "memory", 5));
	/* Seven allocations, three releases, one failure. */
	assert_int_equal(recording_count(r, RECORD_MEMORY), 11);
	recording_assert_complete(r);
	recording_free(r);
}

/* HIP 5.2.3 captures no allocation: it allocates at once. */
static void memory_of_a_captured_stream(void **state)
{
	struct recording *r = recording_of_scene("captured-memory");

	assert_allocated(r, 0, RECORD_MEMORY_KIND_DEVICE, 2000);
	assert_int_equal(recording_count(r, RECORD_MEMORY), 1);
	recording_free(r);
}

/* The memory of a GPU and of the host is known by HSA. */
static void memory_has_an_agent(void **state)
{
	struct recording *r = recording_of_scene("allocations");
	uint64_t gpu = 0, host = 0;
	const struct record_agent *agent;

	for (size_t i = 0; (agent = recording_find(r, RECORD_AGENT, i)); i++) {
		if (agent->is_gpu)
			gpu = agent->handle;
		else
			host = agent->handle;
	}
	assert_int_equal(
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "freed", 0))->agent, gpu);
	assert_int_equal(
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "memory", 1))->agent,
		host);
	recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_stay_the_programs),
		cmocka_unit_test(nested_calls_know_their_parent),
		cmocka_unit_test(threads_build_and_launch),
		cmocka_unit_test(unseen_calls_are_said),
		cmocka_unit_test(dispatches_by_a_worker),
		cmocka_unit_test(a_plugin_is_seen),
		cmocka_unit_test(dispatches_are_under_their_call),
		cmocka_unit_test(before_and_after_the_tool),
		cmocka_unit_test(calls_that_only_read_have_no_row),
		cmocka_unit_test(all_calls_have_one),
		cmocka_unit_test(the_ledger_says_what_was_not_subscribed),
		cmocka_unit_test(memory_of_every_kind),
		cmocka_unit_test(memory_of_a_captured_stream),
		cmocka_unit_test(memory_has_an_agent),
		cmocka_unit_test(no_gpu_no_file),
		cmocka_unit_test(without_a_spool_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
