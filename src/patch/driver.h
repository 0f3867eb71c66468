/* What dagpatch needs of a driver: one table of functions a driver, all listed in driver.c.
 *
 * A node's parameters are an *image*: a block of bytes whose layout depends on the node's kind
 * alone (below), the same for every driver. Relocations, comparisons of captures and patching all
 * work on images; a driver turns an image into its own structs and back.
 *
 * Functions return 0 (or a count) or a negative errno, and on failure have called patch_fault with
 * the driver's call and code: -ENOTSUP: it cannot be done this way, another strategy may; -ENOMEM:
 * no memory; -EIO: anything else. Nothing a driver is given belongs to it after the call unless
 * said here. Functions may be called by several threads at once for different graphs; a graph, also
 * one that is only read, is one thread's at a time, as CUDA has it. All but open, close, enter,
 * leave, stream_device, exec_bytes and table_bytes are called with the device current
 * (device_enter). The thread, or another one, may be capturing: a call that drivers then refuse and
 * that would invalidate the capture (memory, waiting) is made in relaxed mode. */
#ifndef DAGPATCH_PATCH_DRIVER_H
#define DAGPATCH_PATCH_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* The driver's own handles, never looked into: CUgraph, hipGraphNode_t, ... */
struct driver_graph;
struct driver_node;
struct driver_exec;
struct driver_stream;
struct driver_table; /* made by table_create */
struct driver_mark;  /* made by mark_record */

struct patch_layouts; /* layout.h */

enum patch_kind {
	PATCH_KERNEL,
	PATCH_COPY,
	PATCH_MEMSET,
	PATCH_CHILD,
	PATCH_EMPTY,
	PATCH_HOST,
	PATCH_EVENT_RECORD,
	PATCH_EVENT_WAIT,
	PATCH_CONDITIONAL,
	PATCH_OPAQUE, /* any other: cannot be read, cannot be added */
	PATCH_KINDS
};

/* ---- images ---- */

/* How a kernel's arguments lie in its block. Interned: the same function has the same pointer as
 * long as the device lives. */
struct patch_layout {
	const void *function;
	uint32_t index; /* among the device's layouts */
	uint32_t count;
	uint32_t bytes; /* end of the last parameter */
	bool is_known;	/* the driver or the caller said so; else packed from what was passed */
	struct dagpatch_parameter parameters[];
};

enum patch_form {
	PATCH_BY_POINTERS, /* the block is cut by the layout into kernelParams */
	PATCH_BY_BLOCK,	   /* as one block, by `extra`: it was captured so */
};

struct patch_kernel {
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	uint16_t argument_bytes;
	uint16_t form;
	uint8_t arguments[]; /* at the offsets that the layout has; no alignment beyond 8 */
};
_Static_assert(sizeof(struct patch_kernel) == 40, "a node and this are 64 bytes");

/* First the two addresses: DAGPATCH_DST, DAGPATCH_SRC. */
enum patch_memory { PATCH_HOST_MEMORY = 1, PATCH_DEVICE_MEMORY, PATCH_ARRAY, PATCH_UNIFIED };
struct patch_end {
	uint64_t array;		/* PATCH_ARRAY: instead of the address */
	uint64_t pitch;		/* bytes from row to row */
	uint64_t rows;		/* from slice to slice */
	uint64_t x_bytes, y, z; /* where in it; recorded copies have it in the address */
	uint32_t memory;
	uint32_t level;
};
struct patch_copy {
	uint64_t dst_address;
	uint64_t src_address;
	struct patch_end dst, src;
	uint64_t width_bytes, height, depth; /* at least 1 */
	uint32_t dimensions; /* 1, 2 or 3: which call made it, where a driver tells them apart */
	uint32_t reserved;   /* 0: images are compared byte by byte */
};
_Static_assert(offsetof(struct patch_copy, dst_address) == DAGPATCH_DST, "");
_Static_assert(offsetof(struct patch_copy, src_address) == DAGPATCH_SRC, "");

struct patch_memset {
	uint64_t address;
	uint64_t pitch;
	uint64_t width; /* elements */
	uint64_t height;
	uint32_t value;
	uint32_t element_bytes;
};

struct patch_child {
	struct driver_graph *graph;
};

struct patch_host {
	void (*function)(void *user);
	void *user;
};

struct patch_event {
	void *event;
};

/* PATCH_EMPTY, PATCH_CONDITIONAL and PATCH_OPAQUE have none. */

/* One image, the caller's; driver's node_get fills it by patch_image_resize. */
struct patch_image {
	enum patch_kind kind;
	uint32_t size;
	uint32_t capacity;
	const struct patch_layout *layout; /* kernels */
	uint8_t *bytes;			   /* of malloc */
};
/* New bytes are 0. -ENOMEM. */
int patch_image_resize(struct patch_image *image, uint32_t size);
void patch_image_release(struct patch_image *image);

/* What an image is without its struct. */
struct patch_params {
	enum patch_kind kind;
	uint32_t size;
	const void *image;
	const struct patch_layout *layout; /* kernels */
	/* Kernels, of node_add alone: what of it is about dependencies. NULL: nothing. */
	const struct dagpatch_attributes *attributes;
};

/* ---- the device ---- */

enum patch_capability {
	PATCH_HAS_TABLE = DAGPATCH_HAS_TABLE,
	PATCH_HAS_CONDITIONALS = DAGPATCH_HAS_CONDITIONALS,
	PATCH_HAS_LAYOUTS = DAGPATCH_HAS_LAYOUTS,
	/* With PATCH_HAS_CONDITIONALS: DAGPATCH_CASE too. */
	PATCH_HAS_CASES = 1024,
	/* exec_set takes nodes inside of children and bodies; else these are updated with the whole
	 * graph. */
	PATCH_SETS_NESTED = 64,
	/* Nothing inside of a child can be relied on to change in an executable graph: children,
	 * captured ones too, are built into the top graph (flatten.c). Not with
	 * PATCH_HAS_CONDITIONALS or _TABLE. */
	PATCH_FLATTENS = 128,
	/* With PATCH_FLATTENS: it loses dependencies between branches, so that all nodes are built
	 * into one chain, in an order that their dependencies allow. */
	PATCH_CHAINS = 256,
	/* With PATCH_FLATTENS: a memset of an executable graph loses its values some time after
	 * these were set: they are set again before each launch. */
	PATCH_FORGETS_MEMSETS = 512,
	/* exec_destroy may be called while replays are in flight, and does not wait for them. */
	PATCH_KEEPS_EXECS = 2048,
	/* But for one with a table: destroying it waits for its replays. */
	PATCH_KEEPS_NO_TABLES = 4096,
};

/* What a graph with the table and one without cost on this device, ns. */
struct patch_costs {
	double set;    /* the host sets one node */
	double idle;   /* a launch with the table takes longer, although nothing has changed, */
	double change; /* and so much more when something has */
	double build;  /* one node, to build and instantiate the graph */
};

/* What open makes; a driver's own struct begins with it. */
struct patch_device {
	const struct patch_driver *driver; /* set by open */
	uint32_t capabilities;		   /* enum patch_capability, set by open */
	int ordinal;			   /* the driver's number of it, set by open */
	uint32_t attributes; /* launch attributes that it has: DAGPATCH_PRIORITY, ... */
	/* Of each node of one exec, after which updates fail; 0: no limit. */
	uint32_t updates_before_instantiate;
	uint32_t table_versions;  /* from the options */
	struct patch_costs costs; /* measure's; all 0: not known, AUTO takes no table */
	/* The core's. */
	struct patch_layouts *layouts;
	/* Held while the driver reads a captured graph that several recordings or a cache may
	 * share. */
	pthread_mutex_t shared_graphs;
};

/* One address in a kernel node's argument block, for the table. */
struct patch_table_relocation {
	struct driver_node *node; /* of the graph given, or embedded in it */
	uint32_t slot;
	uint32_t byte; /* in the argument block: the driver's own offset, for layouts are known */
	int64_t addend;
};

struct patch_table_plan {
	const struct patch_table_relocation *relocations; /* in ascending order of slot */
	uint32_t relocation_count;
	uint32_t slot_count;
};

/* The kernel that sets a conditional's handle (condition_kernel) has these parameters. Value given
 * to the handle: IF,
 * WHILE: 0 or 1; CASE: 0 to count - 1 as enum dagpatch_condition says. */
struct patch_condition_arguments {
	uint64_t handle;
	uint64_t predicate; /* device address */
	uint32_t condition; /* enum dagpatch_condition */
	uint32_t count;	    /* of bodies */
	uint32_t is_byte;
	uint32_t reserved;
};

/* The capture that a stream takes part in. */
struct patch_capturing {
	struct driver_graph *graph; /* the driver's; nodes may be added to it */
	struct driver_node **after; /* of malloc: what is captured next waits for these */
	uint32_t after_count;
};

struct patch_driver {
	const char *name;

	/* The thread's current device; of CUDA, its current context. ERROR may be NULL. -ENOENT: no
	 * such library or no device, the message says which. */
	int (*open)(const struct dagpatch_options *options, struct patch_device **ret_device,
		    struct dagpatch_error *error);
	void (*close)(struct patch_device *device);
	/* PATCH_HAS_TABLE; layouts are there. Runs small graphs and waits for them. */
	int (*measure)(struct patch_device *device, struct patch_costs *ret_costs);

	/* Makes the device the calling thread's current one, if it is not. RET_BEFORE, what was
	 * current before, is for leave, which makes that current again. Of a machine with one
	 * device enter may do nothing. */
	int (*enter)(struct patch_device *device, uintptr_t *ret_before);
	void (*leave)(struct patch_device *device, uintptr_t before);
	/* After a callback of the caller's: the device is current again, whatever it left. */
	void (*settle)(struct patch_device *device);
	/* Around a callback that may wait for another thread's call. NULL: enter keeps no thread
	 * out. */
	void (*pause)(struct patch_device *device);
	void (*resume)(struct patch_device *device);
	/* Where STREAM is. The streams without a handle of their own (NULL, the legacy and the
	 * per-thread one) are the device's, and on a machine with one device all are. */
	int (*stream_device)(struct patch_device *device, struct driver_stream *stream,
			     int *ret_ordinal);

	/* Memory of the device; at least 256-aligned. */
	int (*memory_alloc)(struct patch_device *device, uint64_t bytes, bool on_host,
			    void **ret_address);
	void (*memory_free)(struct patch_device *device, void *address, bool on_host);
	/* Any kind of address to any. */
	int (*copy_async)(struct patch_device *device, void *dst, const void *src, uint64_t bytes,
			  struct driver_stream *stream);

	/* A mark is a place in a stream: all that was submitted to the stream before. mark_record
	 * puts *MARK there, wherever it was, and makes it when it is NULL (also when putting it
	 * there then fails); mark_order: what is submitted to STREAM from now on waits for it. */
	int (*mark_record)(struct patch_device *device, struct driver_mark **mark,
			   struct driver_stream *stream);
	int (*mark_order)(struct patch_device *device, struct driver_mark *mark,
			  struct driver_stream *stream);
	/* False: not yet, or nobody knows. Never waits. */
	bool (*mark_is_done)(struct patch_device *device, struct driver_mark *mark);
	void (*mark_wait)(struct patch_device *device, struct driver_mark *mark);
	void (*mark_destroy)(struct patch_device *device, struct driver_mark *mark);
	/* Waits for all that was submitted to the device. May end captures of it. */
	void (*wait_all)(struct patch_device *device);

	/* Parameters of a kernel, hidden ones too: fills at most CAPACITY and returns how many
	 * there are. -ENOTSUP: not known here. Asked once a function (layout.h remembers). */
	int (*kernel_parameters)(struct patch_device *device, void *function,
				 struct dagpatch_parameter *ret_parameters, uint32_t capacity);

	/* The kernel's name, ended by 0, cut where TEXT ends. NULL: nobody knows names. */
	int (*kernel_name)(struct patch_device *device, void *function, char *text, size_t size);

	/* Capture on a stream of the driver's own, of the calling thread. capture_end is called
	 * also when the work failed, ends the capture either way, and then gives NULL or a graph
	 * that the core destroys. */
	int (*capture_begin)(struct patch_device *device, struct driver_stream **ret_stream);
	int (*capture_end)(struct patch_device *device, struct driver_stream *stream,
			   struct driver_graph **ret_graph);

	/* Streams of others. 1: what is submitted to STREAM becomes nodes of a graph; 0: it runs.
	 * -EINVAL: it is captured into a graph that was invalidated. Each launch asks. */
	int (*stream_is_captured)(struct patch_device *device, struct driver_stream *stream);
	int (*capturing_get)(struct patch_device *device, struct driver_stream *stream,
			     struct patch_capturing *ret_capturing);
	/* What is captured next in STREAM waits for these nodes, and for nothing else. */
	int (*capturing_continue)(struct patch_device *device, struct driver_stream *stream,
				  struct driver_node *const *nodes, uint32_t count);

	int (*graph_create)(struct patch_device *device, struct driver_graph **ret_graph);
	void (*graph_destroy)(struct patch_device *device, struct driver_graph *graph);
	int (*graph_clone)(struct patch_device *device, struct driver_graph *graph,
			   struct driver_graph **ret_clone);
	/* Nodes in an order that is the same for a graph and its copies, and for two captures of
	 * the same work; embedded ones not included. Fills at most CAPACITY, returns how many there
	 * are. */
	int (*graph_nodes)(struct patch_device *device, struct driver_graph *graph,
			   struct driver_node **ret_nodes, uint32_t capacity);
	/* Edges; the order means nothing. */
	int (*graph_edges)(struct patch_device *device, struct driver_graph *graph,
			   struct driver_node **ret_from, struct driver_node **ret_to,
			   uint32_t capacity);

	/* Kind and parameters of a node of GRAPH (not exec), whose nodes were listed since it was
	 * last changed. A PATCH_CHILD's image has the embedded graph; a conditional's bodies are
	 * not given, so it reads as PATCH_OPAQUE. */
	int (*node_get)(struct patch_device *device, struct driver_graph *graph,
			struct driver_node *node, struct patch_image *image);
	/* PATCH_FLATTENS: what a node that was added for a copy of FROM has beyond its parameters:
	 * a kernel's launch attributes. NULL: nothing. */
	int (*node_inherit)(struct patch_device *device, struct driver_node *from,
			    struct driver_node *to);
	/* With device.attributes: gives a kernel node, of a graph that was not instantiated yet,
	 * these but for what node_add has done. */
	int (*attributes_set)(struct patch_device *device, struct driver_node *node,
			      const struct dagpatch_attributes *attributes);
	/* With DAGPATCH_PRIORITY in them: is there a kernel in GRAPH, or in children of it, whose
	 * priority is not 0? */
	int (*graph_has_priority)(struct patch_device *device, struct driver_graph *graph);
	/* Adds any kind but conditional and opaque. PATCH_CHILD: the graph is copied, see
	 * child_graph. */
	int (*node_add)(struct patch_device *device, struct driver_graph *graph,
			const struct patch_params *params, struct driver_node *const *after,
			uint32_t after_count, struct driver_node **ret_node);
	/* Changes a node of a graph (embedded graphs too), not of what was instantiated of it. */
	int (*node_set)(struct patch_device *device, struct driver_node *node,
			const struct patch_params *params);
	/* May node_set, exec_set and exec_update give TO to a node that was made with FROM, of the
	 * same kind? false: it takes a new graph. NULL: they are tried, and say -ENOTSUP. */
	bool (*can_set)(struct patch_device *device, const struct patch_params *from,
			const struct patch_params *to);
	/* The graph embedded in a child node; the node's. Nodes may be added to it before
	 * instantiation. */
	int (*child_graph)(struct patch_device *device, struct driver_node *node,
			   struct driver_graph **ret_graph);

	/* PATCH_HAS_CONDITIONALS: a handle for one conditional node of GRAPH; the kernel that sets
	 * it, with its layout; the node, with BODY_COUNT graphs of its own to add nodes to. */
	int (*condition_create)(struct patch_device *device, struct driver_graph *graph,
				uint64_t *ret_handle);
	int (*condition_kernel)(struct patch_device *device, void **ret_function);
	int (*conditional_add)(struct patch_device *device, struct driver_graph *graph,
			       uint64_t handle, enum dagpatch_condition condition,
			       uint32_t body_count, struct driver_node *const *after,
			       uint32_t after_count, struct driver_node **ret_node,
			       struct driver_graph **ret_bodies);

	/* The graph stays as the template of later node_set and exec_update. BY_PRIORITIES: kernels
	 * have priorities of their own, in place of the stream's. */
	int (*instantiate)(struct patch_device *device, struct driver_graph *graph,
			   bool by_priorities, struct driver_exec **ret_exec);
	/* Without PATCH_KEEPS_EXECS: when no replay is in flight. */
	void (*exec_destroy)(struct patch_device *device, struct driver_exec *exec);
	/* NODE is the template's. Replays already launched are not touched. PATCH_CHILD: all of the
	 * child's parameters from a graph of the same shape. -ENOTSUP: the node is as before,
	 * unless it is a child; after another failure the core takes it for changed. */
	int (*exec_set)(struct patch_device *device, struct driver_exec *exec,
			struct driver_node *node, const struct patch_params *params);
	/* All parameters from the template. On failure the core takes every node for changed. */
	int (*exec_update)(struct patch_device *device, struct driver_exec *exec,
			   struct driver_graph *graph);
	/* NULL where executable graphs cannot be read. */
	int (*exec_get)(struct patch_device *device, struct driver_exec *exec,
			struct driver_node *node, struct patch_image *image);
	/* Memory of the device that it holds; NULL where the driver does not tell. */
	uint64_t (*exec_bytes)(struct patch_device *device, struct driver_exec *exec);
	/* TABLE is the exec's, or NULL. All launches of an exec with a table come through here, one
	 * thread at a time. */
	int (*launch)(struct patch_device *device, struct driver_exec *exec,
		      struct driver_table *table, struct driver_stream *stream);

	/* PATCH_HAS_TABLE. table_create is called when the graph is complete, with its first
	 * addresses in place, right before it is instantiated: it may change the nodes that have
	 * relocations and add nodes of its own, which graph_nodes then leaves out or has last.
	 * -ENOTSUP: not for this graph, which the core then builds once more. The plan's arrays are
	 * the caller's. */
	int (*table_create)(struct patch_device *device, struct driver_graph *graph,
			    const struct patch_table_plan *plan, struct driver_table **ret_table);
	/* Called once, with what was instantiated of the graph. NULL: not needed. */
	int (*table_attach)(struct patch_device *device, struct driver_table *table,
			    struct driver_exec *exec);
	/* Has no replay in flight that uses it; the exec may be destroyed already. */
	bool (*table_is_idle)(struct patch_device *device, struct driver_table *table);
	/* After the exec. While it is not idle: waits. */
	void (*table_destroy)(struct patch_device *device, struct driver_table *table);
	/* What it holds: memory of the device, pinned memory of the host. */
	void (*table_bytes)(const struct driver_table *table, uint64_t *ret_device_bytes,
			    uint64_t *ret_pinned_bytes);
	/* SLOTS[i] is at ADDRESSES[i] for the next launch and those after it, and for none before.
	 * All or nothing. May wait until the oldest replay has let go of its version. */
	int (*table_bind)(struct patch_device *device, struct driver_table *table,
			  const uint32_t *slots, const uint64_t *addresses, uint32_t count);
};

extern const struct patch_driver patch_driver_cuda;
extern const struct patch_driver patch_driver_hip;
extern const struct patch_driver patch_driver_model;

/* All of them, NULL after the last. */
extern const struct patch_driver *const patch_drivers[];

/* ---- the thread's device ---- */

/* Every public call that reaches the driver begins with device_enter and, if that went well, ends
 * with device_leave: in between the device is the thread's current one, whatever the thread has
 * before and after. They nest. */
struct device_visit {
	struct patch_device *device;
	uintptr_t before; /* the driver's */
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

/* ---- what drivers call ---- */

/* The last failure on this thread, for messages: the driver's call (a constant string), its code,
 * and the code's text (copied). Returns CODE_ERRNO, so that a function can end with it. */
int patch_fault(int code_errno, const char *call, int code, const char *text);
struct patch_fault {
	const char *call; /* NULL: none */
	int code_errno;
	int code;
	char text[96];
};
/* Takes it: the next one is none unless something failed again. */
struct patch_fault patch_fault_take(void);

/* The interned layout of a kernel that the driver or the caller knows; NULL: not known, or no
 * memory. */
const struct patch_layout *patch_layout_find(struct patch_device *device, void *function);

/* Pointers into an argument block, for kernelParams. */
enum { PATCH_PARAMETERS = 1024 }; /* most that a layout has */
static inline void patch_kernel_pointers(const struct patch_kernel *kernel,
					 const struct patch_layout *layout, void **ret_pointers)
{
	for (uint32_t i = 0; i < layout->count; i++)
		ret_pointers[i] = (void *)(kernel->arguments + layout->parameters[i].offset);
}

#endif
