/* Ownership of recordings: which thread may use what is built. */
#include <errno.h>
#include <sched.h>

#include "patch/errors.h"
#include "patch/ownership.h"
#include "patch/recording.h"

/* False: a call owns the recording. An eviction holds it only while it moves a few words, so this
 * function waits for it. */
static bool take(struct dagpatch_recording *recording)
{
	uint32_t owner = OWNER_NONE;

	while (!atomic_compare_exchange_weak_explicit(&recording->owner, &owner, OWNER_CALL,
						      memory_order_acquire, memory_order_acquire)) {
		if (owner == OWNER_CALL)
			return false;
		if (owner == OWNER_EVICTION)
			sched_yield();
		owner = OWNER_NONE;
	}
	return true;
}

int recording_own(struct dagpatch_recording *recording)
{
	if (!recording)
		return -EINVAL;
	return take(recording) ? 0 : -EBUSY;
}

int recording_visit(struct dagpatch_recording *recording)
{
	int err = device_enter(recording->device, &recording->visit);

	recording->is_inside = err == 0;
	return err < 0 ? recording_fail(recording, err, "entering device %d",
					recording->device->ordinal)
		       : 0;
}

int recording_enter(struct dagpatch_recording *recording)
{
	int err = recording_own(recording);

	if (err < 0)
		return err;
	err = recording_visit(recording);
	if (err < 0)
		recording_disown(recording);
	return err;
}

void recording_leave(struct dagpatch_recording *recording)
{
	recording->is_inside = false;
	device_leave(&recording->visit);
	recording_disown(recording);
}

/* A recording is never a const object, so the cast is valid. Functions that take it as const still
 * change its owner. */
static struct dagpatch_recording *mutable_of(const struct dagpatch_recording *recording)
{
	return (struct dagpatch_recording *)(uintptr_t)recording;
}

bool recording_look(const struct dagpatch_recording *recording)
{
	return take(mutable_of(recording));
}

void recording_look_away(const struct dagpatch_recording *recording, bool looked)
{
	if (looked)
		recording_disown(mutable_of(recording));
}

void recording_stays(const struct dagpatch_recording *recording)
{
	atomic_store_explicit(&mutable_of(recording)->is_handed_out, true, memory_order_relaxed);
}
