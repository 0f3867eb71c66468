/* Inside trace/: which node of a launched graph recorded an event. CUPTI brings the record with the
 * launch's correlation id and the event's number, and says nothing of the node (H200, CUDA
 * 13.0). */
#ifndef DAGTAP_TRACE_CUDA_RECORDERS_H
#define DAGTAP_TRACE_CUDA_RECORDERS_H

#include <stdint.h>

struct process_load;

struct cuda_recorders {
	/* By CUDA_EVENT record: index into trace.nodes, or TRACE_NONE: no node's, or not known
	 * which one's. */
	uint32_t *nodes;
	/* Ids of launches, ascending, whose nodes recorded events of which CUPTI brought none. */
	uint64_t *silent;
	uint32_t silent_count;
};

/* The CUDA_EVENT records come sorted by cid; those of a launch are brought into the order of their
 * nodes. 0 or -ENOMEM; to be released either way. */
int cuda_recorders_find(struct process_load *load, struct cuda_recorders *ret_recorders);
void cuda_recorders_release(struct cuda_recorders *recorders);

#endif
