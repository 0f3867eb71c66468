/* Addresses of slots in the images of nodes (images.c). */
#ifndef DAGPATCH_PATCH_IMAGES_H
#define DAGPATCH_PATCH_IMAGES_H

#include "patch/recording.h"
#include "patch/slot_add.h"

/* The address that the graph has for SLOT: its shadow's, otherwise addresses[SLOT]. */
static inline uint64_t slot_address(const struct dagpatch_recording *recording,
				    const uint64_t *addresses, uint32_t slot)
{
	return recording->shadow_count && recording->slots[slot].shadow
		       ? (uintptr_t)recording->slots[slot].shadow
		       : addresses[slot];
}

/* Writes these addresses of the slots into the images of all nodes. Slots with a shadow have the
 * shadow's address instead. */
void images_write(struct dagpatch_recording *recording, const uint64_t *addresses);

/* Sorts the relocations of each slot so that those that the host sets come first, and fills
 * host_end. */
void split_relocations(struct dagpatch_recording *recording);

#endif
