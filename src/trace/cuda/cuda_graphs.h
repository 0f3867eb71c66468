/* Inside trace/cuda/: the records that graphs become, and those of graphs that show in their activities alone. */
#ifndef DAGTAP_TRACE_CUDA_GRAPHS_H
#define DAGTAP_TRACE_CUDA_GRAPHS_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/model.h"

struct process_load;

#define CUDA_EDGES_UNKNOWN (UINT32_MAX - 1) /* as a count: what graphs.c finds does not match it */

/* Adds a record, whose header it fills, to those of its type. 0 or -ENOMEM. */
int cuda_put_record(struct process_load *load, enum record_type type, uint32_t tag, void *record,
		    size_t bytes);

enum record_node_type cuda_node_type_of(enum trace_activity_kind kind);

/* After all steps: execs of which only activities tell, as graphs of the nodes that these name. 0 or -ENOMEM. */
int cuda_add_strays(struct process_load *load, uint64_t *last_graph_id);

#endif
