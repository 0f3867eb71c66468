/* Contexts: a driver, a device and the strategies with which its graphs are changed.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_CONTEXTS_H
#define DAGPATCH_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/basics.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Creates a context for the calling thread's current device (see "Devices" in dagpatch.h).
 * OPTIONS and its strings are copied. On success *RET_CONTEXT is the new context, which the caller
 * destroys. On failure *ERROR, which may be NULL, has the reason.
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

#ifdef __cplusplus
}
#endif

#endif
