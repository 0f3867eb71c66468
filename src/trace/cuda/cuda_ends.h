/* Inside trace/: which graph launches had ended on the GPU when the recording did. CUPTI brings what has ended; of
 * what was still on its way when the program stopped the recording, or ended, it brings nothing, or a part.
 *
 * A launch has ended for certain when something that comes after it on the GPU has: a later launch of the same exec, later work of
 * its stream, a wait of the host for either. */
#ifndef DAGTAP_TRACE_CUDA_ENDS_H
#define DAGTAP_TRACE_CUDA_ENDS_H

#include <stdbool.h>
#include <stdint.h>

struct process_load;
struct trace_launch;

struct cuda_ends {
	uint64_t *replays; /* by exec, from first.execs: those before this one */
	int64_t *streams;  /* by row: calls that returned before this time */
	int64_t device_ns; /* the same, of every stream */
};

/* 0 or -ENOMEM. */
int cuda_ends_find(const struct process_load *load, struct cuda_ends *ret);

bool cuda_ends_cover(const struct cuda_ends *ends, const struct process_load *load,
		     const struct trace_launch *launch);

void cuda_ends_release(struct cuda_ends *ends);

#endif
