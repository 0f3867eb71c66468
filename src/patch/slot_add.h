/* Slots of a recording: adding and checking them (slot_add.c). */
#ifndef DAGPATCH_PATCH_SLOT_ADD_H
#define DAGPATCH_PATCH_SLOT_ADD_H

#include <stdbool.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* A slot; see struct dagpatch_slot. */
struct slot {
	char *name; /* by malloc; may be NULL */
	uint64_t bytes, alignment;
	uint32_t flags;
	bool on_host;
	void *shadow;	     /* buffer with the fixed address; NULL: none, or not finalized */
	uint64_t changed_in; /* change.number of the last change of its address */
};

/* -EINVAL unless SLOT exists and has BYTES bytes at OFFSET. WHAT begins the message. */
int slot_check(struct dagpatch_recording *recording, uint32_t slot, uint64_t offset, uint64_t bytes,
	       const char *what);

/* -EINVAL unless all of SLOTS exist and differ. WHAT names the caller in the message. */
int slots_check(struct dagpatch_recording *recording, const uint32_t *slots, uint32_t count,
		const char *what);

/* Copies SLOTS, and makes an offset of 0 for each, both by malloc. -ENOMEM, without filling the
 * error. */
int slots_copy(const uint32_t *slots, uint32_t count, uint32_t **ret_slots, uint64_t **ret_offsets);

#endif
