/* The pieces of the model device (dagpatch/model.h): graphs, what is instantiated of them,
 * streams. */
#ifndef DAGPATCH_MODEL_PARTS_H
#define DAGPATCH_MODEL_PARTS_H

#include <stdatomic.h>

#include <dagpatch/model.h>

#include "patch/driver.h"

/* ---- what tests have of it (model_tests.c) ---- */

struct model_live {
	_Atomic uint64_t allocations, streams, events, graphs, nodes, execs, tables, kernels;
};
extern struct model_live model_live;

/* The driver's code of what is no injected failure. */
enum { MODEL_REFUSED = 1 };

/* DAGPATCH_MODEL_NO_...: what the device is to lack. */
uint32_t model_missing(void);

/* ---- devices (model_device.c) ---- */

/* Counts the call when another device is current. */
bool model_is_here(const struct patch_device *device);
int model_enter(struct patch_device *device, uintptr_t *ret_before);
void model_leave(struct patch_device *device, uintptr_t before);
void model_settle(struct patch_device *device);

struct dagpatch_model_kernel {
	dagpatch_model_fn function;
	uint32_t count;
	uint32_t bytes;	  /* of the argument block */
	const char *name; /* may be NULL */
	struct dagpatch_parameter parameters[];
};

/* Every call that can fail begins and ends with these. model_begin counts it: a negative errno when
 * it is one that is to fail. model_end tells of the failure RC, and returns it. */
int model_begin(const struct patch_device *device, const char *call);
int model_end(const char *call, int rc);

/* Memory of the device that a driver would hold. -ENOMEM: beyond dagpatch_model_limit. */
int model_memory_take(uint64_t bytes);
void model_memory_give(uint64_t bytes);
/* A replay runs whose exec is gone. */
void model_note_stale(void);

/* ---- graphs (model_graph.c): not for several threads at once, as a driver's are not ---- */

struct model_node {
	enum patch_kind kind;
	uint32_t index; /* in its graph */
	uint32_t size;
	uint8_t *image; /* kernels: arguments where the kernel has them */
	struct dagpatch_model_graph *graph;
	struct model_node **after;
	uint32_t after_count;
	/* A child's one embedded graph, a conditional's bodies. */
	struct dagpatch_model_graph **inner;
	uint32_t inner_count;
	enum dagpatch_condition condition;
	uint64_t handle;
	struct dagpatch_attributes attributes; /* kernels */
};

struct dagpatch_model_graph {
	struct model_node **nodes; /* in the order of adding */
	uint32_t count, capacity;
	bool has_table; /* cannot be copied nor instantiated again */
	/* As with CUDA a graph is one thread's at a time, also when it is only read: this is what
	 * ThreadSanitizer finds two threads at. */
	uint32_t reads;
};

int model_graph_create(struct dagpatch_model_graph **ret_graph);
/* Bodies of conditionals cannot be copied: -ENOTSUP, and for a graph with a table. */
int model_graph_copy(struct dagpatch_model_graph *graph, struct dagpatch_model_graph **ret_copy);
int model_node_add(struct dagpatch_model_graph *graph, const struct patch_params *params,
		   struct model_node *const *after, uint32_t after_count,
		   struct model_node **ret_node);
int model_conditional_add(struct dagpatch_model_graph *graph, enum dagpatch_condition condition,
			  uint32_t body_count, struct model_node *const *after,
			  uint32_t after_count, struct model_node **ret_node);
/* -EINVAL: another kind. */
int model_node_set(struct model_node *node, const struct patch_params *params);
/* A kernel of the graph, or of what is inside of it, has another priority than 0. */
bool model_graph_has_priority(struct dagpatch_model_graph *graph);
/* The image as the device keeps it. */
int model_image(const struct patch_params *params, struct patch_image *image);

/* ---- instantiated graphs ---- */

/* All nodes in one row: a node, then what is inside of it. */
struct plan_node {
	const struct model_node *origin;
	enum patch_kind kind;
	uint32_t image; /* offset among the values */
	uint32_t size;
	uint32_t inner_nodes; /* how many of the next nodes are inside */
	uint32_t first_level; /* of what is inside */
	uint32_t level_count;
	enum dagpatch_condition condition;
	uint64_t handle;
};

/* A graph's own nodes in the order in which they run. */
struct plan_level {
	uint32_t *order; /* indices of plan nodes */
	uint32_t count;
};

struct plan {
	_Atomic uint32_t references;
	struct plan_node *nodes;
	uint32_t count, capacity;
	struct plan_level *levels;
	uint32_t level_count, level_capacity;
	struct plan_node **by_origin; /* sorted */
	uint32_t value_bytes;
};

/* All images of one plan; shared with the replays in flight until somebody writes. */
struct plan_values {
	_Atomic uint32_t references;
	_Alignas(16) uint8_t bytes[];
};

int model_plan_create(struct dagpatch_model_graph *graph, struct plan **ret_plan,
		      struct plan_values **ret_values);
void model_plan_release(struct plan *plan);
void model_values_release(struct plan_values *values);
/* NULL: not one of the plan's. */
struct plan_node *model_plan_find(const struct plan *plan, const struct model_node *node);

struct dagpatch_model_exec {
	uint32_t device;
	struct plan *plan;
	struct plan_values *values;
	bool *is_used; /* by plan node: launched by dagpatch since it was set; NULL: none yet */
	struct driver_table *table;
	struct model_exec_order *order;
	bool by_priorities; /* it was instantiated so; the model runs nodes one by one */
};

/* Replays of one exec run one after the other in the order of their launches. It lives, and with it
 * the exec's memory is held, until the exec is gone and the last replay is done. */
struct model_exec_order {
	uint32_t references; /* the exec's and one a replay; with the streams' lock */
	bool is_gone;	     /* the exec, and was not to go */
	uint64_t bytes;
	uint64_t launched, done;
	struct dagpatch_model_stream *last; /* where the latest replay is */
};

/* Images of ORIGIN and what is inside of it (NULL: of all) from GRAPH, which must have the same
 * shape; the first COUNT nodes of it only. */
int model_exec_take(struct dagpatch_model_exec *exec, const struct model_node *origin,
		    struct dagpatch_model_graph *graph, uint32_t count);
int model_exec_set(struct dagpatch_model_exec *exec, const struct model_node *node,
		   const struct patch_params *params);
/* DAGPATCH_MODEL_NO_KEPT_MEMSETS, around a launch: gives the top graph's memsets that are used other
 * values; then its own values back, and all are used. */
int model_exec_forget(struct dagpatch_model_exec *exec, struct plan_values **ret_kept);
void model_exec_remember(struct dagpatch_model_exec *exec, struct plan_values *kept);

/* ---- running (model_run.c) ---- */

struct model_replay {
	struct plan *plan;
	struct plan_values *values;
	struct driver_table *table;
};
void model_run_replay(const struct model_replay *replay);
void model_run_image(enum patch_kind kind, const void *image);

/* The kernel that sets a conditional's handle. */
struct dagpatch_model_kernel *model_condition_kernel(void);
uint64_t model_condition_handle(void);

/* The table's addresses for the next replay are applied; then they are put into the arguments of
 * node INDEX. */
void model_table_advance(struct driver_table *table);
/* The replay has ended. */
void model_table_finish(struct driver_table *table);
void model_table_overlay(const struct driver_table *table, uint32_t index, uint8_t *arguments);

/* ---- the table (model_table.c), see struct patch_driver ---- */

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
/* The next replay will be launched into STREAM; it was not, after all. */
void model_table_launch(struct driver_table *table, struct dagpatch_model_stream *stream);
void model_table_unlaunch(struct driver_table *table);

/* ---- streams (model_stream.c) ---- */

/* What NULL stands for: of the thread's current device. */
struct dagpatch_model_stream *model_stream_of(struct dagpatch_model_stream *given);
/* Kernels that are captured on the stream get it; it is 0 at first. */
void model_stream_prioritise(struct dagpatch_model_stream *stream, int32_t priority);
int model_stream_device(struct patch_device *device, struct driver_stream *stream,
			int *ret_ordinal);
/* NULL: STREAM is not captured. The nodes are those that what is captured next waits for. */
struct dagpatch_model_graph *model_stream_capture(struct dagpatch_model_stream *stream,
						  struct model_node *const **ret_nodes,
						  uint32_t *ret_count);
/* What is captured next waits for these. */
int model_stream_continue(struct dagpatch_model_stream *stream, struct model_node *const *nodes,
			  uint32_t count);

/* The exec goes; its replays go on, and are counted as stale unless it IS_KEPT for them. */
void model_exec_order_release(struct dagpatch_model_exec *exec, bool is_kept);
/* Whether all records that were submitted have been run. */
bool model_event_is_done(struct dagpatch_model_event *event);
void model_event_await(struct dagpatch_model_event *event);
/* Runs all streams dry. */
void model_streams_drain(void);
/* Waits until *COUNT, which an operation on STREAM raises, is at least TARGET. */
void model_stream_await(struct dagpatch_model_stream *stream, const _Atomic uint64_t *count,
			uint64_t target);
void model_event_run(struct dagpatch_model_event *event, bool is_record);

#endif
