/* The ledger: compares the counts of witnesses with the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/ledger/ledger.h"

static void witnesses_that_agree_close_it(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_gate(scene, 0, 3, 3);
	scene_gate(scene, 0, 5, 5);
	scene_witness(scene, "hip", "calls", 5);
	scene_witness(scene, "softgpu", "packets_kernel_dispatch", 5);
	trace = scene_finish(scene);
	assert_true(ledger_is_closed(trace));
	assert_int_equal(scene_source(trace, "hip")->expected, 5);
	assert_int_equal(scene_source(trace, "hip")->joined, 5);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->expected, 5);
	assert_int_equal(scene_source(trace, "hsa.packet")->expected, 5);
	assert_int_equal(scene_source(trace, "hsa.done")->expected, 5);
}

static void last_count_of_a_queue_is_the_greatest(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	/* Two threads at the same time: the records do not tell which was first. */
	scene_gate(scene, 0, 5, 5);
	scene_gate(scene, 1, 4, 5);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->expected, 5);
	assert_true(ledger_is_closed(trace));
}

static void witness_by(struct scene *scene, unsigned writer, uint32_t number, uint64_t value)
{
	struct record_witness record = {
		.ns = scene->ns, .value = value, .source = "hip", .key = "calls"};

	scene_put(scene, writer, RECORD_WITNESS, number, &record, sizeof(record));
}

static void last_of_witnesses_at_one_time_has_the_highest_number(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	witness_by(scene, 0, 2, 5);
	witness_by(scene, 1, 1, 4);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->expected, 5);
	assert_true(ledger_is_closed(trace));
}

static void call_more_than_rows_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_witness(scene, "hip", "calls", 6);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->unexplained, 1);
	assert_false(ledger_is_closed(trace));
}

static void call_that_never_returned_is_explained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_run(scene, scene_reserve_cid(scene), 0, 1, 1);
	scene_witness(scene, "hip", "calls", 6);
	scene_witness(scene, "hip", "open", 1);
	trace = scene_finish(scene);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "hip")), 1);
	assert_true(ledger_is_closed(trace));
}

static void call_that_returned_after_the_count_is_explained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_witness(scene, "hip", "open", 3);
	scene_witness(scene, "hip", "calls", 7);
	trace = scene_finish(scene);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "hip")), 2);
	assert_true(ledger_is_closed(trace));
}

static void witness_that_found_no_room_accuses_nobody(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_witness(scene, "hip", "calls", 2);
	scene_gate(scene, 0, 3, 3);
	scene_drop(scene, RECORD_CLASS_META, RECORD_DROP_FULL);
	trace = scene_finish(scene);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "meta")), 1);
	assert_string_equal(trace_text(trace, scene_source(trace, "hip")->witness), "writers");
	assert_true(ledger_is_closed(trace));
}

static void witnesses_of_before_the_end_accuse_nobody(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_witness(scene, "hip", "calls", 2);
	scene_run_calls(scene, 5);
	scene_witness(scene, "session", "parts_not_stopped", 1);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->expected, 5);
	assert_true(ledger_is_closed(trace));
}

static void dispatch_more_at_the_gate_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_gate(scene, 0, 6, 6);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->unexplained, 1);
}

static void packet_past_the_gate_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_gate(scene, 0, 5, 7);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.packet")->unexplained, 2);
}

static void ring_full_counts_drops(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	const struct trace_source *source;

	scene_run_calls(scene, 5);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_REENTERED);
	scene_gate(scene, 0, 8, 8);
	trace = scene_finish(scene);
	source = scene_source(trace, "hsa.dispatch");
	assert_int_equal(source->drop_count, 2);
	assert_string_equal(trace_text(trace, trace->drops[source->drop_first].cause),
			    "no free chunk");
	assert_int_equal(trace->drops[source->drop_first].count, 2);
	assert_int_equal(trace->drops[source->drop_first + 1].count, 1);
	assert_true(ledger_is_closed(trace));
}

static void completion_that_is_missing_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_dispatch(scene, 0, 0, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(trace->activities[0].untimed, RECORD_UNTIMED_RECORD_LOST);
	assert_int_equal(scene_source(trace, "hsa.done")->unexplained, 1);
}

static void completion_of_nothing_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, 0, 0, 1, 1);
	scene_done(scene, 99, 5000, 6000);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.done")->orphan_activities, 1);
	assert_int_equal(scene_source(trace, "hsa.done")->unexplained, 1);
}

/*
 * Three submissions without a record: one completion is kept, two are dropped, and so is that of
 * the sixth dispatch.
 */
static void completions_of_dropped_submissions_are_explained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_dispatch(scene, 0, 0, 1, 1);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_done(scene, 99, 5000, 6000);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DONE, RECORD_DROP_FULL);
	scene_gate(scene, 0, 9, 9);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.done")->orphan_activities, 1);
	assert_true(ledger_is_closed(trace));
}

static void more_completions_than_submissions_are_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DONE, RECORD_DROP_FULL);
	scene_gate(scene, 0, 6, 6);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.done")->unexplained, 2);
}

static void one_packet_twice_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, 0, 0, 1, 1);
	scene->next_packet = 0;
	scene_dispatch(scene, 0, 0, 1, 1);
	trace = scene_finish(scene);
	/* Both submissions are kept; the completion can belong to only one of them. */
	assert_int_equal(trace->activities_count, 2);
	assert_int_equal(trace->activities[0].untimed, RECORD_UNTIMED_NO);
	assert_int_equal(trace->activities[1].untimed, RECORD_UNTIMED_RECORD_LOST);
	assert_false(ledger_is_closed(trace));
}

static void killed_process_closes_for_what_was_committed(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_witness(scene, "hip", "calls", 1);
	scene_gate(scene, 0, 1, 1);
	scene_run_calls(scene, 5);
	scene_dispatch(scene, scene_reserve_cid(scene), 0, 1, 1);
	trace = scene_take(scene);
	assert_true(trace->truncated);
	assert_int_equal(trace->activities_count, 6);
	assert_int_equal(trace->activities[5].untimed, RECORD_UNTIMED_TRUNCATED);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "hsa.done")), 1);
	assert_true(ledger_is_closed(trace));
}

static void launches_submitted_by_another_thread_are_explained(void **state)
{
	struct scene *scene = *state;
	static const uint64_t functions[] = {0x101, 0x101};
	static const uint32_t grids[] = {1, 1};

	for (unsigned rows = 1; rows <= 2; rows++) {
		struct trace *trace;
		uint64_t cid;

		scene_again(scene);
		scene_graph(scene, 7, 31, 2, functions, grids);
		cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 0, (uint64_t[]){1, 0}, 2);
		scene_graph_launch(scene, 31, 0, cid);
		for (unsigned i = 0; i < rows; i++)
			scene_run(scene, 0, 0, 1, 1);
		trace = scene_finish(scene);
		/* As many activities without a call as are missing, or one less. */
		assert_int_equal(scene_source(trace, "graph")->unexplained, 2 - rows);
	}
}

/*
 * Launches whose packets were on their way when tracing ended have no rows: as many as there were
 * such packets.
 */
static void packets_that_were_cut_are_explained(void **state)
{
	struct scene *scene = *state;
	for (unsigned cut = 1; cut <= 2; cut++) {
		struct trace *trace;

		scene_again(scene);
		scene_run_calls(scene, 5);
		for (unsigned i = 0; i < 2; i++)
			scene_call(scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);
		scene_gate(scene, 0, 5, 5);
		scene_witness(scene, "hsa", "packets_cut", cut);
		trace = scene_finish(scene);
		assert_int_equal(scene_source(trace, "hip")->unexplained, cut < 2 ? 2 : 0);
		assert_int_equal(scene_source(trace, "hsa.packet")->expected, 5 + cut);
		assert_int_equal(ledger_dropped(trace, scene_source(trace, "hsa.packet")), cut);
		/* Two calls that are not complete; one launch without its kernel. */
		assert_int_equal(scene_unexplained(trace), cut < 2 ? 3 : 0);
	}
}

static void nodes_that_were_cut_are_explained(void **state)
{
	struct scene *scene = *state;
	static const uint64_t functions[] = {0x101, 0x101, 0x101};
	static const uint32_t grids[] = {1, 1, 1};

	for (unsigned cut = 1; cut <= 2; cut++) {
		struct trace *trace;
		uint64_t cid;

		scene_again(scene);
		scene_graph(scene, 7, 31, 3, functions, grids);
		cid = scene_call(scene, SCENE_GRAPH_LAUNCH, 3, (uint64_t[]){1, 0}, 2);
		scene_graph_launch(scene, 31, 0, cid);
		scene_run(scene, cid, 0, 1, 1);
		scene_gate(scene, 0, 1, 1);
		scene_witness(scene, "hsa", "packets_cut", cut);
		trace = scene_finish(scene);
		assert_int_equal(scene_source(trace, "graph")->unexplained, 2 - cut);
		assert_int_equal(ledger_dropped(trace, scene_source(trace, "graph")), cut);
	}
}

static void source_says_why_it_is_partial(void **state)
{
	struct {
		struct record_source fixed;
		char text[8];
	} record = {{.name = "hip", .text_bytes = 7}, "because"};
	struct scene *scene = *state;
	struct trace *trace;
	const struct trace_source *source;

	scene_run_calls(scene, 1);
	scene_put(scene, 0, RECORD_SOURCE, RECORD_SOURCE_PARTIAL, &record, sizeof(record));
	trace = scene_finish(scene);
	source = scene_source(trace, "hip");
	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_string_equal(trace_text(trace, source->text), "because");
}

/* What was read of the second copy is not loaded. */
static void chunk_twice_counts_once(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	scene_close(scene);
	memcpy(scene->image + scene_bytes(scene), scene->chunk[0], SPOOL_CHUNK_BYTES);
	scene->chunks++;
	trace = scene_take(scene);
	assert_int_equal(trace->calls_count, 5);
	assert_int_equal(trace->activities_count, 5);
	assert_int_equal(scene_unexplained(trace), 0);
	assert_int_equal(trace->messages_count, 1);
	assert_true(trace->messages[0].damage);
	assert_non_null(strstr(trace_text(trace, trace->messages[0].text), "two chunks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(witnesses_that_agree_close_it),
		SCENE_CASE(last_count_of_a_queue_is_the_greatest),
		SCENE_CASE(last_of_witnesses_at_one_time_has_the_highest_number),
		SCENE_CASE(call_more_than_rows_is_unexplained),
		SCENE_CASE(call_that_never_returned_is_explained),
		SCENE_CASE(call_that_returned_after_the_count_is_explained),
		SCENE_CASE(witness_that_found_no_room_accuses_nobody),
		SCENE_CASE(witnesses_of_before_the_end_accuse_nobody),
		SCENE_CASE(dispatch_more_at_the_gate_is_unexplained),
		SCENE_CASE(packet_past_the_gate_is_unexplained),
		SCENE_CASE(ring_full_counts_drops),
		SCENE_CASE(completion_that_is_missing_is_unexplained),
		SCENE_CASE(completion_of_nothing_is_unexplained),
		SCENE_CASE(completions_of_dropped_submissions_are_explained),
		SCENE_CASE(more_completions_than_submissions_are_unexplained),
		SCENE_CASE(one_packet_twice_is_unexplained),
		SCENE_CASE(killed_process_closes_for_what_was_committed),
		SCENE_CASE(launches_submitted_by_another_thread_are_explained),
		SCENE_CASE(packets_that_were_cut_are_explained),
		SCENE_CASE(nodes_that_were_cut_are_explained),
		SCENE_CASE(source_says_why_it_is_partial),
		SCENE_CASE(chunk_twice_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
