/* The ledger: what the device has counted, and packets that it took or did not take. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/ledger/ledger.h"

/* Records the software GPU's counts of kernel dispatches, barrier packets and copies. */
static void device_counts(struct scene *scene, uint64_t dispatches, uint64_t barriers,
			  uint64_t copies)
{
	scene_witness(scene, "softgpu", "packets_kernel_dispatch", dispatches);
	scene_witness(scene, "softgpu", "packets_barrier_and", barriers);
	scene_witness(scene, "softgpu", "packets_barrier_or", 0);
	scene_witness(scene, "softgpu", "copies", copies);
	scene_witness(scene, "softgpu", "copies_rect", 0);
}

/* Five dispatches are recorded; the arguments are the device's counts. */
static struct trace *beside_device(struct scene *scene, uint64_t dispatches, uint64_t barriers,
				   uint64_t vendor, uint64_t untraced, uint64_t waiting)
{

	scene_again(scene);
	scene_run_calls(scene, 5);
	scene_gate(scene, 0, 5, 5);
	device_counts(scene, dispatches, barriers, 0);
	scene_witness(scene, "softgpu", "packets_vendor", vendor);
	scene_witness(scene, "hsa", "packets_untraced", untraced);
	scene_witness(scene, "hsa", "packets_waiting", waiting);
	return scene_finish(scene);
}

static void softgpu_disagrees(void **state)
{
	struct trace *trace = beside_device(*state, 9, 0, 0, 0, 0);

	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 4);
	assert_int_equal(scene_unexplained(trace), 4);
	assert_true(ledger_is_device_alone(trace));
}

/* Also when nothing is wrong, and when another source reports it, too. */
static void device_is_not_alone(void **state)
{
	struct scene *scene = *state;
	struct trace *trace = beside_device(*state, 5, 0, 0, 0, 0);

	assert_true(ledger_is_closed(trace));
	assert_false(ledger_is_device_alone(trace));
	scene_again(scene);
	scene_run_calls(scene, 5);
	scene_gate(scene, 0, 6, 6);
	device_counts(scene, 6, 0, 0);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 1);
	assert_false(ledger_is_device_alone(trace));
}

static void packets_sent_after_tracing_are_explained(void **state)
{
	for (unsigned lost = 0; lost <= 3; lost++) {
		struct trace *trace = beside_device(*state, 9 + lost, 0, 0, 4, 0);
		const struct trace_source *source = scene_source(trace, "softgpu.dispatch");

		assert_int_equal(ledger_dropped(trace, source), 4);
		assert_int_equal(source->unexplained, lost);
	}
}

/* A packet explains one packet, of any kind. */
static void packets_sent_after_tracing_explain_once(void **state)
{
	struct trace *trace = beside_device(*state, 8, 3, 0, 4, 0);

	assert_int_equal(scene_unexplained(trace), 2);
	trace = beside_device(*state, 8, 0, 2, 4, 0);
	assert_int_equal(scene_unexplained(trace), 1);
	trace = beside_device(*state, 7, 1, 1, 4, 0);
	assert_int_equal(scene_unexplained(trace), 0);
}

static struct trace *beside_unknown_queues(struct scene *scene, uint64_t dispatches,
					   uint64_t packets, uint64_t submissions)
{

	scene_again(scene);
	scene_run_calls(scene, 5);
	scene_gate(scene, 0, 5, 5);
	scene_witness(scene, "hsa", "packets_unknown", packets);
	scene_witness(scene, "hsa", "submissions_unknown", submissions);
	if (dispatches) {
		device_counts(scene, dispatches, 0, 0);
	}
	return scene_finish(scene);
}

/*
 * Packets that no gate has seen are unexplained once, whether or not the device reports its counts.
 */
static void packets_of_unknown_queues_are_unexplained(void **state)
{
	struct trace *trace = beside_unknown_queues(*state, 0, 0, 0);

	assert_int_equal(scene_unexplained(trace), 0);
	trace = beside_unknown_queues(*state, 0, 7, 0);
	assert_int_equal(scene_source(trace, "hsa.unknown")->expected, 7);
	assert_int_equal(scene_source(trace, "hsa.unknown")->unexplained, 7);
	assert_int_equal(scene_unexplained(trace), 7);
	assert_false(ledger_is_closed(trace));
	trace = beside_unknown_queues(*state, 5 + 7 + 1, 7, 0);
	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 1);
	assert_int_equal(scene_unexplained(trace), 7 + 1);
	trace = beside_unknown_queues(*state, 5, 0, 3);
	assert_int_equal(scene_source(trace, "hsa.engine")->unexplained, 3);
	assert_int_equal(scene_unexplained(trace), 3);
}

static void packets_that_the_device_has_not_taken_are_explained(void **state)
{
	struct trace *trace = beside_device(*state, 3, 0, 0, 0, 2);

	assert_int_equal(scene_unexplained(trace), 0);
	trace = beside_device(*state, 2, 0, 0, 0, 2);
	assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, 1);
}

/* Each explains one packet, of any kind, and is one loss. */
static void packets_that_passed_unrecorded_are_losses(void **state)
{
	struct scene *scene = *state;
	for (unsigned missing = 2; missing <= 3; missing++) {
		const struct trace_source *packets;
		struct trace *trace;

		scene_again(scene);
		scene_run_calls(scene, 5);
		for (unsigned i = 0; i < missing; i++)
			scene_call(scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);
		scene_gate(scene, 0, 5, 5 + missing);
		device_counts(scene, 5 + missing, 0, 0);
		scene_witness(scene, "hsa", "packets_unrecorded", 2);
		trace = scene_finish(scene);
		packets = scene_source(trace, "hsa.packet");
		assert_int_equal(ledger_dropped(trace, packets), 2);
		assert_int_equal(packets->unexplained, missing - 2);
		assert_int_equal(scene_source(trace, "softgpu.dispatch")->unexplained, missing - 2);
		assert_int_equal(scene_source(trace, "hip")->unexplained, missing > 2 ? 3 : 0);
		assert_int_equal(ledger_lost(trace), 2);
	}
}

static struct trace *killed_with(struct scene *scene, bool has_fault)
{
	struct record_queue_taken taken = {.ns = 1, .taken = 3};
	struct record_queue_taken older = {.ns = 1, .taken = 1};
	struct record_fault fault = {.ns = 1, .address = 0x1000, .reason = 1u << 1};
	struct trace *trace;

	scene_again(scene);
	scene_run_calls(scene, 2);
	for (unsigned i = 0; i < 3; i++)
		scene_dispatch(scene, scene_reserve_cid(scene), 0, 1, 1);
	scene_put(scene, 0, RECORD_QUEUE_TAKEN, 1, &taken, sizeof(taken));
	scene_put(scene, 0, RECORD_QUEUE_TAKEN, 1, &older, sizeof(older));
	if (has_fault)
		scene_put(scene, 0, RECORD_FAULT, 0, &fault, sizeof(fault));
	trace = scene_take(scene);
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
	struct scene *scene = *state;
	enum { FAULTS = 2000 };
	struct trace *trace;
	char text[64];

	for (uint64_t i = 1; i <= FAULTS; i++) {
		struct record_fault fault = {
			.ns = 1, .agent = SCENE_AGENT_GPU, .address = i << 12, .reason = 1};

		scene_put(scene, 0, RECORD_FAULT, 0, &fault, sizeof(fault));
	}
	trace = scene_take(scene);
	for (uint64_t i = 1; i <= FAULTS; i++) {
		snprintf(text, sizeof(text), "memory fault of gfx906 at address 0x%" PRIx64 ":",
			 i << 12);
		assert_true(is_said(trace, text));
	}
}

/* When the process was killed, the device may have taken more packets since. */
static void what_was_on_the_device_is_said(void **state)
{
	for (int has_fault = 0; has_fault <= 1; has_fault++) {
		struct trace *trace = killed_with(*state, has_fault);
		enum record_untimed behind =
			has_fault ? RECORD_UNTIMED_IN_QUEUE : RECORD_UNTIMED_TRUNCATED;

		assert_int_equal(trace->activities_count, 5);
		assert_int_equal(trace->activities[1].untimed, RECORD_UNTIMED_NO);
		assert_int_equal(trace->activities[2].untimed, RECORD_UNTIMED_ON_DEVICE);
		assert_int_equal(trace->activities[3].untimed, behind);
		assert_int_equal(trace->activities[4].untimed, behind);
		assert_true(is_said(trace, "packet 2 of queue 1"));
		assert_int_equal(is_said(trace, "0x1000: write to a read-only page"), has_fault);
	}
}

static void copies_sent_after_tracing_are_explained(void **state)
{
	struct scene *scene = *state;

	for (unsigned lost = 0; lost <= 1; lost++) {
		struct trace *trace;

		scene_again(scene);
		device_counts(scene, 0, 0, 2 + lost);
		scene_witness(scene, "hsa", "copies_untraced", 2);
		scene_witness(scene, "hsa", "packets_untraced", 9);
		trace = scene_finish(scene);
		assert_int_equal(scene_source(trace, "softgpu.copy")->unexplained, lost);
	}
}

/* The software GPU's line counts the same records again. */
static void a_record_is_lost_once(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run_calls(scene, 5);
	for (int i = 0; i < 3; i++)
		scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_gate(scene, 0, 8, 8);
	device_counts(scene, 8, 0, 0);
	trace = scene_finish(scene);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "hsa.dispatch")), 3);
	assert_int_equal(ledger_dropped(trace, scene_source(trace, "softgpu.dispatch")), 3);
	assert_int_equal(ledger_lost(trace), 3);
	assert_true(ledger_is_closed(trace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(softgpu_disagrees),
		SCENE_CASE(device_is_not_alone),
		SCENE_CASE(packets_sent_after_tracing_are_explained),
		SCENE_CASE(packets_sent_after_tracing_explain_once),
		SCENE_CASE(packets_of_unknown_queues_are_unexplained),
		SCENE_CASE(packets_that_the_device_has_not_taken_are_explained),
		SCENE_CASE(packets_that_passed_unrecorded_are_losses),
		SCENE_CASE(each_of_many_faults_names_its_gpu),
		SCENE_CASE(what_was_on_the_device_is_said),
		SCENE_CASE(copies_sent_after_tracing_are_explained),
		SCENE_CASE(a_record_is_lost_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
