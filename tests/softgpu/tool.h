/* What the tool library of test_tools.c exports to be asked. */
#ifndef TEST_SOFTGPU_TOOL_H
#define TEST_SOFTGPU_TOOL_H

#include <stdint.h>

struct tool_log {
	uint32_t loads;
	uint32_t unloads;
	uint32_t queues;  /* hsa_queue_create calls that went through the table */
	uint64_t packets; /* seen by its interceptor */
	uint64_t version; /* what OnLoad was given */
	uint64_t failed_count;
	char failed[256]; /* the first of them */
};

typedef struct tool_log *(*tool_get_log_fn)(void);

#endif
