/* Inside trace/graph/: finds the node of a launched graph that recorded an event. CUPTI reports
 * such a record with the correlation id of the launch and the number of the event, but without the
 * node (H200, CUDA 13.0). */
#ifndef DAGTAP_TRACE_CUDA_RECORDERS_H
#define DAGTAP_TRACE_CUDA_RECORDERS_H

#include <stdint.h>

struct process_load;

struct cuda_recorders {
	/* By CUDA_EVENT record in list order: index into trace.nodes. TRACE_NONE: no node made the
	 * record, or the node is not known. */
	uint32_t *nodes;
	/* Cids, ascending, of launches whose nodes recorded events although CUPTI reported none of
	 * these records. */
	uint64_t *silent;
	uint32_t silent_count;
};

/* Fills RET_RECORDERS. The list of CUDA_EVENT records must be sorted by cid; the function sorts the
 * records of each launch by their nodes, which dependency_replay.c needs. 0 or -ENOMEM; the caller
 * releases RET_RECORDERS in both cases. */
int cuda_recorders_find(struct process_load *load, struct cuda_recorders *ret_recorders);
void cuda_recorders_release(struct cuda_recorders *recorders);

#endif
