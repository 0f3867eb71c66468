/* Loading without idle calls: what the model has besides them is as with all calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"
#include "trace/load.h"

#define GET_DEVICE   100
#define EVENT_RECORD 101
#define LATE_GET     102 /* functions that setup does not name */
#define LATE_EVENT   103

static const struct trace_options without = {
	.is_brief = true,
	.without_waits = true,
	.without_ledger = true,
	.without_idle_calls = true,
};

static void name_function(struct scene *scene, uint32_t function, const char *text)
{
	struct {
		struct record_api_name name;
		char text[64];
	} bytes = {{.domain = RECORD_DOMAIN_HIP, .text_bytes = strlen(text)}, {0}};

	memcpy(bytes.name.text, text, strlen(text));
	scene_put(scene, 0, RECORD_API_NAME, function, &bytes,
		  sizeof(bytes.name) + (strlen(text) + 7) / 8 * 8);
}

static int setup(void **state)
{
	scene_setup(state);
	name_function(*state, GET_DEVICE, "hipGetDevice deviceId:o");
	name_function(*state, EVENT_RECORD, "hipEventRecord event:h stream:h");
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, scene_teardown)

/* Records a call with a new cid inside the call PARENT, and returns the cid. */
static uint64_t call_inside(struct scene *scene, uint32_t function, uint64_t parent)
{
	struct record_api record = {.cid = scene_reserve_cid(scene), .parent = parent};

	record.begin_ns = record.end_ns = 1000 + record.cid;
	scene_put(scene, 0, RECORD_API, function, &record, sizeof(record));
	return record.cid;
}

static bool has_call(const struct trace *trace, uint64_t cid)
{
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		if (trace->calls[i].cid == cid)
			return true;
	}
	return false;
}

/* The calls that a trace without idle calls has are those of ALL, and so are its activities. */
static void assert_agrees(const struct trace *some, const struct trace *all)
{
	assert_int_equal(some->calls_count + some->idle_calls, all->calls_count);
	assert_int_equal(some->streams_count, all->streams_count);
	assert_int_equal(some->activities_count, all->activities_count);
	for (uint32_t i = 0; i < all->activities_count; i++) {
		const struct trace_activity *a = &some->activities[i], *b = &all->activities[i];

		assert_int_equal(a->cid, b->cid);
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->stream, b->stream);
		assert_int_equal(a->thread, b->thread);
		assert_int_equal(a->call == TRACE_NONE, b->call == TRACE_NONE);
		if (a->call != TRACE_NONE)
			assert_int_equal(some->calls[a->call].begin_ns,
					 all->calls[b->call].begin_ns);
	}
}

static void idle_calls_are_left_out_and_counted(void **state)
{
	const uint64_t event_args[] = {0xe0, 0x55};
	struct scene *scene = *state;
	struct trace *all, *some;
	uint64_t idle, event;

	idle = scene_call(scene, GET_DEVICE, 0, NULL, 0);
	scene_run_calls(scene, 3);
	/* Names a stream that nothing else names. */
	event = scene_call(scene, EVENT_RECORD, 0, event_args, 2);
	scene_call(scene, GET_DEVICE, 0, NULL, 0);
	scene_close(scene);
	some = scene_load_with(scene, &without);
	all = scene_take(scene);
	assert_int_equal(all->idle_calls, 0);
	assert_int_equal(some->idle_calls, 2);
	assert_false(has_call(some, idle));
	assert_true(has_call(some, event));
	assert_agrees(some, all);
	trace_close(some);
}

static void calls_that_others_refer_to_stay(void **state)
{
	struct scene *scene = *state;
	struct trace *all, *some;
	uint64_t outer, inner, busy;

	outer = scene_call(scene, GET_DEVICE, 0, NULL, 0);
	inner = call_inside(scene, GET_DEVICE, outer);
	call_inside(scene, SCENE_LAUNCH_KERNEL, inner);
	/* Of a file that contradicts itself: the function submits nothing. */
	busy = scene_call(scene, GET_DEVICE, 0, NULL, 0);
	scene_run(scene, busy, 0, 1, 64);
	/* The outer call has no record. */
	call_inside(scene, GET_DEVICE, 1ull << 50);
	scene_close(scene);
	some = scene_load_with(scene, &without);
	all = scene_take(scene);
	assert_int_equal(some->idle_calls, 0);
	assert_true(has_call(some, outer) && has_call(some, inner) && has_call(some, busy));
	assert_agrees(some, all);
	trace_close(some);
}

static void of_equal_ids_the_same_call_counts(void **state)
{
	struct scene *scene = *state;
	struct trace *all, *some;
	uint64_t cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 1, NULL, 0);

	scene_run(scene, cid, 0, 1, 64);
	scene_put_call(scene, 1, cid, GET_DEVICE, 0, NULL, 0);
	scene_call(scene, GET_DEVICE, 0, NULL, 0);
	scene_close(scene);
	some = scene_load_with(scene, &without);
	all = scene_take(scene);
	assert_int_equal(some->calls_count, 1);
	assert_int_equal(some->idle_calls, 1);
	assert_agrees(some, all);
	trace_close(some);
}

/* A function's name may come behind calls of it, as in a ring recording. */
static void names_behind_the_calls_count(void **state)
{
	struct scene *scene = *state;
	struct trace *all, *some;
	uint64_t idle, busy;

	idle = scene_call(scene, LATE_GET, 0, NULL, 0);
	busy = scene_call(scene, LATE_EVENT, 0, NULL, 0);
	name_function(scene, LATE_GET, "hipGetDevice deviceId:o");
	name_function(scene, LATE_EVENT, "hipEventRecord event:h stream:h");
	scene_call(scene, LATE_GET, 0, NULL, 0);
	scene_close(scene);
	some = scene_load_with(scene, &without);
	all = scene_take(scene);
	assert_int_equal(some->idle_calls, 2);
	assert_false(has_call(some, idle));
	assert_true(has_call(some, busy));
	assert_agrees(some, all);
	trace_close(some);
}

/* Of a file that contradicts itself: calls before and behind the second name are the same. */
static void function_with_an_idle_name_is_idle(void **state)
{
	struct scene *scene = *state;
	struct trace *all, *some;

	scene_call(scene, EVENT_RECORD, 0, NULL, 0);
	name_function(scene, EVENT_RECORD, "hipGetDevice deviceId:o");
	scene_call(scene, EVENT_RECORD, 0, NULL, 0);
	scene_run_calls(scene, 3);
	scene_close(scene);
	some = scene_load_with(scene, &without);
	all = scene_take(scene);
	assert_int_equal(some->idle_calls, 2);
	assert_agrees(some, all);
	trace_close(some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(idle_calls_are_left_out_and_counted), CASE(calls_that_others_refer_to_stay),
		CASE(of_equal_ids_the_same_call_counts),   CASE(names_behind_the_calls_count),
		CASE(function_with_an_idle_name_is_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
