/* Slots of a recording: adds them, and checks the slots that callers name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/slot_add.h"

enum { DEFAULT_ALIGNMENT = 256 };

static int check_slot(struct dagpatch_recording *recording, const struct dagpatch_slot *slot)
{
	if (slot->bytes == 0)
		return recording_fail(recording, -EINVAL, "a slot of 0 bytes");
	if (slot->alignment & (slot->alignment - 1))
		return recording_fail(recording, -EINVAL, "a slot's alignment is no power of two");
	if (slot->flags & ~(uint32_t)(DAGPATCH_SHADOW_IN | DAGPATCH_SHADOW_OUT))
		return recording_fail(recording, -EINVAL, "unknown flags of a slot");
	if (slot->flags && (recording->flags & DAGPATCH_NESTED))
		return recording_fail(recording, -EINVAL, "a nested recording has no shadows");
	return 0;
}

int dagpatch_slot_add(struct dagpatch_recording *recording, const struct dagpatch_slot *given,
		      uint32_t *ret_slot)
{
	struct dagpatch_slot slot;
	char *name = NULL;
	int err = recording_check(recording);

	if (err < 0)
		return err;
	err = recording_expect(recording, DAGPATCH_CREATED, "dagpatch_slot_add");
	if (err == 0 && !ret_slot)
		err = recording_fail(recording, -EINVAL, "no place for the slot's number");
	if (err == 0 && recording->is_adopted)
		err = recording_fail(recording, -EINVAL, "slots come before dagpatch_adopt");
	if (err == 0)
		err = recording_read(recording, &slot, sizeof(slot), given, "slot");
	if (err == 0)
		err = check_slot(recording, &slot);
	if (err < 0)
		return err;
	err = recording_grow(&recording->slots, &recording->slot_capacity,
			     (uint64_t)recording->slot_count + 1, sizeof(*recording->slots));
	if (err == 0 && slot.name) {
		name = strdup(slot.name);
		err = name ? 0 : -ENOMEM;
	}
	if (err < 0)
		return recording_fail(recording, err, "no memory for a slot");
	recording->slots[recording->slot_count] = (struct slot){
		.name = name,
		.bytes = slot.bytes,
		.alignment = slot.alignment ? slot.alignment : DEFAULT_ALIGNMENT,
		.flags = slot.flags,
		.on_host = slot.on_host != 0,
	};
	*ret_slot = recording->slot_count++;
	return 0;
}

int slot_check(struct dagpatch_recording *recording, uint32_t slot, uint64_t offset, uint64_t bytes,
	       const char *what)
{
	char text[96];

	if (slot >= recording->slot_count)
		return recording_fail(recording, -EINVAL, "%s: there is no slot %u", what, slot);
	if (offset > recording->slots[slot].bytes || bytes > recording->slots[slot].bytes - offset)
		return recording_fail(recording, -EINVAL,
				      "%s: %llu bytes at %llu are not inside %s of %llu", what,
				      (unsigned long long)bytes, (unsigned long long)offset,
				      slot_text(recording, slot, text),
				      (unsigned long long)recording->slots[slot].bytes);
	return 0;
}

int slots_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		const char *what)
{
	for (uint32_t i = 0; i < count; i++) {
		int err = slot_check(recording, slots[i], 0, 0, what);

		if (err < 0)
			return err;
		for (uint32_t j = 0; j < i; j++)
			if (slots[j] == slots[i])
				return recording_fail(recording, -EINVAL, "slot %u twice in %s",
						      slots[i], what);
	}
	return 0;
}

int slots_copy(const uint32_t *slots, uint32_t count, uint32_t **ret_slots, uint64_t **ret_offsets)
{
	uint32_t *copy = malloc(((size_t)count + 1) * sizeof(*copy));
	uint64_t *offsets = calloc((size_t)count + 1, sizeof(*offsets));

	if (!copy || !offsets) {
		free(copy);
		free(offsets);
		return -ENOMEM;
	}
	if (count > 0)
		memcpy(copy, slots, count * sizeof(*copy));
	*ret_slots = copy;
	*ret_offsets = offsets;
	return 0;
}
