/* dagpatch_finalize: sorts and indexes the relocations, and allocates what binding needs. */
#include <errno.h>
#include <stdlib.h>

#include "patch/cache.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/retire.h"
#include "patch/slot_add.h"
#include "patch/slots.h"

static int compare_loose(const void *left, const void *right)
{
	const struct loose_relocation *a = left, *b = right;

	if (a->slot != b->slot)
		return (a->slot > b->slot) - (a->slot < b->slot);
	if (a->node != b->node)
		return (a->node > b->node) - (a->node < b->node);
	return (a->byte > b->byte) - (a->byte < b->byte);
}

static void index_relocations(struct dagpatch_recording *recording)
{
	uint32_t slot = 0;

	if (recording->loose_count > 0)
		qsort(recording->loose, recording->loose_count, sizeof(*recording->loose),
		      compare_loose);
	for (uint32_t i = 0; i < recording->loose_count; i++) {
		const struct loose_relocation *loose = &recording->loose[i];

		while (slot <= loose->slot)
			recording->first_relocation[slot++] = i;
		recording->relocations[i] =
			(struct relocation){loose->node, loose->byte, loose->offset};
		recording->nodes[loose->node].flags |= NODE_MOVES;
	}
	while (slot <= recording->slot_count)
		recording->first_relocation[slot++] = recording->loose_count;
	free(recording->loose);
	recording->loose = NULL;
	recording->loose_count = recording->loose_capacity = 0;
	for (uint32_t i = 0; i < recording->slot_count; i++)
		recording->host_end[i] = recording->first_relocation[i + 1];
}

static int make_shadows(struct dagpatch_recording *recording)
{
	if (!recording->shadow_room)
		recording->shadow_room = retired_create();
	if (!recording->shadow_room)
		return recording_fail(recording, -ENOMEM, "no memory to finalize");
	for (uint32_t i = 0; i < recording->slot_count; i++) {
		struct slot *slot = &recording->slots[i];
		int err;

		if (!slot->flags || slot->shadow)
			continue;
		err = recording->device->driver->memory_alloc(recording->device, slot->bytes,
							      slot->on_host, &slot->shadow);
		if (err < 0)
			return recording_fail(recording, err, "no memory for a shadow");
		recording->shadow_count++;
	}
	return 0;
}

/* A recording has at most one cache that votes: with two, groups of ranks could decide
 * differently. */
static int choose_voter(struct dagpatch_recording *recording)
{
	recording->voter = NULL;
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		struct dagpatch_cache *cache = recording->recaptures[i].cache;

		if (!cache || !cache_votes(cache) || cache == recording->voter)
			continue;
		if (recording->voter)
			return recording_fail(recording, -EINVAL,
					      "two caches that vote: a recording's ranks agree "
					      "through one, whose vote asks all of them");
		recording->voter = cache;
		recording->votes_always = cache_votes_always(cache);
	}
	return 0;
}

/* An adopted graph has addresses, so its slots are bound to them. */
static void take_adopted(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; recording->adopted && i < recording->slot_count; i++)
		recording->wanted[i] = recording->applied[i] = recording->adopted[i];
}

void finalize_release(struct dagpatch_recording *recording)
{
	free(recording->relocations);
	free(recording->first_relocation);
	free(recording->host_end);
	free(recording->wanted);
	free(recording->applied);
	free(recording->changed);
	free(recording->is_changed);
	free(recording->table_slots);
	free(recording->table_addresses);
	free(recording->dirty);
	recording->relocations = NULL;
	recording->first_relocation = recording->host_end = recording->changed = NULL;
	recording->wanted = recording->applied = recording->table_addresses = NULL;
	recording->is_changed = NULL;
	recording->table_slots = recording->dirty = NULL;
}

static int prepare(struct dagpatch_recording *recording)
{
	size_t slots = (size_t)recording->slot_count + 1;
	int err = choose_voter(recording);

	if (err == 0)
		err = make_shadows(recording);
	if (err < 0)
		return err;
	recording->relocations =
		malloc(((size_t)recording->loose_count + 1) * sizeof(*recording->relocations));
	recording->first_relocation = malloc(slots * sizeof(*recording->first_relocation));
	recording->host_end = malloc(slots * sizeof(*recording->host_end));
	recording->wanted = calloc(slots, sizeof(*recording->wanted));
	recording->applied = calloc(slots, sizeof(*recording->applied));
	recording->changed = malloc(slots * sizeof(*recording->changed));
	recording->is_changed = calloc(slots, 1);
	recording->table_slots = malloc(slots * sizeof(*recording->table_slots));
	recording->table_addresses = malloc(slots * sizeof(*recording->table_addresses));
	recording->dirty = malloc(((size_t)recording->node_count + 1) * sizeof(*recording->dirty));
	if (!recording->relocations || !recording->first_relocation || !recording->host_end ||
	    !recording->wanted || !recording->applied || !recording->changed ||
	    !recording->is_changed || !recording->table_slots || !recording->table_addresses ||
	    !recording->dirty) {
		finalize_release(recording);
		return recording_fail(recording, -ENOMEM, "no memory to finalize");
	}
	index_relocations(recording);
	take_adopted(recording);
	return 0;
}

static int finalize_again(struct dagpatch_recording *recording)
{
	if (recording->foreign_exec)
		return recording_fail(recording, -ENOTSUP,
				      "an adopted executable graph that is lost stays lost");
	recording->is_built = false;
	recording->is_evicted = false;
	retire_built(recording, &recording->built);
	for (uint32_t i = 0; i < recording->node_count; i++)
		recording->nodes[i].handle = NULL;
	recording->state = DAGPATCH_READY;
	return 0;
}

static int finalize(struct dagpatch_recording *recording)
{
	int err = recording_expect(recording, DAGPATCH_CREATED, "dagpatch_finalize");

	if (err < 0)
		return err;
	if (!(recording->flags & DAGPATCH_NESTED)) {
		err = prepare(recording);
		if (err < 0)
			return err;
	}
	free(recording->accesses);
	recording->accesses = NULL;
	recording->access_count = recording->access_capacity = 0;
	recording->state = DAGPATCH_READY;
	return 0;
}

int dagpatch_finalize(struct dagpatch_recording *recording)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = recording->state == DAGPATCH_LOST ? finalize_again(recording) : finalize(recording);
	recording_leave(recording);
	return err;
}
