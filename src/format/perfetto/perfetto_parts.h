/* The parts of a Perfetto file. Each part is written by one file of this folder, in packet
 * sequences of its own; perfetto.c calls them in order. docs/format/perfetto.md describes the
 * format. */
#ifndef DAGTAP_FORMAT_PERFETTO_PARTS_H
#define DAGTAP_FORMAT_PERFETTO_PARTS_H

#include "format/perfetto/perfetto_arrows.h"
#include "format/perfetto/perfetto_projection.h"
#include "format/perfetto/perfetto_sequence.h"
#include "format/timeline/slices.h"
#include "format/timeline/timeline.h"
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
	PERFETTO_TRACK_PROJECTED, /* of a GPU's place: scopes and replays, then steps */
	PERFETTO_TRACK_STEPS,
	PERFETTO_TRACK_COUNTERS, /* parent of a GPU's counters */
	PERFETTO_TRACK_BUSY,
	PERFETTO_TRACK_MEMORY,
	PERFETTO_TRACK_DEPTH,
};

/* The id of a track: its kind, the index of the thread, process or GPU, and its number SUBTRACK
 * among the tracks of that index (24 bits). */
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

/* The number of the arrow to row ROW of the projection, from the scope or the call that it is
 * about; greater than those of all other arrows. */
static inline uint64_t perfetto_projected_flow(const struct trace *trace, uint32_t arrows,
					       uint32_t row)
{
	return perfetto_wait_flow(trace, arrows) + row;
}

/* The time of row ROW of trace.activities; a rows_time_of. An activity without times is shown at
 * its submission, without length. */
static inline struct rows_time perfetto_activity_time(const void *table, uint32_t row)
{
	const struct trace_activity *activity = (const struct trace_activity *)table + row;

	if (activity->untimed != RECORD_UNTIMED_NO)
		return timeline_time(activity->submit_ns, activity->submit_ns);
	return timeline_time(activity->start_ns, activity->end_ns);
}

/* The two forms of GPU activities (docs/format/perfetto.md): render stage events, and track events
 * for readers before v55. */
enum perfetto_form { PERFETTO_STAGES, PERFETTO_EVENTS };

/* The inputs of all parts; all borrowed from perfetto.c. */
struct perfetto {
	struct sequence *sequence;
	const struct timeline *timeline;
	const struct perfetto_arrows *arrows;
	const struct perfetto_projection *projection;
	enum perfetto_form form;
};

/* The following functions start a sequence each and write its packets. They return 0, -ENOMEM or a
 * write error as negative errno.
 *
 * perfetto_put_header writes the clock, the recording's attributes, the GPUs and the ledger. */
int perfetto_put_header(const struct perfetto *perfetto);

/* Writes the activities of GPU NUMBER as render stage events; the number of all GPUs stands for no
 * GPU. */
int perfetto_put_stages(const struct perfetto *perfetto, uint32_t number);

/* The same as track events. */
int perfetto_put_events(const struct perfetto *perfetto, uint32_t number);

/* Writes the threads, calls and scopes of a process. */
int perfetto_put_process(const struct perfetto *perfetto, uint32_t process);

/* Writes the GPU projections of all processes. */
int perfetto_put_projection(const struct perfetto *perfetto);

/* Writes counters of each GPU: how busy it was, its memory in use, the depth of its streams. */
int perfetto_put_counters(const struct perfetto *perfetto);

#endif
