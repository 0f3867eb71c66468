/* Calls, activities, streams, scopes: what belongs together is joined, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/workers.h"
#include "scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

/* Older recordings do not say where a GPU is. */
static void agents_of_before_have_no_place(void **state)
{
	struct record_agent gpu = {.handle = 0x7000,
				   .is_gpu = 1,
				   .uuid = "GPU-1",
				   .pci_domain = 1,
				   .pci_location = 3u << 28 | 0x1200,
				   .has_location = 1,
				   .driver_id = 4711};
	const struct trace_agent *agents;
	struct scene *scene = *state;
	struct trace *trace;

	(void)state;
	scene_put(scene, 0, RECORD_AGENT, 2, &gpu, RECORD_AGENT_LEAST);
	scene_put(scene, 0, RECORD_AGENT, 3, &gpu, sizeof(gpu));
	trace = scene_finish(scene);
	assert_int_equal(trace->agents_count, 4);
	agents = trace->agents;
	assert_string_equal(trace_text(trace, agents[2].uuid), "GPU-1");
	assert_false(agents[2].has_location);
	assert_int_equal(agents[2].driver_id, 0);
	assert_true(agents[3].has_location);
	assert_int_equal(agents[3].pci_domain, 1);
	assert_int_equal(agents[3].pci_location, 3u << 28 | 0x1200);
	assert_int_equal(agents[3].driver_id, 4711);
}

static void one_call_has_all_its_activities_in_order(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid, packets[3];

	cid = scene_reserve_cid(scene);
	packets[2] = scene_dispatch(scene, cid, 2, 2, 1);
	packets[0] = scene_dispatch(scene, cid, 0, 1, 1);
	packets[1] = scene_dispatch(scene, cid, 1, 2, 7);
	scene_done(scene, packets[1], 300, 400);
	scene_done(scene, packets[2], 500, 600);
	scene_done(scene, packets[0], 100, 200);
	scene_put_call(scene, 0, cid, SCENE_LAUNCH_KERNEL, 3, (uint64_t[]){0x101, 0}, 2);
	trace = scene_finish(scene);

	assert_int_equal(trace->calls_count, 1);
	assert_int_equal(trace->calls[0].activity_count, 3);
	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_activity *row =
			&trace->activities[trace->calls[0].activity_first + i];

		assert_int_equal(row->ordinal, i);
		assert_int_equal(row->call, 0);
		assert_int_equal(row->id, packets[i]);
		assert_int_equal(row->start_ns, 1000 + 2000 * (int64_t)i + 500);
		assert_int_equal(row->end_ns - row->start_ns, 1000);
	}
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->grid[0], 7);
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[0])->name),
			    "one");
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[1])->name),
			    "two");
	assert_true(ledger_is_closed(trace));
}

static void activity_without_call_is_kept_and_counted(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, 0, 0, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(trace->activities[0].call, TRACE_NONE);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->orphan_activities, 1);
	assert_true(ledger_is_closed(trace));
}

static void call_that_vanished_is_unexplained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, scene_reserve_cid(scene), 0, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->unexplained, 1);
	assert_false(ledger_is_closed(trace));
}

static void call_that_misses_an_activity_is_an_orphan_call(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 2, (uint64_t[]){0x101, 0}, 2);
	scene_run(scene, cid, 0, 1, 1);
	trace = scene_finish(scene);
	assert_int_equal(scene_source(trace, "hip")->orphan_calls, 1);
	assert_int_equal(scene_source(trace, "hip")->unexplained, 1);
}

static void barriers_count_among_what_a_call_submitted(void **state)
{
	struct record_barrier barrier = {.packet_index = 1};
	struct scene *scene = *state;
	struct trace *trace;

	barrier.cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 2, (uint64_t[]){0x101, 0}, 2);
	scene_run(scene, barrier.cid, 0, 1, 1);
	scene_put(scene, 0, RECORD_BARRIER, 1, &barrier, sizeof(barrier));
	trace = scene_finish(scene);
	assert_int_equal(trace->barriers_count, 1);
	assert_int_equal(trace->barriers[0].call, 0);
	assert_int_equal(scene_source(trace, "hip")->orphan_calls, 0);
	assert_true(ledger_is_closed(trace));
}

static void two_calls_of_two_threads_keep_their_own(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t first, second;

	first = scene_reserve_cid(scene);
	second = scene_reserve_cid(scene);
	scene_run(scene, second, 0, 2, 1);
	scene_run(scene, first, 0, 1, 1);
	scene_put_call(scene, 1, second, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x102, 0}, 2);
	scene_put_call(scene, 0, first, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);
	trace = scene_finish(scene);
	assert_int_equal(trace->calls[0].cid, first);
	assert_int_equal(trace->threads[trace->calls[0].thread].tid, 10);
	assert_int_equal(trace->threads[trace->calls[1].thread].tid, 11);
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[0])->name),
			    "one");
	assert_int_equal(trace->activities[0].thread, trace->calls[0].thread);
	assert_int_equal(trace->activities[1].thread, trace->calls[1].thread);
}

static void blits_are_copies_and_memsets_with_their_calls_bytes(void **state)
{
	const uint64_t copy_args[] = {0xd0, 0x50, 4096, 3, 0};
	const uint64_t fill_args[] = {0xd0, 7, 512};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t copy, fill;

	copy = scene_call(scene, SCENE_MEMCPY, 1, copy_args, 5);
	scene_run(scene, copy, 0, 4, 256);
	fill = scene_call(scene, SCENE_MEMSET, 1, fill_args, 3);
	scene_run(scene, fill, 0, 3, 256);
	trace = scene_finish(scene);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->kind, TRACE_COPY);
	assert_true(trace_work_of(trace, &trace->activities[0])->blit);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->bytes, 4096);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->direction, TRACE_D2D);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->dst, 0xd0);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->src, 0x50);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->kind, TRACE_MEMSET);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->bytes, 512);
}

static void blits_of_other_shapes_have_their_calls_bytes(void **state)
{
	const uint64_t fill_args[] = {0xd0, 64, 7, 48, 5, 3};
	const uint64_t copy_args[] = {0xa0, 0, 0, 0x50, 100, 1};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t call;

	call = scene_call(scene, SCENE_MEMSET_3D, 1, fill_args, 6);
	scene_run(scene, call, 0, 3, 256);
	call = scene_call(scene, SCENE_COPY_TO_ARRAY, 1, copy_args, 6);
	scene_run(scene, call, 0, 4, 256);
	trace = scene_finish(scene);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->bytes, 48 * 5 * 3);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->dst, 0xd0);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->bytes, 100);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->src, 0x50);
	/* An array's handle is not an address. */
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->dst, 0);
}

static void bytes_of_a_fill_in_pieces_are_not_guessed(void **state)
{
	const uint64_t args[] = {0xd0, 7, 513};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t fill;

	fill = scene_call(scene, SCENE_MEMSET, 2, args, 3);
	scene_run(scene, fill, 0, 3, 256);
	scene_run(scene, fill, 1, 3, 256);
	trace = scene_finish(scene);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->bytes, 0);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->bytes, 0);
}

/* Two copies of one call: each has its own size, not the call's. */
static void copy_bytes_from_record(void **state)
{
	struct record_copy copy = {
		.copy_id = 1,
		.bytes = 64,
		.dst_agent = SCENE_AGENT_GPU,
		.src_agent = SCENE_AGENT_CPU,
	};
	struct record_copy_done done = {.copy_id = 1, .start = 9000, .end = 9500};
	struct scene *scene = *state;
	struct trace *trace;

	copy.cid = scene_call(scene, SCENE_MEMCPY, 2, (uint64_t[]){1, 2, 100, 4, 0}, 5);
	scene_put(scene, 0, RECORD_COPY, RECORD_COPY_LINEAR, &copy, sizeof(copy));
	scene_put(scene, 1, RECORD_COPY_DONE, RECORD_UNTIMED_NO, &done, sizeof(done));
	copy.copy_id = 2;
	copy.bytes = 36;
	copy.ordinal = 1;
	scene_put(scene, 0, RECORD_COPY, RECORD_COPY_LINEAR, &copy, sizeof(copy));
	done.copy_id = 2;
	scene_put(scene, 1, RECORD_COPY_DONE, RECORD_UNTIMED_NO, &done, sizeof(done));
	trace = scene_finish(scene);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->bytes, 64);
	assert_int_equal(trace_work_of(trace, &trace->activities[1])->bytes, 36);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->direction, TRACE_H2D);
	assert_int_equal(trace->activities[0].queue, TRACE_NONE);
	assert_int_equal(trace->activities[0].start_ns, 9000);
	assert_int_equal(trace->activities[0].end_ns, 9500);
	assert_true(trace->agents[trace->activities[0].agent].is_gpu);
}

static void reused_stream_handle_is_another_stream(void **state)
{
	const uint64_t handle = 0x5000;
	struct scene *scene = *state;
	struct trace *trace;

	for (int life = 0; life < 2; life++) {
		scene_call(scene, SCENE_STREAM_CREATE, 0, &handle, 1);
		scene_call(scene, SCENE_LAUNCH_KERNEL, 0, (uint64_t[]){0x101, handle}, 2);
		scene_call(scene, SCENE_LAUNCH_KERNEL, 0, (uint64_t[]){0x101, handle}, 2);
		scene_call(scene, SCENE_STREAM_DESTROY, 0, &handle, 1);
	}
	scene_call(scene, SCENE_LAUNCH_KERNEL, 0, (uint64_t[]){0x101, 0}, 2);
	trace = scene_finish(scene);
	assert_int_equal(trace->streams_count, 3);
	assert_int_equal(trace->streams[0].handle, 0);
	assert_int_equal(trace->calls[1].stream, 1);
	assert_int_equal(trace->calls[2].stream, 1);
	assert_int_equal(trace->calls[3].stream, 1);
	assert_int_equal(trace->calls[5].stream, 2);
	assert_int_equal(trace->calls[8].stream, 0);
}

/* Threads share the calls between those that create and destroy streams. */
static void streams_are_found_on_all_threads(void **state)
{
	enum { HANDLES = 8, CALLS = 5000, CREATE = 0, DESTROY = 1 };
	uint32_t now[HANDLES], next = 1, expected[CALLS];
	struct scene *scene = *state;
	struct trace *trace;

	memset(now, 0xff, sizeof(now));
	srand((unsigned)test_seed());
	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t at = (uint32_t)rand() % HANDLES, what = (uint32_t)rand() % 600;
		uint64_t handle = 0x5000 + at * 0x100;

		expected[i] = TRACE_NONE;
		if (what == CREATE) {
			scene_call(scene, SCENE_STREAM_CREATE, 0, &handle, 1);
			now[at] = TRACE_NONE;
			continue;
		}
		if (now[at] == TRACE_NONE)
			now[at] = next++;
		expected[i] = now[at];
		if (what == DESTROY) {
			scene_call(scene, SCENE_STREAM_DESTROY, 0, &handle, 1);
			now[at] = TRACE_NONE;
		} else {
			scene_call(scene, SCENE_LAUNCH_KERNEL, 0, (uint64_t[]){0x101, handle}, 2);
		}
	}
	workers_limit(4);
	trace = scene_finish(scene);
	workers_limit(0);
	assert_int_equal(trace->streams_count, next);
	for (uint32_t i = 0; i < CALLS; i++)
		assert_int_equal(trace->calls[i].stream, expected[i]);
}

static void per_thread_stream_is_one_a_thread(void **state)
{
	const uint64_t args[] = {0x101, 2};
	struct scene *scene = *state;
	struct trace *trace;

	for (unsigned i = 0; i < 4; i++)
		scene_put_call(scene, i % 2, scene_reserve_cid(scene), SCENE_LAUNCH_KERNEL, 0, args,
			       2);
	trace = scene_finish(scene);
	assert_int_equal(trace->streams_count, 3);
	assert_int_equal(trace->calls[0].stream, trace->calls[2].stream);
	assert_int_equal(trace->calls[1].stream, trace->calls[3].stream);
	assert_int_not_equal(trace->calls[0].stream, trace->calls[1].stream);
}

static void activity_has_the_leaf_scope_of_its_call(void **state)
{
	struct {
		struct record_scope fixed;
		char text[8];
	} outer = {{.id = 1ull << 48 | 1, .ns = 100, .text_bytes = 5}, "outer"},
	  inner = {{.id = 1ull << 48 | 2, .parent = 1ull << 48 | 1, .ns = 200, .text_bytes = 5},
		   "inner"};
	struct record_scope_end end = {.id = 1ull << 48 | 2, .ns = 300};
	struct record_dispatch dispatch = {.ordinal = 0, .kernel = 1, .scope = 1ull << 48 | 2};
	struct scene *scene = *state;
	struct trace *trace;

	scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &inner, sizeof(inner));
	scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &outer, sizeof(outer));
	scene_put(scene, 0, RECORD_SCOPE_END, 0, &end, sizeof(end));
	scene_put(scene, 0, RECORD_DISPATCH, 1, &dispatch, sizeof(dispatch));
	scene_done(scene, 0, 100, 200);
	trace = scene_finish(scene);
	assert_int_equal(trace->scopes_count, 2);
	assert_string_equal(trace_text(trace, trace->scopes[0].text), "outer");
	assert_true(trace->scopes[0].open);
	assert_int_equal(trace->scopes[1].parent, 0);
	assert_false(trace->scopes[1].open);
	assert_int_equal(trace->scopes[1].end_ns, 300);
	assert_int_equal(trace->activities[0].scope, 1);
}

static void zero_ticks_are_never_converted(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t packet;

	packet = scene_dispatch(scene, 0, 0, 1, 1);
	scene_done(scene, packet, 0, 0);
	trace = scene_finish(scene);
	assert_int_equal(trace->activities[0].untimed, RECORD_UNTIMED_ZERO_TICK);
	assert_int_equal(trace->activities[0].start_ns, 0);
	assert_int_equal(scene_source(trace, "hsa.dispatch")->untimed, 1);
	assert_true(ledger_is_closed(trace));
}

/* Between reading and joining, completions are packed; those that do not fit stay as they are. */
static void ticks_of_any_size_are_kept(void **state)
{
	static const struct trace_ticks ticks[] = {
		{1, 1},
		{7, 7 + 0xfffffffeull},
		{7, 7 + 0xffffffffull},
		{7, 7 + 0x100000000ull},
		{(1ull << 56) - 1, (1ull << 56) + 1},
		{1ull << 56, (1ull << 56) + 1},
		{UINT64_MAX - 1, UINT64_MAX},
		{500, 100},
		{100, 1},
	};
	enum { COUNT = sizeof(ticks) / sizeof(ticks[0]) };
	struct scene *scene = *state;
	struct trace *trace;

	for (uint32_t i = 0; i < COUNT; i++)
		scene_done(scene, scene_dispatch(scene, 0, i, 1, 1), ticks[i].start, ticks[i].end);
	trace = scene_finish(scene);
	assert_int_equal(trace->activities_count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(trace->ticks[i].start, ticks[i].start);
		assert_int_equal(trace->ticks[i].end, ticks[i].end);
		assert_int_equal(trace->activities[i].untimed, RECORD_UNTIMED_NO);
	}
	assert_int_equal(trace->activities[7].start_ns, 5500);
	assert_int_equal(trace->activities[7].end_ns, 1500);
}

static void unloaded_kernels_name_stays_with_its_dispatches(void **state)
{
	struct {
		struct record_kernel fixed;
		char name[8];
	} later = {{.kernel_object = 0x8040, .name_bytes = 5}, "later"};
	struct record_kernel_gone gone = {0};
	struct scene *scene = *state;
	struct trace *trace;

	scene_run(scene, 0, 0, 1, 1);
	scene_put(scene, 0, RECORD_KERNEL_GONE, 1, &gone, sizeof(gone));
	scene_put(scene, 0, RECORD_KERNEL, 9, &later, sizeof(later));
	scene_run(scene, 0, 0, 9, 1);
	scene_run(scene, 0, 0, 0, 1);
	trace = scene_finish(scene);
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[0])->name),
			    "one");
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[1])->name),
			    "later");
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[2])->name),
			    "");
}

static void kernels_descriptor_says_how_its_waves_run(void **state)
{
	struct record_agent gpu = {
		.handle = 0x77, .tick_hz = SCENE_TICK_HZ, .is_gpu = 1, .name = "gfx1100"};
	struct {
		struct record_kernel fixed;
		char name[8];
	} kernel = {{.agent = 0x77,
		     .rsrc1 = 1u << 29 | 11, /* WGP mode, 12 steps of registers */
		     .properties = 1u << 10, /* wave32 */
		     .name_bytes = 5},
		    "waves"};
	struct scene *scene = *state;
	const struct trace_work *work;
	struct trace *trace;

	scene_put(scene, 0, RECORD_AGENT, 2, &gpu, sizeof(gpu));
	scene_put(scene, 0, RECORD_KERNEL, 9, &kernel, sizeof(kernel));
	scene_run(scene, 0, 0, 9, 1);
	scene_run(scene, 0, 0, 1, 1);
	trace = scene_finish(scene);
	work = trace_work_of(trace, &trace->activities[0]);
	assert_int_equal(work->registers, 96);
	assert_int_equal(work->wave_size, 32);
	assert_true(work->is_wgp_mode);
	work = trace_work_of(trace, &trace->activities[1]);
	assert_int_equal(work->wave_size, 0);
	assert_false(work->is_wgp_mode);
}

static void process_says_who_it_was(void **state)
{
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 42);
	trace = scene_finish(&scene);
	assert_int_equal(trace->processes[0].pid, 42);
	assert_string_equal(trace_text(trace, trace->processes[0].command), "scene two words");
	assert_int_equal(trace->processes[0].state, TRACE_COMPLETE);
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(one_call_has_all_its_activities_in_order),
		SCENE_CASE(activity_without_call_is_kept_and_counted),
		SCENE_CASE(call_that_vanished_is_unexplained),
		SCENE_CASE(call_that_misses_an_activity_is_an_orphan_call),
		SCENE_CASE(barriers_count_among_what_a_call_submitted),
		SCENE_CASE(two_calls_of_two_threads_keep_their_own),
		SCENE_CASE(blits_are_copies_and_memsets_with_their_calls_bytes),
		SCENE_CASE(blits_of_other_shapes_have_their_calls_bytes),
		SCENE_CASE(bytes_of_a_fill_in_pieces_are_not_guessed),
		SCENE_CASE(copy_bytes_from_record),
		SCENE_CASE(reused_stream_handle_is_another_stream),
		SCENE_CASE(streams_are_found_on_all_threads),
		SCENE_CASE(per_thread_stream_is_one_a_thread),
		SCENE_CASE(activity_has_the_leaf_scope_of_its_call),
		SCENE_CASE(zero_ticks_are_never_converted),
		SCENE_CASE(ticks_of_any_size_are_kept),
		SCENE_CASE(unloaded_kernels_name_stays_with_its_dispatches),
		SCENE_CASE(kernels_descriptor_says_how_its_waves_run),
		cmocka_unit_test(process_says_who_it_was),
		SCENE_CASE(agents_of_before_have_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
