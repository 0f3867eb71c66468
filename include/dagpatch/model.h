/* A GPU in memory: dagpatch's driver "model", for tests of programs that use dagpatch and for
 * dagpatch's own tests. It executes graphs on the CPU; kernels are C functions.
 *
 * Streams are in-order queues. A lazy stream runs the work that it holds when a thread
 * synchronises with it, so that a test can keep replays in flight for as long as it wants. A
 * threaded stream has a thread that runs its work at once. Within a graph, of the nodes whose
 * dependencies are done, the node that was added last runs first, so that a missing dependency
 * shows.
 *
 * NULL may be passed as a stream, for work and to synchronise with: it is a lazy stream of the
 * thread's current device that always exists.
 *
 * Device memory is memory of the process: dagpatch_model_alloc counts its allocations, but any
 * other address works too.
 *
 * Threading: any thread at any time, but one stream is captured by one thread. Functions return 0
 * or a negative errno; -EINVAL for NULL where an object is needed. */
#ifndef DAGPATCH_MODEL_H
#define DAGPATCH_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles. Each is created and destroyed by the functions below. */
struct dagpatch_model_kernel; /* dagpatch_kernel.function */
struct dagpatch_model_stream;
struct dagpatch_model_event;
struct dagpatch_model_graph; /* dagpatch_adoption.graph */
struct dagpatch_model_exec;  /* dagpatch_adoption.exec */

/* Sets and returns the thread's current device, which is 0 at first. Contexts, streams and
 * executable graphs belong to the device that is current when they are made; memory may be used by
 * every device. -EINVAL: there is no such device. */
enum { DAGPATCH_MODEL_DEVICES = 4 };
int dagpatch_model_device_set(uint32_t device);
uint32_t dagpatch_model_device(void);

/* Allocates device memory: zeroed and aligned to 256 bytes. NULL: no memory, or more than 1 GiB.
 * dagpatch_model_free takes NULL too. */
void *dagpatch_model_alloc(uint64_t bytes);
void dagpatch_model_free(void *address);

/* A kernel: called once for the whole grid. ARGUMENTS is a copy of the argument block, aligned to
 * 16 bytes, and valid during the call. */
typedef void (*dagpatch_model_fn)(const void *arguments, const uint32_t grid[3],
				  const uint32_t block[3]);

/* Creates a kernel. PARAMETERS, COUNT of them in ascending order of offset, are copied. The kernel
 * must outlive the work that uses it. */
int dagpatch_model_kernel_create(dagpatch_model_fn function,
				 const struct dagpatch_parameter *parameters, uint32_t count,
				 struct dagpatch_model_kernel **ret_kernel);

/* Sets a name for messages and dumps. NAME is not copied and must stay valid as long as the
 * kernel. */
void dagpatch_model_kernel_name(struct dagpatch_model_kernel *kernel, const char *name);
void dagpatch_model_kernel_destroy(struct dagpatch_model_kernel *kernel);

/* Kind of a stream: see the top. */
enum { DAGPATCH_MODEL_LAZY, DAGPATCH_MODEL_THREADED };
int dagpatch_model_stream_create(int kind, struct dagpatch_model_stream **ret_stream);

/* Runs the work that is left, then destroys the stream. */
void dagpatch_model_stream_destroy(struct dagpatch_model_stream *stream);

/* Returns when all work of the stream has run; on a lazy stream the calling thread runs it.
 * -EBUSY: the stream is being captured. */
int dagpatch_model_stream_synchronize(struct dagpatch_model_stream *stream);

/* These calls submit work to a stream; while the stream is captured they add nodes to its graph.
 * Arguments and structs are copied. PARAMETERS is an array of pointers to the kernel's arguments,
 * as kernelParams of CUDA and HIP. */
int dagpatch_model_launch(struct dagpatch_model_stream *stream,
			  struct dagpatch_model_kernel *kernel, const uint32_t grid[3],
			  const uint32_t block[3], void *const *parameters);

/* The same with one block of BYTES argument bytes, as `extra` of CUDA and HIP. */
int dagpatch_model_launch_block(struct dagpatch_model_stream *stream,
				struct dagpatch_model_kernel *kernel, const uint32_t grid[3],
				const uint32_t block[3], const void *arguments, uint32_t bytes);

/* A copy, in bytes; *_ROWS are rows from one slice to the next. Pitches, rows, height and depth of
 * 0 have the defaults of struct dagpatch_copy. */
struct dagpatch_model_copy {
	void *dst;
	const void *src;
	uint64_t dst_pitch, dst_rows, src_pitch, src_rows;
	uint64_t width_bytes, height, depth;
};
int dagpatch_model_copy_async(struct dagpatch_model_stream *stream,
			      const struct dagpatch_model_copy *copy);

/* Fills WIDTH elements of ELEMENT_BYTES. */
int dagpatch_model_memset_async(struct dagpatch_model_stream *stream, void *dst, uint32_t value,
				uint32_t element_bytes, uint64_t width);

/* FUNCTION runs on the thread that runs the stream's work. */
int dagpatch_model_host_async(struct dagpatch_model_stream *stream, void (*function)(void *user),
			      void *user);

/* Creates an event. It must outlive the work that records it or waits for it. */
int dagpatch_model_event_create(struct dagpatch_model_event **ret_event);
void dagpatch_model_event_destroy(struct dagpatch_model_event *event);

/* Record EVENT in a stream and make a stream wait for its last record. While the stream is
 * captured, they become dependencies (EXTERNAL 0) or nodes of the graph (EXTERNAL not 0). */
int dagpatch_model_event_record(struct dagpatch_model_stream *stream,
				struct dagpatch_model_event *event, int external);
int dagpatch_model_event_wait(struct dagpatch_model_stream *stream,
			      struct dagpatch_model_event *event, int external);

/* Returns how many records of EVENT have run. */
uint64_t dagpatch_model_event_count(struct dagpatch_model_event *event);

/* Begins and ends a capture of STREAM. Other streams join it by waiting for an event that was
 * recorded in it, and leave it at its end. capture_begin returns -EBUSY if STREAM is being
 * captured. The caller destroys *RET_GRAPH. */
int dagpatch_model_capture_begin(struct dagpatch_model_stream *stream);
int dagpatch_model_capture_end(struct dagpatch_model_stream *stream,
			       struct dagpatch_model_graph **ret_graph);
void dagpatch_model_graph_destroy(struct dagpatch_model_graph *graph);

/* STREAM is being captured: adds a copy of GRAPH as a child node. */
int dagpatch_model_graph_launch(struct dagpatch_model_stream *stream,
				struct dagpatch_model_graph *graph);

/* Makes an executable graph for the current device. The caller destroys it; GRAPH may be destroyed
 * before. -ENOMEM also beyond dagpatch_model_limit. */
int dagpatch_model_instantiate(struct dagpatch_model_graph *graph,
			       struct dagpatch_model_exec **ret_exec);

/* Submits a replay of EXEC to STREAM. Replays of one EXEC run in the order of their launches.
 * -EXDEV: EXEC and STREAM are of two devices. -EBUSY: STREAM is being captured. */
int dagpatch_model_exec_launch(struct dagpatch_model_exec *exec,
			       struct dagpatch_model_stream *stream);

/* Replays in flight continue. */
void dagpatch_model_exec_destroy(struct dagpatch_model_exec *exec);

/* ---- for tests ---- */

/* Returns how many calls dagpatch has made to the driver, of those that can fail. A change of the
 * thread's current device to the recording's is one of them. Counts the whole process. */
uint64_t dagpatch_model_calls(void);

/* Returns how many calls dagpatch has made while another device than the call's own was current:
 * must be 0. Those of these calls that can fail do fail. */
uint64_t dagpatch_model_misplaced(void);

/* Makes calls of the driver fail: COUNT calls, beginning with the FIRST-th from now on (1: the
 * next call), return -EIO with the driver's code 999. COUNT 0 turns it off. */
void dagpatch_model_fail(uint64_t first, uint64_t count);

/* Features that the driver "model" lacks. */
enum {
	DAGPATCH_MODEL_NO_TABLE = 1,	    /* DAGPATCH_DEVICE_TABLE */
	DAGPATCH_MODEL_NO_LAYOUTS = 2,	    /* kernels' parameters are not known */
	DAGPATCH_MODEL_NO_NESTED_SETS = 4,  /* as HIP: a child is set as a whole */
	DAGPATCH_MODEL_NO_CONDITIONALS = 8, /* conditional nodes */
	DAGPATCH_MODEL_NO_UPDATE = 16,	    /* updates of whole executable graphs */
	/* As HIP: no child is changed in an executable graph, not even as a whole. Use with
	 * NO_TABLE, NO_NESTED_SETS and NO_CONDITIONALS. */
	DAGPATCH_MODEL_NO_CHILDREN = 32,
	/* As HIP 5.2: graphs become chains. Use with NO_CHILDREN. */
	DAGPATCH_MODEL_NO_BRANCHES = 64,
	/* As HIP 6.4: a memset of an executable graph keeps its value for the first launch after
	 * it was set, and then has another value. Use with NO_CHILDREN. */
	DAGPATCH_MODEL_NO_KEPT_MEMSETS = 128,
	/* A kernel of an executable graph keeps its function, and the call that gives it another
	 * one returns success. */
	DAGPATCH_MODEL_NO_FUNCTIONS = 256,
	/* As HIP: an executable graph must outlive its replays; see
	 * dagpatch_model_stale_replays. */
	DAGPATCH_MODEL_NO_KEPT_EXECS = 512,
	/* A memset of an executable graph cannot be set. */
	DAGPATCH_MODEL_NO_MEMSET_SETS = 1024,
};

/* FEATURES, a sum of DAGPATCH_MODEL_NO_..., are missing in contexts that are made from now on. */
void dagpatch_model_without(uint32_t features);

/* Returns how many replays began after their executable graph had been destroyed by dagpatch.
 * Without DAGPATCH_MODEL_NO_KEPT_EXECS this is allowed and not counted. */
uint64_t dagpatch_model_stale_replays(void);

/* Limits the device memory that dagpatch can have the driver allocate and instantiate, in bytes;
 * 0: no limit. dagpatch_model_held returns how much is held now. */
void dagpatch_model_limit(uint64_t bytes);
uint64_t dagpatch_model_held(void);

/* Objects that are alive in the whole process. */
struct dagpatch_model_live {
	uint64_t allocations, streams, events, graphs, nodes, execs, tables, kernels;
};

/* Fills *RET_LIVE; nothing happens for NULL. */
void dagpatch_model_live(struct dagpatch_model_live *ret_live);

#ifdef __cplusplus
}
#endif

#endif
