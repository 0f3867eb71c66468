/* Nodes that get other parameters (dagpatch_set_...). */
#include <errno.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

/* c = a OP b over the first WORDS words: sets node *SET, or adds a node if SET is NULL. */
static int give_three(struct dagpatch_recording *recording, enum bed_kernel kernel,
		      const uint32_t slots[3], uint32_t words, uint32_t *set)
{
	struct dagpatch_pointer pointers[3] = {
		{.slot = slots[0]}, {.slot = slots[1]}, {.slot = slots[2]}};
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&words, sizeof(words))};
	const struct dagpatch_kernel given =
		DAGPATCH_SIZED(kernel, .function = suite_bed->function(kernel), .grid = {1, 1, 1},
			       .block = {words, 1, 1}, .argument_count = 4, .arguments = arguments);

	return set ? dagpatch_set_kernel(recording, *set, &given)
		   : dagpatch_add_kernel(recording, &given, NULL, NULL);
}

/* Sets node NODE to at[0] += VALUE. */
static int set_mark(struct dagpatch_recording *recording, uint32_t node, uint32_t slot_number,
		    uint32_t value)
{
	struct dagpatch_pointer pointer = {.slot = slot_number};
	struct dagpatch_argument arguments[2] = {dagpatch_address(&pointer),
						 dagpatch_value(&value, sizeof(value))};

	return dagpatch_set_kernel(recording, node,
				   &DAGPATCH_SIZED(kernel,
						   .function = suite_bed->function(BED_MARK),
						   .grid = {1, 1, 1}, .block = {1, 1, 1},
						   .argument_count = 2, .arguments = arguments));
}

struct three {
	uint32_t slots[3], *buffers[3];
};

/* Adds slots 0 to 2 and binds them to buffers of 1, 2 and 3. */
static void three_slots(struct scene *scene, struct three *three)
{
	for (uint32_t i = 0; i < 3; i++) {
		three->slots[i] = slot(scene->recording, NULL);
		three->buffers[i] = buffer(i + 1);
	}
}

static void bind_three(struct scene *scene, const struct three *three)
{
	for (uint32_t i = 0; i < 3; i++)
		bind(scene->recording, three->slots[i], three->buffers[i]);
}

/* One kernel over three slots, bound and run once: the first buffer then holds 5. */
static void one_kernel(struct scene *scene, struct three *three)
{
	three_slots(scene, three);
	OK(scene->recording, give_three(scene->recording, BED_ADD, three->slots, WORDS, NULL));
	OK(scene->recording, dagpatch_finalize(scene->recording));
	bind_three(scene, three);
	scene_run(scene);
	expect_all(three->buffers[0], 5);
}

static void a_kernel_gets_another_function(void **state)
{
	struct scene *scene = *state;
	struct three three;
	uint32_t node = 0;

	one_kernel(scene, &three);
	OK(scene->recording, give_three(scene->recording, BED_MUL, three.slots, WORDS, &node));
	scene_run(scene);
	expect_all(three.buffers[0], 6);
	/* Other arguments, then the first ones again. */
	OK(scene->recording, set_mark(scene->recording, 0, three.slots[1], 40));
	scene_run(scene);
	expect_words(three.buffers[1], 1, 42, __FILE__, __LINE__);
	expect_all(three.buffers[0], 6);
	OK(scene->recording, give_three(scene->recording, BED_ADD, three.slots, WORDS, &node));
	scene_run(scene);
	expect_words(three.buffers[0], 1, 45, __FILE__, __LINE__);
	expect_words(three.buffers[0] + 1, WORDS - 1, 5, __FILE__, __LINE__);
}

/* Sets the grid and the slots. A slot that the node no longer accesses must have no relocation. */
static void a_kernel_gets_other_slots(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_relocation relocation;
	uint32_t *other = buffer(100), node = 0;
	struct three three;

	one_kernel(scene, &three);
	OK(recording, give_three(recording, BED_ADD,
				 (uint32_t[]){three.slots[2], three.slots[1], three.slots[1]},
				 WORDS / 2, &node));
	scene_run(scene);
	expect_words(three.buffers[2], WORDS / 2, 4, __FILE__, __LINE__);
	expect_words(three.buffers[2] + WORDS / 2, WORDS / 2, 3, __FILE__, __LINE__);
	expect_all(three.buffers[0], 5);
	for (uint32_t i = 0; dagpatch_recording_relocation(recording, i, &relocation) == 0; i++)
		assert_int_not_equal(relocation.slot, three.slots[0]);
	bind(recording, three.slots[1], other);
	bind(recording, three.slots[0], other);
	scene_run(scene);
	expect_words(three.buffers[2], WORDS / 2, 200, __FILE__, __LINE__);
	expect_all(other, 100);
}

/* Pending changes add up until the next launch; for one node the last call counts. */
static void calls_add_up_until_the_launch(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t node = 0, value = 7;
	struct three three;

	one_kernel(scene, &three);
	OK(recording, give_three(recording, BED_MUL, three.slots, WORDS, &node));
	OK(recording, set_mark(recording, node, three.slots[1], 1));
	OK(recording, dagpatch_set_argument(recording, node, 1, &value, sizeof(value)));
	scene_run(scene);
	expect_words(three.buffers[1], 1, 9, __FILE__, __LINE__);
	expect_all(three.buffers[0], 5);
	/* A pending change that is dropped has no effect. */
	OK(recording, give_three(recording, BED_MUL, three.slots, WORDS, &node));
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_words(three.buffers[1], 1, 16, __FILE__, __LINE__);
	expect_all(three.buffers[0], 5);
}

/* Parameters can also be set before a graph exists. */
static void a_node_is_set_before_the_first_launch(void **state)
{
	struct scene *scene = *state;
	struct three three;
	uint32_t node = 0;

	three_slots(scene, &three);
	OK(scene->recording, give_three(scene->recording, BED_ADD, three.slots, WORDS, NULL));
	OK(scene->recording, dagpatch_finalize(scene->recording));
	OK(scene->recording, give_three(scene->recording, BED_MUL, three.slots, WORDS, &node));
	bind_three(scene, &three);
	scene_run(scene);
	expect_all(three.buffers[0], 6);
}

static void replays_in_flight_keep_their_parameters(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct three three;
	uint32_t node = 0;

	one_kernel(scene, &three);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t to = i % 2;

		OK(recording,
		   give_three(recording, BED_ADD,
			      (uint32_t[]){three.slots[to], three.slots[to], three.slots[2]},
			      i < 4 ? WORDS : WORDS / 2, &node));
		OK(recording, dagpatch_launch(recording, scene->stream));
	}
	suite_bed->stream_synchronize(scene->stream);
	expect_words(three.buffers[0], WORDS / 2, 17, __FILE__, __LINE__);
	expect_words(three.buffers[0] + WORDS / 2, WORDS / 2, 11, __FILE__, __LINE__);
	expect_words(three.buffers[1], WORDS / 2, 14, __FILE__, __LINE__);
	expect_words(three.buffers[1] + WORDS / 2, WORDS / 2, 8, __FILE__, __LINE__);
}

static void copies_and_memsets_are_set(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct three three;
	uint32_t copy, memset;

	three_slots(scene, &three);
	OK(recording, dagpatch_add_copy(recording,
					&DAGPATCH_SIZED(copy, .dst = {.slot = three.slots[0]},
							.src = {.slot = three.slots[1]},
							.width_bytes = WORDS * 4),
					NULL, &copy));
	OK(recording,
	   dagpatch_add_memset(recording,
			       &DAGPATCH_SIZED(memset, .slot = three.slots[2], .value = 9,
					       .element_bytes = 4, .width = WORDS),
			       AFTER(copy), &memset));
	OK(recording, dagpatch_finalize(recording));
	bind_three(scene, &three);
	scene_run(scene);
	expect_all(three.buffers[0], 2);
	expect_all(three.buffers[2], 9);
	/* Half the size, in the other direction, in rows. */
	OK(recording,
	   dagpatch_set_copy(recording, copy,
			     &DAGPATCH_SIZED(copy, .dst = {.slot = three.slots[1], .pitch = 32},
					     .src = {.slot = three.slots[2], .pitch = 32},
					     .width_bytes = 16, .height = WORDS / 8)));
	OK(recording, dagpatch_set_memset(recording, memset,
					  &DAGPATCH_SIZED(memset, .slot = three.slots[0],
							  .offset = WORDS * 2, .value = 3,
							  .element_bytes = 1, .width = WORDS * 2)));
	scene_run(scene);
	expect_words(three.buffers[1], 4, 9, __FILE__, __LINE__);
	expect_words(three.buffers[1] + 4, 4, 2, __FILE__, __LINE__);
	expect_words(three.buffers[1] + WORDS - 8, 4, 9, __FILE__, __LINE__);
	expect_words(three.buffers[0], WORDS / 2, 2, __FILE__, __LINE__);
	expect_words(three.buffers[0] + WORDS / 2, WORDS / 2, 0x03030303, __FILE__, __LINE__);
	expect_all(three.buffers[2], 9);
}

/* ---- children ---- */

static int capture_add(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, *(enum bed_kernel *)user, 1, WORDS,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[2], &count})
		       ? -EIO
		       : 0;
}

/* A nested recording with a kernel and captured work after it, over three slots. */
static struct dagpatch_recording *make_nested(struct scene *scene, enum bed_kernel kernel,
					      enum bed_kernel *captured)
{
	struct dagpatch_recording *nested;
	uint32_t slots[3], first;

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(nested, NULL);
	first = add_three(nested, kernel, slots, NULL);
	if (captured)
		OK(nested, dagpatch_add_captured(nested,
						 &DAGPATCH_SIZED(capture, .record = capture_add,
								 .user = captured, .slots = slots,
								 .slot_count = 3),
						 AFTER(first), NULL));
	OK(nested, dagpatch_finalize(nested));
	return nested;
}

static int give_child(struct scene *scene, const struct dagpatch_recording *nested,
		      const uint32_t slots[3], const uint32_t *set)
{
	struct dagpatch_mapping mappings[3] = {{slots[0], 0}, {slots[1], 0}, {slots[2], 0}};
	const struct dagpatch_child child = DAGPATCH_SIZED(child, nested, mappings, 3);

	return set ? dagpatch_set_child(scene->recording, *set, &child)
		   : dagpatch_add_child(scene->recording, &child, NULL, NULL);
}

static void a_child_is_set(void **state)
{
	static enum bed_kernel kinds[2] = {BED_ADD, BED_MUL};
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *first, *second, *shorter;
	struct three three;
	uint32_t node = 0;

	three_slots(scene, &three);
	first = make_nested(scene, BED_ADD, &kinds[0]);
	second = make_nested(scene, BED_MUL, &kinds[1]);
	shorter = make_nested(scene, BED_MUL, NULL);
	OK(recording, give_child(scene, first, three.slots, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind_three(scene, &three);
	scene_run(scene);
	expect_all(three.buffers[0], 5);
	scene_failed(recording, give_child(scene, shorter, three.slots, &node), -EINVAL,
		     "a child of 1 nodes in place of one of 3");
	/* Set twice: what the first call gave must be released. */
	OK(recording, give_child(scene, first, three.slots, &node));
	OK(recording, give_child(scene, second, three.slots, &node));
	scene_run(scene);
	expect_all(three.buffers[0], 6);
	OK(recording,
	   give_child(scene, second, (uint32_t[]){three.slots[1], three.slots[0], three.slots[2]},
		      &node));
	OK(recording, dagpatch_revert(recording));
	OK(recording,
	   give_child(scene, first, (uint32_t[]){three.slots[2], three.slots[1], three.slots[0]},
		      &node));
	scene_run(scene);
	expect_all(three.buffers[2], 8);
	expect_all(three.buffers[0], 6);
	/* Bind again: the new child's slots count. */
	bind(recording, three.slots[1], three.buffers[0]);
	scene_run(scene);
	expect_all(three.buffers[2], 12);
	dagpatch_recording_destroy(first);
	dagpatch_recording_destroy(second);
	dagpatch_recording_destroy(shorter);
}

/* The nodes of captured work are identified by their order. */
static void a_captured_kernel_is_set(void **state)
{
	static enum bed_kernel kind = BED_ADD;
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct three three;
	uint32_t child, inner;

	three_slots(scene, &three);
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = capture_add, .user = &kind,
						 .slots = three.slots, .slot_count = 3),
				 NULL, &child));
	OK(recording, dagpatch_finalize(recording));
	bind_three(scene, &three);
	scene_run(scene);
	expect_all(three.buffers[0], 5);
	inner = child + 1;
	OK(recording, give_three(recording, BED_MUL, three.slots, WORDS, &inner));
	scene_run(scene);
	expect_all(three.buffers[0], 6);
	bind(recording, three.slots[1], three.buffers[2]);
	scene_run(scene);
	expect_all(three.buffers[0], 9);
	assert_true(dagpatch_verify(recording) >= 0);
}

/* ---- parameters that are refused ---- */

static void bad_sets_change_nothing(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct three three;
	uint32_t node = 0;

	three_slots(scene, &three);
	OK(recording, give_three(recording, BED_ADD, three.slots, WORDS, NULL));
	scene_failed(recording, give_three(recording, BED_MUL, three.slots, WORDS, &node), -EINVAL,
		     "is being recorded");
	OK(recording, dagpatch_finalize(recording));
	scene_failed(recording, set_mark(recording, 1, three.slots[0], 1), -EINVAL,
		     "node 1 is another kind");
	scene_failed(recording, set_mark(recording, 0, 17, 1), -EINVAL, "no slot 17");
	scene_failed(recording, dagpatch_set_kernel(recording, 0, NULL), -EINVAL, "kernel");
	scene_failed(recording,
		     dagpatch_set_memset(recording, 0,
					 &DAGPATCH_SIZED(memset, .slot = three.slots[0],
							 .element_bytes = 4, .width = 1)),
		     -EINVAL, "another kind");
	bind_three(scene, &three);
	scene_run(scene);
	expect_all(three.buffers[0], 5);
}

/* The program's own executable graph: a change that the driver cannot make in it is refused, and
 * the graph stays as it was. */
static void a_foreign_graph_is_set_or_refused(void **state)
{
	static enum bed_kernel kind = BED_ADD;
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct three three;
	void *graph, *exec, *addresses[3];
	struct dagpatch_declared declared[3];
	uint32_t node = 0;
	bool can_set = suite_bed->sets_functions && !(suite_without & DAGPATCH_MODEL_NO_FUNCTIONS);
	int rc;

	three_slots(scene, &three);
	for (uint32_t i = 0; i < 3; i++) {
		addresses[i] = three.buffers[i];
		declared[i] = (struct dagpatch_declared){.byte = 8 * i, .slot = i};
	}
	suite_bed->capture_begin(scene->stream);
	assert_int_equal(capture_add(&kind, scene->stream, addresses), 0);
	graph = suite_bed->capture_end(scene->stream);
	exec = suite_bed->instantiate(graph);
	OK(recording,
	   dagpatch_adopt(recording, &DAGPATCH_SIZED(adoption, .graph = graph,
						     .addresses = {addresses}, .declared = declared,
						     .declared_count = 3, .exec = exec)));
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_all(three.buffers[0], 5);
	OK(recording,
	   give_three(recording, BED_ADD,
		      (uint32_t[]){three.slots[0], three.slots[1], three.slots[1]}, WORDS, &node));
	scene_run(scene);
	expect_all(three.buffers[0], 4);
	OK(recording, give_three(recording, BED_MUL, three.slots, WORDS, &node));
	rc = dagpatch_launch(recording, scene->stream);
	assert_int_equal(rc == 0, can_set);
	if (rc < 0) {
		scene_failed(recording, rc, -ENOTSUP, "needs a new graph");
		OK(recording, dagpatch_revert(recording));
		scene_run(scene);
	}
	suite_bed->stream_synchronize(scene->stream);
	expect_all(three.buffers[0], rc < 0 ? 4 : 6);
	dagpatch_recording_destroy(recording);
	scene->recording = NULL;
	suite_bed->exec_destroy(exec);
	suite_bed->graph_destroy(graph);
}

int suite_sets(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_kernel_gets_another_function),
		SCENE(a_kernel_gets_other_slots),
		SCENE(calls_add_up_until_the_launch),
		SCENE(a_node_is_set_before_the_first_launch),
		SCENE(replays_in_flight_keep_their_parameters),
		SCENE(copies_and_memsets_are_set),
		SCENE(a_child_is_set),
		SCENE(a_captured_kernel_is_set),
		SCENE(bad_sets_change_nothing),
		SCENE(a_foreign_graph_is_set_or_refused),
	};

	return cmocka_run_group_tests_name("sets", tests, NULL, NULL);
}
