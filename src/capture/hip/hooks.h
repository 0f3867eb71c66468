/* The hooks of HIP calls that have effects beyond their own record: kernel names, memory, stream
 * captures, graphs. One table says which function has which hooks; the hooks themselves belong to
 * function.h, memory_calls.h, stream_capture.h, graph_node.h and graph_exec.h. */
#ifndef DAGTAP_CAPTURE_HIP_HOOKS_H
#define DAGTAP_CAPTURE_HIP_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/hip_functions.h"
#include "capture/hip/hip_wrapped_call.h"

/* The hooks of one function. ARGS are the recorded words (ARG_call_name is the index). For
 * BEFORE, the word of a value that the call returns through a pointer, and of a text, is the
 * pointer itself. Hooks run on the thread of the call and outside of its timed interval; a NULL
 * hook is not called. */
struct hip_hook {
	void (*before)(struct hip_call *call, const uint64_t *args);
	void (*after)(struct hip_call *call, int result, const uint64_t *args);
	bool is_followed; /* also called between two sessions: the next one needs it */
	bool is_for_all;  /* also called for a second runtime in the process */
};

/* By function; without an entry both hooks are NULL. */
extern const struct hip_hook hip_hooks[HIP_FUNCTION_COUNT];

#endif
