/* Wrong arguments in every public function, and calls from callbacks, must be refused without a
 * crash. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

/* ---- NULL ---- */

static void null_where_a_recording_is_needed(void **state)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	struct dagpatch_relocation relocation;
	uint32_t number, value = 0;
	int event;

	assert_int_equal(dagpatch_slot_add(NULL, &DAGPATCH_SIZED(slot, .bytes = 4), &number),
			 -EINVAL);
	assert_int_equal(dagpatch_slot_add(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_kernel(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_copy(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_memset(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_empty(NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_host(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_event_record(NULL, &event, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_event_wait(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_child(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_conditional(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_captured(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_add_graph(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_adopt(NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_finalize(NULL), -EINVAL);
	assert_int_equal(dagpatch_bind(NULL, 0, &value, 4), -EINVAL);
	assert_int_equal(dagpatch_bind_all(NULL, NULL, 0), -EINVAL);
	assert_int_equal(dagpatch_apply(NULL), -EINVAL);
	assert_int_equal(dagpatch_launch(NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_revert(NULL), -EINVAL);
	assert_int_equal(dagpatch_evict(NULL), -EINVAL);
	assert_int_equal(dagpatch_verify(NULL), -EINVAL);
	assert_int_equal(dagpatch_set_argument(NULL, 0, 0, &value, 4), -EINVAL);
	assert_int_equal(dagpatch_set_memset_value(NULL, 0, 0), -EINVAL);
	assert_int_equal(dagpatch_set_kernel(NULL, 0, NULL), -EINVAL);
	assert_int_equal(dagpatch_set_copy(NULL, 0, NULL), -EINVAL);
	assert_int_equal(dagpatch_set_memset(NULL, 0, NULL), -EINVAL);
	assert_int_equal(dagpatch_set_child(NULL, 0, NULL), -EINVAL);
	assert_int_equal(dagpatch_recording_stats(NULL, &stats), -EINVAL);
	assert_int_equal(dagpatch_recording_relocation(NULL, 0, &relocation), -EINVAL);
	assert_int_equal(dagpatch_dump(NULL, DAGPATCH_DUMP_TEXT, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_recording_state(NULL), DAGPATCH_LOST);
	assert_int_equal(dagpatch_recording_error(NULL)->code, -EINVAL);
	assert_null(dagpatch_recording_exec(NULL));
	assert_null(dagpatch_node_handle(NULL, 0));
	dagpatch_recording_destroy(NULL);
}

static void null_where_a_context_is_needed(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_cache_options options = DAGPATCH_SIZED(cache_options, .capacity = 1);
	struct dagpatch_recording *recording;
	struct dagpatch_context *context;
	struct dagpatch_cache *cache;
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
	struct dagpatch_error error;

	assert_int_equal(dagpatch_context_create(NULL, &context, &error), -EINVAL);
	assert_int_equal(
		dagpatch_context_create(&DAGPATCH_SIZED(options, .driver = "model"), NULL, &error),
		-EINVAL);
	assert_int_equal(
		dagpatch_context_create(&DAGPATCH_SIZED(options, .driver = "model",
							.strategy = DAGPATCH_STRATEGY_COUNT),
					&context, &error),
		-EINVAL);
	assert_non_null(strstr(error.message, "strategy"));
	assert_int_equal(dagpatch_context_capabilities(NULL), 0);
	assert_int_equal(dagpatch_kernel_describe(NULL, &error, NULL, 0), -EINVAL);
	assert_int_equal(dagpatch_kernel_describe(scene->context, &error, NULL, 1), -EINVAL);
	assert_int_equal(dagpatch_recording_create(NULL, 0, &recording), -EINVAL);
	assert_int_equal(dagpatch_recording_create(scene->context, 0, NULL), -EINVAL);
	assert_int_equal(dagpatch_cache_create(NULL, &options, &cache), -EINVAL);
	assert_int_equal(dagpatch_cache_create(scene->context, NULL, &cache), -EINVAL);
	assert_int_equal(dagpatch_cache_create(scene->context, &options, NULL), -EINVAL);
	assert_int_equal(dagpatch_cache_stats(NULL, &stats), -EINVAL);
	dagpatch_context_destroy(NULL);
	dagpatch_cache_destroy(NULL);
	dagpatch_observe_in_trace(NULL, NULL);
}

static void null_inside_of_structs(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	const struct dagpatch_after after = {NULL, 2};
	struct dagpatch_argument argument = {.size = 8, .pointer_count = 1};
	struct dagpatch_kernel kernel = DAGPATCH_SIZED(
		kernel, .function = suite_bed->function(BED_MARK), .argument_count = 2);
	void *addresses[1] = {scene};

	slot(recording, "words");
	assert_int_equal(dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = 4), NULL),
			 -EINVAL);
	scene_failed(recording, dagpatch_add_kernel(recording, &kernel, NULL, NULL), -EINVAL,
		     "arguments are missing");
	kernel.arguments = &argument;
	kernel.argument_count = 1;
	scene_failed(recording, dagpatch_add_kernel(recording, &kernel, NULL, NULL), -EINVAL,
		     "addresses in argument 0 are missing");
	/* With this size only half of a pointer would be read. */
	kernel.size = offsetof(struct dagpatch_kernel, function) + 4;
	scene_failed(recording, dagpatch_add_kernel(recording, &kernel, NULL, NULL), -EINVAL,
		     "size is not");
	scene_failed(recording, dagpatch_add_empty(recording, &after, NULL), -EINVAL,
		     "to wait for are missing");
	scene_failed(recording,
		     dagpatch_add_captured(
			     recording,
			     &DAGPATCH_SIZED(capture, .record = (void *)abort, .slot_count = 1),
			     NULL, NULL),
		     -EINVAL, "slots are missing");
	scene_failed(recording,
		     dagpatch_adopt(recording,
				    &DAGPATCH_SIZED(adoption, .graph = scene, .other_graph = scene,
						    .addresses = {addresses, addresses},
						    .declared_count = 1)),
		     -EINVAL, "declared relocations are missing");
	scene_failed(recording,
		     dagpatch_add_conditional(
			     recording, &DAGPATCH_SIZED(conditional, .body_count = 1), NULL, NULL),
		     -EINVAL, "bodies are missing");
	OK(recording, dagpatch_finalize(recording));
	scene_failed(recording, dagpatch_bind_all(recording, NULL, 1), -EINVAL, "no addresses");
	scene_failed(recording, dagpatch_bind(recording, 0, (void *)-256, WORDS * 4), -EINVAL,
		     "beyond all memory");
	assert_int_equal(dagpatch_recording_stats(recording, NULL), -EINVAL);
	assert_int_equal(dagpatch_recording_relocation(recording, 0, NULL), -EINVAL);
}

static void null_on_the_model(void **state)
{
	struct dagpatch_model_kernel *kernel = suite_bed->function(BED_MARK);
	struct dagpatch_model_stream *stream = suite_bed->stream_create();
	const uint32_t one[3] = {1, 1, 1};

	assert_int_equal(dagpatch_model_kernel_create(NULL, NULL, 0, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_stream_create(0, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_launch(stream, NULL, one, one, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_launch(stream, kernel, one, one, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_launch_block(stream, kernel, one, one, NULL, 4), -EINVAL);
	assert_int_equal(dagpatch_model_copy_async(stream, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_host_async(stream, NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_event_create(NULL), -EINVAL);
	assert_int_equal(dagpatch_model_event_record(stream, NULL, 0), -EINVAL);
	assert_int_equal(dagpatch_model_event_wait(NULL, NULL, 0), -EINVAL);
	assert_int_equal(dagpatch_model_event_count(NULL), 0);
	assert_int_equal(dagpatch_model_capture_begin(NULL), -EINVAL);
	assert_int_equal(dagpatch_model_capture_end(stream, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_graph_launch(stream, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_instantiate(NULL, NULL), -EINVAL);
	assert_int_equal(dagpatch_model_exec_launch(NULL, stream), -EINVAL);
	dagpatch_model_live(NULL);
	suite_bed->stream_destroy(stream);
}

/* ---- objects of another context ---- */

static void what_is_of_another_context(void **state)
{
	struct scene *scene = *state;
	const uint32_t slots[1] = {0};
	struct dagpatch_recording *nested;
	struct dagpatch_context *other;
	struct dagpatch_cache *cache;

	OK(NULL,
	   dagpatch_context_create(&DAGPATCH_SIZED(options, .driver = "model"), &other, NULL));
	OK(NULL,
	   dagpatch_cache_create(other, &DAGPATCH_SIZED(cache_options, .capacity = 1), &cache));
	OK(NULL, dagpatch_recording_create(other, DAGPATCH_NESTED, &nested));
	OK(nested, dagpatch_finalize(nested));
	slot(scene->recording, "words");
	scene_failed(scene->recording,
		     dagpatch_add_child(scene->recording, &DAGPATCH_SIZED(child, .nested = nested),
					NULL, NULL),
		     -EINVAL, "another context");
	scene_failed(
		scene->recording,
		dagpatch_add_captured(scene->recording,
				      &DAGPATCH_SIZED(capture, .record = (void *)abort,
						      .flags = DAGPATCH_RECAPTURE, .slots = slots,
						      .slot_count = 1, .cache = cache),
				      NULL, NULL),
		-EINVAL, "another context");
	dagpatch_recording_destroy(nested);
	dagpatch_cache_destroy(cache);
	dagpatch_context_destroy(other);
}

/* ---- callbacks ---- */

/* Everything that changes the recording is refused while one of its callbacks runs. */
static void call_back(struct dagpatch_recording *recording, void *address)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	const void *const addresses[1] = {address};
	uint32_t number;

	assert_int_equal(dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = 4), &number),
			 -EBUSY);
	assert_int_equal(dagpatch_add_empty(recording, NULL, NULL), -EBUSY);
	assert_int_equal(dagpatch_add_event_wait(recording, address, NULL, NULL), -EBUSY);
	assert_int_equal(dagpatch_finalize(recording), -EBUSY);
	assert_int_equal(dagpatch_bind(recording, 0, address, WORDS * 4), -EBUSY);
	assert_int_equal(dagpatch_bind_all(recording, addresses, 1), -EBUSY);
	assert_int_equal(dagpatch_apply(recording), -EBUSY);
	assert_int_equal(dagpatch_launch(recording, NULL), -EBUSY);
	assert_int_equal(dagpatch_revert(recording), -EBUSY);
	assert_int_equal(dagpatch_evict(recording), -EBUSY);
	assert_int_equal(dagpatch_verify(recording), -EBUSY);
	assert_int_equal(dagpatch_set_argument(recording, 0, 0, address, 4), -EBUSY);
	assert_int_equal(dagpatch_set_memset_value(recording, 0, 0), -EBUSY);
	dagpatch_recording_destroy(recording);
	/* Queries are allowed. */
	OK(NULL, dagpatch_recording_stats(recording, &stats));
	assert_true(dagpatch_recording_state(recording) <= DAGPATCH_READY);
	dagpatch_recording_exec(recording);
}

static struct dagpatch_recording *called_back;
static uint32_t calls;

static int record_and_call(void *user, void *stream, void *const *addresses)
{
	uint32_t value = 1;

	calls++;
	call_back(called_back, addresses[0]);
	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value});
}

static void observe_and_call(void *user, const struct dagpatch_change *change)
{
	calls++;
	call_back(called_back, user);
}

static void callbacks_that_call_back(void **state)
{
	const uint32_t slots[1] = {0};
	uint32_t *a = buffer(1), *b = buffer(1);
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene_create(
		scene, &(struct dagpatch_options){
			       .verify = 1, .observe = observe_and_call, .observe_user = a});

	called_back = recording;
	slot(recording, "words");
	for (uint32_t i = 0; i < 2; i++)
		OK(recording,
		   dagpatch_add_captured(recording,
					 &DAGPATCH_SIZED(capture, .record = record_and_call,
							 .flags = i ? DAGPATCH_RECAPTURE : 0,
							 .slots = slots, .slot_count = 1),
					 i ? AFTER(0) : NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 0, a);
	OK(recording, dagpatch_launch(recording, scene->stream));
	bind(recording, 0, b);
	OK(recording, dagpatch_launch(recording, scene->stream));
	scene_wait(scene);
	/* Adding: 2 calls. First launch: 1, and 1 to verify. Then 1, two observed changes, and 1
	 * to verify. */
	assert_int_equal(calls, 8);
	expect_first(a, 3);
	expect_first(b, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_where_a_recording_is_needed),
		SCENE(null_where_a_context_is_needed),
		SCENE(null_inside_of_structs),
		cmocka_unit_test(null_on_the_model),
		SCENE(what_is_of_another_context),
		SCENE(callbacks_that_call_back),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
