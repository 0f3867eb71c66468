/* The inside of a recording: what it holds, with the parts that it holds by value.
 *
 * Nodes are kept in one array in preorder: the nodes inside of a child or a conditional follow it.
 * What is recorded is enough to build the driver's graph at any time. The graph that was built
 * last is kept until a new one is complete.
 *
 * The core's files by layer; a file calls its own layer's earlier files and the layers before:
 * - what every call uses: node.c (reading of nodes), describe.c, errors.c, sized.c, ownership.c,
 *   images.c;
 * - what is recorded: slot_add.c, node_order.c, node_attributes.c, work.c;
 * - what executable graphs leave behind: retire.c, evict.c, context.c, captured_graph.c, cache.c;
 * - adding: node_append.c, nodes.c, nested.c; captured work: compare.c, addresses.c, edges.c,
 *   capture_append.c, capture.c, adopt.c;
 * - pending addresses and parameters: relocation_index.c, revise.c, slots.c, finalize.c;
 * - the driver's graph: flatten.c, auto.c, build_nodes.c, build_table.c, build.c;
 * - bringing the graph to what is wanted: recapture.c, strategy.c, verify.c, apply_gather.c,
 *   apply_observe.c, apply.c, graph_launch.c;
 * - recording.c (creation and destruction), set.c, inspection.c, dump.c, observe.c.
 *
 * Words: an address or a parameter is *wanted* from dagpatch_bind or dagpatch_set_... on, and
 * *applied* when an apply has succeeded. Work with DAGPATCH_RECAPTURE is *recaptured*;
 * identifiers call it `again`.
 *
 * Threading: unless a contract says otherwise, a function is called by the one thread that is in a
 * call of the recording, with the device current. Functions that take a recording and fail have
 * filled recording->error. */
#ifndef DAGPATCH_PATCH_RECORDING_H
#define DAGPATCH_PATCH_RECORDING_H

#include <stdatomic.h>

#include <dagpatch/dagpatch.h>

#include "patch/driver.h"

struct access;
struct conditional;
struct dagpatch_context;
struct loose_relocation;
struct node;
struct node_attributes;
struct placed_work;
struct recapture;
struct relocation;
struct retired;
struct revision;
struct slot;

/* The last change of the graph, for dumps; number 0: none. */
struct change {
	uint64_t number;
	enum dagpatch_strategy strategy;
	uint32_t nodes, slots;
};

/* A second index of relocations: the wanted one, or, while revisions are put in, the previous
 * one. */
struct spare_index {
	struct relocation *relocations;
	struct loose_relocation *by_node;
	uint32_t *first;   /* as recording.first_relocation */
	uint32_t capacity; /* of both arrays */
};

/* All revisions of a recording. Empty until a node is set for the first time. */
struct revisions {
	uint32_t pending_count;
	uint32_t *pending;	/* indices in ITEMS */
	struct revision *items; /* pending revisions, and earlier ones whose room is used again */
	uint32_t count, capacity;
	uint32_t *of_node;		  /* index in ITEMS + 1, by node; 0: none */
	struct loose_relocation *by_node; /* all relocations of the recording, by node, then byte */
	uint32_t index_capacity;	  /* of recording.relocations and of BY_NODE */
	struct spare_index spare;
	struct dagpatch_recording *scratch; /* a nested recording that set.c uses */
};

/* What the driver made of a recording. */
struct built {
	struct driver_graph *graph;
	struct driver_exec *exec;
	struct driver_table *table; /* may be NULL */
	struct retired *room;	    /* allocated in advance, because retiring must not fail */
	bool by_priorities;	    /* kernels run at their own priorities, not the stream's */
};

/* DAGPATCH_AUTO's choice between the table and setting node by node; see auto.c. */
struct table_choice {
	bool is_open;	  /* the choice may still change */
	bool is_wanted;	  /* the next graph that is built has the table */
	bool is_overdue;  /* the built graph has the other choice: build a new one */
	double regret_ns; /* time that the other choice would have saved recently */
};

/* Number of streams that struct launches remembers. */
enum { LAUNCH_STREAMS = 4 };

/* The streams in which the built graph has been launched. */
struct launches {
	struct driver_stream *streams[LAUNCH_STREAMS];
	uint32_t count;
	bool in_more; /* launched in further streams, too, or in per-thread streams */
};

/* Which thread may use recording.built: none; a thread in a call of the recording; or another
 * thread that evicts its executable graph. */
enum recording_owner { OWNER_NONE, OWNER_CALL, OWNER_EVICTION };

/* Costs of this recording, measured while it is used, in ns; 0: not measured yet. */
struct costs {
	double set_one;	    /* to set one node */
	double update_all;  /* to update the whole executable graph */
	bool cannot_update; /* the driver refused the update */
};

/* A recording. Fields are used by the thread that owns it, see "Threading" in dagpatch.h; the
 * exceptions say so. */
struct dagpatch_recording {
	/* What each bind and apply uses, together, because it is often no longer in the cache. */
	struct dagpatch_context *context;
	struct patch_device *device;
	/* enum recording_owner. Needed to use BUILT, and for everything between a change of BUILT
	 * and the driver's calls about it (ownership.c). */
	_Atomic uint32_t owner;
	enum dagpatch_state state;
	uint32_t flags;
	bool is_inside;	   /* VISIT has begun */
	bool is_spent;	   /* the executable graph may serve no further launch (strategy_is_worn) */
	bool votes_always; /* each launch votes */
	bool owes_vote;	   /* the other ranks wait for this rank's second vote */
	struct device_visit visit; /* of the call that owns the recording */
	/* Addresses by slot; 0: none yet. */
	uint64_t *wanted, *applied;
	struct slot *slots;
	uint32_t *changed;   /* slots whose wanted and applied addresses may differ */
	uint8_t *is_changed; /* by slot: is in CHANGED */
	uint32_t changed_count;
	uint32_t dirty_count;
	uint32_t *dirty; /* nodes that the current apply changes */
	/* Relocations of a finalized recording: those of slot i are first_relocation[i] to
	 * first_relocation[i + 1]. */
	struct relocation *relocations;
	uint32_t *first_relocation;
	/* by slot: end of the relocations that the host sets; the table sets those that follow */
	uint32_t *host_end;
	struct node *nodes;
	uint64_t *images;
	struct driver_exec *foreign_exec; /* the caller's executable graph; may be NULL */
	struct dagpatch_cache *voter; /* the cache whose ranks vote on each change; NULL: none */
	/* nodes set in the executable graph since it was instantiated */
	uint64_t updates;
	uint64_t applies; /* counts applies, to time one of some */
	struct change last;
	uint32_t node_count;
	uint32_t recapture_count;
	struct table_choice table_choice;
	struct built built; /* what is built */
	struct revisions revisions;
	struct dagpatch_stats stats;

	/* What other calls use. */
	struct dagpatch_recording *next, **at; /* list of the context, protected by its lock */
	/* BUILT is not empty: a hint for threads that look for a graph to evict */
	_Atomic bool is_built;
	/* the caller has asked for handles of BUILT, so it is not evicted */
	_Atomic bool is_handed_out;
	_Atomic uint64_t launched; /* context.launches at the last use */
	/* read by dagpatch_recording_stats without OWNER in callbacks */
	_Atomic uint64_t evictions;

	/* What is recorded. */
	uint32_t slot_count, slot_capacity;
	uint32_t node_capacity;
	uint32_t image_words, image_capacity;
	/* by node: the end of its dependencies in AFTER; they begin where those of the node before
	 * end */
	uint32_t *after_end;
	uint32_t after_end_capacity;
	uint32_t *after; /* numbers of the nodes that nodes wait for */
	uint32_t after_count, after_capacity;
	/* only with DAGPATCH_DERIVE_DEPENDENCIES, until finalized */
	struct access *accesses;
	uint32_t access_count, access_capacity;
	struct placed_work *works;
	uint32_t work_count, work_capacity;
	struct recapture *recaptures;
	uint32_t recapture_capacity;
	struct conditional *conditionals;
	uint32_t conditional_count, conditional_capacity;
	struct node_attributes *attributes; /* in ascending order of node */
	uint32_t attribute_count, attribute_capacity;
	bool has_priorities; /* a kernel has a priority other than 0 */

	/* Relocations until the recording is finalized; in nested recordings always. */
	struct loose_relocation *loose;
	uint32_t loose_count, loose_capacity;

	/* The content is an adopted graph. Nested recordings have a child node instead of
	 * SOURCE. */
	bool is_adopted;
	/* the adopted graph: owned copy; the caller's if FOREIGN_EXEC is not NULL */
	struct driver_graph *source;
	uint64_t *adopted; /* addresses that it was adopted with, by slot */

	/* About what is built. */
	bool is_evicted;   /* nothing is built, but recaptures.current is still valid */
	bool cannot_table; /* the driver refused a table for this graph */
	bool is_bound;	   /* all slots have had addresses since the first build */
	struct launches launches;
	/* stream of the dagpatch_launch that is applying; NULL: none */
	struct driver_stream *const *launching;
	struct costs costs;

	uint32_t *table_slots; /* arguments of table_bind */
	uint64_t *table_addresses;
	uint32_t shadow_count; /* slots that have a shadow */
	/* after the last launch that used the shadows; NULL: none yet */
	struct driver_mark *shadow_mark;
	struct driver_stream *shadow_stream; /* the stream of that launch */
	struct retired *shadow_room;	     /* allocated in advance, for retire_all */
	struct dagpatch_error error;
};

/* The executable graph that is launched; NULL: none. */
static inline struct driver_exec *current_exec(const struct dagpatch_recording *recording)
{
	return recording->foreign_exec ? recording->foreign_exec : recording->built.exec;
}

#endif
