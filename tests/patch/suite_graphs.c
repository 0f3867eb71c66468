/* Recorded graphs: GC-1, GC-3, GC-4 and GC-13 to GC-16 of the shared tests for command buffers, and
 * the behaviour that a thunk's tests require (TH-). Copies and memsets are in suite_copies.c. */
#include <errno.h>
#include <string.h>

#include "suite.h"

/* GC-1, TH-11 */
static void launch_single_kernel(void **state)
{
	struct scene *scene = *state;
	uint32_t slots[3] = {slot(scene->recording, "c"), slot(scene->recording, "a"),
			     slot(scene->recording, "b")};
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0), *d = buffer(0);

	add_three(scene->recording, BED_ADD, slots, NULL);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	bind(scene->recording, slots[0], c);
	bind(scene->recording, slots[1], a);
	bind(scene->recording, slots[2], b);
	scene_run(scene);
	expect_all(c, 3);
	bind(scene->recording, slots[0], d);
	buffer_set(c, 0);
	scene_run(scene);
	expect_all(d, 3);
	expect_all(c, 0);
	buffer_set(d, 0);
	scene_run(scene);
	expect_all(d, 3);
}

/* GC-4. Upstream's ROCm cannot use a nested command buffer twice. */
static void nested_recording_is_used_twice(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *nested, *outer = scene->recording;
	uint32_t inner[3], c, a, b, d, first;
	uint32_t *buffers[5];

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	inner[0] = slot(nested, "out");
	inner[1] = slot(nested, "left");
	inner[2] = slot(nested, "right");
	add_three(nested, BED_ADD, inner, NULL);
	OK(nested, dagpatch_finalize(nested));
	c = slot(outer, "c");
	a = slot(outer, "a");
	b = slot(outer, "b");
	d = slot(outer, "d");
	OK(outer, dagpatch_add_child(
			  outer,
			  &DAGPATCH_SIZED(child, nested,
					  (struct dagpatch_mapping[]){{c, 0}, {a, 0}, {b, 0}}, 3),
			  NULL, &first));
	OK(outer, dagpatch_add_child(
			  outer,
			  &DAGPATCH_SIZED(child, nested,
					  (struct dagpatch_mapping[]){{d, 0}, {c, 0}, {c, 0}}, 3),
			  AFTER(first), NULL));
	dagpatch_recording_destroy(nested);
	OK(outer, dagpatch_finalize(outer));
	for (uint32_t i = 0; i < 5; i++)
		buffers[i] = buffer(i);
	bind(outer, a, buffers[1]);
	bind(outer, b, buffers[2]);
	bind(outer, c, buffers[0]);
	bind(outer, d, buffers[3]);
	scene_run(scene);
	expect_all(buffers[0], 3);
	expect_all(buffers[3], 6);
	bind(outer, d, buffers[4]);
	bind(outer, a, buffers[2]);
	scene_run(scene);
	expect_all(buffers[0], 4);
	expect_all(buffers[4], 8);
	expect_all(buffers[3], 6);
}

/* GC-13 to GC-16. SHAPE 0: an empty node and a kernel; 1: an empty node alone; 2: a chain of
 * empty nodes; 3: an empty node as a barrier. */
static void run_empties(struct scene *scene, uint32_t shape)
{
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0), *d = buffer(0);
	uint32_t slots[3], result, node;

	scene_again(scene, 0);
	recording = scene->recording;
	slots[0] = slot(recording, "c");
	slots[1] = slot(recording, "a");
	slots[2] = slot(recording, "b");
	result = slot(recording, "d");
	if (shape == 3)
		node = add_three(recording, BED_ADD, slots, NULL);
	OK(recording, dagpatch_add_empty(recording, shape == 3 ? AFTER(node) : NULL, &node));
	for (uint32_t i = 0; shape == 2 && i < 2; i++)
		OK(recording, dagpatch_add_empty(recording, AFTER(node), &node));
	if (shape == 0 || shape == 2)
		add_three(recording, BED_ADD, slots, AFTER(node));
	if (shape == 3)
		add_three(recording, BED_ADD, (uint32_t[]){result, slots[1], slots[0]},
			  AFTER(node));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], c);
	bind(recording, slots[1], a);
	bind(recording, slots[2], b);
	bind(recording, result, d);
	scene_run(scene);
	expect_all(c, shape == 1 ? 0 : 3);
	expect_all(d, shape == 3 ? 4 : 0);
	bind(recording, slots[0], d);
	bind(recording, result, c);
	scene_run(scene);
	expect_all(d, shape == 1 ? 0 : 3);
	expect_all(c, shape == 1 ? 0 : shape == 3 ? 4 : 3);
}

static void empty_node_with_kernel(void **state)
{
	run_empties(*state, 0);
}

static void empty_node_only(void **state)
{
	run_empties(*state, 1);
}

static void empty_node_chain(void **state)
{
	run_empties(*state, 2);
}

static void empty_node_as_barrier(void **state)
{
	run_empties(*state, 3);
}

/* TH-15; only nodes that changed are set. */
static void only_changed_nodes_are_set(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	uint32_t *buffers[5], slots[4];

	for (uint32_t i = 0; i < 4; i++)
		slots[i] = slot(recording, NULL);
	add_three(recording, BED_ADD, (uint32_t[]){slots[2], slots[0], slots[0]}, NULL);
	add_three(recording, BED_ADD, (uint32_t[]){slots[3], slots[1], slots[1]}, NULL);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 5; i++)
		buffers[i] = buffer(i < 2 ? 42 - i : 0);
	for (uint32_t i = 0; i < 4; i++)
		bind(recording, slots[i], buffers[i]);
	scene_run(scene);
	expect_all(buffers[2], 84);
	expect_all(buffers[3], 82);
	bind(recording, slots[3], buffers[4]);
	scene_run(scene);
	expect_all(buffers[4], 82);
	scene_run(scene);
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.launches, 3);
	assert_int_equal(stats.unchanged_launches, 1);
	assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE],
			 expected_strategy() == DAGPATCH_INSTANTIATE ? 2 : 1);
	assert_int_equal(stats.nodes[DAGPATCH_SET_PARAMS] + stats.nodes[DAGPATCH_UPDATE_GRAPH] +
				 stats.nodes[DAGPATCH_DEVICE_TABLE],
			 expected_strategy() == DAGPATCH_INSTANTIATE ? 0 : 1);
}

/* ---- host functions, events, values, shadows ---- */

static void count_call(void *user)
{
	(*(uint32_t *)user)++;
}

static void host_function_and_events(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(1), *b = buffer(0), calls = 0, to, node;
	void *event = suite_bed->event_create();

	to = slot(recording, "to");
	add_three(recording, BED_ADD, (uint32_t[]){to, to, to}, NULL);
	OK(recording, dagpatch_add_host(recording, &DAGPATCH_SIZED(host, count_call, &calls),
					AFTER(0), &node));
	if (dagpatch_add_event_record(recording, event, AFTER(node), &node) == 0)
		OK(recording, dagpatch_add_event_wait(recording, event, AFTER(node), NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	scene_run(scene);
	bind(recording, to, b);
	scene_run(scene);
	expect_all(a, 2);
	expect_all(b, 0);
	assert_int_equal(calls, 2);
	assert_true(suite_bed->event_is_done(event));
	suite_bed->event_destroy(event);
}

static void value_of_an_argument_changes(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(9), *b = buffer(9);
	uint32_t slots[2] = {slot(recording, "dst"), slot(recording, "src")};
	struct bed_struct by_value = {.scalar = 5, .count = WORDS};
	struct dagpatch_pointer pointers[2] = {
		{.byte = offsetof(struct bed_struct, dst), .slot = slots[0]},
		{.byte = offsetof(struct bed_struct, src), .slot = slots[1]},
	};
	struct dagpatch_argument argument = {&by_value, sizeof(by_value), 2, pointers};
	uint32_t node;

	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_STRUCT),
					       .grid = {1, 1, 1}, .block = {WORDS, 1, 1},
					       .argument_count = 1, .arguments = &argument),
			       NULL, &node));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], a);
	bind(recording, slots[1], b);
	scene_run(scene);
	expect_all(a, 14);
	/* Addresses in the given struct are not used; those of the slots are. */
	by_value = (struct bed_struct){.dst = b, .scalar = 6, .count = WORDS};
	OK(recording, dagpatch_set_argument(recording, node, 0, &by_value, sizeof(by_value)));
	bind(recording, slots[0], b);
	bind(recording, slots[1], a);
	scene_run(scene);
	expect_all(b, 20);
	expect_all(a, 14);
	scene_failed(recording,
		     dagpatch_set_argument(recording, node, 1, &by_value, sizeof(by_value)),
		     -EINVAL, "no argument 1");
}

/* The contents of a shadowed slot are copied in and out; the graph is never patched. */
static void shadowed_slot(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	uint32_t *buffers[4] = {buffer(1), buffer(10), buffer(0), buffer(0)};
	uint32_t in, out;

	OK(recording,
	   dagpatch_slot_add(recording,
			     &DAGPATCH_SIZED(slot, .bytes = WORDS * 4, .flags = DAGPATCH_SHADOW_IN),
			     &in));
	OK(recording,
	   dagpatch_slot_add(
		   recording,
		   &DAGPATCH_SIZED(slot, .bytes = WORDS * 4, .flags = DAGPATCH_SHADOW_OUT), &out));
	add_three(recording, BED_ADD, (uint32_t[]){out, in, in}, NULL);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, in, buffers[i]);
		bind(recording, out, buffers[2 + i]);
		scene_run(scene);
	}
	expect_all(buffers[2], 2);
	expect_all(buffers[3], 20);
	buffer_set(buffers[1], 7);
	scene_run(scene);
	expect_all(buffers[3], 14);
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.nodes[DAGPATCH_SET_PARAMS], 0);
	assert_int_equal(stats.uses[DAGPATCH_SHADOW], 6);
}

/* ---- dependencies from accesses ---- */

/* Without explicit dependencies the result must be that of the order of recording. */
static void dependencies_are_derived(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(2), *b = buffer(3), *c = buffer(0), *d = buffer(0);
	uint32_t slots[4];

	scene_again(scene, DAGPATCH_DERIVE_DEPENDENCIES);
	recording = scene->recording;
	for (uint32_t i = 0; i < 4; i++)
		slots[i] = slot(recording, NULL);
	add_three(recording, BED_ADD, (uint32_t[]){slots[2], slots[0], slots[1]}, NULL);
	add_three(recording, BED_MUL, (uint32_t[]){slots[3], slots[2], slots[2]}, NULL);
	OK(recording, dagpatch_add_memset(recording,
					  &DAGPATCH_SIZED(memset, .slot = slots[2], .value = 9,
							  .element_bytes = 4, .width = WORDS / 2),
					  NULL, NULL));
	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[2], slots[3]}, NULL);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], a);
	bind(recording, slots[1], b);
	bind(recording, slots[2], c);
	bind(recording, slots[3], d);
	scene_run(scene);
	expect_all(d, 25);
	expect_words(a, WORDS / 2, 34, __FILE__, __LINE__);
	expect_words(a + WORDS / 2, WORDS / 2, 30, __FILE__, __LINE__);
}

/* ---- large graphs and deep graphs ---- */

/* On HIP 6.4.3, and on 7.2.4 if a graph has many branches: when more than four nodes wait for
 * one node and one of the first four also waits for another node, some of them do not wait. A
 * schedule of the software GPU shows this defect. */
static void many_wait_for_one(void **state)
{
	enum { MANY = 9, APART = 32, REPLAYS = 16 };
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t first[3] = {slot(recording, "first"), slot(recording, "from"),
			     slot(recording, "zero")};
	uint32_t other[3] = {slot(recording, "other"), first[1], first[2]};
	uint32_t *buffers[4] = {buffer(0), buffer(0), buffer(0), buffer(0)};
	uint32_t nodes[2], slots[MANY], *ends[MANY];

	nodes[0] = add_three(recording, BED_ADD, first, NULL);
	nodes[1] = add_three(recording, BED_ADD, other, NULL);
	for (uint32_t i = 0; i < MANY; i++) {
		slots[i] = slot(recording, "end");
		ends[i] = buffer(0);
		add_three(recording, BED_ADD, (uint32_t[]){slots[i], first[0], first[2]},
			  i == 1 ? AFTER(nodes[0], nodes[1]) : AFTER(nodes[0]));
	}
	for (uint32_t i = 0; i < APART; i++)
		OK(recording, dagpatch_add_empty(recording, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, first[i], buffers[i]);
	bind(recording, other[0], buffers[3]);
	for (uint32_t replay = 1; replay <= REPLAYS; replay++) {
		buffer_set(buffers[1], replay);
		for (uint32_t i = 0; i < MANY; i++)
			bind(recording, slots[i], ends[(i + replay) % MANY]);
		scene_run(scene);
		for (uint32_t i = 0; i < MANY; i++)
			expect_all(ends[i], replay);
	}
}

static void children_five_deep(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *inner = NULL, *outer = scene->recording;
	uint32_t *a = buffer(1), *b = buffer(1), to;

	for (uint32_t depth = 0; depth < 5; depth++) {
		struct dagpatch_recording *nested;
		uint32_t node;

		OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
		to = slot(nested, NULL);
		node = add_three(nested, BED_ADD, (uint32_t[]){to, to, to}, NULL);
		if (inner)
			OK(nested,
			   dagpatch_add_child(nested,
					      &DAGPATCH_SIZED(child, inner,
							      &(struct dagpatch_mapping){to, 0}, 1),
					      AFTER(node), NULL));
		OK(nested, dagpatch_finalize(nested));
		dagpatch_recording_destroy(inner);
		inner = nested;
	}
	to = slot(outer, NULL);
	OK(outer,
	   dagpatch_add_child(outer,
			      &DAGPATCH_SIZED(child, inner, &(struct dagpatch_mapping){to, 0}, 1),
			      NULL, NULL));
	dagpatch_recording_destroy(inner);
	OK(outer, dagpatch_finalize(outer));
	bind(outer, to, a);
	scene_run(scene);
	expect_all(a, 32);
	bind(outer, to, b);
	scene_run(scene);
	scene_run(scene);
	expect_all(b, 1024);
	expect_all(a, 32);
}

int suite_graphs(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(launch_single_kernel),
		SCENE(nested_recording_is_used_twice),
		SCENE(empty_node_with_kernel),
		SCENE(empty_node_only),
		SCENE(empty_node_chain),
		SCENE(empty_node_as_barrier),
		SCENE(only_changed_nodes_are_set),
		SCENE(host_function_and_events),
		SCENE(value_of_an_argument_changes),
		SCENE(shadowed_slot),
		SCENE(dependencies_are_derived),
		SCENE(many_wait_for_one),
		SCENE(children_five_deep),
	};

	return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
