/* The parts of the model device (dagpatch/model.h): graphs, executable graphs, tables, streams.
 * driver_model.c has the driver's function table; model_queue.h has the inside of streams.
 *
 * Functions named model_<x> that have the parameters of struct patch_driver's <x> fulfil its
 * contract (driver.h). Other functions return 0 or a negative errno and may be called by any
 * thread, unless they say otherwise. */
#ifndef DAGPATCH_MODEL_PARTS_H
#define DAGPATCH_MODEL_PARTS_H

#include <stdatomic.h>

#include <dagpatch/model.h>

#include "patch/driver.h"

/* ---- what tests see and control (model_tests.c) ---- */

/* Counts of living objects, see struct dagpatch_model_live. */
struct model_live {
	_Atomic uint64_t allocations, streams, events, graphs, nodes, execs, tables, kernels;
};
extern struct model_live model_live;

/* The driver's code of failures that were not injected. */
enum { MODEL_REFUSED = 1 };

/* Features that the device lacks: a sum of DAGPATCH_MODEL_NO_.... */
uint32_t model_missing(void);

/* ---- devices (model_device.c) ---- */

/* Returns whether DEVICE is the thread's current device; counts the call if not. */
bool model_is_here(const struct patch_device *device);
int model_enter(struct patch_device *device, uintptr_t *ret_before);
void model_leave(struct patch_device *device, uintptr_t before);
void model_settle(struct patch_device *device);

/* A kernel and its parameters. */
struct dagpatch_model_kernel {
	dagpatch_model_fn function;
	uint32_t count;
	uint32_t bytes;	  /* size of the argument block */
	const char *name; /* the caller's; may be NULL */
	struct dagpatch_parameter parameters[];
};

/* Every call that can fail begins with model_begin and ends with model_end. model_begin counts the
 * call and returns a negative errno if it is one that must fail; model_call does the same for a
 * call that may be made while another device is current. model_end passes a failure ERR to
 * patch_fault and returns ERR. */
int model_call(const char *call);
int model_begin(const struct patch_device *device, const char *call);
int model_end(const char *call, int err);

/* Take and give back device memory as a driver would hold it. -ENOMEM: beyond
 * dagpatch_model_limit. */
int model_memory_take(uint64_t bytes);
void model_memory_give(uint64_t bytes);

/* Counts a replay that runs after its executable graph was destroyed. */
void model_note_stale(void);

/* ---- graphs (model_graph.c): one graph is used by one thread at a time, as with real drivers
 * ---- */

/* A node of a graph. */
struct model_node {
	enum patch_kind kind;
	uint32_t index; /* number in its graph */
	uint32_t size;
	uint8_t *image; /* kernels: the arguments are at the kernel's own offsets */
	struct dagpatch_model_graph *graph; /* the graph that it belongs to */
	struct model_node **after;	    /* nodes that it waits for; owned array */
	uint32_t after_count;
	/* A child's embedded graph, or a conditional's bodies; owned. */
	struct dagpatch_model_graph **inner;
	uint32_t inner_count;
	enum dagpatch_condition condition;
	uint64_t handle;
	struct dagpatch_attributes attributes; /* of kernels */
};

/* A graph; owns its nodes. */
struct dagpatch_model_graph {
	struct model_node **nodes; /* in the order in which they were added */
	uint32_t count;
	size_t room;	/* of NODES */
	bool has_table; /* the graph cannot be copied or instantiated again */
	/* Written by every reader: as with CUDA, a graph is used by one thread at a time, also for
	 * reading, and ThreadSanitizer detects a second thread by this. */
	uint32_t reads;
};

/* Makes a graph without nodes; dagpatch_model_graph_destroy frees it. 0 or -ENOMEM. */
int model_graph_create(struct dagpatch_model_graph **ret_graph);

/* -ENOTSUP: the graph has a table, or bodies of conditionals, which cannot be copied. */
int model_graph_copy(struct dagpatch_model_graph *graph, struct dagpatch_model_graph **ret_copy);

/* Add a node after AFTER; PARAMS->image is copied. */
int model_node_add(struct dagpatch_model_graph *graph, const struct patch_params *params,
		   struct model_node *const *after, uint32_t after_count,
		   struct model_node **ret_node);
int model_conditional_add(struct dagpatch_model_graph *graph, enum dagpatch_condition condition,
			  uint32_t body_count, struct model_node *const *after,
			  uint32_t after_count, struct model_node **ret_node);

/* Replaces the parameters. -EINVAL: the node is of another kind. */
int model_node_set(struct model_node *node, const struct patch_params *params);

/* True if a kernel of the graph, or of a graph inside of it, has a priority other than 0. */
bool model_graph_has_priority(struct dagpatch_model_graph *graph);

/* Fills IMAGE with the parameters in the form in which the device keeps them. */
int model_image(const struct patch_params *params, struct patch_image *image);

/* The other way: fills IMAGE with the core's form of SIZE bytes that the device
 * keeps. The kernel's own offsets are those of the layout. */
int model_image_read(struct patch_device *device, enum patch_kind kind, const uint8_t *bytes,
		     uint32_t size, struct patch_image *image);

/* ---- plans and executable graphs (model_plan.c) ---- */

/* A node of a plan. A plan has all nodes in one array; the nodes inside of a node follow it. */
struct plan_node {
	const struct model_node *origin;
	enum patch_kind kind;
	uint32_t image; /* offset in plan_values.bytes */
	uint32_t size;
	uint32_t inner_nodes; /* number of the following nodes that are inside */
	uint32_t first_level; /* index of the first level inside */
	uint32_t level_count;
	enum dagpatch_condition condition;
	uint64_t handle;
};

/* The nodes of one graph in the order in which they run. */
struct plan_level {
	uint32_t *order; /* indices of plan nodes */
	uint32_t count;
};

/* What is instantiated of a graph, without the parameters. Constant after model_plan_create, and
 * shared with replays. */
struct plan {
	_Atomic uint32_t references;
	struct plan_node *nodes;
	uint32_t count;
	size_t room; /* of NODES */
	struct plan_level *levels;
	uint32_t level_count;
	size_t level_room;
	struct plan_node **by_origin; /* sorted by origin, for model_plan_find */
	uint32_t value_bytes;
};

/* All images of a plan. Shared with replays in flight until it is written; then the executable
 * graph gets a copy. */
struct plan_values {
	_Atomic uint32_t references;
	_Alignas(16) uint8_t bytes[];
};

/* The caller releases both with the next two functions. */
int model_plan_create(struct dagpatch_model_graph *graph, struct plan **ret_plan,
		      struct plan_values **ret_values);
void model_plan_release(struct plan *plan);
void model_values_release(struct plan_values *values);

/* Returns the plan's node that was made of NODE; NULL: none. */
struct plan_node *model_plan_find(const struct plan *plan, const struct model_node *node);

/* An executable graph. */
struct dagpatch_model_exec {
	uint32_t device;
	struct plan *plan;
	struct plan_values *values;
	bool *is_used; /* by plan node: launched by dagpatch since it was set; NULL: none yet */
	struct driver_table *table;
	struct model_exec_order *order;
	/* as it was instantiated; without effect, because the model runs nodes one by one */
	bool by_priorities;
};

/* The order of the replays of one executable graph: they run in the order of their launches. It
 * lives, and holds the memory of the executable graph, until that is destroyed and the last replay
 * is done. Protected by the lock of model_stream.c. */
struct model_exec_order {
	uint32_t references;	 /* the executable graph's, and one of each replay */
	bool is_gone;		 /* the executable graph was destroyed although it should be kept */
	uint64_t bytes;		 /* device memory that is held */
	uint64_t launched, done; /* replays launched, and replays done */
	struct dagpatch_model_stream *last; /* stream of the last launch */
};

/* Copies the images of ORIGIN and the nodes inside of it (NULL: of all nodes) from GRAPH, which
 * must have the same shape: -ENOTSUP otherwise. Copies the first COUNT nodes only. */
int model_exec_take(struct dagpatch_model_exec *exec, const struct model_node *origin,
		    struct dagpatch_model_graph *graph, uint32_t count);

/* Sets a node's parameters. -ENOTSUP: a kernel with a larger or smaller argument block. */
int model_exec_write(struct dagpatch_model_exec *exec, const struct model_node *node,
		     const struct patch_params *params);

/* DAGPATCH_MODEL_NO_KEPT_MEMSETS, around a launch. model_exec_forget gives those memsets of the
 * top graph that were launched before other values, and returns the right values in *RET_KEPT;
 * model_exec_remember restores these and marks all nodes as launched. */
int model_exec_forget(struct dagpatch_model_exec *exec, struct plan_values **ret_kept);
void model_exec_remember(struct dagpatch_model_exec *exec, struct plan_values *kept);

/* The driver's functions for executable graphs (model_exec.c). */
int model_instantiate(struct patch_device *device, struct driver_graph *graph, bool by_priorities,
		      struct driver_exec **ret_exec);
void model_exec_destroy(struct patch_device *device, struct driver_exec *exec);
uint64_t model_exec_bytes(struct patch_device *device, struct driver_exec *exec);
bool model_can_set(struct patch_device *device, const struct patch_params *from,
		   const struct patch_params *to);
int model_exec_set(struct patch_device *device, struct driver_exec *handle,
		   struct driver_node *node, const struct patch_params *params);
int model_exec_update(struct patch_device *device, struct driver_exec *handle,
		      struct driver_graph *graph);
int model_exec_get(struct patch_device *device, struct driver_exec *handle,
		   struct driver_node *node, struct patch_image *image);
int model_launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		 struct driver_stream *stream);

/* ---- the table, as replays read it (model_table_run.c) ---- */

/* A relocation of the table. */
struct table_relocation {
	uint32_t node; /* index in the plan */
	uint32_t slot;
	uint32_t byte;
	int64_t addend;
};

/* A change of an address, in the log. */
struct table_entry {
	uint32_t slot;
	uint64_t address;
};

/* A table. The counters of started and finished replays are raised by the threads that run
 * streams. */
struct driver_table {
	struct dagpatch_model_exec *exec;
	struct patch_table_relocation *given;
	struct table_relocation *relocations; /* in ascending order of node */
	uint32_t relocation_count;
	uint64_t *addresses; /* by slot, as the device sees them; 0: as recorded */
	struct table_entry *log;
	uint64_t log_count, written;
	uint64_t *ends;
	struct dagpatch_model_stream **streams; /* of the last replays */
	uint64_t versions, launched;
	bool taken;		  /* its device memory is counted */
	_Atomic uint64_t started; /* replays that have read their addresses */
	_Atomic uint64_t finished;
	_Atomic uint64_t applied; /* entries of the log that were applied */
};

/* model_table_advance applies the addresses of the replay that begins now; model_table_overlay
 * writes them into the arguments of plan node INDEX. */
void model_table_advance(struct driver_table *table);

/* The replay has ended. */
void model_table_finish(struct driver_table *table);
void model_table_overlay(const struct driver_table *table, uint32_t index, uint8_t *arguments);

/* ---- running (model_run.c) ---- */

/* What a replay runs with; the references are the stream's. */
struct model_replay {
	struct plan *plan;
	struct plan_values *values;
	struct driver_table *table;
};

/* Runs an event node: records EVENT (IS_RECORD), or waits for its last record. */
typedef void (*model_event_fn)(struct dagpatch_model_event *event, bool is_record);

/* Run a whole replay, or one node, on the calling thread. Waiting for an event may run other
 * streams, so the streams pass the function that runs event nodes. */
void model_run_replay(const struct model_replay *replay, model_event_fn run_event);
void model_run_image(enum patch_kind kind, const void *image, model_event_fn run_event);

/* The kernel that sets a conditional's handle, and a new handle. */
struct dagpatch_model_kernel *model_condition_kernel(void);
uint64_t model_condition_handle(void);

/* ---- the table, as the host writes it: model_table.c (the contracts: patch/driver.h) ---- */

int model_table_create(struct patch_device *device, struct driver_graph *graph,
		       const struct patch_table_plan *plan, struct driver_table **ret_table);
int model_table_attach(struct patch_device *device, struct driver_table *table,
		       struct driver_exec *handle);
bool model_table_is_idle(struct patch_device *device, struct driver_table *table);
void model_table_destroy(struct patch_device *device, struct driver_table *table);
void model_table_bytes(const struct driver_table *table, uint64_t *ret_device_bytes,
		       uint64_t *ret_pinned_bytes);
int model_table_bind(struct patch_device *device, struct driver_table *table, const uint32_t *slots,
		     const uint64_t *addresses, uint32_t count);

/* model_table_launch notes that the next replay is launched into STREAM; model_table_unlaunch
 * takes this back if the launch failed. */
void model_table_launch(struct driver_table *table, struct dagpatch_model_stream *stream);
void model_table_unlaunch(struct driver_table *table);

/* ---- streams (model_stream.c) ---- */

/* Returns GIVEN, or for NULL the default stream of the thread's current device. */
struct dagpatch_model_stream *model_stream_of(struct dagpatch_model_stream *given);

/* Sets the priority that kernels get when they are captured on the stream; 0 at first. */
void model_stream_prioritise(struct dagpatch_model_stream *stream, int32_t priority);
int model_stream_device(struct patch_device *device, struct driver_stream *stream,
			int *ret_ordinal);

/* The executable graph is being destroyed. Its replays continue; they are counted as stale unless
 * IS_KEPT. */
void model_exec_order_release(struct dagpatch_model_exec *exec, bool is_kept);

/* Runs all work of all streams. */
void model_streams_drain(void);

/* Waits until *COUNT, which work on STREAM raises, is at least TARGET; runs a lazy stream on the
 * calling thread. */
void model_stream_await(struct dagpatch_model_stream *stream, const _Atomic uint64_t *count,
			uint64_t target);

/* ---- capture (model_capture.c) ---- */

/* The driver's functions. */
int model_capture_begin(struct patch_device *device, struct driver_stream **ret_stream);
int model_capture_end(struct patch_device *device, struct driver_stream *handle,
		      struct driver_graph **ret_graph);
int model_stream_is_captured(struct patch_device *device, struct driver_stream *stream);
int model_capturing_get(struct patch_device *device, struct driver_stream *stream,
			struct patch_capturing *ret_capturing);
int model_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			     struct driver_node *const *nodes, uint32_t count);

/* Returns the graph that STREAM is captured into, or NULL. *RET_NODES are the nodes that the next
 * captured node waits for; they belong to the stream. */
struct dagpatch_model_graph *model_stream_capture(struct dagpatch_model_stream *stream,
						  struct model_node *const **ret_nodes,
						  uint32_t *ret_count);

/* The next captured node of STREAM waits for these nodes, and for no others. */
int model_stream_continue(struct dagpatch_model_stream *stream, struct model_node *const *nodes,
			  uint32_t count);

/* ---- submitting work (model_submit.c) ---- */

/* Appends what PARAMS says to GIVEN, as model_stream_of finds it, or adds it to the graph that the
 * stream is captured into. PARAMS->image is copied. 0 or a negative errno. */
int model_submit(struct dagpatch_model_stream *given, const struct patch_params *params);

/* ---- events (model_event.c) ---- */

/* True if all submitted records of EVENT have run. */
bool model_event_is_done(struct dagpatch_model_event *event);

/* Waits until that is so; runs a lazy stream on the calling thread. */
void model_event_await(struct dagpatch_model_event *event);

/* The driver's functions: a mark is an event. */
int model_mark_record(struct patch_device *device, struct driver_mark **mark,
		      struct driver_stream *stream);
int model_mark_order(struct patch_device *device, struct driver_mark *mark,
		     struct driver_stream *stream);
bool model_mark_is_done(struct patch_device *device, struct driver_mark *mark);
void model_mark_wait(struct patch_device *device, struct driver_mark *mark);
void model_mark_destroy(struct patch_device *device, struct driver_mark *mark);

#endif
