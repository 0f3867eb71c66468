/* Graphs that the program captured itself and that dagpatch adopts. */
#include <errno.h>

#include "suite.h"

/* Captures c = a + b, then c[0] += 5, as a program would. */
static void *capture(uint32_t *const buffers[3])
{
	void *stream = suite_bed->stream_create(), *graph;
	uint32_t count = WORDS, value = 5;

	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
					   (void *[]){(void *)&buffers[0], (void *)&buffers[1],
						      (void *)&buffers[2], &count}),
			 0);
	assert_int_equal(
		suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&buffers[0], &value}),
		0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	return graph;
}

struct buffers {
	uint32_t *first[3], *second[3];
};

static void make_buffers(struct buffers *buffers)
{
	for (uint32_t i = 0; i < 3; i++) {
		buffers->first[i] = buffer(i);
		buffers->second[i] = buffer(i * 10);
	}
}

static void add_slots(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < 3; i++)
		slot(recording, i == 0 ? "c" : i == 1 ? "a" : "b");
}

static void expect_result(uint32_t *c, uint32_t sum)
{
	expect_first(c, sum + 5);
	expect_words(c + 1, WORDS - 1, sum, __FILE__, __LINE__);
}

static void capture_both(const struct buffers *buffers, void *ret_graphs[2])
{
	ret_graphs[0] = capture(buffers->first);
	ret_graphs[1] = capture(buffers->second);
}

static void adopt_both(struct dagpatch_recording *recording, struct buffers *buffers,
		       void *const graphs[2], void *exec)
{
	add_slots(recording);
	OK(recording,
	   dagpatch_adopt(recording, &DAGPATCH_SIZED(adoption, .graph = graphs[0],
						     .addresses = {(void **)buffers->first,
								   (void **)buffers->second},
						     .other_graph = graphs[1], .exec = exec)));
}

/* The adopted graph runs at the addresses of its capture, then at others. The program may
 * destroy its own graph. */
static void adopted_by_two_captures(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2];

	make_buffers(&buffers);
	capture_both(&buffers, graphs);
	adopt_both(recording, &buffers, graphs, NULL);
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_result(buffers.first[0], 3);
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers.second[i]);
	scene_run(scene);
	expect_result(buffers.second[0], 30);
	expect_result(buffers.first[0], 3);
}

/* Captures c = 1, then c = a + b and, on another stream, b = 7, which must come first although
 * it is listed later; then c[0] += 5. */
static void *capture_backwards(uint32_t *const buffers[3])
{
	void *stream = suite_bed->stream_create(), *other = suite_bed->stream_create(), *graph;
	void *fork = suite_bed->event_create(), *join = suite_bed->event_create();
	uint32_t count = WORDS, value = 5;

	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->memset(stream, buffers[0], 1, 4, WORDS), 0);
	assert_int_equal(suite_bed->event_record(stream, fork), 0);
	assert_int_equal(suite_bed->event_wait(other, fork), 0);
	assert_int_equal(suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
					   (void *[]){(void *)&buffers[0], (void *)&buffers[1],
						      (void *)&buffers[2], &count}),
			 0);
	assert_int_equal(suite_bed->memset(other, buffers[2], 7, 4, WORDS), 0);
	assert_int_equal(suite_bed->event_record(other, join), 0);
	assert_int_equal(suite_bed->event_wait(stream, join), 0);
	assert_int_equal(
		suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&buffers[0], &value}),
		0);
	graph = suite_bed->capture_end(stream);
	suite_bed->add_edge(graph, 2, 1);
	suite_bed->event_destroy(fork);
	suite_bed->event_destroy(join);
	suite_bed->stream_destroy(other);
	suite_bed->stream_destroy(stream);
	return graph;
}

static void nodes_listed_before_what_they_wait_for(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2];

	if (!suite_bed->add_edge)
		skip();
	make_buffers(&buffers);
	graphs[0] = capture_backwards(buffers.first);
	graphs[1] = capture_backwards(buffers.second);
	adopt_both(recording, &buffers, graphs, NULL);
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_result(buffers.first[0], 8);
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers.second[i]);
	scene_run(scene);
	expect_result(buffers.second[0], 17);
	expect_result(buffers.first[0], 8);
}

/* Captures dst = src + SCALAR, with both addresses unaligned and with SCALAR in the same word as
 * one of them. */
static void *capture_packed(uint32_t *dst, const uint32_t *src, uint8_t scalar)
{
	struct bed_packed packed = {.count = WORDS, .dst = dst, .scalar = scalar, .src = src};
	void *stream = suite_bed->stream_create(), *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->launch(stream, BED_PACKED, 2, WORDS / 2, (void *[]){&packed}),
			 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	return graph;
}

/* The buffers are close together, so that their addresses differ only in that word. */
static void unstable_byte_beside_an_address(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *block = device_memory(4 * WORDS * sizeof(*block));
	uint32_t *first[2] = {block, block + WORDS};
	uint32_t *second[2] = {block + 2 * WORDS, block + 3 * WORDS};
	void *graphs[6];

	for (uint32_t i = 0; i < 4; i++)
		buffer_set(block + i * WORDS, i);
	for (uint32_t i = 0; i < 6; i++)
		graphs[i] = capture_packed(i % 2 ? second[0] : first[0],
					   i % 2 ? second[1] : first[1], (uint8_t)(i + 10));
	slot(recording, "dst");
	slot(recording, "src");
	OK(recording,
	   dagpatch_adopt(recording,
			  &DAGPATCH_SIZED(adoption, .graph = graphs[0],
					  .addresses = {(void **)first, (void **)second},
					  .other_graph = graphs[1], .further_graphs = graphs + 2,
					  .further_graph_count = 4)));
	for (uint32_t i = 0; i < 6; i++)
		suite_bed->graph_destroy(graphs[i]);
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_all(first[0], 11);
	bind(recording, 0, second[0]);
	bind(recording, 1, second[1]);
	scene_run(scene);
	expect_all(second[0], 13);
}

/* Captures c = a OP b, in a graph of its own or in a child graph. */
static void *capture_one(uint32_t *const buffers[3], enum bed_kernel kernel, bool in_child)
{
	void *stream = suite_bed->stream_create();
	void *inner = in_child ? capture_one(buffers, kernel, false) : NULL, *graph;
	uint32_t count = WORDS;

	suite_bed->capture_begin(stream);
	if (in_child)
		assert_int_equal(suite_bed->graph_launch(stream, inner), 0);
	else
		assert_int_equal(
			suite_bed->launch(stream, kernel, 2, WORDS / 2,
					  (void *[]){(void *)&buffers[0], (void *)&buffers[1],
						     (void *)&buffers[2], &count}),
			0);
	graph = suite_bed->capture_end(stream);
	if (inner)
		suite_bed->graph_destroy(inner);
	suite_bed->stream_destroy(stream);
	return graph;
}

static void adopt_fails(struct dagpatch_recording *recording, struct dagpatch_adoption *adoption,
			void *further_graphs, const char *text)
{
	adoption->further_graphs = &further_graphs;
	scene_failed(recording, dagpatch_adopt(recording, adoption), -EILSEQ, text);
	suite_bed->graph_destroy(further_graphs);
}

/* Differences in captures of other work must not count as unstable bytes of this work. */
static void further_captures_of_other_work(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_adoption adoption;
	struct buffers buffers;
	bool in_child = suite_bed->graph_launch;
	void *graphs[2], *none = NULL;

	make_buffers(&buffers);
	graphs[0] = capture_one(buffers.first, BED_ADD, in_child);
	graphs[1] = capture_one(buffers.second, BED_ADD, in_child);
	add_slots(recording);
	adoption = DAGPATCH_SIZED(adoption, .graph = graphs[0],
				  .addresses = {(void **)buffers.first, (void **)buffers.second},
				  .other_graph = graphs[1], .further_graph_count = 1);
	adopt_fails(recording, &adoption, capture(buffers.first), "capture 3 has 2");
	adopt_fails(recording, &adoption, capture_one(buffers.second, BED_MUL, in_child),
		    "another kernel");
	if (in_child)
		adopt_fails(recording, &adoption, capture_one(buffers.first, BED_ADD, false),
			    "another node");
	adoption.further_graphs = &none;
	scene_failed(recording, dagpatch_adopt(recording, &adoption), -EINVAL, "further capture");
	adoption.further_graphs = NULL;
	scene_failed(recording, dagpatch_adopt(recording, &adoption), -EINVAL, "further capture");
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
}

/* Adopted work has addresses, so it can be reverted before a graph was built. */
static void reverted_to_where_it_was_adopted(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2];

	make_buffers(&buffers);
	capture_both(&buffers, graphs);
	adopt_both(recording, &buffers, graphs, NULL);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 1, buffers.second[1]);
	OK(recording, dagpatch_revert(recording));
	scene_run(scene);
	expect_result(buffers.first[0], 3);
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
}

/* dagpatch changes the program's own executable graph; every launch of it uses the addresses
 * that were applied. */
static void adopted_executable_graph(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2], *exec;

	make_buffers(&buffers);
	capture_both(&buffers, graphs);
	exec = suite_bed->instantiate(graphs[0]);
	adopt_both(recording, &buffers, graphs, exec);
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_result(buffers.first[0], 3);
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers.second[i]);
	OK(recording, dagpatch_apply(recording));
	suite_bed->exec_launch(exec, scene->stream);
	suite_bed->stream_synchronize(scene->stream);
	expect_result(buffers.second[0], 30);
	assert_ptr_equal(dagpatch_recording_exec(recording), exec);
	scene_again(scene, 0);
	suite_bed->exec_destroy(exec);
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
}

/* Captures c = a, b = the first half of each of four rows of a, then b[8] to b[15] = 9: copies
 * of each kind. */
static void *capture_copies(uint32_t *const buffers[3])
{
	const struct bed_copy row = {
		.dst = buffers[0], .src = buffers[1], .width = WORDS * 4, .height = 1};
	const struct bed_copy rows = {.dst = buffers[2],
				      .src = buffers[1],
				      .dst_pitch = 64,
				      .src_pitch = 64,
				      .width = 32,
				      .height = 4};
	void *stream = suite_bed->stream_create(), *graph;

	suite_bed->capture_begin(stream);
	if (!suite_bed->no_captured_rows)
		assert_int_equal(suite_bed->copy(stream, &row), 0);
	if (!suite_bed->no_rows_set)
		assert_int_equal(suite_bed->copy(stream, &rows), 0);
	assert_int_equal(suite_bed->memset(stream, buffers[2] + 8, 9, 4, 8), 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	return graph;
}

static void expect_copies(uint32_t *const buffers[3], uint32_t from, uint32_t kept)
{
	if (!suite_bed->no_captured_rows)
		expect_all(buffers[0], from);
	if (suite_bed->no_rows_set)
		from = kept;
	expect_words(buffers[2], 8, from, __FILE__, __LINE__);
	expect_words(buffers[2] + 8, 8, 9, __FILE__, __LINE__);
	expect_words(buffers[2] + 16, 8, from, __FILE__, __LINE__);
	expect_words(buffers[2] + 24, 8, kept, __FILE__, __LINE__);
}

/* dagpatch must change nodes that the program's driver calls made by the same kind of call. */
static void adopted_executable_graph_of_copies(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2], *exec;

	if (suite_bed->no_captured_copies)
		skip();
	make_buffers(&buffers);
	for (uint32_t i = 0; i < 2; i++)
		graphs[i] = capture_copies(i ? buffers.second : buffers.first);
	exec = suite_bed->instantiate(graphs[0]);
	adopt_both(recording, &buffers, graphs, exec);
	OK(recording, dagpatch_finalize(recording));
	scene_run(scene);
	expect_copies(buffers.first, 1, 2);
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers.second[i]);
	scene_run(scene);
	expect_copies(buffers.second, 10, 20);
	scene_again(scene, 0);
	suite_bed->exec_destroy(exec);
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
}

static void adopted_with_declared_relocations(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_declared declared[] = {
		{0, 0, 0, 0}, {0, 8, 1, 0}, {0, 16, 2, 0}, {1, 0, 0, 4}};
	struct buffers buffers;
	struct dagpatch_adoption adoption;
	void *graph;

	make_buffers(&buffers);
	graph = capture(buffers.first);
	add_slots(recording);
	adoption = DAGPATCH_SIZED(adoption, .graph = graph, .addresses = {(void **)buffers.first},
				  .declared = declared, .declared_count = 4);
	/* The mark kernel writes at the buffer's first byte, not at its fourth. */
	scene_failed(recording, dagpatch_adopt(recording, &adoption), -EILSEQ,
		     "was declared, slot 0 (c) + 4");
	declared[3].offset = 0;
	OK(recording, dagpatch_adopt(recording, &adoption));
	suite_bed->graph_destroy(graph);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers.second[i]);
	scene_run(scene);
	expect_result(buffers.second[0], 30);
}

static void adopted_graph_is_the_whole_content(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	struct dagpatch_adoption adoption;
	uint32_t number;
	void *graph;

	make_buffers(&buffers);
	graph = capture(buffers.first);
	add_slots(recording);
	adoption = DAGPATCH_SIZED(adoption, .graph = graph,
				  .addresses = {(void **)buffers.first, (void **)buffers.second});
	scene_failed(recording, dagpatch_adopt(recording, &adoption), -EINVAL, "second capture");
	adoption.other_graph = graph;
	OK(recording, dagpatch_adopt(recording, &adoption));
	scene_failed(recording, dagpatch_add_empty(recording, NULL, NULL), -EINVAL,
		     "whole content");
	scene_failed(recording,
		     dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = 4), &number),
		     -EINVAL, "before dagpatch_adopt");
	suite_bed->graph_destroy(graph);
}

int suite_adopted(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(adopted_by_two_captures),
		SCENE(nodes_listed_before_what_they_wait_for),
		SCENE(unstable_byte_beside_an_address),
		SCENE(further_captures_of_other_work),
		SCENE(reverted_to_where_it_was_adopted),
		SCENE(adopted_executable_graph),
		SCENE(adopted_executable_graph_of_copies),
		SCENE(adopted_with_declared_relocations),
		SCENE(adopted_graph_is_the_whole_content),
	};

	return cmocka_run_group_tests_name("adopted", tests, NULL, NULL);
}
