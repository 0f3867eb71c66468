/* Capturing of work, and adding of captured work to a recording. capture_append.c compares the
 * captures and appends their nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cache.h"
#include "patch/capture.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_attributes.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/slot_add.h"
#include "patch/work.h"

/* With DAGPATCH_LEAVE_UNSTABLE: captures before the first comparison. */
#define UNSTABLE_CAPTURES 6
_Static_assert(UNSTABLE_CAPTURES <= CAPTURES_MOST, "they have a place");

/* ---- capturing ---- */

int capture_graph(struct dagpatch_recording *recording, dagpatch_capture_fn record, void *user,
		  void *const *addresses, struct driver_graph **ret_graph)
{
	const struct patch_driver *driver = recording->device->driver;
	struct driver_graph *graph = NULL;
	struct driver_stream *stream;
	int err = driver->capture_begin(recording->device, &stream);
	int recorded;

	if (err < 0)
		return recording_fail(recording, err, "capturing");
	recorded = record(user, stream, addresses);
	driver->settle(recording->device);
	err = driver->capture_end(recording->device, stream, &graph);
	recording->stats.captures++;
	/* The callback's error is the cause; a failure of capture_end after it is a consequence. */
	if (recorded < 0) {
		patch_fault_take();
		recording_fail(recording, recorded, "the captured callback failed: %s",
			       strerror(-recorded));
	} else if (err < 0 || !graph) {
		recorded = recording_fail(recording, err < 0 ? err : -EIO,
					  "capturing: the work cannot be captured");
	}
	if (recorded < 0) {
		if (graph)
			driver->graph_destroy(recording->device, graph);
		return recorded;
	}
	*ret_graph = graph;
	return 0;
}

/* ---- adding ---- */

/* COLLECTIVE is the storage for the copy of capture->collective. */
static int read_capture(struct dagpatch_recording *recording, const struct dagpatch_capture *given,
			struct dagpatch_capture *ret_capture,
			struct dagpatch_collective *collective)
{
	int err = recording_read(recording, ret_capture, sizeof(*ret_capture), given, "capture");

	if (err < 0 || !ret_capture->collective)
		return err;
	err = recording_read(recording, collective, sizeof(*collective), ret_capture->collective,
			     "collective");
	ret_capture->collective = collective;
	return err;
}

static int check_capture(struct dagpatch_recording *recording,
			 const struct dagpatch_capture *capture)
{
	bool is_recaptured = capture->flags & DAGPATCH_RECAPTURE;

	if (!capture->record)
		return recording_fail(recording, -EINVAL, "a capture without a callback");
	if (capture->flags & ~(uint32_t)(DAGPATCH_RECAPTURE | DAGPATCH_LEAVE_UNSTABLE))
		return recording_fail(recording, -EINVAL, "unknown flags of a capture");
	if (!capture->addresses[0] != !capture->addresses[1])
		return recording_fail(recording, -EINVAL, "a capture needs two sets of addresses");
	if (capture->cache && !is_recaptured)
		return recording_fail(recording, -EINVAL,
				      "a cache is of use with DAGPATCH_RECAPTURE only");
	if (capture->cache && !cache_is_of(capture->cache, recording->context))
		return recording_fail(recording, -EINVAL,
				      "a capture with a cache of another context");
	if (capture->slot_count > 0 && !capture->slots)
		return recording_fail(recording, -EINVAL, "a capture's slots are missing");
	if (capture->key && !capture->cache)
		return recording_fail(recording, -EINVAL, "a capture with a key without a cache");
	if (!capture->key != !capture->key_bytes)
		return recording_fail(recording, -EINVAL, "a capture's key of %zu bytes%s",
				      capture->key_bytes, capture->key ? "" : " at NULL");
	if (capture->collective && capture->collective->buffers_are_registered && !is_recaptured)
		return recording_fail(recording, -EINVAL,
				      "a collective whose buffers are registered must not be "
				      "patched: use DAGPATCH_RECAPTURE");
	return slots_check(recording, capture->slots, capture->slot_count, "a capture");
}

/* The place of a capture among the captures, which are alternately at the two sets of addresses.
 * The two of a pair take turns as in the sequence of Thue and Morse, so that a word that changes at
 * regular intervals does not go with the set. */
static uint32_t capture_index(uint32_t number)
{
	return number ^ (uint32_t)__builtin_parity(number / 2);
}

/* Captures until there are COUNT. */
static int capture_further(struct dagpatch_recording *recording,
			   const struct dagpatch_capture *capture, struct captures *captures,
			   uint32_t count)
{
	int err = 0;

	for (uint32_t i = captures->count; err == 0 && i < count; i++) {
		uint32_t index = capture_index(i);

		err = capture_graph(recording, capture->record, capture->user,
				    captures->addresses[index % 2], &captures->graphs[index]);
	}
	captures->count = count;
	return err;
}

/* Compares the captures. A word that was never written may go with the set of addresses by chance:
 * then more captures tell. */
static int append_compared(struct dagpatch_recording *recording,
			   const struct dagpatch_capture *capture, struct captures *captures,
			   uint32_t node)
{
	struct mark mark = recording_mark(recording);
	int err = capture_append(recording, captures, &(struct capture_place){node, 1});

	while (err == -EILSEQ && (capture->flags & DAGPATCH_LEAVE_UNSTABLE) &&
	       captures->count < CAPTURES_MOST) {
		uint32_t twice = 2 * captures->count;

		recording_rewind(recording, &mark);
		err = capture_further(recording, capture, captures,
				      twice < CAPTURES_MOST ? twice : CAPTURES_MOST);
		if (err == 0)
			err = capture_append(recording, captures, &(struct capture_place){node, 1});
	}
	return err;
}

/* The first graph becomes the work's and is kept. */
static int capture_in_turn(struct dagpatch_recording *recording,
			   const struct dagpatch_capture *capture, void *const *const addresses[2],
			   uint32_t node)
{
	bool is_unstable = capture->flags & DAGPATCH_LEAVE_UNSTABLE;
	struct captures captures = {
		.slots = capture->slots,
		.slot_count = capture->slot_count,
		.addresses = {addresses[0], addresses[1]},
		.inside_flag = NODE_INSIDE,
	};
	struct work work = {
		.record = capture->record,
		.user = capture->user,
		.slot_count = capture->slot_count,
		.is_unstable = is_unstable,
	};
	int err = capture_further(recording, capture, &captures, 1);

	work.graph = captures.graphs[0];
	if (err == 0)
		err = work_place(recording, node, &work, capture->slots);
	if (err == 0)
		err = attributes_find(recording, work.graph, NULL);
	if (err == 0)
		err = capture_further(recording, capture, &captures,
				      is_unstable ? UNSTABLE_CAPTURES : 2);
	if (err == 0)
		err = append_compared(recording, capture, &captures, node);
	for (uint32_t i = 1; i < captures.count; i++)
		if (captures.graphs[i])
			recording->device->driver->graph_destroy(recording->device,
								 captures.graphs[i]);
	return err;
}

static int append_patched(struct dagpatch_recording *recording,
			  const struct dagpatch_capture *capture, uint32_t node)
{
	struct scratch scratch = {0};
	void *const *addresses[2] = {capture->addresses[0], capture->addresses[1]};
	int err;

	if (addresses[0]) {
		err = addresses_check(recording, capture->slots, capture->slot_count, addresses);
	} else {
		err = scratch_make(recording, capture->slots, capture->slot_count, &scratch);
		addresses[0] = scratch.addresses[0];
		addresses[1] = scratch.addresses[1];
	}
	if (err == 0)
		err = capture_in_turn(recording, capture, addresses, node);
	scratch_release(recording, &scratch);
	return err;
}

static int append_again(struct dagpatch_recording *recording,
			const struct dagpatch_capture *capture, uint32_t node)
{
	struct recapture recapture = {
		.record = capture->record,
		.user = capture->user,
		.cache = capture->cache,
		.node = node,
		.slot_count = capture->slot_count,
	};
	int err = recording_grow(&recording->recaptures, &recording->recapture_capacity,
				 (uint64_t)recording->recapture_count + 1,
				 sizeof(*recording->recaptures));

	if (err == 0 && capture->cache) {
		recapture.name = cache_name_create(capture->cache, capture);
		err = recapture.name ? 0 : -ENOMEM;
	}
	if (err == 0)
		err = slots_copy(capture->slots, capture->slot_count, &recapture.slots,
				 &recapture.offsets);
	if (err < 0) {
		cache_name_release(recapture.name);
		return recording_fail(recording, err, "no memory for a capture");
	}
	recording->nodes[node].flags |= NODE_RECAPTURED;
	recording->nodes[node].detail = recording->recapture_count;
	recording->recaptures[recording->recapture_count++] = recapture;
	for (uint32_t i = 0; err == 0 && i < capture->slot_count; i++)
		err = relocation_append(recording, node, RELOCATION_RECAPTURED, capture->slots[i],
					0);
	return err;
}

static int add_captured(struct dagpatch_recording *recording, const struct dagpatch_capture *given,
			const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_collective collective;
	struct dagpatch_capture capture;
	struct mark mark;
	uint32_t node;
	int err = add_check(recording, "dagpatch_add_captured", &mark);

	if (err == 0)
		err = read_capture(recording, given, &capture, &collective);
	if (err == 0)
		err = check_capture(recording, &capture);
	if (err < 0)
		return err;
	err = node_append(recording, PATCH_CHILD, 0, &node);
	if (err == 0)
		err = slots_append_accesses(recording, node, capture.slots, capture.slot_count);
	if (err == 0)
		err = capture.flags & DAGPATCH_RECAPTURE
			      ? append_again(recording, &capture, node)
			      : append_patched(recording, &capture, node);
	return add_end(recording, err, &mark, after, ret_node);
}

int dagpatch_add_captured(struct dagpatch_recording *recording,
			  const struct dagpatch_capture *capture,
			  const struct dagpatch_after *after, uint32_t *ret_node)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = add_captured(recording, capture, after, ret_node);
	recording_leave(recording);
	return err;
}
