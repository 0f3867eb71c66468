/* Inside trace/: finds the launch of an activity of a conditional node's body by time, when CUPTI
 * reports its exec and node, but no call (H200, CUDA 13.0). Launches of one exec run one after the
 * other: all nodes of a launch have ended before the nodes of the next launch begin. So the time of
 * an activity identifies its launch. */
#ifndef DAGTAP_TRACE_CUDA_BODY_LAUNCHES_H
#define DAGTAP_TRACE_CUDA_BODY_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

struct process_load;
struct body_span;
struct body_exec;
struct device_wait;

struct body_launches {
	struct process_load *load;
	struct body_span *spans; /* by launch, from first.launches */
	struct body_exec *execs; /* by exec, from first.execs */
	/* By node, from first.nodes: it has an edge to it, from it. */
	bool *is_after, *is_before;
	struct device_wait *waits; /* sorted by begin */
	uint32_t waits_count;
};

/* Learns the times of all launches of LOAD, whose activities have their calls. Returns 0 or
 * -ENOMEM; release it in either case. */
int body_launches_init(struct body_launches *launches, struct process_load *load);
void body_launches_release(struct body_launches *launches);

/* Index into trace.launches of the launch of EXEC that ran NODE, which is in a body, at NS, in host
 * ns; or TRACE_NONE. */
uint32_t body_launches_find(const struct body_launches *launches, uint32_t exec, uint32_t node,
			    int64_t ns);

#endif
