/* The ledger: compares the counts of witnesses with the rows. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

static void gate_by(struct scene *scene, unsigned writer, uint64_t dispatches, uint64_t write_index)
{
	struct record_queue_count record = {
		.ns = scene->ns,
		.write_index = write_index,
		.dispatches = dispatches,
	};

	scene_put(scene, writer, RECORD_QUEUE_COUNT, 1, &record, sizeof(record));
}

static void gate(struct scene *scene, uint64_t dispatches, uint64_t write_index)
{
	gate_by(scene, 0, dispatches, write_index);
}

static void run_calls(struct scene *scene, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		scene_run(scene,
			  scene_call(scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2), 0,
			  1, 1);
}

static void witnesses_that_agree_close_it(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
	gate(scene, 3, 3);
	gate(scene, 5, 5);
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
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 2);
	run_calls(&scene, 5);
	/* Two threads at the same time: the records do not tell which was first. */
	gate_by(&scene, 0, 5, 5);
	gate_by(&scene, 1, 4, 5);
	trace = scene_finish(&scene);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->expected, 5);
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

static void witness_by(struct scene *scene, unsigned writer, uint32_t number, uint64_t value)
{
	struct record_witness record = {
		.ns = scene->ns, .value = value, .source = "hip", .key = "calls"};

	scene_put(scene, writer, RECORD_WITNESS, number, &record, sizeof(record));
}

static void last_of_witnesses_at_one_time_has_the_highest_number(void **state)
{
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 2);
	run_calls(&scene, 5);
	witness_by(&scene, 0, 2, 5);
	witness_by(&scene, 1, 1, 4);
	trace = scene_finish(&scene);
	assert_int_equal(scene_source(trace, "hip")->expected, 5);
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

static void call_more_than_rows_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
	scene_witness(scene, "hip", "calls", 6);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->unexplained, 1);
	assert_false(ledger_is_closed(trace));
}

static void call_that_never_returned_is_explained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
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

	run_calls(scene, 5);
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

	run_calls(scene, 5);
	scene_witness(scene, "hip", "calls", 2);
	gate(scene, 3, 3);
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
	run_calls(scene, 5);
	scene_witness(scene, "session", "parts_not_stopped", 1);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->expected, 5);
	assert_true(ledger_is_closed(trace));
}

static void dispatch_more_at_the_gate_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
	gate(scene, 6, 6);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->unexplained, 1);
}

static void packet_past_the_gate_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
	gate(scene, 5, 7);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.packet")->unexplained, 2);
}

/* Five dispatches are recorded; the arguments are the device's counts. */
static struct trace *beside_device(uint64_t dispatches, uint64_t barriers, uint64_t vendor,
				   uint64_t untraced, uint64_t waiting)
{
	struct scene scene;

	scene_init(&scene, 1);
	run_calls(&scene, 5);
	gate(&scene, 5, 5);
	scene_witness(&scene, "softgpu", "packets_kernel_dispatch", dispatches);
	scene_witness(&scene, "softgpu", "packets_barrier_and", barriers);
	scene_witness(&scene, "softgpu", "packets_barrier_or", 0);
	scene_witness(&scene, "softgpu", "packets_vendor", vendor);
	scene_witness(&scene, "softgpu", "copies", 0);
	scene_witness(&scene, "softgpu", "copies_rect", 0);
	scene_witness(&scene, "hsa", "packets_untraced", untraced);
	scene_witness(&scene, "hsa", "packets_waiting", waiting);
	return scene_finish(&scene);
}

static uint64_t unexplained_of(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->sources_count; i++)
		sum += trace->sources[i].unexplained;
	return sum;
}

static void softgpu_disagrees(void **state)
{
	struct trace *trace = beside_device(9, 0, 0, 0, 0);

	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 4);
	assert_int_equal(unexplained_of(trace), 4);
	assert_true(ledger_is_device_alone(trace));
	trace_close(trace);
}

/* Also when nothing is wrong, and when another source reports it, too. */
static void device_is_not_alone(void **state)
{
	struct trace *trace = beside_device(5, 0, 0, 0, 0);
	struct scene scene;

	assert_true(ledger_is_closed(trace));
	assert_false(ledger_is_device_alone(trace));
	trace_close(trace);
	scene_init(&scene, 1);
	run_calls(&scene, 5);
	gate(&scene, 6, 6);
	for (int i = 0; i < 5; i++)
		scene_witness(&scene, "softgpu",
			      (const char *[]){"packets_kernel_dispatch", "packets_barrier_and",
					       "packets_barrier_or", "copies", "copies_rect"}[i],
			      i ? 0 : 6);
	trace = scene_finish(&scene);
	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 1);
	assert_false(ledger_is_device_alone(trace));
	trace_close(trace);
}

static void packets_sent_after_tracing_are_explained(void **state)
{
	for (unsigned lost = 0; lost <= 3; lost++) {
		struct trace *trace = beside_device(9 + lost, 0, 0, 4, 0);
		const struct trace_source *source = scene_source(trace, "softgpu.dispatch");

		assert_int_equal(ledger_dropped(trace, source), 4);
		assert_int_equal(source->unexplained, lost);
		trace_close(trace);
	}
}

/* A packet explains one packet, of any kind. */
static void packets_sent_after_tracing_explain_once(void **state)
{
	struct trace *trace = beside_device(8, 3, 0, 4, 0);

	assert_int_equal(unexplained_of(trace), 2);
	trace_close(trace);
	trace = beside_device(8, 0, 2, 4, 0);
	assert_int_equal(unexplained_of(trace), 1);
	trace_close(trace);
	trace = beside_device(7, 1, 1, 4, 0);
	assert_int_equal(unexplained_of(trace), 0);
	trace_close(trace);
}

static struct trace *beside_unknown_queues(uint64_t dispatches, uint64_t packets,
					   uint64_t submissions)
{
	struct scene scene;

	scene_init(&scene, 1);
	run_calls(&scene, 5);
	gate(&scene, 5, 5);
	scene_witness(&scene, "hsa", "packets_unknown", packets);
	scene_witness(&scene, "hsa", "submissions_unknown", submissions);
	if (dispatches) {
		scene_witness(&scene, "softgpu", "packets_kernel_dispatch", dispatches);
		scene_witness(&scene, "softgpu", "packets_barrier_and", 0);
		scene_witness(&scene, "softgpu", "packets_barrier_or", 0);
		scene_witness(&scene, "softgpu", "copies", 0);
		scene_witness(&scene, "softgpu", "copies_rect", 0);
	}
	return scene_finish(&scene);
}

/*
 * Packets that no gate has seen are unexplained once, whether or not the device reports its counts.
 */
static void packets_of_unknown_queues_are_unexplained(void **state)
{
	struct trace *trace = beside_unknown_queues(0, 0, 0);

	assert_int_equal(unexplained_of(trace), 0);
	trace_close(trace);
	trace = beside_unknown_queues(0, 7, 0);
	assert_int_equal(scene_source(trace, "hsa.unknown")->expected, 7);
	assert_int_equal(scene_source(trace, "hsa.unknown")->unexplained, 7);
	assert_int_equal(unexplained_of(trace), 7);
	assert_false(ledger_is_closed(trace));
	trace_close(trace);
	trace = beside_unknown_queues(5 + 7 + 1, 7, 0);
	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 1);
	assert_int_equal(unexplained_of(trace), 7 + 1);
	trace_close(trace);
	trace = beside_unknown_queues(5, 0, 3);
	assert_int_equal(scene_source(trace, "hsa.engine")->unexplained, 3);
	assert_int_equal(unexplained_of(trace), 3);
	trace_close(trace);
}

static void packets_that_the_device_has_not_taken_are_explained(void **state)
{
	struct trace *trace = beside_device(3, 0, 0, 0, 2);

	assert_int_equal(unexplained_of(trace), 0);
	trace_close(trace);
	trace = beside_device(2, 0, 0, 0, 2);
	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 1);
	trace_close(trace);
}

/* Each explains one packet, of any kind, and is one loss. */
static void packets_that_passed_unrecorded_are_losses(void **state)
{
	for (unsigned missing = 2; missing <= 3; missing++) {
		const struct trace_source *packets;
		struct scene scene;
		struct trace *trace;

		scene_init(&scene, 1);
		run_calls(&scene, 5);
		for (unsigned i = 0; i < missing; i++)
			scene_call(&scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);
		gate(&scene, 5, 5 + missing);
		scene_witness(&scene, "softgpu", "packets_kernel_dispatch", 5 + missing);
		scene_witness(&scene, "softgpu", "packets_barrier_and", 0);
		scene_witness(&scene, "softgpu", "packets_barrier_or", 0);
		scene_witness(&scene, "softgpu", "copies", 0);
		scene_witness(&scene, "softgpu", "copies_rect", 0);
		scene_witness(&scene, "hsa", "packets_unrecorded", 2);
		trace = scene_finish(&scene);
		packets = scene_source(trace, "hsa.packet");
		assert_int_equal(ledger_dropped(trace, packets), 2);
		assert_int_equal(packets->unexplained, missing - 2);
		assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, missing - 2);
		assert_int_equal(scene_source(trace, "hip")->unexplained, missing > 2 ? 3 : 0);
		assert_int_equal(ledger_lost(trace), 2);
		trace_close(trace);
	}
}

static struct trace *killed_with(bool has_fault)
{
	struct record_queue_taken taken = {.ns = 1, .taken = 3};
	struct record_queue_taken older = {.ns = 1, .taken = 1};
	struct record_fault fault = {.ns = 1, .address = 0x1000, .reason = 1u << 1};
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	run_calls(&scene, 2);
	for (unsigned i = 0; i < 3; i++)
		scene_dispatch(&scene, scene_reserve_cid(&scene), 0, 1, 1);
	scene_put(&scene, 0, RECORD_QUEUE_TAKEN, 1, &taken, sizeof(taken));
	scene_put(&scene, 0, RECORD_QUEUE_TAKEN, 1, &older, sizeof(older));
	if (has_fault)
		scene_put(&scene, 0, RECORD_FAULT, 0, &fault, sizeof(fault));
	trace = scene_load(&scene);
	scene_release(&scene);
	return trace;
}

static bool is_said(const struct trace *trace, const char *text)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (strstr(trace_text(trace, trace->messages[i].text), text))
			return true;
	}
	return false;
}

/* The texts of earlier messages make the table of strings grow, which moves it. */
static void each_of_many_faults_names_its_gpu(void **state)
{
	enum { FAULTS = 2000 };
	struct scene scene;
	struct trace *trace;
	char text[64];

	scene_init(&scene, 1);
	for (uint64_t i = 1; i <= FAULTS; i++) {
		struct record_fault fault = {
			.ns = 1, .agent = SCENE_AGENT_GPU, .address = i << 12, .reason = 1};

		scene_put(&scene, 0, RECORD_FAULT, 0, &fault, sizeof(fault));
	}
	trace = scene_load(&scene);
	scene_release(&scene);
	for (uint64_t i = 1; i <= FAULTS; i++) {
		snprintf(text, sizeof(text), "memory fault of gfx906 at address 0x%" PRIx64 ":",
			 i << 12);
		assert_true(is_said(trace, text));
	}
	trace_close(trace);
}

/* When the process was killed, the device may have taken more packets since. */
static void what_was_on_the_device_is_said(void **state)
{
	for (int has_fault = 0; has_fault <= 1; has_fault++) {
		struct trace *trace = killed_with(has_fault);
		enum record_untimed behind =
			has_fault ? RECORD_UNTIMED_IN_QUEUE : RECORD_UNTIMED_TRUNCATED;

		assert_int_equal(trace->activities_count, 5);
		assert_int_equal(trace->activities[1].untimed, RECORD_UNTIMED_NO);
		assert_int_equal(trace->activities[2].untimed, RECORD_UNTIMED_ON_DEVICE);
		assert_int_equal(trace->activities[3].untimed, behind);
		assert_int_equal(trace->activities[4].untimed, behind);
		assert_true(is_said(trace, "packet 2 of queue 1"));
		assert_int_equal(is_said(trace, "0x1000: write to a read-only page"), has_fault);
		trace_close(trace);
	}
}

static void copies_sent_after_tracing_are_explained(void **state)
{
	static const char *const zero[] = {"packets_kernel_dispatch", "packets_barrier_and",
					   "packets_barrier_or", "copies_rect"};

	for (unsigned lost = 0; lost <= 1; lost++) {
		struct scene scene;
		struct trace *trace;

		scene_init(&scene, 1);
		for (int i = 0; i < 4; i++)
			scene_witness(&scene, "softgpu", zero[i], 0);
		scene_witness(&scene, "softgpu", "copies", 2 + lost);
		scene_witness(&scene, "hsa", "copies_untraced", 2);
		scene_witness(&scene, "hsa", "packets_untraced", 9);
		trace = scene_finish(&scene);
		assert_int_equal(scene_source(trace, "softgpu.copy")->unexplained, lost);
		trace_close(trace);
	}
}

static void ring_full_counts_drops(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	const struct trace_source *source;

	run_calls(scene, 5);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_REENTERED);
	gate(scene, 8, 8);
	trace = scene_finish(scene);
	source = scene_source(trace, "hsa.dispatch");
	assert_int_equal(source->drop_count, 2);
	assert_string_equal(trace_text(trace, trace->drops[source->drop_first].cause),
			    "no free chunk");
	assert_int_equal(trace->drops[source->drop_first].count, 2);
	assert_int_equal(trace->drops[source->drop_first + 1].count, 1);
	assert_true(ledger_is_closed(trace));
}

/* The software GPU's line counts the same records again. */
static void a_record_is_lost_once(void **state)
{
	static const char *const zero[] = {"packets_barrier_and", "packets_barrier_or", "copies",
					   "copies_rect"};
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	gate(scene, 8, 8);
	scene_witness(scene, "softgpu", "packets_kernel_dispatch", 8);
	for (int i = 0; i < 4; i++)
		scene_witness(scene, "softgpu", zero[i], 0);
	trace = scene_finish(scene);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "hsa.dispatch")), 3);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "softgpu.dispatch")), 3);
	assert_int_equal(ledger_lost(trace), 3);
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

	run_calls(scene, 5);
	scene_dispatch(scene, 0, 0, 1, 1);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_done(scene, 99, 5000, 6000);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DONE, RECORD_DROP_FULL);
	gate(scene, 9, 9);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.done")->orphan_activities, 1);
	assert_true(ledger_is_closed(trace));
}

static void more_completions_than_submissions_are_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	run_calls(scene, 5);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DONE, RECORD_DROP_FULL);
	gate(scene, 6, 6);
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
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	scene_witness(&scene, "hip", "calls", 1);
	gate(&scene, 1, 1);
	run_calls(&scene, 5);
	scene_dispatch(&scene, scene_reserve_cid(&scene), 0, 1, 1);
	trace = scene_load(&scene);
	scene_release(&scene);
	assert_true(trace->truncated);
	assert_int_equal(trace->activities_count, 6);
	assert_int_equal(trace->activities[5].untimed, RECORD_UNTIMED_TRUNCATED);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "hsa.done")), 1);
	assert_true(ledger_is_closed(trace));
	trace_close(trace);
}

static void launches_submitted_by_another_thread_are_explained(void **state)
{
	static const uint64_t functions[] = {0x101, 0x101};
	static const uint32_t grids[] = {1, 1};

	for (unsigned rows = 1; rows <= 2; rows++) {
		struct scene scene;
		struct trace *trace;
		uint64_t cid;

		scene_init(&scene, 1);
		scene_graph(&scene, 7, 31, 2, functions, grids);
		cid = scene_call(&scene, SCENE_GRAPH_LAUNCH, 0, (uint64_t[]){1, 0}, 2);
		scene_graph_launch(&scene, 31, 0, cid);
		for (unsigned i = 0; i < rows; i++)
			scene_run(&scene, 0, 0, 1, 1);
		trace = scene_finish(&scene);
		/* As many activities without a call as are missing, or one less. */
		assert_int_equal(scene_source(trace, "graph")->unexplained, 2 - rows);
		trace_close(trace);
	}
}

/*
 * Launches whose packets were on their way when tracing ended have no rows: as many as there were
 * such packets.
 */
static void packets_that_were_cut_are_explained(void **state)
{
	for (unsigned cut = 1; cut <= 2; cut++) {
		struct scene scene;
		struct trace *trace;

		scene_init(&scene, 1);
		run_calls(&scene, 5);
		for (unsigned i = 0; i < 2; i++)
			scene_call(&scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);
		gate(&scene, 5, 5);
		scene_witness(&scene, "hsa", "packets_cut", cut);
		trace = scene_finish(&scene);
		assert_int_equal(scene_source(trace, "hip")->unexplained, cut < 2 ? 2 : 0);
		assert_int_equal(scene_source(trace, "hsa.packet")->expected, 5 + cut);
		assert_int_equal(ledger_dropped(trace, scene_source(trace, "hsa.packet")), cut);
		/* Two calls that are not complete; one launch without its kernel. */
		assert_int_equal(unexplained_of(trace), cut < 2 ? 3 : 0);
		trace_close(trace);
	}
}

static void nodes_that_were_cut_are_explained(void **state)
{
	static const uint64_t functions[] = {0x101, 0x101, 0x101};
	static const uint32_t grids[] = {1, 1, 1};

	for (unsigned cut = 1; cut <= 2; cut++) {
		struct scene scene;
		struct trace *trace;
		uint64_t cid;

		scene_init(&scene, 1);
		scene_graph(&scene, 7, 31, 3, functions, grids);
		cid = scene_call(&scene, SCENE_GRAPH_LAUNCH, 3, (uint64_t[]){1, 0}, 2);
		scene_graph_launch(&scene, 31, 0, cid);
		scene_run(&scene, cid, 0, 1, 1);
		gate(&scene, 1, 1);
		scene_witness(&scene, "hsa", "packets_cut", cut);
		trace = scene_finish(&scene);
		assert_int_equal(scene_source(trace, "graph")->unexplained, 2 - cut);
		assert_int_equal(ledger_dropped(trace, scene_source(trace, "graph")), cut);
		trace_close(trace);
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

	run_calls(scene, 1);
	scene_put(scene, 0, RECORD_SOURCE, RECORD_SOURCE_PARTIAL, &record, sizeof(record));
	trace = scene_finish(scene);
	source = scene_source(trace, "hip");
	assert_string_equal(trace_text(trace, source->state), "partial");
	assert_string_equal(trace_text(trace, source->text), "because");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(witnesses_that_agree_close_it),
		cmocka_unit_test(last_count_of_a_queue_is_the_greatest),
		cmocka_unit_test(last_of_witnesses_at_one_time_has_the_highest_number),
		SCENE_CASE(call_more_than_rows_is_unexplained),
		SCENE_CASE(call_that_never_returned_is_explained),
		SCENE_CASE(call_that_returned_after_the_count_is_explained),
		SCENE_CASE(witness_that_found_no_room_accuses_nobody),
		SCENE_CASE(witnesses_of_before_the_end_accuse_nobody),
		SCENE_CASE(dispatch_more_at_the_gate_is_unexplained),
		SCENE_CASE(packet_past_the_gate_is_unexplained),
		cmocka_unit_test(softgpu_disagrees),
		cmocka_unit_test(device_is_not_alone),
		cmocka_unit_test(packets_sent_after_tracing_are_explained),
		cmocka_unit_test(packets_sent_after_tracing_explain_once),
		cmocka_unit_test(packets_of_unknown_queues_are_unexplained),
		cmocka_unit_test(packets_that_the_device_has_not_taken_are_explained),
		cmocka_unit_test(packets_that_passed_unrecorded_are_losses),
		cmocka_unit_test(each_of_many_faults_names_its_gpu),
		cmocka_unit_test(what_was_on_the_device_is_said),
		cmocka_unit_test(copies_sent_after_tracing_are_explained),
		SCENE_CASE(ring_full_counts_drops),
		SCENE_CASE(a_record_is_lost_once),
		SCENE_CASE(completion_that_is_missing_is_unexplained),
		SCENE_CASE(completion_of_nothing_is_unexplained),
		SCENE_CASE(completions_of_dropped_submissions_are_explained),
		SCENE_CASE(more_completions_than_submissions_are_unexplained),
		SCENE_CASE(one_packet_twice_is_unexplained),
		cmocka_unit_test(killed_process_closes_for_what_was_committed),
		cmocka_unit_test(launches_submitted_by_another_thread_are_explained),
		cmocka_unit_test(packets_that_were_cut_are_explained),
		cmocka_unit_test(nodes_that_were_cut_are_explained),
		SCENE_CASE(source_says_why_it_is_partial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
