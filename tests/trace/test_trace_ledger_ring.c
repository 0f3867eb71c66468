/*
 * What a ring has reused: exact drop counts, submissions or completions without their other half
 * that are no orphans, and no loss that the ring hides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

static void dropped(struct scene *scene, enum record_class class, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		scene_drop(scene, class, RECORD_DROP_RING);
}

static uint64_t call_of(struct scene *scene, uint32_t activities)
{
	return scene_call(scene, SCENE_LAUNCH_KERNEL, activities, (uint64_t[]){0x101, 0}, 2);
}

static uint64_t dropped_by_ring(const struct trace *trace, const struct trace_source *source)
{
	assert_int_equal(source->drop_count, 1);
	assert_string_equal(trace_text(trace, trace->drops[source->drop_first].cause),
			    "dropped by the ring");
	return trace->drops[source->drop_first].count;
}

static void all_of_it_is_there_or_dropped(void **state)
{
	const struct trace_source *source;
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, call_of(scene, 1), 0, 1, 1);
	dropped(scene, RECORD_CLASS_API, 100);
	dropped(scene, RECORD_CLASS_DISPATCH, 100);
	dropped(scene, RECORD_CLASS_DONE, 100);
	dropped(scene, RECORD_CLASS_META, 2);
	scene_witness(scene, "hip", "calls", 101);
	trace = scene_finish(scene);
	assert_true(ledger_is_closed(trace));
	source = scene_source(trace, "hip");
	assert_string_equal(trace_text(trace, source->witness), "wrappers");
	assert_int_equal(source->expected, 101);
	assert_int_equal(source->received, 1);
	assert_int_equal(dropped_by_ring(trace, source), 100);
	source = scene_source(trace, "hsa.done");
	assert_int_equal(source->expected, 101);
	assert_int_equal(source->received, 1);
	assert_int_equal(dropped_by_ring(trace, source), 100);
}

/* One call less than the wrappers counted is neither in the trace nor reused. */
static void what_is_lost_beside_a_ring_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, call_of(scene, 1), 0, 1, 1);
	dropped(scene, RECORD_CLASS_API, 100);
	scene_witness(scene, "hip", "calls", 102);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->unexplained, 1);
	assert_false(ledger_is_closed(trace));
}

static void an_activity_whose_call_was_dropped_is_no_orphan(void **state)
{
	const struct trace_source *source;
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, scene_reserve_cid(scene), 0, 1, 1);
	dropped(scene, RECORD_CLASS_API, 1);
	trace = scene_finish(scene);
	source = scene_source(trace, "hsa.dispatch");
	assert_int_equal(source->orphan_activities, 0);
	assert_string_equal(trace_text(trace, source->text),
			    "1 activities whose call was dropped by the ring");
	assert_true(ledger_is_closed(trace));
}

static void more_of_them_than_calls_dropped_are_unexplained(void **state)
{
	const struct trace_source *source;
	struct scene *scene = *state;
	struct trace *trace;

	for (int i = 0; i < 3; i++)
		scene_run(scene, scene_reserve_cid(scene), 0, 1, 1);
	dropped(scene, RECORD_CLASS_API, 1);
	trace = scene_finish(scene);
	source = scene_source(trace, "hsa.dispatch");
	assert_int_equal(source->orphan_activities, 2);
	assert_int_equal(source->unexplained, 2);
	assert_false(ledger_is_closed(trace));
}

static void a_call_whose_activities_were_dropped_is_no_orphan(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	call_of(scene, 2);
	dropped(scene, RECORD_CLASS_DISPATCH, 2);
	dropped(scene, RECORD_CLASS_DONE, 2);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->orphan_calls, 0);
	assert_true(ledger_is_closed(trace));
}

static void a_call_that_lacks_more_than_was_dropped_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	call_of(scene, 2);
	dropped(scene, RECORD_CLASS_DISPATCH, 1);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->orphan_calls, 1);
	assert_int_equal(scene_source(trace, "hip")->unexplained, 1);
}

static void halves_of_completions_may_be_dropped(void **state)
{
	const struct trace_source *source;
	struct scene *scene = *state;
	struct trace *trace;

	scene_dispatch(scene, call_of(scene, 1), 0, 1, 1);
	scene_done(scene, 99, 5000, 6000);
	dropped(scene, RECORD_CLASS_DISPATCH, 1);
	dropped(scene, RECORD_CLASS_DONE, 1);
	trace = scene_finish(scene);
	assert_int_equal(trace->activities[0].untimed, RECORD_UNTIMED_RING);
	source = scene_source(trace, "hsa.done");
	assert_int_equal(source->expected, 2);
	assert_int_equal(source->orphan_activities, 0);
	assert_true(ledger_is_closed(trace));
}

static void completions_that_were_not_dropped_are_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	for (int i = 0; i < 3; i++)
		scene_dispatch(scene, call_of(scene, 1), 0, 1, 1);
	dropped(scene, RECORD_CLASS_DONE, 2);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.done")->unexplained, 1);
}

static void a_launch_at_the_edge_is_said_not_to_be_whole(void **state)
{
	const uint64_t functions[] = {0x101, 0x102};
	const uint32_t grids[] = {1, 1};
	const struct trace_source *source;
	struct scene *scene = *state;
	struct trace *trace;

	scene_graph(scene, 1, 1, 2, functions, grids);
	for (uint64_t replay = 7; replay < 9; replay++) {
		uint64_t cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 2, (uint64_t[]){0x201, 0}, 2);

		scene_graph_launch(scene, 1, replay, cid);
		if (replay > 7)
			scene_run(scene, cid, 0, 1, 1);
		scene_run(scene, cid, 1, 2, 1);
	}
	dropped(scene, RECORD_CLASS_DISPATCH, 9);
	dropped(scene, RECORD_CLASS_DONE, 9);
	trace = scene_finish(scene);
	source = scene_source(trace, "graph");
	assert_int_equal(source->expected, 4);
	assert_int_equal(source->received, 3);
	assert_int_equal(dropped_by_ring(trace, source), 1);
	assert_string_equal(trace_text(trace, source->text),
			    "1 launches at the ring's edge are not whole");
	assert_int_equal(trace->launches[0].activity_count, 1);
	assert_int_equal(trace->launches[0].activities_expected, 2);
	assert_true(ledger_is_closed(trace));
}

/* Records that everything launched has ended. */
static void wait_for_device(struct scene *scene)
{
	const struct record_api call = {
		.cid = scene_reserve_cid(scene),
		.begin_ns = scene->ns + 1000,
		.end_ns = scene->ns + 1100,
	};
	const struct record_cuda_sync wait = {
		.cid = call.cid,
		.context = 1,
		.stream = 7,
		.event = RECORD_CUDA_NONE,
	};

	scene_put(scene, 0, RECORD_API, RECORD_CUDA_FUNCTION_RUNTIME, &call, sizeof(call));
	scene_put(scene, 0, RECORD_CUDA_SYNC, RECORD_CUDA_SYNC_CONTEXT, &wait, sizeof(wait));
}

/*
 * The same for a launch that is in the trace as for all launches: of two launches' kernels one was
 * reused.
 */
static void what_cupti_loses_is_unexplained_once(void **state)
{
	const uint64_t functions[] = {0x101, 0x102};
	const uint32_t grids[] = {1, 1};
	const struct trace_source *source;
	struct scene *scene = *state;
	struct trace *trace;

	scene_graph(scene, 1, 1, 2, functions, grids);
	for (uint64_t replay = 0; replay < 2; replay++) {
		const struct record_api call = {
			.cid = scene_reserve_cid(scene),
			.begin_ns = scene->ns,
			.end_ns = scene->ns + 100,
		};

		scene_put(scene, 0, RECORD_API, RECORD_CUDA_FUNCTION_RUNTIME, &call, sizeof(call));
		scene_graph_launch(scene, 1, replay, call.cid);
	}
	wait_for_device(scene);
	dropped(scene, RECORD_CLASS_DISPATCH, 1);
	trace = scene_finish(scene);
	source = scene_source(trace, "graph");
	assert_int_equal(source->expected, 4);
	assert_int_equal(source->received, 0);
	assert_int_equal(dropped_by_ring(trace, source), 1);
	assert_int_equal(source->unexplained, 3);
}

static void put_scope(struct scene *scene, unsigned writer, uint64_t id)
{
	struct record_scope scope = {.id = id, .ns = scene->ns};

	scene_put(scene, writer, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &scope, sizeof(scope));
}

/* A scope that was kept longer than the ring is written again. */
static void a_scope_that_was_written_again_is_one(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	put_scope(scene, 0, 5);
	put_scope(scene, 1, 5);
	put_scope(scene, 0, 6);
	trace = scene_finish(scene);
	assert_int_equal(trace->scopes_count, 2);
	assert_true(ledger_is_closed(trace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(all_of_it_is_there_or_dropped),
		SCENE_CASE(what_is_lost_beside_a_ring_is_unexplained),
		SCENE_CASE(an_activity_whose_call_was_dropped_is_no_orphan),
		SCENE_CASE(more_of_them_than_calls_dropped_are_unexplained),
		SCENE_CASE(a_call_whose_activities_were_dropped_is_no_orphan),
		SCENE_CASE(a_call_that_lacks_more_than_was_dropped_is_unexplained),
		SCENE_CASE(halves_of_completions_may_be_dropped),
		SCENE_CASE(completions_that_were_not_dropped_are_unexplained),
		SCENE_CASE(a_launch_at_the_edge_is_said_not_to_be_whole),
		SCENE_CASE(what_cupti_loses_is_unexplained_once),
		SCENE_CASE(a_scope_that_was_written_again_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
