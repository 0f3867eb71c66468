/* The parts of a Perfetto file. Each part is written by one file of this folder, in packet
 * sequences of its own; perfetto.c calls them in order. docs/format/perfetto.md describes the
 * format. */
#ifndef DAGTAP_FORMAT_PERFETTO_PARTS_H
#define DAGTAP_FORMAT_PERFETTO_PARTS_H

#include "format/perfetto/perfetto_arrows.h"
#include "format/perfetto/perfetto_sequence.h"
#include "format/timeline/gpus.h"
#include "format/timeline/slices.h"
#include "format/words.h"

/* Kinds of tracks. The number is part of the track's id (its uuid in the file) and must not
 * change, so that the same trace always gets the same ids. */
enum perfetto_track {
	PERFETTO_TRACK_LEDGER = 1,
	PERFETTO_TRACK_PROCESS,
	PERFETTO_TRACK_THREAD, /* a thread's API calls */
	PERFETTO_TRACK_CALLS,  /* further tracks of a thread's API calls */
	PERFETTO_TRACK_SCOPES,
	PERFETTO_TRACK_RANGES,
	PERFETTO_TRACK_MARKS,
	PERFETTO_TRACK_GPU, /* parent of a GPU's PERFETTO_TRACK_QUEUE tracks */
	PERFETTO_TRACK_QUEUE,
};

/* The id of a track: its kind, the index of the thread, process or GPU, and its number LANE among
 * the tracks of that index (24 bits). */
static inline uint64_t perfetto_track_id(enum perfetto_track kind, uint32_t index,
					 uint32_t subtrack)
{
	return (uint64_t)kind << 56 | (uint64_t)(subtrack & 0xffffff) << 32 | index;
}

/* The number of an activity in the file. Calls, and the activities that waited for it, refer to
 * it. In the track-event form it is also the number of the arrow from its call. */
static inline uint64_t perfetto_event(uint32_t activity)
{
	return (uint64_t)activity + 1;
}

/* The number of arrow ARROW (an index into perfetto_arrows.rows); greater than all activities'
 * numbers. */
static inline uint64_t perfetto_wait_flow(const struct trace *trace, uint32_t arrow)
{
	return perfetto_event(trace->activities_count) + arrow;
}

/* The place of an activity on the time axis. An activity without times is shown at its submission,
 * without length. The caller sets `group`. */
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

/* The two forms of GPU activities (docs/format/perfetto.md): render stage events, and track events
 * for readers before v55. */
enum perfetto_form { PERFETTO_STAGES, PERFETTO_EVENTS };

/* The inputs of the parts for GPUs; all borrowed from perfetto.c. */
struct perfetto_gpus {
	struct sequence *sequence;
	const struct gpus *gpus;
	const struct perfetto_arrows *arrows;
};

/* The following functions start a sequence each and write its packets. They return 0, -ENOMEM or a
 * write error as negative errno.
 *
 * perfetto_put_header writes the clock, the recording's attributes, the GPUs and the ledger. */
int perfetto_put_header(struct sequence *sequence, const struct gpus *gpus);

/* Writes the activities of GPU NUMBER as render stage events; gpus->count stands for no GPU. */
int perfetto_put_stages(const struct perfetto_gpus *all, uint32_t number);

/* Writes the activities of GPU NUMBER as track events; gpus->count stands for no GPU. */
int perfetto_put_events(const struct perfetto_gpus *all, uint32_t number);

/* Writes the threads, calls and scopes of a process. FORM decides how calls refer to activities. */
int perfetto_put_process(struct sequence *sequence, uint32_t process, enum perfetto_form form);

#endif
