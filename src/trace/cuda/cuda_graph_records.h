/* Inside trace/cuda/: shared by the files that add graph records: cuda_graph_records.c,
 * cuda_snapshots.c and cuda_unseen_graphs.c (graphs that only activities name). */
#ifndef DAGTAP_TRACE_CUDA_GRAPHS_H
#define DAGTAP_TRACE_CUDA_GRAPHS_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/trace_model.h"

struct process_load;

/* As edge_count of a RECORD_GRAPH. The number of edge records never equals it, so graphs.c takes
 * the edges as incomplete. */
#define CUDA_EDGES_UNKNOWN (UINT32_MAX - 1)

/* The type of a node whose activities have this kind. */
static inline enum record_node_type cuda_node_type_of(enum trace_activity_kind kind)
{
	static const enum record_node_type types[] = {[TRACE_KERNEL] = RECORD_NODE_KERNEL,
						      [TRACE_COPY] = RECORD_NODE_MEMCPY,
						      [TRACE_MEMSET] = RECORD_NODE_MEMSET};

	return types[kind];
}

/* Call after all steps. For each exec that only activities name, adds a graph whose nodes are those
 * that the activities name, and the exec. Numbers the graphs after *last_graph_id and updates it. 0
 * or -ENOMEM. */
int cuda_add_unseen_graphs(struct process_load *load, uint64_t *last_graph_id);

#endif
