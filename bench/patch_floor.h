/*
 * The floor of `dagtap-bench patch`: the driver's own calls for graphs of BED_MARK nodes
 * (tests/patch/bed.h). Functions return 0 or the driver's error.
 */
#ifndef DAGTAP_BENCH_PATCH_FLOOR_H
#define DAGTAP_BENCH_PATCH_FLOOR_H

#include "../tests/patch/bed.h"

#define MARK_VALUE 1u
#define MARK_BLOCK 32u

struct patch_floor {
	const struct bed *bed;
	/* NULL: nothing to do */
	int (*open)(struct dagpatch_context *context);
	void (*close)(void);
	/* the nodes of a captured graph, in the order of the launches */
	int (*nodes)(void *graph, void **ret_nodes, uint32_t count);
	int (*update)(void *exec, void *graph);
	int (*set)(void *exec, void *node, void *at);
};

/* Returns NULL when there is no such driver or its libraries are not installed. */
const struct patch_floor *patch_floor_find(const char *driver);

#endif
