/* The arguments that are kept of CUDA's calls: streams and events of those that tell what a
 * stream's capture takes, because CUPTI brings a captured wait like any other one (H200, CUDA
 * 13.0); the events of those that give a graph's node its event; of a launch with attributes
 * whether it may start before its stream's last kernel has ended. Of other calls none. */
#ifndef DAGTAP_CAPTURE_CUDA_ARGS_H
#define DAGTAP_CAPTURE_CUDA_ARGS_H

#include <stdint.h>

#define CUDA_ARGS_MOST 3

struct cuda_args {
	uint32_t count;
	uint64_t words[CUDA_ARGS_MOST];
};

/* What the call's API_NAME has behind the name: "" or " name:kind ...". */
const char *cuda_args_text(uint32_t op);

/* From the parameters that CUPTI hands over, which may be NULL. */
struct cuda_args cuda_args_read(uint32_t op, const void *parameters);

#endif
