/* Events that launches of graphs record (see graph_events.h). */
#include "trace/graph/graph_events.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/graph/expect.h"
#include "trace/graph/updates.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

#define CHILD_DEPTH_MAX 32

/* A node that records an event, and which one at the current launch. */
struct recorder {
	uint64_t event;
	uint32_t node;
};

struct finding {
	struct process_load *load;
	struct graph_events *found;
	/* By graph, from first.graphs: it or a child graph has such a node, or lacks nodes. */
	bool *is_worth;
	struct recorder *recorders;
	uint32_t recorder_count;
	bool is_partial; /* the exec may have other nodes that record events */
};

/* Marks the graph and the graphs that contain it. */
static void mark(struct finding *finding, uint32_t graph)
{
	const struct process_load *load = finding->load;

	/* In a damaged file the parents may form a cycle. */
	for (int depth = 0; graph != TRACE_NONE && depth < CHILD_DEPTH_MAX; depth++) {
		finding->is_worth[graph - load->first.graphs] = true;
		graph = load->trace->graphs[graph].parent;
	}
}

static int mark_graphs(struct finding *finding)
{
	const struct process_load *load = finding->load;
	const struct trace *trace = load->trace;
	uint32_t count = trace->graphs_count - load->first.graphs;

	finding->is_worth = calloc((size_t)count + 1, sizeof(*finding->is_worth));
	if (!finding->is_worth)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (load->expects[i].lacks_nodes)
			mark(finding, load->first.graphs + i);
	for (uint32_t i = load->first.nodes; i < trace->nodes_count; i++) {
		const struct trace_node *node = &trace->nodes[i];

		if (node->type == RECORD_NODE_EVENT_RECORD ||
		    (node->type == RECORD_NODE_CHILD && node->child == TRACE_NONE))
			mark(finding, node->graph);
	}
	return 0;
}

/* ---- the nodes of an exec ---- */

static int add_recorder(struct finding *finding, uint32_t node)
{
	struct recorder *row =
		table_add((void **)&finding->recorders, &finding->recorder_count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = (struct recorder){finding->load->trace->nodes[node].event, node};
	return 0;
}

static int add_recorders(struct finding *finding, uint32_t graph, int depth)
{
	const struct process_load *load = finding->load;
	const struct trace_graph *row = &load->trace->graphs[graph];
	int err = 0;

	if (!finding->is_worth[graph - load->first.graphs])
		return 0;
	finding->is_partial |= load->expects[graph - load->first.graphs].lacks_nodes;
	if (depth > CHILD_DEPTH_MAX) {
		finding->is_partial = true;
		return 0;
	}
	for (uint32_t i = row->node_first; i < row->node_first + row->node_count && err == 0; i++) {
		const struct trace_node *node = &load->trace->nodes[i];

		if (node->type == RECORD_NODE_EVENT_RECORD)
			err = add_recorder(finding, i);
		else if (node->child != TRACE_NONE &&
			 trace_is_child_of(load->trace, node->child, graph, node->index))
			err = add_recorders(finding, node->child, depth + 1);
		else
			finding->is_partial |= node->type == RECORD_NODE_CHILD;
	}
	return err;
}

static int enter_exec(struct finding *finding, uint32_t exec)
{
	uint32_t graph = finding->load->trace->execs[exec].graph;

	free(finding->recorders);
	finding->recorders = NULL;
	finding->recorder_count = 0;
	finding->is_partial = graph == TRACE_NONE;
	return graph == TRACE_NONE ? 0 : add_recorders(finding, graph, 0);
}

static void apply_update(struct finding *finding, uint32_t exec, const struct input_update *update)
{
	uint32_t node;

	if (update->type != RECORD_NODE_EVENT_RECORD)
		return;
	node = updates_find_node(finding->load, exec, update);
	for (uint32_t i = 0; i < finding->recorder_count; i++)
		if (finding->recorders[i].node == node)
			finding->recorders[i].event = update->event;
	finding->is_partial |= node == TRACE_NONE;
}

/* ---- launches ---- */

static int add_event(struct finding *finding, const struct trace_launch *launch, uint32_t node,
		     uint64_t event)
{
	struct graph_event *row =
		table_add((void **)&finding->found->rows, &finding->found->count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = (struct graph_event){event, node, launch->call};
	return 0;
}

static int take_launch(struct finding *finding, const struct trace_launch *launch)
{
	int err = 0;

	if (launch->call == TRACE_NONE || finding->load->trace->calls[launch->call].result)
		return 0;
	for (uint32_t i = 0; i < finding->recorder_count && err == 0; i++) {
		const struct recorder *recorder = &finding->recorders[i];

		err = add_event(finding, launch, recorder->node, recorder->event);
	}
	if (err == 0 && finding->is_partial)
		err = add_event(finding, launch, TRACE_NONE, 0);
	return err;
}

/* Takes the launches from FIRST to before STOP: those of one exec, in the order of their
 * replays. */
static int take_exec(struct finding *finding, uint32_t first, uint32_t stop)
{
	struct process_load *load = finding->load;
	const struct graph_input *input = &load->graph_input;
	const struct trace_launch *launches = load->trace->launches;
	uint32_t exec = launches[first].exec;
	uint64_t id = load->trace->execs[exec].id;
	uint32_t next = graph_input_find_updates(input, id);
	int result = enter_exec(finding, exec);

	for (uint32_t i = first; i < stop && result == 0; i++) {
		uint64_t cid = input->launches[i - load->first.launches].cid;
		const struct input_update *update;

		while (finding->recorder_count &&
		       (update = graph_input_next_update(input, id, cid, &next)))
			apply_update(finding, exec, update);
		result = take_launch(finding, &launches[i]);
	}
	return result;
}

int graph_events_find(struct process_load *load, struct graph_events *ret_events)
{
	const struct trace *trace = load->trace;
	struct finding finding = {.load = load, .found = ret_events};
	int result = mark_graphs(&finding);
	uint32_t stop;

	*ret_events = (struct graph_events){0};
	for (uint32_t first = load->first.launches; first < trace->launches_count && result == 0;
	     first = stop) {
		stop = first + 1;
		while (stop < trace->launches_count &&
		       trace->launches[stop].exec == trace->launches[first].exec)
			stop++;
		result = take_exec(&finding, first, stop);
	}
	free(finding.is_worth);
	free(finding.recorders);
	return result;
}

void graph_events_release(struct graph_events *events)
{
	free(events->rows);
	*events = (struct graph_events){0};
}
