/* The parts of a perfetto file: each writes its packets in sequences of its own. */
#ifndef DAGTAP_FORMAT_PERFETTO_PARTS_H
#define DAGTAP_FORMAT_PERFETTO_PARTS_H

#include "format/gpus.h"
#include "format/perfetto/perfetto_arrows.h"
#include "format/perfetto/perfetto_lanes.h"
#include "format/perfetto/perfetto_sequence.h"
#include "format/words.h"

/* Kinds of tracks. The number is part of the track's id: the same file gets the same ids. */
enum perfetto_track {
	PERFETTO_TRACK_LEDGER = 1,
	PERFETTO_TRACK_PROCESS,
	PERFETTO_TRACK_THREAD, /* of a thread's API calls */
	PERFETTO_TRACK_CALLS,  /* further lanes */
	PERFETTO_TRACK_SCOPES,
	PERFETTO_TRACK_RANGES,
	PERFETTO_TRACK_MARKS,
	PERFETTO_TRACK_GPU,
	PERFETTO_TRACK_QUEUE,
};

static inline uint64_t perfetto_track_id(enum perfetto_track kind, uint32_t index, uint32_t lane)
{
	return (uint64_t)kind << 56 | (uint64_t)(lane & 0xffffff) << 32 | index;
}

/* An activity's number: calls, and the activities that waited for it, name it by this; in the form of
 * events it is the number of the arrow from its call. */
static inline uint64_t perfetto_event(uint32_t activity)
{
	return (uint64_t)activity + 1;
}

/* Number of an arrow from an activity to one that waited for it: behind all of those. */
static inline uint64_t perfetto_wait_flow(const struct trace *trace, uint32_t arrow)
{
	return perfetto_event(trace->activities_count) + arrow;
}

/* Where an activity stands in time: what has none stands where it was submitted. */
static inline struct slice perfetto_activity_slice(const struct trace *trace, uint32_t row)
{
	const struct trace_activity *activity = &trace->activities[row];
	struct slice slice = {.index = row, .begin_ns = activity->submit_ns};

	if (activity->untimed == RECORD_UNTIMED_NO)
		slice.begin_ns = activity->start_ns;
	slice.end_ns = slice.begin_ns;
	if (activity->untimed == RECORD_UNTIMED_NO && activity->end_ns > activity->start_ns)
		slice.end_ns = activity->end_ns;
	return slice;
}

/* Two forms of the same: see docs/format/perfetto.md. */
enum perfetto_form { PERFETTO_STAGES, PERFETTO_EVENTS };

/* What the parts for GPUs are written from. */
struct perfetto_gpus {
	struct sequence *sequence;
	const struct gpus *gpus;
	const struct perfetto_arrows *arrows;
};

/* Each returns 0 or negative errno. */
int perfetto_put_header(struct sequence *sequence, const struct gpus *gpus);
int perfetto_put_stages(const struct perfetto_gpus *all, uint32_t number);
int perfetto_put_events(const struct perfetto_gpus *all, uint32_t number);
int perfetto_put_process(struct sequence *sequence, uint32_t process, enum perfetto_form form);

#endif
