/* Graphs, nodes and launches, added when their ids are first seen. */
#include "format/read_graphs.h"

#include <errno.h>
#include <string.h>

#include "format/row_order.h"
#include "format/words.h"
#include "trace/create.h"
#include "trace/row_table.h"

int64_t read_graph(struct trace *trace, struct numbers *graphs, uint32_t process, uint64_t id)
{
	uint32_t known = graphs->count;
	uint32_t number = numbers_get(graphs, process, id);
	struct trace_graph *row;

	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	row = trace_add(trace, graphs);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_graph){
		.process = process,
		.id = id,
		.parent = TRACE_NONE,
		.parent_node = TRACE_NONE,
	};
	return number;
}

static enum record_node_type node_type(enum trace_activity_kind kind)
{
	if (kind == TRACE_COPY)
		return RECORD_NODE_MEMCPY;
	return kind == TRACE_MEMSET ? RECORD_NODE_MEMSET : RECORD_NODE_KERNEL;
}

int64_t read_graph_node(struct trace *trace, struct numbers *nodes, uint32_t graph, uint64_t id,
			uint32_t work)
{
	const struct trace_work *what = &trace->works[work];
	enum record_node_type type = node_type(what->kind);
	uint32_t known = nodes->count;
	uint32_t number = numbers_get(nodes, graph, id);
	struct trace_node *row;

	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	row = trace_add(trace, nodes);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_node){
		.graph = graph,
		.type = type,
		.name = type == RECORD_NODE_KERNEL
				? what->name
				: strtab_intern_z(trace_strings(trace), words_node_type(type)),
		.handle = id,
		.bytes = what->bytes,
		.direction = what->direction,
		.scope = TRACE_NONE,
		.child = TRACE_NONE,
		.pieces = 1,
	};
	memcpy(row->grid, what->grid, sizeof(row->grid));
	memcpy(row->workgroup, what->workgroup, sizeof(row->workgroup));
	return number;
}

int64_t read_graph_launch(struct trace *trace, struct numbers *launches, uint32_t exec,
			  uint64_t cid)
{
	uint32_t known = launches->count;
	uint32_t number = numbers_get(launches, exec, cid);
	struct trace_launch *row;

	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	row = trace_add(trace, launches);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_launch){
		.process = trace->execs[exec].process,
		.exec = exec,
		.replay = ORDER_NO_REPLAY,
		.call = TRACE_NONE,
		.stream = TRACE_NONE,
		.activities_expected = TRACE_NONE,
	};
	return number;
}
