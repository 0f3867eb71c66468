/* What encloses a row of the model: the outermost call or graph around it. At most
 * TRACE_PARENTS_MOST parents are followed. Any thread; a call costs a walk through the parents. */
#ifndef DAGTAP_TRACE_OUTERMOST_H
#define DAGTAP_TRACE_OUTERMOST_H

#include <stdint.h>

#include "trace/trace_model.h"

/* The outermost call of RCCL or NCCL around CALL, which may be CALL itself; TRACE_NONE: none is.
 * CALL may be TRACE_NONE. */
static inline uint32_t trace_outermost_rccl_call(const struct trace *trace, uint32_t call)
{
	uint32_t outermost = TRACE_NONE;

	for (int depth = 0; call != TRACE_NONE && depth < TRACE_PARENTS_MOST; depth++) {
		if (trace_domain_of(trace, &trace->calls[call]) == RECORD_DOMAIN_RCCL)
			outermost = call;
		call = trace->calls[call].parent;
	}
	return outermost;
}

/* The graph that GRAPH is a child graph of, at any depth; GRAPH itself if it is none. */
static inline uint32_t trace_outermost_graph(const struct trace *trace, uint32_t graph)
{
	for (int depth = 0; depth < TRACE_PARENTS_MOST && trace->graphs[graph].parent != TRACE_NONE;
	     depth++)
		graph = trace->graphs[graph].parent;
	return graph;
}

#endif
