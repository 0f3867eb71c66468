/* Ownership of recordings: which thread may use what is built. */
#include <errno.h>
#include <sched.h>

#include "patch/errors.h"
#include "patch/ownership.h"
#include "patch/recording.h"

/* An eviction holds the recording only while it moves a few words. */
bool recording_take_later(struct dagpatch_recording *recording)
{
	while (!recording_take_now(recording)) {
		uint32_t owner = atomic_load_explicit(&recording->owner, memory_order_acquire);

		if (owner == OWNER_CALL)
			return false;
		if (owner == OWNER_EVICTION)
			sched_yield();
	}
	return true;
}

int recording_cannot_visit(struct dagpatch_recording *recording, int err)
{
	return recording_fail(recording, err, "entering device %d", recording->device->ordinal);
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

/* A recording is never a const object, so the cast is valid. Functions that take it as const still
 * change its owner. */
static struct dagpatch_recording *mutable_of(const struct dagpatch_recording *recording)
{
	return (struct dagpatch_recording *)(uintptr_t)recording;
}

bool recording_look(const struct dagpatch_recording *recording)
{
	return recording_take(mutable_of(recording));
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
