/* A recording with nodes of every kind, and changes of their parameters, for tests of what happens
 * when a call fails. The functions return what dagpatch returned, so that any call may fail. */
#ifndef TESTS_PATCH_EVERY_NODE_H
#define TESTS_PATCH_EVERY_NODE_H

#include <stdbool.h>

#include "suite.h"

/* Make and destroy a library's graph at two sets of addresses, which the recordings contain. Group
 * setup and teardown of cmocka: they run while no call fails. */
int every_node_open(void **state);
int every_node_close(void **state);

/* Records kernels, copies, memsets, a nested recording, captured work, work that is captured
 * again, an existing graph, and a shadowed slot, with slots 0 to 2. Finalizes the recording. */
int every_node_record(struct dagpatch_context *context, struct dagpatch_recording *recording);

/* What a change sets: only a memset's value, or also a kernel, a copy and a child with other
 * slots. */
enum sets { VALUE, NODES_TOO };

/* Sets other parameters, or those that every_node_record gave the nodes. */
int every_node_set(struct dagpatch_context *context, struct dagpatch_recording *recording,
		   enum sets sets, bool is_other);

/* The argument of add_part's kernel that holds its count of words. */
enum { PART_COUNT = 3 };

/* Adds a node over two slots: a kernel that adds the second to the first (KIND 0), a copy (1) or a
 * memset (2). */
int add_part(struct dagpatch_recording *recording, const uint32_t slots[2], uint32_t kind,
	     const struct dagpatch_after *after, uint32_t *ret_node);

#endif
