/* Every call of the driver fails in turn. The old addresses must stay complete, or the recording
 * is lost and reports that; nothing leaks; and what failed can be tried again. */
#include <errno.h>
#include <stdlib.h>

#include <dagpatch/model.h>

#include "../failing_memory.h"
#include "every_node.h"

/* Launches once from known contents and returns the contents of all buffers. */
static void run_from_start(struct scene *scene, uint32_t *const buffers[6],
			   uint32_t words[6][WORDS])
{
	for (uint32_t i = 0; i < 6; i++)
		buffer_set(buffers[i], i + 1);
	scene_run(scene);
	for (uint32_t i = 0; i < 6; i++)
		suite_bed->read(words[i], buffers[i], WORDS * 4);
}

static int bind_three(struct dagpatch_recording *recording, uint32_t *const *buffers)
{
	return dagpatch_bind_all(recording, (const void *[]){buffers[0], buffers[1], buffers[2]},
				 3);
}

struct expected {
	uint32_t first[6][WORDS], second[6][WORDS];
};

/* Binds the first three buffers and checks that a launch works as before the failure. */
static void check_after_failure(struct scene *scene, uint32_t *const *buffers,
				const struct expected *expected)
{
	struct dagpatch_recording *recording = scene->recording;
	uint32_t words[6][WORDS];
	bool is_lost = dagpatch_recording_state(recording) == DAGPATCH_LOST;

	if (is_lost)
		assert_int_equal(dagpatch_launch(recording, scene->stream), -EINVAL);
	OK(recording, dagpatch_revert(recording));
	if (is_lost) {
		OK(recording, dagpatch_finalize(recording));
	} else {
		run_from_start(scene, buffers, words);
		assert_memory_equal(words, expected->first, sizeof(words));
		/* No prepared change is left for the next change. */
		bind(recording, 2, buffers[5]);
		OK(recording, dagpatch_apply(recording));
		bind(recording, 2, buffers[2]);
		run_from_start(scene, buffers, words);
		assert_memory_equal(words, expected->first, sizeof(words));
	}
	/* The change that failed must work when no call fails. */
	OK(recording, bind_three(recording, buffers + 3));
	run_from_start(scene, buffers, words);
	assert_memory_equal(words, expected->second, sizeof(words));
	OK(recording, dagpatch_verify(recording));
	OK(recording, bind_three(recording, buffers));
	run_from_start(scene, buffers, words);
	assert_memory_equal(words, expected->first, sizeof(words));
}

static struct dagpatch_options options_of(enum dagpatch_strategy strategy)
{
	return (struct dagpatch_options){.size = sizeof(struct dagpatch_options),
					 .driver = "model",
					 .strategy = strategy,
					 .table_from_nodes = 64};
}

enum { NO_MEMORY = 0 }; /* value of COUNT: an allocation fails instead of driver calls */

static void let_fail(uint64_t which, uint64_t count)
{
	if (count == NO_MEMORY)
		memory_fail(which);
	else
		dagpatch_model_fail(which, count);
}

static uint64_t made_so_far(uint64_t count)
{
	return count == NO_MEMORY ? memory_allocations() : dagpatch_model_calls();
}

static void let_nothing_fail(void)
{
	dagpatch_model_fail(0, 0);
	memory_fail(0);
}

/* The scene of a case with the buffers that its recordings use, and the objects of the driver that
 * were alive before its first recording. */
struct failing {
	struct scene *scene;
	uint32_t *buffers[6]; /* two sets of three */
	struct dagpatch_model_live before;
};

static struct failing begin_failing(struct scene *scene)
{
	struct failing failing = {.scene = scene};

	for (uint32_t i = 0; i < 6; i++)
		failing.buffers[i] = buffer(0);
	scene_create(scene, &(struct dagpatch_options){0});
	dagpatch_model_live(&failing.before);
	return failing;
}

/* Asserts that no object is left of what the case has made. */
static void expect_nothing_left(struct failing *failing)
{
	struct dagpatch_model_live now;

	scene_create(failing->scene, &(struct dagpatch_options){0});
	dagpatch_model_live(&now);
	assert_memory_equal(&now, &failing->before, sizeof(now));
}

/* Makes COUNT driver calls fail, starting at each call in turn of those that a changed binding
 * makes. Returns how many times the recording was lost. */
static uint32_t fail_each_apply(struct failing *failing, enum dagpatch_strategy strategy,
				uint64_t count, enum sets sets)
{
	const struct dagpatch_options options = options_of(strategy);
	struct scene *scene = failing->scene;
	struct dagpatch_recording *recording = scene_create(scene, &options);
	struct dagpatch_context *context = scene->context;
	static struct expected expected;
	uint32_t **buffers = failing->buffers, lost = 0, words[6][WORDS];
	uint64_t begin, calls;

	OK(recording, every_node_record(context, recording));
	OK(recording, bind_three(recording, buffers + 3));
	run_from_start(scene, buffers, expected.second);
	OK(recording, bind_three(recording, buffers));
	run_from_start(scene, buffers, expected.first);
	/* Make the change once without failures to count its calls, then change back. */
	OK(recording, bind_three(recording, buffers + 3));
	OK(recording, every_node_set(context, recording, sets, true));
	begin = made_so_far(count);
	OK(recording, dagpatch_apply(recording));
	calls = made_so_far(count) - begin;
	assert_true(calls > 3);
	OK(recording, bind_three(recording, buffers));
	OK(recording, every_node_set(context, recording, sets, false));
	OK(recording, dagpatch_apply(recording));
	for (uint64_t call = 1; call <= calls; call++) {
		int rc;

		OK(recording, bind_three(recording, buffers + 3));
		OK(recording, every_node_set(context, recording, sets, true));
		let_fail(call, count);
		rc = dagpatch_apply(recording);
		let_nothing_fail();
		/* A callback that gets no memory returns -EIO. */
		assert_true(rc == -EIO || (count == NO_MEMORY && rc == -ENOMEM));
		if (count != NO_MEMORY)
			assert_int_equal(dagpatch_recording_error(recording)->driver_code, 999);
		lost += dagpatch_recording_state(recording) == DAGPATCH_LOST;
		check_after_failure(scene, buffers, &expected);
	}
	run_from_start(scene, buffers, words);
	return lost;
}

static const enum dagpatch_strategy strategies[] = {
	DAGPATCH_AUTO,	       DAGPATCH_SET_PARAMS,  DAGPATCH_DEVICE_TABLE,
	DAGPATCH_UPDATE_GRAPH, DAGPATCH_INSTANTIATE,
};
enum { STRATEGIES = sizeof(strategies) / sizeof(*strategies) };

/* When one call or one allocation fails, undoing the change succeeds, so no recording is lost. */
static void failure_midway_keeps_old_bindings(void **state)
{
	struct failing failing = begin_failing(*state);

	for (uint32_t i = 0; i < STRATEGIES; i++)
		assert_int_equal(fail_each_apply(&failing, strategies[i], 1, VALUE), 0);
	for (uint32_t i = 0; i < STRATEGIES; i++)
		assert_int_equal(fail_each_apply(&failing, strategies[i], 1, NODES_TOO), 0);
	for (uint32_t i = 0; i < STRATEGIES; i++)
		assert_int_equal(fail_each_apply(&failing, strategies[i], NO_MEMORY, NODES_TOO), 0);
	scene_lack(*state, DAGPATCH_MODEL_NO_FUNCTIONS);
	assert_int_equal(fail_each_apply(&failing, DAGPATCH_SET_PARAMS, 1, NODES_TOO), 0);
	scene_lack(*state, DAGPATCH_MODEL_NO_NESTED_SETS);
	assert_int_equal(fail_each_apply(&failing, DAGPATCH_SET_PARAMS, 1, NODES_TOO), 0);
	expect_nothing_left(&failing);
}

/* Restoring the old addresses fails as well. */
static void failure_of_putting_back_is_lost(void **state)
{
	struct failing failing = begin_failing(*state);

	for (uint32_t i = 0; i < STRATEGIES; i++) {
		uint32_t lost = fail_each_apply(&failing, strategies[i], 1000000, VALUE);

		if (strategies[i] == DAGPATCH_INSTANTIATE)
			assert_int_equal(lost, 0);
		else
			assert_true(lost > 0);
	}
	expect_nothing_left(&failing);
}

/* Records, builds, launches, patches and destroys a recording, so that every call of its life
 * can fail. */
static int whole_life(const struct failing *failing, enum dagpatch_strategy strategy)
{
	const struct dagpatch_options options = options_of(strategy);
	uint32_t *const *buffers = failing->buffers;
	void *stream = failing->scene->stream;
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	int rc;

	OK(NULL, dagpatch_context_create(&options, &context, NULL));
	OK(NULL, dagpatch_recording_create(context, DAGPATCH_DERIVE_DEPENDENCIES, &recording));
	rc = every_node_record(context, recording);
	if (rc == 0)
		rc = bind_three(recording, buffers);
	if (rc == 0)
		rc = dagpatch_launch(recording, stream);
	if (rc == 0)
		rc = bind_three(recording, buffers + 3);
	if (rc == 0)
		rc = every_node_set(context, recording, NODES_TOO, true);
	if (rc == 0)
		rc = dagpatch_launch(recording, stream);
	if (rc == 0)
		rc = dagpatch_verify(recording);
	suite_bed->stream_synchronize(stream);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	return rc < 0 ? rc : 0; /* rc may also be DAGPATCH_CANNOT_TELL */
}

static void every_call_fails_in_turn(void **state)
{
	struct failing failing = begin_failing(*state);

	for (uint32_t i = 0; i < STRATEGIES; i++) {
		uint64_t begin = dagpatch_model_calls(), calls;

		assert_int_equal(whole_life(&failing, strategies[i]), 0);
		calls = dagpatch_model_calls() - begin;
		for (uint64_t call = 1; call <= calls; call++) {
			dagpatch_model_fail(call, 1);
			assert_true(whole_life(&failing, strategies[i]) < 0);
			dagpatch_model_fail(0, 0);
			expect_nothing_left(&failing);
		}
	}
}

/* ---- no memory ---- */

static int life_of(uint32_t *const *buffers, struct dagpatch_context *context)
{
	struct dagpatch_recording *recording = NULL;
	int rc = dagpatch_recording_create(context, DAGPATCH_DERIVE_DEPENDENCIES, &recording);

	if (rc == 0)
		rc = every_node_record(context, recording);
	for (uint32_t i = 0; rc == 0 && i < 2; i++) {
		rc = bind_three(recording, buffers + 3 * i);
		if (rc == 0 && i)
			rc = every_node_set(context, recording, NODES_TOO, true);
		if (rc == 0)
			rc = dagpatch_apply(recording);
	}
	if (rc == 0)
		rc = dagpatch_verify(recording);
	dagpatch_recording_destroy(recording);
	return rc < 0 ? rc : 0;
}

static void every_allocation_fails_in_turn(void **state)
{
	struct failing failing = begin_failing(*state);

	for (uint32_t i = 0; i < STRATEGIES; i++) {
		bool is_through = false;

		for (uint64_t which = 1; !is_through; which++) {
			struct dagpatch_context *context = NULL;
			const struct dagpatch_options options = {.size = sizeof(options),
								 .driver = "model",
								 .strategy = strategies[i]};
			uint64_t begin;
			int rc;

			begin = memory_allocations();
			let_fail(which, NO_MEMORY);
			rc = dagpatch_context_create(&options, &context, NULL);
			if (rc == 0)
				rc = life_of(failing.buffers, context);
			is_through = memory_allocations() - begin < which;
			let_nothing_fail();
			dagpatch_context_destroy(context);
			expect_nothing_left(&failing);
			assert_true(rc == 0 || !is_through);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(failure_midway_keeps_old_bindings),
		SCENE(failure_of_putting_back_is_lost),
		SCENE(every_call_fails_in_turn),
		SCENE(every_allocation_fails_in_turn),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, every_node_open, every_node_close);
	/* The same on a driver where graphs are flattened, as on HIP, and that forgets memsets. */
	suite_without = DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_NESTED_SETS |
			DAGPATCH_MODEL_NO_CONDITIONALS | DAGPATCH_MODEL_NO_CHILDREN;
	dagpatch_model_without(suite_without);
	failed += cmocka_run_group_tests_name("flat", tests, every_node_open, every_node_close);
	suite_without |= DAGPATCH_MODEL_NO_KEPT_MEMSETS;
	dagpatch_model_without(suite_without);
	failed += cmocka_run_group_tests_name("forgotten memsets", tests, every_node_open,
					      every_node_close);
	dagpatch_model_without(0);
	suite_bed->close();
	return failed;
}
