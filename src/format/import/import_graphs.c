/* Graphs, nodes, executable graphs and launches. A file does not list them; rows of activities and
 * calls only name their ids (see import.h). */
#include <string.h>

#include "format/import/import.h"
#include "format/words.h"

int64_t import_graph(struct import *import, uint32_t process, uint64_t id)
{
	struct trace_graph *row;
	int64_t index = IMPORT_ROW(import, graphs, process, id, &row);

	if (row) {
		*row = (struct trace_graph){
			.process = process,
			.id = id,
			.parent = TRACE_NONE,
			.parent_node = TRACE_NONE,
		};
	}
	return index;
}

int64_t import_exec(struct import *import, uint32_t process, uint64_t id, uint32_t graph)
{
	struct trace_exec *row;
	int64_t index = IMPORT_ROW(import, execs, process, id, &row);

	if (row)
		*row = (struct trace_exec){.process = process, .id = id, .graph = TRACE_NONE};
	if (index >= 0 && import->trace->execs[index].graph == TRACE_NONE)
		import->trace->execs[index].graph = graph;
	return index;
}

static enum record_node_type node_type(enum trace_activity_kind kind)
{
	if (kind == TRACE_COPY)
		return RECORD_NODE_MEMCPY;
	return kind == TRACE_MEMSET ? RECORD_NODE_MEMSET : RECORD_NODE_KERNEL;
}

int64_t import_node(struct import *import, uint32_t graph, uint64_t id, uint32_t work)
{
	const struct trace_work *what = &import->trace->works[work];
	enum record_node_type type = node_type(what->kind);
	struct trace_node *row;
	int64_t index = IMPORT_ROW(import, nodes, graph, id, &row);

	if (!row)
		return index;
	*row = (struct trace_node){
		.graph = graph,
		.type = type,
		.name = type == RECORD_NODE_KERNEL
				? what->name
				: strtab_intern_z(import->strings, words_node_type(type)),
		.handle = id,
		.bytes = what->bytes,
		.direction = what->direction,
		.scope = TRACE_NONE,
		.child = TRACE_NONE,
		.pieces = 1,
	};
	memcpy(row->grid, what->grid, sizeof(row->grid));
	memcpy(row->workgroup, what->workgroup, sizeof(row->workgroup));
	return index;
}

int64_t import_launch(struct import *import, uint32_t exec, uint64_t cid)
{
	struct trace_launch *row;
	int64_t index = IMPORT_ROW(import, launches, exec, cid, &row);

	if (row) {
		*row = (struct trace_launch){
			.process = import->trace->execs[exec].process,
			.exec = exec,
			.replay = IMPORT_NO_REPLAY,
			.call = TRACE_NONE,
			.stream = TRACE_NONE,
			.activities_expected = TRACE_NONE,
		};
	}
	return index;
}
