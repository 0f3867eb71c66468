/* The index of a recording's relocations: by slot, for binding, and by node, for changing a node's
 * relocations (relocation_index.h). */
#include "patch/relocation_index.h"

#include <stdlib.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/images.h"
#include "patch/node.h"
#include "patch/recording.h"

int relocation_compare(const void *left, const void *right)
{
	const struct loose_relocation *a = left, *b = right;

	if (a->node != b->node)
		return (a->node > b->node) - (a->node < b->node);
	return (a->byte > b->byte) - (a->byte < b->byte);
}

uint32_t relocation_index_total(const struct dagpatch_recording *recording)
{
	return recording->first_relocation[recording->slot_count];
}

void relocation_index_fill(struct dagpatch_recording *recording)
{
	struct loose_relocation *by_node = recording->revisions.by_node;
	uint32_t total = relocation_index_total(recording);

	for (uint32_t slot = 0; slot < recording->slot_count; slot++) {
		for (uint32_t i = recording->first_relocation[slot];
		     i < recording->first_relocation[slot + 1]; i++) {
			const struct relocation *relocation = &recording->relocations[i];

			by_node[i] = (struct loose_relocation){relocation->node, relocation->byte,
							       slot, relocation->offset};
		}
	}
	if (total > 0)
		qsort(by_node, total, sizeof(*by_node), relocation_compare);
}

/* Returns the first entry of NODE or of a later node. */
static uint32_t find_by_node(const struct dagpatch_recording *recording, uint32_t node)
{
	uint32_t low = 0, high = relocation_index_total(recording);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (recording->revisions.by_node[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct relocation_list relocation_index_find(const struct dagpatch_recording *recording,
					     uint32_t node)
{
	uint32_t begin = find_by_node(recording, node);

	return (struct relocation_list){recording->revisions.by_node + begin,
					find_by_node(recording, node + 1) - begin};
}

/* CAPACITY is that of the shorter array: it changes only when both have grown. */
int relocation_index_grow(struct spare_index *spare, uint64_t count)
{
	uint32_t relocations = spare->capacity, by_node = spare->capacity;
	int err = recording_grow(&spare->relocations, &relocations, count,
				 sizeof(*spare->relocations));

	if (err == 0)
		err = recording_grow(&spare->by_node, &by_node, count, sizeof(*spare->by_node));
	if (err == 0)
		spare->capacity = by_node;
	return err;
}

void relocation_index_sort(struct spare_index *spare, uint32_t count, uint32_t slot_count)
{
	if (count > 0)
		qsort(spare->by_node, count, sizeof(*spare->by_node), relocation_compare);
	memset(spare->first, 0, ((size_t)slot_count + 1) * sizeof(*spare->first));
	for (uint32_t i = 0; i < count; i++)
		spare->first[spare->by_node[i].slot + 1]++;
	for (uint32_t slot = 0; slot < slot_count; slot++)
		spare->first[slot + 1] += spare->first[slot];
	for (uint32_t i = 0; i < count; i++) {
		const struct loose_relocation *loose = &spare->by_node[i];

		spare->relocations[spare->first[loose->slot]++] =
			(struct relocation){loose->node, loose->byte, loose->offset};
	}
	/* Each slot's beginning has become its end: move all of them up by one. */
	for (uint32_t slot = slot_count; slot > 0; slot--)
		spare->first[slot] = spare->first[slot - 1];
	spare->first[0] = 0;
}

void relocation_index_exchange(struct dagpatch_recording *recording)
{
	struct revisions *revisions = &recording->revisions;
	struct spare_index old = {recording->relocations, revisions->by_node,
				  recording->first_relocation, revisions->index_capacity};

	recording->relocations = revisions->spare.relocations;
	recording->first_relocation = revisions->spare.first;
	revisions->by_node = revisions->spare.by_node;
	revisions->index_capacity = revisions->spare.capacity;
	revisions->spare = old;
	split_relocations(recording);
}
