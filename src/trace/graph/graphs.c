/* The stage of graphs: makes rows of the input of graphs (graph_input.h): graphs as they were
 * instantiated, their nodes and edges, the executable graphs made of them, and their launches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "trace/graph/expect.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

#define NESTED_MOST 64 /* graphs inside graphs; damaged files may have cycles */

static const char *const type_texts[] = {
	[RECORD_NODE_KERNEL] = "kernel",
	[RECORD_NODE_MEMCPY] = "memcpy",
	[RECORD_NODE_MEMSET] = "memset",
	[RECORD_NODE_HOST] = "host",
	[RECORD_NODE_CHILD] = "child graph",
	[RECORD_NODE_EMPTY] = "empty",
	[RECORD_NODE_EVENT_WAIT] = "event wait",
	[RECORD_NODE_EVENT_RECORD] = "event record",
	[RECORD_NODE_MEM_ALLOC] = "mem alloc",
	[RECORD_NODE_MEM_FREE] = "mem free",
	[RECORD_NODE_OTHER] = "other",
	[RECORD_NODE_UNTOLD] = "other",
	[RECORD_NODE_CONDITIONAL] = "conditional",
};

static uint64_t graph_key(const void *row)
{
	return ((const struct input_graph *)row)->id;
}

static uint64_t node_key(const void *row)
{
	return ((const struct input_node *)row)->graph_id;
}

static uint64_t node_index_key(const void *row)
{
	return ((const struct input_node *)row)->index;
}

static uint64_t edge_key(const void *row)
{
	return ((const struct input_edge *)row)->graph_id;
}

static uint64_t exec_key(const void *row)
{
	return ((const struct input_exec *)row)->id;
}

static uint64_t launch_key(const void *row)
{
	return ((const struct input_launch *)row)->exec_id;
}

static uint64_t launch_replay_key(const void *row)
{
	return ((const struct input_launch *)row)->replay;
}

static uint64_t launch_cid_key(const void *row)
{
	return ((const struct input_launch *)row)->cid;
}

#define SORT(input, array, key)                                                                    \
	sort_by_key((input)->array, (input)->array##_count, sizeof(*(input)->array), key)

/* CUPTI gives launches no replay number. Numbers the launches of each exec that have none in the
 * order of their cids. */
static int number_launches(struct process_load *load)
{
	struct graph_input *input = &load->graph_input;
	uint64_t exec = 0, replay = 0;

	if (!cuda_is_there(&load->cuda))
		return 0;
	if (SORT(input, launches, launch_cid_key) < 0 || SORT(input, launches, launch_key) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->launches_count; i++) {
		struct input_launch *launch = &input->launches[i];

		if (launch->exec_id != exec)
			replay = 0;
		exec = launch->exec_id;
		if (launch->replay == RECORD_REPLAY_UNCOUNTED)
			launch->replay = replay++;
	}
	return 0;
}

static int sort_all(struct graph_input *input)
{
	if (SORT(input, graphs, graph_key) < 0 || SORT(input, nodes, node_index_key) < 0 ||
	    SORT(input, nodes, node_key) < 0 || SORT(input, edges, edge_key) < 0 ||
	    SORT(input, execs, exec_key) < 0 || SORT(input, launches, launch_replay_key) < 0 ||
	    SORT(input, launches, launch_key) < 0)
		return -ENOMEM;
	return 0;
}

static struct trace_node node_row(struct process_load *load, uint32_t graph,
				  const struct input_node *node)
{
	struct trace_node row = {
		.graph = graph,
		.index = node->index,
		.type = node->type,
		.name = node->signature.name,
		.handle = node->handle,
		.bytes = node->signature.bytes,
		.direction = node->direction,
		.scope = node->scope,
		.child = load_find_graph(load, node->child_id),
		.event = node->event,
		.address = node->address,
		.agent = load_find_agent(load, node->agent),
		.pieces = node->signature.pieces,
	};

	if (!row.name)
		row.name = strtab_intern_z(load->strings, type_texts[node->type]);
	memcpy(row.grid, node->signature.grid, sizeof(row.grid));
	memcpy(row.workgroup, node->signature.workgroup, sizeof(row.workgroup));
	return row;
}

/* Nodes whose graph is not in the recording are left out. */
static int load_nodes(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;
	struct trace_node *rows = trace_extend(load->trace, nodes, input->nodes_count);
	uint32_t used = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->nodes_count; i++) {
		const struct input_node *node = &input->nodes[i];
		uint32_t graph = load_find_graph(load, node->graph_id);
		struct trace_graph *row;

		if (graph == TRACE_NONE)
			continue;
		row = &load->trace->graphs[graph];
		if (node->index != row->node_count) {
			load->expects[graph - load->first.graphs].unknown = true;
			continue;
		}
		if (row->node_count++ == 0)
			row->node_first = load->first.nodes + used;
		rows[used++] = node_row(load, graph, node);
	}
	load->trace->nodes_count -= input->nodes_count - used;
	return 0;
}

static int compare_edges(const void *left, const void *right)
{
	const struct trace_edge *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Loads the edges of one graph: in the order in which they were added for the expectation, sorted
 * in the model. */
static int load_graph_edges(struct process_load *load, uint32_t graph,
			    const struct input_edge *rows, uint32_t count)
{
	struct trace_graph *row = &load->trace->graphs[graph];
	struct expect_graph *expect = &load->expects[graph - load->first.graphs];
	struct trace_edge *edges = trace_extend(load->trace, edges, count);
	uint32_t used = 0;

	expect->edges = calloc((size_t)count + 1, sizeof(*expect->edges));
	if (!edges || !expect->edges)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct input_edge *edge = &rows[i];

		if (edge->from >= row->node_count || edge->to >= row->node_count) {
			expect->unknown = true;
			continue;
		}
		expect->edges[used] = (struct expect_edge){edge->from, edge->to};
		edges[used++] = (struct trace_edge){row->node_first + edge->from,
						    row->node_first + edge->to, edge->type};
	}
	expect->edge_count = used;
	load->trace->edges_count -= count - used;
	row->edge_first = load->trace->edges_count - used;
	row->edge_count = used;
	qsort(edges, used, sizeof(*edges), compare_edges);
	return 0;
}

static int load_edges(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;
	const struct input_edge *edges = input->edges;
	uint32_t stop;

	for (uint32_t start = 0; start < input->edges_count; start = stop) {
		uint32_t graph = load_find_graph(load, edges[start].graph_id);

		for (stop = start + 1; stop < input->edges_count; stop++)
			if (edges[stop].graph_id != edges[start].graph_id)
				break;
		if (graph != TRACE_NONE &&
		    load_graph_edges(load, graph, &edges[start], stop - start) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int load_graphs(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;
	struct trace_graph *rows = trace_extend(load->trace, graphs, input->graphs_count);
	uint32_t used = 0;

	load->expects = calloc((size_t)input->graphs_count + 1, sizeof(*load->expects));
	if (!rows || !load->expects)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->graphs_count; i++) {
		const struct input_graph *graph = &input->graphs[i];

		if (graph->id == 0 || (used && rows[used - 1].id == graph->id))
			continue;
		rows[used++] = (struct trace_graph){
			.process = load->process,
			.id = graph->id,
			.node_first = load->trace->nodes_count,
			.edge_first = load->trace->edges_count,
			.parent = TRACE_NONE,
			.parent_node = graph->parent_node,
		};
	}
	load->trace->graphs_count -= input->graphs_count - used;
	return 0;
}

/* Links GRAPH to the other bodies of its conditional node, by id. */
static void link_held(struct trace *trace, uint32_t graph)
{
	const struct trace_graph *row = &trace->graphs[graph];
	const struct trace_node *holder;
	uint32_t at;

	if (row->parent == TRACE_NONE || row->parent_node >= trace->graphs[row->parent].node_count)
		return;
	holder = &trace->nodes[trace->graphs[row->parent].node_first + row->parent_node];
	if (holder->type != RECORD_NODE_CONDITIONAL || holder->child == TRACE_NONE ||
	    holder->child >= graph)
		return;
	for (at = holder->child; trace->graphs[at].next_held;)
		at = trace->graphs[at].next_held - 1;
	trace->graphs[at].next_held = graph + 1;
}

/* Whether GRAPH is a body of a conditional node, or inside one. */
static bool is_body(const struct trace *trace, uint32_t graph)
{
	for (int depth = 0; depth < NESTED_MOST; depth++) {
		const struct trace_graph *row = &trace->graphs[graph];
		uint32_t parent = row->parent;

		if (parent == TRACE_NONE || row->parent_node >= trace->graphs[parent].node_count)
			return false;
		if (trace->nodes[trace->graphs[parent].node_first + row->parent_node].type ==
		    RECORD_NODE_CONDITIONAL)
			return true;
		graph = parent;
	}
	return false;
}

/* Call when graphs, nodes and edges are loaded: sets parents, and checks whether each graph has the
 * nodes and edges that it announced. */
static void complete_graphs(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;

	for (uint32_t i = 0; i < input->graphs_count; i++) {
		const struct input_graph *graph = &input->graphs[i];
		uint32_t at = load_find_graph(load, graph->id);
		struct expect_graph *expect;
		struct trace_graph *row;

		if (at == TRACE_NONE)
			continue;
		row = &load->trace->graphs[at];
		row->parent = load_find_graph(load, graph->parent_id);
		expect = &load->expects[at - load->first.graphs];
		expect->lacks_nodes = row->node_count < graph->node_count;
		expect->unknown |= graph->is_partial || row->node_count != graph->node_count ||
				   row->edge_count != graph->edge_count;
	}
	for (uint32_t i = load->first.graphs; i < load->trace->graphs_count; i++) {
		link_held(load->trace, i);
		load->trace->graphs[i].is_body = is_body(load->trace, i);
	}
}

/* Adds execs by id: those that have a record, and those that were only launched because their
 * record was dropped. */
static int load_execs(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;
	uint64_t room = (uint64_t)input->execs_count + input->launches_count;
	struct trace_exec *rows = trace_extend(load->trace, execs, room);
	uint32_t used = 0, exec = 0, launch = 0;

	if (!rows)
		return -ENOMEM;
	while (exec < input->execs_count || launch < input->launches_count) {
		bool is_announced = launch == input->launches_count ||
				    (exec < input->execs_count &&
				     input->execs[exec].id <= input->launches[launch].exec_id);
		uint64_t id =
			is_announced ? input->execs[exec].id : input->launches[launch].exec_id;
		uint64_t graph_id = is_announced ? input->execs[exec].graph_id : 0;
		bool frees_on_launch = is_announced && input->execs[exec].frees_on_launch;

		exec += is_announced;
		launch += !is_announced;
		if (used && rows[used - 1].id == id)
			continue;
		rows[used++] = (struct trace_exec){
			.process = load->process,
			.id = id,
			.graph = load_find_graph(load, graph_id),
			.frees_on_launch = frees_on_launch,
		};
	}
	load->trace->execs_count -= (uint32_t)room - used;
	return 0;
}

static int load_launches(struct process_load *load)
{
	const struct graph_input *input = &load->graph_input;
	struct trace *trace = load->trace;
	struct trace_launch *rows = trace_extend(trace, launches, input->launches_count);

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->launches_count; i++) {
		const struct input_launch *launch = &input->launches[i];
		uint32_t call = load_find_call(load, launch->cid);

		rows[i] = (struct trace_launch){
			.process = load->process,
			/* load_execs made one for every launch */
			.exec = load_find_exec(load, launch->exec_id),
			.replay = launch->replay,
			.call = call,
			.stream = call == TRACE_NONE ? TRACE_NONE : trace->calls[call].stream,
			.activities_expected = TRACE_NONE,
		};
		trace->execs[rows[i].exec].launch_count++;
		if (call != TRACE_NONE)
			trace->calls[call].launch = load->first.launches + i;
	}
	return 0;
}

int graphs_load(struct process_load *load)
{
	int err = number_launches(load);

	if (err == 0)
		err = sort_all(&load->graph_input);
	if (err == 0)
		err = load_graphs(load);
	if (err == 0)
		err = load_nodes(load);
	if (err == 0)
		err = load_edges(load);
	if (err == 0)
		complete_graphs(load);
	if (err == 0)
		err = load_execs(load);
	if (err == 0)
		err = load_launches(load);
	graph_input_release_graphs(&load->graph_input);
	return err;
}
