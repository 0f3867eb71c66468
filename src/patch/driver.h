/* The interface between dagpatch's core and a driver: one table of functions (struct patch_driver)
 * for each driver. driver_list.c lists all tables; driver.c has what drivers call.
 *
 * A node's parameters are an *image*: a block of bytes whose layout depends only on the node's
 * kind and is the same for every driver (node_image.h). Relocations, comparisons of captures
 * and patching work on images. A driver converts an image into its own structs and back.
 *
 * Errors: functions return 0 (or a count) or a negative errno. Before it returns a failure, a
 * driver calls patch_fault with the name and the result of the call that failed. -ENOTSUP: not
 * possible this way, another strategy may work. -ENOMEM: no memory. -EIO: any other failure.
 *
 * Ownership: what a driver is given stays the core's after the call, unless the function's
 * contract says otherwise.
 *
 * Threading: several threads may call a driver's functions at once for different graphs. One graph
 * is used by one thread at a time, also for reading, as CUDA requires. All functions are called
 * with the device current (device_enter), except open, close, enter, leave, stream_device,
 * exec_bytes and table_bytes. The calling thread or another one may be capturing a stream: a call
 * that drivers refuse during a capture and that would invalidate the capture (memory, waiting) is
 * made in relaxed mode. */
#ifndef DAGPATCH_PATCH_DRIVER_H
#define DAGPATCH_PATCH_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

#include "patch/node_image.h"

/* The driver's own handles: CUgraph, hipGraphNode_t, ... The core never dereferences them. */
struct driver_graph;
struct driver_node;
struct driver_exec;
struct driver_stream;
struct driver_table; /* made by table_create */
struct driver_mark;  /* made by mark_record */

struct patch_layouts; /* layout.h */

/* ---- the device ---- */

/* The handle of CUDA's and HIP's per-thread default stream: another stream on each thread. */
enum { PATCH_STREAM_PER_THREAD = 2 };

/* What a device and its driver can do; bits of patch_device.capabilities. */
enum patch_capability {
	PATCH_HAS_TABLE = DAGPATCH_HAS_TABLE,
	PATCH_HAS_CONDITIONALS = DAGPATCH_HAS_CONDITIONALS,
	PATCH_HAS_LAYOUTS = DAGPATCH_HAS_LAYOUTS,
	/* With PATCH_HAS_CONDITIONALS: DAGPATCH_CASE is available, too. */
	PATCH_HAS_CASES = 1024,
	/* exec_set accepts nodes inside of children and bodies; without it these nodes are changed
	 * by an update of the whole graph. */
	PATCH_SETS_NESTED = 64,
	/* Changes inside of a child of an executable graph are not reliable: children, captured
	 * ones too, are built into the top graph (flatten.c). Excludes PATCH_HAS_CONDITIONALS and
	 * PATCH_HAS_TABLE. */
	PATCH_FLATTENS = 128,
	/* With PATCH_FLATTENS: the driver loses dependencies between branches, so all nodes are
	 * built as one chain, in an order that their dependencies allow. */
	PATCH_CHAINS = 256,
	/* With PATCH_FLATTENS: a memset of an executable graph loses its values some time after
	 * they were set, so they are set again before each launch. */
	PATCH_FORGETS_MEMSETS = 512,
	/* exec_destroy may be called while replays are in flight, and does not wait for them. */
	PATCH_KEEPS_EXECS = 2048,
	/* Exception to PATCH_KEEPS_EXECS: destroying an executable graph with a table waits for
	 * its replays. */
	PATCH_KEEPS_NO_TABLES = 4096,
};

/* Costs of a graph with the table and of one without it on this device, in ns. */
struct patch_costs {
	double set;    /* to set one node, with what it adds to the next launch and replay */
	double idle;   /* additional time of a launch with the table when nothing has changed */
	double change; /* further time of a launch with the table when something has changed */
	double build;  /* time to build and instantiate, for one node */
};

/* A device of a driver. `open` makes it, and a driver's own struct begins with it. */
struct patch_device {
	const struct patch_driver *driver; /* set by open */
	uint32_t capabilities;		   /* enum patch_capability, set by open */
	int ordinal;			   /* the driver's number of the device, set by open */
	/* launch attributes that the device has: a sum of DAGPATCH_PRIORITY, ... */
	uint32_t attributes;
	/* Updates of each node of one executable graph after which updates fail; 0: no limit. */
	uint32_t updates_before_instantiate;
	uint32_t table_versions; /* from the options */
	/* filled by measure; all 0: unknown, DAGPATCH_AUTO uses no table */
	struct patch_costs costs;
	/* Set and used by the core. */
	struct patch_layouts *layouts;
	/* Locked while the driver reads a captured graph that several recordings or a cache may
	 * share. */
	pthread_mutex_t shared_graphs;
};

/* One address in a kernel node's argument block, to be set by the table. */
struct patch_table_relocation {
	struct driver_node *node; /* of the given graph, or of a graph embedded in it */
	uint32_t slot;
	/* in the argument block, at the driver's own offset because the layout is known */
	uint32_t byte;
	int64_t addend; /* added to the slot's address */
};

/* All addresses that a table sets. The arrays are the caller's. */
struct patch_table_plan {
	const struct patch_table_relocation *relocations; /* in ascending order of slot */
	uint32_t relocation_count;
	uint32_t slot_count;
};

/* Parameters of the kernel that sets a conditional's handle (condition_kernel). The kernel gives
 * the handle 0 or 1 for IF and WHILE, and 0 to count - 1 for CASE, as enum dagpatch_condition
 * defines. */
struct patch_condition_arguments {
	uint64_t handle;    /* of the conditional node */
	uint64_t predicate; /* device address */
	uint32_t condition; /* enum dagpatch_condition */
	uint32_t count;	    /* number of bodies */
	/* the predicate is a byte, see dagpatch_conditional.predicate_is_byte */
	uint32_t is_byte;
	uint32_t reserved; /* 0 */
};

/* The capture that a stream takes part in, as capturing_get fills it. */
struct patch_capturing {
	struct driver_graph *graph; /* the driver's; nodes may be added to it */
	/* by malloc, the caller frees it: the nodes that the next captured node waits for */
	struct driver_node **after;
	uint32_t after_count;
};

/* A driver. A function pointer that may be NULL says so. */

/* as in dagpatch_options.driver */
struct patch_driver {
	const char *name;

	/* Opens the driver's library and the thread's current device; on CUDA, its current
	 * context. ERROR may be NULL. -ENOENT: no such library or no device; the message says
	 * which. */
	int (*open)(const struct dagpatch_options *options, struct patch_device **ret_device,
		    struct dagpatch_error *error);
	/* Frees the device. No object of it is left. */
	void (*close)(struct patch_device *device);
	/* PATCH_HAS_TABLE: fills *RET_COSTS. Runs small graphs and waits for them. device->layouts
	 * is set. */
	int (*measure)(struct patch_device *device, struct patch_costs *ret_costs);

	/* `enter` makes the device the calling thread's current one. *RET_BEFORE is what was
	 * current before; `leave` makes that current again. With a single device, enter may do
	 * nothing. */
	int (*enter)(struct patch_device *device, uintptr_t *ret_before);
	void (*leave)(struct patch_device *device, uintptr_t before);
	/* Called after a callback of the caller's returned: makes the device current again. */
	void (*settle)(struct patch_device *device);
	/* Called before and after a callback that may wait for another thread's call (a vote).
	 * NULL: enter does not keep other threads out, so nothing is needed. */
	void (*pause)(struct patch_device *device);
	void (*resume)(struct patch_device *device);
	/* Fills the ordinal of the device that STREAM belongs to. The streams without a handle of
	 * their own (NULL, the legacy and the per-thread one) belong to DEVICE; with a single
	 * device all streams do. */
	int (*stream_device)(struct patch_device *device, struct driver_stream *stream,
			     int *ret_ordinal);

	/* Device memory, or pinned host memory if ON_HOST; aligned to 256 bytes at least. */
	int (*memory_alloc)(struct patch_device *device, uint64_t bytes, bool on_host,
			    void **ret_address);
	void (*memory_free)(struct patch_device *device, void *address, bool on_host);
	/* Copies between any two kinds of addresses, in stream order. */
	int (*copy_async)(struct patch_device *device, void *dst, const void *src, uint64_t bytes,
			  struct driver_stream *stream);

	/* Marks. A mark is a position in a stream: it stands for all work that was submitted to
	 * the stream before. mark_record moves *MARK to the end of STREAM, and creates it first if
	 * it is NULL (*MARK is then set even if moving it fails). mark_order makes work that is
	 * submitted to STREAM later wait for the mark. */
	int (*mark_record)(struct patch_device *device, struct driver_mark **mark,
			   struct driver_stream *stream);
	int (*mark_order)(struct patch_device *device, struct driver_mark *mark,
			  struct driver_stream *stream);
	/* Never waits. False: not done yet, or unknown. */
	bool (*mark_is_done)(struct patch_device *device, struct driver_mark *mark);
	/* Waits on the host. */
	void (*mark_wait)(struct patch_device *device, struct driver_mark *mark);
	/* Destroys a mark that is done. */
	void (*mark_destroy)(struct patch_device *device, struct driver_mark *mark);
	/* Waits for all work of the device. This may end captures on it. */
	void (*wait_all)(struct patch_device *device);

	/* Fills the parameters of a kernel, hidden ones too, CAPACITY at most, and returns how
	 * many there are. -ENOTSUP: not known. Called once for each function, because layout.h
	 * remembers them. */
	int (*kernel_parameters)(struct patch_device *device, void *function,
				 struct dagpatch_parameter *ret_parameters, uint32_t capacity);

	/* Fills TEXT with the kernel's name, ended by 0 and cut to SIZE. The pointer may be NULL:
	 * names are unknown. */
	int (*kernel_name)(struct patch_device *device, void *function, char *text, size_t size);

	/* Capture on a stream of the driver's own, by the calling thread. capture_end is also
	 * called when the captured work failed. It ends the capture in any case; *RET_GRAPH is
	 * then NULL or a graph that the core destroys. */
	int (*capture_begin)(struct patch_device *device, struct driver_stream **ret_stream);
	int (*capture_end)(struct patch_device *device, struct driver_stream *stream,
			   struct driver_graph **ret_graph);

	/* Streams of the caller. stream_is_captured is called at each launch: 1: work submitted to
	 * STREAM becomes nodes of a graph; 0: it runs; -EINVAL: it is captured into a graph that
	 * was invalidated. */
	int (*stream_is_captured)(struct patch_device *device, struct driver_stream *stream);
	int (*capturing_get)(struct patch_device *device, struct driver_stream *stream,
			     struct patch_capturing *ret_capturing);
	/* The next captured node of STREAM waits for these nodes, and for no others. */
	int (*capturing_continue)(struct patch_device *device, struct driver_stream *stream,
				  struct driver_node *const *nodes, uint32_t count);

	/* An empty graph. */
	int (*graph_create)(struct patch_device *device, struct driver_graph **ret_graph);
	void (*graph_destroy)(struct patch_device *device, struct driver_graph *graph);
	int (*graph_clone)(struct patch_device *device, struct driver_graph *graph,
			   struct driver_graph **ret_clone);
	/* Fills the nodes of a graph, CAPACITY at most, and returns how many there are. Nodes of
	 * embedded graphs are not included. The order is the same for a graph and its copies, and
	 * for two captures of the same work. */
	int (*graph_nodes)(struct patch_device *device, struct driver_graph *graph,
			   struct driver_node **ret_nodes, uint32_t capacity);
	/* Fills the edges, CAPACITY at most, in any order, and returns how many there are. */
	int (*graph_edges)(struct patch_device *device, struct driver_graph *graph,
			   struct driver_node **ret_from, struct driver_node **ret_to,
			   uint32_t capacity);

	/* Reads kind and parameters of a node of GRAPH, which is not an executable graph and whose
	 * nodes were listed since it was last changed. The image of a PATCH_CHILD names the
	 * embedded graph. A conditional reads as PATCH_OPAQUE, because drivers do not return its
	 * bodies. */
	int (*node_get)(struct patch_device *device, struct driver_graph *graph,
			struct driver_node *node, struct patch_image *image);
	/* PATCH_FLATTENS: gives TO, which was added as a copy of FROM, what FROM has besides its
	 * parameters: a kernel's launch attributes. The pointer may be NULL: there is nothing to
	 * copy. */
	int (*node_inherit)(struct patch_device *device, struct driver_node *from,
			    struct driver_node *to);
	/* Where device.attributes is not 0: gives a kernel node of a graph that was not
	 * instantiated yet these attributes, except those that node_add has set. */
	int (*attributes_set)(struct patch_device *device, struct driver_node *node,
			      const struct dagpatch_attributes *attributes);
	/* With DAGPATCH_PRIORITY in device.attributes: 1 if a kernel in GRAPH or in its children
	 * has a priority other than 0, otherwise 0. */
	int (*graph_has_priority)(struct patch_device *device, struct driver_graph *graph);
	/* Adds a node of any kind but conditional and opaque after the AFTER_COUNT nodes AFTER.
	 * PATCH_CHILD: the graph is copied, see child_graph. */
	int (*node_add)(struct patch_device *device, struct driver_graph *graph,
			const struct patch_params *params, struct driver_node *const *after,
			uint32_t after_count, struct driver_node **ret_node);
	/* Changes a node of a graph, also of an embedded graph. Executable graphs made of the
	 * graph before do not change. */
	int (*node_set)(struct patch_device *device, struct driver_node *node,
			const struct patch_params *params);
	/* True if node_set, exec_set and exec_update can give the parameters TO to a node of the
	 * same kind that was made with FROM; false if that needs a new graph. The pointer may be
	 * NULL: the calls are tried and return -ENOTSUP. */
	bool (*can_set)(struct patch_device *device, const struct patch_params *from,
			const struct patch_params *to);
	/* Returns the graph embedded in a child node; it belongs to the node. Nodes may be added
	 * to it until the top graph is instantiated. */
	int (*child_graph)(struct patch_device *device, struct driver_node *node,
			   struct driver_graph **ret_graph);

	/* PATCH_HAS_CONDITIONALS. condition_create makes a handle for one conditional node of
	 * GRAPH. condition_kernel returns the kernel that sets a handle; its layout is known.
	 * conditional_add adds the node; RET_BODIES receives BODY_COUNT empty graphs that belong
	 * to the node. */
	int (*condition_create)(struct patch_device *device, struct driver_graph *graph,
				uint64_t *ret_handle);
	int (*condition_kernel)(struct patch_device *device, void **ret_function);
	int (*conditional_add)(struct patch_device *device, struct driver_graph *graph,
			       uint64_t handle, enum dagpatch_condition condition,
			       uint32_t body_count, struct driver_node *const *after,
			       uint32_t after_count, struct driver_node **ret_node,
			       struct driver_graph **ret_bodies);

	/* Makes an executable graph. GRAPH stays as the template for node_set and exec_update.
	 * BY_PRIORITIES: kernels run at their own priorities instead of the stream's. */
	int (*instantiate)(struct patch_device *device, struct driver_graph *graph,
			   bool by_priorities, struct driver_exec **ret_exec);
	/* Without PATCH_KEEPS_EXECS it is called only when no replay is in flight. */
	void (*exec_destroy)(struct patch_device *device, struct driver_exec *exec);
	/* Changes a node of the executable graph; NODE is the template's. Replays that were
	 * launched before are not affected. PATCH_CHILD: sets all parameters of the child from a
	 * graph of the same shape. After -ENOTSUP the node is unchanged, unless it is a child;
	 * after any other failure the core treats the node as changed. */
	int (*exec_set)(struct patch_device *device, struct driver_exec *exec,
			struct driver_node *node, const struct patch_params *params);
	/* Sets all parameters of EXEC from the template. After a failure the core treats every
	 * node as changed. */
	int (*exec_update)(struct patch_device *device, struct driver_exec *exec,
			   struct driver_graph *graph);
	/* Reads a node's parameters in the executable graph. The pointer may be NULL: they cannot
	 * be read. */
	int (*exec_get)(struct patch_device *device, struct driver_exec *exec,
			struct driver_node *node, struct patch_image *image);
	/* Returns the device memory that EXEC holds. The pointer may be NULL: the driver does not
	 * tell. */
	uint64_t (*exec_bytes)(struct patch_device *device, struct driver_exec *exec);
	/* Launches EXEC. TABLE is its table, or NULL. All launches of an executable graph with a
	 * table come through this function, one thread at a time. */
	int (*launch)(struct patch_device *device, struct driver_exec *exec,
		      struct driver_table *table, struct driver_stream *stream);

	/* PATCH_HAS_TABLE. Called when the graph is complete and has its first addresses, right
	 * before it is instantiated. The function may change the nodes that have relocations and
	 * add nodes of its own, which graph_nodes must then omit or list last. -ENOTSUP: not
	 * possible for this graph; the core then builds the graph again. The plan's arrays are the
	 * caller's. */
	int (*table_create)(struct patch_device *device, struct driver_graph *graph,
			    const struct patch_table_plan *plan, struct driver_table **ret_table);
	/* Called once, with the executable graph. The pointer may be NULL: not needed. */
	int (*table_attach)(struct patch_device *device, struct driver_table *table,
			    struct driver_exec *exec);
	/* True if no replay in flight uses the table. The executable graph may already be
	 * destroyed. */
	bool (*table_is_idle)(struct patch_device *device, struct driver_table *table);
	/* Called after exec_destroy. Waits until the table is idle. */
	void (*table_destroy)(struct patch_device *device, struct driver_table *table);
	/* Device memory and pinned host memory that the table holds. */
	void (*table_bytes)(const struct driver_table *table, uint64_t *ret_device_bytes,
			    uint64_t *ret_pinned_bytes);
	/* Binds SLOTS[i] to ADDRESSES[i] for the next launch and later ones; launches before are
	 * not affected. All of them or none. May wait until the oldest replay has released its
	 * version of the table. */
	int (*table_bind)(struct patch_device *device, struct driver_table *table,
			  const uint32_t *slots, const uint64_t *addresses, uint32_t count);
};

extern const struct patch_driver patch_driver_cuda;
extern const struct patch_driver patch_driver_hip;
extern const struct patch_driver patch_driver_model;

/* All drivers that were built in; ended by NULL (driver_list.c). */
extern const struct patch_driver *const patch_drivers[];

/* ---- the thread's device ---- */

/* Every public call that reaches the driver begins with device_enter and, if that succeeds, ends
 * with device_leave. In between, the device is the thread's current one, whatever the thread had
 * current before. Visits may be nested. */
struct device_visit {
	struct patch_device *device;
	uintptr_t before; /* the driver's value, for leave */
};

static inline int device_enter(struct patch_device *device, struct device_visit *ret_visit)
{
	ret_visit->device = device;
	return device->driver->enter(device, &ret_visit->before);
}

static inline void device_leave(const struct device_visit *visit)
{
	visit->device->driver->leave(visit->device, visit->before);
}

/* ---- what drivers call (driver.c) ---- */

/* Notes a failure for the message of the recording's error; the last failure of each thread is
 * kept. CALL is the driver's call (a constant string), CODE its result, TEXT the meaning of CODE
 * (copied). Returns CODE_ERRNO, so that a function can end with it. */
int patch_fault(int code_errno, const char *call, int code, const char *text);
struct patch_fault {
	const char *call; /* NULL: no failure */
	int code_errno;
	int code;
	char text[96];
};

/* Returns the thread's last failure and clears it. */
struct patch_fault patch_fault_take(void);

/* Finds the interned layout of a kernel whose parameters the driver or the caller knows. -ENOTSUP:
 * neither knows them; *RET_LAYOUT is then NULL, as after a failure. Takes a lock of the device's
 * layouts. */
int patch_layout_find(struct patch_device *device, void *function,
		      const struct patch_layout **ret_layout);

#endif
