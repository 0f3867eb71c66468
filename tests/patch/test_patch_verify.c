/* What dagpatch reads of captured work and of executable graphs, on the model device: kernels that
 * the driver does not describe, captures that differ, and dagpatch_verify. */
#include <errno.h>

#include <dagpatch/model.h>

#include "suite.h"

static int add_mark(struct dagpatch_recording *recording, uint32_t to, uint32_t *value,
		    uint32_t flags)
{
	return dagpatch_add_captured(recording,
				     &DAGPATCH_SIZED(capture, .record = capture_mark, .user = value,
						     .slots = &to, .slot_count = 1, .flags = flags),
				     NULL, NULL);
}

/* If the driver does not describe a captured kernel, dagpatch cannot read it unless the caller
 * describes it. */
static void caller_describes_a_kernel(void **state)
{
	const struct dagpatch_parameter right[] = {{0, 8, DAGPATCH_PARAMETER_POINTER},
						   {8, 4, DAGPATCH_PARAMETER_VALUE}};
	const struct dagpatch_parameter wrong[] = {{0, 4, 0}, {4, 4, 0}, {8, 4, 0}};
	const struct dagpatch_parameter overlapping[] = {{0, 8, 0}, {4, 8, 0}};
	void *mark = suite_bed->function(BED_MARK);
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t to;

	scene_lack(scene, DAGPATCH_MODEL_NO_LAYOUTS);
	recording = scene_create(scene, &(struct dagpatch_options){0});
	to = slot(recording, "to");
	scene_failed(recording, add_mark(recording, to, NULL, 0), -ENOTSUP, "parameters unknown");
	assert_int_equal(dagpatch_kernel_describe(scene->context, mark, overlapping, 2), -EINVAL);
	OK(NULL, dagpatch_kernel_describe(scene->context, mark, right, 2));
	OK(NULL, dagpatch_kernel_describe(scene->context, mark, right, 2));
	assert_int_equal(dagpatch_kernel_describe(scene->context, mark, wrong, 3), -EEXIST);
	OK(recording, add_mark(recording, to, NULL, 0));
	/* An address where the description has two numbers is an error. */
	recording = scene_create(scene, &(struct dagpatch_options){0});
	OK(NULL, dagpatch_kernel_describe(scene->context, mark, wrong, 3));
	to = slot(recording, "to");
	scene_failed(recording, add_mark(recording, to, NULL, 0), -EILSEQ, "next parameter");
}

/* Captures two mark kernels one after the other; in the third call, at the same time. */
static int capture_in_another_order(void *user, void *stream, void *const *addresses)
{
	uint32_t *calls = user, value = 1;
	bool forked = ++*calls == 3;
	void *other = suite_bed->stream_create();
	void *event = suite_bed->event_create();
	void *parameters[] = {(void *)&addresses[0], &value};

	if (forked) {
		assert_int_equal(suite_bed->event_record(stream, event), 0);
		assert_int_equal(suite_bed->event_wait(other, event), 0);
	}
	assert_int_equal(suite_bed->launch(stream, BED_MARK, 1, 1, parameters), 0);
	assert_int_equal(suite_bed->launch(forked ? other : stream, BED_MARK, 1, 1, parameters), 0);
	if (forked) {
		assert_int_equal(suite_bed->event_record(other, event), 0);
		assert_int_equal(suite_bed->event_wait(stream, event), 0);
	}
	suite_bed->event_destroy(event);
	suite_bed->stream_destroy(other);
	return 0;
}

/* Differences in a capture with another order must not count as unstable bytes. */
static void another_order_is_an_error(void **state)
{
	struct scene *scene = *state;
	uint32_t to = slot(scene->recording, "to"), calls = 0;

	scene_failed(
		scene->recording,
		dagpatch_add_captured(scene->recording,
				      &DAGPATCH_SIZED(capture, .record = capture_in_another_order,
						      .user = &calls, .slots = &to, .slot_count = 1,
						      .flags = DAGPATCH_LEAVE_UNSTABLE),
				      NULL, NULL),
		-EILSEQ, "capture 4 have other dependencies");
}

/* The callback would capture something else by now. */
static void verify_notices_another_capture(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene_create(scene, &(struct dagpatch_options){0});
	uint32_t value = 1, to = slot(recording, "to");

	OK(recording, add_mark(recording, to, &value, 0));
	OK(recording, dagpatch_finalize(recording));
	scene_failed(recording, dagpatch_verify(recording), -EINVAL, "no graph yet");
	bind(recording, to, buffer(0));
	OK(recording, dagpatch_apply(recording));
	OK(recording, dagpatch_verify(recording));
	value = 2;
	scene_failed(recording, dagpatch_verify(recording), -EILSEQ,
		     "node 1 (kernel mark), argument 1: differs");
}

/* On a driver where graphs are flattened and that does not describe a kernel's parameters, the
 * work stays a child, and each change builds a new graph. */
static void work_that_cannot_be_read_stays_a_child(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t *buffers[2] = {buffer(0), buffer(0)}, value = 3, to;

	scene_lack(scene, DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_LAYOUTS |
				  DAGPATCH_MODEL_NO_NESTED_SETS | DAGPATCH_MODEL_NO_CONDITIONALS |
				  DAGPATCH_MODEL_NO_CHILDREN);
	recording = scene_create(scene, &(struct dagpatch_options){.verify = 1});
	to = slot(recording, "to");
	OK(recording, add_mark(recording, to, &value, DAGPATCH_RECAPTURE));
	OK(recording, dagpatch_add_empty(recording, AFTER(0), NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 4; i++) {
		bind(recording, to, buffers[i % 2]);
		scene_run(scene);
		expect_first(buffers[0], 3 * (i / 2 + 1));
		expect_first(buffers[1], 3 * ((i + 1) / 2));
	}
	assert_int_equal(stats_of(scene->recording).uses[DAGPATCH_INSTANTIATE], 4);
	assert_int_equal(stats_of(scene->recording).unread_nodes, 1);
}

/* Two recordings use one executable graph: verify of one finds what the other has applied. */
static void verify_reads_the_executable_graph(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recordings[2] = {
		scene_create(scene, &(struct dagpatch_options){0})};
	void *a = buffer(0), *graph, *exec;
	struct dagpatch_declared declared = {0, 0, 0, 0};

	OK(NULL, dagpatch_recording_create(scene->context, 0, &recordings[1]));
	suite_bed->capture_begin(scene->stream);
	assert_int_equal(capture_mark(NULL, scene->stream, &a), 0);
	graph = suite_bed->capture_end(scene->stream);
	exec = suite_bed->instantiate(graph);
	for (uint32_t i = 0; i < 2; i++) {
		slot(recordings[i], "to");
		OK(recordings[i],
		   dagpatch_adopt(recordings[i],
				  &DAGPATCH_SIZED(adoption, .graph = graph,
						  .addresses = {(void *[]){a}},
						  .declared = &declared, .declared_count = 1,
						  .exec = exec)));
		OK(recordings[i], dagpatch_finalize(recordings[i]));
	}
	assert_int_equal(dagpatch_verify(recordings[0]), 0);
	bind(recordings[1], 0, buffer(0));
	OK(recordings[1], dagpatch_apply(recordings[1]));
	assert_int_equal(dagpatch_verify(recordings[1]), 0);
	scene_failed(recordings[0], dagpatch_verify(recordings[0]), -EILSEQ,
		     "differs in the executable graph");
	dagpatch_recording_destroy(recordings[1]);
	scene_again(scene, 0);
	suite_bed->exec_destroy(exec);
	suite_bed->graph_destroy(graph);
}

/* A value that was set later is not an address, and the callback does not know it; verify must
 * accept it. */
static void verify_knows_other_values(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording =
		scene_create(scene, &(struct dagpatch_options){.verify = 1});
	uint32_t *a = buffer(0), value = 4, to = slot(recording, "to");

	OK(recording, add_mark(recording, to, NULL, 0));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	OK(recording, dagpatch_apply(recording));
	OK(recording, dagpatch_set_argument(recording, 1, 1, &value, sizeof(value)));
	scene_run(scene);
	expect_first(a, 4);
	OK(recording, dagpatch_verify(recording));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(caller_describes_a_kernel),
		SCENE(another_order_is_an_error),
		SCENE(verify_notices_another_capture),
		SCENE(work_that_cannot_be_read_stays_a_child),
		SCENE(verify_reads_the_executable_graph),
		SCENE(verify_knows_other_values),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
