/* What is no longer a recording's, but replays in flight may still use: executable graphs where the
 * driver does not keep them, tables, shadows. It waits in a list of the context until those replays
 * are done, which is looked at when something else is built, retired or made. */
#include <stdlib.h>

#include "patch/recording.h"

/* So many wait together where nobody can tell when their replays are done. */
enum { UNMARKED_MOST = 8 };

struct retired {
	struct retired *next;
	struct built built;
	struct slot *slots; /* their shadows */
	uint32_t slot_count;
	struct driver_mark *mark; /* behind all launches; NULL: there is none */
	bool is_unmarked;	  /* only wait_all tells */
};

struct retired *retired_create(void)
{
	return calloc(1, sizeof(struct retired));
}

static bool is_done(struct patch_device *device, const struct retired *retired)
{
	if (retired->is_unmarked)
		return false;
	if (retired->mark && !device->driver->mark_is_done(device, retired->mark))
		return false;
	return !retired->built.table || device->driver->table_is_idle(device, retired->built.table);
}

static void slots_release(struct patch_device *device, struct slot *slots, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (slots[i].shadow)
			device->driver->memory_free(device, slots[i].shadow, slots[i].on_host);
		free(slots[i].name);
	}
	free(slots);
}

static void retired_release(struct patch_device *device, struct retired *retired)
{
	built_release(device, &retired->built);
	slots_release(device, retired->slots, retired->slot_count);
	if (retired->mark)
		device->driver->mark_destroy(device, retired->mark);
	free(retired);
}

static void release_list(struct patch_device *device, struct retired *list)
{
	while (list) {
		struct retired *next = list->next;

		retired_release(device, list);
		list = next;
	}
}

/* ---- the list ---- */

/* The driver is called without the lock, which launches of other recordings may need. */
static struct retired *take_all(struct dagpatch_context *context)
{
	struct retired *list;

	pthread_mutex_lock(&context->lock);
	list = context->retired;
	context->retired = NULL;
	context->retired_unmarked = 0;
	pthread_mutex_unlock(&context->lock);
	return list;
}

/* True: so many wait that they are to be waited for. */
static bool put(struct dagpatch_context *context, struct retired *retired)
{
	bool is_full;

	pthread_mutex_lock(&context->lock);
	retired->next = context->retired;
	context->retired = retired;
	context->retired_unmarked += retired->is_unmarked;
	is_full = context->retired_unmarked > UNMARKED_MOST;
	pthread_mutex_unlock(&context->lock);
	return is_full;
}

void reap(struct dagpatch_context *context)
{
	struct retired *list = take_all(context);
	struct device_visit visit;
	bool is_inside;

	if (!list)
		return;
	is_inside = device_enter(context->device, &visit) == 0;
	while (list) {
		struct retired *next = list->next;

		if (is_inside && is_done(context->device, list))
			retired_release(context->device, list);
		else
			put(context, list);
		list = next;
	}
	if (is_inside)
		device_leave(&visit);
	patch_fault_take();
}

void reap_all(struct dagpatch_context *context)
{
	struct retired *list = take_all(context);
	struct patch_device *device = context->device;
	struct device_visit visit;
	bool is_inside, waits = false;

	if (!list)
		return;
	/* What is the host's goes also when the device is no longer there. */
	is_inside = device_enter(device, &visit) == 0;
	for (const struct retired *at = list; at; at = at->next)
		waits |= at->is_unmarked;
	if (waits)
		device->driver->wait_all(device);
	for (const struct retired *at = list; at && !waits; at = at->next)
		if (at->mark)
			device->driver->mark_wait(device, at->mark);
	release_list(device, list);
	if (is_inside)
		device_leave(&visit);
}

static void retire(struct dagpatch_context *context, struct retired *retired)
{
	if (is_done(context->device, retired))
		retired_release(context->device, retired);
	else if (put(context, retired))
		reap_all(context);
}

/* ---- what is retired ---- */

/* The stream of a launch that is being made is there; of earlier launches nobody knows whether
 * their streams still are. */
static void mark_launches(struct dagpatch_recording *recording, struct retired *retired)
{
	const struct launches *launches = &recording->launches;
	struct patch_device *device = recording->device;

	retired->is_unmarked =
		!recording->launching || launches->in_many ||
		*recording->launching != launches->stream ||
		device->driver->mark_record(device, &retired->mark, launches->stream) < 0;
	if (retired->is_unmarked)
		patch_fault_take();
}

static bool keeps_exec(const struct patch_device *device, const struct built *built)
{
	return (device->capabilities & PATCH_KEEPS_EXECS) &&
	       !(built->table && (device->capabilities & PATCH_KEEPS_NO_TABLES));
}

/* BUILT becomes empty. What the driver keeps for replays in flight itself goes at once. */
static void move_built(struct patch_device *device, struct built *built, struct retired *retired)
{
	struct driver_table *table = built->table;

	if (keeps_exec(device, built)) {
		built->table = NULL;
		built_release(device, built);
		retired->built.table = table;
	} else {
		retired->built = *built;
		*built = (struct built){0};
	}
}

void retire_built(struct dagpatch_recording *recording, struct built *built)
{
	struct patch_device *device = recording->device;
	struct retired *retired = built->room;
	bool is_kept;

	if (!built->exec || !recording->launches.any) {
		built_release(device, built);
		return;
	}
	built->room = NULL;
	is_kept = keeps_exec(device, built);
	move_built(device, built, retired);
	if (!is_kept)
		mark_launches(recording, retired);
	recording->launches = (struct launches){0};
	retire(recording->context, retired);
}

void retire_all(struct dagpatch_recording *recording)
{
	struct patch_device *device = recording->device;
	struct retired *retired = recording->shadow_room;

	if (recording->shadow_mark) {
		move_built(device, &recording->built, retired);
		retired->slots = recording->slots;
		retired->slot_count = recording->slot_count;
		retired->mark = recording->shadow_mark;
		retire(recording->context, retired);
	} else {
		retire_built(recording, &recording->built);
		slots_release(device, recording->slots, recording->slot_count);
		free(retired);
	}
}
