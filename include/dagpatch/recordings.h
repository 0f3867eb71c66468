/* Recordings and their slots, the buffers that move.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_RECORDINGS_H
#define DAGPATCH_RECORDINGS_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/contexts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* State of a recording; see "States" in dagpatch.h. */
enum dagpatch_state {
	DAGPATCH_CREATED, /* takes slots and nodes */
	DAGPATCH_READY,	  /* finalized: takes addresses and launches */
	DAGPATCH_LOST,	  /* putting changes back failed: needs dagpatch_finalize */
};

/* Flags of dagpatch_recording_create. */
enum {
	/* A node waits for earlier nodes that touch the same bytes of a slot if one of the two
	 * writes them; explicit dependencies are added to these. Copies and memsets know what they
	 * read and write; kernels state it (struct dagpatch_pointer). Children, conditionals'
	 * bodies and captured work are assumed to write all bytes of their slots. Two slots are
	 * assumed to be different memory. */
	DAGPATCH_DERIVE_DEPENDENCIES = 1,
	/* The recording will be added to others, by dagpatch_add_child or as a body of a
	 * conditional. It has no executable graph of its own. */
	DAGPATCH_NESTED = 2,
};

/* A graph described against slots, the addresses bound to them, and the executable graph made of
 * it. See "States" and "Threading". */
struct dagpatch_recording;

/* Creates an empty recording of CONTEXT. FLAGS is a sum of DAGPATCH_DERIVE_DEPENDENCIES and
 * DAGPATCH_NESTED. The caller destroys *RET_RECORDING. Any thread. */
int dagpatch_recording_create(struct dagpatch_context *context, uint32_t flags,
			      struct dagpatch_recording **ret_recording);

/* Destroys a recording. Replays in flight continue: what they use (shadows, the table; on HIP the
 * executable graph) is freed later, by a call that creates, builds, evicts or destroys an object
 * of the context and finds the replays done. The same holds for a graph that is replaced,
 * finalized again or evicted. None of these calls waits for the replays, with the exceptions under
 * "Waiting".
 *
 * On HIP the library cannot know when replays are done if their stream may have been destroyed; it
 * learns this when the context next launches into that stream. When 65 executable graphs wait for
 * this, the device is synchronised, which ends captures in HIP 6 and newer, and all of these
 * graphs are freed. The driver's own call that frees memory may wait for the device. NULL is
 * allowed. In a callback of this recording the call does nothing. */
void dagpatch_recording_destroy(struct dagpatch_recording *recording);

/* Returns the recording's state; DAGPATCH_LOST for NULL. */
enum dagpatch_state dagpatch_recording_state(const struct dagpatch_recording *recording);

/* Returns the error of the last call on this recording that failed. The struct belongs to the
 * recording; its contents are valid until the next call on it. Never NULL. */
const struct dagpatch_error *dagpatch_recording_error(const struct dagpatch_recording *recording);

/* Flags of a slot. A slot with one of them has a *shadow*: a buffer with a fixed address that
 * dagpatch allocates in dagpatch_finalize. The graph uses the shadow's address; the contents are
 * copied in the launch's stream. Meant for small buffers. Nested recordings have no such slots. */
enum {
	/* before each launch, from the bound buffer to the shadow */
	DAGPATCH_SHADOW_IN = 1,
	/* after each launch, from the shadow to the bound buffer */
	DAGPATCH_SHADOW_OUT = 2,
};

/* A buffer whose address may change. */
struct dagpatch_slot {
	size_t size;	  /* sizeof(struct dagpatch_slot) */
	const char *name; /* copied; used in messages and dumps; may be NULL */
	uint64_t bytes;	  /* size of the buffer, at least 1 */
	/* required of every address that is bound to it, in bytes, a power of two; 0: 256 */
	uint64_t alignment;
	uint32_t flags; /* a sum of DAGPATCH_SHADOW_IN and DAGPATCH_SHADOW_OUT */
	int on_host;	/* not 0: pinned host memory */
};

/* Adds a slot to a recording in state CREATED, before dagpatch_adopt. *RET_SLOT is its number;
 * numbers count from 0 in the order of the calls. */
int dagpatch_slot_add(struct dagpatch_recording *recording, const struct dagpatch_slot *slot,
		      uint32_t *ret_slot);

#ifdef __cplusplus
}
#endif

#endif
