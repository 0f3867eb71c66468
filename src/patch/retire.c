/* Keeps what no longer belongs to a recording but may still be used by replays in flight:
 * executable graphs that the driver does not keep itself, tables, shadows. They wait in a list of
 * the context until the replays are done. The list is examined when something is built, retired or
 * created. */
#include <stdlib.h>

#include "patch/context.h"
#include "patch/recording.h"
#include "patch/retire.h"
#include "patch/slot_add.h"

/* The most retired graphs for which it is unknown whether their replays are done. */
enum { UNMARKED_MOST = 64 };

/* The launches in one stream, and the mark after them. */
struct place {
	struct driver_stream *stream;
	struct driver_mark *mark;
	bool is_marked;
};

struct retired {
	struct retired *next;
	struct built built;
	struct slot *slots; /* with their shadows; NULL: none */
	uint32_t slot_count;
	struct place places[LAUNCH_STREAMS];
	uint32_t place_count;
	bool in_more; /* launched in more streams than PLACES */
	/* a place has no mark, or IN_MORE: only wait_all makes sure that it is done */
	bool is_unmarked;
};

void built_release(struct patch_device *device, struct built *built)
{
	const struct patch_driver *driver = device->driver;

	if (built->exec)
		driver->exec_destroy(device, built->exec);
	if (built->table)
		driver->table_destroy(device, built->table);
	if (built->graph)
		driver->graph_destroy(device, built->graph);
	free(built->room);
	*built = (struct built){0};
}

struct retired *retired_create(void)
{
	return calloc(1, sizeof(struct retired));
}

static bool is_done(struct patch_device *device, const struct retired *retired)
{
	if (retired->is_unmarked)
		return false;
	for (uint32_t i = 0; i < retired->place_count; i++) {
		struct driver_mark *mark = retired->places[i].mark;

		if (mark && !device->driver->mark_is_done(device, mark))
			return false;
	}
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
	for (uint32_t i = 0; i < retired->place_count; i++)
		if (retired->places[i].mark)
			device->driver->mark_destroy(device, retired->places[i].mark);
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

/* The driver is called without the lock, because launches of other recordings may need it. */
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

/* Returns true if so many unmarked entries wait that the device must be synchronised. */
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

static void wait_for(struct patch_device *device, const struct retired *retired)
{
	for (uint32_t i = 0; i < retired->place_count; i++)
		if (retired->places[i].mark)
			device->driver->mark_wait(device, retired->places[i].mark);
}

void reap_all(struct dagpatch_context *context)
{
	struct retired *list = take_all(context);
	struct patch_device *device = context->device;
	struct device_visit visit;
	bool is_inside, waits = false;

	if (!list)
		return;
	/* Host memory is freed even if the device can no longer be entered. */
	is_inside = device_enter(device, &visit) == 0;
	for (const struct retired *at = list; at; at = at->next)
		waits |= at->is_unmarked;
	if (waits)
		device->driver->wait_all(device);
	for (const struct retired *at = list; at && !waits; at = at->next)
		wait_for(device, at);
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

/* ---- marks ---- */

/* Records marks in STREAM, which exists because a launch is using it. Streams of earlier launches
 * may have been destroyed, so they are marked only when they are launched into again. (On HIP,
 * destroying a stream waits for its work, so a new stream with the same handle serves as well.) */
static void mark(struct patch_device *device, struct retired *retired, struct driver_stream *stream)
{
	bool is_unmarked = retired->in_more;

	for (uint32_t i = 0; i < retired->place_count; i++) {
		struct place *place = &retired->places[i];

		if (!place->is_marked && place->stream == stream)
			place->is_marked =
				device->driver->mark_record(device, &place->mark, stream) == 0;
		is_unmarked |= !place->is_marked;
	}
	retired->is_unmarked = is_unmarked;
}

void retired_mark(struct dagpatch_context *context, struct driver_stream *stream)
{
	struct retired *list;

	if (!atomic_load_explicit(&context->retired_unmarked, memory_order_relaxed))
		return;
	list = take_all(context);
	while (list) {
		struct retired *next = list->next;

		if (list->is_unmarked)
			mark(context->device, list, stream);
		put(context, list);
		list = next;
	}
	patch_fault_take();
}

/* ---- retiring ---- */

static bool keeps_exec(const struct patch_device *device, const struct built *built)
{
	return (device->capabilities & PATCH_KEEPS_EXECS) &&
	       !(built->table && (device->capabilities & PATCH_KEEPS_NO_TABLES));
}

/* Moves BUILT to RETIRED and empties it. Releases at once what the driver keeps itself for replays
 * in flight. */
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

static void note_places(struct retired *retired, const struct launches *launches)
{
	retired->in_more = launches->in_more;
	retired->place_count = launches->count;
	for (uint32_t i = 0; i < launches->count; i++)
		retired->places[i].stream = launches->streams[i];
	retired->is_unmarked = true;
}

void retire_built(struct dagpatch_recording *recording, struct built *built)
{
	struct patch_device *device = recording->device;
	struct retired *retired = built->room;
	bool is_kept;

	if (!built->exec || !recording->launches.count) {
		built_release(device, built);
		return;
	}
	built->room = NULL;
	is_kept = keeps_exec(device, built);
	move_built(device, built, retired);
	if (!is_kept) {
		note_places(retired, &recording->launches);
		if (recording->launching)
			mark(device, retired, *recording->launching);
		patch_fault_take();
	}
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
		retired->places[0] =
			(struct place){.mark = recording->shadow_mark, .is_marked = true};
		retired->place_count = 1;
		retire(recording->context, retired);
	} else {
		retire_built(recording, &recording->built);
		slots_release(device, recording->slots, recording->slot_count);
		free(retired);
	}
}
