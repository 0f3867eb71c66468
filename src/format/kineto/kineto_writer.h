/* The parts of the Kineto writer (docs/format/kineto.md): what they share.
 *
 * Rows are dealt out to lists first, a list for each stream and thread; each list is then written in the
 * order of time, on as many tids as its overlaps need. */
#ifndef DAGTAP_FORMAT_KINETO_WRITER_H
#define DAGTAP_FORMAT_KINETO_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"
#include "format/gpus.h"
#include "format/kineto/kineto_text.h"
#include "format/rows.h"

/* Beyond every pid and tid of Linux: what has no number of its own, or whose own is a GPU's. */
#define KINETO_PID_FIRST 4194305

/* What a GPU's tid shows. The stream's number is in it, except in further lanes. */
enum kineto_lane { KINETO_LANE_WORK, KINETO_LANE_SYNC, KINETO_LANE_SCOPES, KINETO_LANE_UNTIMED };
#define KINETO_LANE_COUNT (KINETO_LANE_UNTIMED + 1)

/* Of calls: it has an activity with times; it is in waits_of_calls. */
enum kineto_mark { KINETO_MARK_WORK = 1, KINETO_MARK_WAIT = 2 };

/* A string of the trace as JSON, in quotes: made when it is first asked for. */
struct kineto_string {
	struct kineto_piece quoted;
	uint8_t is_own_key; /* 0 = not known, 1 = it is, 2 = it is not */
};

struct kineto {
	const struct trace *trace;
	bool is_hta;
	struct kineto_out out;
	struct kineto_text text; /* of pieces, which stay */
	struct kineto_text row;	 /* what is put together from no pieces */
	struct gpus gpus;
	uint32_t gpu_total; /* with the place of work that is on none */

	/* Streams; then, for each process, the place of work whose stream is not known. */
	uint32_t slots;
	uint32_t *slot_numbers; /* from 1: readers take 0 for none */

	struct rows activities; /* lists: gpu * slots + slot */
	struct rows calls;	/* lists: threads, then processes for calls without one */
	struct rows scopes;	/* the same, then once more for ranges */
	uint64_t *call_marks;	/* two bits a call: enum kineto_mark */
	struct kineto_string *strings;
	struct kineto_piece *sets; /* by attribute set */

	/* By call: the wait that it is, from 1; behind all waits, the record of an event. NULL if the
	 * trace has neither. */
	uint32_t *waits_of_calls;

	uint64_t *correlation_bases; /* by process */
	uint64_t correlation_end;    /* no correlation is so great */
	uint64_t lane_step;	     /* what a tid of the next kind of lane is more by */
	uint64_t next_lane;	     /* GPU tids that are no stream's */
	uint64_t next_thread;
};

/* Of the first error. */
static inline void kineto_fail(struct kineto *kineto, int error)
{
	if (error < 0 && !kineto->out.error)
		kineto->out.error = error;
}

static inline uint32_t kineto_slot(const struct kineto *kineto, uint32_t stream, uint32_t process)
{
	return stream == TRACE_NONE ? kineto->trace->streams_count + process : stream;
}

static inline uint32_t kineto_thread_list(const struct kineto *kineto, uint32_t thread,
					  uint32_t process)
{
	uint32_t threads = kineto->trace->threads_count;

	return thread < threads ? thread : threads + process;
}

static inline uint64_t kineto_correlation(const struct kineto *kineto, uint32_t process,
					  uint64_t cid)
{
	return kineto->correlation_bases[process] + cid;
}

/* HTA joins a call to one kernel: with it, each kernel of a graph launch has a number of its own. */
static inline bool kineto_has_stand_ins(const struct kineto *kineto, const struct trace_call *call)
{
	return kineto->is_hta && call->launch != TRACE_NONE;
}

static inline uint64_t kineto_stand_in(const struct kineto *kineto, uint32_t activity)
{
	return kineto->correlation_end + activity;
}

static inline bool kineto_is_timed(const struct trace_activity *activity)
{
	return activity->untimed == RECORD_UNTIMED_NO;
}

static inline void kineto_mark(struct kineto *kineto, uint32_t call, enum kineto_mark mark)
{
	kineto->call_marks[call / 32] |= (uint64_t)mark << call % 32 * 2;
}

static inline unsigned kineto_marks(const struct kineto *kineto, uint32_t call)
{
	return kineto->call_marks[call / 32] >> call % 32 * 2 & 3;
}

static inline struct rows_time kineto_time(int64_t begin_ns, int64_t end_ns)
{
	return (struct rows_time){begin_ns, end_ns < begin_ns ? begin_ns : end_ns};
}

static inline struct rows_time kineto_activity_time(const void *table, uint32_t row)
{
	const struct trace_activity *activity = (const struct trace_activity *)table + row;

	return kineto_time(activity->start_ns, activity->end_ns);
}

static inline struct rows_time kineto_call_time(const void *table, uint32_t row)
{
	const struct trace_call *call = (const struct trace_call *)table + row;

	return kineto_time(call->begin_ns, call->end_ns);
}

static inline struct rows_time kineto_scope_time(const void *table, uint32_t row)
{
	const struct trace_scope *scope = (const struct trace_scope *)table + row;

	return kineto_time(scope->begin_ns, scope->end_ns);
}

static inline uint64_t kineto_span_ns(struct rows_time time)
{
	return (uint64_t)time.end_ns - (uint64_t)time.begin_ns;
}

/* Scopes' rows are what "External id" counts, from 1. */
static inline uint64_t kineto_external_id(uint32_t scope)
{
	return (uint64_t)scope + 1;
}

/* ---- kineto_deal.c ---- */

/* Numbers and lists. 0 or -ENOMEM; kineto_undeal in either case. */
int kineto_deal(struct kineto *kineto);
void kineto_undeal(struct kineto *kineto);

uint64_t kineto_pid(const struct kineto *kineto, uint32_t process);

/* ---- kineto_lanes.c ---- */

/* Puts the names of a GPU's tid. SLOT is TRACE_NONE for what is the whole device's. LANE counts from 1;
 * returns the tid. */
uint64_t kineto_name_stream(struct kineto *kineto, uint32_t gpu, uint32_t slot,
			    enum kineto_lane kind, unsigned lane);

/* Of the thread of a list, with RANGES apart. */
uint64_t kineto_name_thread(struct kineto *kineto, uint32_t list, bool ranges, unsigned lane);

void kineto_name_processes(struct kineto *kineto);

/* ---- kineto_attributes.c ---- */

/* Into kineto->row, with the comma before each. */
void kineto_put_attributes(struct kineto *kineto, uint32_t first, uint32_t count);

/* What another tool's file says of a row, by its table of sets, which may be NULL: the same as a piece. */
struct kineto_piece kineto_find_set(struct kineto *kineto, const uint32_t *sets, uint32_t row);

/* ---- kineto_head.c ---- */

struct json;
/* All before the rows, and the last of them. */
void kineto_put_head(const struct kineto *kineto, uint64_t base_ns, uint32_t rank,
		     struct json *json);
void kineto_put_window_end(struct kineto *kineto);

/* ---- kineto_names.c ---- */

/* As JSON, in quotes; they stay. Of a scope without the attributes in its text. */
struct kineto_piece kineto_quoted(struct kineto *kineto, trace_string string);
struct kineto_piece kineto_scope_name(struct kineto *kineto, uint32_t scope);

/* The name that HTA knows an API function by. */
void kineto_hta_name(const char *name, char *ret_name, size_t size);
const char *kineto_copy_name(enum trace_copy_direction direction);
const char *kineto_copy_kind(enum trace_copy_direction direction);
const char *kineto_wait_name(enum trace_wait_type type);

/* ---- the rows; errors are kept in kineto->out ---- */

void kineto_put_devices(struct kineto *kineto); /* kineto_device.c, and the next */
void kineto_put_untimed(struct kineto *kineto);
void kineto_put_threads(struct kineto *kineto); /* kineto_host.c */
void kineto_put_waits(struct kineto *kineto);	/* kineto_waits.c */
void kineto_put_hulls(struct kineto *kineto);	/* kineto_hulls.c */

/* Fills waits_of_calls. 0 or -ENOMEM. */
int kineto_find_waits(struct kineto *kineto);

/* What a HIP call that is marked so says of its wait, or of the event that it records. */
char *kineto_put_wait_args(const struct kineto *kineto, char *at, uint32_t call);

#endif
