/* One-dimensional copies as calls describe them. Any thread. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_COPY_H
#define DAGTAP_CAPTURE_HIP_GRAPH_COPY_H

#include <stdbool.h>
#include <stdint.h>

struct graph_copy {
	uint64_t dst, src, bytes; /* addresses */
	uint32_t kind;		  /* enum hipMemcpyKind */
};

/* Returns whether the call FUNCTION describes a one-dimensional copy (hipMemcpyAsync,
 * hipGraphAddMemcpyNode1D, ...), and sets RET_COPY from its arguments ARGS. */
bool graph_copy_of_call(uint32_t function, const uint64_t *args, struct graph_copy *ret_copy);

#endif
