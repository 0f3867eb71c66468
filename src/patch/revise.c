/* Revisions: other parameters for nodes, from the next apply on, as dagpatch_set_... gave them
 * (set.c).
 *
 * A revision is a whole image beside the node's own image, with a layout and, if they have
 * changed, relocations. Putting revisions in exchanges the two; taking them back exchanges them
 * again. Neither can fail, because all memory is allocated when a revision is added. After an
 * apply the revision keeps the room of the old image for the next one, so a node that is set again
 * and again takes no more memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/images.h"
#include "patch/node.h"
#include "patch/node_attributes.h"
#include "patch/recording.h"
#include "patch/relocation_index.h"
#include "patch/revise.h"
#include "patch/work.h"

/* ---- what is wanted of a node ---- */

static struct revision *pending_revision(const struct dagpatch_recording *recording, uint32_t node)
{
	const struct revisions *revisions = &recording->revisions;
	struct revision *revision;

	if (!revisions->of_node || !revisions->of_node[node])
		return NULL;
	revision = &revisions->items[revisions->of_node[node] - 1];
	return revision->is_pending ? revision : NULL;
}

struct patch_params revision_params(const struct dagpatch_recording *recording, uint32_t node)
{
	const struct revision *revision = pending_revision(recording, node);

	return revision ? image_params(recording, recording->nodes[node].kind, revision->image,
				       revision->detail)
			: node_params(recording, node);
}

struct relocation_list revision_relocations(const struct dagpatch_recording *recording,
					    uint32_t node)
{
	const struct revision *revision = pending_revision(recording, node);

	if (revision && revision->moves)
		return (struct relocation_list){revision->relocations, revision->relocation_count};
	return relocation_index_find(recording, node);
}

/* ---- room ---- */

int revisions_begin(struct dagpatch_recording *recording)
{
	struct revisions *revisions = &recording->revisions;
	uint32_t total = relocation_index_total(recording);

	if (revisions->of_node)
		return 0;
	revisions->by_node = malloc(((size_t)total + 1) * sizeof(*revisions->by_node));
	revisions->of_node = calloc((size_t)recording->node_count + 1, sizeof(uint32_t));
	if (!revisions->by_node || !revisions->of_node) {
		free(revisions->by_node);
		free(revisions->of_node);
		revisions->by_node = NULL;
		revisions->of_node = NULL;
		return recording_fail(recording, -ENOMEM, "no memory for other parameters");
	}
	revisions->index_capacity = total + 1;
	relocation_index_fill(recording);
	return 0;
}

int revisions_reserve_index(struct dagpatch_recording *recording, uint32_t count)
{
	struct revisions *revisions = &recording->revisions;
	uint64_t total = (uint64_t)relocation_index_total(recording) + count + 1;
	int err;

	for (uint32_t i = 0; i < revisions->pending_count; i++)
		total += revisions->items[revisions->pending[i]].relocation_count;
	err = relocation_index_grow(&revisions->spare, total);
	if (err == 0 && !revisions->spare.first) {
		revisions->spare.first = malloc(((size_t)recording->slot_count + 1) *
						sizeof(*revisions->spare.first));
		err = revisions->spare.first ? 0 : -ENOMEM;
	}
	return err < 0 ? recording_fail(recording, err, "no memory for relocations") : 0;
}

/* Returns the revision of NODE; creates it if there is none. */
static int find_revision(struct dagpatch_recording *recording, uint32_t node,
			 struct revision **ret_revision)
{
	struct revisions *revisions = &recording->revisions;
	uint32_t pending = revisions->capacity, items = revisions->capacity;
	uint64_t count = (uint64_t)revisions->count + 1;
	bool has_image = recording->nodes[node].image != DAGPATCH_NONE;
	int err = 0;

	if (!revisions->of_node[node]) {
		err = recording_grow(&revisions->pending, &pending, count,
				     sizeof(*revisions->pending));
		if (err == 0)
			err = recording_grow(&revisions->items, &items, count,
					     sizeof(*revisions->items));
		if (err < 0)
			return err;
		revisions->capacity = items;
		revisions->items[revisions->count] = (struct revision){
			.node = node,
			.node_words = has_image ? (image_size(recording, node) + 7) / 8 : 0,
		};
		revisions->of_node[node] = ++revisions->count;
	}
	*ret_revision = &revisions->items[revisions->of_node[node] - 1];
	return 0;
}

/* Allocates a larger image for the revision, and copies the pending parameters to it. */
static int grow_image(struct dagpatch_recording *recording, struct revision *revision,
		      uint32_t words)
{
	int err = recording_grow(&recording->images, &recording->image_capacity,
				 (uint64_t)recording->image_words + words,
				 sizeof(*recording->images));

	if (err < 0)
		return err;
	if (revision->is_pending)
		memcpy(recording->images + recording->image_words,
		       recording->images + revision->image, revision->words * sizeof(uint64_t));
	revision->image = recording->image_words;
	revision->words = words;
	recording->image_words += words;
	return 0;
}

int revision_reserve(struct dagpatch_recording *recording, uint32_t node, uint32_t size,
		     uint32_t relocation_count)
{
	uint32_t words = (size + 7) / 8;
	struct revision *revision;
	int err = find_revision(recording, node, &revision);

	if (err == 0 && words > revision->words)
		err = grow_image(recording, revision, words);
	if (err == 0)
		err = recording_grow(&revision->relocations, &revision->relocation_capacity,
				     relocation_count, sizeof(*revision->relocations));
	return err < 0 ? recording_fail(recording, err, "no memory for other parameters") : 0;
}

/* ---- adding ---- */

/* Of captured work: releases the work that the revision holds and that is no longer wanted. */
static void release_superseded(struct dagpatch_recording *recording,
			       const struct revision *revision)
{
	if (recording->nodes[revision->node].flags & NODE_CAPTURED)
		placed_work_release(&recording->works[revision->detail]);
}

static bool is_indexed(const struct dagpatch_recording *recording, uint32_t node,
		       const struct relocation_list *wanted)
{
	struct relocation_list there = relocation_index_find(recording, node);

	if (there.count != wanted->count)
		return false;
	for (uint32_t i = 0; i < there.count; i++)
		if (there.items[i].byte != wanted->items[i].byte ||
		    there.items[i].slot != wanted->items[i].slot ||
		    there.items[i].offset != wanted->items[i].offset)
			return false;
	return true;
}

static void take_relocations(const struct dagpatch_recording *recording, struct revision *revision,
			     const struct relocation_list *wanted)
{
	revision->moves = !is_indexed(recording, revision->node, wanted);
	revision->relocation_count = revision->moves ? wanted->count : 0;
	for (uint32_t i = 0; i < revision->relocation_count; i++) {
		revision->relocations[i] = wanted->items[i];
		revision->relocations[i].node = revision->node;
	}
}

void revision_add(struct dagpatch_recording *recording, uint32_t node,
		  const struct patch_params *params, uint32_t detail,
		  const struct relocation_list *relocations)
{
	struct revisions *revisions = &recording->revisions;
	uint32_t index = revisions->of_node[node] - 1;
	struct revision *revision = &revisions->items[index];

	if (revision->is_pending) {
		release_superseded(recording, revision);
	} else {
		revision->is_pending = true;
		revision->moves = revision->gives = false;
		revision->relocation_count = 0;
		revisions->pending[revisions->pending_count++] = index;
	}
	if (params->size > 0)
		memmove(recording->images + revision->image, params->image, params->size);
	revision->detail = detail;
	if (relocations)
		take_relocations(recording, revision, relocations);
}

void revision_give(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *attributes)
{
	struct revision *revision = pending_revision(recording, node);

	if (!revision->gives)
		revision->attributes = *attributes_entry(recording, node);
	revision->gives = true;
	attributes_merge(&revision->attributes, attributes);
}

/* ---- the index of relocations ---- */

/* Collects the relocations of nodes that do not change them, and those that the revisions have, in
 * any order. */
static uint32_t gather_relocations(const struct dagpatch_recording *recording,
				   struct loose_relocation *ret_relocations)
{
	const struct revisions *revisions = &recording->revisions;
	uint32_t total = relocation_index_total(recording), count = 0;

	for (uint32_t i = 0; i < total; i++) {
		const struct revision *revision =
			pending_revision(recording, revisions->by_node[i].node);

		if (!revision || !revision->moves)
			ret_relocations[count++] = revisions->by_node[i];
	}
	for (uint32_t i = 0; i < revisions->pending_count; i++) {
		const struct revision *revision = &revisions->items[revisions->pending[i]];

		for (uint32_t j = 0; j < revision->relocation_count; j++)
			ret_relocations[count++] = revision->relocations[j];
	}
	return count;
}

static bool any_moves(const struct revisions *revisions)
{
	for (uint32_t i = 0; i < revisions->pending_count; i++)
		if (revisions->items[revisions->pending[i]].moves)
			return true;
	return false;
}

static void put_index(struct dagpatch_recording *recording)
{
	struct spare_index *spare = &recording->revisions.spare;
	uint32_t count;

	if (!any_moves(&recording->revisions))
		return;
	count = gather_relocations(recording, spare->by_node);
	relocation_index_sort(spare, count, recording->slot_count);
	relocation_index_exchange(recording);
}

/* ---- putting in and taking back ---- */

static void exchange(struct dagpatch_recording *recording, struct revision *revision)
{
	struct node *node = &recording->nodes[revision->node];
	uint32_t image = node->image, detail = node->detail, words = revision->node_words;

	if (image != DAGPATCH_NONE)
		node->image = revision->image;
	node->detail = revision->detail;
	revision->node_words = revision->words;
	revision->image = image;
	revision->detail = detail;
	revision->words = words;
	if (revision->gives) {
		struct dagpatch_attributes *entry = attributes_entry(recording, revision->node);
		struct dagpatch_attributes attributes = *entry;

		*entry = revision->attributes;
		revision->attributes = attributes;
		recording->has_priorities |= entry->priority != 0;
	}
}

static void write_addresses(struct dagpatch_recording *recording, uint32_t node)
{
	struct relocation_list list = relocation_index_find(recording, node);

	for (uint32_t i = 0; i < list.count; i++) {
		const struct loose_relocation *loose = &list.items[i];
		uint64_t address =
			slot_address(recording, recording->wanted, loose->slot) + loose->offset;

		memcpy((uint8_t *)node_image(recording, node) + loose->byte, &address,
		       sizeof(address));
	}
}

void revisions_put(struct dagpatch_recording *recording)
{
	struct revisions *revisions = &recording->revisions;

	if (revisions->pending_count == 0)
		return;
	put_index(recording);
	for (uint32_t i = 0; i < revisions->pending_count; i++) {
		struct revision *revision = &revisions->items[revisions->pending[i]];

		exchange(recording, revision);
		recording->nodes[revision->node].flags |= NODE_MOVES | NODE_EDITED;
		write_addresses(recording, revision->node);
	}
}

void revisions_take_back(struct dagpatch_recording *recording)
{
	struct revisions *revisions = &recording->revisions;

	for (uint32_t i = 0; i < revisions->pending_count; i++)
		exchange(recording, &revisions->items[revisions->pending[i]]);
	if (any_moves(revisions))
		relocation_index_exchange(recording);
}

/* Call while the revision is put in. Returns whether it needs a new graph. */
static bool is_refitted(const struct dagpatch_recording *recording, const struct revision *revision)
{
	const struct node *node = &recording->nodes[revision->node];
	const struct patch_driver *driver = recording->device->driver;
	struct patch_params from =
		image_params(recording, node->kind, revision->image, revision->detail);
	struct patch_params to = node_params(recording, revision->node);

	if (revision->gives && memcmp(attributes_entry(recording, revision->node),
				      &revision->attributes, sizeof(revision->attributes)) != 0)
		return true;
	/* The table has the places of the node's old addresses. */
	if ((node->flags & NODE_IN_TABLE) && (revision->moves || from.layout != to.layout))
		return true;
	return from.image && driver->can_set && !driver->can_set(recording->device, &from, &to);
}

uint32_t revisions_refitted(const struct dagpatch_recording *recording)
{
	const struct revisions *revisions = &recording->revisions;

	for (uint32_t i = 0; i < revisions->pending_count; i++) {
		const struct revision *revision = &revisions->items[revisions->pending[i]];

		if (is_refitted(recording, revision))
			return revision->node;
	}
	return DAGPATCH_NONE;
}

/* ---- release ---- */

void revisions_clear(struct dagpatch_recording *recording)
{
	struct revisions *revisions = &recording->revisions;

	for (uint32_t i = 0; i < revisions->pending_count; i++) {
		struct revision *revision = &revisions->items[revisions->pending[i]];

		release_superseded(recording, revision);
		revision->is_pending = false;
	}
	revisions->pending_count = 0;
}

void revisions_release(struct dagpatch_recording *recording)
{
	struct revisions *revisions = &recording->revisions;

	for (uint32_t i = 0; i < revisions->count; i++)
		free(revisions->items[i].relocations);
	free(revisions->items);
	free(revisions->pending);
	free(revisions->of_node);
	free(revisions->by_node);
	free(revisions->spare.relocations);
	free(revisions->spare.by_node);
	free(revisions->spare.first);
	*revisions = (struct revisions){0};
}

uint64_t revisions_bytes(const struct dagpatch_recording *recording)
{
	const struct revisions *revisions = &recording->revisions;
	const struct spare_index *spare = &revisions->spare;
	uint64_t bytes = 0;

	if (!revisions->of_node)
		return 0;
	bytes += revisions->capacity * (sizeof(*revisions->items) + sizeof(*revisions->pending)) +
		 ((uint64_t)recording->node_count + 1) * sizeof(*revisions->of_node) +
		 revisions->index_capacity * sizeof(*revisions->by_node) +
		 spare->capacity * (sizeof(*spare->relocations) + sizeof(*spare->by_node));
	if (spare->first)
		bytes += ((uint64_t)recording->slot_count + 1) * sizeof(*spare->first);
	for (uint32_t i = 0; i < revisions->count; i++)
		bytes += revisions->items[i].relocation_capacity *
			 sizeof(*revisions->items[i].relocations);
	return bytes;
}
