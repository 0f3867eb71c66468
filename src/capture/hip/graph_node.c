/* What was seen of graph nodes when they were made; see graph_node.h. */
#include "capture/hip/graph_node.h"

#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/handle_map.h"
#include "capture/hip/hip_functions.h"
#include "capture/hip/runtime_graph.h"
#include "capture/scope.h"
#include "vendor/hip_types.h"

struct node_info {
	uint64_t cid;	/* the call that made the node; 0: not seen */
	uint64_t scope; /* the scope in which that call was made */
	bool is_copy_1d;
	struct graph_copy copy; /* if is_copy_1d */
};

static struct handle_map nodes = HANDLE_MAP_INIT; /* node -> struct node_info */
/* Graphs that are alive, each with the value 1. */
static struct handle_map graphs = HANDLE_MAP_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the contents of struct node_info */

static void write_recorded(uint64_t node, uint64_t graph, const struct node_info *info)
{
	struct record_node_recorded record = {
		.node = node,
		.graph = graph,
		.cid = info->cid,
		.scope = info->scope,
		.ns = session_now_ns(),
	};

	scope_keep_open();
	writer_put(session_writer(), RECORD_NODE_RECORDED, 0, &record, sizeof(record));
}

/* A node may have the address of an earlier node, whose info is replaced. */
static void remember(uint64_t node, const struct node_info *info)
{
	struct node_info *known;

	pthread_mutex_lock(&lock);
	known = (struct node_info *)handle_map_get(&nodes, node);
	if (!known) {
		known = malloc(sizeof(*known));
		if (known && handle_map_put(&nodes, node, (uintptr_t)known)) {
			free(known);
			known = NULL;
		}
	}
	if (known)
		*known = *info;
	pthread_mutex_unlock(&lock);
}

/* Copies what is known of NODE. Returns false when nothing is. */
static bool recall(uint64_t node, struct node_info *ret_info)
{
	const struct node_info *known;

	pthread_mutex_lock(&lock);
	known = (const struct node_info *)handle_map_get(&nodes, node);
	if (known)
		*ret_info = *known;
	pthread_mutex_unlock(&lock);
	return known != NULL;
}

static void forget(uint64_t node)
{
	pthread_mutex_lock(&lock);
	free((void *)handle_map_take(&nodes, node));
	pthread_mutex_unlock(&lock);
}

bool graph_node_find_copy(uint64_t node, struct graph_copy *ret_copy)
{
	struct node_info info;

	if (!recall(node, &info) || !info.is_copy_1d)
		return false;
	*ret_copy = info.copy;
	return true;
}

static void record_new(struct hip_call *call, uint64_t node, uint64_t graph, const uint64_t *args)
{
	struct node_info info = {.cid = call->frame.cid, .scope = call->frame.scope};

	info.is_copy_1d = graph_copy_of_call(call->frame.function, args, &info.copy);
	remember(node, &info);
	write_recorded(node, graph, &info);
}

void graph_node_captured(struct hip_call *call, uint64_t node, uint64_t graph, const uint64_t *args)
{
	record_new(call, node, graph, args);
}

void graph_node_captured_unknown(struct hip_call *call)
{
	const struct node_info info = {.cid = call->frame.cid, .scope = call->frame.scope};

	write_recorded(0, 0, &info);
}

void graph_node_added(struct hip_call *call, int result, const uint64_t *args)
{
	if (result == HIP_OK && args[0])
		record_new(call, args[0], args[1], args);
}

void graph_node_params_set(struct hip_call *call, int result, const uint64_t *args)
{
	struct node_info info = {0};

	if (result != HIP_OK)
		return;
	recall(args[0], &info);
	info.is_copy_1d = graph_copy_of_call(call->frame.function, args, &info.copy);
	remember(args[0], &info);
}

/* TO is a copy of the graph FROM that the runtime has made, with its nodes in the order of the
 * originals: the new nodes get the calls and scopes of the old ones. DEPTH is the nesting. */
static void inherit(uint64_t from, uint64_t to, int depth)
{
	uint64_t *old = NULL, *new = NULL, old_child, new_child;
	size_t old_count = 0, new_count = 0;

	if (depth > RUNTIME_GRAPH_DEPTH || runtime_graph_nodes(from, &old, &old_count) ||
	    runtime_graph_nodes(to, &new, &new_count))
		goto out;
	for (size_t i = 0; i < old_count && i < new_count; i++) {
		enum record_node_type type;
		struct node_info info;

		if (recall(old[i], &info)) {
			remember(new[i], &info);
			if (info.cid)
				write_recorded(new[i], to, &info);
		}
		if (!runtime_graph_type(old[i], &type) && type == RECORD_NODE_CHILD &&
		    !runtime_graph_child(old[i], &old_child) &&
		    !runtime_graph_child(new[i], &new_child))
			inherit(old_child, new_child, depth + 1);
	}
out:
	free(old);
	free(new);
}

void graph_node_child_added(struct hip_call *call, int result, const uint64_t *args)
{
	uint64_t embedded;

	graph_node_added(call, result, args);
	if (result == HIP_OK && args[0] && !runtime_graph_child(args[0], &embedded))
		inherit(args[ARG_hipGraphAddChildGraphNode_childGraph], embedded, 0);
}

void graph_node_graph_made(uint64_t graph)
{
	if (graph)
		handle_map_put(&graphs, graph, 1);
}

void graph_node_graph_created(struct hip_call *call, int result, const uint64_t *args)
{
	graph_node_graph_made(args[ARG_hipGraphCreate_pGraph]);
}

void graph_node_graph_cloned(struct hip_call *call, int result, const uint64_t *args)
{
	uint64_t clone = args[ARG_hipGraphClone_pGraphClone];

	if (!clone)
		return;
	graph_node_graph_made(clone);
	inherit(args[ARG_hipGraphClone_originalGraph], clone, 0);
}

static void forget_nodes(uint64_t graph, int depth)
{
	uint64_t *all, child;
	size_t count;
	enum record_node_type type;

	if (depth > RUNTIME_GRAPH_DEPTH || runtime_graph_nodes(graph, &all, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!runtime_graph_type(all[i], &type) && type == RECORD_NODE_CHILD &&
		    !runtime_graph_child(all[i], &child))
			forget_nodes(child, depth + 1);
		forget(all[i]);
	}
	free(all);
}

void graph_node_graph_going(struct hip_call *call, const uint64_t *args)
{
	/* The runtime checks the graph's handle when it destroys it, but not when it is asked
	 * for nodes; so ask only about a graph that is known to be alive. */
	if (handle_map_take(&graphs, args[ARG_hipGraphDestroy_graph]))
		forget_nodes(args[ARG_hipGraphDestroy_graph], 0);
}

void graph_node_gone(struct hip_call *call, int result, const uint64_t *args)
{
	if (result == HIP_OK)
		forget(args[ARG_hipGraphDestroyNode_node]);
}

void graph_node_reset(void)
{
	handle_map_reset(&nodes);
	handle_map_reset(&graphs);
	pthread_mutex_init(&lock, NULL);
}
