/* The log that the tool library of test_softgpu_tools.c (table_tool.c) keeps; the test reads it. */
#ifndef TEST_SOFTGPU_TOOL_H
#define TEST_SOFTGPU_TOOL_H

#include <stdint.h>

/* Written by the tool only. */
struct tool_log {
	uint32_t loads;	       /* calls of OnLoad */
	uint32_t unloads;      /* calls of OnUnload */
	uint32_t queues;       /* hsa_queue_create calls through the dispatch table */
	uint64_t packets;      /* packets that the tool's interceptor saw */
	uint64_t version;      /* arguments of OnLoad: runtime version */
	uint64_t failed_count; /* arguments of OnLoad: count of failed tools */
	char failed[256];      /* name of the first failed tool */
};

/* The type of tool_get_log, which table_tool.c exports. The library owns the log. */
typedef struct tool_log *(*tool_get_log_fn)(void);

#endif
