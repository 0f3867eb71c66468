/* The inside of a recording: its structs, and the functions that the core's files call in each
 * other.
 *
 * Nodes are kept in one array in preorder: the nodes inside of a child or a conditional follow it.
 * What is recorded is enough to build the driver's graph at any time. The graph that was built
 * last is kept until a new one is complete.
 *
 * In reading order: recording.c (states, slots), nodes.c and nested.c (adding nodes), node_order.c
 * (dependencies), work.c, capture.c, addresses.c, edges.c, compare.c and adopt.c (captured work),
 * finalize.c, build.c and flatten.c (the driver's graph), slots.c, set.c and revise.c (pending
 * addresses and parameters), apply.c, strategy.c and recapture.c (bringing the graph to them),
 * graph_launch.c, verify.c.
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

#include <errno.h>
#include <stdatomic.h>

#include <dagpatch/dagpatch.h>

#include "patch/driver.h"

struct retired;

/* A context. Everything above LOCK but the counters is constant after dagpatch_context_create. */
struct dagpatch_context {
	struct patch_device *device;
	struct dagpatch_options options; /* a copy, with the defaults filled in */
	char *driver_name, *library;	 /* own the strings that OPTIONS points to */
	/* The caller's reference, until it destroys the context, and one of each recording and
	 * cache. */
	_Atomic uint32_t references;
	/* launches and builds of all recordings: orders them by their last use */
	_Atomic uint64_t launches;
	pthread_mutex_t lock;		       /* protects the following fields */
	struct dagpatch_recording *recordings; /* list of all recordings */
	struct retired *retired;	       /* list, see retire.c */
	/* entries of RETIRED that are unmarked; written with the lock, read without it */
	_Atomic uint32_t retired_unmarked;
};

/* Flags of struct node. */
enum node_flags {
	NODE_DIRTY = 1,	     /* is in recording.dirty */
	NODE_STALE = 2,	     /* the built graph's parameters differ from the executable graph's */
	NODE_IN_TABLE = 4,   /* a kernel whose addresses the table sets */
	NODE_RECAPTURED = 8, /* a child that is recaptured; detail: index in recording.recaptures */
	NODE_CAPTURED = 16,  /* a child of captured work; detail: index in recording.works */
	/* a node inside of captured work: it comes with the copy of the captured graph */
	NODE_INSIDE = 32,
	NODE_MOVES = 64,   /* has relocations, or was set by dagpatch_set_... */
	NODE_EDITED = 128, /* was set by dagpatch_set_...: captures do not have its values */
};

/* A node. See the top for the order of nodes. */
struct node {
	/* of the node in the graph that was built last; NULL: none */
	struct driver_node *handle;
	uint32_t image; /* offset in 8-byte words in recording.images; DAGPATCH_NONE: no image */
	/* kernels: index of the layout; conditionals: index in recording.conditionals; see
	 * NODE_RECAPTURED and NODE_CAPTURED */
	uint32_t detail;
	/* number of the node that this one is inside of; DAGPATCH_NONE at the top */
	uint32_t parent;
	uint16_t body; /* number of the body, if the parent is a conditional */
	uint8_t kind;  /* enum patch_kind */
	uint8_t flags; /* enum node_flags */
};
_Static_assert(sizeof(struct node) == 24, "with a kernel's own struct 64 bytes");

/* Value of `byte` in a relocation of a recaptured child: no byte, the child must be recaptured. */
#define RELOCATION_RECAPTURED UINT32_MAX

/* A place that holds the address of a slot; the slot follows from recording.first_relocation. */
struct relocation {
	uint32_t node;
	uint32_t byte;	 /* offset in the node's image */
	uint64_t offset; /* added to the slot's address */
};
_Static_assert(sizeof(struct relocation) == 16, "as the header says");

/* A relocation before recording.relocations is sorted by slot; in any order. */
struct loose_relocation {
	uint32_t node, byte, slot;
	uint64_t offset;
};

/* Work that was captured, or given as a graph, and is patched. Shared by all recordings that have
 * a copy of it. */
struct work {
	_Atomic uint32_t references;
	struct patch_device *device;
	/* Captured at addresses that are no longer valid; owned. The driver
	 * reads it with device->shared_graphs locked. */
	struct driver_graph *graph;
	/* NULL: a graph given by the caller, which cannot be recaptured */
	dagpatch_capture_fn record;
	void *user;
	uint32_t slot_count;
	bool is_unstable; /* DAGPATCH_LEAVE_UNSTABLE: no two captures are equal */
};

/* One place where a work was added: which slot and offset of this recording each slot of the work
 * is. */
struct placed_work {
	struct work *work;
	uint32_t *slots;
	uint64_t *offsets;
};

/* A graph captured at certain addresses. Shared by a cache and recordings. */
struct captured_graph {
	_Atomic uint32_t references;
	struct patch_device *device;
	struct driver_graph *graph;
	uint64_t
		/* Number of the vote after which it was captured: graphs that ranks captured
		 * together have the same tag. */
		tag;
	/* Where graphs are flattened: the nodes of GRAPH, without handles. NULL: some of them
	 * cannot be read. */
	struct dagpatch_recording *content;
	bool has_priorities; /* a kernel in it has a priority other than 0 */
};

/* A child that is recaptured when its addresses change. */
struct recapture {
	dagpatch_capture_fn record;
	void *user;
	struct dagpatch_cache *cache; /* may be NULL */
	/* name of the work in CACHE; shared by copies in other recordings */
	struct cache_name *name;
	uint32_t node; /* number of the child node */
	uint32_t slot_count;
	/* slots of the recording, and offsets in them, in the callback's order */
	uint32_t *slots;
	uint64_t *offsets;
	struct captured_graph *current; /* what the executable graph contains; NULL: nothing yet */
	/* what it shall contain; set only during an apply or launch */
	struct captured_graph *next;
	struct cache_key *next_key; /* key of NEXT, if NEXT is to be put into the cache */
	/* Where graphs are flattened: handles of the nodes of CURRENT in the built graph; while a
	 * graph is built, MADE_HANDLES are those in the new graph, and after recapture_swap_handles
	 * those in the replaced graph. NULL: the work is a child of the graph. */
	struct driver_node **handles, **made_handles;
};

/* A conditional. The kernel that reads the predicate comes right before its node. */
struct conditional {
	enum dagpatch_condition condition;
	uint16_t body_count;
	/* number of that kernel; a WHILE has a second one as the last node of its body */
	uint32_t setter;
	uint64_t handle; /* the driver's handle in the graph that was built last */
};

/* Launch attributes that were given to a node; values.given 0: none. */
struct node_attributes {
	uint32_t node;
	struct dagpatch_attributes values;
};

/* An access of a node to the bytes [begin, end) of a slot. */
struct access {
	uint32_t node;
	uint32_t slot;
	uint64_t begin, end;
	bool writes;
};

/* A slot; see struct dagpatch_slot. */
struct slot {
	char *name; /* by malloc; may be NULL */
	uint64_t bytes, alignment;
	uint32_t flags;
	bool on_host;
	void *shadow;	     /* buffer with the fixed address; NULL: none, or not finalized */
	uint64_t changed_in; /* change.number of the last change of its address */
};

/* The last change of the graph, for dumps; number 0: none. */
struct change {
	uint64_t number;
	enum dagpatch_strategy strategy;
	uint32_t nodes, slots;
};

/* Relocations of one node in ascending order of byte. The array is not owned. */
struct relocation_list {
	const struct loose_relocation *items;
	uint32_t count;
};

/* Other parameters for a node, wanted from the next apply on; see revise.c. */
struct revision {
	uint32_t node;
	/* as in struct node; while the revision is put in: the node's previous image */
	uint32_t image;
	uint32_t detail; /* as in struct node; while it is put in: the previous one */
	/* room of IMAGE and of the node's own image, in 8-byte words */
	uint32_t words, node_words;
	struct loose_relocation *relocations; /* if MOVES: all relocations that the node then has */
	uint32_t relocation_count, relocation_capacity;
	bool is_pending; /* not applied yet */
	bool moves;	 /* the relocations differ from the indexed ones */
	bool gives;	 /* ATTRIBUTES are given; the node has an entry in recording.attributes */
	struct dagpatch_attributes attributes;
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
	struct revision *items; /* pending revisions, and earlier ones whose room is used again */
	uint32_t count, capacity;
	uint32_t *pending; /* indices in ITEMS */
	uint32_t pending_count;
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
	struct dagpatch_context *context;
	struct patch_device *device;
	enum dagpatch_state state;
	uint32_t flags;
	struct dagpatch_recording *next, **at; /* list of the context, protected by its lock */
	/* enum recording_owner. Needed to use BUILT, and for everything between a change of BUILT
	 * and the driver's calls about it (evict.c). */
	_Atomic uint32_t owner;
	struct device_visit visit; /* of the call that owns the recording */
	/* BUILT is not empty: a hint for threads that look for a graph to evict */
	_Atomic bool is_built;
	/* the caller has asked for handles of BUILT, so it is not evicted */
	_Atomic bool is_handed_out;
	_Atomic uint64_t launched; /* context.launches at the last use */
	/* read by dagpatch_recording_stats without OWNER in callbacks */
	_Atomic uint64_t evictions;

	/* What is recorded. */
	struct slot *slots;
	uint32_t slot_count, slot_capacity;
	struct node *nodes;
	uint32_t node_count, node_capacity;
	uint64_t *images;
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
	uint32_t recapture_count, recapture_capacity;
	struct conditional *conditionals;
	uint32_t conditional_count, conditional_capacity;
	struct node_attributes *attributes; /* in ascending order of node */
	uint32_t attribute_count, attribute_capacity;
	bool has_priorities; /* a kernel has a priority other than 0 */

	/* Relocations until the recording is finalized; in nested recordings always. */
	struct loose_relocation *loose;
	uint32_t loose_count, loose_capacity;
	/* Relocations of a finalized recording: those of slot i are first_relocation[i] to
	 * first_relocation[i + 1]. */
	struct relocation *relocations;
	uint32_t *first_relocation;

	/* The content is an adopted graph. Nested recordings have a child node instead of
	 * SOURCE. */
	bool is_adopted;
	/* the adopted graph: owned copy; the caller's if FOREIGN_EXEC is not NULL */
	struct driver_graph *source;
	struct driver_exec *foreign_exec; /* the caller's executable graph; may be NULL */
	uint64_t *adopted;		  /* addresses that it was adopted with, by slot */

	/* What is built. */
	struct built built;
	bool is_evicted; /* nothing is built, but recaptures.current is still valid */
	struct launches launches;
	/* stream of the dagpatch_launch that is applying; NULL: none */
	struct driver_stream *const *launching;
	/* nodes set in the executable graph since it was instantiated */
	uint64_t updates;
	bool is_spent; /* the executable graph may serve no further launch (strategy_is_worn) */
	struct costs costs;
	struct table_choice table_choice;
	bool cannot_table; /* the driver refused a table for this graph */

	/* Addresses by slot; 0: none yet. */
	uint64_t *wanted, *applied;
	/* by slot: end of the relocations that the host sets; the table sets those that follow */
	uint32_t *host_end;
	uint32_t *table_slots; /* arguments of table_bind */
	uint64_t *table_addresses;
	uint32_t *changed; /* slots whose wanted and applied addresses may differ */
	uint32_t changed_count;
	uint8_t *is_changed; /* by slot: is in CHANGED */
	struct revisions revisions;
	uint32_t *dirty; /* nodes that the current apply changes */
	uint32_t dirty_count;
	uint32_t shadow_count; /* slots that have a shadow */
	/* after the last launch that used the shadows; NULL: none yet */
	struct driver_mark *shadow_mark;
	struct driver_stream *shadow_stream; /* the stream of that launch */
	struct retired *shadow_room;	     /* allocated in advance, for retire_all */
	bool is_bound;		      /* all slots have had addresses since the first build */
	bool votes_always;	      /* each launch votes */
	struct dagpatch_cache *voter; /* the cache whose ranks vote on each change; NULL: none */
	bool owes_vote;		      /* the other ranks wait for this rank's second vote */

	/* Bookkeeping. */
	struct change last;
	uint64_t applies; /* counts applies, to time one of some */
	struct dagpatch_stats stats;
	struct dagpatch_error error;
};

/* ---- auto.c ---- */

/* Returns whether a graph is built with the table, which NODES of its kernels could be in. With
 * DAGPATCH_AUTO the first call decides by the cost of changing all of them; later calls return
 * what table_note has decided. */
bool table_wanted(struct dagpatch_recording *recording, uint32_t nodes);

/* Notes a launch for which NODES nodes were changed that are in the table, or could be. Sets
 * is_overdue when the other choice would have saved more time than building the graph takes.
 * Called only while the choice is open. Costs a few ns. */
void table_note(struct dagpatch_recording *recording, uint32_t nodes);

/* Call after an attempt to build the graph that was overdue: starts counting from 0. */
void table_settle(struct dagpatch_recording *recording);

/* ---- sized.c ---- */

/* Reads a struct that begins with its size, GIVEN, into RET, which has KNOWN bytes in this
 * library. Fields that GIVEN lacks become 0. -EINVAL: GIVEN is NULL, or its size was not set.
 * -E2BIG: GIVEN is larger, and a byte beyond KNOWN is not 0. */
int sized_read(void *ret, size_t known, const void *given);

/* As sized_read, and fills the recording's error. NAME is the struct's name without "dagpatch_". */
int recording_read(struct dagpatch_recording *recording, void *ret, size_t known, const void *given,
		   const char *name);

/* ---- recording.c ---- */

/* Makes room for COUNT items of SIZE bytes in the array *ITEMS, which may move. -ENOMEM: *ITEMS is
 * unchanged. Does not fill recording->error. */
int recording_grow(void *items, uint32_t *capacity, uint64_t count, size_t size);

/* Fills the recording's error with the formatted message and, if the thread's last fault has the
 * same code, with the driver's call and result. Counts the failure. Returns CODE. RECORDING may be
 * NULL. */
int recording_fail(struct dagpatch_recording *recording, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As recording_fail; the message begins with the place: "node 7 (kernel gemm), argument 2, slot 3
 * (kv): ". NODE and BYTE may be DAGPATCH_NONE; BYTE is as public_byte returns it. */
int recording_fail_at(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* -EINVAL unless the recording is in STATE. WHAT is the public function, for the message. */
int recording_expect(struct dagpatch_recording *recording, enum dagpatch_state state,
		     const char *what);

/* Releases one reference; the last one destroys the context and waits for retired graphs. Any
 * thread. */
void context_release(struct dagpatch_context *context);

/* The sizes of a recording's arrays, to return to when adding fails. */
struct mark {
	uint32_t nodes, image_words, after, accesses, works, recaptures, conditionals, attributes,
		loose;
};

/* Returns the sizes now. */
struct mark recording_mark(const struct dagpatch_recording *recording);

/* Removes everything that was added since MARK. */
void recording_rewind(struct dagpatch_recording *recording, const struct mark *mark);

/* Converts an offset in a node's image to the offset that callers see: a kernel's counts from its
 * first argument. DAGPATCH_NONE: the offset is before that, or is RELOCATION_RECAPTURED. */
uint32_t public_byte(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte);

/* Releases one reference; the last one destroys the graph. NULL is allowed. */
void captured_graph_release(struct captured_graph *graph);

/* The node must have an image. The pointer is valid until a node is added or set. */
static inline void *node_image(const struct dagpatch_recording *recording, uint32_t node)
{
	return recording->images + recording->nodes[node].image;
}

/* ---- describe.c: texts for messages and dumps ----
 *
 * The functions write into TEXT and return it, or return a constant. */

enum { KIND_TEXT = 80, BYTE_TEXT = 48, PLACE_TEXT = 256 };

/* "slot 3 (input)" */
const char *slot_text(const struct dagpatch_recording *recording, uint32_t slot, char text[96]);

/* "kernel gemm", "copy". Asks the driver for the kernel's name. */
const char *kind_text(const struct dagpatch_recording *recording, uint32_t node,
		      char text[KIND_TEXT]);

/* "argument 2", "source". BYTE is as public_byte returns it. */
const char *byte_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      char text[BYTE_TEXT]);

/* Everything that is known about a place. NODE may be the number of a node that was not added
 * yet. */
const char *place_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		       char text[PLACE_TEXT]);

/* " for slot 3 (kv)": those slots of NODE that are being changed; "" if there are none. */
const char *changed_text(const struct dagpatch_recording *recording, uint32_t node,
			 char text[PLACE_TEXT]);

/* The name that the observer in the trace uses: "set_params", ... */
const char *strategy_text(enum dagpatch_strategy strategy);

/* ---- nodes.c ---- */

/* Appends a node at the top, without dependencies, with an image of SIZE zero bytes (0: no
 * image). */
int node_append(struct dagpatch_recording *recording, enum patch_kind kind, uint32_t size,
		uint32_t *ret_node);

/* Adds a relocation: the image of NODE holds the address of SLOT plus OFFSET at BYTE. */
int relocation_append(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      uint32_t slot, uint64_t offset);

/* Size of the node's image in bytes. The node must have one. */
uint32_t image_size(const struct dagpatch_recording *recording, uint32_t node);

/* The node's parameters. The image pointer is valid until a node is added or set. */
struct patch_params node_params(const struct dagpatch_recording *recording, uint32_t node);

/* As node_params for an image that no node has yet: IMAGE and DETAIL are as in struct node. */
struct patch_params image_params(const struct dagpatch_recording *recording, enum patch_kind kind,
				 uint32_t image, uint32_t detail);

/* -EINVAL unless SLOT exists and has BYTES bytes at OFFSET. WHAT begins the message. */
int slot_check(struct dagpatch_recording *recording, uint32_t slot, uint64_t offset, uint64_t bytes,
	       const char *what);

/* Number of nodes that NODE is inside of. */
uint32_t node_depth(const struct dagpatch_recording *recording, uint32_t node);

/* The first node after NODE that is not inside of NODE. */
uint32_t node_end(const struct dagpatch_recording *recording, uint32_t node);

/* Every function that adds a node at the top begins with add_begin (or add_check) and ends with
 * add_end. add_begin checks the recording's state and fills *RET_MARK. add_end gets RC, the result
 * so far: if that is 0, it records the dependencies of the node and returns its number; otherwise
 * it removes everything added since MARK. */
int add_begin(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark);

/* add_begin for calls that have begun with recording_enter. */
int add_check(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark);
int add_end(struct dagpatch_recording *recording, int rc, const struct mark *mark,
	    const struct dagpatch_after *after, uint32_t *ret_node);

/* ---- node_attributes.c ---- */

/* Adds the launch attributes GIVEN to a kernel that is being added. -ENOTSUP: the driver lacks one
 * of them. */
int attributes_add(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *given);

/* Attributes that were given to NODE; NULL: none. Valid until attributes are added. */
const struct dagpatch_attributes *attributes_of(const struct dagpatch_recording *recording,
						uint32_t node);

/* attributes_reserve makes an entry for NODE, empty at first; attributes_entry returns it, or NULL
 * if there is none. */
int attributes_reserve(struct dagpatch_recording *recording, uint32_t node);
struct dagpatch_attributes *attributes_entry(const struct dagpatch_recording *recording,
					     uint32_t node);

/* Copies all attributes of NESTED, whose node 0 is node BASE of RECORDING. */
int attributes_copy(struct dagpatch_recording *recording, const struct dagpatch_recording *nested,
		    uint32_t base);

/* Overwrites in TO the attributes that FROM gives. */
void attributes_merge(struct dagpatch_attributes *to, const struct dagpatch_attributes *from);

/* Gives HANDLE, the driver's node made of CONTENT's NODE, the attributes of that node. */
int attributes_give(struct dagpatch_recording *recording, const struct dagpatch_recording *content,
		    uint32_t node, struct driver_node *handle);

/* Finds out whether kernels of GRAPH, which dagpatch did not make, have priorities, and notes it
 * in the recording. RET_HAS may be NULL. */
int attributes_find(struct dagpatch_recording *recording, struct driver_graph *graph,
		    bool *ret_has);

/* ---- node_order.c ---- */

/* Records the dependencies of NODE, the first node added since MARK: those of AFTER (may be NULL)
 * and those that follow from the accesses noted since MARK. The nodes inside of NODE already have
 * theirs. Cost: the accesses before MARK times those since. */
int order_node(struct dagpatch_recording *recording, uint32_t node,
	       const struct dagpatch_after *after, const struct mark *mark);

/* The node that was added last, which is inside of another, waits for these nodes; BASE is added
 * to each number. */
int order_inner(struct dagpatch_recording *recording, const uint32_t *nodes, uint32_t count,
		uint32_t base);

/* Notes an access, with DAGPATCH_DERIVE_DEPENDENCIES; otherwise does nothing. */
int access_append(struct dagpatch_recording *recording, const struct access *access);

/* Where the dependencies of NODE begin in recording->after; they end at after_end[NODE]. */
static inline uint32_t after_begin(const struct dagpatch_recording *recording, uint32_t node)
{
	return node ? recording->after_end[node - 1] : 0;
}

/* ---- work.c ---- */

/* -EINVAL unless all of SLOTS exist and differ. WHAT names the caller in the message. */
int slots_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		const char *what);

/* Copies SLOTS, and makes an offset of 0 for each, both by malloc. -ENOMEM, without filling the
 * error. */
int slots_copy(const uint32_t *slots, uint32_t count, uint32_t **ret_slots, uint64_t **ret_offsets);

/* Notes that NODE may read and write all of these slots. */
int slots_append_accesses(struct dagpatch_recording *recording, uint32_t node,
			  const uint32_t *slots, uint32_t count);

/* Makes NODE, a child, a place of a copy of WORK. Takes over work->graph, also on failure. SLOTS
 * has work->slot_count entries. */
int work_place(struct dagpatch_recording *recording, uint32_t node, const struct work *work,
	       const uint32_t *slots);

/* Releases the place's reference and arrays, and empties the entry of recording.works. */
void placed_work_release(struct placed_work *placed);

/* ---- capture.c ---- */

/* Calls RECORD once at ADDRESSES, on a stream that is being captured. The caller destroys
 * *RET_GRAPH. Errors of the callback are passed on. */
int capture_graph(struct dagpatch_recording *recording, dagpatch_capture_fn record, void *user,
		  void *const *addresses, struct driver_graph **ret_graph);

/* Captures of the same work, to be compared. At most CAPTURES_MOST. */
#define CAPTURES_MOST 8
struct captures {
	struct driver_graph *graphs[CAPTURES_MOST]; /* alternately at ADDRESSES[0] and [1] */
	uint32_t count; /* 1: no relocations are searched; more than 2: to find unstable words */
	const uint32_t *slots; /* slots of the recording, one for each address */
	uint32_t slot_count;
	void *const *addresses[2];
	uint8_t inside_flag; /* added to the nodes' flags */
	bool keeps_handles;  /* the nodes' handles are those of the first graph */
};

/* Where the nodes go: below PARENT (DAGPATCH_NONE: at the top), at this depth. */
struct capture_place {
	uint32_t parent, depth;
};

/* Appends the nodes of the first graph to the recording, and the relocations that the differences
 * to the second graph show. Where graphs are flattened it appends the dependencies, too; otherwise
 * the driver keeps them. -EILSEQ, -ENOTSUP, -ELOOP as of dagpatch_add_captured. On failure some
 * nodes may have been appended. */
int capture_append(struct dagpatch_recording *recording, const struct captures *captures,
		   const struct capture_place *place);

/* Handles of nodes. */
struct node_list {
	struct driver_node **nodes; /* by malloc */
	uint32_t count;
};

/* Lists all nodes of GRAPH. The caller frees ret_list->nodes. */
int capture_nodes(struct dagpatch_recording *recording, struct driver_graph *graph,
		  struct node_list *ret_list);

/* ---- addresses.c ---- */

/* -EINVAL unless two sets of addresses make clear which slot an address belongs to. The message
 * names the slot: its address is NULL, or equal in both sets, or it overlaps another slot that
 * moved by the same distance. */
int addresses_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		    void *const *const addresses[2]);

/* Memory to capture at: two addresses for each slot. They are aligned exactly as the slot requires
 * and no better, because libraries choose kernels by the alignment. Slots do not touch. In each
 * kind of memory every slot moves by a different distance, so that a value that depends on two
 * slots differs between the captures. */
struct scratch {
	void *blocks[2][2]; /* by on_host and by set; NULL: none */
	void **addresses[2];
};

/* Allocates device memory. SCRATCH starts zeroed and must be released on failure, too. */
int scratch_make(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		 struct scratch *scratch);
void scratch_release(struct dagpatch_recording *recording, struct scratch *scratch);

/* ---- edges.c ---- */

/* A dependency, by the places in the list of a graph's nodes. */
struct edge {
	uint32_t from, to;
};
struct edge_list {
	struct edge *edges; /* by malloc; in ascending order of TO, then of FROM */
	uint32_t count;
};

/* Reads the dependencies of GRAPH, whose nodes are NODES. The caller frees ret_edges->edges. */
int edges_read(struct dagpatch_recording *recording, struct driver_graph *graph,
	       const struct node_list *nodes, struct edge_list *ret_edges);

/* ---- flatten.c ---- */

/* Builds all nodes of the recording into INTO's graph, after INTO's nodes, as one flat graph. The
 * nodes get their handles, recaptured work gets made_handles. *RET_END is the node after which
 * everything is done; RET_END may be NULL. On failure no node's handle has changed. */
int flatten(struct dagpatch_recording *recording, const struct patch_capturing *into,
	    struct driver_node **ret_end);

/* ---- build.c ---- */

/* What was there before a graph was built: the old graph, and the nodes' handles and flags. */
struct replaced {
	bool is_there; /* false: nothing was built */
	struct built built;
	struct driver_node **handles;
	uint8_t *flags;
	uint64_t *conditions; /* handles of conditionals */
};

/* Builds and instantiates a graph of what the images contain. It replaces recording->built; the
 * old graph is kept in *RET_REPLACED, and one of the next two functions must be called. On failure
 * nothing has changed. If there is no memory, evicts another graph and tries once more. */
int build(struct dagpatch_recording *recording, struct replaced *ret_replaced);

/* build_accept retires the old graph. build_undo destroys the new graph and restores the old one.
 * Both do nothing if nothing was built. */
void build_accept(struct dagpatch_recording *recording, struct replaced *replaced);
void build_undo(struct dagpatch_recording *recording, struct replaced *replaced);

/* Adds the recording's nodes, with what the images contain and recaptured work as NEXT, to INTO's
 * graph, which belongs to the caller of dagpatch_launch. No handle is kept. *RET_ENDS are the
 * nodes that following work must wait for; the caller frees ret_ends->nodes. On failure some nodes
 * may have been added. */
int build_into(struct dagpatch_recording *recording, const struct patch_capturing *into,
	       struct node_list *ret_ends);

/* Destroys what is built. No replay of it may be in flight, unless PATCH_KEEPS_EXECS. */
void built_release(struct patch_device *device, struct built *built);

/* ---- retire.c: keeps what replays in flight may still use until they are done ---- */

/* NULL: no memory. */
struct retired *retired_create(void);

/* Retires BUILT, which was launched as recording->launches says, and empties it. Cannot fail.
 * Waits for replays only where it is unknown whether they are done (HIP, until their streams are
 * launched into again), and then at every 65th graph. */
void retire_built(struct dagpatch_recording *recording, struct built *built);

/* Retires what is built, and the slots with their shadows, of a recording that is being
 * destroyed. */
void retire_all(struct dagpatch_recording *recording);

/* Puts marks after earlier launches in STREAM for the retired graphs that need one. STREAM exists
 * and is not being captured. Costs one load when there are none. Takes the context's lock. */
void retired_mark(struct dagpatch_context *context, struct driver_stream *stream);

/* Frees what no replay uses any more. Does not wait. Any thread; enters the device itself. */
void reap(struct dagpatch_context *context);

/* Frees everything that is retired; waits for the replays. Any thread; enters the device itself. */
void reap_all(struct dagpatch_context *context);

/* ---- evict.c: ownership of recordings, and eviction of executable graphs ---- */

/* The calling thread owns the recording until recording_disown. -EINVAL: NULL. -EBUSY: a call of
 * this recording is in progress, as in a callback. Waits while another thread evicts. Leaves the
 * recording's error alone. The acquire pairs with the release in recording_disown. */
int recording_own(struct dagpatch_recording *recording);
static inline void recording_disown(struct dagpatch_recording *recording)
{
	atomic_store_explicit(&recording->owner, OWNER_NONE, memory_order_release);
}

/* Begins a call that reaches the driver: recording_own, and makes the device the thread's current
 * one (device_enter; if that fails, the recording's error says so). recording_leave ends both. */
int recording_enter(struct dagpatch_recording *recording);
void recording_leave(struct dagpatch_recording *recording);

/* Begins a call that neither changes what is built nor reaches the driver nor runs callbacks:
 * there is nothing to end. Fails as recording_own. */
static inline int recording_check(const struct dagpatch_recording *recording)
{
	if (!recording)
		return -EINVAL;
	return atomic_load_explicit(&recording->owner, memory_order_acquire) == OWNER_CALL ? -EBUSY
											   : 0;
}

/* Makes the recording the most recently used one. */
static inline void recording_note_use(struct dagpatch_recording *recording)
{
	uint64_t launched =
		atomic_fetch_add_explicit(&recording->context->launches, 1, memory_order_relaxed);

	atomic_store_explicit(&recording->launched, launched + 1, memory_order_relaxed);
}

/* Begins reading what is built; works in callbacks, too. Pass the result to recording_look_away. */
bool recording_look(const struct dagpatch_recording *recording);
void recording_look_away(const struct dagpatch_recording *recording, bool looked);

/* Protects what is built now from eviction for want of memory. */
void recording_stays(const struct dagpatch_recording *recording);

/* Frees memory for NEEDY: evicts the least recently launched executable graph of another recording
 * of the context and frees everything that is retired. Waits for the device. False: there is
 * nothing to free. */
bool evict_for_memory(struct dagpatch_recording *needy);

/* ---- finalize.c, slots.c, apply.c ---- */

/* Frees what dagpatch_finalize has allocated, except shadows. */
void finalize_release(struct dagpatch_recording *recording);

/* Sorts the relocations of each slot so that those that the host sets come first, and fills
 * host_end. */
void split_relocations(struct dagpatch_recording *recording);

/* Empties recording.changed. */
void changes_clear(struct dagpatch_recording *recording);

/* dagpatch_apply without entering. Returns 1: something was applied; 0: there was nothing to
 * apply. */
int apply_if_needed(struct dagpatch_recording *recording);

/* Between these two calls the images and NEXT of recaptured work have the wanted values, but
 * nothing is applied. wanted_end gets RC, the result of the work in between, tells it to the other
 * ranks, and returns what recapture_agree returns. If wanted_begin fails, wanted_end must not be
 * called. */
int wanted_begin(struct dagpatch_recording *recording);
int wanted_end(struct dagpatch_recording *recording, int rc);

/* The executable graph that is launched; NULL: none. */
static inline struct driver_exec *current_exec(const struct dagpatch_recording *recording)
{
	return recording->foreign_exec ? recording->foreign_exec : recording->built.exec;
}

/* Writes these addresses of the slots into the images of all nodes. Slots with a shadow have the
 * shadow's address instead. */
void images_write(struct dagpatch_recording *recording, const uint64_t *addresses);

/* The address that the graph has for SLOT: its shadow's, otherwise addresses[SLOT]. */
uint64_t slot_address(const struct dagpatch_recording *recording, const uint64_t *addresses,
		      uint32_t slot);

/* ---- revise.c ---- */

/* Call before any node is set: allocates the indices of revisions. -ENOMEM. */
int revisions_begin(struct dagpatch_recording *recording);

/* The parameters and relocations of NODE after all pending revisions; addresses in the image are
 * not written yet. */
struct patch_params revision_params(const struct dagpatch_recording *recording, uint32_t node);
struct relocation_list revision_relocations(const struct dagpatch_recording *recording,
					    uint32_t node);

/* For qsort of struct loose_relocation: by node, then byte. */
int relocation_compare(const void *left, const void *right);

/* Makes room for a revision of NODE with an image of SIZE bytes, and, for several revisions
 * together, for COUNT more relocations in the index. -ENOMEM: nothing has changed. */
int revision_reserve(struct dagpatch_recording *recording, uint32_t node, uint32_t size,
		     uint32_t relocation_count);
int revisions_reserve_index(struct dagpatch_recording *recording, uint32_t count);

/* Makes these parameters the pending revision of NODE, in place of an earlier one. RELOCATIONS
 * NULL: they stay as they are wanted now. Cannot fail; needs revision_reserve, and
 * revisions_reserve_index for relocations. */
void revision_add(struct dagpatch_recording *recording, uint32_t node,
		  const struct patch_params *params, uint32_t detail,
		  const struct relocation_list *relocations);

/* Adds launch attributes to the pending revision. Call after revision_reserve, attributes_reserve
 * and revision_add. */
void revision_give(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *attributes);

/* Exchanges the pending revisions with the nodes' images and with the index, and writes the wanted
 * addresses; and back. Cannot fail. */
void revisions_put(struct dagpatch_recording *recording);
void revisions_take_back(struct dagpatch_recording *recording);

/* While revisions are put in: returns a node whose new parameters need a new graph, or
 * DAGPATCH_NONE. */
uint32_t revisions_refitted(const struct dagpatch_recording *recording);

/* Ends all pending revisions. If they are put in, they have been applied; otherwise they are
 * discarded. */
void revisions_clear(struct dagpatch_recording *recording);
void revisions_release(struct dagpatch_recording *recording);

/* Heap memory of the revisions, without the images and the scratch recording. */
uint64_t revisions_bytes(const struct dagpatch_recording *recording);

/* ---- strategy.c ---- */

/* How the dirty nodes get into the executable graph. Uses options.strategy and measured costs. */
enum dagpatch_strategy strategy_choose(const struct dagpatch_recording *recording);

/* False: an update of the whole graph is impossible for this recording. */
bool strategy_can_update(const struct dagpatch_recording *recording);

/* True if the executable graph was set so often that a new one must be instantiated. */
bool strategy_is_worn(const struct dagpatch_recording *recording);

/* PATCH_FORGETS_MEMSETS: sets all memsets to the parameters that they have, before a launch. Skips
 * what the driver keeps as a child, and the nodes below it. */
int strategy_set_memsets(struct dagpatch_recording *recording);

/* Bring the parameters of the dirty nodes, which the images have, into the executable graph.
 * *RET_DONE is the number of nodes at the beginning of recording.dirty that may have changed, also
 * on failure. -ENOTSUP: another strategy may work. */
int strategy_set_params(struct dagpatch_recording *recording, uint32_t *ret_done);
int strategy_update_graph(struct dagpatch_recording *recording, uint32_t *ret_done);

/* The images have the old parameters again: sets the first DONE dirty nodes to them. If that fails
 * the recording becomes LOST. */
void strategy_put_back(struct dagpatch_recording *recording, uint32_t done);

/* ---- verify.c ---- */

/* dagpatch_verify for the addresses ADDRESSES, which are written into the images. */
int verify_graph(struct dagpatch_recording *recording, const uint64_t *addresses);

/* ---- recapture.c: work that is recaptured ---- */

/* For each child that must be recaptured: takes a graph for the wanted addresses from the cache,
 * or captures one, as NEXT. Where a cache votes, asks all ranks first. Nothing is applied. On
 * failure there is no NEXT. In either case recapture_agree must follow. */
int recapture_prepare(struct dagpatch_recording *recording);

/* The second vote: if recapture_prepare has promised it, tells the other ranks that this rank's
 * step ended with RC. Returns RC or, if RC is 0, -ECANCELED (another rank failed) or the vote's
 * error. */
int recapture_agree(struct dagpatch_recording *recording, int rc);

/* Tells the ranks that would wait for it that this launch fails with RC before it has begun.
 * Returns RC. */
int recapture_refuse(struct dagpatch_recording *recording, int rc);

/* Puts each NEXT that was captured for a cache into the cache. */
void recapture_cache(struct dagpatch_recording *recording);

/* recapture_commit puts NEXT into its cache and makes it CURRENT. recapture_drop releases NEXT. */
void recapture_commit(struct dagpatch_recording *recording);
void recapture_drop(struct dagpatch_recording *recording);

/* Where graphs are flattened: sets the nodes that differ between CURRENT and NEXT in the
 * executable graph, to the parameters of NEXT (TAKES_NEXT) or of CURRENT. *RET_SET is the number
 * of nodes that may have been set, also on failure. -ENOTSUP: the two have different nodes or
 * dependencies, or could not be read. */
int recapture_set_flat(struct dagpatch_recording *recording, const struct recapture *recapture,
		       bool takes_next, uint32_t *ret_set);

/* Exchanges the handles in the new graph with those in the graph that it replaces. */
void recapture_swap_handles(struct dagpatch_recording *recording);

/* Frees made_handles. */
void recapture_drop_handles(struct dagpatch_recording *recording);

/* ---- cache.c ---- */

/* Adds and releases a reference; the last one destroys the cache. The caller of
 * dagpatch_cache_create has one, and so has each name. Any thread. */
void cache_retain(struct dagpatch_cache *cache);
void cache_release(struct dagpatch_cache *cache);

/* The name of a work in a cache, without addresses: the caller's key, or a number for the call
 * that added the work. */
struct cache_name;

/* Allocated by malloc; NULL: no memory. cache_name_copy adds a reference to the same name. When
 * the last reference to a name without a key is released, its captured graphs leave the cache. */
struct cache_name *cache_name_create(struct dagpatch_cache *cache,
				     const struct dagpatch_capture *capture);
struct cache_name *cache_name_copy(struct cache_name *name); /* NULL is allowed */
void cache_name_release(struct cache_name *name);	     /* NULL is allowed */

/* A name with addresses, by malloc; the caller frees it, or cache_put takes it. NULL: no memory. */
struct cache_key *cache_key_create(const struct cache_name *name, const uint64_t *addresses,
				   uint32_t count);

/* Returns the captured graph with a new reference for the caller, or NULL. Any thread. */
struct captured_graph *cache_find(struct dagpatch_cache *cache, const struct cache_key *key);

/* Takes KEY, and adds a reference of its own to GRAPH. May release the least recently used graph.
 * Any thread. */
void cache_put(struct dagpatch_cache *cache, struct cache_key *key, struct captured_graph *graph);

/* True if the cache was created in CONTEXT. */
bool cache_is_of(const struct dagpatch_cache *cache, const struct dagpatch_context *context);

/* Counts a lookup that found a graph (IS_HIT), or a capture that is made because none was found.
 * Any thread. */
void cache_count(struct dagpatch_cache *cache, bool is_hit);

/* Whether the cache has a vote, and whether each launch uses it. Constant after creation. */
bool cache_votes(const struct dagpatch_cache *cache);
bool cache_votes_always(const struct dagpatch_cache *cache);

/* What a rank says in a vote. The smallest word of all ranks decides. */
enum vote_word {
	VOTE_FAILED,
	VOTE_MISSES,		/* first vote: something that is needed is not in the cache */
	VOTE_HAS,		/* first vote: something changes, and the cache has all of it */
	VOTE_IDLE,		/* first vote: nothing changes */
	VOTE_READY = VOTE_IDLE, /* second vote */
};

/* The result of a vote. */
struct vote_answer {
	enum vote_word least;
	bool is_tag_equal; /* all ranks had the same TAG */
};

/* Takes a vote; waits for the other ranks. -EPIPE: an earlier vote failed. -EPROTO: the ranks are
 * not at the same vote. Otherwise what the caller's function returns. After any of these errors no
 * vote is taken until dagpatch_cache_rejoin. */
int cache_vote(struct dagpatch_cache *cache, enum dagpatch_vote_phase phase, enum vote_word word,
	       uint64_t tag, struct vote_answer *ret_answer);

/* Number of the last first vote: equal on all ranks, and never used again. */
uint64_t cache_tag(struct dagpatch_cache *cache);

#endif
