/* The tables of graphs: nodes, graphs, their edges, and launches. */
#include "format/tables/table_cells.h"

#define ROW_TYPE trace_node

static bool node_counts_blocks(struct table_reader *reader, const struct trace_node *node)
{
	uint32_t process = reader->trace->graphs[node->graph].process;

	if (reader->graph_process != process) {
		reader->graph_process = process;
		reader->graph_in_blocks = words_process_counts_blocks(reader->trace, process);
	}
	return reader->graph_in_blocks;
}

/* FIELD is an offset in struct trace_graph. */
TABLE_READ(node_graph_pid)
{
	const struct trace_node *node = row;

	return cell_pid(reader, &reader->trace->graphs[node->graph], field);
}

TABLE_READ(node_parent_graph)
{
	const struct trace_node *node = row;

	return cell_graph(reader, &reader->trace->graphs[node->graph], field);
}

TABLE_READ(node_name)
{
	const struct trace_node *node = row;

	return node->type == RECORD_NODE_KERNEL ? cell_of(node->name) : CELL_UNKNOWN;
}

/* FIELD is the dimension. */
TABLE_READ(node_grid)
{
	const struct trace_node *node = row;

	if (node_counts_blocks(reader, node))
		return cell_of_known(words_blocks(node->grid[field], node->workgroup[field]));
	return cell_of_known(node->grid[field]);
}

TABLE_READ(node_grid_unit)
{
	const struct trace_node *node = row;

	return node->grid[0] ? cell_of(node_counts_blocks(reader, node)) : CELL_UNKNOWN;
}

static TABLE_TEXT_OF(text_node_type)
{
	return words_node_type((enum record_node_type)number);
}

static const struct table_column graph_nodes_columns[] = {
	COLUMN("process", NULL, UINT32, node_graph_pid, offsetof(struct trace_graph, process)),
	COLUMN("graph", NULL, UINT64, cell_graph, FIELD(graph)),
	COLUMN("parent_graph", NULL, UINT64, node_parent_graph,
	       offsetof(struct trace_graph, parent)),
	COLUMN("node", NULL, UINT32, cell_u32, FIELD(index)),
	NAME_COLUMN("type", cell_word, FIELD(type), text_node_type),
	NAME_COLUMN("name", node_name, 0, text_string),
	COLUMN("grid_x", "grid_unit", UINT64, node_grid, 0),
	COLUMN("grid_y", "grid_unit", UINT64, node_grid, 1),
	COLUMN("grid_z", "grid_unit", UINT64, node_grid, 2),
	COLUMN("workgroup_x", "work-items", UINT32, cell_u32_known, FIELD(workgroup[0])),
	COLUMN("workgroup_y", "work-items", UINT32, cell_u32_known, FIELD(workgroup[1])),
	COLUMN("workgroup_z", "work-items", UINT32, cell_u32_known, FIELD(workgroup[2])),
	COLUMN("bytes", "bytes", UINT64, cell_u64_known, FIELD(bytes)),
	NAME_COLUMN("direction", cell_word, FIELD(direction), text_direction),
	SCOPE_COLUMN("scope", cell_scope, FIELD(scope), text_scope),
	COLUMN("scope_id", NULL, UINT64, cell_scope_id, FIELD(scope)),
	COLUMN("child_graph", NULL, UINT64, cell_graph, FIELD(child)),
	NAME_COLUMN("grid_unit", node_grid_unit, 0, text_grid_unit),
};

TABLE_OF_ARRAY(graph_nodes, graph_nodes_columns, nodes);

#undef ROW_TYPE
#define ROW_TYPE trace_graph

static const struct table_column graphs_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	COLUMN("graph", NULL, UINT64, cell_u64, FIELD(id)),
	COLUMN("parent_graph", NULL, UINT64, cell_graph, FIELD(parent)),
	COLUMN("nodes", "rows", UINT32, cell_u32, FIELD(node_count)),
	COLUMN("edges", "rows", UINT32, cell_u32, FIELD(edge_count)),
};

TABLE_OF_ARRAY(graphs, graphs_columns, graphs);

#undef ROW_TYPE
#define ROW_TYPE trace_edge

/* The graph of an edge; both its nodes are in it. */
static const struct trace_graph *edge_graph(const struct table_reader *reader, const void *row)
{
	const struct trace_edge *edge = row;

	return &reader->trace->graphs[reader->trace->nodes[edge->from].graph];
}

TABLE_READ(edge_pid)
{
	return cell_pid(reader, edge_graph(reader, row), offsetof(struct trace_graph, process));
}

TABLE_READ(edge_graph_id)
{
	return cell_of(edge_graph(reader, row)->id);
}

static TABLE_TEXT_OF(text_edge_type)
{
	return number == RECORD_EDGE_PROGRAMMATIC ? "programmatic" : "plain";
}

static const struct table_column graph_edges_columns[] = {
	COLUMN("process", NULL, UINT32, edge_pid, 0),
	COLUMN("graph", NULL, UINT64, edge_graph_id, 0),
	COLUMN("from_node", NULL, UINT32, cell_node, FIELD(from)),
	COLUMN("to_node", NULL, UINT32, cell_node, FIELD(to)),
	NAME_COLUMN("type", cell_word, FIELD(type), text_edge_type),
};

TABLE_OF_ARRAY(graph_edges, graph_edges_columns, edges);

#undef ROW_TYPE
#define ROW_TYPE trace_launch

static const struct trace_exec *exec_of(const struct table_reader *reader, const void *row)
{
	return &reader->trace->execs[((const struct trace_launch *)row)->exec];
}

TABLE_READ(launch_exec)
{
	return cell_of(exec_of(reader, row)->id);
}

TABLE_READ(launch_graph)
{
	return cell_graph(reader, exec_of(reader, row), offsetof(struct trace_exec, graph));
}

static const struct table_column launches_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	COLUMN("exec", NULL, UINT64, launch_exec, 0),
	COLUMN("replay", NULL, UINT64, cell_u64, FIELD(replay)),
	COLUMN("graph", NULL, UINT64, launch_graph, 0),
	COLUMN("cid", NULL, UINT64, cell_cid, FIELD(call)),
	COLUMN("stream", NULL, UINT32, cell_stream, FIELD(stream)),
	COLUMN("activities", "rows", UINT32, cell_u32, FIELD(activity_count)),
	COLUMN("activities_expected", "rows", UINT32, cell_u32_counted, FIELD(activities_expected)),
	COLUMN("exact", NULL, BOOL, cell_bool, FIELD(exact)),
};

TABLE_OF_ARRAY(launches, launches_columns, launches);
