/*
 * CUDA graphs that are made while nothing is recorded: the next recording has their names, nodes
 * and edges. CUPTI is played.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/cuda/cuda_graph_lives.h"
#include "capture/cuda/cuda_graph_notes.h"
#include "capture/cuda/cuda_subscription.h"
#include "capture/scope.h"

static uint32_t last_launch;

static void start_dormant(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	session_arm();
	switch_configure();
	play_start();
	expect(!session_is_on());
}

/* One recording, in which the graph runs COUNT times. */
static void record_launches(uint32_t count)
{
	scope_push_nvtx(0, "step", NULL, 0);
	expect(session_is_on());
	for (uint32_t i = 0; i < count; i++) {
		play_launch(++last_launch, EXEC);
		play_replay(last_launch, EXEC, 101, "kernel");
	}
	scope_pop_nvtx(0);
	expect(!session_is_on());
}

static void exec_gone(uint32_t id)
{
	struct cupti_graph_data data = {.graphExec = (void *)(uintptr_t)id};

	model_resource(CUPTI_GRAPHEXEC_DESTROY_STARTING, &data);
}

static void graph_gone(uint32_t id)
{
	struct cupti_graph_data data = {.graph = (void *)(uintptr_t)id};

	model_resource(CUPTI_GRAPH_DESTROY_STARTING, &data);
}

/* Every activity of the COUNT ones is of a node of a graph with three nodes and two edges. */
static void assert_known(const struct trace *trace, uint32_t count)
{
	assert_int_equal(trace->activities_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		const struct trace_graph *graph;

		assert_int_equal(row->confidence, TRACE_CONFIDENCE_EXACT);
		assert_int_not_equal(row->node, TRACE_NONE);
		graph = &trace->graphs[trace->nodes[row->node].graph];
		assert_int_equal(graph->node_count, 3);
		assert_int_equal(graph->edge_count, 2);
	}
	play_assert_closed(trace);
}

/* ---- identity ---- */

static void made_before(void)
{
	start_dormant();
	play_layers();
	play_instantiate();
	record_launches(2);
}

static void a_graph_that_was_made_before_is_known(void **state)
{
	struct trace *trace = play_scene(*state, made_before);

	assert_known(trace, 6);
	assert_int_equal(play_source(trace, "graph")->expected, 6);
}

/* The graph goes when its exec is made, as in most programs. */
static void made_between(void)
{
	start_dormant();
	record_launches(0);
	play_layers();
	play_instantiate();
	graph_gone(GRAPH);
	record_launches(1);
	record_launches(3);
}

static void each_later_recording_has_it(void **state)
{
	struct trace *trace = play_scene(*state, made_between);

	assert_int_equal(trace->processes_count, 3);
	assert_known(trace, 12);
	assert_int_equal(trace->graphs_count, 2);
}

static void made_within(void)
{
	start_dormant();
	scope_push_nvtx(0, "step", NULL, 0);
	play_layers();
	scope_pop_nvtx(0);
	play_instantiate();
	record_launches(1);
}

static void a_graph_of_an_earlier_recording_is_known(void **state)
{
	assert_known(play_scene(*state, made_within), 3);
}

static void destroyed_between(void)
{
	start_dormant();
	play_layers();
	play_instantiate();
	exec_gone(EXEC);
	graph_gone(EXEC_GRAPH);
	graph_gone(GRAPH);
	scope_push_nvtx(0, "step", NULL, 0);
	/* The same numbers stand for another graph. */
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	play_graph_clone(EXEC_GRAPH, GRAPH);
	play_node_clone(EXEC_GRAPH, 101, 11, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(1, EXEC + 1);
	play_graph_kernel(1, EXEC + 1, 101, "kernel");
	scope_pop_nvtx(0);
}

static void a_number_that_is_used_again_is_of_the_new_graph(void **state)
{
	struct trace *trace = play_scene(*state, destroyed_between);
	const struct trace_activity *row = play_find_kernel(trace, "kernel");

	assert_int_equal(row->confidence, TRACE_CONFIDENCE_EXACT);
	assert_int_equal(trace->graphs[trace->nodes[row->node].graph].node_count, 1);
	play_assert_closed(trace);
}

enum { TOP = 51, MOVED, CLONED, CLONE };

#define NODE(graph, index) ((uint64_t)(graph) << 32 | (index))

/* A child graph that only the call's parameters tell, and one that is cloned within its call. The
 * exec has their nodes after its own. */
static void play_children(void)
{
	play_graph(TOP);
	play_graph(MOVED);
	play_add_kernel(MOVED, NODE(MOVED, 0), 0);
	play_move_child(TOP, NODE(TOP, 0), MOVED, 0);
	play_graph(CLONED);
	play_add_kernel(CLONED, NODE(CLONED, 0), 0);
	play_clone_child(TOP, NODE(TOP, 1), CLONED, CLONE, NODE(CLONE, 0), 1, NODE(TOP, 0));
	play_graph(EXEC);
	for (uint32_t i = 0; i < 2; i++)
		play_node_clone(EXEC, NODE(EXEC, i), NODE(TOP, i), CUDA_NODE_KERNEL);
	play_exec(EXEC, TOP);
}

static void record_children(void)
{
	scope_push_nvtx(0, "step", NULL, 0);
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, NODE(EXEC, 2), "moved");
	play_graph_kernel(1, EXEC, NODE(EXEC, 3), "cloned");
	play_device_wait(2);
	scope_pop_nvtx(0);
}

static void with_children(void)
{
	start_dormant();
	play_children();
	record_children();
}

/* The graphs are destroyed, the clone in the node with the graph around it, and the steps of others
 * are discarded. */
static void with_children_of_destroyed_graphs(void)
{
	start_dormant();
	play_children();
	for (uint32_t graph = TOP; graph <= CLONE; graph++)
		graph_gone(graph);
	for (uint32_t i = 0; i < 5000; i++) {
		play_graph(1000 + i);
		graph_gone(1000 + i);
	}
	expect(cuda_notes_count() < 10000);
	record_children();
}

static void assert_held(struct trace *trace)
{
	assert_int_equal(trace->graphs_count, 3);
	assert_int_equal(trace->nodes[play_find_kernel(trace, "moved")->node].handle,
			 NODE(MOVED, 0));
	assert_int_equal(trace->nodes[play_find_kernel(trace, "cloned")->node].handle,
			 NODE(CLONE, 0));
	assert_int_equal(play_source(trace, "graph")->expected, 2);
	play_assert_closed(trace);
}

static void what_nodes_hold_is_known(void **state)
{
	assert_held(play_scene(*state, with_children));
}

static void what_nodes_of_destroyed_graphs_hold_is_known(void **state)
{
	assert_held(play_scene(*state, with_children_of_destroyed_graphs));
}

/* ---- a child graph that has a child graph (H100, CUDA 13.0) ---- */

enum { INNER = 61, OUTER, HELD_INNER, AROUND, HELD_OUTER, HELD_TWICE };

/* Within the call of the runtime's function for kernels, which does not tell the node's type. */
static void add_untold(uint32_t graph, uint64_t node, uint64_t dependency)
{
	struct model_open call;

	play_enter(&call, 689, "cuGraphAddKernelNode_v2");
	play_new_node(graph, node, CUDA_NODE_KERNEL, dependency);
	model_leave(&call, 0);
}

static void clone_inner(uint32_t clone, uint32_t original)
{
	play_graph(clone);
	for (uint32_t i = 0; i < 2; i++)
		play_node_clone(clone, NODE(clone, i), NODE(original, i), CUDA_NODE_KERNEL);
	play_edge(clone, NODE(clone, 0), NODE(clone, 1));
}

/* The clone of a held graph comes after that of the node before the one that holds it. */
static void clone_outer(uint32_t clone, uint32_t original, uint32_t inner, uint32_t inner_original)
{
	play_graph(clone);
	play_node_clone(clone, NODE(clone, 0), NODE(original, 0), CUDA_NODE_KERNEL);
	clone_inner(inner, inner_original);
	play_node_clone(clone, NODE(clone, 1), NODE(original, 1), CUDA_NODE_KERNEL);
	play_node_clone(clone, NODE(clone, 2), NODE(original, 2), CUDA_NODE_KERNEL);
	play_edge(clone, NODE(clone, 0), NODE(clone, 1));
	play_edge(clone, NODE(clone, 1), NODE(clone, 2));
}

static void add_children(void)
{
	struct model_open call;

	play_graph(INNER);
	play_graph(OUTER);
	play_graph(AROUND);
	add_untold(INNER, NODE(INNER, 0), 0);
	add_untold(INNER, NODE(INNER, 1), NODE(INNER, 0));
	add_untold(OUTER, NODE(OUTER, 0), 0);
	play_enter(&call, 525, "cuGraphAddChildGraphNode");
	play_edge(OUTER, NODE(OUTER, 0), NODE(OUTER, 1));
	clone_inner(HELD_INNER, INNER);
	play_new_node(OUTER, NODE(OUTER, 1), CUDA_NODE_GRAPH, 0);
	model_leave(&call, 0);
	add_untold(OUTER, NODE(OUTER, 2), NODE(OUTER, 1));
	add_untold(AROUND, NODE(AROUND, 0), 0);
	play_enter(&call, 525, "cuGraphAddChildGraphNode");
	play_edge(AROUND, NODE(AROUND, 0), NODE(AROUND, 1));
	clone_outer(HELD_OUTER, OUTER, HELD_TWICE, HELD_INNER);
	play_new_node(AROUND, NODE(AROUND, 1), CUDA_NODE_GRAPH, 0);
	model_leave(&call, 0);
	add_untold(AROUND, NODE(AROUND, 2), NODE(AROUND, 1));
}

/* The driver clones all of it, then makes graphs of its own for the children, and a node that comes
 * before all others. */
static void instantiate_children(void)
{
	enum { OUTER_COPY = EXEC + 1, INNER_COPY, OWN_TOP, OWN_OUTER, OWN_INNER };
	struct model_open call;

	play_enter(&call, 656, "cuGraphInstantiateWithParams");
	play_graph(EXEC);
	play_node_clone(EXEC, NODE(EXEC, 0), NODE(AROUND, 0), CUDA_NODE_KERNEL);
	clone_outer(OUTER_COPY, HELD_OUTER, INNER_COPY, HELD_TWICE);
	play_node_clone(EXEC, NODE(EXEC, 1), NODE(AROUND, 1), CUDA_NODE_KERNEL);
	play_node_clone(EXEC, NODE(EXEC, 2), NODE(AROUND, 2), CUDA_NODE_KERNEL);
	play_graph(OWN_TOP);
	play_graph(OWN_OUTER);
	play_graph(OWN_INNER);
	play_new_node(OWN_OUTER, NODE(OWN_OUTER, 1), CUDA_NODE_KERNEL, 0);
	play_new_node(OWN_TOP, NODE(OWN_TOP, 1), CUDA_NODE_KERNEL, 0);
	play_new_node(EXEC, NODE(EXEC, 8), CUDA_NODE_KERNEL, 0);
	play_edge(EXEC, NODE(EXEC, 8), NODE(EXEC, 0));
	play_exec(EXEC, AROUND);
	model_leave(&call, 0);
}

static void with_a_child_of_a_child(void)
{
	static const struct {
		uint32_t node;
		const char *name;
	} ran[] = {{0, "top_first"},  {3, "outer_first"}, {6, "inner_first"},
		   {7, "inner_last"}, {5, "outer_last"},  {2, "top_last"}};

	start_dormant();
	add_children();
	instantiate_children();
	graph_gone(INNER);
	graph_gone(OUTER);
	graph_gone(HELD_INNER);
	scope_push_nvtx(0, "step", NULL, 0);
	play_launch(1, EXEC);
	for (size_t i = 0; i < sizeof(ran) / sizeof(*ran); i++)
		play_graph_kernel(1, EXEC, NODE(EXEC, ran[i].node), ran[i].name);
	play_device_wait(2);
	scope_pop_nvtx(0);
}

static uint64_t handle_of(const struct trace *trace, const char *kernel)
{
	const struct trace_activity *row = play_find_kernel(trace, kernel);

	assert_int_not_equal(row->node, TRACE_NONE);
	return trace->nodes[row->node].handle;
}

static void what_a_child_of_a_child_holds_is_known(void **state)
{
	struct trace *trace = play_scene(*state, with_a_child_of_a_child);

	assert_int_equal(handle_of(trace, "top_last"), NODE(AROUND, 2));
	assert_int_equal(handle_of(trace, "outer_first"), NODE(HELD_OUTER, 0));
	assert_int_equal(handle_of(trace, "outer_last"), NODE(HELD_OUTER, 2));
	assert_int_equal(handle_of(trace, "inner_first"), NODE(HELD_TWICE, 0));
	assert_int_equal(handle_of(trace, "inner_last"), NODE(HELD_TWICE, 1));
	assert_int_equal(play_source(trace, "graph")->expected, 6);
	play_assert_closed(trace);
}

/* The second node is off: without this knowledge its kernel would be missing. */
static void switched_before(void)
{
	struct cupti_set_enabled_params params = {.graphExec = (void *)EXEC, .node = (void *)12};
	struct model_open call;

	start_dormant();
	play_layers();
	play_instantiate();
	model_enter(&call, CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphNodeSetEnabled, 77,
		    "cuGraphNodeSetEnabled", &params);
	model_leave(&call, 0);
	scope_push_nvtx(0, "step", NULL, 0);
	for (uint32_t i = 1; i <= 2; i++) {
		play_launch(i, EXEC);
		play_graph_kernel(i, EXEC, 101, "first");
		play_graph_kernel(i, EXEC, 103, "third");
	}
	scope_pop_nvtx(0);
}

static void a_node_that_was_switched_before_is_not_missing(void **state)
{
	struct trace *trace = play_scene(*state, switched_before);

	assert_int_equal(trace->activities_count, 4);
	play_assert_closed(trace);
}

/* ---- what CUPTI is asked for ---- */

static void ask_for_little(void)
{
	start_dormant();
	expect(model_is_subscribed());
	expect(model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_CREATED));
	expect(model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphNodeSetEnabled));
	expect(!model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_NODE_UPDATED));
	expect(!model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_STREAM_CREATED));
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	expect(!model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphLaunch));
	/* A program without graphs is as before after a recording. */
	record_launches(0);
	expect(model_is_subscribed());
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	/* Of callbacks that stay enabled, those of other calls change nothing. */
	play_layers();
	play_instantiate();
	record_launches(1);
	expect(model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	play_call(70);
	play_launch(71, EXEC);
	last_launch = 71;
	record_launches(1);
}

static void launches_bring_no_callbacks(void **state)
{
	struct trace *trace = play_scene(*state, ask_for_little);

	assert_known(trace, 6);
	assert_int_equal(trace->launches_count, 2);
}

static void leave_cupti_alone(void)
{
	setenv("DAGTAP_CUDA_DORMANT", "0", 1);
	start_dormant();
	expect(!model_is_subscribed());
	play_layers();
	play_instantiate();
	record_launches(1);
	expect(!model_is_subscribed() && !model_is_enabled());
}

static void without_the_option_graphs_are_unseen(void **state)
{
	struct trace *trace = play_scene(*state, leave_cupti_alone);

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 0; i < trace->graphs_count; i++)
		assert_int_equal(trace->graphs[i].edge_count, 0);
	play_assert_closed(trace);
}

/* ---- another profiler ---- */

uint32_t cuptiSubscribe(void **subscriber, cupti_callback *callback, void *userdata);
uint32_t cuptiUnsubscribe(void *subscriber);

static void hear_nothing(void *userdata, uint32_t domain, uint32_t cbid, const void *told)
{
}

static void another_one_asks(void)
{
	void *theirs;

	start_dormant();
	play_layers();
	play_instantiate();
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_OK);
	expect(!cuda_notes_count());
	expect(cuptiUnsubscribe(theirs) == CUPTI_OK);
	record_launches(1);
}

static void another_profiler_gets_cupti_and_a_note_says_so(void **state)
{
	struct trace *trace = play_scene(*state, another_one_asks);
	bool is_told = false;

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 0; i < trace->messages_count; i++)
		is_told |= strstr(trace_text(trace, trace->messages[i].text),
				  "another profiler has subscribed") != NULL;
	assert_true(is_told);
	play_assert_closed(trace);
}

static void while_a_recording_is_on(void)
{
	void *theirs;

	start_dormant();
	play_layers();
	play_instantiate();
	scope_push_nvtx(0, "step", NULL, 0);
	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_MULTIPLE_SUBSCRIBERS);
	scope_pop_nvtx(0);
	record_launches(1);
}

static void during_a_recording_it_does_not(void **state)
{
	assert_known(play_scene(*state, while_a_recording_is_on), 3);
}

static int other_cupti;

static void look_up(void)
{
	void *real = (void *)hear_nothing, *ours = (void *)cuptiSubscribe;

	expect(cuda_subscription_lookup("cuptiGetVersion", real) == real);
	expect(cuda_subscription_lookup("cuptiSubscribe", real) == ours);
	expect(cuda_subscription_lookup("cuptiSubscribe", real) == ours);
	expect(cuda_subscription_lookup("cuptiSubscribe", ours) == ours);
	/* That of a second library. */
	expect(cuda_subscription_lookup("cuptiSubscribe", &other_cupti) == &other_cupti);
}

static void a_look_up_finds_ours(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, look_up), 0);
}

/* The test's own: what runs before the next library is opened. */
static void (*before_dlopen)(void);
void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);

void *__wrap_dlopen(const char *path, int flags)
{
	void (*before)(void) = before_dlopen;

	before_dlopen = NULL;
	if (before)
		before();
	return __real_dlopen(path, flags);
}

static void *subscribe_for_a_moment(void *none)
{
	void *theirs;

	expect(cuptiSubscribe(&theirs, hear_nothing, NULL) == CUPTI_OK);
	expect(cuptiUnsubscribe(theirs) == CUPTI_OK);
	return none;
}

/* As the constructor of a library, which the loader runs under its lock. */
static void subscribe_on_another_thread(void)
{
	pthread_t thread;

	expect(pthread_create(&thread, NULL, subscribe_for_a_moment, NULL) == 0);
	pthread_join(thread, NULL);
}

static void while_cupti_is_loaded(void)
{
	before_dlopen = subscribe_on_another_thread;
	start_dormant();
	expect(!before_dlopen && model_is_subscribed());
	play_layers();
	play_instantiate();
	record_launches(1);
}

static void another_profiler_does_not_wait_for_the_loader(void **state)
{
	assert_known(play_scene(*state, while_cupti_is_loaded), 3);
}

/* ---- memory ---- */

/* One graph stays, and thousands come and go. */
static void many_come_and_go(void)
{
	start_dormant();
	play_layers();
	play_instantiate();
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t graph = 1000 + 3 * i;

		play_graph(graph);
		play_node(graph, 10 * graph, CUDA_NODE_EMPTY);
		play_graph_clone(graph + 1, graph);
		play_node_clone(graph + 1, 10 * graph + 1, 10 * graph, CUDA_NODE_EMPTY);
		play_exec(graph + 2, graph);
		graph_gone(graph);
		exec_gone(graph + 2);
	}
	expect(cuda_notes_count() < 10000);
	record_launches(1);
}

static void what_is_gone_takes_no_memory(void **state)
{
	struct trace *trace = play_scene(*state, many_come_and_go);

	assert_known(trace, 3);
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
	start_dormant();
	play_layers();
	fails_next_growth = true;
	for (uint32_t graph = 1000; fails_next_growth; graph++)
		play_graph(graph);
	expect(!atomic_load(&cuda_notes_are_kept));
	play_instantiate();
	expect(cuda_notes_count() == 0);
	record_launches(1);
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
	start_dormant();
	play_layers();
	within_purge = use_notes;
	for (uint32_t graph = 1000; within_purge; graph++)
		play_graph(graph);
	play_instantiate();
	expect(cuda_notes_count() == 0);
	record_launches(1);
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
		graph_gone(graph);
	}
	return NULL;
}

/* The graph is made before; others come and go on threads while recordings begin and end. */
static void begin_and_end_beside_them(void)
{
	pthread_t threads[THREADS];

	start_dormant();
	play_layers();
	play_instantiate();
	for (uintptr_t i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, build_and_destroy, (void *)(i + 1)) == 0);
	for (uint32_t i = 0; i < 5; i++)
		record_launches(1);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	record_launches(1);
}

static void steps_on_other_threads_disturb_nothing(void **state)
{
	struct trace *trace = play_scene(*state, begin_and_end_beside_them);

	assert_int_equal(trace->processes_count, 6);
	assert_known(trace, 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_graph_that_was_made_before_is_known),
		PLAY_CASE(each_later_recording_has_it),
		PLAY_CASE(a_graph_of_an_earlier_recording_is_known),
		PLAY_CASE(a_number_that_is_used_again_is_of_the_new_graph),
		PLAY_CASE(what_nodes_hold_is_known),
		PLAY_CASE(what_nodes_of_destroyed_graphs_hold_is_known),
		PLAY_CASE(what_a_child_of_a_child_holds_is_known),
		PLAY_CASE(a_node_that_was_switched_before_is_not_missing),
		PLAY_CASE(launches_bring_no_callbacks),
		PLAY_CASE(without_the_option_graphs_are_unseen),
		PLAY_CASE(another_profiler_gets_cupti_and_a_note_says_so),
		PLAY_CASE(during_a_recording_it_does_not),
		PLAY_CASE(a_look_up_finds_ours),
		PLAY_CASE(another_profiler_does_not_wait_for_the_loader),
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
