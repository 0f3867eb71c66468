/* Inside trace/ledger/: finds the graph launches that certainly ended on the GPU before the
 * recording ended. CUPTI reports activities that have ended. Of a launch that was still running
 * when the program stopped the recording or exited, CUPTI reports some activities or none.
 *
 * A launch has certainly ended if something after it on the GPU has ended: a later launch of the
 * same exec, later work of its stream, or a wait of the host for the stream or the device. */
#ifndef DAGTAP_TRACE_CUDA_ENDS_H
#define DAGTAP_TRACE_CUDA_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct process_load;
struct trace_launch;

struct cuda_ends {
	/* By exec, from first.execs: launches with a smaller replay number ended. */
	uint64_t *replays;
	/* By stream row: launches ended whose call returned before this host ns. */
	int64_t *streams;
	int64_t device_ns; /* the same for the launches of every stream */
};

/* Fills RET from the launches, calls and waits of the process. The caller releases it. 0, or
 * -ENOMEM with RET released. */
int cuda_ends_find(const struct process_load *load, struct cuda_ends *ret);

/* Whether LAUNCH has certainly ended. Its exec and its call must be known. */
bool cuda_ends_cover(const struct cuda_ends *ends, const struct process_load *load,
		     const struct trace_launch *launch);

/* Frees what cuda_ends_find filled; a zeroed struct is fine. */
void cuda_ends_release(struct cuda_ends *ends);

#endif
