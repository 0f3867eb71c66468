/* What is undone after a failed change, and in which state the recording is then: only what has
 * reached the executable graph is put back. On the model device. */
#include <errno.h>

#include <dagpatch/model.h>

#include "every_node.h"

/* Creates a context with STRATEGY and a recording with slots 0 and 1. */
static struct dagpatch_recording *with_slots(struct scene *scene, enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording = scene_create(
		scene, &(struct dagpatch_options){.strategy = strategy, .table_from_nodes = 64});

	assert_int_equal(slot(recording, "first"), 0);
	assert_int_equal(slot(recording, "second"), 1);
	return recording;
}

static const uint32_t slots[] = {0, 1};

/* The host set another value of a table node before binding in the table fails. Undoing the
 * binding must keep the value and the address. */
static void a_value_put_back_keeps_the_address(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = with_slots(scene, DAGPATCH_DEVICE_TABLE);
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(5), node, count = WORDS / 2;

	OK(recording, add_part(recording, slots, 0, NULL, &node));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 0, a);
	bind(recording, 1, b);
	OK(recording, dagpatch_apply(recording));
	bind(recording, 0, c);
	OK(recording, dagpatch_set_argument(recording, node, PART_COUNT, &count, sizeof(count)));
	dagpatch_model_fail(2, 1);
	scene_failed(recording, dagpatch_apply(recording), -EIO, "in the table");
	dagpatch_model_fail(0, 0);
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_all(a, 3);
	expect_all(c, 5);
}

/* Verify fails after the new address was bound in the table: the work that it captures adds
 * another value than the graph's. Undoing binds the old address again. */
static void an_address_in_the_table_is_put_back(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording =
		scene_create(scene, &(struct dagpatch_options){.strategy = DAGPATCH_DEVICE_TABLE,
							       .table_from_nodes = 64,
							       .verify = 1});
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(5), *marked = buffer(0), value = 1;
	uint32_t part[] = {slot(recording, "first"), slot(recording, "second")};
	uint32_t mark = slot(recording, "marked");
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = capture_mark,
					   .user = &value,
					   .slots = &mark,
					   .slot_count = 1};

	OK(recording, add_part(recording, part, 0, NULL, NULL));
	OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, b, marked}, 3));
	OK(recording, dagpatch_apply(recording));
	bind(recording, part[0], c);
	value = 7;
	scene_failed(recording, dagpatch_apply(recording), -EILSEQ, "a fresh capture");
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	assert_int_equal(stats_of(recording).rollbacks, 1);
	value = 1;
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_all(a, 3);
	expect_all(c, 5);
	expect_first(marked, 1);
}

/* Two slots, each with captured work: the work of the first is captured again; that of the
 * second is patched but cannot be set in an executable graph. */
static void what_cannot_be_set_is_not_put_back(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t *buffers[] = {buffer(0), buffer(0), buffer(0), buffer(0), buffer(0)};
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = capture_mark,
					   .slot_count = 1,
					   .flags = DAGPATCH_RECAPTURE};

	scene_lack(scene, DAGPATCH_MODEL_NO_NESTED_SETS);
	recording = with_slots(scene, DAGPATCH_SET_PARAMS);
	for (uint32_t i = 0; i < 2; i++) {
		capture.slots = &slots[i];
		OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
		capture.flags = 0;
	}
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 0, buffers[0]);
	bind(recording, 1, buffers[3]);
	OK(recording, dagpatch_apply(recording));
	bind(recording, 0, buffers[1]);
	OK(recording, dagpatch_apply(recording));
	bind(recording, 0, buffers[2]);
	bind(recording, 1, buffers[4]);
	/* The capture succeeds; building a new graph fails. */
	dagpatch_model_fail(3, 1000000);
	assert_int_equal(dagpatch_apply(recording), -EIO);
	dagpatch_model_fail(0, 0);
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	for (uint32_t i = 0; i < 5; i++)
		expect_first(buffers[i], i == 1 || i == 3);
}

static void *capture_nested_mark(uint32_t *buffer)
{
	void *stream = suite_bed->stream_create();
	void *address = buffer, *inner, *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(capture_mark(NULL, stream, &address), 0);
	inner = suite_bed->capture_end(stream);
	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->graph_launch(stream, inner), 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->graph_destroy(inner);
	suite_bed->stream_destroy(stream);
	return graph;
}

/* dagpatch can do nothing else to an executable graph of the program, which stays as it was. */
static void a_foreign_graph_that_cannot_be_set_is_not_lost(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	void *graphs[2], *exec;
	uint32_t *buffers[] = {buffer(0), buffer(0), buffer(0)};

	scene_lack(scene, DAGPATCH_MODEL_NO_NESTED_SETS);
	recording = with_slots(scene, DAGPATCH_AUTO);
	for (uint32_t i = 0; i < 2; i++)
		graphs[i] = capture_nested_mark(buffers[i]);
	exec = suite_bed->instantiate(graphs[0]);
	OK(recording,
	   dagpatch_adopt(recording,
			  &DAGPATCH_SIZED(adoption, .graph = graphs[0],
					  .addresses = {(void *[]){buffers[0], buffers[0]},
							(void *[]){buffers[1], buffers[2]}},
					  .other_graph = graphs[1], .exec = exec)));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 0, buffers[1]);
	scene_failed(recording, dagpatch_apply(recording), -ENOTSUP, "node 1");
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_first(buffers[0], 1);
	expect_first(buffers[1], 0);
	scene_again(scene, 0);
	suite_bed->exec_destroy(exec);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->graph_destroy(graphs[i]);
}

/* One failed call counts as one failure, however many strategies it tried. */
static void a_call_that_fails_is_one_failure(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(1), *b = buffer(2);

	scene_lack(scene, DAGPATCH_MODEL_NO_UPDATE);
	recording = with_slots(scene, DAGPATCH_UPDATE_GRAPH);
	OK(recording, add_part(recording, slots, 0, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, a}, 2));
	OK(recording, dagpatch_apply(recording));
	bind(recording, 0, b);
	/* The node is set, the update is refused, and building a new graph fails. */
	dagpatch_model_fail(3, 1000000);
	scene_failed(recording, dagpatch_apply(recording), -EIO, "making the graph");
	dagpatch_model_fail(0, 0);
	assert_int_equal(stats_of(scene->recording).failures, 1);
}

static void lose(struct dagpatch_recording *recording)
{
	dagpatch_model_fail(1, 1000000);
	assert_int_equal(dagpatch_apply(recording), -EIO);
	dagpatch_model_fail(0, 0);
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_LOST);
}

/* A lost recording has no graph until its next launch. Only bindings that never were in a graph
 * can be dropped. */
static void a_lost_recording_keeps_its_addresses(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = with_slots(scene, DAGPATCH_SET_PARAMS);
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(5), node;

	OK(recording, add_part(recording, slots, 0, NULL, &node));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, b}, 2));
	OK(recording, dagpatch_apply(recording));
	assert_non_null(dagpatch_node_handle(recording, node));
	bind(recording, 0, c);
	lose(recording);
	OK(recording, dagpatch_finalize(recording));
	assert_null(dagpatch_recording_exec(recording));
	assert_null(dagpatch_node_handle(recording, node));
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_all(a, 3);
	expect_all(c, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_value_put_back_keeps_the_address),
		SCENE(an_address_in_the_table_is_put_back),
		SCENE(what_cannot_be_set_is_not_put_back),
		SCENE(a_foreign_graph_that_cannot_be_set_is_not_lost),
		SCENE(a_call_that_fails_is_one_failure),
		SCENE(a_lost_recording_keeps_its_addresses),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
