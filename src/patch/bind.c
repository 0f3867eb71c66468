/* What the caller wants from the next launch on: addresses of slots, and values that are no address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/recording.h"

static int check_takes_addresses(struct dagpatch_recording *recording)
{
	if (recording->wanted)
		return 0;
	return recording_fail(recording, -EINVAL,
			      "dagpatch_bind: the recording is not finalized, or nested");
}

static bool is_good(const struct dagpatch_recording *recording, uint32_t slot, uint64_t address)
{
	return slot < recording->slot_count && address != 0 &&
	       address <= UINT64_MAX - recording->slots[slot].bytes &&
	       !(address & (recording->slots[slot].alignment - 1));
}

/* Why it is not good; these are kept out of the way that good ones take. */
__attribute__((cold)) static int refuse_binding(struct dagpatch_recording *recording, uint32_t slot,
						uint64_t address)
{
	char text[96];

	if (slot >= recording->slot_count)
		return recording_fail(recording, -EINVAL, "dagpatch_bind: there is no slot %u",
				      slot);
	if (address == 0)
		return recording_fail(recording, -EINVAL, "dagpatch_bind: %s at NULL",
				      slot_text(recording, slot, text));
	if (address > UINT64_MAX - recording->slots[slot].bytes)
		return recording_fail(recording, -EINVAL,
				      "dagpatch_bind: %s at 0x%llx would end beyond all memory",
				      slot_text(recording, slot, text),
				      (unsigned long long)address);
	return recording_fail(recording, -EINVAL,
			      "dagpatch_bind: %s at 0x%llx, which is not aligned to %llu bytes",
			      slot_text(recording, slot, text), (unsigned long long)address,
			      (unsigned long long)recording->slots[slot].alignment);
}

__attribute__((cold)) static int refuse_bytes(struct dagpatch_recording *recording, uint32_t slot,
					      uint64_t bytes)
{
	char text[96];

	return recording_fail(
		recording, -EINVAL, "dagpatch_bind: %s needs %llu bytes, %llu are there",
		slot_text(recording, slot, text), (unsigned long long)recording->slots[slot].bytes,
		(unsigned long long)bytes);
}

static void want(struct dagpatch_recording *recording, uint32_t slot, uint64_t address)
{
	recording->wanted[slot] = address;
	if (recording->is_changed[slot])
		return;
	recording->is_changed[slot] = 1;
	recording->changed[recording->changed_count++] = slot;
}

int dagpatch_bind(struct dagpatch_recording *recording, uint32_t slot, const void *address,
		  uint64_t bytes)
{
	uint64_t value = (uintptr_t)address;
	int rc = recording_check(recording);

	if (rc == 0)
		rc = check_takes_addresses(recording);
	if (rc == 0 && !is_good(recording, slot, value))
		rc = refuse_binding(recording, slot, value);
	if (rc == 0 && bytes < recording->slots[slot].bytes)
		rc = refuse_bytes(recording, slot, bytes);
	if (rc < 0)
		return rc;
	if (recording->wanted[slot] != value)
		want(recording, slot, value);
	return 0;
}

int dagpatch_bind_all(struct dagpatch_recording *recording, const void *const *addresses,
		      uint32_t count)
{
	int rc = recording_check(recording);

	if (rc < 0)
		return rc;
	if (!addresses && count > 0)
		return recording_fail(recording, -EINVAL, "no addresses");
	if (count != recording->slot_count)
		return recording_fail(recording, -EINVAL, "%u addresses for %u slots", count,
				      recording->slot_count);
	_Static_assert(sizeof(*addresses) == sizeof(*recording->wanted), "compared as bytes");
	if (recording->wanted && count > 0 &&
	    memcmp(recording->wanted, addresses, count * sizeof(*addresses)) == 0 &&
	    (recording->is_bound || recording->foreign_exec))
		return 0;
	rc = check_takes_addresses(recording);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		if (!is_good(recording, i, (uintptr_t)addresses[i]))
			rc = refuse_binding(recording, i, (uintptr_t)addresses[i]);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < count; i++)
		if (recording->wanted[i] != (uintptr_t)addresses[i])
			want(recording, i, (uintptr_t)addresses[i]);
	return 0;
}

void edits_clear(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->edit_count; i++)
		free(recording->edits[i].bytes);
	recording->edit_count = 0;
}

void changes_clear(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->changed_count; i++)
		recording->is_changed[recording->changed[i]] = 0;
	recording->changed_count = 0;
}

int dagpatch_revert(struct dagpatch_recording *recording)
{
	int rc = recording_check(recording);

	if (rc < 0)
		return rc;
	if (!recording->wanted)
		return recording_fail(recording, -EINVAL,
				      "dagpatch_revert: the recording is not finalized, or nested");
	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		recording->wanted[slot] = recording->applied[slot];
	}
	changes_clear(recording);
	edits_clear(recording);
	return 0;
}

/* ---- values ---- */

/* In the order in which they were given, or back. */
static void edit_swap(struct dagpatch_recording *recording, struct edit *edit)
{
	uint8_t *image = (uint8_t *)node_image(recording, edit->node) + edit->byte;

	for (uint32_t i = 0; i < edit->size; i++) {
		uint8_t byte = image[i];

		image[i] = edit->bytes[i];
		edit->bytes[i] = byte;
	}
}

void edits_put(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->edit_count; i++)
		edit_swap(recording, &recording->edits[i]);
}

void edits_take_back(struct dagpatch_recording *recording)
{
	for (uint32_t i = recording->edit_count; i-- > 0;)
		edit_swap(recording, &recording->edits[i]);
}

static int append_edit(struct dagpatch_recording *recording, const struct edit *edit,
		       const uint8_t *bytes)
{
	struct edit made = *edit;
	int rc = recording_grow(&recording->edits, &recording->edit_capacity,
				(uint64_t)recording->edit_count + 1, sizeof(*recording->edits));

	made.bytes = rc == 0 ? malloc(edit->size) : NULL;
	if (!made.bytes)
		return recording_fail(recording, -ENOMEM, "no memory for a value");
	memcpy(made.bytes, bytes, edit->size);
	recording->edits[recording->edit_count++] = made;
	recording->nodes[edit->node].flags |= NODE_MOVES | NODE_EDITED;
	return 0;
}

/* The first byte of an address of NODE at FROM or after it, or END. */
static uint32_t next_address(const struct dagpatch_recording *recording, uint32_t node,
			     uint32_t from, uint32_t end)
{
	uint32_t total = recording->first_relocation[recording->slot_count];

	for (uint32_t i = 0; i < total; i++) {
		const struct relocation *relocation = &recording->relocations[i];

		if (relocation->node == node && relocation->byte < end &&
		    relocation->byte + 8 > from)
			end = relocation->byte > from ? relocation->byte : from;
	}
	return end;
}

/* SIZE bytes of the image at BYTE, around the addresses. */
static int edit_around(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		       const uint8_t *bytes, uint32_t size)
{
	uint32_t end = byte + size;
	uint32_t from = byte;

	while (from < end) {
		uint32_t stop = next_address(recording, node, from, end);
		int rc = 0;

		if (stop == from) {
			from++;
			continue;
		}
		rc = append_edit(recording,
				 &(struct edit){.node = node, .byte = from, .size = stop - from},
				 bytes + (from - byte));
		if (rc < 0)
			return rc;
		from = stop;
	}
	return 0;
}

static int check_edit(struct dagpatch_recording *recording, uint32_t node, enum patch_kind kind,
		      const char *what)
{
	int rc = recording_check(recording);

	if (rc < 0)
		return rc;
	rc = recording_expect(recording, DAGPATCH_READY, what);
	if (rc == 0 && (recording->flags & DAGPATCH_NESTED))
		rc = recording_fail(recording, -EINVAL, "%s: in the recording that nests this one",
				    what);
	if (rc == 0 && (node >= recording->node_count || recording->nodes[node].kind != kind))
		rc = recording_fail(recording, -EINVAL, "%s: node %u is another kind", what, node);
	return rc;
}

int dagpatch_set_argument(struct dagpatch_recording *recording, uint32_t node, uint32_t index,
			  const void *bytes, uint32_t size)
{
	const struct patch_layout *layout;
	uint32_t before;
	int rc = check_edit(recording, node, PATCH_KERNEL, "dagpatch_set_argument");

	if (rc < 0)
		return rc;
	before = recording->edit_count;
	layout = node_params(recording, node).layout;
	if (!bytes)
		return recording_fail(recording, -EINVAL, "dagpatch_set_argument: no bytes");
	if (!layout || index >= layout->count || layout->parameters[index].bytes != size)
		return recording_fail_at(recording, -EINVAL, node, DAGPATCH_NONE,
					 "it has no argument %u of %u bytes", index, size);
	rc = edit_around(recording, node,
			 (uint32_t)sizeof(struct patch_kernel) + layout->parameters[index].offset,
			 bytes, size);
	while (rc < 0 && recording->edit_count > before)
		free(recording->edits[--recording->edit_count].bytes);
	return rc;
}

int dagpatch_set_memset_value(struct dagpatch_recording *recording, uint32_t node, uint32_t value)
{
	const struct patch_memset *image;
	int rc = check_edit(recording, node, PATCH_MEMSET, "dagpatch_set_memset_value");

	if (rc < 0)
		return rc;
	image = node_image(recording, node);
	if (image->element_bytes < 4 && value >> (8 * image->element_bytes))
		return recording_fail_at(recording, -EINVAL, node, DAGPATCH_NONE,
					 "0x%x does not fit into %u bytes", value,
					 image->element_bytes);
	return append_edit(recording,
			   &(struct edit){.node = node,
					  .byte = offsetof(struct patch_memset, value),
					  .size = sizeof(value)},
			   (const uint8_t *)&value);
}
