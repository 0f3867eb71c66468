/* Virtual executables: several executable graphs of the driver (*reals*) behind the one that the
 * program has. The program's own handle is the first real, so calls that are not known here remain
 * valid on it.
 *
 * A call that sets a node is noted as an *image*: the call's arguments as bytes, with all that they
 * point to. The images of all nodes that the program sets are the *set* that it wants. A launch
 * launches the real that has the wanted set, otherwise updates one of them by what differs.
 *
 * An image is interned, so equality of two images, which is equality of their bytes, is equality of
 * their numbers. Image number 0 is what the node had when the executable was made.
 *
 * Threading: any thread. A virtual executable is locked from virtual_take to virtual_release. As
 * with the driver, the program must not destroy an executable while another thread uses it. */
#ifndef DAGPATCH_PRELOAD_VIRTUAL_H
#define DAGPATCH_PRELOAD_VIRTUAL_H

#include <pthread.h>

#include "base/hash_map.h"
#include "preload/image_bytes.h"
#include "preload/preload_stats.h"
#include "preload/vendor.h"

enum {
	CELL_NOT_MOVING = UINT32_MAX,
	/* What a driver's failed call may have left behind; no image has this number. */
	IMAGE_UNKNOWN = UINT32_MAX,
	FIRST_REALS = 5,    /* as many may be made before they gain something */
	LAYOUT_HINTS = 64,  /* of one virtual executable; a power of two */
	SEEN_CHILDREN = 64, /* the same */
	SEEN_BUFFERS = 8,   /* of one child graph */
};

/* A noted call on one cell; DATA is allocated with it. */
struct image {
	uint64_t hash;
	uint32_t cell;
	uint32_t bytes;
	void *child;	  /* our clone of the graph, if the call sets a child graph */
	bool is_accepted; /* the driver has accepted the call on this cell */
	uint64_t data[];
};

/* A child graph that was noted: while its version is the same, and its addresses belong to the same
 * memory, it has the same image. */
struct seen_child {
	void *node; /* the program's, which was set to the graph */
	void *graph;
	uint64_t version;
	uint32_t image;
	uint32_t buffer_count;
	struct {
		uintptr_t address;
		uint64_t id;
	} buffers[SEEN_BUFFERS];
};

/* A call that sets a node, to be noted. The bytes are compared, so padding must be 0; pointers in
 * DATA are compared as such. */
struct note {
	const void *data; /* of which the vendor's `apply` can make the call again */
	uint32_t bytes;
	bool is_always_tried; /* the driver's own checks depend on more than DATA */
	const char *call;     /* its name, a constant text */
	void *child; /* the graph of a call that sets a child graph; DATA has its contents */
	const struct seen_child *seen; /* to be remembered with the image's number; or NULL */
};

/* A real executable. `have` has the number of the image of each moving cell. */
struct real {
	void *handle;
	uint32_t *have;
	uint64_t hash;	   /* of `have` */
	uint64_t launched; /* number of its last launch among those of the virtual one */
	uint64_t found;	   /* the same, of the last one at which its set had come back; or 0 */
	uint32_t next;	   /* the real that was launched after this one */
};

/* Samples of what one kind of call takes. */
enum { COST_SAMPLES = 31 };
struct cost {
	uint32_t ns[COST_SAMPLES];
	uint32_t count; /* below COST_SAMPLES: so many samples are there */
	uint32_t turn;
};

struct virtual_costs {
	struct cost note, set, making;
	/* Launches: the first one of an executable, of the same one as before, of another one. */
	struct cost first, same, other;
	uint64_t applied; /* calls made on a real, when a note began */
	/* In calls of the driver that set a node. */
	uint64_t making_calls, note_percent, switch_percent;
};

/* A node of the program's graph, and the same node of our clone. */
struct node_pair {
	void *node, *copy;
	void *parent;  /* the child graph's node in which it is, or NULL */
	uint32_t next; /* index of the node that was set after it the last time */
};

/* How a function's parameters are placed, as the vendor found it in EPOCH. */
struct layout_hint {
	const void *function;
	const struct patch_layout *layout;
	uint64_t epoch;
};

/* Memory that the vendor's driver has told of. */
struct memory_range {
	uint64_t id; /* no other allocation of the process has it */
	uintptr_t start, bytes;
};

/* The last ones, as they were at a moment that the vendor has a number for. */
enum { MEMORY_RANGES = 4 };
struct memory_ranges {
	uint64_t ends;
	uint32_t next; /* the one that is replaced next */
	struct memory_range at[MEMORY_RANGES];
};

/* A stream as the program names it. Handles that mean another stream on each thread or device have
 * a scope; others have 0. */
struct stream_key {
	void *stream;
	uint64_t scope;
};

struct virtual
{
	/* First what a call needs that notes what was noted before: few lines of the cache. */
	pthread_mutex_t lock;
	/* Passed through: only the first real is used, and nothing is noted. is_through: its next
	 * launch need not be ordered behind another real either. */
	_Atomic bool is_passing, is_through;
	uint32_t last;	    /* the real that was launched last */
	uint32_t last_node; /* index of the node that was set last */
	/* Those in child graphs, too; in ascending order of `node`. */
	struct node_pair *nodes;
	/* Cells that were set at least once are *moving*. Cell number: CELL_KINDS for each node. */
	uint32_t *moving_of_cell; /* or CELL_NOT_MOVING */
	struct real *reals;
	struct image **images; /* image number i is images[i - 1] */
	uint32_t *wanted;      /* image number of each moving cell */
	uint64_t wanted_hash;
	uint64_t new_sets; /* calls that are not in the counters yet */

	const struct preload_vendor *vendor;
	void *graph; /* the program's */
	void *clone;
	unsigned long long flags;
	uintptr_t device; /* the thread's when it was made */
	uint32_t node_count, node_capacity;
	uint32_t image_count, image_capacity;
	size_t image_bytes;
	struct hash_map image_map;
	uint32_t *cell_of_moving;
	uint32_t moving_count, moving_capacity;
	uint32_t tried;	      /* new images since the last launch */
	struct bytes scratch; /* where images are put together */
	struct layout_hint hints[LAYOUT_HINTS];
	struct seen_child *seen;
	uint32_t seen_count, seen_capacity;
	struct hash_map seen_map;
	struct memory_ranges ranges;

	uint32_t real_count;
	bool is_full;		 /* no more reals are made */
	struct missed *missed;	 /* sets that no real had; the table of virtual_choose.c */
	uint64_t missed_calls;	 /* what misses have cost since the last real was made */
	uint32_t most_by_chance; /* as many reals are made for sets that have not come back */
	/* In this window of launches that calls were noted for: */
	uint32_t window;
	uint64_t noted, applied; /* calls that were noted, and made on a real */
	uint64_t switches;	 /* launches of another real than before */
	uint64_t came_back;	 /* calls of sets that had been there */
	uint32_t windows;	 /* that are over */
	uint32_t lean;		 /* of these, the last ones in a row that did not gain */
	uint64_t launch_count;

	bool is_launched;
	struct stream_key last_stream; /* valid if last_is_open */
	bool last_is_open;	       /* false: the stream was destroyed since */
	bool is_roaming;	       /* has been launched into several streams */
	bool is_recorded;	       /* EVENT marks the last launch */
	void *event;
	struct virtual_costs costs;
	struct virtual_sets *sets; /* NULL, unless sets are only counted */
};

/* ---- virtual_event.c ---- */

/* Counts the failure of a call that the program has not made and does not see. */
void virtual_inner_failed(const struct virtual *v);

/* Marks the end of the last launch with V's event. Returns the driver's result. */
int virtual_record_last(struct virtual *v);

/* V is going to pass through: marks the end of the last launch with an event, if another real than
 * the first was launched. Returns the driver's result. */
int virtual_mark_last(struct virtual *v);

/* The stream of the last launch is going to be destroyed: marks that launch with an event, if
 * another real may have to wait for it. */
void virtual_leave_stream(struct virtual *v);

/* Adds the calls on V to the counters: not each of them at once, because that takes as long as
 * noting. */
void virtual_count_sets(struct virtual *v);

/* ---- virtual_image.c ---- */

/* Returns the number of the image of NOTE on CELL, or 0. GUESS, a number or 0, is tried first. */
uint32_t virtual_find_image(struct virtual *v, uint32_t cell, uint32_t guess,
			    const struct note *note);

/* Adds an image, which must not be there. -ENOMEM, also if the child graph cannot be cloned. */
int virtual_add_image(struct virtual *v, uint32_t cell, const struct note *note,
		      uint32_t *ret_image);

/* Frees all images, at the end of V. */
void virtual_free_images(struct virtual *v);

/* Makes the call of an image again. Returns the driver's result. */
int virtual_apply(struct virtual *v, const struct image *image, void *exec, void *node);

/* Equal hashes are necessary for equal sets. */
uint64_t image_place_hash(uint32_t moving, uint32_t image);

/* Notes that REAL has image number IMAGE in the moving cell. */
void real_set(struct real *real, uint32_t moving, uint32_t image);

/* The node of a moving cell for a call on REAL: the first real was made of the program's graph. */
void *real_node(const struct virtual *v, const struct real *real, uint32_t moving);

/* Whether REAL has the set that is wanted. */
bool real_has_wanted(const struct virtual *v, const struct real *real);

/* Brings the wanted set into REAL, node by node; into the first one. Return the driver's result. */
int real_settle(struct virtual *v, struct real *real);
int virtual_settle(struct virtual *v);

/* ---- virtual.c ---- */

/* Limits of one virtual executable. */
struct virtual_limits {
	uint32_t reals;
	/* Costs, reckoned in calls of the driver that set a node: of making a real (0: one is made
	 * for each set that comes back), of noting a call, and of launching another real than
	 * before. */
	uint32_t making_calls, note_percent, switch_calls;
	bool are_measured; /* these hold until the costs were measured */
	uint64_t bytes;	   /* of images and reals; a real is reckoned by its nodes */
	/* Each call is made at once on the only real, and the sets that come back are counted. */
	bool is_advising;
};
extern struct virtual_limits virtual_limits;

/* Sets the limits, and whether anything is virtual. Called once, before any other function. */
void virtual_configure(const struct virtual_limits *limits, bool is_on);

/* False: everything passes on this thread now: switched off, in a forked child, or inside a call
 * that we make ourselves. */
bool virtual_is_on(void);

/* Between the two, calls of this thread pass: the driver may call its own exported functions. They
 * may be nested. */
void virtual_inner_begin(void);
void virtual_inner_end(void);

/* The program has made EXEC of GRAPH. Does nothing if it cannot be made virtual. */
void virtual_make(const struct preload_vendor *vendor, void *exec, void *graph,
		  unsigned long long flags);

/* Returns the virtual executable behind the program's handle, locked. NULL: pass the call on.
 * virtual_take_passing, for launches, also returns those that are passed through whose next launch
 * still has to be ordered behind another real. */
struct virtual *virtual_take(void *exec);
struct virtual *virtual_take_passing(void *exec);
void virtual_release(struct virtual *v);

/* The pair of the program's NODE, or NULL. */
const struct node_pair *virtual_find_node(const struct virtual *v, void *node);

/* As virtual_settle; from then on V passes through, unless the driver fails. CAUSE: the counter.
 * CALL: the program's call, a constant text. The caller then makes its call with the program's
 * handle. */
int virtual_dissolve(struct virtual *v, _Atomic uint64_t *cause, const char *call);

/* All executables of VENDOR pass through. CALL: as virtual_dissolve. Not inside of one. */
void virtual_pass_all(const struct preload_vendor *vendor, const char *call);

/* The functions of MODULE, or of any if it is NULL, will be destroyed. No other real is made of a
 * clone that may name one of them. Not inside of a virtual executable. */
void virtual_functions_end(const struct preload_vendor *vendor, void *module);

/* Waits until no thread uses a virtual executable in the state of before the call. Not inside of
 * one. */
void virtual_synchronize(void);

/* Where a vendor's hint for FUNCTION is kept in V. */
struct layout_hint *virtual_hint(struct virtual *v, const void *function);

/* Removes EXEC, which the program destroys. `destroy` is the program's call; if it fails, nothing
 * has changed. NULL from virtual_forget: EXEC is not virtual. */
struct virtual *virtual_forget(void *exec);
int virtual_destroy(struct virtual *v, void *exec, int (*destroy)(void *exec));

/* The program destroys a graph, a node or a stream. */
void virtual_graph_gone(void *graph);
void virtual_node_gone(void *node);
void virtual_stream_gone(void *stream);

/* ---- virtual_note.c ---- */

/* V's memory for the image of one call; empty. */
struct bytes *virtual_scratch(struct virtual *v);

/* Notes a call that sets NODE. Returns the driver's result. An image that was not seen before on
 * this node is tried on a real; what the driver refuses is not noted. */
int virtual_set(struct virtual *v, void *node, enum cell_kind kind, const struct note *note);

/* Returns the image that a call on NODE has most probably, or NULL. *RET_NUMBER is its number. */
const struct image *virtual_guess(struct virtual *v, void *node, enum cell_kind kind,
				  uint32_t *ret_number);

/* Notes a call whose image has this number. As virtual_set. */
int virtual_set_again(struct virtual *v, uint32_t number);

/* ---- virtual_seen.c ---- */

/* What is remembered of NODE set to GRAPH, or NULL. */
struct seen_child *virtual_seen(const struct virtual *v, const void *node, const void *graph);

/* Remembers SEEN with its image. Without memory the graph is read again the next time. */
void virtual_remember(struct virtual *v, const struct seen_child *seen, uint32_t image);

/* Forgets all child graphs. */
void virtual_forget_seen(struct virtual *v);

/* ---- virtual_sets.c ---- */

/* Prepares V for counting sets that come back. -1: no memory. The second one writes what was
 * counted into dagtap's recording. */
int virtual_sets_create(struct virtual *v);
void virtual_sets_destroy(struct virtual *v);

/* With v->sets: a call that sets a node took so long in the driver; the wanted set was launched. */
void virtual_sets_called(struct virtual *v, uint64_t ns);
void virtual_sets_launched(struct virtual *v);

/* ---- virtual_cost.c ---- */

/* Around a call of one kind, for a virtual executable that is locked. cost_begin returns 0 if it is
 * not measured; then cost_end does nothing. */
uint64_t cost_begin(struct cost *cost);
void cost_end(struct cost *cost, uint64_t begin);

/* What a call takes, in nanoseconds; 0: no samples. */
uint64_t cost_typical(const struct cost *cost);

/* The same around a note; one in which the driver was called is not measured. */
uint64_t virtual_note_begin(struct virtual *v);
void virtual_note_end(struct virtual *v, uint64_t begin);

/* Takes over what was measured. */
void virtual_reckon(struct virtual *v);

/* ---- virtual_choose.c ---- */

/* Chooses the real to launch, and makes one if that is worth it. It may still have to be
 * settled. */
uint32_t virtual_choose(struct virtual *v);

/* Finds a real that has the wanted set. */
bool virtual_find_real(const struct virtual *v, uint32_t *ret_real);

/* After a launch: passes V through if it gains nothing. */
void virtual_look_back(struct virtual *v);

/* ---- virtual_launch.c ---- */

/* Launches V into STREAM, which the vendor's functions take, by LAUNCH, which is the program's
 * call. SCOPE as in struct stream_key. */
int virtual_launch(struct virtual *v, void *stream, uint64_t scope,
		   int (*launch)(void *exec, void *stream));

/* Uploads the real that a launch would take now. */
int virtual_upload(struct virtual *v, void *stream, int (*upload)(void *exec, void *stream));

/* A scope for the calling thread on its current device. */
uint64_t virtual_thread_scope(const struct preload_vendor *vendor);

/* ---- registry.c: the program's handles ---- */

/* Returns the virtual executable of the handle, or NULL. */
struct virtual *registry_find(void *handle);

/* -ENOMEM. An entry of the same handle is replaced and stays allocated. */
int registry_add(void *handle, struct virtual *v);
struct virtual *registry_remove(void *handle);

/* Calls VISIT for each virtual executable. */
void registry_each(void (*visit)(struct virtual *v, void *user), void *user);

#endif
