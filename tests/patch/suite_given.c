/* Existing graphs as nodes among other nodes, and adopted graphs in other recordings. */
#include <errno.h>

#include "suite.h"

/* A graph as a library makes it: c = a + b, then c[0] += 5. With IN_CHILD all of it is in a
 * child graph. */
static void *library_graph(uint32_t *const buffers[3], bool in_child)
{
	void *stream = suite_bed->stream_create();
	void *inner = in_child ? library_graph(buffers, false) : NULL, *graph;
	uint32_t count = WORDS, value = 5;

	suite_bed->capture_begin(stream);
	if (in_child) {
		assert_int_equal(suite_bed->graph_launch(stream, inner), 0);
	} else {
		assert_int_equal(
			suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
					  (void *[]){(void *)&buffers[0], (void *)&buffers[1],
						     (void *)&buffers[2], &count}),
			0);
		assert_int_equal(suite_bed->launch(stream, BED_MARK, 1, 1,
						   (void *[]){(void *)&buffers[0], &value}),
				 0);
	}
	graph = suite_bed->capture_end(stream);
	if (inner)
		suite_bed->graph_destroy(inner);
	suite_bed->stream_destroy(stream);
	return graph;
}

/* The library's graph at two sets of addresses. */
struct library {
	uint32_t *at[2][3];
	void *graphs[2];
};

static void library_make(struct library *library, bool in_child)
{
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = 0; j < 3; j++)
			library->at[i][j] = buffer(0);
		library->graphs[i] = library_graph(library->at[i], in_child);
	}
}

/* dagpatch must not need the graphs and buffers any more. */
static void library_release(struct library *library)
{
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->graph_destroy(library->graphs[i]);
		for (uint32_t j = 0; j < 3; j++)
			buffer_free(library->at[i][j]);
	}
}

static struct dagpatch_graph given(const struct library *library, const uint32_t slots[3])
{
	return (struct dagpatch_graph){
		.size = sizeof(struct dagpatch_graph),
		.graph = library->graphs[0],
		.slots = slots,
		.slot_count = 3,
		.addresses = {(void *const *)library->at[0], (void *const *)library->at[1]},
		.other_graph = library->graphs[1],
	};
}

static void expect_result(uint32_t *c, uint32_t sum)
{
	expect_first(c, sum + 5);
	expect_words(c + 1, WORDS - 1, sum, __FILE__, __LINE__);
}

/* Records a = s + s; by the library's graph c = a + s, c[0] += 5 and d = c + a, d[0] += 5; then
 * s = d + d. */
static void record_around(struct dagpatch_recording *recording, const struct library *library,
			  bool is_derived)
{
	uint32_t s = slot(recording, "s"), a = slot(recording, "a"), c = slot(recording, "c");
	uint32_t d = slot(recording, "d"), first, second, third;
	struct dagpatch_graph graph = given(library, (uint32_t[]){c, a, s});

	first = add_three(recording, BED_ADD, (uint32_t[]){a, s, s}, NULL);
	OK(recording,
	   dagpatch_add_graph(recording, &graph, is_derived ? NULL : AFTER(first), &second));
	graph.slots = (uint32_t[]){d, c, a};
	OK(recording,
	   dagpatch_add_graph(recording, &graph, is_derived ? NULL : AFTER(second), &third));
	add_three(recording, BED_ADD, (uint32_t[]){s, d, d}, is_derived ? NULL : AFTER(third));
}

/* Checks the results of record_around when S had VALUE. */
static void expect_around(uint32_t *const buffers[4], uint32_t value)
{
	expect_all(buffers[1], 2 * value);
	expect_result(buffers[2], 3 * value);
	expect_first(buffers[3], 5 * value + 10);
	expect_words(buffers[3] + 1, WORDS - 1, 5 * value, __FILE__, __LINE__);
	expect_first(buffers[0], 10 * value + 20);
	expect_words(buffers[0] + 1, WORDS - 1, 10 * value, __FILE__, __LINE__);
}

static void run_around(struct scene *scene, uint32_t *const buffers[4], uint32_t value)
{
	for (uint32_t i = 0; i < 4; i++) {
		buffer_set(buffers[i], i == 0 ? value : 77);
		bind(scene->recording, i, buffers[i]);
	}
	scene_run(scene);
	expect_around(buffers, value);
}

static void among_others(struct scene *scene, bool is_derived, bool in_child)
{
	uint32_t *buffers[8], *mixed[4];
	struct library library;

	for (uint32_t i = 0; i < 8; i++)
		buffers[i] = buffer(0);
	library_make(&library, in_child);
	scene_again(scene, is_derived ? DAGPATCH_DERIVE_DEPENDENCIES : 0);
	record_around(scene->recording, &library, is_derived);
	library_release(&library);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	run_around(scene, buffers, 2);
	run_around(scene, buffers + 4, 3);
	for (uint32_t i = 0; i < 4; i++)
		mixed[i] = buffers[i % 2 ? 4 + i : i];
	run_around(scene, mixed, 9);
}

static void graphs_among_other_nodes(void **state)
{
	among_others(*state, false, false);
}

static void derived_dependencies(void **state)
{
	among_others(*state, true, false);
}

static void graphs_with_children(void **state)
{
	if (!suite_bed->graph_launch)
		skip();
	among_others(*state, false, true);
}

/* A nested recording of three slots, c, a and b, with the library's graph as its whole content
 * or as a node. */
static struct dagpatch_recording *nest(struct scene *scene, const struct library *library,
				       bool is_adopted)
{
	struct dagpatch_recording *nested;
	struct dagpatch_graph graph;
	uint32_t slots[3];

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(nested, "inner");
	graph = given(library, slots);
	if (is_adopted)
		OK(nested,
		   dagpatch_adopt(nested, &DAGPATCH_SIZED(adoption, .graph = graph.graph,
							  .addresses = {graph.addresses[0],
									graph.addresses[1]},
							  .other_graph = graph.other_graph)));
	else
		OK(nested, dagpatch_add_graph(nested, &graph, NULL, NULL));
	return nested;
}

/* Returns a nested recording that holds NESTED, which it takes over, and has the same slots. */
static struct dagpatch_recording *nest_around(struct scene *scene,
					      struct dagpatch_recording *nested)
{
	struct dagpatch_mapping inner[3] = {{0, 0}, {1, 0}, {2, 0}};
	struct dagpatch_recording *around;

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &around));
	for (uint32_t i = 0; i < 3; i++)
		slot(around, "middle");
	OK(around,
	   dagpatch_add_child(around, &DAGPATCH_SIZED(child, nested, inner, 3), NULL, NULL));
	dagpatch_recording_destroy(nested);
	OK(around, dagpatch_finalize(around));
	return around;
}

/* Adds NESTED as c = a + b and then as d = c + a. c and d are the halves of slots[0], a and b of
 * slots[1]. */
static void add_twice(struct dagpatch_recording *recording, struct dagpatch_recording *nested,
		      const uint32_t slots[2])
{
	const struct dagpatch_mapping c_a_b[] = {
		{slots[0], 0}, {slots[1], 0}, {slots[1], WORDS * 4}};
	const struct dagpatch_mapping d_c_a[] = {
		{slots[0], WORDS * 4}, {slots[0], 0}, {slots[1], 0}};
	uint32_t first;

	OK(recording,
	   dagpatch_add_child(recording, &DAGPATCH_SIZED(child, nested, c_a_b, 3), NULL, &first));
	OK(recording, dagpatch_add_child(recording, &DAGPATCH_SIZED(child, nested, d_c_a, 3),
					 AFTER(first), NULL));
}

/* NESTED inside two levels of other recordings, in the last one twice: c = a + b, d = c + a. */
static void nested_in_others(struct scene *scene, bool is_adopted)
{
	struct dagpatch_recording *recording = scene->recording, *nested, *middle;
	uint32_t *block[2], slots[2];
	struct library library;

	library_make(&library, false);
	nested = nest(scene, &library, is_adopted);
	library_release(&library);
	OK(nested, dagpatch_finalize(nested));
	middle = nest_around(scene, nested);
	for (uint32_t i = 0; i < 2; i++) {
		OK(recording,
		   dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = 2 * WORDS * 4),
				     &slots[i]));
		block[i] = device_memory(4 * WORDS * 4);
	}
	add_twice(recording, middle, slots);
	dagpatch_recording_destroy(middle);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t turn = 0; turn < 2; turn++) {
		uint32_t *c = block[0] + turn * 2 * WORDS, *a = block[1] + turn * 2 * WORDS;

		OK(recording, dagpatch_bind(recording, slots[0], c, 2 * WORDS * 4));
		OK(recording, dagpatch_bind(recording, slots[1], a, 2 * WORDS * 4));
		buffer_set(a, 3 + turn);
		buffer_set(a + WORDS, 4);
		scene_run(scene);
		expect_result(c, 7 + turn);
		expect_words(c + WORDS, 1, 7 + turn + 5 + 3 + turn + 5, __FILE__, __LINE__);
		expect_words(c + WORDS + 1, WORDS - 1, 7 + turn + 3 + turn, __FILE__, __LINE__);
	}
}

static void graph_in_nested_recordings(void **state)
{
	nested_in_others(*state, false);
}

static void adopted_in_other_recordings(void **state)
{
	nested_in_others(*state, true);
}

static void adopted_nested_is_the_whole_content(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *nested;
	struct dagpatch_adoption adoption;
	struct library library;
	uint32_t number;

	library_make(&library, false);
	nested = nest(scene, &library, true);
	scene_failed(nested, dagpatch_add_empty(nested, NULL, NULL), -EINVAL, "whole content");
	scene_failed(nested, dagpatch_slot_add(nested, &DAGPATCH_SIZED(slot, .bytes = 4), &number),
		     -EINVAL, "before dagpatch_adopt");
	dagpatch_recording_destroy(nested);
	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	adoption = (struct dagpatch_adoption){
		.size = sizeof(adoption),
		.graph = library.graphs[0],
		.addresses = {(void *const *)library.at[0], (void *const *)library.at[1]},
		.other_graph = library.graphs[1],
		.exec = scene, /* any pointer; the call is refused before it is read */
	};
	scene_failed(nested, dagpatch_adopt(nested, &adoption), -EINVAL, "no executable graph");
	dagpatch_recording_destroy(nested);
	library_release(&library);
}

/* Declared relocations number nodes from the graph's own first node, wherever the graph is
 * added. */
static void graph_with_declared_relocations(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t c = slot(recording, "c"), a = slot(recording, "a"), b = slot(recording, "b");
	uint32_t *buffers[3] = {buffer(0), buffer(0), buffer(4)}, first;
	struct dagpatch_declared declared[] = {
		{0, 0, c, 0}, {0, 8, a, 0}, {0, 16, b, 0}, {1, 0, c, 4}};
	struct library library;
	struct dagpatch_graph graph;

	library_make(&library, false);
	graph = given(&library, (uint32_t[]){c, a, b});
	graph.other_graph = NULL;
	graph.declared = declared;
	graph.declared_count = 4;
	first = add_three(recording, BED_ADD, (uint32_t[]){a, b, b}, NULL);
	scene_failed(recording, dagpatch_add_graph(recording, &graph, AFTER(first), NULL), -EILSEQ,
		     "was declared");
	assert_int_equal(dagpatch_recording_error(recording)->node, first + 3);
	declared[3] = (struct dagpatch_declared){2, 0, c, 0};
	scene_failed(recording, dagpatch_add_graph(recording, &graph, AFTER(first), NULL), -EINVAL,
		     "node 2 of 2");
	declared[3] = (struct dagpatch_declared){1, 0, c, 0};
	graph.slot_count = 2;
	scene_failed(recording, dagpatch_add_graph(recording, &graph, AFTER(first), NULL), -EINVAL,
		     "none of the graph's");
	graph.slot_count = 3;
	OK(recording, dagpatch_add_graph(recording, &graph, AFTER(first), NULL));
	library_release(&library);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	expect_result(buffers[0], 12);
}

/* A graph without any slot. */
static void graph_without_slots(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t d = slot(recording, "d"), node;
	uint32_t *fixed[3] = {buffer(0), buffer(1), buffer(2)}, *moved = buffer(0);
	struct dagpatch_graph graph = {.size = sizeof(graph), .graph = library_graph(fixed, false)};

	OK(recording, dagpatch_add_graph(recording, &graph, NULL, &node));
	add_three(recording, BED_ADD, (uint32_t[]){d, d, d}, AFTER(node));
	suite_bed->graph_destroy(graph.graph);
	OK(recording, dagpatch_finalize(recording));
	buffer_set(moved, 8);
	bind(recording, d, moved);
	scene_run(scene);
	expect_result(fixed[0], 3);
	expect_all(moved, 16);
}

/* A graph that is refused leaves nothing in the recording. */
static void graphs_that_are_refused(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t slots[3], *buffers[3], next;
	struct library library, other;
	struct dagpatch_graph graph;

	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = slot(recording, "s");
		buffers[i] = buffer(i);
	}
	library_make(&library, false);
	library_make(&other, false);
	graph = given(&library, slots);
	graph.size = 0;
	scene_failed(recording, dagpatch_add_graph(recording, &graph, NULL, NULL), -EINVAL, "size");
	graph.size = sizeof(graph);
	/* captured at other addresses than those that are given */
	graph.other_graph = other.graphs[1];
	scene_failed(recording, dagpatch_add_graph(recording, &graph, NULL, NULL), -EILSEQ,
		     "no slot explains it");
	graph.other_graph = NULL;
	scene_failed(recording, dagpatch_add_graph(recording, &graph, NULL, NULL), -EINVAL,
		     "second capture or declared");
	graph.other_graph = library.graphs[1];
	graph.slots = (uint32_t[]){slots[0], slots[1], slots[1]};
	scene_failed(recording, dagpatch_add_graph(recording, &graph, NULL, NULL), -EINVAL,
		     "twice in a graph");
	graph.slots = slots;
	graph.graph = NULL;
	scene_failed(recording, dagpatch_add_graph(recording, &graph, NULL, NULL), -EINVAL,
		     "no graph");
	graph.graph = library.graphs[0];
	OK(recording, dagpatch_add_graph(recording, &graph, NULL, &next));
	assert_int_equal(next, 0);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	expect_result(buffers[0], 3);
	library_release(&library);
	library_release(&other);
}

int suite_given(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(graphs_among_other_nodes),
		SCENE(derived_dependencies),
		SCENE(graphs_with_children),
		SCENE(graph_in_nested_recordings),
		SCENE(adopted_in_other_recordings),
		SCENE(adopted_nested_is_the_whole_content),
		SCENE(graph_with_declared_relocations),
		SCENE(graph_without_slots),
		SCENE(graphs_that_are_refused),
	};

	return cmocka_run_group_tests_name("given", tests, NULL, NULL);
}
