/* Launches into streams that are captured, and changes while other streams are captured. */
#include <errno.h>

#include "suite.h"

/* The ways in which a recording contains c = a + b. Slots 0, 1 and 2 are c, a and b. */
enum form { RECORDED, CHILD, CAPTURED, AGAIN, GIVEN, ADOPTED, SHADOWED, FORMS };

static int record_sum(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[2], &count})
		       ? -EIO
		       : 0;
}

static void *capture_sum(void *const *addresses)
{
	void *stream = suite_bed->stream_create(), *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(record_sum(NULL, stream, addresses), 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	return graph;
}

static void add_graph(struct dagpatch_recording *recording, bool is_adopted)
{
	void *at[2][3], *graphs[2];
	uint32_t slots[3] = {0, 1, 2};

	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < 3; j++)
			at[i][j] = buffer(0);
		graphs[i] = capture_sum(at[i]);
	}
	if (is_adopted)
		OK(recording,
		   dagpatch_adopt(recording, &DAGPATCH_SIZED(adoption, .graph = graphs[0],
							     .addresses = {at[0], at[1]},
							     .other_graph = graphs[1])));
	else
		OK(recording,
		   dagpatch_add_graph(recording,
				      &DAGPATCH_SIZED(graph, .graph = graphs[0], .slots = slots,
						      .slot_count = 3, .addresses = {at[0], at[1]},
						      .other_graph = graphs[1]),
				      NULL, NULL));
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->graph_destroy(graphs[i]);
		for (uint32_t j = 0; j < 3; j++)
			buffer_free(at[i][j]);
	}
}

static void add_child(struct scene *scene)
{
	struct dagpatch_mapping mappings[3] = {{0, 0}, {1, 0}, {2, 0}};
	struct dagpatch_recording *nested;
	uint32_t slots[3];

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(nested, "nested");
	add_three(nested, BED_ADD, slots, NULL);
	OK(nested, dagpatch_finalize(nested));
	OK(scene->recording,
	   dagpatch_add_child(scene->recording, &DAGPATCH_SIZED(child, nested, mappings, 3), NULL,
			      NULL));
	dagpatch_recording_destroy(nested);
}

static void record(struct scene *scene, enum form form)
{
	const uint32_t slots[3] = {0, 1, 2};
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_slot given = {.size = sizeof(given), .bytes = WORDS * 4};
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = record_sum,
					   .slots = slots,
					   .slot_count = 3,
					   .flags = form == AGAIN ? DAGPATCH_RECAPTURE : 0};
	uint32_t number;

	for (uint32_t i = 0; i < 3; i++) {
		if (form == SHADOWED)
			given.flags = i == 0 ? DAGPATCH_SHADOW_OUT : DAGPATCH_SHADOW_IN;
		OK(recording, dagpatch_slot_add(recording, &given, &number));
	}
	if (form == RECORDED || form == SHADOWED)
		add_three(recording, BED_ADD, slots, NULL);
	else if (form == CHILD)
		add_child(scene);
	else if (form == GIVEN || form == ADOPTED)
		add_graph(recording, form == ADOPTED);
	else
		OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
}

/* What a program captures: a = 4; the recording; c[0] += 5. */
static void *capture_around(struct dagpatch_recording *recording, uint32_t *a, uint32_t *c)
{
	void *stream = suite_bed->stream_create(), *graph;
	uint32_t value = 5;

	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->memset(stream, a, 4, 4, WORDS), 0);
	OK(recording, dagpatch_launch(recording, stream));
	assert_int_equal(suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&c, &value}),
			 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	return graph;
}

/* Instantiates GRAPH and destroys it. */
static void *instantiate(void *graph)
{
	void *exec = suite_bed->instantiate(graph);

	suite_bed->graph_destroy(graph);
	return exec;
}

static void run_exec(struct scene *scene, void *exec)
{
	suite_bed->exec_launch(exec, scene->stream);
	suite_bed->stream_synchronize(scene->stream);
}

static void expect_sum(const uint32_t *c, uint32_t sum, uint32_t mark)
{
	expect_first(c, sum + mark);
	expect_words(c + 1, WORDS - 1, sum, __FILE__, __LINE__);
}

/* The captured graph keeps the addresses of the launch, whatever is bound later. */
static void launch_into_capture(struct scene *scene, enum form form, bool is_first)
{
	uint32_t *c = buffer(0), *a = buffer(1), *b = buffer(2), *d = buffer(0);
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	struct dagpatch_recording *recording;
	void *exec;

	scene_again(scene, 0);
	recording = scene->recording;
	record(scene, form);
	bind(recording, 0, d);
	bind(recording, 1, a);
	bind(recording, 2, b);
	if (!is_first)
		scene_run(scene);
	expect_all(d, is_first ? 0 : 3);
	bind(recording, 0, c);
	exec = instantiate(capture_around(recording, a, c));
	expect_all(c, 0);
	expect_all(a, 1);
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.captured_launches, 1);
	assert_int_equal(stats.launches, is_first ? 0 : 1);
	run_exec(scene, exec);
	expect_sum(c, 6, 5);
	bind(recording, 0, d);
	scene_run(scene);
	expect_all(d, 6);
	expect_sum(c, 6, 5);
	buffer_set(c, 0);
	buffer_set(d, 0);
	run_exec(scene, exec);
	expect_sum(c, 6, 5);
	expect_all(d, 0);
	suite_bed->exec_destroy(exec);
}

static void launches_into_captures(void **state)
{
	for (enum form form = 0; form < FORMS; form++) {
		launch_into_capture(*state, form, true);
		launch_into_capture(*state, form, false);
	}
}

/* The captured graph has a * b, the new parameters. The recording itself computes a + b until
 * they are applied. */
static void launches_of_what_was_set(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *buffers[3] = {buffer(0), buffer(1), buffer(2)}, node = 0, count = WORDS;
	struct dagpatch_pointer pointers[3] = {{.slot = 0}, {.slot = 1}, {.slot = 2}};
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&count, sizeof(count))};
	void *exec;

	record(scene, RECORDED);
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	expect_all(buffers[0], 3);
	OK(recording,
	   dagpatch_set_kernel(recording, node,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_MUL),
					       .grid = {1, 1, 1}, .block = {WORDS, 1, 1},
					       .argument_count = 4, .arguments = arguments)));
	exec = instantiate(capture_around(recording, buffers[1], buffers[0]));
	run_exec(scene, exec);
	expect_sum(buffers[0], 8, 5);
	/* The new parameters have not reached the recording's own graph. */
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_all(buffers[0], 6);
	suite_bed->exec_destroy(exec);
}

/* A launch after two branches, a = 4 and b = 9, which another stream joins. */
static void launch_after_branches(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *c = buffer(0), *a = buffer(1), *b = buffer(2);
	void *stream = suite_bed->stream_create(), *other = suite_bed->stream_create(), *exec;
	void *fork = suite_bed->event_create(), *join = suite_bed->event_create();

	record(scene, RECORDED);
	bind(recording, 0, c);
	bind(recording, 1, a);
	bind(recording, 2, b);
	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->event_record(stream, fork), 0);
	assert_int_equal(suite_bed->event_wait(other, fork), 0);
	assert_int_equal(suite_bed->memset(stream, a, 4, 4, WORDS), 0);
	assert_int_equal(suite_bed->memset(other, b, 9, 4, WORDS), 0);
	assert_int_equal(suite_bed->event_record(other, join), 0);
	assert_int_equal(suite_bed->event_wait(stream, join), 0);
	OK(recording, dagpatch_launch(recording, stream));
	/* The recording is launched again, after itself. */
	OK(recording, dagpatch_launch(recording, stream));
	exec = instantiate(suite_bed->capture_end(stream));
	run_exec(scene, exec);
	expect_all(c, 13);
	suite_bed->exec_destroy(exec);
	suite_bed->event_destroy(fork);
	suite_bed->event_destroy(join);
	suite_bed->stream_destroy(stream);
	suite_bed->stream_destroy(other);
}

/* A launch of an empty recording changes nothing. */
static void launch_nothing_into_a_capture(void **state)
{
	struct scene *scene = *state;
	uint32_t *a = buffer(1);
	void *exec;

	OK(scene->recording, dagpatch_finalize(scene->recording));
	exec = instantiate(capture_around(scene->recording, a, a));
	run_exec(scene, exec);
	expect_sum(a, 4, 5);
	suite_bed->exec_destroy(exec);
}

/* ---- beside a capture ---- */

/* The whole life of a recording, on a thread that captures something else. */
static void live_beside(struct scene *scene, enum form form, uint32_t *const buffers[6])
{
	struct dagpatch_recording *recording = scene->recording;

	record(scene, form);
	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t i = 0; i < 3; i++)
			bind(recording, i, buffers[turn % 2 * 3 + i]);
		OK(recording, dagpatch_launch(recording, scene->stream));
	}
}

static void change_beside_capture(struct scene *scene, enum form form,
				  void (*capture_begin)(void *stream))
{
	uint32_t *buffers[6] = {buffer(0), buffer(1), buffer(2), buffer(0), buffer(3), buffer(4)};
	uint32_t *mine = buffer(0), value = 5;
	void *stream = suite_bed->stream_create(), *exec;
	struct dagpatch_context *context;
	const struct dagpatch_options options = {.size = sizeof(options),
						 .driver = suite_bed->driver};

	scene_again(scene, 0);
	capture_begin(stream);
	assert_int_equal(suite_bed->memset(stream, mine, 1, 4, WORDS), 0);
	live_beside(scene, form, buffers);
	if (form == RECORDED) {
		OK(NULL, dagpatch_context_create(&options, &context, NULL));
		dagpatch_context_destroy(context);
	}
	assert_int_equal(
		suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&mine, &value}), 0);
	exec = instantiate(suite_bed->capture_end(stream));
	suite_bed->stream_synchronize(scene->stream);
	expect_all(buffers[0], 3);
	expect_all(buffers[3], 7);
	expect_all(mine, 0);
	run_exec(scene, exec);
	expect_sum(mine, 1, 5);
	suite_bed->exec_destroy(exec);
	suite_bed->stream_destroy(stream);
}

static void changes_beside_a_capture(void **state)
{
	for (enum form form = 0; form < FORMS; form++) {
		if (form == GIVEN || form == ADOPTED)
			continue; /* the test's own capture would allocate memory in between */
		change_beside_capture(*state, form, suite_bed->capture_begin);
		if (suite_bed->capture_begin_global)
			change_beside_capture(*state, form, suite_bed->capture_begin_global);
	}
}

int suite_into(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(launches_into_captures),	 SCENE(launches_of_what_was_set),
		SCENE(launch_after_branches),	 SCENE(launch_nothing_into_a_capture),
		SCENE(changes_beside_a_capture),
	};

	return cmocka_run_group_tests_name("into captures", tests, NULL, NULL);
}
