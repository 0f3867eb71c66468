/* What an apply must set: the nodes whose parameters have changed, and the slots of the table. */
#include <string.h>

#include "patch/apply.h"
#include "patch/node.h"
#include "patch/recapture.h"
#include "patch/recording.h"
#include "patch/revise.h"
#include "patch/slot_add.h"

/* The loops below copy fields into variables: the compiler must assume that a store into an image
 * or a node changes the recording, and would load the fields again for each node. */

static void mark_dirty(struct dagpatch_recording *recording, uint32_t node)
{
	if (recording->nodes[node].flags & NODE_DIRTY)
		return;
	recording->nodes[node].flags |= NODE_DIRTY;
	recording->dirty[recording->dirty_count++] = node;
}

void dirty_clear(struct dagpatch_recording *recording)
{
	struct node *nodes = recording->nodes;
	const uint32_t *dirty = recording->dirty, *end = dirty + recording->dirty_count;

	for (; dirty < end; dirty++)
		nodes[*dirty].flags &= (uint8_t)~NODE_DIRTY;
	recording->dirty_count = 0;
}

/* Of the nodes that are not in the table. */
static void gather_slot(struct dagpatch_recording *recording, uint32_t slot)
{
	const struct relocation *relocation =
		recording->relocations + recording->first_relocation[slot];
	const struct relocation *end = recording->relocations + recording->host_end[slot];
	uint64_t address = recording->wanted[slot];
	uint64_t *images = recording->images;
	struct node *nodes = recording->nodes;
	uint32_t *dirty = recording->dirty + recording->dirty_count;

	for (; relocation < end; relocation++) {
		struct node *node = &nodes[relocation->node];
		uint64_t value = address + relocation->offset;

		if (relocation->byte == RELOCATION_RECAPTURED)
			continue;
		memcpy((uint8_t *)(images + node->image) + relocation->byte, &value, sizeof(value));
		if (node->flags & NODE_DIRTY)
			continue;
		node->flags |= NODE_DIRTY;
		*dirty++ = relocation->node;
	}
	recording->dirty_count = (uint32_t)(dirty - recording->dirty);
}

void dirty_gather(struct dagpatch_recording *recording)
{
	const struct revisions *revisions = &recording->revisions;

	for (uint32_t i = 0; i < recording->changed_count; i++)
		if (!recording->slots[recording->changed[i]].flags)
			gather_slot(recording, recording->changed[i]);
	for (uint32_t i = 0; i < revisions->pending_count; i++) {
		uint32_t node = revisions->items[revisions->pending[i]].node;

		if (recording->nodes[node].image != DAGPATCH_NONE)
			mark_dirty(recording, node);
	}
	for (uint32_t i = 0; i < recording->recapture_count; i++)
		if (recording->recaptures[i].next)
			mark_dirty(recording, recording->recaptures[i].node);
}

uint32_t dirty_gather_table(struct dagpatch_recording *recording)
{
	uint32_t count = 0;

	if (!recording->built.table)
		return 0;
	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		if (recording->slots[slot].flags ||
		    recording->host_end[slot] == recording->first_relocation[slot + 1])
			continue;
		recording->table_slots[count] = slot;
		recording->table_addresses[count++] = recording->wanted[slot];
	}
	return count;
}
