/* Launches, with the copies to and from shadows around them; also into streams that are being
 * captured. */
#include <errno.h>
#include <stdlib.h>

#include "patch/apply.h"
#include "patch/build.h"
#include "patch/capture.h"
#include "patch/errors.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/retire.h"
#include "patch/slot_add.h"
#include "patch/strategy.h"

static int copy_shadows(struct dagpatch_recording *recording, struct driver_stream *stream,
			const uint64_t *addresses, uint32_t direction)
{
	for (uint32_t i = 0; i < recording->slot_count; i++) {
		const struct slot *slot = &recording->slots[i];
		void *bound = (void *)(uintptr_t)addresses[i];
		bool is_in = direction == DAGPATCH_SHADOW_IN;
		int err;

		if (!(slot->flags & direction))
			continue;
		err = recording->device->driver->copy_async(
			recording->device, is_in ? slot->shadow : bound,
			is_in ? bound : slot->shadow, slot->bytes, stream);
		if (err < 0)
			return recording_fail(recording, err, "copying slot %u %s its shadow", i,
					      is_in ? "to" : "from");
		recording->stats.uses[DAGPATCH_SHADOW]++;
	}
	return 0;
}

static int check_device(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	const struct patch_device *device = recording->device;
	int ordinal;
	int err = device->driver->stream_device(recording->device, stream, &ordinal);

	if (err < 0)
		return recording_fail(recording, err, "launching: asking for the stream's device");
	if (ordinal != device->ordinal)
		return recording_fail(
			recording, -EINVAL,
			"launching: the stream is of device %d, the recording of device %d",
			ordinal, device->ordinal);
	return 0;
}

/* ---- into a capture ---- */

static int add_to_capture(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	const struct patch_driver *driver = recording->device->driver;
	struct patch_capturing capturing;
	struct node_list ends = {0};
	int err = driver->capturing_get(recording->device, stream, &capturing);

	if (err < 0)
		return recording_fail(recording, err, "launching into a capture");
	err = build_into(recording, &capturing, &ends);
	if (err == 0 && ends.count > 0) {
		err = driver->capturing_continue(recording->device, stream, ends.nodes, ends.count);
		if (err < 0)
			recording_fail(recording, err, "launching into a capture");
	}
	free(ends.nodes);
	free(capturing.after);
	return err;
}

/* Drivers do not capture a launch of an executable graph, or not reliably, so the nodes are added
 * to the captured graph. The recording's own executable graph is not changed, because replacing it
 * may wait. */
static int launch_into_capture(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	int err = wanted_begin(recording);

	if (err < 0)
		return err;
	err = copy_shadows(recording, stream, recording->wanted, DAGPATCH_SHADOW_IN);
	if (err == 0)
		err = add_to_capture(recording, stream);
	if (err == 0)
		err = copy_shadows(recording, stream, recording->wanted, DAGPATCH_SHADOW_OUT);
	err = wanted_end(recording, err);
	recording->stats.captured_launches += err == 0;
	return err;
}

/* ---- into a stream that is not captured ---- */

/* A mark in the per-thread stream of one thread tells nothing about those of other threads. */
static void note_stream(struct launches *launches, struct driver_stream *stream)
{
	launches->in_more |= (uintptr_t)stream == PATCH_STREAM_PER_THREAD;
	for (uint32_t i = 0; i < launches->count; i++)
		if (launches->streams[i] == stream)
			return;
	if (launches->count < LAUNCH_STREAMS)
		launches->streams[launches->count++] = stream;
	else
		launches->in_more = true;
}

static int launch_graph(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	struct launches *launches = &recording->launches;
	int err = 0;

	if (recording->device->capabilities & PATCH_FORGETS_MEMSETS)
		err = strategy_set_memsets(recording);
	if (err < 0)
		return err;
	err = recording->device->driver->launch(recording->device, current_exec(recording),
						recording->built.table, stream);
	note_stream(launches, stream);
	if (err < 0)
		return recording_fail(recording, err, "launching");
	recording_note_use(recording);
	recording->stats.launches++;
	return 0;
}

/* Returns whether STREAM runs after the last launch that used the shadows. The per-thread stream
 * of that launch may be another thread's. */
static bool is_after_shadows(const struct dagpatch_recording *recording,
			     struct driver_stream *stream)
{
	return !recording->shadow_mark ||
	       (recording->shadow_stream == stream && (uintptr_t)stream != PATCH_STREAM_PER_THREAD);
}

/* Only one launch may use the shadows at a time: a launch into another stream waits in that stream
 * for the launch before. The mark is recorded even after a failure, because copies may already be
 * in the stream. */
static int launch_with_shadows(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	const struct patch_driver *driver = recording->device->driver;
	int err = 0, marked;

	if (!is_after_shadows(recording, stream))
		err = driver->mark_order(recording->device, recording->shadow_mark, stream);
	if (err < 0)
		return recording_fail(recording, err, "waiting for the shadows");
	err = copy_shadows(recording, stream, recording->applied, DAGPATCH_SHADOW_IN);
	if (err == 0)
		err = launch_graph(recording, stream);
	if (err == 0)
		err = copy_shadows(recording, stream, recording->applied, DAGPATCH_SHADOW_OUT);
	marked = driver->mark_record(recording->device, &recording->shadow_mark, stream);
	recording->shadow_stream = stream;
	if (marked < 0)
		driver->wait_all(recording->device);
	if (err == 0 && marked < 0)
		err = recording_fail(recording, marked, "marking where the shadows are used");
	return err;
}

static int launch_and_run(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	int err;

	retired_mark(recording->context, stream);
	recording->launching = &stream;
	err = apply_if_needed(recording);
	recording->launching = NULL;
	if (err < 0)
		return err;
	recording->stats.unchanged_launches += err == 0;
	if (err == 0 && recording->table_choice.is_open)
		table_note(recording, 0);
	return recording->shadow_count ? launch_with_shadows(recording, stream)
				       : launch_graph(recording, stream);
}

/* Returns 1 if STREAM is captured, 0 if it is not, or a failure. */
static int check_stream(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	int err = check_device(recording, stream);

	if (err < 0)
		return err;
	err = recording->device->driver->stream_is_captured(recording->device, stream);
	return err < 0 ? recording_fail(recording, err, "launching") : err;
}

static int launch(struct dagpatch_recording *recording, struct driver_stream *stream)
{
	int is_captured = check_stream(recording, stream);

	if (is_captured < 0)
		return apply_refuse(recording, is_captured);
	return is_captured ? launch_into_capture(recording, stream)
			   : launch_and_run(recording, stream);
}

int dagpatch_launch(struct dagpatch_recording *recording, void *stream)
{
	int err = apply_enter(recording);

	if (err < 0)
		return err;
	err = launch(recording, stream);
	recording_leave(recording);
	return err;
}
