/* Waits for events in damaged and in random recordings of HIP's calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../launched.h"
#include "event_scene.h"
#include "trace/load.h"

enum { EVENT = 0xe100, STREAM = 0x5100 };

static void damage_harms_nothing(void **state)
{
	struct record_api without_arguments = {.cid = 1, .begin_ns = 100, .end_ns = 200};
	struct scene *scene = *state;
	struct trace *trace;

	scene_put(scene, 0, RECORD_API, EVENT_FUNCTION_RECORD, &without_arguments,
		  sizeof(without_arguments));
	without_arguments.cid = 2;
	scene_put(scene, 0, RECORD_API, EVENT_FUNCTION_CAPTURE_END, &without_arguments,
		  sizeof(without_arguments));
	/* One id for several calls: the call that began first counts. */
	for (int i = 0; i < 2; i++) {
		EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM},
			   .cid = 5);
		EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {STREAM, EVENT},
			   .cid = 5);
		EVENT_CALL(scene, .function = EVENT_FUNCTION_MADE, .args = {STREAM}, .cid = 5);
	}
	CALL(scene, RECORD, 0, STREAM);
	CALL(scene, STREAM_WAIT, STREAM, 0, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->event_records[0].cid, 5);
	assert_int_equal(trace->waits_count, 0);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Any calls at any time, with ids that repeat: nothing breaks, and references point to rows. */
static void any_calls_harm_nothing(void **state)
{
	enum { FUNCTIONS = EVENT_FUNCTION_END - EVENT_FUNCTION_BEFORE_FIRST - 1, CALLS = 600 };
	uint32_t seed = (uint32_t)test_seed();

	for (int round = 0; round < 30; round++) {
		struct scene scene;
		struct trace *trace;

		event_scene_init(&scene);
		for (int i = 0; i < CALLS; i++) {
			uint64_t begin = 10000 + next_random(&seed) % 5000;

			EVENT_CALL(&scene,
				   .function = EVENT_FUNCTION_BEFORE_FIRST + 1 +
					       next_random(&seed) % FUNCTIONS,
				   .args = {next_random(&seed) % 6, next_random(&seed) % 6,
					    next_random(&seed) % 6, next_random(&seed) % 6},
				   .cid = 1 + next_random(&seed) % CALLS, .begin = begin,
				   .end = begin + next_random(&seed) % 500,
				   .result = next_random(&seed) % 8 == 0 ? 903 : 0,
				   .writer = next_random(&seed) % 2);
		}
		trace = event_scene_load(&scene);
		for (uint32_t i = 0; i < trace->waits_count; i++) {
			const struct trace_wait *wait = &trace->waits[i];

			assert_true(i == 0 || wait[-1].cid <= wait->cid);
			assert_true(wait->stream == TRACE_NONE ||
				    wait->stream < trace->streams_count);
			if (event_scene_producer(trace, i))
				assert_int_equal(trace->event_records[wait->producer].event,
						 wait->event);
		}
		trace_close(trace);
	}
}

/* One thread and a few handles; compares with a straightforward computation. */
static void a_long_run_of_one_thread(void **state)
{
	enum { HANDLES = 5, CALLS = 1200 };
	static const enum event_function functions[] = {
		EVENT_FUNCTION_CREATE, EVENT_FUNCTION_DESTROY,	  EVENT_FUNCTION_RECORD,
		EVENT_FUNCTION_RECORD, EVENT_FUNCTION_EVENT_WAIT, EVENT_FUNCTION_EVENT_WAIT};
	uint64_t last[HANDLES] = {0}, wanted[CALLS];
	uint32_t seed = (uint32_t)test_seed(), waits = 0;
	struct scene *scene = *state;
	struct trace *trace;

	for (int i = 0; i < CALLS; i++) {
		uint32_t handle = next_random(&seed) % HANDLES;
		enum event_function function = functions[next_random(&seed) % 6];
		bool fails = next_random(&seed) % 5 == 0;
		uint64_t cid = EVENT_CALL(scene, .function = function,
					  .args = {0x1000 + handle, STREAM}, .result = fails);

		if (fails)
			continue;
		if (function == EVENT_FUNCTION_RECORD)
			last[handle] = cid;
		else if (function == EVENT_FUNCTION_EVENT_WAIT)
			wanted[waits++] = last[handle];
		else
			last[handle] = 0;
	}
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, waits);
	for (uint32_t i = 0; i < waits; i++)
		assert_int_equal(event_scene_producer(trace, i), wanted[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_CASE(damage_harms_nothing),
		cmocka_unit_test(any_calls_harm_nothing),
		EVENT_CASE(a_long_run_of_one_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
