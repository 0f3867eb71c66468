/* Building of the driver's graph (build_nodes.c, build_table.c, flatten.c, build.c). */
#ifndef DAGPATCH_PATCH_BUILD_H
#define DAGPATCH_PATCH_BUILD_H

#include "patch/capture.h"
#include "patch/recording.h"

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

/* ---- build_nodes.c ---- */

/* Adds all nodes of the recording, with what the images contain, to GRAPH, and sets their handles.
 * Nodes at the top that wait for no other node wait for OUTER. On failure some nodes may have been
 * added. */
int build_add_nodes(struct dagpatch_recording *recording, struct driver_graph *graph,
		    struct driver_node *const *outer, uint32_t outer_count);

/* GRAPH is a copy of the graph that the recording was adopted from: its nodes become those of the
 * recording, in order, and get the addresses that the images contain. */
int build_take_nodes(struct dagpatch_recording *recording, struct driver_graph *graph);

/* Writes HANDLE into conditional NODE and into the images of the kernels that set it. */
void build_place_condition(struct dagpatch_recording *recording, uint32_t node, uint64_t handle);

/* ---- build_table.c ---- */

/* Makes built->table for the nodes of built->graph that can take their addresses from it, if the
 * options and the driver want one, and marks these nodes with NODE_IN_TABLE. -EAGAIN: a table is
 * not possible for this graph, and the attempt has spoilt it, so it must be built again. */
int build_table(struct dagpatch_recording *recording, struct built *built);

/* Removes NODE_IN_TABLE from all nodes. */
void build_leave_table(struct dagpatch_recording *recording);

/* ---- flatten.c ---- */

/* Builds all nodes of the recording into INTO's graph, after INTO's nodes, as one flat graph. The
 * nodes get their handles, recaptured work gets made_handles. *RET_END is the node after which
 * everything is done; RET_END may be NULL. On failure no node's handle has changed. */
int flatten(struct dagpatch_recording *recording, const struct patch_capturing *into,
	    struct driver_node **ret_end);

#endif
