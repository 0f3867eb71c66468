/* The index of a recording's relocations by slot (recording.relocations), and, from the first
 * revision on, by node (revisions.by_node). A second index beside it, the spare one, is exchanged
 * with it when revisions change relocations, and back when they are taken back.
 *
 * Only revise.c and set.c use it. */
#ifndef DAGPATCH_PATCH_RELOCATION_INDEX_H
#define DAGPATCH_PATCH_RELOCATION_INDEX_H

#include "patch/node.h"

struct spare_index;

/* For qsort of struct loose_relocation: by node, then byte. */
int relocation_compare(const void *left, const void *right);

/* Returns the number of relocations in the index. */
uint32_t relocation_index_total(const struct dagpatch_recording *recording);

/* Fills revisions.by_node, which has room for all relocations, from the index by slot. */
void relocation_index_fill(struct dagpatch_recording *recording);

/* Returns the relocations of NODE that are in the index now. */
struct relocation_list relocation_index_find(const struct dagpatch_recording *recording,
					     uint32_t node);

/* Makes room for COUNT relocations in SPARE. 0 or -ENOMEM. */
int relocation_index_grow(struct spare_index *spare, uint64_t count);

/* Sorts the COUNT relocations in SPARE's by_node, which are in any order, and makes its index by
 * slot of them, within a slot in ascending order of node. */
void relocation_index_sort(struct spare_index *spare, uint32_t count, uint32_t slot_count);

/* Exchanges the index of RECORDING with its spare one. Cannot fail. */
void relocation_index_exchange(struct dagpatch_recording *recording);

#endif
