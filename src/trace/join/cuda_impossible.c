/* Removes impossible times. Seen on an H200 (CUDA 13.0): CUPTI reported that a copy of 128 KiB
 * lasted 127 ms, while its own stream ran 22,557 activities that were submitted later.
 *
 * A stream runs its work in the order of submission. An activity that overlaps more than one later
 * activity of its stream is wrong. If two activities overlap only each other, the longer one is
 * taken as wrong. A wrong activity becomes untimed (RECORD_UNTIMED_IMPOSSIBLE), so that it does not
 * count as busy time.
 *
 * Not judged: activities of one launch among each other, because the graph's edges order them;
 * calls of two threads that overlapped in time; kernels that a programmatic launch allows to begin
 * early. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/process_load.h"
#include "trace/row_table.h"

#define ROUNDS_MOST   8 /* a wrong activity may hide another one until it is removed */
#define MESSAGES_MOST 8 /* the longest wrong activities get a message each */

/* A stream during the walk through the activities in the order of calls. Fields are rows of
 * activities, TRACE_NONE = none, except where noted. */
struct stream_state {
	uint32_t before; /* of earlier calls, the activity that ended last */
	uint32_t passed; /* count of later activities that began before its end */
	uint32_t other;	 /* the first of these */
	uint32_t latest; /* of the current call, the activity that ended last */
	uint32_t call;	 /* the current call, a row of calls */
	uint32_t early;	 /* the last activity that may have begun early */
};

struct wrong_row {
	uint32_t row;
	uint32_t passed; /* activities that it overlaps */
	int64_t length_ns;
};

struct judging {
	struct process_load *load;
	struct stream_state *streams;		 /* by stream, from cuda.stream_first */
	uint32_t found;				 /* wrong activities of this round */
	uint32_t wrong_count;			 /* of all rounds */
	struct wrong_row longest[MESSAGES_MOST]; /* longest first */
};

static bool may_begin_early(const struct process_load *load, const struct trace_activity *row)
{
	const struct trace *trace = load->trace;
	const struct trace_api *api = &trace->apis[trace->calls[row->call].api];

	/* Older recordings have no arguments of LaunchKernelEx, so it may have been
	 * programmatic. */
	return row->is_programmatic ||
	       (!api->arg_count && strstr(load->strings->strings[api->name], "LaunchKernelEx"));
}

/* Whether the order in which the two calls submitted to the stream is known. For calls of two
 * threads it is not if they overlapped in time. */
static bool is_ordered(const struct trace *trace, uint32_t first, uint32_t second)
{
	const struct trace_call *a = &trace->calls[first], *b = &trace->calls[second];

	return a->thread == b->thread || a->end_ns <= b->begin_ns;
}

/* Whether the activity AT began before the end of state->before although it had to wait for it. */
static bool is_forbidden(const struct judging *judging, const struct stream_state *state,
			 uint32_t at)
{
	const struct trace *trace = judging->load->trace;
	const struct trace_activity *before = &trace->activities[state->before];
	const struct trace_activity *row = &trace->activities[at];
	bool are_kernels = trace_work_of(trace, before)->kind == TRACE_KERNEL &&
			   trace_work_of(trace, row)->kind == TRACE_KERNEL;

	if (row->start_ns >= before->end_ns || !is_ordered(trace, before->call, row->call))
		return false;
	return !are_kernels || state->early == TRACE_NONE || state->early <= state->before;
}

/* Inserts a wrong activity into the list of the longest. */
static void keep(struct judging *judging, uint32_t wrong, uint32_t passed)
{
	const struct trace_activity *row = &judging->load->trace->activities[wrong];
	struct wrong_row kept = {wrong, passed, row->end_ns - row->start_ns};

	judging->wrong_count++;
	for (uint32_t i = 0; i < MESSAGES_MOST; i++) {
		struct wrong_row *place = &judging->longest[i], next = *place;

		if (kept.length_ns <= place->length_ns)
			continue;
		*place = kept;
		kept = next;
	}
}

static int tell(const struct judging *judging)
{
	static const char *const kinds[] = {
		[TRACE_KERNEL] = "kernel", [TRACE_COPY] = "copy", [TRACE_MEMSET] = "memset"};
	struct process_load *load = judging->load;
	int err = 0;

	for (uint32_t i = 0; i < MESSAGES_MOST && judging->longest[i].length_ns && err == 0; i++) {
		const struct wrong_row *wrong = &judging->longest[i];
		const struct trace_activity *row = &load->trace->activities[wrong->row];
		const struct trace_work *work = trace_work_of(load->trace, row);

		err = load_message(
			load, false,
			"a %s%s%s of call %llu lasted %lld ns by CUPTI, while its stream ran %u "
			"other%s that cannot have been then: it has no times",
			kinds[work->kind], work->name ? " " : "",
			load->strings->strings[work->name], (unsigned long long)row->cid,
			(long long)wrong->length_ns, wrong->passed, wrong->passed == 1 ? "" : "s");
	}
	if (err == 0 && judging->wrong_count > MESSAGES_MOST)
		err = load_message(load, false, "and %u more without times for that reason",
				   judging->wrong_count - MESSAGES_MOST);
	return err;
}

static int64_t length_of(const struct trace *trace, uint32_t at)
{
	return trace->activities[at].end_ns - trace->activities[at].start_ns;
}

/* Called when no further activity can overlap state->before: removes the times of the wrong
 * activity, if there is one. */
static void judge(struct judging *judging, const struct stream_state *state)
{
	struct trace *trace = judging->load->trace;
	uint32_t wrong = state->before;

	if (!state->passed)
		return;
	if (state->passed == 1 && length_of(trace, state->other) > length_of(trace, wrong))
		wrong = state->other;
	keep(judging, wrong, state->passed);
	trace->activities[wrong].untimed = RECORD_UNTIMED_IMPOSSIBLE;
	trace->activities[wrong].start_ns = trace->activities[wrong].end_ns = 0;
	judging->found++;
}

/* Makes CALL the current call of the stream. The activities of the call before become earlier
 * ones. */
static void enter_call(struct judging *judging, struct stream_state *state, uint32_t call)
{
	const struct trace_activity *rows = judging->load->trace->activities;

	state->call = call;
	if (state->latest == TRACE_NONE)
		return;
	if (state->before == TRACE_NONE ||
	    rows[state->latest].end_ns >= rows[state->before].end_ns) {
		if (state->before != TRACE_NONE)
			judge(judging, state);
		state->before = state->latest;
		state->passed = 0;
	}
	state->latest = TRACE_NONE;
}

static void take(struct judging *judging, struct stream_state *state, uint32_t at)
{
	const struct trace_activity *rows = judging->load->trace->activities;

	if (state->call != rows[at].call)
		enter_call(judging, state, rows[at].call);
	if (may_begin_early(judging->load, &rows[at]))
		state->early = at;
	if (state->before != TRACE_NONE && is_forbidden(judging, state, at) && !state->passed++)
		state->other = at;
	if (state->latest == TRACE_NONE || rows[at].end_ns > rows[state->latest].end_ns)
		state->latest = at;
}

/* Whether the activity has times, a call and a CUDA stream. Copies within host memory are not
 * judged: CUPTI reports their submission as their start, even while the stream is busy (H200, CUDA
 * 13.0). */
static bool is_judged(const struct process_load *load, const struct trace_activity *row)
{
	return row->untimed == RECORD_UNTIMED_NO && row->call != TRACE_NONE &&
	       trace_work_of(load->trace, row)->direction != TRACE_H2H &&
	       row->stream != TRACE_NONE && row->stream >= load->cuda.stream_first &&
	       row->stream - load->cuda.stream_first < load->cuda.streams.count &&
	       row->agent != TRACE_NONE &&
	       load->trace->agents[row->agent].index >= RECORD_CUDA_AGENT_FIRST;
}

static void judge_all(struct judging *judging)
{
	const struct process_load *load = judging->load;
	uint32_t count = load->cuda.streams.count;

	judging->found = 0;
	memset(judging->streams, 0xff, (size_t)count * sizeof(*judging->streams));
	for (uint32_t i = 0; i < count; i++)
		judging->streams[i].passed = 0;
	for (uint32_t i = load->first.activities; i < load->trace->activities_count; i++) {
		const struct trace_activity *row = &load->trace->activities[i];

		if (is_judged(load, row))
			take(judging, &judging->streams[row->stream - load->cuda.stream_first], i);
	}
	for (uint32_t i = 0; i < count; i++) {
		enter_call(judging, &judging->streams[i], TRACE_NONE);
		if (judging->streams[i].before != TRACE_NONE)
			judge(judging, &judging->streams[i]);
	}
}

int cuda_impossible_load(struct process_load *load)
{
	struct judging judging = {.load = load};
	int err;

	if (!load->cuda.streams.count)
		return 0;
	judging.streams = table_alloc(load->cuda.streams.count, sizeof(*judging.streams));
	if (!judging.streams)
		return -ENOMEM;
	for (int round = 0; round < ROUNDS_MOST; round++) {
		judge_all(&judging);
		if (!judging.found)
			break;
	}
	err = tell(&judging);
	free(judging.streams);
	return err;
}
