/* The model's values as words: what every format calls a kind, a direction, a scope, an argument. */
#ifndef DAGTAP_FORMAT_WORDS_H
#define DAGTAP_FORMAT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model.h"

const char *words_kind(enum trace_activity_kind kind);
const char *words_direction(enum trace_copy_direction direction); /* "" if unknown */
const char *words_confidence(enum trace_confidence confidence);	  /* "" outside graphs */
const char *words_untimed(enum record_untimed untimed);		  /* "" if it is timed */
const char *words_queue_mode(enum record_queue_mode mode);	  /* "" if unknown */
const char *words_node_type(enum record_node_type type);
const char *words_scope_kind(enum record_scope_kind kind);
const char *words_wait_type(enum trace_wait_type type); /* "" if unknown */
const char *words_known(enum trace_known known);	/* "" if it is not */

/* What a timeline calls the activity: the kernel's name, or what was done ("copy D2H"). */
const char *words_op(const struct trace *trace, const struct trace_op *op);

/* The texts of a scope and its parents, root first, joined by "/". Cut off at the root's end, with
 * "..." there, when BUFFER is too small. TRACE_NONE gives "". Returns BUFFER. */
const char *words_scope_path(const struct trace *trace, uint32_t scope, char *buffer, size_t size);

/* Times come from a file and may be anything: wraps where a plain difference would overflow. */
static inline int64_t words_span_ns(int64_t begin_ns, int64_t end_ns)
{
	return (int64_t)((uint64_t)end_ns - (uint64_t)begin_ns);
}

/* The graph that an activity or launch belongs to: TRACE_NONE outside graphs. Of an activity in a
 * child graph it is the child. */
uint32_t words_activity_graph(const struct trace *trace, const struct trace_activity *activity);

/* Whether users of this activity's interface count its grid in blocks (CUDA), not in work-items
 * (HIP); and whether those of a process' graphs do. */
bool words_counts_blocks(const struct trace *trace, const struct trace_activity *activity);
bool words_process_counts_blocks(const struct trace *trace, uint32_t process);

/* Of a kernel's grid in work-items; a partial block counts. */
uint64_t words_blocks(uint64_t work_items, uint32_t block);

struct words_arg {
	const char *name;
	char kind;	   /* record_api_name */
	uint64_t words[2]; /* the second for dim3 alone */
};

/* The NUMBER-th argument of a call as its wrapper kept it; false behind the last. */
bool words_call_arg(const struct trace *trace, const struct trace_call *call, uint32_t number,
		    struct words_arg *ret_arg);

#define WORDS_ARG_CHARS 48

/* The argument's value as text: numbers, addresses as 0x..., dimensions as 64x1x1. */
const char *words_arg_text(const struct words_arg *arg, char buffer[WORDS_ARG_CHARS]);

#endif
