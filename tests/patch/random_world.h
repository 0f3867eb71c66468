/* A random graph on a scene's device, as the files of suite_random.c share it: random_make.c draws
 * the operations, random_capture.c and random_record.c capture and record them, random_reckon.c
 * computes the results on the host. Helpers fail the cmocka test on an error, unless they return
 * one. */
#ifndef TESTS_PATCH_RANDOM_WORLD_H
#define TESTS_PATCH_RANDOM_WORLD_H

#include "suite.h"

enum {
	SLOTS = 6,
	BUFFERS = 9,
	QUARTER = 64, /* in words; an operation works on quarters, so its operands never overlap */
	BUFFER_WORDS = 4 * QUARTER,
	MOST_OPERATIONS = 8,
	DEPTH = 5,
};

/* GIVEN: captured by the test and added as a graph. ADOPTED: likewise, as the whole content of a
 * nested recording. */
enum operation_kind {
	ADD,
	MUL,
	FOLD,
	STRUCT,
	PACKED,
	MARK,
	COPY,
	MEMSET,
	CHILD,
	CAPTURED,
	GIVEN,
	ADOPTED,
	KINDS
};

struct block;

/* A node, or with `inner` a graph inside of the graph. */
struct operation {
	enum operation_kind kind;
	uint32_t slots[3], quarters[3];
	uint64_t scalar;
	/* copies: bytes, rows, slices; memsets: bytes of an element, elements */
	uint32_t extent[3];
	uint32_t blocks; /* recorded kernels: blocks of the grid */
	struct block *inner;
	uint32_t map[SLOTS]; /* slots of this block for those of the inner block */
	uint32_t node;
};

/* A graph. */
struct block {
	struct operation operations[MOST_OPERATIONS];
	uint32_t count;
};

/* A scene, its buffers, and the graph that is tested now. */
struct world {
	uint64_t state; /* state of the random number generator */
	struct scene *scene;
	uint32_t *buffers[BUFFERS];
	uint32_t *elsewhere[SLOTS];		/* addresses of captures that never run */
	uint32_t before[BUFFERS][BUFFER_WORDS]; /* contents before the launch */
	uint32_t host[BUFFERS][BUFFER_WORDS];	/* expected contents after the launch */
	struct block *top;
	uint32_t bound[SLOTS]; /* number of the buffer of each slot */
	uint32_t round;
	bool is_derived; /* dependencies are derived from the slots that were accessed first */
};

/* ---- random_make.c ---- */

/* Returns a number below LIMIT from the world's generator. */
uint32_t world_draw(struct world *world, uint32_t limit);

/* Makes a graph of at most DEPTH levels; block_free frees it. IS_CAPTURED: of operations that can
 * be captured. */
struct block *block_make(struct world *world, uint32_t depth, bool is_captured);
void block_free(struct block *block);

/* Gives an operation other parameters for the same kind of node. If dependencies were derived, the
 * operation accesses the same slots as before. */
void operation_change(struct world *world, struct operation *operation);

/* ---- random_reckon.c ---- */

/* Applies the block to the world's `host`. BOUND has the number of the buffer of each slot. */
void block_reckon(struct world *world, const struct block *block, const uint32_t *bound);

/* ---- random_capture.c ---- */

/* Submits the operations of USER, a struct block, to a stream that is captured; ADDRESSES has the
 * address of each slot. A dagpatch_capture's `record`. */
int block_capture(void *user, void *stream, void *const *addresses);

/* ---- random_record.c ---- */

/* The destination of an operation: a new node, or an existing one. */
struct target {
	const struct scene *scene;
	struct dagpatch_recording *recording;
	const struct dagpatch_after *after;
	uint32_t *node;
	bool is_set;
};

/* Adds or sets the operation's node. IS_DERIVED: nested recordings derive their dependencies.
 * Returns dagpatch's result. */
int operation_record(struct world *world, const struct target *target, struct operation *operation,
		     bool is_derived);

/* Records the operations in order, either with explicit dependencies, each on the previous one, or
 * with dependencies derived from accesses. */
void block_record(struct world *world, struct dagpatch_recording *recording, struct block *block,
		  bool is_derived);

#endif
