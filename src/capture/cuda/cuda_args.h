/* The arguments of CUDA calls that are recorded. Only these calls have any:
 *
 * - calls that create, destroy, record or wait for an event, or wait for a stream or a context, and
 *   those that begin or end a stream capture or launch a graph: the event, the stream, the flags,
 *   and the number that CUPTI gave to the stream's context. Waits are known from them
 *   (trace/graph/call_events.h).
 * - calls that set the event of a graph node: the event.
 * - launches with attributes: whether the kernel may start before the last kernel of its stream
 *   has ended.
 *
 * Any thread; no allocation, except for the first use of a stream (cuda_streams.h). */
#ifndef DAGTAP_CAPTURE_CUDA_ARGS_H
#define DAGTAP_CAPTURE_CUDA_ARGS_H

#include <stdint.h>

#include "vendor/cupti_types.h"

#define CUDA_ARGS_MOST 4

struct cuda_args {
	uint32_t count;
	uint64_t words[CUDA_ARGS_MOST];
};

/* Returns what the API_NAME record of FUNCTION has after the name: "" or " name:kind ...".
 * Static. */
const char *cuda_args_text(uint32_t function);

/* Returns the arguments of a call of FUNCTION that began at BEGIN_NS. CALL is what CUPTI passes to
 * the callback of its exit; without parameters there are no arguments. May write a record of the
 * call's stream. */
struct cuda_args cuda_args_read(uint32_t function, uint64_t begin_ns,
				const struct cupti_callback_data *call);

#endif
