/*
 * Builds spools in memory by hand: the records that a test needs, with the counters and sums of
 * writers as a tracer would leave them, for tests of every part of src/trace.
 */
#ifndef DAGTAP_TESTS_SCENE_H
#define DAGTAP_TESTS_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/spool.h"
#include "trace/trace_model.h"

struct trace_options;

#define SCENE_CHUNKS  8
#define SCENE_WRITERS 2
#define SCENE_BYTES   (SPOOL_CHUNK_OFFSET + SCENE_CHUNKS * SPOOL_CHUNK_BYTES)

#define SCENE_AGENT_CPU 0x1000
#define SCENE_AGENT_GPU 0x2000
#define SCENE_TICK_HZ	100000000

/* The calls that a scene's API_NAME records declare. */
enum scene_function {
	SCENE_LAUNCH_KERNEL = 1, /* "hipLaunchKernel function:h stream:h" */
	SCENE_GRAPH_LAUNCH,	 /* "hipGraphLaunch graphExec:h stream:h" */
	SCENE_MEMCPY,		 /* "hipMemcpyAsync dst:p src:p sizeBytes:s kind:e stream:h" */
	SCENE_MEMSET,		 /* "hipMemset dst:p value:i sizeBytes:s" */
	SCENE_MEMSET_3D,	 /* "hipMemset3D pitchedDevPtr.ptr:p ... extent.depth:s" */
	SCENE_COPY_TO_ARRAY,	 /* "hipMemcpyToArray dst:p ... kind:e" */
	SCENE_STREAM_CREATE,	 /* "hipStreamCreate stream:o" */
	SCENE_STREAM_DESTROY,	 /* "hipStreamDestroy stream:h" */
	SCENE_GRAPH_SET_PARAMS,	 /* "hipGraphExecKernelNodeSetParams hGraphExec:h node:h ..." */
	SCENE_GRAPH_UPDATE,	 /* "hipGraphExecUpdate hGraphExec:h hGraph:h ..." */
	SCENE_MODULE_LAUNCH, /* "hipModuleLaunchKernel f:h gridDimX:u ... blockDimZ:u stream:h" */
	SCENE_LAUNCH_BY_PTR, /* "hipLaunchByPtr func:p" */
	SCENE_SET_ENABLED,   /* "hipGraphNodeSetEnabled hGraphExec:h hNode:h isEnabled:u" */
	SCENE_LAUNCH_MULTI,  /* "hipExtLaunchMultiKernelMultiDevice ...:p numDevices:i flags:u" */
};

struct scene {
	unsigned char *image;
	uint32_t pid;
	struct spool_chunk *chunk[SCENE_WRITERS]; /* the writers' current chunks */
	uint32_t used[SCENE_WRITERS];		  /* bytes used in each of them */
	uint32_t sequence[SCENE_WRITERS];
	uint32_t chunks, chunks_most;
	uint64_t next_cid;
	uint64_t next_packet;
	uint64_t ns;
	struct trace *trace; /* what scene_take has loaded */
};

/*
 * Begins a spool of process PID with two agents, queue 1 on the GPU, a clock through two anchors
 * (tick t is at 10 t + 500 ns), the calls above, and kernels 1 "one", 2 "two", 3 a blit fill, 4 a
 * blit copy. Functions 0x101 and 0x102 are kernels 1 and 2. Writer 0 is thread 10, writer 1 is
 * thread 11.
 */
void scene_init(struct scene *scene, uint32_t pid);
/* The same with room for CHUNKS_MOST chunks instead of SCENE_CHUNKS. */
void scene_init_long(struct scene *scene, uint32_t pid, uint32_t chunks_most);
void scene_release(struct scene *scene);

/*
 * Loads the spool and releases the image; scene_finish closes the spool first. The fixture of a
 * case closes the trace.
 */
struct trace *scene_take(struct scene *scene);
struct trace *scene_finish(struct scene *scene);

/* A case whose state is a scene of process 1, and which need not close the scene's trace. */
int scene_setup(void **state);
/* Closes the scene's trace, if it has one, and begins its spool again. */
void scene_again(struct scene *scene);
int scene_teardown(void **state);
#define SCENE_CASE(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)

/* Appends a record to WRITER's chunk; fills its header and updates the writer's sum. */
void scene_put(struct scene *scene, unsigned writer, enum record_type type, uint32_t tag,
	       const void *record, size_t bytes);

/* Counts a dropped record of CLASS with CAUSE in writer 0's counters. */
void scene_drop(struct scene *scene, enum record_class class, enum record_drop cause);

/* Records a call with a new cid that submitted ACTIVITIES; returns the cid. */
uint64_t scene_call(struct scene *scene, enum scene_function function, uint32_t activities,
		    const uint64_t *args, size_t arg_count);
uint64_t scene_reserve_cid(struct scene *scene);
void scene_put_call(struct scene *scene, unsigned writer, uint64_t cid,
		    enum scene_function function, uint32_t activities, const uint64_t *args,
		    size_t arg_count);

/* Records a call on stream 0 that failed; returns its cid. */
uint64_t scene_failed_call(struct scene *scene, enum scene_function function);

/*
 * Records the dispatch of a kernel with that grid (workgroup 1) on queue 1; returns its packet
 * index.
 */
uint64_t scene_dispatch(struct scene *scene, uint64_t cid, uint32_t ordinal, uint32_t kernel,
			uint32_t grid);
void scene_done(struct scene *scene, uint64_t packet, uint64_t start_tick, uint64_t end_tick);
/* Records a dispatch and its completion, 100 ticks long. */
void scene_run(struct scene *scene, uint64_t cid, uint32_t ordinal, uint32_t kernel, uint32_t grid);

/* Records COUNT calls that launched kernel 1, each with its dispatch and completion. */
void scene_run_calls(struct scene *scene, unsigned count);

/* Records, by WRITER, what the gate of queue 1 has counted. */
void scene_gate(struct scene *scene, unsigned writer, uint64_t dispatches, uint64_t write_index);

/* Records a source's state and TEXT, as a capture source reports itself. */
void scene_say(struct scene *scene, const char *name, enum record_source_state state,
	       const char *text);

/* Records a witness's count. */
void scene_witness(struct scene *scene, const char *source, const char *key, uint64_t value);

/* Records that call CID made or captured a node of some graph. */
void scene_node_recorded(struct scene *scene, uint64_t node, uint64_t cid);

/*
 * Records a graph of kernel nodes in a row, kernel FUNCTIONS[i] with GRIDS[i], and its executable
 * graph EXEC.
 */
#define SCENE_EXEC_HANDLE(exec)	       (0xe00000 + (exec))
#define SCENE_NODE_HANDLE(graph, node) (0xf00000 + (graph)*256 + (node))
void scene_graph(struct scene *scene, uint64_t graph, uint64_t exec, uint32_t count,
		 const uint64_t *functions, const uint32_t *grids);
void scene_graph_launch(struct scene *scene, uint64_t exec, uint64_t replay, uint64_t cid);

/*
 * Seals the spool as session_stop does. A scene that is not closed is the spool of a killed
 * process.
 */
void scene_close(struct scene *scene);

/* Returns the bytes in use; a test may cut the image there. */
size_t scene_bytes(const struct scene *scene);

/* Loads the scene; asserts that it loads. The caller closes the trace. */
struct trace *scene_load(const struct scene *scene);
/* The same from a file, with OPTIONS. */
struct trace *scene_load_with(const struct scene *scene, const struct trace_options *options);

/* Write the closed spool into FOLDER, as PID.spool, and remove it again. */
void scene_put_spool(const struct scene *scene, const char *folder);
void scene_remove_spool(const char *folder, uint32_t pid);

/* Returns how much is unexplained in all lines of the ledger. */
uint64_t scene_unexplained(const struct trace *trace);

/* Returns the ledger's line called NAME; asserts that it exists. */
const struct trace_source *scene_source(const struct trace *trace, const char *name);

#endif
