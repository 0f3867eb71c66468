/* Ownership of recordings (ownership.c): every call of a recording begins with one of these. */
#ifndef DAGPATCH_PATCH_OWNERSHIP_H
#define DAGPATCH_PATCH_OWNERSHIP_H

#include <errno.h>

#include "patch/context.h"
#include "patch/recording.h"

/* recording_take makes the calling thread the owner. False: a call owns the recording. Waits while
 * another thread evicts. recording_take_later is what it does if recording_take_now fails. */
bool recording_take_later(struct dagpatch_recording *recording);
static inline bool recording_take_now(struct dagpatch_recording *recording)
{
	uint32_t owner = OWNER_NONE;

	return atomic_compare_exchange_strong_explicit(&recording->owner, &owner, OWNER_CALL,
						       memory_order_acquire, memory_order_relaxed);
}

static inline bool recording_take(struct dagpatch_recording *recording)
{
	return recording_take_now(recording) || recording_take_later(recording);
}

/* The calling thread owns the recording until recording_disown. -EINVAL: NULL. -EBUSY: a call of
 * this recording is in progress, as in a callback. Waits while another thread evicts. Leaves the
 * recording's error alone. The acquire pairs with the release in recording_disown. */
static inline int recording_own(struct dagpatch_recording *recording)
{
	if (!recording)
		return -EINVAL;
	return recording_take(recording) ? 0 : -EBUSY;
}

static inline void recording_disown(struct dagpatch_recording *recording)
{
	atomic_store_explicit(&recording->owner, OWNER_NONE, memory_order_release);
}

/* Fills the recording's error: the device could not be made current. Returns ERR. */
int recording_cannot_visit(struct dagpatch_recording *recording, int err);

/* Makes the device the thread's current one (device_enter). If that fails, the recording's error
 * says so. */
static inline int recording_visit(struct dagpatch_recording *recording)
{
	int err = device_enter(recording->device, &recording->visit);

	recording->is_inside = err == 0;
	return err < 0 ? recording_cannot_visit(recording, err) : 0;
}

/* Begins a call that reaches the driver: recording_own, then recording_visit; if that fails, the
 * recording is disowned. recording_leave ends both. */
int recording_enter(struct dagpatch_recording *recording);
static inline void recording_leave(struct dagpatch_recording *recording)
{
	recording->is_inside = false;
	device_leave(&recording->visit);
	recording_disown(recording);
}

/* Begins a call that neither changes what is built nor reaches the driver nor runs callbacks:
 * there is nothing to end. Fails as recording_own. */
static inline int recording_check(const struct dagpatch_recording *recording)
{
	if (!recording)
		return -EINVAL;
	return atomic_load_explicit(&recording->owner, memory_order_acquire) == OWNER_CALL ? -EBUSY
											   : 0;
}

/* Makes the recording the most recently used one. */
static inline void recording_note_use(struct dagpatch_recording *recording)
{
	uint64_t launched =
		atomic_fetch_add_explicit(&recording->context->launches, 1, memory_order_relaxed);

	atomic_store_explicit(&recording->launched, launched + 1, memory_order_relaxed);
}

/* Begins reading what is built; works in callbacks, too. Pass the result to recording_look_away. */
bool recording_look(const struct dagpatch_recording *recording);
void recording_look_away(const struct dagpatch_recording *recording, bool looked);

/* Protects what is built now from eviction for want of memory. */
void recording_stays(const struct dagpatch_recording *recording);

#endif
