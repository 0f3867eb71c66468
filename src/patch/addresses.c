/* The two sets of addresses that work is captured at: checks whether the caller's addresses
 * distinguish the slots, and allocates scratch memory where the caller gives none. */
#include <errno.h>
#include <stdlib.h>

#include "patch/capture.h"
#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/recording.h"
#include "patch/slot_add.h"

/* ---- checks of the caller's addresses ---- */

/* The bytes of a slot in the first set, and how far it moved to the second set. */
struct range {
	uint64_t moved, begin, end;
	uint32_t slot;
};

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->moved != b->moved)
		return (a->moved > b->moved) - (a->moved < b->moved);
	return (a->begin > b->begin) - (a->begin < b->begin);
}

static int check_slot(struct dagpatch_recording *recording, uint32_t slot, void *first,
		      void *second)
{
	char text[96];

	if (!first || !second)
		return recording_fail(recording, -EINVAL, "%s has no address in set %d",
				      slot_text(recording, slot, text), first ? 2 : 1);
	if (first == second)
		return recording_fail(recording, -EINVAL,
				      "%s is at %p in both sets of addresses: nothing tells which "
				      "bytes are its address",
				      slot_text(recording, slot, text), first);
	return 0;
}

/* Slots that moved by different distances are distinguished by the distance, wherever they lie.
 * Only slots that moved alike must not overlap. */
static int check_overlaps(struct dagpatch_recording *recording, struct range *ranges,
			  uint32_t count)
{
	uint32_t furthest = 0; /* of the ranges that moved alike, the one that ends last */
	char text[96], other[96];

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (uint32_t i = 1; i < count; i++) {
		if (ranges[i].moved == ranges[furthest].moved &&
		    ranges[i].begin < ranges[furthest].end)
			return recording_fail(
				recording, -EINVAL,
				"%s overlaps %s and has moved by the same: nothing tells whose an "
				"address is",
				slot_text(recording, ranges[i].slot, text),
				slot_text(recording, ranges[furthest].slot, other));
		if (ranges[i].moved != ranges[furthest].moved ||
		    ranges[i].end > ranges[furthest].end)
			furthest = i;
	}
	return 0;
}

int addresses_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		    void *const *const addresses[2])
{
	struct range *ranges = malloc(((size_t)count + 1) * sizeof(*ranges));
	int err = ranges ? 0 : recording_fail(recording, -ENOMEM, "no memory for addresses");

	for (uint32_t i = 0; err == 0 && i < count; i++) {
		uint64_t begin = (uintptr_t)addresses[0][i];
		uint64_t bytes = recording->slots[slots[i]].bytes;

		err = check_slot(recording, slots[i], addresses[0][i], addresses[1][i]);
		ranges[i] = (struct range){
			.moved = (uintptr_t)addresses[1][i] - begin,
			.begin = begin,
			.end = bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes,
			.slot = slots[i],
		};
	}
	if (err == 0 && count > 0)
		err = check_overlaps(recording, ranges, count);
	free(ranges);
	return err;
}

/* ---- scratch memory ---- */

void scratch_release(struct dagpatch_recording *recording, struct scratch *scratch)
{
	for (uint32_t i = 0; i < 4; i++)
		if (scratch->blocks[i / 2][i % 2])
			recording->device->driver->memory_free(
				recording->device, scratch->blocks[i / 2][i % 2], i / 2);
	free(scratch->addresses[0]);
	free(scratch->addresses[1]);
}

/* The places of the slots, one after the other in a block for device memory and one for host
 * memory. */
struct places {
	uint64_t *offsets;
	uint64_t step;	 /* twice the largest alignment */
	uint64_t end[2]; /* by on_host: end of the block */
};

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & -alignment;
}

#define BYTES_MOST (UINT64_C(1) << 56)

/* Each slot is aligned to its own alignment and no better, and has a gap before it. */
static int choose_places(struct dagpatch_recording *recording, const uint32_t *slots,
			 uint32_t count, struct places *places)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct slot *slot = &recording->slots[slots[i]];
		uint64_t *end = &places->end[slot->on_host];

		if (slot->bytes > BYTES_MOST || slot->alignment > BYTES_MOST || *end > BYTES_MOST ||
		    places->step > BYTES_MOST / (count + 1))
			return recording_fail(recording, -ENOMEM,
					      "no scratch memory for a huge slot");
		places->offsets[i] = align_up(*end, 2 * slot->alignment) + slot->alignment;
		*end = places->offsets[i] + slot->bytes;
		if (2 * slot->alignment > places->step)
			places->step = 2 * slot->alignment;
	}
	return 0;
}

/* Allocates the blocks. In the second set, each slot is moved one step further than the slot
 * before it. */
static int make_blocks(struct dagpatch_recording *recording, const struct places *places,
		       uint32_t count, struct scratch *scratch)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t on_host = i / 2, set = i % 2;
		uint64_t bytes = places->end[on_host] + (2 + (uint64_t)set * count) * places->step;
		int err;

		if (places->end[on_host] == 0)
			continue;
		err = recording->device->driver->memory_alloc(recording->device, bytes, on_host,
							      &scratch->blocks[on_host][set]);
		if (err < 0)
			return recording_fail(recording, err,
					      "no scratch memory of %llu bytes to capture at: give "
					      "addresses of your own",
					      (unsigned long long)bytes);
	}
	return 0;
}

int scratch_make(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		 struct scratch *scratch)
{
	struct places places = {.offsets = calloc((size_t)count + 1, sizeof(*places.offsets))};
	int err;

	scratch->addresses[0] = calloc((size_t)count + 1, sizeof(void *));
	scratch->addresses[1] = calloc((size_t)count + 1, sizeof(void *));
	err = places.offsets && scratch->addresses[0] && scratch->addresses[1]
		      ? choose_places(recording, slots, count, &places)
		      : recording_fail(recording, -ENOMEM, "no memory for a capture");
	if (err == 0)
		err = make_blocks(recording, &places, count, scratch);
	for (uint32_t i = 0; err == 0 && i < 2 * count; i++) {
		uint32_t index = i / 2, set = i % 2;
		void *block = scratch->blocks[recording->slots[slots[index]].on_host][set];

		scratch->addresses[set][index] =
			(void *)(uintptr_t)(align_up((uintptr_t)block, places.step) +
					    places.offsets[index] +
					    (uint64_t)set * index * places.step);
	}
	free(places.offsets);
	return err;
}
