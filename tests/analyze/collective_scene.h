/* Recordings of ranks with collectives, each in a process with one thread, GPU and stream, made by
 * hand. Calls, kernels and operations are those of the last process. */
#ifndef DAGTAP_TESTS_COLLECTIVE_SCENE_H
#define DAGTAP_TESTS_COLLECTIVE_SCENE_H

#include "trace/load.h"

enum { ID = 0xabc, HANDLE = 0x7000, INT8 = 0, FLOAT16 = 6, FLOAT32 = 7 };

enum scene_api {
	ALL_REDUCE,
	ALL_GATHER,
	REDUCE_SCATTER,
	SEND,
	RECV,
	GROUP_START,
	GROUP_END,
	DESTROY,
	LAUNCH,
	API_COUNT
};

extern struct trace *scene_trace; /* that is made; the test closes it */

/* Creates the trace, with its functions. */
void scene_create(void);

/* Adds a process on the machine HOST. */
void scene_process(const char *host);

/* Adds a call inside PARENT, which may be TRACE_NONE; returns it. */
uint32_t scene_call(enum scene_api api, uint32_t parent, int64_t begin_ns, int64_t end_ns);

/* Launches a kernel called NAME inside the call OUTER. */
void scene_run(const char *name, uint32_t outer, int64_t launch_ns, int64_t start_ns,
	       int64_t end_ns);

/* Calls an operation, at NS, on the communicator ID, whose rank is the number of the process. */
uint32_t scene_operation(enum scene_api api, uint64_t count, uint64_t type, uint64_t number,
			 int64_t ns, uint64_t id);

/* Calls an operation on the communicator of the enum, and runs its kernel. */
void scene_operate(enum scene_api api, uint64_t count, uint64_t type, uint64_t number, int64_t ns,
		   int64_t start_ns, int64_t end_ns);

/* Makes the trace that of a merged recording: rank 1 on a machine of its own, whose times are right
 * to ERROR_NS. */
void scene_merge(uint64_t error_ns);

#endif
