/* A trace as a timeline: what every writer of one does before it writes. The activities are
 * distributed to one list for each stream of a GPU, the calls and scopes to one list for each
 * thread, and the processes' correlation ids are made distinct.
 *
 * A writer calls timeline_init, then goes through each table once and calls timeline_deal_activity,
 * timeline_deal_call and timeline_deal_scope for the rows that it shows, and timeline_see_cid for
 * all of them. Then it calls timeline_number_correlations and takes the lists track by track:
 *
 *	struct timeline_stream stream = timeline_stream_open(timeline, gpu, slot);
 *
 *	while (timeline_stream_begin(&stream)) {
 *		(the name of track stream.number)
 *		while (timeline_stream_next(&stream))
 *			(the activity stream.row)
 *	}
 *
 * The lists of threads are taken in the same way: timeline_thread_open, tracks_begin, tracks_next.
 *
 * Threading: a struct timeline belongs to one thread. */
#ifndef DAGTAP_FORMAT_TIMELINE_TIMELINE_H
#define DAGTAP_FORMAT_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/timeline/gpus.h"
#include "format/timeline/track.h"
#include "format/timeline/track_rows.h"
#include "trace/trace_model.h"

/* The correlation ids of one process. */
struct timeline_ids {
	uint64_t cid_min, cid_max; /* of its cids other than 0; min > max: it has none */
	uint64_t base;		   /* added to its cids, so that no two processes share one */
};

struct timeline {
	const struct trace *trace; /* borrowed */
	struct gpus gpus;

	/* Slots: one for each stream, then one for each process for its activities without a
	 * stream. */
	uint32_t slots;
	/* Lists of threads: one for each thread, then one for each process for its rows without a
	 * thread. */
	uint32_t threads;
	struct rows activities;	  /* lists: by gpu * slots + slot */
	struct rows calls;	  /* lists: by thread */
	struct rows scopes;	  /* lists: by thread, then the same again for ranges */
	struct timeline_ids *ids; /* by process; owned */
};

/* Numbers the GPUs and makes empty lists for the rows of TRACE, which must outlive TIMELINE.
 * Returns 0 or -ENOMEM; then nothing is left to release. */
int timeline_init(struct timeline *timeline, const struct trace *trace);

/* Frees the memory. Accepts a zeroed or released struct. */
void timeline_release(struct timeline *timeline);

/* ---- places ---- */

/* The slot of STREAM of PROCESS; STREAM may be TRACE_NONE. */
static inline uint32_t timeline_slot(const struct timeline *timeline, uint32_t stream,
				     uint32_t process)
{
	return stream == TRACE_NONE ? timeline->trace->streams_count + process : stream;
}

/* The process of a slot. */
static inline uint32_t timeline_slot_process(const struct timeline *timeline, uint32_t slot)
{
	uint32_t streams = timeline->trace->streams_count;

	return slot < streams ? timeline->trace->streams[slot].process : slot - streams;
}

/* The index into activities.lists of the GPU's slot. */
static inline size_t timeline_place(const struct timeline *timeline, uint32_t gpu, uint32_t slot)
{
	return (size_t)gpu * timeline->slots + slot;
}

/* The same of an activity, whose GPU is number GPU. */
static inline size_t timeline_place_of(const struct timeline *timeline,
				       const struct trace_activity *activity, uint32_t gpu)
{
	return timeline_place(timeline, gpu,
			      timeline_slot(timeline, activity->stream, activity->process));
}

/* The list of THREAD of PROCESS; THREAD may be TRACE_NONE. */
static inline uint32_t timeline_thread(const struct timeline *timeline, uint32_t thread,
				       uint32_t process)
{
	uint32_t threads = timeline->trace->threads_count;

	return thread < threads ? thread : threads + process;
}

/* The process of a list of threads. */
static inline uint32_t timeline_thread_process(const struct timeline *timeline, uint32_t thread)
{
	uint32_t threads = timeline->trace->threads_count;

	return thread < threads ? timeline->trace->threads[thread].process : thread - threads;
}

/* ---- times ---- */

/* A time for lists and rows: what ends before it begins has no length. */
static inline struct rows_time timeline_time(int64_t begin_ns, int64_t end_ns)
{
	return (struct rows_time){begin_ns, end_ns < begin_ns ? begin_ns : end_ns};
}

/* The time of row ROW of trace.activities; a rows_time_of, as are the following two. */
static inline struct rows_time timeline_activity_time(const void *table, uint32_t row)
{
	const struct trace_activity *activity = (const struct trace_activity *)table + row;

	return timeline_time(activity->start_ns, activity->end_ns);
}

static inline struct rows_time timeline_call_time(const void *table, uint32_t row)
{
	const struct trace_call *call = (const struct trace_call *)table + row;

	return timeline_time(call->begin_ns, call->end_ns);
}

static inline struct rows_time timeline_scope_time(const void *table, uint32_t row)
{
	const struct trace_scope *scope = (const struct trace_scope *)table + row;

	return timeline_time(scope->begin_ns, scope->end_ns);
}

static inline uint64_t timeline_span_ns(struct rows_time time)
{
	return (uint64_t)time.end_ns - (uint64_t)time.begin_ns;
}

/* ---- dealing: each function adds a row to a list; cost: constant ---- */

/* Returns the list, so that the caller can set bits in `words`. */
static inline struct rows_list *timeline_deal_activity(struct timeline *timeline, uint32_t row,
						       size_t place)
{
	struct rows_list *list = &timeline->activities.lists[place];

	rows_list_deal(&timeline->activities, list, row,
		       timeline_activity_time(timeline->trace->activities, row));
	return list;
}

static inline void timeline_deal_call(struct timeline *timeline, uint32_t row, uint32_t thread)
{
	rows_list_deal(&timeline->calls, &timeline->calls.lists[thread], row,
		       timeline_call_time(timeline->trace->calls, row));
}

static inline void timeline_deal_scope(struct timeline *timeline, uint32_t row, uint32_t thread)
{
	const struct trace_scope *scope = &timeline->trace->scopes[row];
	size_t list = thread + (scope->kind == RECORD_SCOPE_RANGE ? timeline->threads : 0);

	rows_list_deal(&timeline->scopes, &timeline->scopes.lists[list], row,
		       timeline_scope_time(timeline->trace->scopes, row));
}

/* Adds all calls to the lists of their threads and notes their cids. */
void timeline_deal_calls(struct timeline *timeline);

/* Adds all scopes that have times to the lists of their threads; MARKS: also those without
 * length. */
void timeline_deal_scopes(struct timeline *timeline, bool marks);

/* ---- taking rows, track by track; once, because the tracks use the links of the lists ---- */

/* The tracks of a slot of a GPU, one after the other. An activity that overlaps the last one of its
 * track at all goes to a further track: a kernel that runs during another one is not part of it. */
struct timeline_stream {
	unsigned number;       /* of the current track, from 1 */
	uint32_t row;	       /* the activity that timeline_stream_next has taken */
	int error;	       /* -ENOMEM: there are no tracks; else 0 */
	bool may_overlap;      /* set by the caller: one track for all, though they overlap */
	struct rows_list list; /* activities that are on no track yet */
	struct rows_walk walk; /* private, as is end_ns */
	int64_t end_ns;
};

/* Sorts the activities and starts before the first track. An error is kept in `error`. */
static inline struct timeline_stream timeline_stream_open(const struct timeline *timeline,
							  uint32_t gpu, uint32_t slot)
{
	const struct rows *rows = &timeline->activities;
	struct rows_list *list = &rows->lists[timeline_place(timeline, gpu, slot)];
	int err = rows_list_sort(rows, list);

	return (struct timeline_stream){.error = err, .list = *list, .walk.rows = rows};
}

/* Begins the next track, after all activities of the one before have been taken. False if all
 * activities are on a track. */
static inline bool timeline_stream_begin(struct timeline_stream *stream)
{
	if (rows_list_count(&stream->list) == 0 || stream->error)
		return false;
	stream->walk = rows_walk_begin(stream->walk.rows, &stream->list);
	stream->list = (struct rows_list){.words = stream->list.words};
	stream->end_ns = INT64_MIN;
	stream->number++;
	return true;
}

/* Takes the next activity of the track: sets `row`. False if the track is complete. */
static inline bool timeline_stream_next(struct timeline_stream *stream)
{
	const struct rows *rows = stream->walk.rows;

	while (stream->walk.row != ROWS_NONE) {
		uint32_t row = rows_walk_take(&stream->walk);
		struct rows_time time = timeline_activity_time(rows->table, row);

		if (time.begin_ns >= stream->end_ns || stream->may_overlap) {
			stream->end_ns = time.end_ns;
			stream->row = row;
			return true;
		}
		rows_run_add(rows, &stream->list.main, row);
	}
	return false;
}

/* The tracks of a list of threads (track.h): its calls and scopes, or its ranges. NEST is the
 * caller's memory for all threads; NULL: rows need not nest. */
static inline struct tracks timeline_thread_open(const struct timeline *timeline, uint32_t thread,
						 bool ranges, struct rows_nest *nest)
{
	const struct rows *scopes = &timeline->scopes;
	const struct rows *calls = &timeline->calls;

	if (ranges)
		return tracks_open(scopes, &scopes->lists[timeline->threads + thread], NULL, NULL,
				   nest);
	return tracks_open(scopes, &scopes->lists[thread], calls, &calls->lists[thread], nest);
}

/* ---- correlation ids ---- */

/* Notes a cid of the process of IDS; 0 stands for none. */
static inline void timeline_ids_see(struct timeline_ids *ids, uint64_t cid)
{
	if (cid == 0)
		return;
	if (cid < ids->cid_min)
		ids->cid_min = cid;
	if (cid > ids->cid_max)
		ids->cid_max = cid;
}

/* Notes a cid of PROCESS. */
static inline void timeline_see_cid(struct timeline *timeline, uint32_t process, uint64_t cid)
{
	timeline_ids_see(&timeline->ids[process], cid);
}

/* Chooses the bases after all cids have been seen: the ids of a process follow those of the
 * process before it. KEEPS_DISTINCT: a process whose cids are all greater keeps them unchanged.
 * Returns the greatest id. */
uint64_t timeline_number_correlations(struct timeline *timeline, bool keeps_distinct);

/* The correlation id in the file of a process's CID. */
static inline uint64_t timeline_correlation(const struct timeline *timeline, uint32_t process,
					    uint64_t cid)
{
	return timeline->ids[process].base + cid;
}

#endif
