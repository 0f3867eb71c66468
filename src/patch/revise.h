/* Revisions: other parameters for nodes, from the next apply on (revise.c). */
#ifndef DAGPATCH_PATCH_REVISE_H
#define DAGPATCH_PATCH_REVISE_H

#include "patch/node.h"

/* Other parameters for a node, wanted from the next apply on; see revise.c. */
struct revision {
	uint32_t node;
	/* as in struct node; while the revision is put in: the node's previous image */
	uint32_t image;
	uint32_t detail; /* as in struct node; while it is put in: the previous one */
	/* room of IMAGE and of the node's own image, in 8-byte words */
	uint32_t words, node_words;
	struct loose_relocation *relocations; /* if MOVES: all relocations that the node then has */
	uint32_t relocation_count, relocation_capacity;
	bool is_pending; /* not applied yet */
	bool moves;	 /* the relocations differ from the indexed ones */
	bool gives;	 /* ATTRIBUTES are given; the node has an entry in recording.attributes */
	struct dagpatch_attributes attributes;
};

/* Call before any node is set: allocates the indices of revisions. -ENOMEM. */
int revisions_begin(struct dagpatch_recording *recording);

/* The parameters and relocations of NODE after all pending revisions; addresses in the image are
 * not written yet. */
struct patch_params revision_params(const struct dagpatch_recording *recording, uint32_t node);
struct relocation_list revision_relocations(const struct dagpatch_recording *recording,
					    uint32_t node);

/* Makes room for a revision of NODE with an image of SIZE bytes, and, for several revisions
 * together, for COUNT more relocations in the index. -ENOMEM: nothing has changed. */
int revision_reserve(struct dagpatch_recording *recording, uint32_t node, uint32_t size,
		     uint32_t relocation_count);
int revisions_reserve_index(struct dagpatch_recording *recording, uint32_t count);

/* Makes these parameters the pending revision of NODE, in place of an earlier one. RELOCATIONS
 * NULL: they stay as they are wanted now. Cannot fail; needs revision_reserve, and
 * revisions_reserve_index for relocations. */
void revision_add(struct dagpatch_recording *recording, uint32_t node,
		  const struct patch_params *params, uint32_t detail,
		  const struct relocation_list *relocations);

/* Adds launch attributes to the pending revision. Call after revision_reserve, attributes_reserve
 * and revision_add. */
void revision_give(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *attributes);

/* Exchanges the pending revisions with the nodes' images and with the index, and writes the wanted
 * addresses; and back. Cannot fail. */
void revisions_put(struct dagpatch_recording *recording);
void revisions_take_back(struct dagpatch_recording *recording);

/* While revisions are put in: returns a node whose new parameters need a new graph, or
 * DAGPATCH_NONE. */
uint32_t revisions_refitted(const struct dagpatch_recording *recording);

/* Ends all pending revisions. If they are put in, they have been applied; otherwise they are
 * discarded. */
void revisions_clear(struct dagpatch_recording *recording);
/* Does not destroy the scratch recording. */
void revisions_release(struct dagpatch_recording *recording);

/* Heap memory of the revisions, without the images and the scratch recording. */
uint64_t revisions_bytes(const struct dagpatch_recording *recording);

#endif
