/* Builds CUDA's graphs from the recorded steps of their lives. When an exec is made of a graph, the
 * graph's state is added to the input of graphs (graph_input.h). CUPTI gives ids to nodes and
 * reports the original of each clone, so the node of an activity is found by its id and needs no
 * matching. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/graph/cuda_building.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

static const struct cuda_life no_life = {
	.first_node = TRACE_NONE,
	.last_node = TRACE_NONE,
	.first_edge = TRACE_NONE,
	.last_edge = TRACE_NONE,
	.found_edge = TRACE_NONE,
	.original = TRACE_NONE,
};

static uint64_t by_ns(const struct raw *row)
{
	return ((const struct record_cuda_graph *)row->record)->ns;
}

static uint32_t find_node(const struct cuda_building *building, uint64_t id)
{
	return cuda_node_rank(&building->load->cuda, id);
}

static uint32_t find_graph(const struct cuda_building *building, uint64_t id)
{
	return id ? idset_find(&building->load->cuda.graph_ids, id) : TRACE_NONE;
}

/* ---- steps ---- */

/* Derives the type of a node from the name of the call that made it. The first part in the list
 * that the name contains decides. */
static enum record_node_type type_by_call(struct cuda_building *building, uint64_t cid)
{
	static const struct {
		const char *part;
		enum record_node_type type;
	} types[] = {
		{"EmptyNode", RECORD_NODE_EMPTY},
		{"HostNode", RECORD_NODE_HOST},
		{"HostFunc", RECORD_NODE_HOST},
		{"EventRecord", RECORD_NODE_EVENT_RECORD},
		{"EventWait", RECORD_NODE_EVENT_WAIT},
		{"MemAlloc", RECORD_NODE_MEM_ALLOC},
		{"MallocAsync", RECORD_NODE_MEM_ALLOC},
		{"MallocFromPool", RECORD_NODE_MEM_ALLOC},
		{"MemFree", RECORD_NODE_MEM_FREE},
		{"FreeAsync", RECORD_NODE_MEM_FREE},
		{"Memcpy", RECORD_NODE_MEMCPY},
		{"Memset", RECORD_NODE_MEMSET},
		{"KernelNode", RECORD_NODE_KERNEL},
		{"LaunchKernel", RECORD_NODE_KERNEL},
		{"LaunchCooperative", RECORD_NODE_KERNEL},
	};
	const struct process_load *load = building->load;
	uint32_t call = cuda_find_call(load, cid);
	const char *name;

	if (call == TRACE_NONE || load->trace->calls[call].api == TRACE_NONE)
		return RECORD_NODE_UNTOLD;
	name = trace_text(load->trace, load->trace->apis[load->trace->calls[call].api].name);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcasestr(name, types[i].part))
			return types[i].type;
	}
	return RECORD_NODE_UNTOLD;
}

static void append_node(struct cuda_building *building, struct cuda_life *life, uint32_t at)
{
	if (life->last_node == TRACE_NONE)
		life->first_node = at;
	else
		building->nodes[life->last_node].next = at;
	life->last_node = at;
}

/* Takes the original of NODE from a clone step, which follows the step that made the node. A clone
 * and its original have the same type, so each type that is known, for example from activities of
 * the clone, is given to the other. */
static void say_original(struct cuda_building *building, struct cuda_node *node,
			 const struct record_cuda_graph *step)
{
	struct cuda_node *original = node;
	struct cuda_life *life = &building->graphs[node->graph];

	node->original = find_node(building, step->other_node);
	if (life->original == TRACE_NONE)
		life->original = find_graph(building, step->other_graph);
	for (int depth = 0; depth < CUDA_CLONES_MOST && original->original != TRACE_NONE; depth++) {
		original = &building->nodes[original->original];
		if (original->type == RECORD_NODE_UNTOLD)
			original->type = node->type;
		else
			node->type = original->type;
	}
}

/* Adds GRAPH to the graphs that NODE holds, once: CUPTI may report a call twice. */
static void hold(struct cuda_building *building, struct cuda_node *node, uint32_t graph)
{
	uint32_t *link = &node->held;

	while (*link) {
		if (building->held[*link - 1].graph == graph)
			return;
		link = &building->held[*link - 1].next;
	}
	building->held[building->held_count] = (struct cuda_held){.graph = graph};
	*link = ++building->held_count;
}

/* HELD is the id of the child graph that NODE was made with; 0: none. */
static void take_child(struct cuda_building *building, struct cuda_node *node, uint32_t held)
{
	uint32_t graph = find_graph(building, held);

	if (graph == TRACE_NONE)
		return;
	hold(building, node, graph);
	node->type = RECORD_NODE_CHILD;
}

/* Applies a step that names a graph held by a node. */
static void take_held(struct cuda_building *building, const struct record_cuda_graph *step)
{
	uint32_t node = find_node(building, step->node);
	uint32_t graph = find_graph(building, step->other_graph);

	if (node == TRACE_NONE || graph == TRACE_NONE || !cuda_has_graph(building, node))
		return;
	building->graphs[building->nodes[node].graph].snapshot = 0;
	hold(building, &building->nodes[node], graph);
	if (building->nodes[node].type != RECORD_NODE_CONDITIONAL)
		building->nodes[node].type = RECORD_NODE_CHILD;
}

/* ---- ids that are used again ---- */

static void forget_life(struct cuda_node *node)
{
	node->graph = TRACE_NONE;
	node->next = TRACE_NONE;
	node->original = TRACE_NONE;
	node->held = 0;
	node->type = node->ran;
	node->is_gone = false;
}

/* The id of a destroyed graph is used for a new one. The execs that were made of the old graph have
 * snapshots, so its state can be discarded. */
static void begin_again(struct cuda_building *building, uint32_t graph)
{
	struct cuda_life *life = &building->graphs[graph];
	uint32_t next;

	for (uint32_t at = life->first_node; at != TRACE_NONE; at = next) {
		next = building->nodes[at].next;
		forget_life(&building->nodes[at]);
	}
	*life = no_life;
}

/* Removes a destroyed node from its graph. The other nodes and edges keep their order. */
static void forget_node(struct cuda_building *building, uint32_t gone)
{
	struct cuda_node *node = &building->nodes[gone];
	struct cuda_life old = building->graphs[node->graph];
	struct cuda_life *life = &building->graphs[node->graph];
	uint32_t next;

	life->first_node = life->last_node = TRACE_NONE;
	for (uint32_t at = old.first_node; at != TRACE_NONE; at = next) {
		next = building->nodes[at].next;
		building->nodes[at].next = TRACE_NONE;
		if (at != gone)
			append_node(building, life, at);
	}
	for (uint32_t at = old.first_edge; at != TRACE_NONE; at = building->edges[at].next) {
		if (building->edges[at].from == gone || building->edges[at].to == gone)
			building->edges[at].is_gone = true;
	}
	forget_life(node);
}

/* A step names node AT, which was destroyed: the id now belongs to a new node. If one call
 * destroyed the old node and made the new one, the driver replaced the node while it made an exec.
 * Activities use the id for both, so it stays the same node. */
static void forget_if_gone(struct cuda_building *building, uint32_t at, uint64_t cid)
{
	struct cuda_node *node = &building->nodes[at];

	if (!cuda_has_graph(building, at) || !node->is_gone)
		return;
	if (cid && node->gone_cid == cid)
		node->is_gone = false;
	else
		forget_node(building, at);
}

/* ---- nodes ---- */

static void add_node(struct cuda_building *building, const struct record_cuda_graph *step,
		     uint32_t held)
{
	uint32_t at = find_node(building, step->node);
	uint32_t graph = find_graph(building, step->graph);
	struct cuda_node *node;
	struct cuda_life *life;

	if (at == TRACE_NONE || graph == TRACE_NONE)
		return;
	node = &building->nodes[at];
	life = &building->graphs[graph];
	forget_if_gone(building, at, step->cid);
	if (node->graph == TRACE_NONE) {
		life->snapshot = 0;
		node->graph = graph;
		node->scope = step->scope;
		node->ns = step->ns;
		node->cid = step->cid;
		if (step->type != RECORD_NODE_UNTOLD)
			node->type = (uint8_t)step->type;
		else if (node->type == RECORD_NODE_UNTOLD)
			node->type = (uint8_t)type_by_call(building, step->cid);
		append_node(building, life, at);
		take_child(building, node, held);
	}
	if (step->header.tag == RECORD_CUDA_NODE_CLONED)
		say_original(building, node, step);
}

/* ---- edges ---- */

/* Older recordings have 0 in this field, which gives a plain edge. */
static enum record_edge_type edge_type_of(const struct record_cuda_graph *step)
{
	return (step->other_graph >> RECORD_CUDA_EDGE_TYPE & 0xff) == RECORD_EDGE_PROGRAMMATIC
		       ? RECORD_EDGE_PROGRAMMATIC
		       : RECORD_EDGE_PLAIN;
}

/* The step of an edge may come before the steps of its nodes. */
static void add_edge(struct cuda_building *building, uint32_t graph, uint32_t from, uint32_t to,
		     const struct record_cuda_graph *step)
{
	struct cuda_life *life = &building->graphs[graph];
	uint32_t at = building->edge_count++;

	forget_if_gone(building, from, step->cid);
	forget_if_gone(building, to, step->cid);
	building->edges[at] = (struct cuda_edge){
		.from = from, .to = to, .next = TRACE_NONE, .type = (uint8_t)edge_type_of(step)};
	building->has_types |= building->edges[at].type != RECORD_EDGE_PLAIN;
	if (life->last_edge == TRACE_NONE)
		life->first_edge = at;
	else
		building->edges[life->last_edge].next = at;
	life->last_edge = at;
}

static void drop_edge(struct cuda_building *building, uint32_t graph, uint32_t from, uint32_t to)
{
	if (!cuda_has_graph(building, from) || !cuda_has_graph(building, to))
		building->graphs[graph].is_partial = true;
	for (uint32_t at = building->graphs[graph].first_edge; at != TRACE_NONE;
	     at = building->edges[at].next) {
		if (building->edges[at].from == from && building->edges[at].to == to)
			building->edges[at].is_gone = true;
	}
}

static void change_edge(struct cuda_building *building, const struct record_cuda_graph *step)
{
	uint32_t graph = find_graph(building, step->graph);
	uint32_t from = find_node(building, step->other_node);
	uint32_t to = find_node(building, step->node);

	if (graph == TRACE_NONE)
		return;
	building->graphs[graph].snapshot = 0;
	if (from == TRACE_NONE || to == TRACE_NONE)
		building->graphs[graph].is_partial = true;
	else if (step->header.tag == RECORD_CUDA_EDGE_CREATED)
		add_edge(building, graph, from, to, step);
	else
		drop_edge(building, graph, from, to);
}

static void lose_node(struct cuda_building *building, const struct record_cuda_graph *step)
{
	uint32_t node = find_node(building, step->node);

	if (node == TRACE_NONE)
		return;
	building->nodes[node].is_gone = true;
	building->nodes[node].gone_cid = step->cid;
	if (building->nodes[node].graph != TRACE_NONE)
		building->graphs[building->nodes[node].graph].snapshot = 0;
}

static int make_exec(struct cuda_building *building, const struct record_cuda_graph *step)
{
	uint32_t graph = find_graph(building, step->graph);
	struct input_exec *exec;
	uint64_t graph_id;

	/* A graph that was made before the recording has no nodes here; cuda_add_unseen_graphs
	 * makes its graph from activities. */
	if (!step->exec || graph == TRACE_NONE || building->graphs[graph].first_node == TRACE_NONE)
		return 0;
	if (cuda_take_snapshot(building, graph, &graph_id) < 0)
		return -ENOMEM;
	exec = trace_add(&building->load->graph_input, execs);
	if (!exec)
		return -ENOMEM;
	*exec = (struct input_exec){.id = step->exec, .graph_id = graph_id, .cid = step->cid};
	return 0;
}

/* If the parameters of an update are taken from another graph, CUPTI reports the node of that graph
 * (the source) and then the node of the exec (H200, CUDA 13.0). Both are one update. For an update
 * of the whole exec the source counts, because an older CUPTI reports no other; else the exec's
 * node counts. */
static bool is_told_twice(const struct process_load *load, const struct record_cuda_update *update,
			  uint64_t source_cid)
{
	bool is_whole = updates_is_whole(load, update->cid);

	return update->is_source ? !is_whole : is_whole && update->cid == source_cid;
}

static int add_update(struct process_load *load, const struct record_cuda_update *update)
{
	uint64_t event = cuda_event_of_call(load, cuda_find_call(load, update->cid));
	struct input_update *row = trace_add(&load->graph_input, updates);

	if (!row)
		return -ENOMEM;
	*row = (struct input_update){
		.exec_id = update->exec,
		.cid = update->cid,
		.handle = update->node,
		.event = event,
		.signature.pieces = 1,
		.index = INPUT_BY_HANDLE,
		.type = event ? RECORD_NODE_EVENT_RECORD : RECORD_NODE_OTHER,
	};
	return 0;
}

static int add_updates(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_CUDA_UPDATE];
	uint64_t source_cid = 0; /* cid of the last update that named a source */
	int err = 0;

	for (uint32_t i = 0; i < list->count && err == 0; i++) {
		const struct record_cuda_update *update = list->rows[i].record;

		if (update->is_source)
			source_cid = update->cid;
		if (update->exec && !is_told_twice(load, update, source_cid))
			err = add_update(load, update);
	}
	raw_release(list);
	return err;
}

static int take_step(struct cuda_building *building, const struct record_cuda_graph *step)
{
	uint32_t graph = find_graph(building, step->graph);
	uint32_t held = cuda_clones_take(&building->open_clones, step);

	if (graph != TRACE_NONE && step->header.tag <= RECORD_CUDA_GRAPH_CLONED &&
	    building->graphs[graph].is_gone)
		begin_again(building, graph);
	switch (step->header.tag) {
	case RECORD_CUDA_GRAPH_GONE:
		if (graph != TRACE_NONE)
			building->graphs[graph].is_gone = true;
		return 0;
	case RECORD_CUDA_GRAPH_CLONED:
		if (graph != TRACE_NONE)
			building->graphs[graph].original = find_graph(building, step->other_graph);
		return 0;
	case RECORD_CUDA_NODE_CREATED:
	case RECORD_CUDA_NODE_CLONED:
		add_node(building, step, held);
		return 0;
	case RECORD_CUDA_NODE_GONE:
		lose_node(building, step);
		return 0;
	case RECORD_CUDA_EDGE_CREATED:
	case RECORD_CUDA_EDGE_GONE:
		change_edge(building, step);
		return 0;
	case RECORD_CUDA_NODE_HOLDS:
		take_held(building, step);
		return 0;
	case RECORD_CUDA_EXEC_CREATED:
		return make_exec(building, step);
	case RECORD_CUDA_GRAPHS_NUMBERED:
		building->last_graph_id = step->node;
		return 0;
	default:
		return 0;
	}
}

/* ---- the stage ---- */

/* Sets the ids of all nodes, and the types of those that activities name. */
static void learn_ids(struct cuda_building *building)
{
	const struct process_load *load = building->load;
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_GRAPH];

	for (uint32_t i = 0; i < building->node_count; i++)
		building->nodes[i] = (struct cuda_node){
			.graph = TRACE_NONE,
			.original = TRACE_NONE,
			.next = TRACE_NONE,
			.exec = TRACE_NONE,
			.type = RECORD_NODE_UNTOLD,
			.ran = RECORD_NODE_UNTOLD,
		};
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_graph *step = list->rows[i].record;
		uint32_t node = find_node(building, step->node);

		if (node != TRACE_NONE)
			building->nodes[node].id = step->node;
	}
	for (uint32_t i = load->first.activities; i < load->trace->activities_count; i++) {
		const struct trace_activity *row = &load->trace->activities[i];
		uint32_t node = row->confidence == TRACE_CONFIDENCE_UNKNOWN
					? find_node(building, row->id)
					: TRACE_NONE;

		if (node == TRACE_NONE)
			continue;
		building->nodes[node].id = row->id;
		building->nodes[node].ran =
			cuda_node_type_of(trace_work_of(load->trace, row)->kind);
		building->nodes[node].type = building->nodes[node].ran;
	}
}

static int init_building(struct cuda_building *building, struct process_load *load)
{
	uint32_t graph_count = load->cuda.graph_ids.count;
	size_t steps = load->raw.lists[RECORD_CUDA_GRAPH].count;

	*building = (struct cuda_building){
		.load = load,
		.node_count = load->cuda.node_ids.count,
		.graphs = calloc((size_t)graph_count + 1, sizeof(*building->graphs)),
		.edges = calloc(steps + 1, sizeof(*building->edges)),
		.held = calloc(steps + 1, sizeof(*building->held)),
		.clones = malloc(((size_t)load->cuda.node_ids.count + 1) * sizeof(uint32_t)),
	};
	load->cuda.nodes = calloc((size_t)building->node_count + 1, sizeof(*load->cuda.nodes));
	building->nodes = load->cuda.nodes;
	if (!building->graphs || !building->edges || !building->held || !building->clones ||
	    !building->nodes)
		return -ENOMEM;
	memset(building->clones, 0xff, ((size_t)building->node_count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < graph_count; i++)
		building->graphs[i] = no_life;
	learn_ids(building);
	return 0;
}

int cuda_graphs_load(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_CUDA_GRAPH];
	struct cuda_building building;
	int result;

	if (!cuda_is_there(&load->cuda))
		return 0;
	result = init_building(&building, load);
	if (result == 0)
		result = raw_sort(list, by_ns);
	for (uint32_t i = 0; i < list->count && result == 0; i++)
		result = take_step(&building, list->rows[i].record);
	if (result == 0)
		result = add_updates(load);
	if (result == 0)
		result = cuda_add_unseen_graphs(load, &building.last_graph_id);
	free(building.graphs);
	free(building.edges);
	free(building.held);
	free(building.clones);
	return result;
}
