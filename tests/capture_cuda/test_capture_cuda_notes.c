/* What is kept of graphs while nothing is recorded: it does not grow with graphs that are gone, and
 * is not kept in part. CUPTI is played. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "dormant_scene.h"

#include "capture/cuda/cuda_graph_lives.h"
#include "capture/cuda/cuda_graph_notes.h"

/* ---- memory ---- */

/* One graph stays, and thousands come and go. */
static void many_come_and_go(void)
{
	dormant_start();
	play_layers();
	play_instantiate();
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t graph = 1000 + 3 * i;

		play_graph(graph);
		play_node(graph, 10 * graph, CUDA_NODE_EMPTY);
		play_graph_clone(graph + 1, graph);
		play_node_clone(graph + 1, 10 * graph + 1, 10 * graph, CUDA_NODE_EMPTY);
		play_exec(graph + 2, graph);
		dormant_graph_gone(graph);
		dormant_exec_gone(graph + 2);
	}
	expect(cuda_notes_count() < 10000);
	dormant_record(1);
}

static void what_is_gone_takes_no_memory(void **state)
{
	struct trace *trace = play_scene(*state, many_come_and_go);

	dormant_assert_known(trace, 3);
}

#define STEP(name, ...)                                                                            \
	(struct record_cuda_graph)                                                                 \
	{                                                                                          \
		.header = {.tag = RECORD_CUDA_##name}, __VA_ARGS__                                 \
	}

/* An exec that is left needs its graph, the original of that one, and what it holds. */
static void what_is_needed_stays(void **state)
{
	struct record_cuda_graph steps[] = {
		STEP(GRAPH_CREATED, .graph = 1),
		STEP(GRAPH_CREATED, .graph = 2),
		STEP(NODE_CREATED, .graph = 2, .node = 20),
		STEP(NODE_HOLDS, .graph = 1, .other_graph = 2, .node = 10),
		STEP(GRAPH_CREATED, .graph = 3),
		STEP(NODE_CLONED, .graph = 3, .other_graph = 1, .node = 30, .other_node = 10),
		STEP(EXEC_CREATED, .graph = 3, .exec = 4),
		STEP(GRAPH_GONE, .graph = 1),
		STEP(GRAPH_GONE, .graph = 2),
		STEP(GRAPH_GONE, .graph = 3),
		STEP(GRAPH_CREATED, .graph = 1),
		STEP(NODE_CREATED, .graph = 1, .node = 10),
		STEP(GRAPH_GONE, .graph = 1),
		STEP(NODE_SWITCHED, .exec = 4, .node = 30),
		STEP(EXEC_CREATED, .graph = 1, .exec = 5),
		STEP(EXEC_GONE, .exec = 5),
		STEP(EXEC_GONE, .exec = 6),
	};

	/* All but the second life of graph 1 and its exec. */
	assert_int_equal(graph_lives_purge(steps, 17), 11);
	assert_int_equal(steps[10].header.tag, RECORD_CUDA_NODE_SWITCHED);
	steps[11] = STEP(EXEC_GONE, .exec = 4);
	assert_int_equal(graph_lives_purge(steps, 12), 0);
	assert_int_equal(graph_lives_purge(steps, 0), 0);
}

/* Its exec was made before CUPTI was subscribed to. */
static void a_switched_node_of_an_unseen_exec_stays(void **state)
{
	struct record_cuda_graph steps[] = {
		STEP(NODE_SWITCHED, .exec = 4, .node = 30),
		STEP(NODE_SWITCHED, .exec = 5, .node = 50),
		STEP(EXEC_GONE, .exec = 4),
	};

	assert_int_equal(graph_lives_purge(steps, 3), 1);
	assert_int_equal(steps[0].exec, 5);
	steps[1] = STEP(EXEC_GONE, .exec = 5);
	assert_int_equal(graph_lives_purge(steps, 2), 0);
}

/* In the order in which they were made, which is the worst one for a search from the newest. */
static void many_execs_are_purged(void **state)
{
	enum { EXECS = 20000 };
	struct record_cuda_graph *steps = calloc(2 * EXECS + 1, sizeof(*steps));

	steps[0] = STEP(GRAPH_CREATED, .graph = 1);
	for (uint32_t i = 1; i <= EXECS; i++) {
		steps[i] = STEP(EXEC_CREATED, .graph = 1, .exec = i);
		steps[EXECS + i] = STEP(EXEC_GONE, .exec = i);
	}
	assert_int_equal(graph_lives_purge(steps, 2 * EXECS), 2);
	assert_int_equal(steps[1].exec, EXECS);
	free(steps);
}

/* ---- what is missed ---- */

/* As under the limit of memory: once. */
static bool fails_next_growth;
int __real_table_grow(void **array, size_t *room, uint64_t count, size_t row_bytes);
int __wrap_table_grow(void **array, size_t *room, uint64_t count, size_t row_bytes);

int __wrap_table_grow(void **array, size_t *room, uint64_t count, size_t row_bytes)
{
	if (!fails_next_growth)
		return __real_table_grow(array, room, count, row_bytes);
	fails_next_growth = false;
	return -ENOMEM;
}

static void assert_missed(struct trace *trace)
{
	bool is_told = false;

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 0; i < trace->graphs_count; i++)
		assert_int_equal(trace->graphs[i].edge_count, 0);
	for (uint32_t i = 0; i < trace->messages_count; i++)
		is_told |= strstr(trace_text(trace, trace->messages[i].text),
				  "made outside a recording are not known") != NULL;
	assert_true(is_told);
	play_assert_closed(trace);
}

/* The steps after the loss are of graphs whose first ones are missing. */
static void memory_is_short_once(void)
{
	dormant_start();
	play_layers();
	fails_next_growth = true;
	for (uint32_t graph = 1000; fails_next_growth; graph++)
		play_graph(graph);
	expect(!atomic_load(&cuda_notes_are_kept));
	play_instantiate();
	expect(cuda_notes_count() == 0);
	dormant_record(1);
}

static void a_part_of_the_steps_is_not_told(void **state)
{
	assert_missed(play_scene(*state, memory_is_short_once));
}

static void (*within_purge)(void);
uint32_t __real_graph_lives_purge(struct record_cuda_graph *steps, uint32_t count);
uint32_t __wrap_graph_lives_purge(struct record_cuda_graph *steps, uint32_t count);

uint32_t __wrap_graph_lives_purge(struct record_cuda_graph *steps, uint32_t count)
{
	void (*within)(void) = within_purge;

	within_purge = NULL;
	if (within)
		within();
	return __real_graph_lives_purge(steps, count);
}

/* As a signal handler that has interrupted this thread while it keeps a step. */
static void use_notes(void)
{
	expect(cuda_notes_count() > 0);
	play_graph(999);
	cuda_notes_tell_now();
}

static void interrupted_by_a_handler(void)
{
	dormant_start();
	play_layers();
	within_purge = use_notes;
	for (uint32_t graph = 1000; within_purge; graph++)
		play_graph(graph);
	play_instantiate();
	expect(cuda_notes_count() == 0);
	dormant_record(1);
}

static void a_handler_does_not_wait_for_its_own_thread(void **state)
{
	assert_missed(play_scene(*state, interrupted_by_a_handler));
}

/* ---- threads ---- */

enum { ROUNDS = 200, THREADS = 3 };

static void *build_and_destroy(void *number)
{
	uint32_t base = 10000 * (uint32_t)(uintptr_t)number;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t graph = base + 4 * i;

		play_graph(graph);
		play_node(graph, graph * 16ull, CUDA_NODE_EMPTY);
		dormant_graph_gone(graph);
	}
	return NULL;
}

/* The graph is made before; others come and go on threads while recordings begin and end. */
static void begin_and_end_beside_them(void)
{
	pthread_t threads[THREADS];

	dormant_start();
	play_layers();
	play_instantiate();
	for (uintptr_t i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, build_and_destroy, (void *)(i + 1)) == 0);
	for (uint32_t i = 0; i < 5; i++)
		dormant_record(1);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	dormant_record(1);
}

static void steps_on_other_threads_disturb_nothing(void **state)
{
	struct trace *trace = play_scene(*state, begin_and_end_beside_them);

	assert_int_equal(trace->processes_count, 6);
	dormant_assert_known(trace, 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(what_is_gone_takes_no_memory),
		cmocka_unit_test(what_is_needed_stays),
		cmocka_unit_test(a_switched_node_of_an_unseen_exec_stays),
		cmocka_unit_test(many_execs_are_purged),
		PLAY_CASE(a_part_of_the_steps_is_not_told),
		PLAY_CASE(a_handler_does_not_wait_for_its_own_thread),
		PLAY_CASE(steps_on_other_threads_disturb_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
