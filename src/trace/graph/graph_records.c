/* The stage of graph records: fills the input of graphs (graph_input.h) from HIP's records of
 * graphs, nodes, edges, execs and updates, and from both vendors' records of launches. */
#include <errno.h>

#include "trace/graph/expect.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

static uint64_t by_node_handle(const struct raw *row)
{
	return ((const struct record_node_recorded *)row->record)->node;
}

static uint64_t by_node_ns(const struct raw *row)
{
	return ((const struct record_node_recorded *)row->record)->ns;
}

/* The scope that was open when the node with HANDLE was added. Handles are reused, so the last
 * record before the graph was instantiated, at NS, counts. */
static uint32_t node_scope(const struct process_load *load, uint64_t handle, uint64_t ns)
{
	const struct raw_list *list = &load->raw.lists[RECORD_NODE_RECORDED];

	for (int64_t at = raw_find(list, handle, by_node_handle); at >= 0; at--) {
		const struct record_node_recorded *record = list->rows[at].record;

		if (record->node != handle)
			break;
		if (record->ns <= ns)
			return load_find_scope(load, record->scope);
	}
	return TRACE_NONE;
}

static uint8_t node_direction(const struct record_graph_node *record)
{
	static const enum trace_copy_direction by_kind[] = {TRACE_H2H, TRACE_H2D, TRACE_D2H,
							    TRACE_D2D};

	if (record->type != RECORD_NODE_MEMCPY || record->copy_kind >= 4)
		return TRACE_COPY_UNKNOWN;
	return (uint8_t)by_kind[record->copy_kind];
}

static struct node_signature node_signature(struct process_load *load,
					    const struct record_graph_node *record)
{
	struct node_signature signature = {.bytes = record->bytes, .pieces = 1};

	if (record->type == RECORD_NODE_MEMSET)
		signature.pieces = expect_fill_pieces(record->dst, record->bytes, record->height);
	if (record->type != RECORD_NODE_KERNEL)
		return signature;
	signature.name = load_function_name(load, record->function, record->ns);
	for (int axis = 0; axis < 3; axis++) {
		signature.grid[axis] = (uint64_t)record->grid[axis] * record->block[axis];
		signature.workgroup[axis] = record->block[axis];
	}
	return signature;
}

static uint64_t node_event(const struct record_graph_node *record)
{
	return record->type == RECORD_NODE_EVENT_RECORD || record->type == RECORD_NODE_EVENT_WAIT
		       ? record->event
		       : 0;
}

static bool is_about_memory(const struct record_graph_node *record)
{
	return record->type == RECORD_NODE_MEM_ALLOC || record->type == RECORD_NODE_MEM_FREE;
}

static int add_graph(struct process_load *load, const void *at)
{
	const struct record_graph *record = at;
	struct input_graph *row = trace_add(&load->graph_input, graphs);

	if (!row)
		return -ENOMEM;
	*row = (struct input_graph){
		.id = record->graph_id,
		.parent_id = record->parent_graph_id,
		.parent_node = (uint32_t)record->parent_node,
		.node_count = record->node_count,
		.edge_count = record->edge_count,
	};
	return 0;
}

static int add_node(struct process_load *load, const void *at)
{
	const struct record_graph_node *record = at;
	struct input_node *row = trace_add(&load->graph_input, nodes);

	if (!row)
		return -ENOMEM;
	*row = (struct input_node){
		.graph_id = record->graph_id,
		.handle = record->handle,
		.child_id = record->child_graph_id,
		.event = node_event(record),
		.address = is_about_memory(record) ? record->dst : 0,
		.agent = record->type == RECORD_NODE_MEM_ALLOC ? record->agent : 0,
		.signature = node_signature(load, record),
		.index = record->header.tag,
		.scope = node_scope(load, record->handle, record->ns),
		.type = input_node_type(record->type),
		.direction = node_direction(record),
	};
	return 0;
}

static int add_edge(struct process_load *load, const void *at)
{
	const struct record_graph_edge *record = at;
	struct input_edge *row = trace_add(&load->graph_input, edges);

	if (!row)
		return -ENOMEM;
	*row = (struct input_edge){
		.graph_id = record->graph_id,
		.from = record->from,
		.to = record->to,
		.type = record->header.tag == RECORD_EDGE_PROGRAMMATIC ? RECORD_EDGE_PROGRAMMATIC
								       : RECORD_EDGE_PLAIN,
	};
	return 0;
}

static int add_exec(struct process_load *load, const void *at)
{
	const struct record_graph_exec *record = at;
	struct input_exec *row = trace_add(&load->graph_input, execs);

	if (!row)
		return -ENOMEM;
	*row = (struct input_exec){
		.id = record->exec_id,
		.graph_id = record->graph_id,
		.handle = record->handle,
		.cid = record->cid,
		.frees_on_launch = record->header.tag == RECORD_GRAPH_EXEC_FREES_ON_LAUNCH,
	};
	return 0;
}

static int add_launch(struct process_load *load, const void *at)
{
	const struct record_graph_launch *record = at;
	struct input_launch *row = trace_add(&load->graph_input, launches);

	if (!row)
		return -ENOMEM;
	*row = (struct input_launch){record->exec_id, record->replay, record->cid};
	return 0;
}

/* In an update, the record's graph is the exec, and its child graph the graph of the node. */
static int add_update(struct process_load *load, const void *at)
{
	const struct record_graph_node *record = at;
	struct input_update *row = trace_add(&load->graph_input, updates);

	if (!row)
		return -ENOMEM;
	*row = (struct input_update){
		.exec_id = record->graph_id,
		.cid = record->cid,
		.graph_id = record->child_graph_id,
		.handle = record->handle,
		.event = node_event(record),
		.signature = node_signature(load, record),
		.index = record->header.tag,
		.type = input_node_type(record->type),
	};
	return 0;
}

/* Each list is freed when its records are in the input. The records of added nodes stay: they also
 * tell which calls were captured (expect_call.h). */
int graph_records_load(struct process_load *load)
{
	static const struct {
		enum record_type type;
		int (*add)(struct process_load *load, const void *record);
	} readers[] = {
		{RECORD_GRAPH_EXEC_UPDATE, add_update}, {RECORD_GRAPH_LAUNCH, add_launch},
		{RECORD_GRAPH_EXEC, add_exec},		{RECORD_GRAPH, add_graph},
		{RECORD_GRAPH_NODE, add_node},		{RECORD_GRAPH_EDGE, add_edge},
	};
	struct raw_list *recorded = &load->raw.lists[RECORD_NODE_RECORDED];
	int err = raw_sort(recorded, by_node_ns);

	if (err == 0)
		err = raw_sort(recorded, by_node_handle);
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers) && err == 0; i++) {
		struct raw_list *list = &load->raw.lists[readers[i].type];

		for (uint32_t k = 0; k < list->count && err == 0; k++)
			err = readers[i].add(load, list->rows[k].record);
		raw_release(list);
	}
	return err;
}
