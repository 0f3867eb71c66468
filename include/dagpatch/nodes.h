/* Nodes of a recording.
 *
 * These calls add a node to a recording in state CREATED. They copy what they are given. AFTER
 * names earlier nodes of the same recording that must have ended before the new node starts; NULL:
 * no explicit dependencies. *RET_NODE is the node's number, for dependencies and for
 * dagpatch_set_...; RET_NODE may be NULL. On failure nothing has been added.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_NODES_H
#define DAGPATCH_NODES_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/recordings.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
