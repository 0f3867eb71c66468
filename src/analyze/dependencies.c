/* Makes the dependencies of a trace (dependencies.h) in one walk through the calls. */
#include "analyze/dependencies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/dependency_walk.h"
#include "trace/collective.h"

/* ---- calls ---- */

/* Whether an API, by its name, returns after its copy has been made. */
static bool is_blocking_api(const char *name)
{
	static const char *const starts[] = {"hipMemcpy", "cudaMemcpy", "cuMemcpy"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return !strstr(name, "Async");
	}
	return false;
}

static int init_walk(struct dependency_walk *walk, struct dependencies *deps)
{
	const struct trace *trace = deps->trace;
	int err = orders_init(&walk->orders, deps);

	walk->deps = deps;
	if (err == 0)
		err = replay_plans_init(&walk->plans, trace);
	if (err < 0)
		return err;
	walk->record_sources = malloc(((size_t)trace->event_records_count + 1) * sizeof(uint32_t));
	walk->thread_agents = malloc(((size_t)trace->threads_count + 1) * sizeof(uint32_t));
	walk->last_calls = malloc(((size_t)trace->threads_count + 1) * sizeof(uint32_t));
	walk->last_packets = malloc(((size_t)trace->queues_count + 1) * sizeof(uint32_t));
	walk->is_blocking = calloc((size_t)trace->apis_count + 1, sizeof(bool));
	walk->synced = calloc((size_t)trace->agents_count + 1, sizeof(uint64_t));
	walk->node_launch = calloc((size_t)trace->nodes_count + 1, sizeof(uint32_t));
	walk->node_first = calloc((size_t)trace->nodes_count + 1, sizeof(uint32_t));
	walk->node_last = calloc((size_t)trace->nodes_count + 1, sizeof(uint32_t));
	if (!walk->record_sources || !walk->thread_agents || !walk->last_calls ||
	    !walk->last_packets || !walk->is_blocking || !walk->synced || !walk->node_launch ||
	    !walk->node_first || !walk->node_last)
		return -ENOMEM;
	memset(walk->record_sources, 0xff, (size_t)trace->event_records_count * sizeof(uint32_t));
	memset(walk->thread_agents, 0xff, (size_t)trace->threads_count * sizeof(uint32_t));
	memset(walk->last_packets, 0xff, (size_t)trace->queues_count * sizeof(uint32_t));
	memset(walk->last_calls, 0xff, (size_t)trace->threads_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < trace->apis_count; i++)
		walk->is_blocking[i] = is_blocking_api(trace_text(trace, trace->apis[i].name));
	return 0;
}

static void release_walk(struct dependency_walk *walk)
{
	orders_release(&walk->orders);
	replay_plans_release(&walk->plans);
	replay_scratch_release(&walk->replay);
	free(walk->record_sources);
	free(walk->thread_agents);
	free(walk->last_calls);
	free(walk->last_packets);
	free(walk->is_blocking);
	free(walk->synced);
	free(walk->node_launch);
	free(walk->node_first);
	free(walk->node_last);
}

/* Links the call with the call before it of the same thread. */
static void link_call(struct dependency_walk *walk, uint32_t call)
{
	struct dependencies *deps = walk->deps;
	uint32_t thread = deps->trace->calls[call].thread;
	uint32_t before = thread == TRACE_NONE ? TRACE_NONE : walk->last_calls[thread];

	deps->call_before[call] = before;
	deps->call_after[call] = TRACE_NONE;
	if (before != TRACE_NONE) {
		deps->call_after[before] = call;
		deps->counts[DEPENDENCY_PROGRAM]++;
	}
	if (thread != TRACE_NONE)
		walk->last_calls[thread] = call;
}

/* ---- work ---- */

/* Returns EDGE, changed to PROGRAMMATIC if ROW is a programmatic launch and the edge comes from the
 * kernel before it in its stream. */
static struct dependency edge_from(const struct dependencies *deps, struct dependency edge,
				   const struct trace_activity *row)
{
	const struct trace *trace = deps->trace;

	if (row->is_programmatic && edge.kind == DEPENDENCY_STREAM &&
	    edge.from < dependencies_first_join(deps) &&
	    trace_work_of(trace, &trace->activities[edge.from])->kind == TRACE_KERNEL)
		edge.kind = DEPENDENCY_PROGRAMMATIC;
	return edge;
}

/* Takes an activity that is not part of a graph launch. */
static void take_single(struct dependency_walk *walk, uint32_t activity)
{
	const struct trace_activity *row = &walk->deps->trace->activities[activity];
	uint32_t stream_order = orders_find(&walk->orders, row->stream, row->agent);
	uint32_t behind = queue_take(walk, activity), opened, ref;

	if (stream_order == TRACE_NONE) {
		opened = store_open(walk->deps);
		queue_push(walk, opened, behind);
		store_close_activity(walk->deps, opened, activity);
		return;
	}
	orders_take(&walk->orders, stream_order, row->agent);
	opened = store_open(walk->deps);
	for (uint32_t i = 0; i < walk->orders.sources_count; i++)
		store_push(walk->deps, edge_from(walk->deps, walk->orders.sources[i], row));
	queue_push(walk, opened, behind);
	ref = store_close_activity(walk->deps, opened, activity);
	if (walk->orders.is_blind)
		store_blind(walk->deps, activity);
	orders_give(&walk->orders, stream_order, ref);
}

/* Pushes edges from the copies of a blocking call to the call. */
static void push_blocking(struct dependency_walk *walk, const struct trace_call *call)
{
	const struct trace *trace = walk->deps->trace;

	for (uint32_t i = call->activity_first; i < call->activity_first + call->activity_count;
	     i++) {
		const struct trace_activity *row = &trace->activities[i];

		/* A copy within a device may end after the call has returned; then the call did not
		 * wait for it. */
		if (row->untimed == RECORD_UNTIMED_NO && row->end_ns <= call->end_ns)
			store_push(walk->deps, dependency_on(i, TRACE_NONE, DEPENDENCY_BLOCKING));
	}
}

static int take_activities(struct dependency_walk *walk, const struct trace_call *call)
{
	struct dependencies *deps = walk->deps;
	const struct trace_activity *rows = &deps->trace->activities[call->activity_first];

	deps->counts[DEPENDENCY_LAUNCH] += call->activity_count;
	for (uint32_t i = 0; i < call->activity_count; i++) {
		deps->contradicted[DEPENDENCY_LAUNCH] +=
			rows[i].untimed == RECORD_UNTIMED_NO && rows[i].start_ns < call->begin_ns;
		if (call->thread != TRACE_NONE && rows[i].agent != TRACE_NONE)
			walk->thread_agents[call->thread] = rows[i].agent;
	}
	if (call->launch != TRACE_NONE && rows[0].launch == call->launch)
		return replay_take(walk, call);
	for (uint32_t i = 0; i < call->activity_count; i++)
		take_single(walk, call->activity_first + i);
	return 0;
}

/* Takes all event records up to those of CID, inclusive. */
static void take_records(struct dependency_walk *walk, uint32_t process, uint64_t cid)
{
	const struct trace *trace = walk->deps->trace;

	for (; walk->next_record < trace->event_records_count; walk->next_record++) {
		const struct trace_event_record *row = &trace->event_records[walk->next_record];

		if (row->process > process || (row->process == process && row->cid > cid))
			return;
		record_take(walk, walk->next_record);
	}
}

/* Takes event records of the moment at which the call's kernel begins (start events of
 * hipExtLaunchKernel). They stand for the work before the kernel, so they are taken before it. */
static void take_start_records(struct dependency_walk *walk, const struct trace_call *call)
{
	const struct trace *trace = walk->deps->trace;
	int64_t start_ns = trace->activities[call->activity_first].start_ns;

	for (; walk->next_record < trace->event_records_count; walk->next_record++) {
		const struct trace_event_record *row = &trace->event_records[walk->next_record];

		if (row->process != call->process || row->cid != call->cid || row->device_ns == 0 ||
		    row->device_ns != start_ns || row->node != TRACE_NONE)
			return;
		record_take(walk, walk->next_record);
	}
}

static int take_call(struct dependency_walk *walk, uint32_t at)
{
	struct dependencies *deps = walk->deps;
	const struct trace_call *call = &deps->trace->calls[at];
	uint32_t opened;
	int result = 0;

	link_call(walk, at);
	if (call->cid)
		take_records(walk, call->process, call->cid - 1);
	waits_take_before(walk, call->process, call->cid);
	waits_take_streams(walk, call);
	if (call->activity_count) {
		take_start_records(walk, call);
		result = take_activities(walk, call);
	}
	/* After the call's own activities: a launch records its stop event behind the kernel. */
	take_records(walk, call->process, call->cid);
	waits_settle(walk, call);
	opened = store_open(deps);
	waits_push_host(walk, call);
	if (call->activity_count && walk->is_blocking[call->api])
		push_blocking(walk, call);
	store_close_call(deps, opened, at);
	return result < 0 ? result : deps->error;
}

/* ---- activities without a call ---- */

/* Adds the edge to an activity without a call. LATEST: by stream, then by queue, the activity that
 * ended last so far. */
static void take_loose(struct dependencies *deps, uint32_t *latest, uint32_t activity)
{
	const struct trace *trace = deps->trace;
	const struct trace_activity *row = &trace->activities[activity];
	uint32_t opened = store_open(deps), *last;

	if (row->stream != TRACE_NONE)
		last = &latest[row->stream];
	else if (row->queue != TRACE_NONE && row->queue < trace->queues_count)
		last = &latest[trace->streams_count + row->queue];
	else
		return;
	if (*last != TRACE_NONE && (row->stream != TRACE_NONE || queue_has_barrier_bit(row)))
		store_push(deps, dependency_on(*last, TRACE_NONE,
					       row->stream != TRACE_NONE ? DEPENDENCY_STARTS
									 : DEPENDENCY_QUEUE));
	store_close_activity(deps, opened, activity);
	if (*last == TRACE_NONE || row->end_ns > trace->activities[*last].end_ns)
		*last = activity;
}

/* Takes the activities without a call. The order of their submission is not known, but a stream
 * starts its activities in that order, so they are taken by start. */
static int take_loose_rows(struct dependencies *deps)
{
	const struct trace *trace = deps->trace;
	size_t orders = (size_t)trace->streams_count + trace->queues_count;
	uint32_t *latest;

	/* In most traces every activity has a call. */
	if (deps->counts[DEPENDENCY_LAUNCH] == trace->activities_count)
		return 0;
	latest = malloc((orders + 1) * sizeof(*latest));
	if (!latest)
		return -ENOMEM;
	memset(latest, 0xff, orders * sizeof(*latest));
	for (uint32_t i = 0; i < deps->starts.count; i++) {
		uint32_t activity = deps->starts.order[i];

		if (trace->activities[activity].call == TRACE_NONE)
			take_loose(deps, latest, activity);
	}
	free(latest);
	return deps->error;
}

/* ---- all ---- */

static int walk_calls(struct dependencies *deps)
{
	const struct trace *trace = deps->trace;
	struct dependency_walk walk = {0};
	int result = init_walk(&walk, deps);

	for (uint32_t i = 0; i < trace->calls_count && result == 0; i++) {
		if (i && trace->calls[i].process != trace->calls[i - 1].process) {
			take_records(&walk, trace->calls[i - 1].process, UINT64_MAX);
			waits_take_before(&walk, trace->calls[i - 1].process, UINT64_MAX);
		}
		result = take_call(&walk, i);
	}
	if (result == 0)
		waits_take_rest(&walk);
	release_walk(&walk);
	return result < 0 ? result : deps->error;
}

static int find_collectives(struct dependencies *deps)
{
	const struct trace *trace = deps->trace;

	deps->is_collective = calloc((size_t)trace->works_count + 1, sizeof(bool));
	if (!deps->is_collective)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->works_count; i++)
		deps->is_collective[i] =
			trace->works[i].kind == TRACE_KERNEL &&
			trace_is_collective_name(trace_text(trace, trace->works[i].name));
	for (uint32_t i = 0; i < trace->apis_count; i++)
		deps->has_rccl |= trace->apis[i].domain == RECORD_DOMAIN_RCCL;
	return 0;
}

static void count_unknown_streams(struct dependencies *deps)
{
	for (uint32_t i = 0; i < deps->trace->streams_count; i++)
		deps->streams_unknown += deps->trace->streams[i].kind == TRACE_STREAM_UNKNOWN;
}

int dependencies_make(const struct trace *trace, struct dependencies *ret_deps)
{
	struct dependencies deps = {
		.trace = trace,
		.lists = calloc((size_t)trace->activities_count + 1, sizeof(*deps.lists)),
		.blind = calloc((size_t)trace->activities_count / 8 + 1, 1),
		.call_before = malloc(((size_t)trace->calls_count + 1) * sizeof(uint32_t)),
		.call_after = malloc(((size_t)trace->calls_count + 1) * sizeof(uint32_t)),
	};
	int result = -ENOMEM;

	if (deps.lists && deps.blind && deps.call_before && deps.call_after)
		result = starts_init(&deps.starts, trace);
	if (result == 0)
		result = find_collectives(&deps);
	if (result == 0)
		result = walk_calls(&deps);
	if (result == 0)
		result = take_loose_rows(&deps);
	if (result < 0) {
		dependencies_release(&deps);
		return result;
	}
	count_unknown_streams(&deps);
	*ret_deps = deps;
	return 0;
}

void dependencies_release(struct dependencies *deps)
{
	free(deps->edges);
	free(deps->lists);
	starts_release(&deps->starts);
	free(deps->joins);
	free(deps->hosts);
	free(deps->unresolved);
	free(deps->blind);
	free(deps->is_collective);
	free(deps->call_before);
	free(deps->call_after);
	*deps = (struct dependencies){0};
}
