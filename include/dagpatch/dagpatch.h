/* dagpatch: GPU graphs that stay alive when buffers move.
 *
 * A CUDA or HIP graph has the addresses of its buffers baked in. dagpatch records the graph against
 * *slots*, buffers that have a name and a size but no address yet, remembers which bytes of which
 * node are addresses, and, when a slot is bound to another address, changes those bytes and nothing
 * else, in the cheapest way that the driver has.
 *
 *	dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .name = "input", .bytes = n), &input);
 *	dagpatch_add_kernel(recording, &kernel, NULL, &node);
 *	dagpatch_finalize(recording);
 *	for (...) {
 *		dagpatch_bind(recording, input, address, n);
 *		dagpatch_launch(recording, stream);
 *	}
 *
 * States: a recording is CREATED and takes slots and nodes until dagpatch_finalize; then it is
 * READY and takes addresses and launches. A call in the wrong state is -EINVAL and changes nothing.
 * dagpatch_launch (or dagpatch_apply before it) builds and instantiates the graph when it first has
 * all addresses, later it patches. If patching fails midway, what was changed is put back: the
 * graph then has its old addresses, whole, and the new ones are still wanted, so that the next
 * launch tries again (dagpatch_revert drops them). If putting back fails too the recording is LOST:
 * it launches nothing until dagpatch_finalize has been called again and a new graph was
 * instantiated.
 *
 * A replay that was launched before dagpatch_bind never sees what was bound later.
 *
 * Relocations of recorded nodes come from the recording calls. Those of captured work (a library's
 * calls, other people's graphs) come from two captures of it at two sets of addresses: bytes that
 * moved with a slot are its address, bytes that did not are left alone whatever they look like, and
 * a byte that differs and that no slot explains is an error which names node and byte.
 *
 * Handles (streams, functions, events, graphs) are the driver's own: CUstream, CUfunction or
 * CUkernel, CUevent, CUgraph; hipStream_t, hipFunction_t or a kernel's host address, ...; or those
 * of dagpatch/model.h.
 *
 * Devices: a context is of one device, the calling thread's current one when the context is made
 * (CUDA: its current context, or the first device's primary one if it has none; a context that is
 * not primary stays the caller's and outlives this one). Its recordings and caches are of that
 * device, whatever thread makes or uses them: each call makes it the thread's current device while
 * it works, if it is not, and gives the thread its own back before it returns, on failure too. So a
 * program with several devices makes a context on each. A stream of another device is refused:
 * dagpatch_launch is -EINVAL, the message names both devices, nothing was changed. The streams
 * without a handle of their own (NULL, the legacy and the per-thread one) are the recording's
 * device's.
 *
 * Threading:
 * - A context: any thread at any time, also to make recordings and caches and to describe kernels.
 * - A recording: one thread at a time, any thread, in turn; whoever hands it over sees to it that
 *   the one's calls have returned before the other's begin (a lock, a queue). That holds for all
 *   calls that have the recording as an argument, those that only look included, and for what
 *   dagpatch_recording_error points to. Different recordings are independent, also those of one
 *   context, with the same captured work, child, cache or stream.
 * - A finalized nested recording: dagpatch_add_child and dagpatch_add_conditional only read it; any
 *   number of threads may put it into theirs at once.
 * - A cache: any number of threads, through recordings that share it and dagpatch_cache_stats. With
 *   a vote several recordings may vote at once, each on its thread; ranks tell votes apart by their
 *   order alone, so launches that vote come in one order on each rank: one thread at a time.
 * - An adopted executable graph (dagpatch_adoption.exec): whoever else launches or updates it does
 *   not do so during a call on its recording.
 * - A destroy: nobody else is in a call on it, or makes one later. A context stays until its last
 *   recording and cache is destroyed, a cache until the last recording that uses it.
 * - Callbacks run on the thread that makes the call, several of them at once if several threads do,
 *   with the recording's device current. Captures and votes may leave another one current. In a
 *   callback the calls that change its recording are -EBUSY and do nothing; those that look into it
 *   work, and other recordings are free.
 * Calls wait for each other only inside of the driver, and in HIP before version 6, which is not
 * safe for threads: there a call on HIP waits until those of other threads are over, votes
 * excepted, and a callback other than a vote must not wait for another thread's call.
 * Cost: bind and launch of unchanged addresses some ns (dagtap-bench patch) and the driver's
 * launch; changed ones what the strategy costs. Bookkeeping is less than 64 bytes a node, 16 a
 * relocation, and a copy of its parameters.
 * Waiting: the calls of a recording wait for the GPU in these cases only.
 * CUDA: building a graph with a table (apply or launch) waits for a short copy on a stream of
 * dagpatch's own; a launch when all versions of the table are in flight, for the oldest replay; of
 * the executable graphs with a table that go, some as on HIP, for destroying one waits for its
 * replays (driver 580).
 * HIP: when 65 executable graphs have gone of which nobody can tell whether their replays are done
 * the device is synchronised (dagpatch_recording_destroy); dagpatch_context_create waits for a
 * graph of its own.
 * Both: dagpatch_context_destroy, or the destroy of what the context has stayed for, for the
 * replays that use something of dagpatch's; a graph that cannot be built for want of memory, for
 * the device (dagpatch_evict). The driver's own calls to allocate and free memory may wait for the
 * device: scratch memory of captures without addresses, shadows, the table. Where ranks vote, apply
 * and launch wait on the host for the other ranks, for vote_timeout_ns at each of two votes.
 * Errors: 0 or more is success, a negative errno failure; what went wrong is in struct
 * dagpatch_error. NULL where it is not said to be fine is -EINVAL. -ENOTSUP: this driver cannot do
 * it. -EINVAL: wrong argument or state. -EIO: the driver failed; its code is in driver_code. What
 * callbacks return is passed on.
 * Nothing is printed, no environment variable is read.
 *
 * Compatibility: structs that may grow begin with their size, which the caller sets (DAGPATCH_SIZED
 * does); fields are only added at their end. A smaller struct, of a program that was built with an
 * older header, is read as if its missing fields were 0; of a larger one the fields that this
 * library does not know must be 0, else the call is -E2BIG. Size 0 is -EINVAL: it was not set.
 * Structs that come in arrays and have no size never grow. Numbers of enums and flags never
 * change. */
#ifndef DAGPATCH_DAGPATCH_H
#define DAGPATCH_DAGPATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAGPATCH_NONE UINT32_MAX

/* Of this header; dagpatch_version() tells the library's. Both count major * 10000 + minor * 100 +
 * patch; the library serves every program that was built with a header of the same major number. */
#define DAGPATCH_VERSION 100
uint32_t dagpatch_version(void);

/* DAGPATCH_SIZED(kernel, .function = f, .grid = {1}): a struct dagpatch_kernel with its size and
 * these fields, for C. */
#define DAGPATCH_SIZED(name, ...)                                                                  \
	((struct dagpatch_##name){.size = sizeof(struct dagpatch_##name), __VA_ARGS__})

/* One line for a person. NODE and BYTE are DAGPATCH_NONE when it is about neither. */
struct dagpatch_error {
	int code;	 /* negative errno, as the call returned it */
	int driver_code; /* CUresult or hipError_t, 0 when the driver was not to blame */
	uint32_t node;	 /* as the recording numbers it, nested ones too */
	uint32_t byte;	 /* in the node's parameters */
	char message[256];
};

/* ---- context ---- */

/* How addresses get into an instantiated graph. */
enum dagpatch_strategy {
	DAGPATCH_AUTO,	     /* by costs measured in this process */
	DAGPATCH_SET_PARAMS, /* the driver's call for one node, for each node that changed */
	DAGPATCH_DEVICE_TABLE, /* a kernel in the graph takes them from a table (CUDA 12.4 and newer) */
	DAGPATCH_UPDATE_GRAPH, /* the driver's call for the whole graph */
	DAGPATCH_INSTANTIATE, /* instantiated anew; also when the driver can no longer patch this one */
	DAGPATCH_CAPTURE,     /* captured anew, or taken from a cache (struct dagpatch_capture) */
	DAGPATCH_SHADOW,      /* not patched: contents are copied (struct dagpatch_slot) */
	DAGPATCH_STRATEGY_COUNT
};

/* What the observer is told, after the driver has accepted it. */
struct dagpatch_change {
	const struct dagpatch_recording *recording;
	uint32_t slot;
	uint32_t node; /* DAGPATCH_NONE: all nodes of the slot at once, by the table */
	uint32_t byte; /* in the node's parameters */
	void *node_handle;
	uint64_t old_address;
	uint64_t new_address;
	enum dagpatch_strategy strategy;
	uint64_t ns; /* of the whole step that this change was part of */
};

struct dagpatch_options {
	size_t size; /* sizeof(struct dagpatch_options) */
	/* "cuda", "hip" or "model" (dagpatch_driver_name). NULL, or any other name, is -EINVAL: no
	 * driver is chosen by what is installed, for the caller's handles are one driver's. */
	const char *driver;
	/* The driver's library. NULL: libcuda.so.1; the libamdhip64 that the process has loaded,
	 * under whatever name, or else libamdhip64.so.7, .so.6, .so.5, whichever the loader finds
	 * first. */
	const char *library;
	/* To be preferred; what the driver cannot do so is done by another one. */
	enum dagpatch_strategy strategy;
	uint32_t child_depth;	 /* deepest nesting of child graphs; 0: 8 */
	uint32_t table_versions; /* replays in flight that the table serves; 0: 1024 */
	/* How often all nodes of an executable graph are changed before a new one is instantiated;
	 * 0: as the driver needs (HIP), UINT32_MAX: never. */
	uint32_t updates_before_instantiate;
	int verify; /* each apply is followed by dagpatch_verify, whose errors it returns */
	/* DAGPATCH_AUTO where the driver has the table. 0: chosen for each recording by what it
	 * changes and by costs that are measured on this GPU when the context is made (some ms); a
	 * graph is instantiated anew, with the table or without, when the other way would have
	 * saved more than that takes. N: graphs with at least N kernel nodes that have addresses
	 * get it, and keep it. UINT32_MAX: none does. */
	uint32_t table_from_nodes;
	void (*observe)(void *user, const struct dagpatch_change *change);
	void *observe_user;
};

/* To be given as options.observe: marks each change in dagtap's trace, if the program was linked
 * with libdagtap or has loaded it with RTLD_GLOBAL before the first change; else it does nothing.
 * USER is not used. A mark is a scope "dagpatch", closed at once, with the attributes recording
 * (its address), slot, old_address, new_address, strategy ("set_params", "device_table", ...), ns
 * (of the whole step, in each of its marks alike), node and byte (both only where one node was
 * changed). `dagtap graph --advise` adds them up.
 * Cost: two records of the trace a change, nothing but a look at a flag while nothing is recorded.
 * Threading: any thread at any time; it locks once, when it is first called. */
void dagpatch_observe_in_trace(void *user, const struct dagpatch_change *change);

struct dagpatch_context;

/* Of the thread's current device, see "Devices". OPTIONS is copied, its texts too. ERROR may be
 * NULL. -ENOENT: the driver's library is not here, or no device.
 * HIP: runs a graph of four nodes between buffers of its own on that device, moves them by each
 * call that changes an executable graph, and waits for it: a call that returns success without
 * effect is never used by this context. The first context of a process on a device compiles one
 * kernel for it where hiprtc is there (some 100 ms and more), others take 1 ms. */
int dagpatch_context_create(const struct dagpatch_options *options,
			    struct dagpatch_context **ret_context, struct dagpatch_error *error);
/* Recordings and caches of the context that are still there go on as before, and the last of them
 * that is destroyed takes the context with it; whichever call that is waits for the replays that
 * still use something of dagpatch's. NULL is fine. */
void dagpatch_context_destroy(struct dagpatch_context *context);

/* Names of the drivers that were built in, NULL after the last. */
const char *dagpatch_driver_name(uint32_t index);

/* What the context's driver can do; a sum of dagpatch_capability. */
enum dagpatch_capability {
	DAGPATCH_HAS_TABLE = 1,
	DAGPATCH_HAS_CONDITIONALS = 2,
	DAGPATCH_HAS_LAYOUTS = 4, /* it knows kernels' parameters: offsets and sizes */
};
uint32_t dagpatch_context_capabilities(const struct dagpatch_context *context);

/* A second witness about a kernel's parameters. Drivers that have one (the metadata in AMD's code
 * objects) ask it themselves; this is for kernels that the caller knows better. */
enum dagpatch_parameter_kind {
	DAGPATCH_PARAMETER_UNKNOWN,
	DAGPATCH_PARAMETER_POINTER,
	DAGPATCH_PARAMETER_VALUE,  /* by value: may hold pointers inside */
	DAGPATCH_PARAMETER_HIDDEN, /* filled by the runtime: never passed, never patched */
};
struct dagpatch_parameter {
	uint32_t offset;
	uint32_t bytes;
	enum dagpatch_parameter_kind kind;
};
/* From now on FUNCTION has these parameters, in ascending order of offset. What a capture finds
 * must agree: an address in a plain scalar of fewer than 8 bytes, or a POINTER that differs in
 * fewer than all its 8 bytes' worth of one slot, is an error. -EEXIST if the context knows others
 * already. */
int dagpatch_kernel_describe(struct dagpatch_context *context, const void *function,
			     const struct dagpatch_parameter *parameters, uint32_t count);

/* ---- recording ---- */

enum dagpatch_state {
	DAGPATCH_CREATED,
	DAGPATCH_READY,
	DAGPATCH_LOST,
};

enum {
	/* Nodes wait for earlier ones that touch the same bytes of a slot when one of both writes;
	 * explicit dependencies are added to those. Copies and memsets declare themselves. Two
	 * slots are taken for different memory. */
	DAGPATCH_DERIVE_DEPENDENCIES = 1,
	/* To be put into others by dagpatch_add_child or as a body: has no graph of its own. */
	DAGPATCH_NESTED = 2,
};

struct dagpatch_recording;

int dagpatch_recording_create(struct dagpatch_context *context, uint32_t flags,
			      struct dagpatch_recording **ret_recording);
/* Replays in flight go on, and so they do when a graph is built anew, finalized again or evicted:
 * what they use (shadows, the table; on HIP the executable graph) is freed later, by a call that
 * makes, builds, evicts or destroys something of the context and finds them done. It does not wait
 * for them. On HIP nobody can tell when replays are done whose streams may be gone; that is known
 * when the context next launches into these streams. When 65 executable graphs wait for that the
 * device is synchronised, which ends captures in HIP 6 and newer, and all of them are freed. (The
 * driver's own call to free memory may wait for the device.) NULL is fine. In a callback of this
 * recording: does nothing. */
void dagpatch_recording_destroy(struct dagpatch_recording *recording);

enum dagpatch_state dagpatch_recording_state(const struct dagpatch_recording *recording);
/* About the last call on this recording that failed; valid until the next call. */
const struct dagpatch_error *dagpatch_recording_error(const struct dagpatch_recording *recording);

enum {
	/* A small buffer with a fixed address of dagpatch's own; contents are copied in before each
	 * launch and out after it, in the launch's stream, as far as the flags say. */
	DAGPATCH_SHADOW_IN = 1,
	DAGPATCH_SHADOW_OUT = 2,
};

struct dagpatch_slot {
	size_t size;	    /* sizeof(struct dagpatch_slot) */
	const char *name;   /* copied; for messages; NULL is fine */
	uint64_t bytes;	    /* at least 1 */
	uint64_t alignment; /* of every address bound to it, a power of two; 0: 256 */
	uint32_t flags;
	int on_host; /* pinned host memory */
};
int dagpatch_slot_add(struct dagpatch_recording *recording, const struct dagpatch_slot *slot,
		      uint32_t *ret_slot);

/* ---- nodes: ret_node is the node's number, for dependencies; it may be NULL ---- */

/* NULL in its place: no explicit dependencies. */
struct dagpatch_after {
	const uint32_t *nodes;
	uint32_t count;
};

enum {
	DAGPATCH_READS = 1,
	DAGPATCH_WRITES = 2,
};

/* An address: the slot's plus OFFSET. RANGE_BYTES from there (0: to the slot's end) are accessed as
 * ACCESS says (0: read and written). */
struct dagpatch_pointer {
	uint32_t byte; /* where in the argument; any byte, aligned or not */
	uint32_t slot;
	uint64_t offset;
	uint64_t range_bytes;
	uint32_t access;
};

/* SIZE bytes, copied; at each of the pointers the address is put in. BYTES NULL: zeros. */
struct dagpatch_argument {
	const void *bytes;
	uint32_t size;
	uint32_t pointer_count;
	const struct dagpatch_pointer *pointers;
};

static inline struct dagpatch_argument dagpatch_value(const void *bytes, uint32_t size)
{
	struct dagpatch_argument argument = {bytes, size, 0, NULL};

	return argument;
}

static inline struct dagpatch_argument dagpatch_address(const struct dagpatch_pointer *pointer)
{
	struct dagpatch_argument argument = {NULL, 8, 1, pointer};

	return argument;
}

/* How a kernel is launched beyond its parameters: what GIVEN names; the rest is the driver's
 * default. -ENOTSUP, and nothing was added: the driver does not have it. CUDA has all of them, HIP
 * 6.4 and newer cooperative launches (they refuse priorities), older ones none. Kernels that were
 * captured or adopted keep what they have, in whatever graph dagpatch makes of them. */
enum {
	DAGPATCH_PRIORITY = 1,
	DAGPATCH_COOPERATIVE = 2,
	DAGPATCH_CLUSTER = 4,
	DAGPATCH_PROGRAMMATIC = 8,
};
/* When a kernel may start after kernels that it depends on. */
enum dagpatch_programmatic {
	DAGPATCH_ON_END,     /* as all dependencies */
	DAGPATCH_ON_TRIGGER, /* all their blocks have triggered it, or have ended */
	DAGPATCH_ON_START,   /* all their blocks have started */
};
struct dagpatch_attributes {
	size_t size;	/* sizeof(struct dagpatch_attributes) */
	uint32_t given; /* a sum of the above */
	/* As streams have it: 0 is the default, lower ones go first. A graph in which one is not 0,
	 * also of captured or adopted work, runs all its kernels at their own priorities, whatever
	 * the stream's that it is launched in. */
	int32_t priority;
	int cooperative;     /* all blocks run at once */
	uint32_t cluster[3]; /* blocks; they divide the grid */
	/* Of its dependencies on kernels; on others it waits for the end. What those have written
	 * it may read once it has waited itself (griddepcontrol.wait). */
	enum dagpatch_programmatic programmatic;
};

struct dagpatch_kernel {
	size_t size; /* sizeof(struct dagpatch_kernel) */
	void *function;
	uint32_t grid[3];  /* blocks */
	uint32_t block[3]; /* threads */
	uint32_t shared_bytes;
	uint32_t argument_count;
	const struct dagpatch_argument
		*arguments; /* one a parameter; sizes are checked where known */
	/* NULL: the driver's defaults; for dagpatch_set_kernel: they stay as they are. */
	const struct dagpatch_attributes *attributes;
};
int dagpatch_add_kernel(struct dagpatch_recording *recording, const struct dagpatch_kernel *kernel,
			const struct dagpatch_after *after, uint32_t *ret_node);

/* One end of a copy. SLOT DAGPATCH_NONE: ADDRESS, which never moves. Rows are PITCH bytes apart (0:
 * as wide as the copy), slices ROWS rows apart (0: as high as the copy). */
struct dagpatch_end {
	uint32_t slot;
	int on_host; /* of ADDRESS; a slot knows itself */
	uint64_t offset;
	void *address;
	uint64_t pitch;
	uint64_t rows;
};
struct dagpatch_copy {
	size_t size; /* sizeof(struct dagpatch_copy) */
	struct dagpatch_end dst, src;
	uint64_t width_bytes;
	uint64_t height; /* 0: 1 */
	uint64_t depth;	 /* 0: 1 */
};
int dagpatch_add_copy(struct dagpatch_recording *recording, const struct dagpatch_copy *copy,
		      const struct dagpatch_after *after, uint32_t *ret_node);

struct dagpatch_memset {
	size_t size; /* sizeof(struct dagpatch_memset) */
	uint32_t slot;
	uint64_t offset;
	uint32_t value;
	uint32_t element_bytes; /* 1, 2 or 4 */
	uint64_t width;		/* elements */
	uint64_t height;	/* 0: 1 */
	uint64_t pitch;		/* bytes between rows, if there is more than one */
};
int dagpatch_add_memset(struct dagpatch_recording *recording, const struct dagpatch_memset *memset,
			const struct dagpatch_after *after, uint32_t *ret_node);

int dagpatch_add_empty(struct dagpatch_recording *recording, const struct dagpatch_after *after,
		       uint32_t *ret_node);

struct dagpatch_host {
	size_t size;		      /* sizeof(struct dagpatch_host) */
	void (*function)(void *user); /* runs on a thread of the driver's */
	void *user;
};
int dagpatch_add_host(struct dagpatch_recording *recording, const struct dagpatch_host *host,
		      const struct dagpatch_after *after, uint32_t *ret_node);

int dagpatch_add_event_record(struct dagpatch_recording *recording, void *event,
			      const struct dagpatch_after *after, uint32_t *ret_node);
int dagpatch_add_event_wait(struct dagpatch_recording *recording, void *event,
			    const struct dagpatch_after *after, uint32_t *ret_node);

/* Where a slot of a nested recording lies: in a slot of the outer one. */
struct dagpatch_mapping {
	uint32_t slot;
	uint64_t offset;
};

/* A copy of NESTED, which may be used any number of times and destroyed afterwards. NESTED is ready
 * and has MAPPING_COUNT slots. */
struct dagpatch_child {
	size_t size; /* sizeof(struct dagpatch_child) */
	const struct dagpatch_recording *nested;
	const struct dagpatch_mapping *mappings;
	uint32_t mapping_count;
};
int dagpatch_add_child(struct dagpatch_recording *recording, const struct dagpatch_child *child,
		       const struct dagpatch_after *after, uint32_t *ret_node);

enum dagpatch_condition {
	DAGPATCH_IF,	/* body 0 unless the predicate is 0 */
	DAGPATCH_CASE,	/* body of the predicate's number; any other number: the last body */
	DAGPATCH_WHILE, /* body 0 again and again while the predicate, which it changes, is not 0 */
};
/* The predicate is an int32_t in a slot (PREDICATE_IS_BYTE: a byte, 0 or not; in a CASE 0 selects
 * body 1 and anything else body 0, as XLA has it), read when the node's turn comes and, for WHILE,
 * after each turn of the body. */
struct dagpatch_conditional {
	size_t size; /* sizeof(struct dagpatch_conditional) */
	enum dagpatch_condition condition;
	uint32_t predicate_slot;
	uint64_t predicate_offset;
	int predicate_is_byte;
	const struct dagpatch_child *bodies; /* an array; each has the size of the first */
	uint32_t body_count;
};
/* -ENOTSUP: graphs of this driver have no conditional nodes (HIP: none of its releases; see
 * DAGPATCH_HAS_CONDITIONALS), or not this one (DAGPATCH_CASE needs a driver for CUDA 12.8). */
int dagpatch_add_conditional(struct dagpatch_recording *recording,
			     const struct dagpatch_conditional *conditional,
			     const struct dagpatch_after *after, uint32_t *ret_node);

/* ---- captured work ---- */

/* Submits the work to STREAM, which is being captured, with ADDRESSES[i] for the i-th slot of the
 * capture. 0 or a negative errno, which is passed on. USER stays valid as long as the recording,
 * and those that nest it. It runs on the thread that makes the call, only during that call:
 *
 *	call			patched			with DAGPATCH_CAPTURE_AGAIN
 *	dagpatch_add_captured	2 times, 6 with		never
 *				DAGPATCH_LEAVE_UNSTABLE
 *	dagpatch_apply, launch	never; once with	once for each place where it was added whose
 *				options.verify		addresses change, when a graph is built for the
 *							first time or after it was LOST, or, where ranks
 *							vote, another rank needs it; never if the cache
 *							has it; again by the next call if this one fails
 *	dagpatch_verify		once (never with	never
 *				DAGPATCH_LEAVE_UNSTABLE)
 *
 * What a callback has to be:
 * - repeatable: at the same addresses it submits the same work each time, with the same kernels,
 *   shapes, constants and dependencies. What it reads (sizes, seeds, flags) does not change while
 *   the recording lives; what it allocates for the work lives as long.
 * - warmed up: run once, outside of a capture, on this thread's device before it is added.
 *   Libraries load modules, allocate workspaces, tune and, for collectives, connect their peers
 *   when they first do something; in a capture that is an error, becomes part of the graph, or
 *   waits for a rank that has failed and never comes.
 * - capturable: submits to STREAM, or to streams that wait for it and that it waits for in turn; it
 *   does not synchronise, and does not use the recording that it belongs to.
 * - equal on all ranks, where ranks vote: the same collectives in the same order, whatever the
 *   addresses. */
typedef int (*dagpatch_capture_fn)(void *user, void *stream, void *const *addresses);

enum {
	/* Never patched: captured anew when an address changes, unless a cache has it. */
	DAGPATCH_CAPTURE_AGAIN = 1,
	/* Captured twice more at each set of addresses: words of 4 bytes of kernels' arguments that
	 * differ even so have nothing to do with the slots (holes in structs that nobody filled)
	 * and stay as they were captured first; of an address that shares a word with one nothing
	 * stays. Only for work of which it is known that these are no addresses of something that
	 * was made anew for each capture and holds the slots' addresses in turn. */
	DAGPATCH_LEAVE_UNSTABLE = 2,
};

/* A collective is uniform over ranks: each of them captures it, or none does. These numbers are
 * part of what its captured graphs are known by in a cache; they do not name the work, see
 * dagpatch_capture.key. */
struct dagpatch_collective {
	size_t size; /* sizeof(struct dagpatch_collective) */
	uint64_t communicator;
	uint32_t operation;
	uint32_t type;
	uint64_t count;
	/* Not 0: the library may have registered the buffers while capturing, so that its nodes
	 * must not be patched; needs DAGPATCH_CAPTURE_AGAIN. */
	int buffers_are_registered;
};

struct dagpatch_cache;

struct dagpatch_capture {
	size_t size; /* sizeof(struct dagpatch_capture) */
	dagpatch_capture_fn record;
	void *user;
	const uint32_t *slots;
	uint32_t slot_count;
	uint32_t flags;
	/* Two sets of addresses to capture at, see below. Both NULL: dagpatch allocates scratch
	 * memory of the slots' sizes for as long as it takes, each slot moved by another distance.
	 * The work is captured, never run, at these. */
	void *const *addresses[2];
	const struct dagpatch_collective *collective; /* NULL: none */
	struct dagpatch_cache
		*cache; /* with DAGPATCH_CAPTURE_AGAIN; of this context; may be NULL */
	/* With a cache: names the work, so that all recordings with the same name share what was
	 * captured at the same addresses. KEY_BYTES bytes, copied, that tell all that the captured
	 * graph depends on but the addresses of the slots: function, shapes, types, constants,
	 * communicator (by a number that is never used again, which its handle is not). What the
	 * captured graphs refer to (modules, communicators, data of host functions) lives until the
	 * cache has let them go: see dagpatch_cache_drop. NULL and 0: the work is known by this
	 * call alone; nobody else gets what it captured but recordings that nest this one, and it
	 * goes with the last of them. */
	const void *key;
	size_t key_bytes;
};
/* The captured graph becomes a child node. -EILSEQ: the captures differ where no slot explains it,
 * or in kernels or shape. -ENOTSUP: a node is of a kind that the driver does not let us read.
 *
 * Two sets of addresses have to tell which slot an address belongs to. -EINVAL, with the slot in
 * the message: an address is NULL; a slot has the same one in both; two slots overlap and move by
 * the same distance. Slots may touch, change places, lie where another one or they themselves were,
 * and overlap if they move by different distances. Two things are not noticed of slots that move by
 * the same distance: of two that touch, an address where one ends is taken for the other's begin;
 * and a kernel's argument that says how far they are apart is left as it is. Move each slot by a
 * distance of its own if the work may have these. */
int dagpatch_add_captured(struct dagpatch_recording *recording,
			  const struct dagpatch_capture *capture,
			  const struct dagpatch_after *after, uint32_t *ret_node);

/* Where an address is, for graphs whose maker knows. NODE: the node's place in the order in which
 * the driver lists the graph's nodes, a child's own nodes right after it. */
struct dagpatch_declared {
	uint32_t node;
	uint32_t byte; /* in the argument block; copies: DAGPATCH_DST or DAGPATCH_SRC, memsets 0 */
	uint32_t slot;
	uint64_t offset;
};
#define DAGPATCH_DST 0
#define DAGPATCH_SRC 8

/* A graph that somebody else made, as a node: a library's (cuDNN, MIOpen), or the program's own
 * capture. Its addresses are found as an adopted graph's are: in a second capture, or declared. */
struct dagpatch_graph {
	size_t size; /* sizeof(struct dagpatch_graph) */
	void *graph; /* at addresses[0]; copied, and may go */
	const uint32_t *slots;
	uint32_t slot_count;	   /* 0: nothing in it moves, and what follows may be NULL */
	void *const *addresses[2]; /* one for each of SLOTS; [1] only with other_graph */
	void *other_graph; /* the same work at addresses[1], read and left alone; NULL: see declared */
	/* As of struct dagpatch_adoption. */
	void *const *again;
	uint32_t again_count;
	const struct dagpatch_declared *declared; /* by nodes of GRAPH and slots of the recording */
	uint32_t declared_count;
};
/* The graph becomes a child node, whose nodes follow it; any number of times, in nested recordings
 * too. What GRAPH's nodes point to besides the slots (host nodes' data, events, fixed addresses)
 * must live as long as the recording, and those that nest it. Errors as of
 * dagpatch_add_captured. */
int dagpatch_add_graph(struct dagpatch_recording *recording, const struct dagpatch_graph *graph,
		       const struct dagpatch_after *after, uint32_t *ret_node);

/* A graph that somebody else captured becomes the recording's whole content. In a recording with
 * DAGPATCH_NESTED it becomes node 0, a child, as by dagpatch_add_graph, and has no exec. */
struct dagpatch_adoption {
	size_t size; /* sizeof(struct dagpatch_adoption) */
	void *graph; /* at addresses[0]; see exec */
	/* One for each slot, two sets as for captures; [1] only with other_graph. */
	void *const *addresses[2];
	void *other_graph; /* the same work at addresses[1], read and left alone; NULL: see declared */
	/* The same work, in turn at addresses[0] and addresses[1], captured again: see
	 * DAGPATCH_LEAVE_UNSTABLE. 6 at most, only with other_graph; read and left alone. */
	void *const *again;
	uint32_t again_count;
	const struct dagpatch_declared *declared; /* what is declared must be there in GRAPH */
	uint32_t declared_count;
	/* The caller's executable graph made of GRAPH: it is patched and launched, both stay the
	 * caller's and must outlive the recording, and whoever else launches it gets the addresses
	 * last applied. NULL: GRAPH is copied and may go. */
	void *exec;
};
int dagpatch_adopt(struct dagpatch_recording *recording, const struct dagpatch_adoption *adoption);

/* ---- finalize, bind, launch ---- */

/* No more slots or nodes. For a LOST recording: a new graph at the next launch. */
int dagpatch_finalize(struct dagpatch_recording *recording);

/* The slot is at ADDRESS from the next launch on; BYTES, what is there, is at least the slot's
 * size. -EINVAL: no such slot, too small, badly aligned. The old buffer is free to go when (1) an
 * apply or launch after this has succeeded, because until then the graph has it and dagpatch_revert
 * comes back to it, and (2) the replays launched before are done, as the caller knows by an event
 * or by synchronising their stream: dagpatch does not wait for them. Memory that is freed in the
 * stream's order after those replays (cudaFreeAsync, PyTorch's allocator on that stream) needs (1)
 * alone. An adopted executable graph that somebody else launches has it, too. */
int dagpatch_bind(struct dagpatch_recording *recording, uint32_t slot, const void *address,
		  uint64_t bytes);
/* All slots, in their order; sizes are the caller's word. All or none. */
int dagpatch_bind_all(struct dagpatch_recording *recording, const void *const *addresses,
		      uint32_t count);

/* Brings the graph to what is bound, if it is not. dagpatch_launch begins with it. -ENXIO: a slot
 * has no address yet. */
int dagpatch_apply(struct dagpatch_recording *recording);
/* STREAM: of the recording's device. One that is being captured: the recording becomes part of the
 * captured graph, in the stream's order, with the addresses and values that are wanted now. Its
 * nodes are put there by dagpatch, since drivers refuse a launch in a capture and end it, or lose
 * it without a word (HIP). What is bound later changes the recording, never that graph: a buffer
 * that moves needs a new capture, or the outer work as a recording (dagpatch_add_child). Nothing
 * runs, and the recording's own graph is neither built nor changed. The captured graph uses the
 * recording's shadows, callbacks' data and events, which must outlive it. Ranks that vote agree on
 * it as on any change. After an error some nodes may be in it: the capture is to be thrown away.
 * Captures of other streams go on, in any mode: what drivers refuse meanwhile is done in relaxed
 * mode. (HIP: but for want of memory, see "Waiting".) */
int dagpatch_launch(struct dagpatch_recording *recording, void *stream);
/* Drops the executable graph and the driver's graph, with the table: memory goes back to the
 * driver. Addresses, values and captured work stay, and the next launch builds it again, with what
 * is wanted then. Replays in flight go on (dagpatch_recording_destroy). 0 also when nothing was
 * built. -ENOTSUP: of an adopted executable graph. Where ranks vote they vote on what is built
 * again as on a change: with ranks_change_together all of them evict.
 *
 * When there is no memory to build a graph dagpatch does the same itself, to the least recently
 * launched executable graph of the context that no other thread works with, whose handles nobody
 * has asked for and whose ranks do not vote, waits for the device, and tries once more
 * (dagpatch_stats.memory_retries, evictions). */
int dagpatch_evict(struct dagpatch_recording *recording);
/* What is wanted is again what the graph has; of a LOST one, what it had; before the first, where
 * it was adopted. */
int dagpatch_revert(struct dagpatch_recording *recording);

/* Other parameters for a node, from the next apply or launch on, as if they had been given to
 * dagpatch_add_...: any function, grid, block, shared memory, arguments and slots; ends and shape
 * of a copy; a child of the same shape. Replays in flight never see them; a failure puts them back
 * with the addresses, and dagpatch_revert drops them; a later call replaces what an earlier one
 * gave the same node. Dependencies stay what they are: a node that then touches other slots waits
 * for no others than before. NODE is the recording's number. A child's own nodes follow it: those
 * of NESTED in their order, of captured work and of adopted graphs in the order in which the driver
 * lists them. Nodes of work with DAGPATCH_CAPTURE_AGAIN and the kernels that set conditions cannot
 * be set. Launch attributes that are given are given to those that the node has; other ones than
 * before, and what the driver cannot change in an executable graph (HIP: another function, unless
 * the context saw it take effect; a copy of another number of dimensions or between other kinds of
 * memory), make a new one; -ENOTSUP where that is the caller's (struct dagpatch_adoption). What
 * they return of the parameters is what dagpatch_add_... would. Memory: a node that was set keeps
 * two images; once one was, 24 bytes a relocation and 4 a node. Cost: a copy of the parameters now,
 * a node more to set at the next apply; with other slots or offsets than before that apply looks at
 * all relocations once. */
int dagpatch_set_kernel(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_kernel *kernel);
int dagpatch_set_copy(struct dagpatch_recording *recording, uint32_t node,
		      const struct dagpatch_copy *copy);
int dagpatch_set_memset(struct dagpatch_recording *recording, uint32_t node,
			const struct dagpatch_memset *memset);
/* NODE is what dagpatch_add_child gave. The child has the same kinds of nodes with the same
 * dependencies, down to what is nested in it, and none that are captured anew (-EINVAL,
 * -ENOTSUP). */
int dagpatch_set_child(struct dagpatch_recording *recording, uint32_t node,
		       const struct dagpatch_child *child);
/* The same of single values: all bytes of a kernel's argument INDEX but its addresses; a memset's
 * value. */
int dagpatch_set_argument(struct dagpatch_recording *recording, uint32_t node, uint32_t index,
			  const void *bytes, uint32_t size);
int dagpatch_set_memset_value(struct dagpatch_recording *recording, uint32_t node, uint32_t value);

/* Does the graph have what is bound? Captured work is compared with a fresh capture (but for work
 * with DAGPATCH_LEAVE_UNSTABLE, and nodes with values of dagpatch_set_...), and the executable
 * graph is read, node by node; what dagpatch keeps itself is no witness.
 * 0: every node that has addresses was read and has them. -EILSEQ: one has others; the error says
 * which.
 * DAGPATCH_CANNOT_TELL, no error: nothing wrong was found, but this driver does not let some of
 * them be read (dagpatch_stats.unread_nodes): CUDA and HIP none at all, and what the table sets
 * never. options.verify takes it for success. */
#define DAGPATCH_CANNOT_TELL 1
int dagpatch_verify(struct dagpatch_recording *recording);

/* ---- looking in ---- */

struct dagpatch_stats {
	size_t size; /* set by the caller */
	uint64_t launches;
	uint64_t unchanged_launches; /* of them: nothing to apply */
	uint64_t failures;	     /* calls that failed, however many ways they tried */
	uint64_t rollbacks;
	uint64_t uses[DAGPATCH_STRATEGY_COUNT];
	uint64_t nodes[DAGPATCH_STRATEGY_COUNT]; /* nodes that were changed so */
	/* Of fewer than 8 nodes or of the table: estimated, one use of 16 is timed. */
	uint64_t ns[DAGPATCH_STRATEGY_COUNT];
	uint64_t captures;
	uint64_t node_count; /* nested ones too */
	uint64_t relocation_count;
	uint64_t node_bytes; /* own bookkeeping, relocations and parameters not counted */
	uint64_t relocation_bytes;
	uint64_t parameter_bytes;
	uint64_t unread_nodes;	    /* that the last dagpatch_verify could not tell about */
	uint64_t captured_launches; /* into streams that were captured; not among LAUNCHES */
	/* Memory that is held for the recording now, in bytes. */
	uint64_t host_bytes;   /* dagpatch's own, of malloc; the three above are part of it */
	uint64_t pinned_bytes; /* of the driver's: shadows on the host, the table's log */
	uint64_t device_bytes; /* of the device: shadows, the table */
	uint64_t exec_bytes;   /* the executable graph's; 0: none, or the driver does not tell */
	uint64_t evictions;    /* executable graphs that dagpatch_evict or a lack of memory took */
	uint64_t memory_retries; /* graphs built after others had been evicted for them */
};
int dagpatch_recording_stats(const struct dagpatch_recording *recording,
			     struct dagpatch_stats *ret_stats);

struct dagpatch_relocation {
	uint32_t node;
	uint32_t byte;
	uint32_t slot;
	uint64_t offset;
};
/* In ascending order of slot. -ERANGE after the last. */
int dagpatch_recording_relocation(const struct dagpatch_recording *recording, uint32_t index,
				  struct dagpatch_relocation *ret_relocation);

/* The driver's handles, the recording's own; NULL before the first launch or apply, and after
 * dagpatch_evict. They are good until the next launch or apply; in between the graph is not evicted
 * for want of memory. On HIP a child has become nodes of the one graph: its handle is that of the
 * node after which it is done. */
void *dagpatch_recording_exec(const struct dagpatch_recording *recording);
void *dagpatch_node_handle(const struct dagpatch_recording *recording, uint32_t node);

enum dagpatch_dump_format {
	DAGPATCH_DUMP_TEXT,
	DAGPATCH_DUMP_GRAPHVIZ, /* for dot: boxes, an arrow for each dependency */
};
/* Takes BYTES bytes of the text; no 0 ends them. 0, or a negative errno, after which it is called
 * no more. */
typedef int (*dagpatch_write_fn)(void *user, const char *text, size_t bytes);
/* The recording in words, in any state: slots with their addresses; nodes with kernels' names (as
 * far as the driver knows them), sizes of their parameters, addresses (argument, slot, offset) and
 * dependencies (inside of captured work only on HIP, elsewhere the driver keeps them); how it was
 * changed last, and which slots and nodes were. The text is for people and may change. Costs a walk
 * over all nodes, each over all relocations. -EINVAL: no such format, or NULL; what WRITE
 * returned. */
int dagpatch_dump(const struct dagpatch_recording *recording, enum dagpatch_dump_format format,
		  dagpatch_write_fn write, void *user);

/* ---- cache of captured work ---- */

/* Ranks agree on each change of their graphs in two votes, so that all launch the new ones or all
 * keep the old ones:
 *
 *	before	what each rank has in its cache: all take what they have, or all capture
 *	after	each rank has captured, built or patched, and verified: all launch, or none does
 *
 * A rank that fails says so in the vote that is next and returns its own error. The others return
 * -ECANCELED, with the vote in the message, and put back what they have changed: addresses and
 * values are still wanted, the graph, executable and cached, is as before the call. The next launch
 * tries again, if all ranks do; dagpatch_revert drops the change, if all do.
 *
 * What is certain: a rank launches a changed graph only if every rank has said that its own is
 * ready; a rank whose launch returned an error has launched nothing and has its old graph (or is
 * LOST, as without ranks, if putting back failed: dagpatch_finalize, and the next launch of all
 * builds it).
 *
 * What no vote can make certain: that all ranks hear the answer of the last vote. If one dies after
 * it has said that it is ready, or its vote runs into its timeout, others may have heard that all
 * are ready and have launched. So when a vote itself ends in an error (-ETIMEDOUT, -EPIPE, what the
 * callback returns; after the captures the message says that other ranks may have launched) the
 * caller 1. launches nothing more with this communicator, and aborts it on all ranks
 * (ncclCommAbort), because a collective of those that did launch waits for the others on the GPU;
 * 2. makes sure by other means which ranks are left, and that all of them have come here; 3. has
 * all of these call dagpatch_cache_rejoin, with recordings of the new communicator if there is one.
 * Until then every vote of this cache is -EPIPE at once, without asking, so that nobody takes a
 * late answer for an answer to something else; so are launches that need one. -EPROTO: the ranks
 * were not at the same vote, for they did not launch the same recordings in the same order; the
 * same has to be done. The driver's launch itself comes after the votes: if it fails on one rank
 * the others have launched. */
enum dagpatch_vote_phase {
	DAGPATCH_VOTE_BEFORE,
	DAGPATCH_VOTE_AFTER,
};
struct dagpatch_vote {
	size_t size; /* sizeof(struct dagpatch_vote) */
	enum dagpatch_vote_phase phase;
	uint32_t count;	       /* of values; the same on all ranks */
	const int64_t *values; /* what this rank says; what they mean is dagpatch's business */
	uint64_t timeout_ns;
};
/* RET_LEAST[i], of vote->count: the least of all ranks' values[i] (an all-reduce with MIN over
 * int64_t). All ranks get the same answer, or each that gets none an error within TIMEOUT_NS. It
 * has to be all ranks that any collective of the recording involves; it works beside the GPU's own
 * collectives, never in a stream that is captured. */
typedef int (*dagpatch_vote_fn)(void *user, const struct dagpatch_vote *vote, int64_t *ret_least);

struct dagpatch_cache_options {
	size_t size;
	uint32_t capacity; /* captured graphs; the least recently used goes; 0: 16 */
	/* NULL: this process decides alone. A recording has one cache that votes at most;
	 * recordings that share it are launched in the same order on all ranks, one at a time. */
	dagpatch_vote_fn vote;
	void *vote_user; /* valid as long as the cache */
	uint64_t vote_timeout_ns;
	/* 0: every launch votes, for one rank's graph may change while another's does not: once if
	 * nothing changes on any rank, else twice. Not 0: the caller knows that addresses and
	 * values change on all ranks before the same launches or on none, so only launches with
	 * changes vote, twice. */
	int ranks_change_together;
};
int dagpatch_cache_create(struct dagpatch_context *context,
			  const struct dagpatch_cache_options *options,
			  struct dagpatch_cache **ret_cache);
/* Recordings that use it keep it, its vote and VOTE_USER until the last of them goes. NULL is
 * fine. */
void dagpatch_cache_destroy(struct dagpatch_cache *cache);
/* Lets go of all captured graphs of work with this key (dagpatch_capture.key), of whatever
 * collective; returns how many. Recordings keep what is in their graphs until they capture it anew.
 * Where ranks vote all of them drop the same, or the others capture anew, too. */
int dagpatch_cache_drop(struct dagpatch_cache *cache, const void *key, size_t key_bytes);

/* After a vote that ended in an error: all ranks are at the same place again, which the caller has
 * made sure of, and all call this the same number of times. What is in the cache goes. -EINVAL:
 * NULL, or a cache that does not vote. */
int dagpatch_cache_rejoin(struct dagpatch_cache *cache);

struct dagpatch_cache_stats {
	size_t size; /* set by the caller */
	uint64_t hits;
	uint64_t misses;
	uint64_t evictions;
	uint64_t votes;
	uint64_t entries;
};
int dagpatch_cache_stats(struct dagpatch_cache *cache, struct dagpatch_cache_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
