/* Graphs that somebody else captured. */
#include <errno.h>

#include "suite.h"

/* c = a + b, then c[0] += 5: as a program would capture it. */
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

static void free_buffers(struct buffers *buffers)
{
	for (uint32_t i = 0; i < 3; i++) {
		suite_bed->free(buffers->first[i]);
		suite_bed->free(buffers->second[i]);
	}
}

static void add_slots(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < 3; i++)
		slot(recording, i == 0 ? "c" : i == 1 ? "a" : "b");
}

static void expect_result(uint32_t *c, uint32_t sum)
{
	expect_words(c, 1, sum + 5, __FILE__, __LINE__);
	expect_words(c + 1, WORDS - 1, sum, __FILE__, __LINE__);
}

/* It runs where it was captured, then elsewhere; the graph itself may go. */
static void adopted_by_two_captures(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2];

	make_buffers(&buffers);
	graphs[0] = capture(buffers.first);
	graphs[1] = capture(buffers.second);
	add_slots(recording);
	OK(recording, dagpatch_adopt(recording, &(struct dagpatch_adoption){
							.graph = graphs[0],
							.addresses = {(void **)buffers.first,
								      (void **)buffers.second},
							.other_graph = graphs[1],
						}));
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
	free_buffers(&buffers);
}

/* The caller's own executable graph: whoever launches it gets what was applied. */
static void adopted_executable_graph(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct buffers buffers;
	void *graphs[2], *exec;

	make_buffers(&buffers);
	graphs[0] = capture(buffers.first);
	graphs[1] = capture(buffers.second);
	exec = suite_bed->instantiate(graphs[0]);
	add_slots(recording);
	OK(recording, dagpatch_adopt(recording, &(struct dagpatch_adoption){
							.graph = graphs[0],
							.addresses = {(void **)buffers.first,
								      (void **)buffers.second},
							.other_graph = graphs[1],
							.exec = exec,
						}));
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
	free_buffers(&buffers);
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
	adoption = (struct dagpatch_adoption){
		.graph = graph,
		.addresses = {(void **)buffers.first},
		.declared = declared,
		.declared_count = 4,
	};
	/* The mark is at the buffer's first byte, not at its fourth. */
	scene_failed(recording, dagpatch_adopt(recording, &adoption), -EILSEQ, "node 1, byte 0");
	declared[3].offset = 0;
	OK(recording, dagpatch_adopt(recording, &adoption));
	suite_bed->graph_destroy(graph);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers.second[i]);
	scene_run(scene);
	expect_result(buffers.second[0], 30);
	free_buffers(&buffers);
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
	adoption = (struct dagpatch_adoption){
		.graph = graph, .addresses = {(void **)buffers.first, (void **)buffers.second}};
	scene_failed(recording, dagpatch_adopt(recording, &adoption), -EINVAL, "second capture");
	adoption.other_graph = graph;
	OK(recording, dagpatch_adopt(recording, &adoption));
	scene_failed(recording, dagpatch_add_empty(recording, NULL, NULL), -EINVAL,
		     "whole content");
	scene_failed(recording,
		     dagpatch_slot_add(recording, &(struct dagpatch_slot){.bytes = 4}, &number),
		     -EINVAL, "before dagpatch_adopt");
	suite_bed->graph_destroy(graph);
	free_buffers(&buffers);
}

int suite_adopted(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(adopted_by_two_captures),
		SCENE(adopted_executable_graph),
		SCENE(adopted_with_declared_relocations),
		SCENE(adopted_graph_is_the_whole_content),
	};

	return cmocka_run_group_tests_name("adopted", tests, NULL, NULL);
}
