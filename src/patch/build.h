/* Building of the driver's graph (build.c, flatten.c). */
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

/* ---- flatten.c ---- */

/* Builds all nodes of the recording into INTO's graph, after INTO's nodes, as one flat graph. The
 * nodes get their handles, recaptured work gets made_handles. *RET_END is the node after which
 * everything is done; RET_END may be NULL. On failure no node's handle has changed. */
int flatten(struct dagpatch_recording *recording, const struct patch_capturing *into,
	    struct driver_node **ret_end);

#endif
