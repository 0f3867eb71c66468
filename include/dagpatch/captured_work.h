/* Work that others submit or have made graphs of: it is captured, its addresses are found by
 * comparison, and it becomes part of a recording.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_CAPTURED_WORK_H
#define DAGPATCH_CAPTURED_WORK_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/nodes.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Captured graphs that recordings share. See caches.h. */
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

#ifdef __cplusplus
}
#endif

#endif
