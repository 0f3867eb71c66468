/* The stage of graphs: graphs as they were instantiated, their nodes and edges, the executable
 * graphs made of them, and their launches. */
#include <errno.h>
#include <stdlib.h>

#include "trace/expect.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

/* by_id() reads the id at the same place in all of these: behind the header. */
_Static_assert(offsetof(struct record_graph, graph_id) == 8, "graph id");
_Static_assert(offsetof(struct record_graph_node, graph_id) == 8, "graph id");
_Static_assert(offsetof(struct record_graph_edge, graph_id) == 8, "graph id");
_Static_assert(offsetof(struct record_graph_exec, exec_id) == 8, "exec id");
_Static_assert(offsetof(struct record_graph_launch, exec_id) == 8, "exec id");

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

static uint64_t by_id(const struct raw *row)
{
	return ((const struct record_graph *)row->record)->graph_id;
}

static uint64_t by_tag(const struct raw *row)
{
	return ((const struct record_header *)row->record)->tag;
}

static uint64_t by_replay(const struct raw *row)
{
	return ((const struct record_graph_launch *)row->record)->replay;
}

static uint64_t by_node_handle(const struct raw *row)
{
	return ((const struct record_node_recorded *)row->record)->node;
}

static uint64_t by_node_ns(const struct raw *row)
{
	return ((const struct record_node_recorded *)row->record)->ns;
}

static int sort_all(struct process_load *load)
{
	struct raw_list *lists = load->lists;

	if (raw_sort(&lists[RECORD_GRAPH], by_id) < 0 ||
	    raw_sort(&lists[RECORD_GRAPH_NODE], by_tag) < 0 ||
	    raw_sort(&lists[RECORD_GRAPH_NODE], by_id) < 0 ||
	    raw_sort(&lists[RECORD_GRAPH_EDGE], by_id) < 0 ||
	    raw_sort(&lists[RECORD_GRAPH_EXEC], by_id) < 0 ||
	    raw_sort(&lists[RECORD_GRAPH_LAUNCH], by_replay) < 0 ||
	    raw_sort(&lists[RECORD_GRAPH_LAUNCH], by_id) < 0 ||
	    raw_sort(&lists[RECORD_NODE_RECORDED], by_node_ns) < 0 ||
	    raw_sort(&lists[RECORD_NODE_RECORDED], by_node_handle) < 0)
		return -ENOMEM;
	return 0;
}

/* The scope that was open when the node with HANDLE was added. Handles are reused, so the last
 * record before the graph was instantiated, at NS, counts. */
static uint32_t node_scope(const struct process_load *load, uint64_t handle, uint64_t ns)
{
	const struct raw_list *list = &load->lists[RECORD_NODE_RECORDED];

	for (int64_t at = raw_find(list, handle, by_node_handle); at >= 0; at--) {
		const struct record_node_recorded *record = list->rows[at].record;

		if (record->node != handle)
			break;
		if (record->ns <= ns)
			return load_find_scope(load, record->scope);
	}
	return TRACE_NONE;
}

static enum trace_copy_direction node_direction(const struct record_graph_node *record)
{
	static const enum trace_copy_direction by_kind[] = {TRACE_H2H, TRACE_H2D, TRACE_D2H,
							    TRACE_D2D};

	if (record->type != RECORD_NODE_MEMCPY || record->copy_kind >= 4)
		return TRACE_COPY_UNKNOWN;
	return by_kind[record->copy_kind];
}

static enum record_node_type node_type(const struct record_graph_node *record)
{
	return record->type < RECORD_NODE_OTHER || record->type == RECORD_NODE_CONDITIONAL
		       ? record->type
		       : RECORD_NODE_OTHER;
}

static trace_string node_name(struct process_load *load, const struct record_graph_node *record)
{
	trace_string name = 0;

	if (record->type == RECORD_NODE_KERNEL)
		name = load_function_name(load, record->function, record->ns);
	if (name)
		return name;
	return strtab_intern_z(load->strings, type_texts[node_type(record)]);
}

static struct trace_node node_row(struct process_load *load, uint32_t graph,
				  const struct record_graph_node *record)
{
	struct trace_node row = {
		.graph = graph,
		.index = record->header.tag,
		.type = node_type(record),
		.name = node_name(load, record),
		.handle = record->handle,
		.bytes = record->bytes,
		.direction = node_direction(record),
		.scope = node_scope(load, record->handle, record->ns),
		.child = load_find_graph(load, record->child_graph_id),
		.pieces = 1,
	};

	if (record->type == RECORD_NODE_EVENT_RECORD || record->type == RECORD_NODE_EVENT_WAIT)
		row.event = record->event;
	if (record->type == RECORD_NODE_MEMSET)
		row.pieces = expect_fill_pieces(record->dst, record->bytes, record->height);

	for (int i = 0; i < 3; i++) {
		row.grid[i] = (uint64_t)record->grid[i] * record->block[i];
		row.workgroup[i] = record->block[i];
	}
	return row;
}

/* Nodes whose graph is not in the recording are left out. */
static int load_nodes(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_GRAPH_NODE];
	struct trace_node *rows = trace_extend(load->trace, nodes, list->count);
	uint32_t used = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_graph_node *record = list->rows[i].record;
		uint32_t graph = load_find_graph(load, record->graph_id);
		struct trace_graph *row;

		if (graph == TRACE_NONE)
			continue;
		row = &load->trace->graphs[graph];
		if (record->header.tag != row->node_count) {
			load->expects[graph - load->first.graphs].unknown = true;
			continue;
		}
		if (row->node_count++ == 0)
			row->node_first = load->first.nodes + used;
		rows[used++] = node_row(load, graph, record);
	}
	load->trace->nodes_count -= list->count - used;
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
static int load_graph_edges(struct process_load *load, uint32_t graph, const struct raw *rows,
			    uint32_t count)
{
	struct trace_graph *row = &load->trace->graphs[graph];
	struct expect_graph *expect = &load->expects[graph - load->first.graphs];
	struct trace_edge *edges = trace_extend(load->trace, edges, count);
	uint32_t used = 0;

	expect->edges = calloc((size_t)count + 1, sizeof(*expect->edges));
	if (!edges || !expect->edges)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct record_graph_edge *record = rows[i].record;

		if (record->from >= row->node_count || record->to >= row->node_count) {
			expect->unknown = true;
			continue;
		}
		expect->edges[used] = (struct expect_edge){record->from, record->to};
		edges[used++] = (struct trace_edge){
			row->node_first + record->from, row->node_first + record->to,
			record->header.tag == RECORD_EDGE_PROGRAMMATIC ? RECORD_EDGE_PROGRAMMATIC
								       : RECORD_EDGE_PLAIN};
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
	const struct raw_list *list = &load->lists[RECORD_GRAPH_EDGE];
	uint32_t start = 0;

	while (start < list->count) {
		uint64_t id = by_id(&list->rows[start]);
		uint32_t stop = start + 1;
		uint32_t graph = load_find_graph(load, id);

		while (stop < list->count && by_id(&list->rows[stop]) == id)
			stop++;
		if (graph != TRACE_NONE &&
		    load_graph_edges(load, graph, &list->rows[start], stop - start) < 0)
			return -ENOMEM;
		start = stop;
	}
	return 0;
}

static int load_graphs(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_GRAPH];
	struct trace_graph *rows = trace_extend(load->trace, graphs, list->count);
	uint32_t used = 0;

	load->expects = calloc((size_t)list->count + 1, sizeof(*load->expects));
	if (!rows || !load->expects)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_graph *record = list->rows[i].record;

		if (record->graph_id == 0 || (used && rows[used - 1].id == record->graph_id))
			continue;
		rows[used++] = (struct trace_graph){
			.process = load->process,
			.id = record->graph_id,
			.node_first = load->trace->nodes_count,
			.edge_first = load->trace->edges_count,
			.parent = TRACE_NONE,
			.parent_node = record->parent_node,
		};
	}
	load->trace->graphs_count -= list->count - used;
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

/* Call when graphs, nodes and edges are loaded: sets parents, and checks whether each graph has the
 * nodes and edges that it announced. */
static void complete_graphs(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_GRAPH];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_graph *record = list->rows[i].record;
		uint32_t graph = load_find_graph(load, record->graph_id);
		struct trace_graph *row;

		if (graph == TRACE_NONE)
			continue;
		row = &load->trace->graphs[graph];
		row->parent = load_find_graph(load, record->parent_graph_id);
		load->expects[graph - load->first.graphs].lacks_nodes =
			row->node_count < record->node_count;
		if (row->node_count != record->node_count || row->edge_count != record->edge_count)
			load->expects[graph - load->first.graphs].unknown = true;
	}
	for (uint32_t i = load->first.graphs; i < load->trace->graphs_count; i++)
		link_held(load->trace, i);
}

/* Adds execs by id: those that have a record, and those that were only launched because their
 * record was dropped. */
static int load_execs(struct process_load *load)
{
	const struct raw_list *execs = &load->lists[RECORD_GRAPH_EXEC];
	const struct raw_list *launches = &load->lists[RECORD_GRAPH_LAUNCH];
	uint64_t room = (uint64_t)execs->count + launches->count;
	struct trace_exec *rows = trace_extend(load->trace, execs, room);
	uint32_t used = 0, exec = 0, launch = 0;

	if (!rows)
		return -ENOMEM;
	while (exec < execs->count || launch < launches->count) {
		bool is_announced = launch == launches->count ||
				    (exec < execs->count &&
				     by_id(&execs->rows[exec]) <= by_id(&launches->rows[launch]));
		const struct raw *raw =
			is_announced ? &execs->rows[exec++] : &launches->rows[launch++];
		const struct record_graph_exec *record = is_announced ? raw->record : NULL;

		if (used && rows[used - 1].id == by_id(raw))
			continue;
		rows[used++] = (struct trace_exec){
			.process = load->process,
			.id = by_id(raw),
			.graph = record ? load_find_graph(load, record->graph_id) : TRACE_NONE,
		};
	}
	load->trace->execs_count -= (uint32_t)room - used;
	return 0;
}

static int load_launches(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_GRAPH_LAUNCH];
	struct trace *trace = load->trace;
	struct trace_launch *rows = trace_extend(trace, launches, list->count);

	load->launch_cids = calloc((size_t)list->count + 1, sizeof(*load->launch_cids));
	if (!rows || !load->launch_cids)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_graph_launch *record = list->rows[i].record;
		uint32_t call = load_find_call(load, record->cid);

		rows[i] = (struct trace_launch){
			.process = load->process,
			/* load_execs made one for every launch */
			.exec = load_find_exec(load, record->exec_id),
			.replay = record->replay,
			.call = call,
			.stream = call == TRACE_NONE ? TRACE_NONE : trace->calls[call].stream,
			.activities_expected = TRACE_NONE,
		};
		load->launch_cids[i] = record->cid;
		trace->execs[rows[i].exec].launch_count++;
		if (call != TRACE_NONE)
			trace->calls[call].launch = load->first.launches + i;
	}
	return 0;
}

int graphs_load(struct process_load *load)
{
	int err = sort_all(load);

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
	return err == 0 ? load_launches(load) : err;
}
