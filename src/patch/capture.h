/* Capturing of work, and comparison of captures (capture.c, capture_append.c, addresses.c,
 * edges.c). */
#ifndef DAGPATCH_PATCH_CAPTURE_H
#define DAGPATCH_PATCH_CAPTURE_H

#include "patch/driver.h"

/* ---- capture.c ---- */

/* Calls RECORD once at ADDRESSES, on a stream that is being captured. The caller destroys
 * *RET_GRAPH. Errors of the callback are passed on. */
int capture_graph(struct dagpatch_recording *recording, dagpatch_capture_fn record, void *user,
		  void *const *addresses, struct driver_graph **ret_graph);

/* ---- capture_append.c ---- */

/* Captures of the same work, to be compared. At most CAPTURES_MOST. */
#define CAPTURES_MOST 32
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

#endif
