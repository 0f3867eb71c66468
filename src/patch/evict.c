/* Eviction of executable graphs, which the next launch builds again: of the recording that the
 * caller names, or of the least recently launched one when there is no memory. */
#include <errno.h>

#include "patch/context.h"
#include "patch/errors.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/retire.h"

static struct built drop(struct dagpatch_recording *recording)
{
	struct built built = recording->built;

	recording->built = (struct built){0};
	recording->is_evicted = true;
	atomic_store_explicit(&recording->is_built, false, memory_order_relaxed);
	atomic_store_explicit(&recording->is_handed_out, false, memory_order_relaxed);
	atomic_fetch_add_explicit(&recording->evictions, 1, memory_order_relaxed);
	return built;
}

int dagpatch_evict(struct dagpatch_recording *recording)
{
	struct built built;
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = recording_expect(recording, DAGPATCH_READY, "dagpatch_evict");
	if (err == 0 && recording->foreign_exec)
		err = recording_fail(recording, -ENOTSUP,
				     "an adopted executable graph is the caller's: it stays");
	if (err == 0 && recording->built.exec) {
		built = drop(recording);
		retire_built(recording, &built);
	}
	recording_leave(recording);
	if (err == 0)
		reap(recording->context);
	return err;
}

/* ---- eviction for want of memory ---- */

/* Call with the context's lock. Returns the recording that was used least recently and not before
 * BEYOND (0: any time), or NULL. */
static struct dagpatch_recording *find_victim(struct dagpatch_context *context,
					      const struct dagpatch_recording *needy,
					      uint64_t beyond)
{
	struct dagpatch_recording *found = NULL;
	uint64_t least = UINT64_MAX;

	for (struct dagpatch_recording *at = context->recordings; at; at = at->next) {
		uint64_t launched = atomic_load_explicit(&at->launched, memory_order_relaxed);

		if (at == needy || launched < beyond || launched >= least ||
		    !atomic_load_explicit(&at->is_built, memory_order_relaxed) ||
		    atomic_load_explicit(&at->is_handed_out, memory_order_relaxed))
			continue;
		found = at;
		least = launched;
	}
	return found;
}

/* Takes the executable graph of a recording that no call owns and whose ranks do not vote:
 * otherwise the other ranks would have to build their graphs again, too. */
static struct built take_from_victim(struct dagpatch_recording *needy)
{
	struct dagpatch_context *context = needy->context;
	struct dagpatch_recording *victim;
	struct built built = {0};
	uint64_t beyond = 0;

	pthread_mutex_lock(&context->lock);
	while (!built.exec && (victim = find_victim(context, needy, beyond))) {
		uint32_t owner = OWNER_NONE;

		beyond = atomic_load_explicit(&victim->launched, memory_order_relaxed) + 1;
		if (!atomic_compare_exchange_strong_explicit(&victim->owner, &owner, OWNER_EVICTION,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		if (victim->built.exec && !victim->is_handed_out && !victim->voter) {
			built = drop(victim);
			victim->launches = (struct launches){0};
		}
		recording_disown(victim);
	}
	pthread_mutex_unlock(&context->lock);
	return built;
}

bool evict_for_memory(struct dagpatch_recording *needy)
{
	struct dagpatch_context *context = needy->context;
	struct built built = take_from_victim(needy);
	bool has_retired;

	pthread_mutex_lock(&context->lock);
	has_retired = context->retired != NULL;
	pthread_mutex_unlock(&context->lock);
	if (!built.exec && !has_retired)
		return false;
	/* Replays in flight hold memory until they are done. */
	context->device->driver->wait_all(context->device);
	built_release(context->device, &built);
	reap_all(context);
	return true;
}
