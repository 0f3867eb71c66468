/* dagpatch: GPU graphs that stay usable when their buffers move.
 *
 * The nodes of a CUDA or HIP graph contain the addresses of their buffers. dagpatch records a
 * graph against *slots*: buffers that have a name and a size, but no address yet. It remembers
 * which bytes of which node hold a slot's address. When a slot is bound to another address,
 * dagpatch changes those bytes in the executable graph and nothing else, by the cheapest means
 * that the driver offers.
 *
 *	dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .name = "input", .bytes = n), &input);
 *	dagpatch_add_kernel(recording, &kernel, NULL, &node);
 *	dagpatch_finalize(recording);
 *	for (...) {
 *		dagpatch_bind(recording, input, address, n);
 *		dagpatch_launch(recording, stream);
 *	}
 *
 * States
 *
 * A recording is created in the state CREATED, in which it takes slots and nodes.
 * dagpatch_finalize makes it READY; it then takes addresses and launches. A call that needs
 * another state returns -EINVAL and changes nothing.
 *
 * The first dagpatch_launch, or a dagpatch_apply before it, needs the addresses of all slots; it
 * builds and instantiates the graph. Later launches patch the executable graph. If patching fails
 * midway, dagpatch puts the changed parameters back: the executable graph then has its old
 * addresses, all of them, and the new addresses stay pending, so that the next launch tries again.
 * dagpatch_revert discards the pending addresses. If putting back fails too, the recording becomes
 * LOST. A LOST recording refuses to launch until dagpatch_finalize has been called again; the next
 * launch then instantiates a new graph.
 *
 * A replay that was launched before a dagpatch_bind never uses what was bound after that launch.
 *
 * Relocations
 *
 * For recorded nodes, the recording calls name the bytes that hold addresses. For captured work
 * (calls of a library, graphs made by others), dagpatch compares two captures of the same work at
 * two sets of addresses. Bytes that moved with a slot are the slot's address. Bytes that are equal
 * in both captures are never changed, whatever they look like. A byte that differs and that no
 * slot explains is an error, whose message names the node and the byte.
 *
 * Handles
 *
 * Streams, functions, events and graphs are passed as the driver's own handles: CUstream,
 * CUfunction or CUkernel, CUevent, CUgraph; hipStream_t, hipFunction_t or the host address of a
 * kernel, and so on; or the types of dagpatch/model.h.
 *
 * Devices
 *
 * A context belongs to one device: the device that is current on the calling thread when the
 * context is created. On CUDA it belongs to the thread's current CUDA context, or to the primary
 * context of the first device if the thread has none; a context that is not primary stays the
 * caller's and must outlive the dagpatch context. Recordings and caches of a context belong to the
 * same device, whichever thread creates or uses them. Each call makes that device current on the
 * calling thread while it works, and restores the thread's own device before it returns, also when
 * it fails. A program with several devices creates one context for each. dagpatch_launch refuses a
 * stream of another device with -EINVAL: the message names both devices, and nothing is changed.
 * The streams without a handle of their own (NULL, the legacy and the per-thread default stream)
 * are taken as streams of the recording's device.
 *
 * Threading
 *
 * - A context may be used by any thread at any time, also to create recordings and caches and to
 *   describe kernels.
 * - A recording is used by one thread at a time. Any thread may take its turn, if the caller makes
 *   sure (by a lock, a queue) that the calls of one thread have returned before the calls of the
 *   next begin. This holds for every call that has the recording as an argument, also for calls
 *   that only read it, and for the struct that dagpatch_recording_error returns. Different
 *   recordings are independent, also if they share a context, captured work, a nested recording, a
 *   cache or a stream.
 * - A finalized nested recording is only read by dagpatch_add_child and dagpatch_add_conditional:
 *   any number of threads may add it to their recordings at once.
 * - A cache may be used by any number of threads, through the recordings that share it and through
 *   dagpatch_cache_stats. If the cache votes, several recordings may vote at once, each on its own
 *   thread. Ranks tell votes apart by their order alone, so launches that vote must come in the
 *   same order on each rank: from one thread at a time.
 * - An adopted executable graph (dagpatch_adoption.exec) must not be launched or updated by others
 *   during a call on its recording.
 * - An object may be destroyed when no other thread is in a call on it or makes one later. A
 *   context lives until its last recording and cache are destroyed, a cache until the last
 *   recording that uses it.
 * - Callbacks run on the thread that makes the call, with the recording's device current; if
 *   several threads make calls, several callbacks run at once. Capture callbacks and votes may
 *   leave another device current. In a callback, calls that change its own recording return -EBUSY
 *   and do nothing. Calls that only read that recording work, and other recordings may be used.
 *
 * Calls do not wait for each other outside of the driver, except on HIP before version 6, which is
 * not thread-safe: there, a call on HIP waits until the calls of other threads have ended. Votes
 * do not hold other threads up there; any other callback must not wait for another thread's call.
 *
 * Cost
 *
 * Bind and launch with unchanged addresses cost some ns (measure with dagtap-bench patch) plus the
 * driver's launch. Changed addresses cost what the strategy costs. Bookkeeping takes less than 64
 * bytes a node, 16 bytes a relocation, and a copy of the node's parameters.
 *
 * Waiting
 *
 * The calls of a recording wait for the GPU in these cases only.
 *
 * CUDA:
 * - dagpatch_apply and dagpatch_launch, when they build a graph with a table, wait for a short
 *   copy on a stream of dagpatch's own;
 * - dagpatch_launch, when all versions of the table are used by replays in flight, waits for the
 *   oldest replay;
 * - an executable graph with a table that is no longer needed is treated as on HIP, because
 *   destroying it waits for its replays (driver 580).
 *
 * HIP:
 * - when 65 executable graphs are no longer needed and it is unknown whether their replays have
 *   ended, the device is synchronised (see dagpatch_recording_destroy);
 * - dagpatch_context_create waits for a graph of its own.
 *
 * Both:
 * - dagpatch_context_destroy, or the destroy call that removes the last object of a destroyed
 *   context, waits for replays that use memory or graphs of dagpatch;
 * - when there is no memory to build a graph, dagpatch waits for the device (see dagpatch_evict);
 * - the driver's own calls that allocate and free memory may wait for the device: for scratch
 *   memory of captures without addresses, for shadows, and for the table.
 *
 * Where ranks vote, dagpatch_apply and dagpatch_launch wait on the host for the other ranks, at
 * most vote_timeout_ns at each of two votes.
 *
 * Errors
 *
 * 0 or more is success; a negative errno is a failure, and struct dagpatch_error says what went
 * wrong. A NULL argument is -EINVAL unless its contract allows NULL. -EINVAL: wrong argument or
 * state. -EBUSY: the call was made in a callback of the same recording. -ENOTSUP: this driver
 * cannot do it. -ENOMEM: no memory. -EIO: the driver failed; its code is in driver_code. Errors
 * that callbacks return are passed on unchanged. The library prints nothing and reads no
 * environment variable.
 *
 * Compatibility
 *
 * Structs that may grow begin with their size, which the caller sets (DAGPATCH_SIZED does). Fields
 * are only added at the end. A smaller struct, from a program that was built with an older header,
 * is read as if its missing fields were 0. In a larger struct, the fields that this library does
 * not know must be 0; otherwise the call returns -E2BIG. A size of 0 means that the size was not
 * set: -EINVAL. Structs without a size never grow, except struct dagpatch_change, which only the
 * library makes: fields may be added at its end. The numbers of enum values and flags never
 * change. */
#ifndef DAGPATCH_DAGPATCH_H
#define DAGPATCH_DAGPATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No node, no slot, or no byte, where one of these is expected. */
#define DAGPATCH_NONE UINT32_MAX

/* The version of this header; dagpatch_version() returns the library's. Both are major * 10000 +
 * minor * 100 + patch. The library serves every program that was built with a header of the same
 * major number. */
#define DAGPATCH_VERSION 100
/* Returns DAGPATCH_VERSION as it was when the library was built. Any thread. */
uint32_t dagpatch_version(void);

/* Makes a struct of type dagpatch_NAME with its size set and the given fields, in C:
 * DAGPATCH_SIZED(kernel, .function = f, .grid = {1}) is a struct dagpatch_kernel. The other fields
 * are 0. */
#define DAGPATCH_SIZED(name, ...)                                                                  \
	((struct dagpatch_##name){.size = sizeof(struct dagpatch_##name), __VA_ARGS__})

/* What went wrong in a call, for a person to read. NODE and BYTE are DAGPATCH_NONE when the error
 * is not about a node or a byte. */
struct dagpatch_error {
	int code;	   /* negative errno, as the call returned it */
	int driver_code;   /* CUresult or hipError_t; 0 when the driver was not the cause */
	uint32_t node;	   /* number of the node in the recording; nested nodes are counted too */
	uint32_t byte;	   /* offset in the node's parameters; for a kernel, in its arguments */
	char message[256]; /* one line, ended by 0 */
};

/* ---- context ---- */

/* How a changed address or parameter gets into an executable graph. dagpatch_options.strategy
 * takes the first five; DAGPATCH_CAPTURE and DAGPATCH_SHADOW are only reported. */
enum dagpatch_strategy {
	DAGPATCH_AUTO,	     /* chosen by costs that are measured in this process */
	DAGPATCH_SET_PARAMS, /* the driver's call for one node, for each node that changed */
	/* a kernel in the graph reads the addresses from a table and sets the nodes (CUDA 12.4 and
	 * newer) */
	DAGPATCH_DEVICE_TABLE,
	DAGPATCH_UPDATE_GRAPH, /* the driver's call that updates a whole executable graph */
	/* a new executable graph; also used when the driver can no longer patch the old one */
	DAGPATCH_INSTANTIATE,
	/* the work is recaptured or taken from a cache (struct dagpatch_capture) */
	DAGPATCH_CAPTURE,
	/* the graph is not patched: the contents are copied (struct dagpatch_slot) */
	DAGPATCH_SHADOW,
	DAGPATCH_STRATEGY_COUNT
};

/* One changed address, as the observer (dagpatch_options.observe) receives it after the driver has
 * accepted the change. The struct and what it points to are valid during the observer's call
 * only. */
struct dagpatch_change {
	const struct dagpatch_recording *recording;
	uint32_t slot; /* number of the slot whose address changed */
	uint32_t node; /* DAGPATCH_NONE: all nodes of the slot at once, by the table */
	uint32_t byte; /* offset in the node's parameters; DAGPATCH_NONE: no single byte */
	/* the driver's handle of the node; NULL if NODE is DAGPATCH_NONE */
	void *node_handle;
	/* slot address plus offset, before and after; for NODE DAGPATCH_NONE the slot's address */
	uint64_t old_address;
	uint64_t new_address;
	enum dagpatch_strategy strategy;
	uint64_t ns; /* duration of the whole step that contained this change */
};

/* What dagpatch_context_create needs. Fields that are 0 have the default that their comment
 * names. */
struct dagpatch_options {
	size_t size; /* sizeof(struct dagpatch_options) */
	/* "cuda", "hip" or "model", one of the names that dagpatch_driver_name returns. NULL or
	 * any other name is -EINVAL: no driver is chosen by what is installed, because the
	 * caller's handles belong to one driver. */
	const char *driver;
	/* File name of the driver's library. NULL: for CUDA libcuda.so.1; for HIP the libamdhip64
	 * that the process has loaded, under whatever name, otherwise the first of
	 * libamdhip64.so.7, .so.6 and .so.5 that the loader finds. */
	const char *library;
	/* The preferred strategy. What the driver cannot do by it is done by another one. */
	enum dagpatch_strategy strategy;
	uint32_t child_depth;	 /* deepest nesting of child graphs; 0: 8 */
	uint32_t table_versions; /* number of replays in flight that the table serves; 0: 1024 */
	/* How many times all nodes of an executable graph may be changed before a new one is
	 * instantiated. 0: as the driver needs it (HIP); UINT32_MAX: no limit. */
	uint32_t updates_before_instantiate;
	int verify; /* not 0: each apply is followed by dagpatch_verify, whose errors it returns */
	/* For DAGPATCH_AUTO, where the driver has the table: from how many nodes a graph gets the
	 * table. 0: chosen for each recording by what it changes and by costs that
	 * dagpatch_context_create measures on this GPU (some ms); a graph is instantiated again,
	 * with the table or without it, when the other choice would have saved more time than that
	 * takes. N: graphs with at least N kernel nodes that hold addresses have the table from
	 * the start and keep it. UINT32_MAX: no graph has it. */
	uint32_t table_from_nodes;
	/* Called once for each changed address, after a successful apply, on the thread that
	 * applies. NULL: no observer. The callback must not change the recording (-EBUSY). */
	void (*observe)(void *user, const struct dagpatch_change *change);
	void *observe_user; /* passed to observe; valid as long as the context */
};

/* An observer for dagpatch_options.observe: it marks each change in dagtap's trace if the program
 * was linked with libdagtap, or has loaded libdagtap with RTLD_GLOBAL before the first change.
 * Otherwise it does nothing. USER is not used. A mark is a scope "dagpatch" that is closed at
 * once. It has the attributes recording (its address), slot, old_address, new_address, strategy
 * ("set_params", "device_table", ...), ns (duration of the whole step, the same in each of its
 * marks), and, where a single node was changed, node and byte. `dagtap graph --advise` adds the
 * marks up.
 *
 * Cost: two records of the trace for each change; while nothing is recorded, a test of a flag.
 * Threading: any thread at any time; the first call takes a lock once. */
void dagpatch_observe_in_trace(void *user, const struct dagpatch_change *change);

/* One driver on one device. Recordings and caches hold references to it. */
struct dagpatch_context;

/* Creates a context for the calling thread's current device (see "Devices"). OPTIONS and its
 * strings are copied. On success *RET_CONTEXT is the new context, which the caller destroys. On
 * failure *ERROR, which may be NULL, has the reason.
 *
 * -ENOENT: the driver's library was not found, or there is no device. -EINVAL: a wrong driver
 * name, strategy or size.
 *
 * HIP: runs a graph of four nodes between buffers of its own on that device, moves its addresses
 * by each call that changes an executable graph, and waits for it. A call that returns success
 * without effect is never used by this context. Where hiprtc is available, the first context of a
 * process on a device compiles one kernel for it (100 ms and more); later contexts take 1 ms. */
int dagpatch_context_create(const struct dagpatch_options *options,
			    struct dagpatch_context **ret_context, struct dagpatch_error *error);

/* Gives up the caller's reference. Recordings and caches of the context continue to work; the call
 * that destroys the last of them destroys the context too. The call that destroys the context,
 * this one or that later one, waits for the replays that still use memory or graphs of dagpatch.
 * NULL is allowed. */
void dagpatch_context_destroy(struct dagpatch_context *context);

/* Returns the name of the built-in driver number INDEX, counted from 0, or NULL after the last.
 * The string is constant. Any thread. */
const char *dagpatch_driver_name(uint32_t index);

/* What the context's driver can do; bits. */
enum dagpatch_capability {
	DAGPATCH_HAS_TABLE = 1,	       /* the strategy DAGPATCH_DEVICE_TABLE */
	DAGPATCH_HAS_CONDITIONALS = 2, /* dagpatch_add_conditional */
	/* the driver knows the offsets and sizes of kernels' parameters */
	DAGPATCH_HAS_LAYOUTS = 4,
};

/* Returns a sum of enum dagpatch_capability; 0 for NULL. Any thread. */
uint32_t dagpatch_context_capabilities(const struct dagpatch_context *context);

/* A second source of facts about a kernel's parameters, against which captures are checked.
 * Drivers that have such a source (such as the metadata in AMD's code objects) read it themselves;
 * this is for kernels that the caller knows better. */
enum dagpatch_parameter_kind {
	DAGPATCH_PARAMETER_UNKNOWN,
	DAGPATCH_PARAMETER_POINTER,
	DAGPATCH_PARAMETER_VALUE,  /* passed by value: may contain pointers */
	DAGPATCH_PARAMETER_HIDDEN, /* filled by the runtime: never passed, never patched */
};

/* One parameter of a kernel. OFFSET and BYTES are its place and size in the argument block. */
struct dagpatch_parameter {
	uint32_t offset;
	uint32_t bytes;
	enum dagpatch_parameter_kind kind;
};

/* States that FUNCTION has these COUNT parameters, in ascending order of offset; they are copied.
 * This applies to what is recorded or captured in this context from now on. What a capture finds
 * must agree with them: an address that lies outside of all parameters or reaches beyond the end
 * of one, or that begins inside a POINTER parameter and not where it begins, is an error of the
 * capture. -EEXIST: the context already knows other parameters for FUNCTION. -EINVAL: not in
 * order, overlapping, or of 0 bytes. -E2BIG: more than 1024 parameters or 65535 bytes. Any
 * thread. */
int dagpatch_kernel_describe(struct dagpatch_context *context, const void *function,
			     const struct dagpatch_parameter *parameters, uint32_t count);

/* ---- recording ---- */

/* State of a recording; see "States" at the top. */
enum dagpatch_state {
	DAGPATCH_CREATED, /* takes slots and nodes */
	DAGPATCH_READY,	  /* finalized: takes addresses and launches */
	DAGPATCH_LOST,	  /* putting changes back failed: needs dagpatch_finalize */
};

/* Flags of dagpatch_recording_create. */
enum {
	/* A node waits for earlier nodes that touch the same bytes of a slot if one of the two
	 * writes them; explicit dependencies are added to these. Copies and memsets know what they
	 * read and write; kernels state it (struct dagpatch_pointer). Children, conditionals'
	 * bodies and captured work are assumed to write all bytes of their slots. Two slots are
	 * assumed to be different memory. */
	DAGPATCH_DERIVE_DEPENDENCIES = 1,
	/* The recording will be added to others, by dagpatch_add_child or as a body of a
	 * conditional. It has no executable graph of its own. */
	DAGPATCH_NESTED = 2,
};

/* A graph described against slots, the addresses bound to them, and the executable graph made of
 * it. See "States" and "Threading". */
struct dagpatch_recording;

/* Creates an empty recording of CONTEXT. FLAGS is a sum of DAGPATCH_DERIVE_DEPENDENCIES and
 * DAGPATCH_NESTED. The caller destroys *RET_RECORDING. Any thread. */
int dagpatch_recording_create(struct dagpatch_context *context, uint32_t flags,
			      struct dagpatch_recording **ret_recording);

/* Destroys a recording. Replays in flight continue: what they use (shadows, the table; on HIP the
 * executable graph) is freed later, by a call that creates, builds, evicts or destroys an object
 * of the context and finds the replays done. The same holds for a graph that is replaced,
 * finalized again or evicted. None of these calls waits for the replays, with the exceptions under
 * "Waiting".
 *
 * On HIP the library cannot know when replays are done if their stream may have been destroyed; it
 * learns this when the context next launches into that stream. When 65 executable graphs wait for
 * this, the device is synchronised, which ends captures in HIP 6 and newer, and all of these
 * graphs are freed. The driver's own call that frees memory may wait for the device. NULL is
 * allowed. In a callback of this recording the call does nothing. */
void dagpatch_recording_destroy(struct dagpatch_recording *recording);

/* Returns the recording's state; DAGPATCH_LOST for NULL. */
enum dagpatch_state dagpatch_recording_state(const struct dagpatch_recording *recording);

/* Returns the error of the last call on this recording that failed. The struct belongs to the
 * recording; its contents are valid until the next call on it. Never NULL. */
const struct dagpatch_error *dagpatch_recording_error(const struct dagpatch_recording *recording);

/* Flags of a slot. A slot with one of them has a *shadow*: a buffer with a fixed address that
 * dagpatch allocates in dagpatch_finalize. The graph uses the shadow's address; the contents are
 * copied in the launch's stream. Meant for small buffers. Nested recordings have no such slots. */
enum {
	/* before each launch, from the bound buffer to the shadow */
	DAGPATCH_SHADOW_IN = 1,
	/* after each launch, from the shadow to the bound buffer */
	DAGPATCH_SHADOW_OUT = 2,
};

/* A buffer whose address may change. */
struct dagpatch_slot {
	size_t size;	  /* sizeof(struct dagpatch_slot) */
	const char *name; /* copied; used in messages and dumps; may be NULL */
	uint64_t bytes;	  /* size of the buffer, at least 1 */
	/* required of every address that is bound to it, in bytes, a power of two; 0: 256 */
	uint64_t alignment;
	uint32_t flags; /* a sum of DAGPATCH_SHADOW_IN and DAGPATCH_SHADOW_OUT */
	int on_host;	/* not 0: pinned host memory */
};

/* Adds a slot to a recording in state CREATED, before dagpatch_adopt. *RET_SLOT is its number;
 * numbers count from 0 in the order of the calls. */
int dagpatch_slot_add(struct dagpatch_recording *recording, const struct dagpatch_slot *slot,
		      uint32_t *ret_slot);

/* ---- nodes ----
 *
 * These calls add a node to a recording in state CREATED. They copy what they are given. AFTER
 * names earlier nodes of the same recording that must have ended before the new node starts; NULL:
 * no explicit dependencies. *RET_NODE is the node's number, for dependencies and for
 * dagpatch_set_...; RET_NODE may be NULL. On failure nothing has been added. */

/* Explicit dependencies: COUNT node numbers. The array is the caller's. */
struct dagpatch_after {
	const uint32_t *nodes;
	uint32_t count;
};

/* How an address is used. */
enum {
	DAGPATCH_READS = 1,
	DAGPATCH_WRITES = 2,
};

/* An address in a kernel's argument: the slot's address plus OFFSET. The kernel accesses
 * RANGE_BYTES from there (0: to the slot's end). */
struct dagpatch_pointer {
	uint32_t byte;	      /* where in the argument the address is; any byte, aligned or not */
	uint32_t slot;	      /* number of the slot */
	uint64_t offset;      /* added to the slot's address, in bytes */
	uint64_t range_bytes; /* 0: to the slot's end */
	/* a sum of DAGPATCH_READS and DAGPATCH_WRITES; 0: read and written */
	uint32_t access;
};

/* One argument of a kernel: SIZE bytes with POINTER_COUNT addresses in them, which dagpatch fills
 * in. BYTES NULL: all other bytes are 0. */
struct dagpatch_argument {
	const void *bytes;
	uint32_t size;
	uint32_t pointer_count;
	const struct dagpatch_pointer *pointers;
};

/* Returns an argument of SIZE bytes without addresses. BYTES must stay valid until the argument is
 * used. */
static inline struct dagpatch_argument dagpatch_value(const void *bytes, uint32_t size)
{
	struct dagpatch_argument argument = {bytes, size, 0, NULL};

	return argument;
}

/* Returns an argument that is a single address. POINTER must stay valid until the argument is
 * used. */
static inline struct dagpatch_argument dagpatch_address(const struct dagpatch_pointer *pointer)
{
	struct dagpatch_argument argument = {NULL, 8, 1, pointer};

	return argument;
}

/* Launch attributes: how a kernel is launched beyond its parameters. GIVEN names the attributes
 * that are set; the others have the driver's defaults. If the driver lacks one, the call returns
 * -ENOTSUP and adds nothing. CUDA has all of them, HIP 6.4 and newer has cooperative launches only
 * (it refuses priorities), older HIP has none. Kernels that were captured or adopted keep the
 * attributes that they have, in every graph that dagpatch makes of them. */
enum {
	DAGPATCH_PRIORITY = 1,
	DAGPATCH_COOPERATIVE = 2,
	DAGPATCH_CLUSTER = 4,
	DAGPATCH_PROGRAMMATIC = 8,
};

/* When a kernel may start after the kernels that it depends on. */
enum dagpatch_programmatic {
	DAGPATCH_ON_END,     /* when they have ended, as with all other dependencies */
	DAGPATCH_ON_TRIGGER, /* when all their blocks have triggered it or have ended */
	DAGPATCH_ON_START,   /* when all their blocks have started */
};

/* Values of launch attributes. */
struct dagpatch_attributes {
	size_t size;	/* sizeof(struct dagpatch_attributes) */
	uint32_t given; /* a sum of DAGPATCH_PRIORITY, DAGPATCH_COOPERATIVE, ... */
	/* As streams have it: 0 is the default, lower numbers run first. If a kernel of a graph,
	 * also one of captured or adopted work, has a priority other than 0, then all kernels of
	 * that graph run at their own priorities, and the priority of the launching stream does
	 * not matter. */
	int32_t priority;
	int cooperative; /* not 0: all blocks run at the same time */
	/* size of a cluster in blocks; the grid's sizes must be multiples of it */
	uint32_t cluster[3];
	/* For dependencies on kernels; for other nodes the kernel waits until they have ended. The
	 * kernel may read what the kernels before it have written only after it has waited itself
	 * (griddepcontrol.wait). */
	enum dagpatch_programmatic programmatic;
};

/* A kernel node. */
struct dagpatch_kernel {
	size_t size;	       /* sizeof(struct dagpatch_kernel) */
	void *function;	       /* the driver's handle of the kernel */
	uint32_t grid[3];      /* in blocks */
	uint32_t block[3];     /* in threads */
	uint32_t shared_bytes; /* dynamic shared memory */
	uint32_t argument_count;
	/* one for each parameter; sizes are checked where they are known */
	const struct dagpatch_argument *arguments;
	/* NULL: the driver's defaults; for dagpatch_set_kernel: the attributes stay as they are. */
	const struct dagpatch_attributes *attributes;
};

/* Adds a kernel. -EINVAL: number or sizes of the arguments do not match the kernel, as far as the
 * driver or dagpatch_kernel_describe knows it. A kernel that is not known has its arguments packed
 * as C packs the fields of a struct. */
int dagpatch_add_kernel(struct dagpatch_recording *recording, const struct dagpatch_kernel *kernel,
			const struct dagpatch_after *after, uint32_t *ret_node);

/* One end of a copy: OFFSET bytes into SLOT; or, if SLOT is DAGPATCH_NONE, ADDRESS, which never
 * changes. */
struct dagpatch_end {
	uint32_t slot;
	int on_host;	 /* about ADDRESS only, not 0: host memory; a slot has its own flag */
	uint64_t offset; /* in bytes */
	void *address;
	uint64_t pitch; /* bytes from one row to the next; 0: WIDTH_BYTES */
	uint64_t rows;	/* rows from one slice to the next; 0: HEIGHT */
};

/* A copy of WIDTH_BYTES x HEIGHT x DEPTH. The two ends may lie in host or in device memory. */
struct dagpatch_copy {
	size_t size; /* sizeof(struct dagpatch_copy) */
	struct dagpatch_end dst, src;
	uint64_t width_bytes;
	uint64_t height; /* rows; 0: 1 */
	uint64_t depth;	 /* slices; 0: 1 */
};

/* Adds a copy node. -EINVAL: it leaves a slot, its rows overlap, or it spans more than 2^50
 * bytes. */
int dagpatch_add_copy(struct dagpatch_recording *recording, const struct dagpatch_copy *copy,
		      const struct dagpatch_after *after, uint32_t *ret_node);

/* Fills WIDTH x HEIGHT elements at OFFSET bytes into SLOT. */
struct dagpatch_memset {
	size_t size; /* sizeof(struct dagpatch_memset) */
	uint32_t slot;
	uint64_t offset;
	uint32_t value;		/* of one element; must fit into ELEMENT_BYTES */
	uint32_t element_bytes; /* 1, 2 or 4 */
	uint64_t width;		/* elements in a row */
	uint64_t height;	/* rows; 0: 1 */
	/* bytes from one row to the next; used if there is more than one row */
	uint64_t pitch;
};

/* Adds a memset node. */
int dagpatch_add_memset(struct dagpatch_recording *recording, const struct dagpatch_memset *memset,
			const struct dagpatch_after *after, uint32_t *ret_node);

/* Adds a node that does nothing: a point that other nodes can wait for. */
int dagpatch_add_empty(struct dagpatch_recording *recording, const struct dagpatch_after *after,
		       uint32_t *ret_node);

/* A function that runs on the CPU as part of the graph. */
struct dagpatch_host {
	size_t size; /* sizeof(struct dagpatch_host) */
	/* called with USER each time the node runs, on a thread of the driver */
	void (*function)(void *user);
	/* must stay valid as long as the recording, those that nest it, and their replays */
	void *user;
};

/* Adds a host node. */
int dagpatch_add_host(struct dagpatch_recording *recording, const struct dagpatch_host *host,
		      const struct dagpatch_after *after, uint32_t *ret_node);

/* Adds a node that records EVENT, or that waits for it. EVENT stays the caller's and must stay
 * valid as long as the recording, those that nest it, and their replays. */
int dagpatch_add_event_record(struct dagpatch_recording *recording, void *event,
			      const struct dagpatch_after *after, uint32_t *ret_node);
int dagpatch_add_event_wait(struct dagpatch_recording *recording, void *event,
			    const struct dagpatch_after *after, uint32_t *ret_node);

/* Where a slot of a nested recording lies: OFFSET bytes into SLOT of the outer recording. The
 * outer slot must be aligned at least as well and be in the same kind of memory. */
struct dagpatch_mapping {
	uint32_t slot;
	uint64_t offset;
};

/* A nested recording as a part of another one. NESTED is finalized, was created with
 * DAGPATCH_NESTED in the same context, and has MAPPING_COUNT slots; MAPPINGS has one entry for
 * each, in their order. NESTED is copied: it may be used any number of times and destroyed
 * afterwards. */
struct dagpatch_child {
	size_t size; /* sizeof(struct dagpatch_child) */
	const struct dagpatch_recording *nested;
	const struct dagpatch_mapping *mappings;
	uint32_t mapping_count;
};

/* Adds a child node that holds the nodes of the nested recording; these are numbered right after
 * it. -ELOOP: nested deeper than dagpatch_options.child_depth. */
int dagpatch_add_child(struct dagpatch_recording *recording, const struct dagpatch_child *child,
		       const struct dagpatch_after *after, uint32_t *ret_node);

/* Which body a conditional runs. */
enum dagpatch_condition {
	DAGPATCH_IF, /* body 0 if the predicate is not 0 */
	/* the body whose number the predicate is; for any other number the last body */
	DAGPATCH_CASE,
	DAGPATCH_WHILE, /* body 0, repeated while the predicate, which the body changes, is not 0 */
};

/* A conditional node. The predicate is an int32_t at PREDICATE_OFFSET bytes into PREDICATE_SLOT.
 * It is read on the GPU when the node's turn comes and, for WHILE, after each execution of the
 * body. */
struct dagpatch_conditional {
	size_t size; /* sizeof(struct dagpatch_conditional) */
	enum dagpatch_condition condition;
	uint32_t predicate_slot;
	uint64_t predicate_offset;
	/* Not 0: the predicate is one byte, 0 or not 0. In a CASE, 0 then selects body 1 and any
	 * other value body 0, as XLA defines it. */
	int predicate_is_byte;
	/* array of BODY_COUNT; each element has the size of the first */
	const struct dagpatch_child *bodies;
	uint32_t body_count; /* 1 for IF and WHILE */
};

/* Adds two nodes: a kernel that reads the predicate, which has the dependencies, and the
 * conditional, whose number is *RET_NODE; the nodes of the bodies follow it. -ENOTSUP: graphs of
 * this driver have no conditional nodes (HIP: none of its releases; see
 * DAGPATCH_HAS_CONDITIONALS), or not this one (DAGPATCH_CASE needs a driver for CUDA 12.8). */
int dagpatch_add_conditional(struct dagpatch_recording *recording,
			     const struct dagpatch_conditional *conditional,
			     const struct dagpatch_after *after, uint32_t *ret_node);

/* ---- captured work ---- */

/* A capture callback. It submits the work to STREAM, which is being captured, and uses
 * ADDRESSES[i] for the i-th slot of the capture. It returns 0 or a negative errno, which is passed
 * on to the caller. USER stays valid as long as the recording and those that nest it. The callback
 * runs on the thread that makes the call, and only during that call:
 *
 *	call			patched work		with DAGPATCH_RECAPTURE
 *	dagpatch_add_captured	2 times; 6 to 32 with	never
 *				DAGPATCH_LEAVE_UNSTABLE
 *	dagpatch_apply,		never; once with	once for each place of the work
 *	dagpatch_launch		options.verify		that must be captured, see below
 *	dagpatch_verify		once; never with	never
 *				DAGPATCH_LEAVE_UNSTABLE
 *
 * Work with DAGPATCH_RECAPTURE is *recaptured* for each place where it was added: when
 * addresses of that place change; when a graph is built for the first time or after it was LOST;
 * and, where ranks vote, when another rank needs it. It is not recaptured if the cache has it. If
 * the call fails, the next call recaptures it.
 *
 * A callback must be:
 * - repeatable: at the same addresses it submits the same work each time, with the same kernels,
 *   shapes, constants and dependencies. What it reads (sizes, seeds, flags) does not change while
 *   the recording lives. What it allocates for the work lives as long as the recording.
 * - warmed up: it has run once, outside of a capture, on this thread's device before it is added.
 *   On first use, libraries load modules, allocate workspaces, tune and, for collectives, connect
 *   to their peers. In a capture this is an error, becomes part of the graph, or waits for a rank
 *   that has failed and never arrives.
 * - capturable: it submits to STREAM, or to streams that wait for STREAM and that STREAM waits for
 *   in turn. It does not synchronise and does not change the recording that it belongs to.
 * - equal on all ranks, where ranks vote: the same collectives in the same order, whatever the
 *   addresses are. */
typedef int (*dagpatch_capture_fn)(void *user, void *stream, void *const *addresses);

/* Flags of a capture. */
enum {
	/* The work is never patched. It is recaptured when an address changes, unless a cache has
	 * it. */
	DAGPATCH_RECAPTURE = 1,
	/* The work is captured twice more at each set of addresses. Words of 4 bytes in kernels'
	 * arguments that differ even at equal addresses (such as padding of structs that is never
	 * written) have nothing to do with the slots: they keep the value of the first capture. An
	 * address that shares such a word is patched all the same. If a word is equal at equal
	 * addresses, and no slot explains it, this may be chance: there are twice as many captures,
	 * and again, up to 32. Use it only if these words are known not to be addresses of objects
	 * that are newly made for each capture and hold the slots' addresses themselves. */
	DAGPATCH_LEAVE_UNSTABLE = 2,
};

/* Describes a collective. All ranks capture a collective, or none does. The numbers are part of
 * the name under which a cache keeps its captured graphs; they do not name the work on their own,
 * see dagpatch_capture.key. */
struct dagpatch_collective {
	size_t size;	       /* sizeof(struct dagpatch_collective) */
	uint64_t communicator; /* the caller's number of the communicator */
	uint32_t operation;    /* the caller's number of the operation */
	uint32_t type;	       /* the caller's number of the element type */
	uint64_t count;	       /* of elements */
	/* Not 0: the library may have registered the buffers during the capture, so its nodes must
	 * not be patched. Needs DAGPATCH_RECAPTURE. */
	int buffers_are_registered;
};

/* Captured graphs that recordings share. See "cache of captured work" below. */
struct dagpatch_cache;

/* Work that a callback submits. */
struct dagpatch_capture {
	size_t size;		    /* sizeof(struct dagpatch_capture) */
	dagpatch_capture_fn record; /* the callback */
	void *user;		    /* passed to RECORD */
	const uint32_t *slots;	    /* SLOT_COUNT different slots that the work uses; copied */
	uint32_t slot_count;
	uint32_t flags; /* a sum of DAGPATCH_RECAPTURE and DAGPATCH_LEAVE_UNSTABLE */
	/* Two sets of addresses to capture at, one address for each of SLOTS (see
	 * dagpatch_add_captured). The work is captured at them but never run. Both NULL: dagpatch
	 * allocates scratch memory of the slots' sizes during the call and moves each slot by a
	 * different distance. */
	void *const *addresses[2];
	const struct dagpatch_collective *collective; /* NULL: the work is no collective */
	/* Where captured graphs are kept; of the same context, only with DAGPATCH_RECAPTURE.
	 * May be NULL. */
	struct dagpatch_cache *cache;
	/* With a cache: the name of the work. All recordings that use the same name share what was
	 * captured at the same addresses. KEY_BYTES bytes, copied, that identify everything that
	 * the captured graph depends on except the addresses of the slots: function, shapes,
	 * types, constants, communicator (by a number that is never reused; its handle may be).
	 * What the captured graphs refer to (modules, communicators, data of host functions) must
	 * live until the cache has released them: see dagpatch_cache_drop. NULL and 0: this call
	 * alone identifies the work. Only recordings that nest this one share what was captured
	 * for it, and it leaves the cache with the last of them. */
	const void *key;
	size_t key_bytes;
};

/* Adds captured work as a child node. Without DAGPATCH_RECAPTURE its nodes are numbered right
 * after it and are patched later. -EILSEQ: the captures differ where no slot explains it, or in
 * kernels, shape or dependencies. -ENOTSUP: a node is of a kind that the driver does not let
 * dagpatch read. -ELOOP: nested deeper than dagpatch_options.child_depth. Errors of the callback
 * are passed on.
 *
 * Two sets of addresses must make clear which slot an address belongs to. -EINVAL, with the slot
 * in the message: an address is NULL; a slot has the same address in both sets; two slots overlap
 * and move by the same distance. Slots may touch, change places, lie where another slot or they
 * themselves were, and overlap if they move by different distances. Two things are not detected
 * for slots that move by the same distance: if two slots touch, the address one past the end of
 * the first is taken for the beginning of the second; and an argument that holds the distance
 * between the two is left as it is. Move each slot by a different distance if the work may have
 * either. */
int dagpatch_add_captured(struct dagpatch_recording *recording,
			  const struct dagpatch_capture *capture,
			  const struct dagpatch_after *after, uint32_t *ret_node);

/* States where an address is, for graphs whose maker knows it. NODE is the node's place in the
 * order in which the driver lists the graph's nodes; the nodes of a child come right after the
 * child. */
struct dagpatch_declared {
	uint32_t node;
	/* in the argument block; in a copy DAGPATCH_DST or DAGPATCH_SRC, in a memset 0 */
	uint32_t byte;
	uint32_t slot;	 /* number of the slot in the recording */
	uint64_t offset; /* of the address from the slot's beginning, in bytes */
};

/* Places of the two addresses of a copy: dagpatch_declared.byte, and BYTE elsewhere in this
 * header. */
#define DAGPATCH_DST 0
#define DAGPATCH_SRC 8

/* A graph that others made, to be added as a node: made by a library (cuDNN, MIOpen) or captured
 * by the program. Its addresses are found in a second capture, or are declared, as for an adopted
 * graph. */
struct dagpatch_graph {
	size_t size; /* sizeof(struct dagpatch_graph) */
	void *graph; /* made at addresses[0]; copied, and may be destroyed after the call */
	const uint32_t *slots; /* slots that the graph uses */
	/* 0: nothing in it moves, and the following fields may be NULL */
	uint32_t slot_count;
	/* one address for each of SLOTS; addresses[1] only with other_graph */
	void *const *addresses[2];
	void *other_graph; /* the same work at addresses[1]; only read; NULL: see declared */
	/* As in struct dagpatch_adoption. */
	void *const *further_graphs;
	uint32_t further_graph_count;
	const struct dagpatch_declared *declared; /* nodes as in GRAPH, slots of the recording */
	uint32_t declared_count;
};

/* Adds a graph as a child node; its nodes are numbered right after it. The same graph may be added
 * any number of times, also to nested recordings. What the nodes of GRAPH refer to besides the
 * slots (data of host nodes, events, fixed addresses) must live as long as the recording and those
 * that nest it. Errors as of dagpatch_add_captured; -EILSEQ also if a declared address is not
 * there. */
int dagpatch_add_graph(struct dagpatch_recording *recording, const struct dagpatch_graph *graph,
		       const struct dagpatch_after *after, uint32_t *ret_node);

/* A graph that others captured, to become the whole content of a recording. In a recording with
 * DAGPATCH_NESTED it becomes node 0, a child node, as by dagpatch_add_graph, and EXEC must be
 * NULL. */
struct dagpatch_adoption {
	size_t size; /* sizeof(struct dagpatch_adoption) */
	void *graph; /* made at addresses[0]; see exec */
	/* One address for each slot of the recording, in two sets as for captures; addresses[1]
	 * only with other_graph. */
	void *const *addresses[2];
	void *other_graph; /* the same work at addresses[1]; only read; NULL: see declared */
	/* Further captures of the same work, alternately at addresses[0] and addresses[1]: see
	 * DAGPATCH_LEAVE_UNSTABLE. At most 30, only with other_graph; only read. */
	void *const *further_graphs;
	uint32_t further_graph_count;
	/* Must agree with the addresses in GRAPH. Either this or other_graph. */
	const struct dagpatch_declared *declared;
	uint32_t declared_count;
	/* The caller's executable graph, instantiated from GRAPH. dagpatch patches and launches
	 * it. Both stay the caller's and must outlive the recording; other code that launches it
	 * gets the addresses that were applied last. NULL: GRAPH is copied and may be destroyed
	 * after the call. */
	void *exec;
};

/* Makes a graph the whole content of RECORDING, which is in state CREATED, has its slots (none
 * with a shadow) and no nodes. The slots are bound to addresses[0] when the recording is
 * finalized. No other nodes can be added. Errors as of dagpatch_add_graph. */
int dagpatch_adopt(struct dagpatch_recording *recording, const struct dagpatch_adoption *adoption);

/* ---- finalize, bind, launch ---- */

/* CREATED: ends the recording of slots and nodes, sorts the relocations and allocates what binding
 * needs, including the shadows; the state becomes READY. LOST: releases the old graph; the next
 * launch makes a new one, and the state becomes READY. -ENOTSUP: a LOST adopted executable graph
 * stays LOST. -EINVAL: captures use two caches that vote. */
int dagpatch_finalize(struct dagpatch_recording *recording);

/* Sets the address that SLOT has from the next launch on. BYTES is the size of the memory at
 * ADDRESS and must be at least the slot's size. Only notes the address; it does not reach the
 * driver. -EINVAL: no such slot, too small, badly aligned, NULL, or the recording is not finalized
 * or is nested.
 *
 * The old buffer may be freed when (1) an apply or launch after this call has succeeded, because
 * until then the graph holds the old address and dagpatch_revert returns to it, and (2) the
 * replays that were launched before have ended. The caller learns (2) from an event or by
 * synchronising their stream; dagpatch does not wait for them. For memory that is freed in stream
 * order after those replays (cudaFreeAsync, PyTorch's allocator on that stream), (1) is enough. An
 * adopted executable graph that other code launches has the address, too. */
int dagpatch_bind(struct dagpatch_recording *recording, uint32_t slot, const void *address,
		  uint64_t bytes);

/* Sets the addresses of all slots, in their order. COUNT is the number of slots. The sizes are not
 * checked: the caller guarantees them. On failure no address has changed. */
int dagpatch_bind_all(struct dagpatch_recording *recording, const void *const *addresses,
		      uint32_t count);

/* Brings the executable graph to the bound addresses and set parameters, if it differs from them.
 * dagpatch_launch begins with it. Use it to do that work before the launch. -ENXIO: a slot has no
 * address yet. -ECANCELED and errors of votes: see "cache of captured work". -EINVAL: the
 * recording is nested. */
int dagpatch_apply(struct dagpatch_recording *recording);

/* Applies pending changes (errors as of dagpatch_apply), copies shadows, and launches the
 * executable graph in STREAM, which belongs to the recording's device. Returns when the launch has
 * been submitted.
 *
 * If STREAM is being captured, the recording becomes part of the captured graph, in the stream's
 * order, with the pending addresses and values. dagpatch adds its nodes there itself, because
 * drivers refuse the launch of an executable graph in a capture and end the capture, or lose the
 * launch silently (HIP). What is bound later changes the recording, never that captured graph: if
 * a buffer moves, capture again, or make the outer work a recording (dagpatch_add_child). Nothing
 * runs, and the recording's own graph is neither built nor changed. The captured graph uses the
 * recording's shadows, callbacks' data and events, which must outlive it. Ranks that vote agree on
 * it as on any change. After an error some of the nodes may be in the capture, which must then be
 * discarded.
 *
 * Captures of other streams continue, in any mode: calls that drivers refuse during a capture are
 * made in relaxed mode. (On HIP, a lack of memory is the exception, see "Waiting".) */
int dagpatch_launch(struct dagpatch_recording *recording, void *stream);

/* Releases the executable graph and the driver's graph, with the table: their memory returns to
 * the driver. Addresses, values and captured work stay; the next launch builds the graph again,
 * with what is then pending. Replays in flight continue (see dagpatch_recording_destroy). Returns
 * 0 also when nothing was built. -ENOTSUP: an adopted executable graph. Where ranks vote, they
 * vote on the rebuild as on a change: with ranks_change_together, all of them must evict.
 *
 * When there is no memory to build a graph, dagpatch does the same itself. It takes the least
 * recently launched executable graph of the context that no other thread is using, whose handles
 * were not asked for and whose ranks do not vote; it waits for the device and tries once more
 * (dagpatch_stats.memory_retries, evictions). */
int dagpatch_evict(struct dagpatch_recording *recording);

/* Discards pending addresses and parameters: the slots have the addresses again that were applied
 * last. For a LOST recording these are the addresses that the graph had; before the first apply of
 * an adopted graph, those that it was adopted with. */
int dagpatch_revert(struct dagpatch_recording *recording);

/* Other parameters for a node, from the next apply or launch on, as if they had been given to
 * dagpatch_add_...: any function, grid, block, shared memory, arguments and slots; the ends and
 * the shape of a copy; a child of the same shape. The recording is READY and not nested. Replays
 * in flight never see the new parameters. If an apply fails, the old parameters are put back
 * together with the addresses; dagpatch_revert discards the new ones; a later call for the same
 * node replaces an earlier one.
 *
 * Dependencies stay as they are: a node that now touches other slots waits for the same nodes as
 * before. NODE is the number in the recording. The nodes of a child follow it: those of a nested
 * recording in its order, those of captured work and adopted graphs in the order in which the
 * driver lists them. Nodes of work with DAGPATCH_RECAPTURE, and kernels that set conditions,
 * cannot be set.
 *
 * Given launch attributes are added to those of the node. A new executable graph is made for
 * changed attributes, and for what the driver cannot change in an existing one (HIP: another
 * function, unless the context has seen it take effect; a copy with another number of dimensions
 * or between other kinds of memory). If the executable graph is the caller's (struct
 * dagpatch_adoption), this is -ENOTSUP.
 *
 * Errors about the parameters are those of dagpatch_add_.... Memory: a node that was set keeps two
 * images; once any node was set, 24 bytes a relocation and 4 bytes a node. Cost: a copy of the
 * parameters now, and one more node to set at the next apply; if slots or offsets have changed,
 * that apply reads all relocations once. */
int dagpatch_set_kernel(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_kernel *kernel);
int dagpatch_set_copy(struct dagpatch_recording *recording, uint32_t node,
		      const struct dagpatch_copy *copy);
int dagpatch_set_memset(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_memset *memset);

/* NODE is a node that dagpatch_add_child added. The new child has the same kinds of nodes with the
 * same dependencies, including everything nested in it (-EINVAL), and no work with
 * DAGPATCH_RECAPTURE (-ENOTSUP). */
int dagpatch_set_child(struct dagpatch_recording *recording, uint32_t node,
		       const struct dagpatch_child *child);

/* The same for single values: all bytes of argument number INDEX of a kernel except its addresses,
 * where SIZE is the argument's size; the value of a memset. */
int dagpatch_set_argument(struct dagpatch_recording *recording, uint32_t node, uint32_t index,
			  const void *bytes, uint32_t size);
int dagpatch_set_memset_value(struct dagpatch_recording *recording, uint32_t node, uint32_t value);

/* A result of dagpatch_verify. */
#define DAGPATCH_CANNOT_TELL 1
/* Checks that the graph has the addresses and values that were applied last. Captured work is
 * compared with a fresh capture (except work with DAGPATCH_LEAVE_UNSTABLE, and nodes with values
 * of dagpatch_set_...), and the executable graph is read, node by node. dagpatch's own bookkeeping
 * is not used as evidence.
 *
 * 0: every node that holds addresses was read and has the right ones. -EILSEQ: a node has others;
 * the error names it. DAGPATCH_CANNOT_TELL, which is no error: nothing wrong was found, but this
 * driver does not let some nodes be read (dagpatch_stats.unread_nodes). CUDA and HIP let none be
 * read, and nodes that the table sets can never be read. options.verify treats it as success.
 * -EINVAL: nothing is built yet. */
int dagpatch_verify(struct dagpatch_recording *recording);

/* ---- inspection ---- */

/* Counters of one recording since it was created, and its sizes now. */
struct dagpatch_stats {
	size_t size;		     /* set by the caller; as many bytes are written */
	uint64_t launches;	     /* successful launches, also of unchanged graphs */
	uint64_t unchanged_launches; /* those of LAUNCHES that had nothing to apply */
	/* calls that failed; a call that tried several strategies counts once */
	uint64_t failures;
	/* failed applies after which the executable graph was put back */
	uint64_t rollbacks;
	uint64_t uses[DAGPATCH_STRATEGY_COUNT];	 /* how often each strategy was used */
	uint64_t nodes[DAGPATCH_STRATEGY_COUNT]; /* nodes that each strategy changed */
	/* Time of each strategy, in ns. Estimated for changes of fewer than 64 nodes and for the
	 * table: one use of 16 is timed. */
	uint64_t ns[DAGPATCH_STRATEGY_COUNT];
	uint64_t captures;	   /* captures made by callbacks */
	uint64_t node_count;	   /* nested nodes included */
	uint64_t relocation_count; /* places that hold addresses */
	uint64_t node_bytes; /* bookkeeping of nodes; relocations and parameters are not counted */
	uint64_t relocation_bytes; /* memory of the relocations */
	uint64_t parameter_bytes;  /* memory of the nodes' parameters */
	uint64_t unread_nodes;	   /* nodes that the last dagpatch_verify could not read */
	/* launches into streams that were being captured; not counted in LAUNCHES */
	uint64_t captured_launches;
	/* Memory that is held for the recording now, in bytes. */
	uint64_t host_bytes; /* heap memory of dagpatch; the three sizes above are part of it */
	/* pinned memory from the driver: shadows on the host, the log of the table */
	uint64_t pinned_bytes;
	uint64_t device_bytes; /* device memory: shadows, the table */
	/* memory of the executable graph; 0: none, or the driver does not tell */
	uint64_t exec_bytes;
	/* executable graphs released by dagpatch_evict or for want of memory */
	uint64_t evictions;
	uint64_t memory_retries; /* graphs built after others had been evicted for them */
};

/* Fills *RET_STATS, whose size the caller has set. Works in callbacks, too. */
int dagpatch_recording_stats(const struct dagpatch_recording *recording,
			     struct dagpatch_stats *ret_stats);

/* One place that holds an address. */
struct dagpatch_relocation {
	uint32_t node;
	/* in the node's parameters, for a kernel in its arguments; DAGPATCH_NONE: the node is
	 * recaptured */
	uint32_t byte;
	uint32_t slot;
	uint64_t offset;
};

/* Copies relocation number INDEX of a finalized recording; they are in ascending order of slot.
 * -ERANGE: there are no more, or the recording is not finalized or is nested. */
int dagpatch_recording_relocation(const struct dagpatch_recording *recording, uint32_t index,
				  struct dagpatch_relocation *ret_relocation);

/* Return the driver's handle of the executable graph and of a node. They belong to the recording.
 * NULL: before the first launch or apply, after dagpatch_evict, or no such node. They are valid
 * until the next launch or apply; until then the graph is not evicted for want of memory. On HIP a
 * child has become nodes of the one flat graph: its handle is the node after which the whole child
 * is done. */
void *dagpatch_recording_exec(const struct dagpatch_recording *recording);
void *dagpatch_node_handle(const struct dagpatch_recording *recording, uint32_t node);

/* Format of a dump. */
enum dagpatch_dump_format {
	DAGPATCH_DUMP_TEXT, /* lines of text */
	/* input for the program dot: a box for each node, an arrow for each dependency */
	DAGPATCH_DUMP_GRAPHVIZ,
};

/* Receives BYTES bytes of text, which are not ended by 0 and are valid during the call. Returns 0,
 * or a negative errno, after which it is not called again. */
typedef int (*dagpatch_write_fn)(void *user, const char *text, size_t bytes);

/* Writes a description of the recording, in any state: slots with their addresses; nodes with the
 * kernels' names (as far as the driver knows them), the sizes of their parameters, their addresses
 * (argument, slot, offset) and their dependencies (inside captured work only on HIP; on CUDA the
 * driver keeps them); how the recording was changed last, and which slots and nodes that changed.
 * The text is for people and its form may change. Cost: all relocations are read for each node.
 * -EINVAL: no such format, or NULL; otherwise what WRITE returned. */
int dagpatch_dump(const struct dagpatch_recording *recording, enum dagpatch_dump_format format,
		  dagpatch_write_fn write, void *user);

/* ---- cache of captured work ---- */

/* Votes: ranks (processes or threads that take part in the same collectives) agree on each change
 * of their graphs in two votes, so that either all launch their new graphs or all keep their old
 * ones:
 *
 *	before	what each rank has in its cache: all use what they have, or all capture
 *	after	each rank has captured, built or patched, and verified: all launch, or none does
 *
 * A rank that fails says so in the next vote and returns its own error. The others return
 * -ECANCELED, with the vote in the message, and put back what they have changed: addresses and
 * values stay pending; the graph, executable and cached, is as before the call. The next launch
 * tries again if all ranks launch; dagpatch_revert discards the change if all ranks call it.
 *
 * What is certain: a rank launches a changed graph only if every rank has said that its own graph
 * is ready. A rank whose launch returned an error has launched nothing and has its old graph; or
 * it is LOST, as without ranks, if putting back failed: then dagpatch_finalize is needed, and the
 * next launch of all ranks builds the graph.
 *
 * What no vote can make certain is that all ranks receive the answer of the last vote. If a rank
 * dies after it has said that it is ready, or its vote times out, other ranks may have received
 * the answer and have launched. Therefore, when a vote itself ends in an error (-ETIMEDOUT,
 * -EPIPE, or what the callback returns; after the captures the message says that other ranks may
 * have launched), the caller must:
 * 1. launch nothing more with this communicator, and abort it on all ranks (ncclCommAbort),
 *    because a collective on the ranks that did launch waits for the others on the GPU;
 * 2. make sure by other means which ranks are left, and that all of them have come to this point;
 * 3. have all of these ranks call dagpatch_cache_rejoin, with recordings of the new communicator
 *    if there is one.
 *
 * Until then every vote of this cache fails at once with -EPIPE, without calling the callback, so
 * that a late answer is never taken for the answer to another vote; launches that need a vote fail
 * the same way. -EPROTO: the ranks were not at the same vote because they did not launch the same
 * recordings in the same order; the same steps are needed. The driver's launch itself comes after
 * the votes: if it fails on one rank, the other ranks have launched. */

/* Which of the two votes. */
enum dagpatch_vote_phase {
	DAGPATCH_VOTE_BEFORE,
	DAGPATCH_VOTE_AFTER,
};

/* What one rank says in a vote. */
struct dagpatch_vote {
	size_t size; /* sizeof(struct dagpatch_vote) */
	enum dagpatch_vote_phase phase;
	uint32_t count; /* number of values; the same on all ranks */
	/* this rank's values; opaque to the callback; valid during the call */
	const int64_t *values;
	/* how long the callback may wait, from dagpatch_cache_options.vote_timeout_ns */
	uint64_t timeout_ns;
};

/* The callback that carries out a vote, supplied by the caller. It sets RET_LEAST[i], for i <
 * vote->count, to the smallest values[i] of all ranks: an all-reduce with MIN over int64_t. All
 * ranks get the same answer; a rank that gets none must return an error within TIMEOUT_NS. It must
 * involve all ranks that any collective of the recording involves. It runs while collectives may
 * be running on the GPU, so it must not depend on them, and it must not use a stream that is being
 * captured. Returns 0 or a negative errno. */
typedef int (*dagpatch_vote_fn)(void *user, const struct dagpatch_vote *vote, int64_t *ret_least);

/* Settings of a cache. */
struct dagpatch_cache_options {
	size_t size;
	/* number of captured graphs; the least recently used is released first; 0: 16 */
	uint32_t capacity;
	/* NULL: there are no votes, this process decides alone. A recording may have at most one
	 * cache that votes. Recordings that share it are launched in the same order on all ranks,
	 * one at a time. */
	dagpatch_vote_fn vote;
	void *vote_user;	  /* passed to vote; valid as long as the cache */
	uint64_t vote_timeout_ns; /* limit of one vote */
	/* 0: every launch votes, because one rank's graph may change while another's does not:
	 * once if nothing changes on any rank, otherwise twice. Not 0: the caller guarantees that
	 * addresses and values change on all ranks before the same launches or on none. Then only
	 * launches with changes vote, twice. */
	int ranks_change_together;
};

/* Creates a cache of CONTEXT. OPTIONS is copied. The caller destroys *RET_CACHE. Any thread. */
int dagpatch_cache_create(struct dagpatch_context *context,
			  const struct dagpatch_cache_options *options,
			  struct dagpatch_cache **ret_cache);

/* Gives up the caller's reference. Recordings that use the cache keep it, its vote and VOTE_USER
 * until the last of them is destroyed. NULL is allowed. */
void dagpatch_cache_destroy(struct dagpatch_cache *cache);

/* Releases all captured graphs of the work with this key (dagpatch_capture.key), for every
 * collective. Returns how many. Recordings keep what is in their graphs until they recapture it.
 * Where ranks vote, all of them must drop the same keys; otherwise the others recapture the work,
 * too. */
int dagpatch_cache_drop(struct dagpatch_cache *cache, const void *key, size_t key_bytes);

/* Allows votes again after a vote that ended in an error. The caller has made sure that all ranks
 * are at the same point; all of them call this the same number of times. The cache is emptied.
 * -EINVAL: NULL, or a cache that does not vote. */
int dagpatch_cache_rejoin(struct dagpatch_cache *cache);

/* Counters of a cache. */
struct dagpatch_cache_stats {
	size_t size;   /* set by the caller; as many bytes are written */
	uint64_t hits; /* lookups that found a captured graph */
	/* captures made because the cache had none, or another rank had none */
	uint64_t misses;
	uint64_t evictions; /* graphs released for want of capacity */
	uint64_t votes;	    /* votes begun */
	uint64_t entries;   /* captured graphs in the cache now */
};

/* Fills *RET_STATS, whose size the caller has set. Any thread. */
int dagpatch_cache_stats(struct dagpatch_cache *cache, struct dagpatch_cache_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
