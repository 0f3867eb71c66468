/* Makes graphs of execs whose making was not recorded ("nodes"; the glossary calls them unseen
 * graphs): only activities name such an exec and its nodes. */
#include <errno.h>
#include <stdlib.h>

#include "trace/graph/cuda_building.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

struct unseen_node {
	uint32_t exec; /* CUPTI's id */
	uint32_t node; /* rank */
	uint8_t kind;  /* enum trace_activity_kind */
};

static int compare_unseen(const void *left, const void *right)
{
	const struct unseen_node *a = left, *b = right;

	if (a->exec != b->exec)
		return a->exec < b->exec ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int learn_execs(const struct process_load *load, struct idset *execs)
{
	const struct graph_input *input = &load->graph_input;
	int err = 0;

	for (uint32_t i = 0; i < input->execs_count && err == 0; i++)
		err = idset_add(execs, input->execs[i].id);
	return err < 0 ? err : idset_finish(execs);
}

/* Collects each node that activities of unknown execs name, once, sorted by exec. Uses
 * cuda_node.index as a mark of nodes that were collected. Returns the count. */
static uint32_t collect_unseen(struct process_load *load, const struct idset *execs,
			       struct unseen_node *ret_nodes)
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
		ret_nodes[count++] =
			(struct unseen_node){row->queue, node, trace_work_of(trace, row)->kind};
	}
	qsort(ret_nodes, count, sizeof(*ret_nodes), compare_unseen);
	return count;
}

static int put_unseen_node(struct process_load *load, uint64_t graph_id,
			   const struct unseen_node *unseen_node, uint32_t index)
{
	struct input_node *row = trace_add(&load->graph_input, nodes);

	if (!row)
		return -ENOMEM;
	*row = (struct input_node){
		.graph_id = graph_id,
		.handle = load->cuda.nodes[unseen_node->node].id,
		.signature.pieces = 1,
		.index = index,
		.scope = TRACE_NONE,
		.type = cuda_node_type_of(unseen_node->kind),
		.direction = TRACE_COPY_UNKNOWN,
	};
	return 0;
}

static int put_unseen_graph(struct process_load *load, uint64_t graph_id,
			    const struct unseen_node *nodes, uint32_t count)
{
	struct input_graph *graph = trace_add(&load->graph_input, graphs);
	struct input_exec *exec = trace_add(&load->graph_input, execs);
	int err = graph && exec ? 0 : -ENOMEM;

	if (err == 0) {
		*graph = (struct input_graph){
			.id = graph_id, .node_count = count, .is_partial = true};
		*exec = (struct input_exec){.id = nodes->exec, .graph_id = graph_id};
	}
	for (uint32_t i = 0; i < count && err == 0; i++)
		err = put_unseen_node(load, graph_id, &nodes[i], i);
	return err;
}

static int put_unseen_graphs(struct process_load *load, uint64_t *last_graph_id,
			     const struct unseen_node *nodes, uint32_t count)
{
	uint32_t first = 0;
	int err = 0;

	for (uint32_t i = 1; i <= count && err == 0; i++) {
		if (i < count && nodes[i].exec == nodes[first].exec)
			continue;
		err = put_unseen_graph(load, ++*last_graph_id, &nodes[first], i - first);
		first = i;
	}
	return err;
}

int cuda_add_unseen_graphs(struct process_load *load, uint64_t *last_graph_id)
{
	uint32_t node_count = load->cuda.node_ids.count;
	struct unseen_node *nodes = calloc((size_t)node_count + 1, sizeof(*nodes));
	struct idset execs = {0};
	int err = nodes ? learn_execs(load, &execs) : -ENOMEM;

	for (uint32_t i = 0; i < node_count; i++)
		load->cuda.nodes[i].index = 0;
	if (err == 0)
		err = put_unseen_graphs(load, last_graph_id, nodes,
					collect_unseen(load, &execs, nodes));
	idset_release(&execs);
	free(nodes);
	return err;
}
