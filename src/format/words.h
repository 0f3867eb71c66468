/* Texts for the model's values, the same in every format: kinds, directions, scopes, arguments.
 *
 * Returned texts are constants or belong to the trace, unless a function writes into the caller's
 * buffer. Threading: any thread. */
#ifndef DAGTAP_FORMAT_WORDS_H
#define DAGTAP_FORMAT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_model.h"

/* The name of an enum's value. */
const char *words_kind(enum trace_activity_kind kind);
const char *words_direction(enum trace_copy_direction direction); /* "" if unknown */
const char *words_confidence(enum trace_confidence confidence);	  /* "" outside graphs */
const char *words_untimed(enum record_untimed untimed);		  /* "" if it is timed */
const char *words_memory_kind(enum record_memory_kind kind);
const char *words_queue_mode(enum record_queue_mode mode); /* "" if unknown */
const char *words_node_type(enum record_node_type type);
const char *words_scope_kind(enum record_scope_kind kind);
const char *words_wait_type(enum trace_wait_type type);	    /* "" if unknown */
const char *words_known(enum trace_known known);	    /* "" if not known */
const char *words_stream_kind(enum trace_stream_kind kind); /* "" if unknown */

/* The label of an activity on a timeline: the kernel's name, "copy D2H", "memset". */
const char *words_work(const struct trace *trace, const struct trace_work *work);

/* Writes the labels of SCOPE and its parents, outermost first, joined by "/". If BUFFER (SIZE
 * bytes, at least 1) is too small, the outermost part is replaced by "...". TRACE_NONE gives "".
 * Returns BUFFER. */
const char *words_scope_path(const struct trace *trace, uint32_t scope, char *buffer, size_t size);

/* The path of a scope, kept because the next row often has the same. Set `scope` to TRACE_NONE
 * before the first use. */
#define WORDS_PATH_CHARS 4096
struct words_path {
	uint32_t scope;
	char text[WORDS_PATH_CHARS];
};

/* The path of SCOPE, which must not be TRACE_NONE. Valid until the next call with PATH. */
const char *words_path_get(struct words_path *path, const struct trace *trace, uint32_t scope);

/* END_NS - BEGIN_NS. The times come from a file and may be any value, so the difference wraps
 * instead of overflowing, which would be undefined. */
static inline int64_t words_span_ns(int64_t begin_ns, int64_t end_ns)
{
	return (int64_t)((uint64_t)end_ns - (uint64_t)begin_ns);
}

/* The graph that the activity belongs to, an index into trace.graphs; TRACE_NONE outside graphs.
 * For an activity of a child graph this is the child graph if the node is known, else the launched
 * graph. */
uint32_t words_activity_graph(const struct trace *trace, const struct trace_activity *activity);

/* True if the agent was recorded on CUDA. */
static inline bool words_is_cuda_agent(const struct trace *trace, uint32_t agent)
{
	return trace->agents[agent].index != TRACE_NONE &&
	       trace->agents[agent].index >= RECORD_CUDA_AGENT_FIRST;
}

/* True if the interface of this activity counts grids in blocks (CUDA), false if it counts
 * work-items (HIP). */
static inline bool words_counts_blocks(const struct trace *trace,
				       const struct trace_activity *activity)
{
	if (activity->agent != TRACE_NONE && words_is_cuda_agent(trace, activity->agent))
		return true;
	return activity->call != TRACE_NONE &&
	       trace->apis[trace->calls[activity->call].api].domain == RECORD_DOMAIN_CUDA;
}

/* The same for the graphs of a process. Cost: a scan of all agents and APIs. */
bool words_process_counts_blocks(const struct trace *trace, uint32_t process);

/* The number of blocks of BLOCK work-items in a grid; a partial block counts. One dimension. */
uint64_t words_blocks(uint64_t work_items, uint32_t block);

struct words_arg {
	const char *name;
	char kind;	   /* the argument's type, a letter as in struct record_api_name */
	uint64_t words[2]; /* words[1] is used only for dim3 */
};

/* Gets argument NUMBER (from 0) of a call, as its wrapper recorded it. Returns false after the
 * last one, or if the arguments were not kept. */
bool words_call_arg(const struct trace *trace, const struct trace_call *call, uint32_t number,
		    struct words_arg *ret_arg);

#define WORDS_ARG_CHARS 48

/* Writes the argument's value as text: numbers in decimal, addresses as 0x..., dimensions as
 * 64x1x1. Returns BUFFER. */
const char *words_arg_text(const struct words_arg *arg, char buffer[WORDS_ARG_CHARS]);

#endif
