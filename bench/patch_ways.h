/*
 * The ways of `dagtap-bench patch` to keep a graph whose buffers move: with dagpatch and without.
 * The graph is a chain of BED_MARK nodes; each node's address belongs to a slot, and each slot has
 * two places.
 */
#ifndef DAGTAP_BENCH_PATCH_WAYS_H
#define DAGTAP_BENCH_PATCH_WAYS_H

#include "patch_floor.h"

#define SLOTS	     3 /* of 1 %, 9 % and 90 % of the nodes */
#define SIDES	     2 /* places at which a slot can be */
#define REPEATS_MOST 101
#define WAYS_MOST    12

enum measure { HOST, LAUNCH, RESULT, MEASURES };

struct subject;

struct way {
	const char *name;
	enum dagpatch_strategy strategy; /* of the recording, if there is one */
	int (*prepare)(struct subject *subject);
	/* Updates the subject to where its slots now are; MOVED of them have moved. */
	int (*change)(struct subject *subject, uint32_t moved);
	int (*launch)(struct subject *subject);
	bool replays_only; /* measures replays without changes */
	bool is_bare;	   /* only the driver's calls for what moved: others are compared with it */
};

/* One method applied to one size of graph. */
struct subject {
	const struct way *way;
	void *graph, *exec, *old_graph, *old_exec;
	void **nodes;
	struct dagpatch_recording *recording;
	uint8_t side[SLOTS];
	double samples[MEASURES][REPEATS_MOST];
};

/* What the ways work with. bench_patch.c opens it and sets the size. */
struct patch_run {
	const struct patch_floor *floor;
	const struct bed *bed;
	void *stream;
	struct dagpatch_context *contexts[DAGPATCH_STRATEGY_COUNT];
	/* the current size */
	uint32_t node_count;
	uint32_t slot_first[SLOTS + 1];
	void *memory[SIDES][SLOTS];
	uint32_t launched[SIDES][SLOTS];
};

extern struct patch_run patch_run;

extern const struct way patch_ways[];
extern const size_t patch_way_count;

/* Whether dagpatch chooses the strategy. */
bool way_is_auto(const struct way *way);

/* Whether the driver can do it. */
bool way_is_possible(const struct way *way);

/* Adds a BED_MARK node that works on AT, after the nodes of AFTER, which may be NULL. RET_NODE may
 * be NULL. Returns 0 or dagpatch's error. */
int patch_add_mark(struct dagpatch_recording *recording, struct dagpatch_pointer at,
		   const struct dagpatch_after *after, uint32_t *ret_node);

#endif
