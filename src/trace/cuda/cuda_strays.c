/* Makes graphs of execs whose making was not recorded ("strays"; the glossary calls them unseen
 * graphs): only activities name such an exec and its nodes. */
#include <errno.h>
#include <stdlib.h>

#include "trace/cuda/cuda.h"
#include "trace/cuda/cuda_graphs.h"
#include "trace/process.h"

struct stray {
	uint32_t exec; /* CUPTI's id */
	uint32_t node; /* rank */
	uint8_t kind;  /* enum trace_activity_kind */
};

static int compare_strays(const void *left, const void *right)
{
	const struct stray *a = left, *b = right;

	if (a->exec != b->exec)
		return a->exec < b->exec ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int learn_execs(const struct process_load *load, struct idset *execs)
{
	const struct raw_list *list = &load->lists[RECORD_GRAPH_EXEC];
	int result = 0;

	for (uint32_t i = 0; i < list->count && result == 0; i++)
		result = idset_add(
			execs, ((const struct record_graph_exec *)list->rows[i].record)->exec_id);
	return result < 0 ? result : idset_finish(execs);
}

/* Collects each node that activities of unknown execs name, once, sorted by exec. Uses
 * cuda_node.index as a mark of nodes that were collected. Returns the count. */
static uint32_t collect_strays(struct process_load *load, const struct idset *execs,
			       struct stray *ret_strays)
{
	const struct trace *trace = load->trace;
	uint32_t count = 0;

	for (uint32_t i = load->first.activities; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t node;

		/* Skip rows that name no exec, or an exec that is known. */
		if (row->confidence != TRACE_CONFIDENCE_UNKNOWN || !row->queue ||
		    idset_find(execs, row->queue) != UINT32_MAX)
			continue;
		node = cuda_node_rank(&load->cuda, row->id);
		if (node == TRACE_NONE || load->cuda.nodes[node].index == UINT32_MAX)
			continue;
		load->cuda.nodes[node].index = UINT32_MAX;
		ret_strays[count++] =
			(struct stray){row->queue, node, trace_op_of(trace, row)->kind};
	}
	qsort(ret_strays, count, sizeof(*ret_strays), compare_strays);
	return count;
}

static int put_stray(struct process_load *load, uint64_t graph_id, const struct stray *stray,
		     uint32_t index)
{
	struct record_graph_node record = {
		.graph_id = graph_id,
		.handle = load->cuda.nodes[stray->node].id,
		.type = cuda_node_type_of(stray->kind),
		.copy_kind = RECORD_COPY_KIND_UNKNOWN,
	};

	return cuda_put_record(load, RECORD_GRAPH_NODE, index, &record, sizeof(record));
}

static int put_strays(struct process_load *load, uint64_t graph_id, const struct stray *strays,
		      uint32_t count)
{
	struct record_graph graph = {
		.graph_id = graph_id,
		.node_count = count,
		.edge_count = CUDA_EDGES_UNKNOWN,
	};
	struct record_graph_exec exec = {.exec_id = strays->exec, .graph_id = graph_id};
	int result = 0;

	for (uint32_t i = 0; i < count && result == 0; i++)
		result = put_stray(load, graph_id, &strays[i], i);
	if (result == 0)
		result = cuda_put_record(load, RECORD_GRAPH, 0, &graph, sizeof(graph));
	return result < 0 ? result
			  : cuda_put_record(load, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
}

static int put_all_strays(struct process_load *load, uint64_t *last_graph_id,
			  const struct stray *strays, uint32_t count)
{
	uint32_t first = 0;
	int result = 0;

	for (uint32_t i = 1; i <= count && result == 0; i++) {
		if (i < count && strays[i].exec == strays[first].exec)
			continue;
		result = put_strays(load, ++*last_graph_id, &strays[first], i - first);
		first = i;
	}
	return result;
}

int cuda_add_strays(struct process_load *load, uint64_t *last_graph_id)
{
	uint32_t node_count = load->cuda.node_ids.count;
	struct stray *strays = calloc((size_t)node_count + 1, sizeof(*strays));
	struct idset execs = {0};
	int result = strays ? learn_execs(load, &execs) : -ENOMEM;

	for (uint32_t i = 0; i < node_count; i++)
		load->cuda.nodes[i].index = 0;
	if (result == 0)
		result = put_all_strays(load, last_graph_id, strays,
					collect_strays(load, &execs, strays));
	idset_release(&execs);
	free(strays);
	return result;
}
