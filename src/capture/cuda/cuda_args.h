/* The arguments of CUDA calls that are recorded. Only these calls have any:
 *
 * - calls that show what a stream capture takes (begin, end, event record, event wait): the
 *   stream, the event and the flags. They are needed because CUPTI reports a captured wait like
 *   any other (H200, CUDA 13.0).
 * - calls that set the event of a graph node: the event.
 * - launches with attributes: whether the kernel may start before the last kernel of its stream
 *   has ended.
 *
 * Any thread; no allocation. */
#ifndef DAGTAP_CAPTURE_CUDA_ARGS_H
#define DAGTAP_CAPTURE_CUDA_ARGS_H

#include <stdint.h>

#define CUDA_ARGS_MOST 3

struct cuda_args {
	uint32_t count;
	uint64_t words[CUDA_ARGS_MOST];
};

/* Returns what the API_NAME record of FUNCTION has after the name: "" or " name:kind ...".
 * Static. */
const char *cuda_args_text(uint32_t function);

/* Returns the arguments of a call of FUNCTION. PARAMETERS is the struct that CUPTI passes, or NULL;
 * then there are none. */
struct cuda_args cuda_args_read(uint32_t function, const void *parameters);

#endif
