/*
 * Builds small models by hand, row by row, as a loader would leave them, for tests of the writers.
 */
#ifndef DAGTAP_TESTS_FORMAT_XSPACE_SCENE_H
#define DAGTAP_TESTS_FORMAT_XSPACE_SCENE_H

#include <stdio.h>

#include "kept.h"
#include "trace/trace_model.h"

#define SCENE_ROWS    4096
#define SCENE_STRINGS 512

struct scene {
	struct trace trace;
	const char *strings[SCENE_STRINGS];
	struct trace_process processes[4];
	struct trace_thread threads[8];
	struct trace_agent agents[8];
	struct trace_stream streams[32];
	struct trace_scope scopes[SCENE_ROWS];
	struct trace_scope_attribute scope_attributes[SCENE_ROWS];
	struct trace_api apis[32];
	struct trace_api_arg api_args[8];
	struct trace_call calls[SCENE_ROWS];
	struct trace_work works[256];
	struct trace_activity activities[SCENE_ROWS];
	struct trace_graph graphs[4];
	struct trace_node nodes[16];
	struct trace_exec execs[4];
	struct trace_launch launches[16];
	struct trace_source sources[4];
	struct trace_drop drops[4];
	struct trace_message messages[4];
	uint64_t words[64];
};

/*
 * Creates a model of one process that began at START_NS, with one thread (tid 999) and GPUS GPUs
 * after one CPU agent. The case's end frees it (kept.h).
 */
struct scene *scene_create(int64_t start_ns, unsigned gpus);

/* Returns the index of TEXT among the strings, which it joins if it is new. TEXT is not copied. */
trace_string scene_string(struct scene *scene, const char *text);

/* Add rows; return their indices. */
uint32_t scene_process(struct scene *scene, uint32_t pid);
uint32_t scene_thread(struct scene *scene, uint32_t process, uint32_t tid);
uint32_t scene_gpu(struct scene *scene, uint32_t process, const char *uuid);
uint32_t scene_stream(struct scene *scene, uint32_t process, uint32_t ordinal);

/* Adds a call of the first process's first thread from BEGIN_NS to END_NS. */
struct trace_call *scene_call(struct scene *scene, const char *name, uint64_t cid, int64_t begin_ns,
			      int64_t end_ns);
uint32_t scene_kernel(struct scene *scene, const char *name, uint32_t grid, uint32_t workgroup);
uint32_t scene_copy(struct scene *scene, enum trace_copy_direction direction, uint64_t bytes);

/* Adds an activity of the last call, on the first GPU and stream. */
struct trace_activity *scene_activity(struct scene *scene, uint32_t work, int64_t start_ns,
				      int64_t end_ns);

/* Adds a scope with the index PARENT of its parent, and an attribute of a scope. */
struct trace_scope *scene_scope(struct scene *scene, const char *name, uint64_t id,
				uint32_t parent);
void scene_attribute(struct scene *scene, struct trace_scope *scope, const char *key,
		     const char *value);

/*
 * scene_graph adds a graph of NODES nodes and an executable graph of it; scene_launch adds a replay
 * and assigns it to the last call.
 */
uint32_t scene_graph(struct scene *scene, uint64_t id, uint32_t nodes);
uint32_t scene_launch(struct scene *scene, uint32_t exec, uint64_t replay);

#endif
