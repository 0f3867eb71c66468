/* The join: each call gets its activities, and what the call knows goes to them (stream, scope, the
 * size of what it copied). Nothing is guessed: an amount of the call is passed on only if it can
 * belong to one activity alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/workers.h"
#include "trace/join/call_copies.h"
#include "trace/load/call_streams.h"
#include "trace/row_table.h"

#define CALLS_PER_PART 32768

static bool is_hip(const struct trace *trace, uint32_t call)
{
	return call != TRACE_NONE &&
	       trace->apis[trace->calls[call].api].domain == RECORD_DOMAIN_HIP;
}

/* Stream of the innermost call that names one, from CALL outwards. A HIP call that names none, and
 * is in no other HIP call, works on the null stream, whatever stream the library that calls it was
 * given. */
static uint32_t stream_of(const struct process_load *load, uint32_t call)
{
	const struct trace *trace = load->trace;

	for (int depth = 0; call != TRACE_NONE && depth < TRACE_PARENTS_MOST; depth++) {
		const struct trace_call *row = &trace->calls[call];

		if (row->stream != TRACE_NONE)
			return row->stream;
		if (is_hip(trace, call) && !is_hip(trace, row->parent))
			return load->first.streams;
		call = row->parent;
	}
	return TRACE_NONE;
}

/* CUPTI tells the stream of an activity, but neither its place in its call nor when it was
 * submitted. */
static void place_cuda(const struct trace_call *call, uint32_t ordinal, bool is_programmatic,
		       struct trace_activity *row)
{
	row->is_programmatic = is_programmatic;
	row->ordinal = ordinal;
	row->submit_ns = call->begin_ns;
}

/* ---- the parts ---- */

/* A copy or fill whose work kind its call completes. */
struct completed_copy {
	uint32_t activity;
	uint32_t kind; /* index into the kinds of its part */
};

/* Copies and fills of a part, in order, and the work kinds that they get, mostly each once, in the
 * order of their first copies. */
struct join_part {
	struct completed_copy *copies;
	uint32_t copies_count;
	struct trace_work *kinds;
	uint32_t kinds_count;
	uint32_t *works; /* by kind: index into trace.works */
};

/* Kinds of a part by hash: index + 1 of the last one; 0 = none. */
#define KINDS_KNOWN 1024

/* Threads share the calls. What adds rows, or depends on the order of rows, is kept by part. */
struct joining {
	struct process_load *load;
	struct join_part *parts;
	uint32_t part_count;
	/* by worker: by stream, from first.streams, its first activity that names an agent */
	uint32_t **agents;
	unsigned worker_count;
};

static uint32_t part_end(const struct joining *joining, uint32_t number)
{
	uint64_t end = (number + 1ull) * CALLS_PER_PART;

	return end < joining->load->raw.cids.count ? (uint32_t)end : joining->load->raw.cids.count;
}

/* A call of CUDA works on the stream of its first activity. */
static int find_cuda_streams(void *joining_of_load, unsigned worker, uint32_t number)
{
	const struct joining *joining = joining_of_load;
	const struct process_load *load = joining->load;
	const struct trace *trace = load->trace;
	const uint32_t *firsts = load->call_notes.activity_firsts;

	for (uint32_t i = number * CALLS_PER_PART; i < part_end(joining, number); i++) {
		struct trace_call *call = &trace->calls[load->first.calls + i];
		uint32_t count = call_activities(&load->call_notes, i);

		if (count && trace->apis[call->api].domain == RECORD_DOMAIN_CUDA)
			call->stream = trace->activities[firsts[i]].stream;
	}
	return 0;
}

static void note_agent(const struct process_load *load, uint32_t *agents, uint32_t activity)
{
	const struct trace_activity *row = &load->trace->activities[activity];
	uint32_t *first;

	if (row->stream == TRACE_NONE || row->agent == TRACE_NONE)
		return;
	first = &agents[row->stream - load->first.streams];
	if (*first > activity)
		*first = activity;
}

/* Notes that ACTIVITY gets the work kind WORK. */
static int note_copy(struct join_part *part, uint32_t *known, uint32_t activity,
		     const struct trace_work *work)
{
	uint32_t *kind = &known[hash_bytes(work, sizeof(*work)) % KINDS_KNOWN];
	struct completed_copy *copy = trace_add(part, copies);
	struct trace_work *place;

	if (!copy)
		return -ENOMEM;
	/* Works are zeroed before they are filled, padding included.
	 * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*) */
	if (!*kind || memcmp(&part->kinds[*kind - 1], work, sizeof(*work)) != 0) {
		place = trace_add(part, kinds);
		if (!place)
			return -ENOMEM;
		memcpy(place, work, sizeof(*place));
		*kind = part->kinds_count;
	}
	*copy = (struct completed_copy){activity, *kind - 1};
	return 0;
}

/* Completes the work kind of ACTIVITY, if CALL knows more about it. */
static int complete_copy(const struct process_load *load, struct join_part *part, uint32_t *known,
			 const struct trace_call *call, uint32_t activity)
{
	const struct trace *trace = load->trace;
	const struct trace_work *was = trace_work_of(trace, &trace->activities[activity]);
	struct trace_work work;

	if (!copy_is_incomplete(call, was))
		return 0;
	memcpy(&work, was, sizeof(work));
	copy_complete(trace, call, &work);
	return note_copy(part, known, activity, &work);
}

static void describe_activities(const struct process_load *load, uint32_t *agents,
				const struct trace_call *call)
{
	struct trace *trace = load->trace;
	uint32_t stream = stream_of(load, (uint32_t)(call - trace->calls));
	bool is_cuda = trace->apis[call->api].domain == RECORD_DOMAIN_CUDA;
	uint32_t rank = (uint32_t)(call - trace->calls) - load->first.calls;
	bool is_programmatic = load->call_notes.programmatic &&
			       load->call_notes.programmatic[rank / 64] >> rank % 64 & 1;

	for (uint32_t i = 0; i < call->activity_count; i++) {
		struct trace_activity *row = &trace->activities[call->activity_first + i];

		row->work = work_numbering_get(&load->work_numbering, row->work);
		if (is_cuda)
			place_cuda(call, i, is_programmatic, row);
		else
			row->stream = stream;
		row->thread = call->thread;
		if (row->scope == TRACE_NONE)
			row->scope = call->scope;
		note_agent(load, agents, call->activity_first + i);
	}
}

static int describe_part(void *joining_of_load, unsigned worker, uint32_t number)
{
	const struct joining *joining = joining_of_load;
	const struct process_load *load = joining->load;
	struct join_part *part = &joining->parts[number];
	uint32_t known[KINDS_KNOWN] = {0};
	int err = 0;

	for (uint32_t i = number * CALLS_PER_PART; i < part_end(joining, number) && err == 0; i++) {
		struct trace_call *call = &load->trace->calls[load->first.calls + i];

		call->activity_count = call_activities(&load->call_notes, i);
		call->activity_first =
			call->activity_count ? load->call_notes.activity_firsts[i] : 0;
		describe_activities(load, joining->agents[worker], call);
		for (uint32_t k = 0; k < call->activity_count && err == 0; k++)
			err = complete_copy(load, part, known, call, call->activity_first + k);
	}
	return err;
}

/* Gives the copies of a part the work kinds that were interned. */
static int give_part(void *joining_of_load, unsigned worker, uint32_t number)
{
	const struct joining *joining = joining_of_load;
	const struct join_part *part = &joining->parts[number];

	for (uint32_t i = 0; i < part->copies_count; i++)
		joining->load->trace->activities[part->copies[i].activity].work =
			part->works[part->copies[i].kind];
	return 0;
}

/* Interns part by part, because the order in which work kinds are added is that of their rows. */
static int complete_copies(struct joining *joining)
{
	for (uint32_t i = 0; i < joining->part_count; i++) {
		struct join_part *part = &joining->parts[i];

		part->works = table_alloc(part->kinds_count, sizeof(*part->works));
		if (!part->works)
			return -ENOMEM;
		for (uint32_t k = 0; k < part->kinds_count; k++) {
			part->works[k] = work_intern(&joining->load->works, &part->kinds[k]);
			if (part->works[k] == TRACE_NONE)
				return -ENOMEM;
		}
	}
	return workers_run(WORKERS_ALL, joining->part_count, give_part, joining);
}

/* Streams without an agent get that of their first activity that names one. */
static void take_agents(const struct joining *joining)
{
	const struct process_load *load = joining->load;
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.streams; i < trace->streams_count; i++) {
		uint32_t first = TRACE_NONE;

		for (unsigned worker = 0; worker < joining->worker_count; worker++) {
			uint32_t here = joining->agents[worker][i - load->first.streams];

			first = here < first ? here : first;
		}
		if (trace->streams[i].agent == TRACE_NONE && first != TRACE_NONE)
			trace->streams[i].agent = trace->activities[first].agent;
	}
}

static int init_joining(struct joining *joining, struct process_load *load)
{
	uint32_t streams = load->trace->streams_count - load->first.streams;

	*joining = (struct joining){
		.load = load,
		.part_count = load->raw.cids.count / CALLS_PER_PART + 1,
		.worker_count = workers_count(WORKERS_ALL),
	};
	joining->parts = table_zeroed(joining->part_count, sizeof(*joining->parts));
	joining->agents = calloc(joining->worker_count, sizeof(*joining->agents));
	if (!joining->parts || !joining->agents)
		return -ENOMEM;
	for (unsigned i = 0; i < joining->worker_count; i++) {
		joining->agents[i] = table_alloc(streams, sizeof(**joining->agents));
		if (!joining->agents[i])
			return -ENOMEM;
		memset(joining->agents[i], 0xff, streams * sizeof(**joining->agents));
	}
	return 0;
}

static void release_joining(struct joining *joining)
{
	for (uint32_t i = 0; joining->parts && i < joining->part_count; i++) {
		free(joining->parts[i].copies);
		free(joining->parts[i].kinds);
		free(joining->parts[i].works);
	}
	for (unsigned i = 0; joining->agents && i < joining->worker_count; i++)
		free(joining->agents[i]);
	free(joining->parts);
	free(joining->agents);
}

static bool has_cuda_apis(const struct process_load *load)
{
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.apis; i < trace->apis_count; i++) {
		if (trace->apis[i].domain == RECORD_DOMAIN_CUDA)
			return true;
	}
	return false;
}

static int join_calls(struct process_load *load)
{
	struct joining joining;
	int err = init_joining(&joining, load);

	/* First, because a call may work on the stream of its parent, which may be in any part. */
	if (err == 0 && has_cuda_apis(load))
		err = workers_run(WORKERS_ALL, joining.part_count, find_cuda_streams, &joining);
	if (err == 0)
		err = workers_run(WORKERS_ALL, joining.part_count, describe_part, &joining);
	if (err == 0)
		err = complete_copies(&joining);
	if (err == 0)
		take_agents(&joining);
	release_joining(&joining);
	return err;
}

/* The activities of calls get the new numbers of their work kinds by describe_activities. */
static void renumber_orphans(const struct process_load *load)
{
	const uint32_t *firsts = load->call_notes.activity_firsts + load->raw.cids.count;

	for (uint32_t i = firsts[0]; i < firsts[1]; i++) {
		struct trace_activity *row = &load->trace->activities[i];

		row->work = work_numbering_get(&load->work_numbering, row->work);
	}
}

int join_load(struct process_load *load)
{
	int err = call_streams_load(load);

	renumber_orphans(load);
	if (err == 0)
		err = join_calls(load);
	call_notes_release(&load->call_notes);
	work_numbering_release(&load->work_numbering);
	return err;
}
