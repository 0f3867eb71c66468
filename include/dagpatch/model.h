/* A GPU in memory: dagpatch's driver "model", for tests of programs that use dagpatch and for
 * dagpatch's own. It executes graphs on the CPU; kernels are C functions.
 *
 * Streams are queues in order. A lazy stream runs what it holds when somebody synchronises with it,
 * so that replays can be kept in flight for as long as a test wants; a threaded one has a
 * thread. Within a graph, of the nodes whose turn it is the one that was added last runs first: a
 * missing dependency shows.
 *
 * NULL is, as a stream for work and to synchronise with, the lazy one of the thread's current
 * device that is always there.
 *
 * Memory is the process's own: dagpatch_model_alloc counts, and any other address works too.
 *
 * Threading: any thread, any time, but a stream is captured by one thread. Functions return 0 or a
 * negative errno, -EINVAL for NULL where something is needed. */
#ifndef DAGPATCH_MODEL_H
#define DAGPATCH_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dagpatch_model_kernel; /* what struct dagpatch_kernel calls function */
struct dagpatch_model_stream;
struct dagpatch_model_event;
struct dagpatch_model_graph; /* what struct dagpatch_adoption calls graph */
struct dagpatch_model_exec;

/* The thread's current device, 0 at first. Contexts, streams and what is instantiated belong to the
 * one that is current when they are made; memory is any device's. -EINVAL: there is no such
 * device. */
enum { DAGPATCH_MODEL_DEVICES = 4 };
int dagpatch_model_device_set(uint32_t device);
uint32_t dagpatch_model_device(void);

void *dagpatch_model_alloc(uint64_t bytes); /* 256-aligned, zeroed; NULL: none, or over 1 GiB */
void dagpatch_model_free(void *address);

/* One call for the whole grid. ARGUMENTS: the block, 16-aligned, a copy. */
typedef void (*dagpatch_model_fn)(const void *arguments, const uint32_t grid[3],
				  const uint32_t block[3]);
int dagpatch_model_kernel_create(dagpatch_model_fn function,
				 const struct dagpatch_parameter *parameters, uint32_t count,
				 struct dagpatch_model_kernel **ret_kernel);
/* For messages and dumps; NAME is the caller's and lives as long as the kernel. */
void dagpatch_model_kernel_name(struct dagpatch_model_kernel *kernel, const char *name);
void dagpatch_model_kernel_destroy(struct dagpatch_model_kernel *kernel);

enum { DAGPATCH_MODEL_LAZY, DAGPATCH_MODEL_THREADED };
int dagpatch_model_stream_create(int kind, struct dagpatch_model_stream **ret_stream);
/* Runs what is left first. */
void dagpatch_model_stream_destroy(struct dagpatch_model_stream *stream);
int dagpatch_model_stream_synchronize(struct dagpatch_model_stream *stream);

/* Work for a stream; while it is captured, nodes for its graph. PARAMETERS: as kernelParams. */
int dagpatch_model_launch(struct dagpatch_model_stream *stream,
			  struct dagpatch_model_kernel *kernel, const uint32_t grid[3],
			  const uint32_t block[3], void *const *parameters);
/* The same with one block of arguments, as `extra`. */
int dagpatch_model_launch_block(struct dagpatch_model_stream *stream,
				struct dagpatch_model_kernel *kernel, const uint32_t grid[3],
				const uint32_t block[3], const void *arguments, uint32_t bytes);

struct dagpatch_model_copy {
	void *dst;
	const void *src;
	uint64_t dst_pitch, dst_rows, src_pitch, src_rows;
	uint64_t width_bytes, height, depth;
};
int dagpatch_model_copy_async(struct dagpatch_model_stream *stream,
			      const struct dagpatch_model_copy *copy);
int dagpatch_model_memset_async(struct dagpatch_model_stream *stream, void *dst, uint32_t value,
				uint32_t element_bytes, uint64_t width);
int dagpatch_model_host_async(struct dagpatch_model_stream *stream, void (*function)(void *user),
			      void *user);

int dagpatch_model_event_create(struct dagpatch_model_event **ret_event);
void dagpatch_model_event_destroy(struct dagpatch_model_event *event);
/* While captured: edges; EXTERNAL not 0: nodes. */
int dagpatch_model_event_record(struct dagpatch_model_stream *stream,
				struct dagpatch_model_event *event, int external);
int dagpatch_model_event_wait(struct dagpatch_model_stream *stream,
			      struct dagpatch_model_event *event, int external);
/* Records that have been run. */
uint64_t dagpatch_model_event_count(struct dagpatch_model_event *event);

int dagpatch_model_capture_begin(struct dagpatch_model_stream *stream);
int dagpatch_model_capture_end(struct dagpatch_model_stream *stream,
			       struct dagpatch_model_graph **ret_graph);
void dagpatch_model_graph_destroy(struct dagpatch_model_graph *graph);
/* While STREAM is captured: a child node. */
int dagpatch_model_graph_launch(struct dagpatch_model_stream *stream,
				struct dagpatch_model_graph *graph);
int dagpatch_model_instantiate(struct dagpatch_model_graph *graph,
			       struct dagpatch_model_exec **ret_exec);
/* -EXDEV: EXEC and STREAM are of two devices. */
int dagpatch_model_exec_launch(struct dagpatch_model_exec *exec,
			       struct dagpatch_model_stream *stream);
void dagpatch_model_exec_destroy(struct dagpatch_model_exec *exec);

/* ---- for tests ---- */

/* Calls that dagpatch made to the driver, of those that can fail. */
uint64_t dagpatch_model_calls(void);
/* Calls that dagpatch made while another device than theirs was current: must be 0. Those that can
 * fail fail. */
uint64_t dagpatch_model_misplaced(void);
/* The FIRST-th of them from now on (1: the next) and COUNT in all fail with -EIO, code 999; 0 turns
 * it off. */
void dagpatch_model_fail(uint64_t first, uint64_t count);

/* What the driver "model" of contexts made from now on cannot do. */
enum {
	DAGPATCH_MODEL_NO_TABLE = 1,
	DAGPATCH_MODEL_NO_LAYOUTS = 2,
	DAGPATCH_MODEL_NO_NESTED_SETS = 4, /* as HIP: a child is set as a whole */
	DAGPATCH_MODEL_NO_CONDITIONALS = 8,
	DAGPATCH_MODEL_NO_UPDATE = 16, /* of whole graphs */
	/* As HIP: no child is changed in an executable graph, not even as a whole; with NO_TABLE,
	 * NO_NESTED_SETS and NO_CONDITIONALS. */
	DAGPATCH_MODEL_NO_CHILDREN = 32,
	/* As HIP 5.2: with NO_CHILDREN, graphs become chains. */
	DAGPATCH_MODEL_NO_BRANCHES = 64,
	/* As HIP 6.4: with NO_CHILDREN; a memset of an executable graph has its value for the one
	 * launch after it was set, and then another. */
	DAGPATCH_MODEL_NO_KEPT_MEMSETS = 128,
	/* An executable graph's kernel keeps its function, and the call that gives it another one
	 * says that it was done. */
	DAGPATCH_MODEL_NO_FUNCTIONS = 256,
	/* As HIP: an executable graph must outlive its replays; see
	 * dagpatch_model_stale_replays. */
	DAGPATCH_MODEL_NO_KEPT_EXECS = 512,
};
void dagpatch_model_without(uint32_t features);
/* Replays that began after their executable graph had been destroyed, which is right but with
 * DAGPATCH_MODEL_NO_KEPT_EXECS, and counted there. */
uint64_t dagpatch_model_stale_replays(void);

/* Memory of the device for what dagpatch has the driver allocate and instantiate; 0: no limit. */
void dagpatch_model_limit(uint64_t bytes);
uint64_t dagpatch_model_held(void);

/* What is alive. */
struct dagpatch_model_live {
	uint64_t allocations, streams, events, graphs, nodes, execs, tables, kernels;
};
void dagpatch_model_live(struct dagpatch_model_live *ret_live);

#ifdef __cplusplus
}
#endif

#endif
