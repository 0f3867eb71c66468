/* A recording from the inside. Nodes are in one array in preorder: a child's or a body's own nodes
 * follow it. What is recorded is enough to build the graph at any time; what was built last is
 * kept until something better is there.
 *
 * In reading order: recording.c (states, slots), nodes.c and nested.c (what is added), order.c
 * (dependencies), work.c, capture.c, addresses.c, edges.c, compare.c and adopt.c (captured work),
 * finalize.c, build.c and flatten.c (the driver's graph), bind.c, set.c and revise.c (what is
 * wanted), apply.c, strategy.c and again.c (bringing the graph to it), launch.c, verify.c. */
#ifndef DAGPATCH_PATCH_RECORDING_H
#define DAGPATCH_PATCH_RECORDING_H

#include <errno.h>
#include <stdatomic.h>

#include <dagpatch/dagpatch.h>

#include "patch/driver.h"

struct retired;

struct dagpatch_context {
	struct patch_device *device;
	struct dagpatch_options options; /* defaults filled in */
	char *driver_name, *library;
	/* The caller's own, until it destroys it, and one of each recording and cache. */
	_Atomic uint32_t references;
	_Atomic uint64_t launches; /* of all recordings: when each was launched last */
	pthread_mutex_t lock;	   /* of what follows */
	struct dagpatch_recording *recordings;
	struct retired *retired;	   /* retire.c */
	_Atomic uint32_t retired_unmarked; /* changed with the lock */
};

enum node_flags {
	NODE_DIRTY = 1,	    /* among recording.dirty */
	NODE_STALE = 2,	    /* the built graph has other parameters than what was instantiated */
	NODE_IN_TABLE = 4,  /* a kernel whose addresses come from the table */
	NODE_AGAIN = 8,	    /* a child captured anew; detail: index of struct again */
	NODE_CAPTURED = 16, /* a child; detail: index of struct work */
	NODE_INSIDE = 32,   /* of a captured child: its parent's graph brings it along */
	NODE_MOVES = 64,    /* has relocations, or was set */
	NODE_EDITED = 128,  /* was set: no capture tells what its values are */
};

struct node {
	struct driver_node *handle;
	uint32_t image;	 /* in 8-byte words of recording.images; DAGPATCH_NONE: has none */
	uint32_t detail; /* kernels: index of the layout; conditionals: of struct conditional */
	uint32_t parent; /* DAGPATCH_NONE at the top */
	uint16_t body;	 /* of a conditional parent */
	uint8_t kind;	 /* enum patch_kind */
	uint8_t flags;
};
_Static_assert(sizeof(struct node) == 24, "with a kernel's own struct 64 bytes");

/* BYTE of a relocation that is no byte: the child has to be captured anew. */
#define RELOCATION_AGAIN UINT32_MAX

/* Of a slot; see recording.first_relocation. */
struct relocation {
	uint32_t node;
	uint32_t byte;	 /* in the image */
	uint64_t offset; /* from the slot's address */
};
_Static_assert(sizeof(struct relocation) == 16, "as the header says");

/* While recording, in any order. */
struct loose_relocation {
	uint32_t node, byte, slot;
	uint64_t offset;
};

/* What was captured at two sets of addresses; shared by all recordings that have a copy. */
struct work {
	_Atomic uint32_t references;
	struct patch_device *device;
	struct driver_graph *graph; /* at addresses that are gone */
	dagpatch_capture_fn record; /* NULL: the caller's graph, never captured again */
	void *user;
	uint32_t slot_count;
	bool is_unstable; /* no two captures are alike */
};

/* One place where a work was put: its slots here. */
struct placed_work {
	struct work *work;
	uint32_t *slots;
	uint64_t *offsets;
};

/* A graph captured at certain addresses; a cache and recordings share it. */
struct captured_graph {
	_Atomic uint32_t references;
	struct patch_device *device;
	struct driver_graph *graph;
	uint64_t
		tag; /* of the vote it was captured after: what was captured together has the same */
	/* Where graphs are flattened: its nodes, without handles. NULL: not all of them can be
	 * read. */
	struct dagpatch_recording *content;
	bool has_priorities;
};

struct again {
	dagpatch_capture_fn record;
	void *user;
	struct dagpatch_cache *cache; /* may be NULL */
	struct cache_name *name;      /* in it; shared by copies in other recordings */
	uint32_t node;
	uint32_t slot_count;
	uint32_t *slots;
	uint64_t *offsets;
	struct captured_graph *current; /* in the graph */
	struct captured_graph *next;	/* while applying */
	struct cache_key *next_key;	/* of next, if it is to be put into the cache */
	/* Where graphs are flattened: of the nodes that are in the graph; while building, of those
	 * in the new one, and then in the one that it replaces. NULL: it is a child of the
	 * graph. */
	struct driver_node **handles, **made_handles;
};

struct conditional {
	enum dagpatch_condition condition;
	uint16_t body_count;
	uint32_t setter; /* node; the one in a WHILE's body comes last in it */
	uint64_t handle; /* of what was built last */
};

/* Launch attributes that a node was given; GIVEN is 0: none. */
struct node_attributes {
	uint32_t node;
	struct dagpatch_attributes values;
};

struct access {
	uint32_t node;
	uint32_t slot;
	uint64_t begin, end;
	bool writes;
};

struct slot {
	char *name;
	uint64_t bytes, alignment;
	uint32_t flags;
	bool on_host;
	void *shadow;
	uint64_t changed_in; /* change.number */
};

/* The change of the graph that was made last; number 0: none. */
struct change {
	uint64_t number;
	enum dagpatch_strategy strategy;
	uint32_t nodes, slots;
};

/* Relocations of one node, in ascending order of byte; somebody else's. */
struct relocation_list {
	const struct loose_relocation *items;
	uint32_t count;
};

/* Other parameters for a node, wanted from the next apply on; see revise.c. */
struct revision {
	uint32_t node;
	uint32_t image;	 /* as struct node has it; while it is put in, the one that was there */
	uint32_t detail; /* the same */
	uint32_t words, node_words;	      /* room of IMAGE and of the node's own */
	struct loose_relocation *relocations; /* if it MOVES: all that the node then has */
	uint32_t relocation_count, relocation_capacity;
	bool is_pending;
	bool moves;
	bool gives; /* ATTRIBUTES; the node has an entry for them */
	struct dagpatch_attributes attributes;
};

/* The index of relocations as it is to be or, while revisions are put in, as it was. */
struct spare_index {
	struct relocation *relocations;
	struct loose_relocation *by_node;
	uint32_t *first;
	uint32_t capacity;
};

/* Nothing is there until a node is set for the first time. */
struct revisions {
	struct revision *items; /* pending ones and, for their room, earlier ones */
	uint32_t count, capacity;
	uint32_t *pending; /* of ITEMS */
	uint32_t pending_count;
	uint32_t *of_node;		  /* index in ITEMS + 1; 0: none */
	struct loose_relocation *by_node; /* all of the recording, by node, then byte */
	uint32_t index_capacity;	  /* of the recording's relocations, and of BY_NODE */
	struct spare_index spare;
	struct dagpatch_recording *scratch; /* set.c */
};

/* What the driver made of the recording. */
struct built {
	struct driver_graph *graph;
	struct driver_exec *exec;
	struct driver_table *table;
	struct retired *room; /* to retire it in, for that must not fail */
	bool by_priorities;   /* of its kernels; else the launching stream's counts */
};

/* AUTO's choice between the table and setting node by node; see auto.c. */
struct table_choice {
	bool is_open;	  /* it may still go either way */
	bool is_wanted;	  /* the table, for the next graph that is built */
	bool is_overdue;  /* the graph that there is has the other way: to be built anew */
	double regret_ns; /* what the other way would have saved of late */
};

enum { LAUNCH_STREAMS = 4 };

/* Where what is built has been launched. */
struct launches {
	struct driver_stream *streams[LAUNCH_STREAMS];
	uint32_t count;
	bool in_more;
};

/* Who works with a recording's graph: its thread, in a call; or another thread that evicts it. */
enum recording_owner { OWNER_NONE, OWNER_CALL, OWNER_EVICTION };

/* Costs of this recording as measured, ns; 0: not yet. */
struct costs {
	double set_one; /* node */
	double update_all;
	bool cannot_update;
};

struct dagpatch_recording {
	struct dagpatch_context *context;
	struct patch_device *device;
	enum dagpatch_state state;
	uint32_t flags;
	struct dagpatch_recording *next, **at; /* among the context's, with its lock */
	/* Needed for BUILT, and for what is between it and the driver's calls (evict.c). */
	_Atomic uint32_t owner;
	struct device_visit visit;  /* of the call that works with it */
	_Atomic bool is_built;	    /* of BUILT, a hint for who looks for one to evict */
	_Atomic bool is_handed_out; /* the caller has asked for its handles: it stays */
	_Atomic uint64_t launched;  /* when last; see context.launches */
	_Atomic uint64_t evictions;

	struct slot *slots;
	uint32_t slot_count, slot_capacity;
	struct node *nodes;
	uint32_t node_count, node_capacity;
	uint64_t *images;
	uint32_t image_words, image_capacity;
	uint32_t *after_end; /* of nodes: where their dependencies end in AFTER */
	uint32_t after_end_capacity;
	uint32_t *after;
	uint32_t after_count, after_capacity;
	struct access *accesses;
	uint32_t access_count, access_capacity;
	struct placed_work *works;
	uint32_t work_count, work_capacity;
	struct again *agains;
	uint32_t again_count, again_capacity;
	struct conditional *conditionals;
	uint32_t conditional_count, conditional_capacity;
	struct node_attributes *attributes; /* in ascending order of node */
	uint32_t attribute_count, attribute_capacity;
	bool has_priorities; /* kernels have other ones than 0 */

	/* Until finalized, for nested recordings always. */
	struct loose_relocation *loose;
	uint32_t loose_count, loose_capacity;
	/* From then on: those of slot i are first_relocation[i] to first_relocation[i + 1]. */
	struct relocation *relocations;
	uint32_t *first_relocation;

	/* An adopted graph; NESTED ones have a child node in its place. */
	bool is_adopted;
	struct driver_graph *source;
	struct driver_exec *foreign_exec;
	uint64_t *adopted; /* its addresses, slot by slot */

	struct built built;
	bool is_evicted; /* nothing is built, but what was captured anew is as it was */
	struct launches launches;
	struct driver_stream *const *launching; /* while dagpatch_launch applies: where to */
	uint64_t updates;			/* of the exec */
	bool is_spent;				/* the exec: the next launch needs another one */
	struct costs costs;
	struct table_choice table_choice;
	bool cannot_table; /* the driver said so, of this graph */

	/* Addresses, slot by slot; 0: none yet. */
	uint64_t *wanted, *applied;
	uint32_t *host_end;    /* of slots: the relocations from there on are in the table */
	uint32_t *table_slots; /* to bind */
	uint64_t *table_addresses;
	uint32_t *changed; /* slots whose two may differ */
	uint32_t changed_count;
	uint8_t *is_changed;
	struct revisions revisions;
	uint32_t *dirty; /* nodes, while applying */
	uint32_t dirty_count;
	uint32_t shadow_count;
	struct driver_mark *shadow_mark;     /* behind the last launch that used them */
	struct driver_stream *shadow_stream; /* where that was */
	struct retired *shadow_room;
	bool is_bound;		      /* all slots have addresses, for ever */
	bool votes_always;	      /* each launch */
	struct dagpatch_cache *voter; /* whose ranks agree on each change; NULL: nobody does */
	bool owes_vote;		      /* the other ranks wait for how it went */

	struct change last;
	uint64_t applies; /* whose time is taken now and then */
	struct dagpatch_stats stats;
	struct dagpatch_error error;
};

/* ---- auto.c ---- */

/* Whether a graph of which NODES could be in the table gets it. Of AUTO's recordings the first call
 * decides by what all of them cost, later ones by table_note. */
bool table_wanted(struct dagpatch_recording *recording, uint32_t nodes);
/* A launch for which NODES were changed, by the table or one by one, that the table has or could
 * have had. Sets is_overdue when the other way would have saved more than building the graph anew
 * takes. A few ns; only where the choice is open. */
void table_note(struct dagpatch_recording *recording, uint32_t nodes);
/* After an attempt to build what was overdue. */
void table_settle(struct dagpatch_recording *recording);

/* ---- sized.c ---- */

/* Reads a struct that begins with its size, GIVEN, into RET, which has KNOWN bytes here: what GIVEN
 * is too short for becomes 0. -EINVAL: GIVEN is NULL, or its size was not set. -E2BIG: it has more
 * bytes, and not all of them are 0. */
int sized_read(void *ret, size_t known, const void *given);
/* The same, as an error of the recording; NAME is the struct's, without "dagpatch_". */
int recording_read(struct dagpatch_recording *recording, void *ret, size_t known, const void *given,
		   const char *name);

/* ---- recording.c ---- */

/* Room for COUNT items of SIZE bytes; *ITEMS may move. -ENOMEM. */
int recording_grow(void *items, uint32_t *capacity, uint64_t count, size_t size);

/* Fill the recording's error, with what the driver said if it said something, and return CODE. */
int recording_fail(struct dagpatch_recording *recording, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The message begins with the place: "node 7 (kernel gemm), argument 2, slot 3 (kv): ". BYTE as
 * public_byte has it. */
int recording_fail_at(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

int recording_expect(struct dagpatch_recording *recording, enum dagpatch_state state,
		     const char *what);

/* A reference less: with the last one the context goes. */
void context_release(struct dagpatch_context *context);

/* How far a recording is, to go back to when something fails. */
struct mark {
	uint32_t nodes, image_words, after, accesses, works, agains, conditionals, attributes,
		loose;
};
struct mark recording_mark(const struct dagpatch_recording *recording);
void recording_rewind(struct dagpatch_recording *recording, const struct mark *mark);

/* A byte of the image as the caller counts: a kernel's from its first argument. DAGPATCH_NONE: no
 * byte of these. */
uint32_t public_byte(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte);

void captured_graph_release(struct captured_graph *graph);

static inline void *node_image(const struct dagpatch_recording *recording, uint32_t node)
{
	return recording->images + recording->nodes[node].image;
}

/* ---- describe.c: each returns TEXT, or a constant ---- */

enum { KIND_TEXT = 80, BYTE_TEXT = 48, PLACE_TEXT = 256 };
/* "slot 3 (input)". */
const char *slot_text(const struct dagpatch_recording *recording, uint32_t slot, char text[96]);
/* "kernel gemm", "copy". */
const char *kind_text(const struct dagpatch_recording *recording, uint32_t node,
		      char text[KIND_TEXT]);
/* "argument 2", "source"; BYTE as public_byte has it. */
const char *byte_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      char text[BYTE_TEXT]);
/* All that is known of a place; NODE may be the next one. */
const char *place_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		       char text[PLACE_TEXT]);
/* " for slot 3 (kv)": the slots of NODE that are being changed; or nothing. */
const char *changed_text(const struct dagpatch_recording *recording, uint32_t node,
			 char text[PLACE_TEXT]);
const char *strategy_text(enum dagpatch_strategy strategy);

/* ---- nodes.c ---- */

/* Appends a node with SIZE bytes of image (0: none), zeroed. */
int node_append(struct dagpatch_recording *recording, enum patch_kind kind, uint32_t size,
		uint32_t *ret_node);
int relocation_append(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      uint32_t slot, uint64_t offset);
uint32_t image_size(const struct dagpatch_recording *recording, uint32_t node);
struct patch_params node_params(const struct dagpatch_recording *recording, uint32_t node);
/* The same of an image that is no node's: where it is, and what DETAIL of its node would be. */
struct patch_params image_params(const struct dagpatch_recording *recording, enum patch_kind kind,
				 uint32_t image, uint32_t detail);
/* -EINVAL unless BYTES at OFFSET are in the slot. */
int slot_check(struct dagpatch_recording *recording, uint32_t slot, uint64_t offset, uint64_t bytes,
	       const char *what);
uint32_t node_depth(const struct dagpatch_recording *recording, uint32_t node);
/* The node after NODE and all that is inside of it. */
uint32_t node_end(const struct dagpatch_recording *recording, uint32_t node);

/* Every function that adds a node at the top begins and ends with these: ends with RC, and, if that
 * is a failure, as it was at MARK. */
int add_begin(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark);
/* add_begin of a call that has begun with recording_enter. */
int add_check(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark);
int add_end(struct dagpatch_recording *recording, int rc, const struct mark *mark,
	    const struct dagpatch_after *after, uint32_t *ret_node);

/* ---- attributes.c ---- */

/* Launch attributes for a kernel that is added; -ENOTSUP: not with this driver. */
int attributes_add(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *given);
/* NULL: none were given. */
const struct dagpatch_attributes *attributes_of(const struct dagpatch_recording *recording,
						uint32_t node);
/* Room for NODE's, none at first; the entry, NULL: there is no room. */
int attributes_reserve(struct dagpatch_recording *recording, uint32_t node);
struct dagpatch_attributes *attributes_entry(const struct dagpatch_recording *recording,
					     uint32_t node);
/* Those of NESTED, whose node 0 is BASE here. */
int attributes_copy(struct dagpatch_recording *recording, const struct dagpatch_recording *nested,
		    uint32_t base);
/* What FROM gives, over what TO has. */
void attributes_merge(struct dagpatch_attributes *to, const struct dagpatch_attributes *from);
/* To HANDLE, which CONTENT's NODE has become. */
int attributes_give(struct dagpatch_recording *recording, const struct dagpatch_recording *content,
		    uint32_t node, struct driver_node *handle);
/* Notes whether kernels of GRAPH, which somebody else made, have priorities. RET_HAS may be
 * NULL. */
int attributes_find(struct dagpatch_recording *recording, struct driver_graph *graph,
		    bool *ret_has);

/* ---- order.c ---- */

/* The dependencies of NODE, the first one since MARK: AFTER's (NULL: none) and those that the
 * accesses noted since MARK imply. What is inside of NODE has its own by then. */
int order_node(struct dagpatch_recording *recording, uint32_t node,
	       const struct dagpatch_after *after, const struct mark *mark);
/* The node added last, inside of another, waits for these, numbered from BASE. */
int order_inner(struct dagpatch_recording *recording, const uint32_t *nodes, uint32_t count,
		uint32_t base);
int access_append(struct dagpatch_recording *recording, const struct access *access);
static inline uint32_t after_begin(const struct dagpatch_recording *recording, uint32_t node)
{
	return node ? recording->after_end[node - 1] : 0;
}

/* ---- work.c ---- */

/* -EINVAL unless they are slots, each of them once. */
int slots_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		const char *what);
/* Copies of malloc, with an offset of 0 for each slot. -ENOMEM. */
int slots_copy(const uint32_t *slots, uint32_t count, uint32_t **ret_slots, uint64_t **ret_offsets);
/* NODE may read and write all of these slots. */
int slots_append_accesses(struct dagpatch_recording *recording, uint32_t node,
			  const uint32_t *slots, uint32_t count);
/* NODE, a child, has a copy of WORK, whose graph is taken over, on failure too. */
int work_place(struct dagpatch_recording *recording, uint32_t node, const struct work *work,
	       const uint32_t *slots);
/* Leaves an entry of works that is free. */
void placed_work_release(struct placed_work *placed);

/* ---- capture.c ---- */

/* Captures the callback at ADDRESSES. */
int capture_graph(struct dagpatch_recording *recording, dagpatch_capture_fn record, void *user,
		  void *const *addresses, struct driver_graph **ret_graph);
/* Appends the first graph's nodes below PARENT with the relocations that its differences to the
 * second show. */
#define CAPTURES_MOST 8
struct captures {
	struct driver_graph *graphs[CAPTURES_MOST]; /* in turn at ADDRESSES[0] and [1] */
	uint32_t count; /* 1: no relocations; beyond 2: what is unstable */
	const uint32_t *slots;
	uint32_t slot_count;
	void *const *addresses[2];
	uint8_t inside_flag; /* for the nodes */
	bool keeps_handles;  /* the first graph's nodes are the recording's */
};
/* Where they go: below a node (DAGPATCH_NONE: at the top), which is so deep. */
struct capture_place {
	uint32_t parent, depth;
};
/* Where graphs are flattened the dependencies are appended, too; else the driver keeps them. */
int capture_append(struct dagpatch_recording *recording, const struct captures *captures,
		   const struct capture_place *place);
struct node_list {
	struct driver_node **nodes; /* of malloc */
	uint32_t count;
};
/* All nodes of a graph. */
int capture_nodes(struct dagpatch_recording *recording, struct driver_graph *graph,
		  struct node_list *ret_list);

/* ---- addresses.c ---- */

/* Do these two sets of addresses of the SLOTS tell which slot an address belongs to? -EINVAL, with
 * a message that names the slot: NULL, the same address in both, or two slots that overlap and have
 * moved by the same distance. */
int addresses_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		    void *const *const addresses[2]);

/* Memory to capture at: for each slot an address in either set, aligned exactly as the slot says
 * and no better, for libraries choose their kernels by it. No two slots touch, and of those in the
 * same kind of memory each moves by another distance, so that what depends on two differs between
 * the captures. */
struct scratch {
	void *blocks[2][2]; /* by on_host and set */
	void **addresses[2];
};
/* SCRATCH is to be released on failure, too. */
int scratch_make(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		 struct scratch *scratch);
void scratch_release(struct dagpatch_recording *recording, struct scratch *scratch);

/* ---- edges.c ---- */

/* Places in the list of a graph's nodes. */
struct edge {
	uint32_t from, to;
};
struct edge_list {
	struct edge *edges; /* of malloc; in ascending order of TO, then of FROM */
	uint32_t count;
};
int edges_read(struct dagpatch_recording *recording, struct driver_graph *graph,
	       const struct node_list *nodes, struct edge_list *ret_edges);

/* ---- flatten.c ---- */

/* All of the recording into INTO's graph, after what INTO has; handles go into the nodes, those of
 * work captured anew into made_handles. *RET_END: the node after which all is done; NULL: not
 * wanted. On failure no node's handle has changed. */
int flatten(struct dagpatch_recording *recording, const struct patch_capturing *into,
	    struct driver_node **ret_end);

/* ---- build.c ---- */

/* What was there before a graph was built: the nodes' handles and flags with it. */
struct replaced {
	bool is_there;
	struct built built;
	struct driver_node **handles;
	uint8_t *flags;
	uint64_t *conditions;
};
/* A graph with what is in the images is built and takes the place of the one that is there, which
 * stays whole: one of the two calls below has to follow. On failure nothing has changed. */
int build(struct dagpatch_recording *recording, struct replaced *ret_replaced);
/* The old graph is retired, or the new one goes, and all is as before. Nothing to do: nothing was
 * built. */
void build_accept(struct dagpatch_recording *recording, struct replaced *replaced);
void build_undo(struct dagpatch_recording *recording, struct replaced *replaced);
/* The nodes of the recording as its images are, and work captured anew as NEXT, into INTO's graph,
 * which is somebody else's: no handle is kept. *RET_ENDS: what follows waits for these. On failure
 * some may have been added. */
int build_into(struct dagpatch_recording *recording, const struct patch_capturing *into,
	       struct node_list *ret_ends);
/* No replay of it is in flight. */
void built_release(struct patch_device *device, struct built *built);

/* ---- retire.c: what replays in flight may still use is kept until they are done ---- */

struct retired *retired_create(void);
/* BUILT, which was launched as RECORDING says, becomes empty. Waits for replays only where nobody
 * can tell when they are done, and then one time in 65: on HIP, until their streams are
 * launched into again. */
void retire_built(struct dagpatch_recording *recording, struct built *built);
/* What is built and the slots with their shadows, of a recording that is going. */
void retire_all(struct dagpatch_recording *recording);
/* STREAM is there and not captured: puts marks behind what was launched in it. */
void retired_mark(struct dagpatch_context *context, struct driver_stream *stream);
/* Frees what no replay uses any more. */
void reap(struct dagpatch_context *context);
/* All of it; waits for the replays. */
void reap_all(struct dagpatch_context *context);

/* ---- evict.c: who works with a recording, and executable graphs that go when memory runs out
 * ---- */

/* The calling thread works with the recording from now on, until recording_disown. -EINVAL: NULL;
 * -EBUSY: a call of this recording is under way, as in a callback. The recording's error is as it
 * was. */
int recording_own(struct dagpatch_recording *recording);
static inline void recording_disown(struct dagpatch_recording *recording)
{
	atomic_store_explicit(&recording->owner, OWNER_NONE, memory_order_release);
}
/* A call that reaches the driver: recording_own, and the device is the thread's current one
 * (device_enter; where that fails the recording's error says so) until recording_leave. */
int recording_enter(struct dagpatch_recording *recording);
void recording_leave(struct dagpatch_recording *recording);
/* Calls that change nothing of what is built, reach no driver and call nobody: nothing is to be
 * left. Fails as recording_own does. */
static inline int recording_check(const struct dagpatch_recording *recording)
{
	if (!recording)
		return -EINVAL;
	return atomic_load_explicit(&recording->owner, memory_order_acquire) == OWNER_CALL ? -EBUSY
											   : 0;
}
/* It is the one that was used last. */
static inline void recording_note_use(struct dagpatch_recording *recording)
{
	uint64_t launched =
		atomic_fetch_add_explicit(&recording->context->launches, 1, memory_order_relaxed);

	atomic_store_explicit(&recording->launched, launched + 1, memory_order_relaxed);
}

/* To look at what is built, also in a callback. What it returns goes to recording_look_away. */
bool recording_look(const struct dagpatch_recording *recording);
void recording_look_away(const struct dagpatch_recording *recording, bool looked);

/* Memory that runs out does not evict what is built now. */
void recording_stays(const struct dagpatch_recording *recording);

/* Frees what may have memory: the least recently launched executable graph of another recording of
 * the context, and all that was retired. Waits for the device. False: there is nothing to free. */
bool evict_for_memory(struct dagpatch_recording *needy);

/* ---- finalize.c, bind.c, apply.c ---- */

void finalize_release(struct dagpatch_recording *recording);

/* In each slot the relocations that the host sets come first. */
void split_relocations(struct dagpatch_recording *recording);
/* No slot counts as changed. */
void changes_clear(struct dagpatch_recording *recording);

/* 1: something had to be done; 0: nothing. */
int apply_if_needed(struct dagpatch_recording *recording);
/* Images and NEXT of work captured anew are as the caller wants them, without applying it, until
 * wanted_end, which tells the ranks that this one has come to RC and returns what again_agree does.
 * On failure nothing has begun. */
int wanted_begin(struct dagpatch_recording *recording);
int wanted_end(struct dagpatch_recording *recording, int rc);
static inline struct driver_exec *current_exec(const struct dagpatch_recording *recording)
{
	return recording->foreign_exec ? recording->foreign_exec : recording->built.exec;
}
/* The images of all nodes from these addresses of the slots; shadows have their own. */
void images_write(struct dagpatch_recording *recording, const uint64_t *addresses);
uint64_t slot_address(const struct dagpatch_recording *recording, const uint64_t *addresses,
		      uint32_t slot);

/* ---- revise.c ---- */

/* Before a node is first set: room for what finds revisions. -ENOMEM. */
int revisions_begin(struct dagpatch_recording *recording);
/* What a node has once all that is pending is applied, but for its addresses. */
struct patch_params revision_params(const struct dagpatch_recording *recording, uint32_t node);
struct relocation_list revision_relocations(const struct dagpatch_recording *recording,
					    uint32_t node);
/* For qsort, of struct loose_relocation: by node, then byte. */
int relocation_compare(const void *left, const void *right);
/* Room for a revision of NODE and, of several ones, for so many relocations in the index. -ENOMEM;
 * nothing has changed. */
int revision_reserve(struct dagpatch_recording *recording, uint32_t node, uint32_t size,
		     uint32_t relocation_count);
int revisions_reserve_index(struct dagpatch_recording *recording, uint32_t count);
/* In place of what is pending of NODE; RELOCATIONS NULL: as they are wanted now. */
void revision_add(struct dagpatch_recording *recording, uint32_t node,
		  const struct patch_params *params, uint32_t detail,
		  const struct relocation_list *relocations);
/* After revision_reserve, attributes_reserve and revision_add: launch attributes beside it. */
void revision_give(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *attributes);
/* Into the images, with the wanted addresses, and into the index; and back. */
void revisions_put(struct dagpatch_recording *recording);
void revisions_take_back(struct dagpatch_recording *recording);
/* Of revisions that are put in: a node that only a new graph gets its parameters into, or
 * DAGPATCH_NONE. */
uint32_t revisions_refitted(const struct dagpatch_recording *recording);
/* Put in, they are applied; else they are dropped. */
void revisions_clear(struct dagpatch_recording *recording);
void revisions_release(struct dagpatch_recording *recording);
/* Memory of malloc beside the images and the scratch recording. */
uint64_t revisions_bytes(const struct dagpatch_recording *recording);

/* ---- strategy.c ---- */

enum dagpatch_strategy strategy_choose(const struct dagpatch_recording *recording);
bool strategy_can_update(const struct dagpatch_recording *recording);
/* Set so often that the executable graph is to be built anew, whatever has changed. */
bool strategy_is_worn(const struct dagpatch_recording *recording);
/* PATCH_FORGETS_MEMSETS: gives all memsets the parameters that they have, before a launch. What a
 * driver keeps as a child, and nodes below it, is left alone. */
int strategy_set_memsets(struct dagpatch_recording *recording);
/* Images have the new parameters of the dirty nodes. *RET_DONE: how many of these may have them now
 * in the executable graph, on failure too. -ENOTSUP: another strategy may. */
int strategy_set_params(struct dagpatch_recording *recording, uint32_t *ret_done);
int strategy_update_graph(struct dagpatch_recording *recording, uint32_t *ret_done);
/* Images have the old parameters again: so has the executable graph, or the recording is LOST. */
void strategy_put_back(struct dagpatch_recording *recording, uint32_t done);

/* ---- verify.c ---- */

/* dagpatch_verify, with the graph at ADDRESSES, which the images then have. */
int verify_graph(struct dagpatch_recording *recording, const uint64_t *addresses);

/* ---- again.c ---- */

/* For nodes to be captured anew: finds or captures what they need for the wanted addresses, as
 * NEXT, after asking all ranks where a cache votes. Nothing is applied; on failure there is no
 * NEXT. In either case again_agree has to follow. */
int again_prepare(struct dagpatch_recording *recording);
/* Tells the ranks, if again_prepare has promised it, that this one's step has come to RC, and hears
 * of theirs: RC, or, where that is 0, -ECANCELED (another rank failed) or the vote's error. */
int again_agree(struct dagpatch_recording *recording, int rc);
/* A launch that fails with RC before it can do anything says so to ranks that would wait for it.
 * Returns RC. */
int again_refuse(struct dagpatch_recording *recording, int rc);
/* What was captured as NEXT for a cache goes into it. */
void again_cache(struct dagpatch_recording *recording);
/* NEXT becomes CURRENT, and goes into its cache; or goes. */
void again_commit(struct dagpatch_recording *recording);
void again_drop(struct dagpatch_recording *recording);
/* Where graphs are flattened: sets in the executable graph what differs between CURRENT and NEXT,
 * to NEXT's parameters (TAKES_NEXT) or CURRENT's. *RET_SET: nodes that may have been set, on
 * failure too. -ENOTSUP: the two have other nodes or dependencies, or could not be read. */
int again_set_flat(struct dagpatch_recording *recording, const struct again *again, bool takes_next,
		   uint32_t *ret_set);
/* The nodes' handles in the graph that was built and in the one that it replaces. */
void again_swap_handles(struct dagpatch_recording *recording);
/* Those that are not in use. */
void again_drop_handles(struct dagpatch_recording *recording);

/* ---- cache.c ---- */

/* A reference more, and one less: with the last one the cache goes. The maker has one, and so has
 * each name. */
void cache_retain(struct dagpatch_cache *cache);
void cache_release(struct dagpatch_cache *cache);

/* What work is known by in a cache, besides its addresses: what the caller has named, or the call
 * that added it. */
struct cache_name;
/* Of malloc; NULL: no memory. A copy is a reference to the same. With the last one what was
 * captured for a name of its own goes from the cache. */
struct cache_name *cache_name_create(struct dagpatch_cache *cache,
				     const struct dagpatch_capture *capture);
struct cache_name *cache_name_copy(struct cache_name *name); /* NULL is fine */
void cache_name_release(struct cache_name *name);	     /* NULL is fine */

/* A name and addresses; of malloc, to be freed. NULL: no memory. */
struct cache_key *cache_key_create(const struct cache_name *name, const uint64_t *addresses,
				   uint32_t count);
/* A reference for the caller, or NULL. */
struct captured_graph *cache_find(struct dagpatch_cache *cache, const struct cache_key *key);
/* Takes KEY, and a reference of its own to GRAPH. */
void cache_put(struct dagpatch_cache *cache, struct cache_key *key, struct captured_graph *graph);
bool cache_is_of(const struct dagpatch_cache *cache, const struct dagpatch_context *context);
void cache_count(struct dagpatch_cache *cache, bool is_hit);

bool cache_votes(const struct dagpatch_cache *cache);
bool cache_votes_always(const struct dagpatch_cache *cache);
/* What a rank says: the least that any of them says counts. */
enum vote_word {
	VOTE_FAILED,
	VOTE_MISSES,		/* before: something needed is not in the cache */
	VOTE_HAS,		/* before: something changes, and the cache has all of it */
	VOTE_IDLE,		/* before: nothing changes */
	VOTE_READY = VOTE_IDLE, /* after */
};
struct vote_answer {
	enum vote_word least;
	bool is_tag_equal; /* all ranks had the same TAG */
};
/* -EPIPE: an earlier vote failed; -EPROTO: the ranks are not at the same vote; what the caller's
 * function returns. From then on no vote is taken. */
int cache_vote(struct dagpatch_cache *cache, enum dagpatch_vote_phase phase, enum vote_word word,
	       uint64_t tag, struct vote_answer *ret_answer);
/* Of the vote before captures that was taken last; equal on all ranks, never used again. */
uint64_t cache_tag(struct dagpatch_cache *cache);

#endif
