/* Which graph a child node holds, as the order of the recorded steps tells it.
 *
 * CUPTI has no step for it. The call that adds a child node first clones the child graph, node by
 * node, and makes the node then. A child graph that has child nodes itself is cloned in the same
 * way: the clone of the graph that such a node holds comes directly before the clone of the node.
 * An exec's clone of its graph is made like this, too. Graphs that the driver makes in the same
 * call without cloning nodes into them are its own (H100, CUDA 13.0).
 *
 * Threads build graphs at the same time, so their steps are told apart by the call. A value; zero
 * is valid and empty; no memory is allocated. Not thread-safe. */
#ifndef DAGTAP_RECORD_CUDA_CLONES_H
#define DAGTAP_RECORD_CUDA_CLONES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record_cuda.h"

/* Calls that are followed at the same time, and graphs within each other. Of more, those that were
 * used least lately are forgotten: what nodes of these hold is not known then. */
enum { CUDA_CLONES_CALLS = 8, CUDA_CLONES_DEPTH = 32 };

struct cuda_clones {
	struct cuda_clones_call {
		uint64_t cid, used;
		uint32_t depth; /* 0: the place is free */
		struct {
			uint32_t graph;
			bool is_cloned;	   /* a node was cloned into it */
		} made[CUDA_CLONES_DEPTH]; /* the newest last */
	} calls[CUDA_CLONES_CALLS];
	uint64_t uses;
};

/* Takes the next of the steps, in the order in which they came. Returns the id of the graph that
 * the step's node holds; 0: none that is known. Cost: a few comparisons. */
uint32_t cuda_clones_take(struct cuda_clones *clones, const struct record_cuda_graph *step);

/* Returns the id of the graph, number INDEX from the newest, into which call CID has cloned nodes
 * and of which no node is known to hold it; 0: there is none. */
uint32_t cuda_clones_find(const struct cuda_clones *clones, uint64_t cid, uint32_t index);

#endif
