/* The addresses that the caller wants from the next launch on (set.c: the parameters), and
 * dagpatch_revert. */
#include <errno.h>
#include <string.h>

#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/revise.h"
#include "patch/slot_add.h"
#include "patch/slots.h"

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

/* Says why a binding is refused. Separate and cold, to keep the code of good bindings small. */
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
	/* For the apply, which follows soon. */
	__builtin_prefetch(recording->relocations + recording->first_relocation[slot]);
	__builtin_prefetch(&recording->applied[slot]);
	recording->is_changed[slot] = 1;
	recording->changed[recording->changed_count++] = slot;
}

int dagpatch_bind(struct dagpatch_recording *recording, uint32_t slot, const void *address,
		  uint64_t bytes)
{
	uint64_t value = (uintptr_t)address;
	int err = recording_check(recording);

	if (err == 0)
		err = check_takes_addresses(recording);
	if (err == 0 && !is_good(recording, slot, value))
		err = refuse_binding(recording, slot, value);
	if (err == 0 && bytes < recording->slots[slot].bytes)
		err = refuse_bytes(recording, slot, bytes);
	if (err < 0)
		return err;
	if (recording->wanted[slot] != value)
		want(recording, slot, value);
	return 0;
}

int dagpatch_bind_all(struct dagpatch_recording *recording, const void *const *addresses,
		      uint32_t count)
{
	int err = recording_check(recording);

	if (err < 0)
		return err;
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
	err = check_takes_addresses(recording);
	for (uint32_t i = 0; err == 0 && i < count; i++)
		if (!is_good(recording, i, (uintptr_t)addresses[i]))
			err = refuse_binding(recording, i, (uintptr_t)addresses[i]);
	if (err < 0)
		return err;
	for (uint32_t i = 0; i < count; i++)
		if (recording->wanted[i] != (uintptr_t)addresses[i])
			want(recording, i, (uintptr_t)addresses[i]);
	return 0;
}

void changes_clear(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->changed_count; i++)
		recording->is_changed[recording->changed[i]] = 0;
	recording->changed_count = 0;
}

int dagpatch_revert(struct dagpatch_recording *recording)
{
	bool has_revisions;
	int err = recording_check(recording);

	if (err < 0)
		return err;
	if (!recording->wanted)
		return recording_fail(recording, -EINVAL,
				      "dagpatch_revert: the recording is not finalized, or nested");
	has_revisions = recording->revisions.pending_count > 0;
	err = has_revisions ? recording_enter(recording) : 0;
	if (err < 0)
		return err;
	for (uint32_t i = 0; i < recording->changed_count; i++) {
		uint32_t slot = recording->changed[i];

		recording->wanted[slot] = recording->applied[slot];
	}
	changes_clear(recording);
	/* Revisions may own captured work, whose graph is the driver's. */
	if (has_revisions) {
		revisions_clear(recording);
		recording_leave(recording);
	}
	return 0;
}
