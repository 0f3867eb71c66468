/* The parts of a perfetto file: each writes its packets in sequences of its own. */
#ifndef DAGTAP_FORMAT_PERFETTO_PARTS_H
#define DAGTAP_FORMAT_PERFETTO_PARTS_H

#include "format/perfetto_lanes.h"
#include "format/perfetto_sequence.h"
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

/* Number that joins a call to its GPU work: 1:N, unique over all processes. */
static inline uint64_t perfetto_submission(uint32_t call)
{
	return (uint64_t)call + 1;
}

/* Number of the arrow from an activity's call to it, for readers without the above. */
static inline uint64_t perfetto_flow(uint32_t activity)
{
	return (uint64_t)activity + 1;
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

/* GPU numbers of the file: the same card is one GPU in all processes where its uuid says so. */
struct perfetto_gpus {
	uint32_t *of_agent; /* number of each agent's GPU; agents that are none share `host` */
	uint32_t *agents;   /* for each GPU, an agent that it is */
	uint32_t count;
	uint32_t host;	/* where activities without a GPU go: COUNT */
	uint32_t total; /* with that one, if there are such activities */
};

/* 0 or -ENOMEM. */
int perfetto_gpus_init(struct perfetto_gpus *gpus, const struct trace *trace);
void perfetto_gpus_release(struct perfetto_gpus *gpus);

/* Number of the GPU, or `host`. */
uint32_t perfetto_gpus_find(const struct perfetto_gpus *gpus,
			    const struct trace_activity *activity);

/* Two forms of the same: see docs/format/perfetto.md. */
enum perfetto_form { PERFETTO_STAGES, PERFETTO_EVENTS };

/* Each returns 0 or negative errno. */
int perfetto_put_header(struct sequence *sequence, const struct perfetto_gpus *gpus);
int perfetto_put_stages(struct sequence *sequence, const struct perfetto_gpus *gpus,
			uint32_t number);
int perfetto_put_events(struct sequence *sequence, const struct perfetto_gpus *gpus,
			uint32_t number);
int perfetto_put_process(struct sequence *sequence, uint32_t process, enum perfetto_form form);

#endif
