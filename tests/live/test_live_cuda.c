/* What a follower gives out of CUDA, and which of its calls it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "live/units.h"
#include "live_play.h"

static void put_cuda_anchor(struct scene *scene, uint64_t host_ns)
{
	struct record_anchor anchor = {.tick = host_ns, .host_ns = host_ns, .uncertainty_ns = 10};

	scene_put(scene, 0, RECORD_ANCHOR, RECORD_CUDA_CLOCK, &anchor, sizeof(anchor));
}

static void put_cuda_device(struct scene *scene)
{
	struct record_agent agent = {.handle = RECORD_CUDA_AGENT_FIRST, .is_gpu = 1};

	scene_put(scene, 0, RECORD_AGENT, RECORD_CUDA_AGENT_FIRST, &agent, sizeof(agent));
}

/* A kernel without a name, which takes 100 ns. */
static void put_cuda_kernel(struct scene *scene, uint64_t cid, uint64_t end)
{
	struct record_cuda_kernel kernel = {.cid = cid, .start = end - 100, .end = end};

	scene_put(scene, 0, RECORD_CUDA_KERNEL, 0, &kernel, sizeof(kernel));
}

static void a_kernel_of_cuda_waits_until_its_time_is_final(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, NULL);
	put_cuda_device(scene);
	put_cuda_anchor(scene, 1000000000);
	put_cuda_kernel(scene, 1, 1000005000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_cuda_anchor(scene, 1000000000 + 10000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_cuda_anchor(scene, 1000000000 + 20000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 1);
	assert_non_null(strstr(play.rows.lines[0], " 1000004900-1000005000 "));
	play_end(&play);
}

/* The device that its record names never comes. */
static void a_kernel_of_cuda_that_lacks_a_definition_is_not_held_for_ever(void **state)
{
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, NULL);
	put_cuda_anchor(scene, 1000000000);
	put_cuda_kernel(scene, 1, 1000005000);
	put_cuda_anchor(scene, 2000000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 0);
	put_cuda_anchor(scene, 3100000000);
	play_poll(&play);
	assert_int_equal(play.rows.count, 1);
	play_end(&play);
}

static void put_api_name(struct scene *scene, uint32_t function, uint64_t domain, const char *text)
{
	struct {
		struct record_api_name name;
		char text[32];
	} record = {{.domain = domain, .text_bytes = strlen(text)}, ""};

	memcpy(record.text, text, strlen(text));
	scene_put(scene, 0, RECORD_API_NAME, function, &record, sizeof(record));
}

static void put_cuda_call(struct scene *scene, uint32_t function, uint64_t cid, uint64_t parent)
{
	struct record_api call = {.cid = cid, .parent = parent};

	scene_put(scene, 0, RECORD_API, function, &call, sizeof(call));
}

/* Kernels of one call come in two windows; both have the call and those around it. */
static void a_call_of_cuda_is_in_each_window_with_its_activities(void **state)
{
	enum { NCCL = 2050, DRIVER = RECORD_CUDA_FUNCTION_FIRST + 307 };
	struct record_cuda_inner inner = {.cid = 9, .outer = 8};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &play_at_once);
	put_api_name(scene, NCCL, RECORD_DOMAIN_RCCL, "ncclAllReduce");
	put_api_name(scene, DRIVER, RECORD_DOMAIN_CUDA, "cuLaunchKernel");
	put_cuda_device(scene);
	put_cuda_anchor(scene, 1000000000);
	put_cuda_anchor(scene, 1100000000);
	put_cuda_call(scene, NCCL, 7, 0);
	put_cuda_call(scene, DRIVER, 8, 7);
	scene_put(scene, 0, RECORD_CUDA_INNER, 0, &inner, sizeof(inner));
	put_cuda_call(scene, DRIVER, 10, 0);
	for (int i = 1; i <= 2; i++) {
		put_cuda_kernel(scene, 9, 1000000000 + 1000 * i);
		play_poll(&play);
		assert_int_equal(play.rows.count, 3);
		assert_non_null(strstr(play.rows.lines[0], "ncclAllReduce"));
		assert_non_null(strstr(play.rows.lines[1], "cuLaunchKernel"));
		assert_non_null(strstr(play.rows.lines[2], " call=1 "));
	}
	play_end(&play);
}

/* More calls than are kept: the oldest is forgotten, and what it used is freed. */
static void the_oldest_calls_of_cuda_are_forgotten(void **state)
{
	struct units units;

	(void)state;
	units_init(&units, 0);
	for (uint64_t cid = 1; cid <= 3 * CUDA_CALLS_MOST; cid++) {
		struct record_api call = {
			.header = {RECORD_API, sizeof(call) / 8, RECORD_CUDA_FUNCTION_FIRST},
			.cid = cid,
			.scope = cid,
		};

		assert_int_equal(units_add(&units, &call.header, 1), 0);
	}
	assert_int_equal(units.cuda_calls.rows_count, CUDA_CALLS_MOST);
	assert_int_equal(units.cuda_calls.bytes, CUDA_CALLS_MOST * sizeof(struct record_api));
	assert_int_equal(units.definitions.scope_map.count, CUDA_CALLS_MOST);
	units_release(&units);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(a_kernel_of_cuda_waits_until_its_time_is_final),
		SCENE_CASE(a_kernel_of_cuda_that_lacks_a_definition_is_not_held_for_ever),
		SCENE_CASE(a_call_of_cuda_is_in_each_window_with_its_activities),
		cmocka_unit_test(the_oldest_calls_of_cuda_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
