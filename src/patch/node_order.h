/* Dependencies of nodes (node_order.c). */
#ifndef DAGPATCH_PATCH_NODE_ORDER_H
#define DAGPATCH_PATCH_NODE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* An access of a node to the bytes [begin, end) of a slot. */
struct access {
	uint32_t node;
	uint32_t slot;
	uint64_t begin, end;
	bool writes;
};

/* Notes an access, with DAGPATCH_DERIVE_DEPENDENCIES; otherwise does nothing. */
int access_append(struct dagpatch_recording *recording, const struct access *access);

/* Records the dependencies of NODE, the first node that a call has added: those of AFTER (may be
 * NULL) and those that follow from the accesses from number FIRST_ACCESS on, which the call has
 * noted. The nodes inside of NODE already have theirs. Cost: the accesses before FIRST_ACCESS times
 * those from it on. */
int order_node(struct dagpatch_recording *recording, uint32_t node,
	       const struct dagpatch_after *after, uint32_t first_access);

/* The node that was added last, which is inside of another, waits for these nodes; BASE is added
 * to each number. */
int order_inner(struct dagpatch_recording *recording, const uint32_t *nodes, uint32_t count,
		uint32_t base);

#endif
