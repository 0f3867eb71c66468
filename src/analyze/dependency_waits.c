/* Event records and waits of streams and of the host (dependency_walk.h). */
#include "analyze/dependency_walk.h"

/* The agent on which the last work of the call's thread ran, or TRACE_NONE. */
static uint32_t thread_agent(const struct dependency_walk *walk, uint32_t call)
{
	const struct trace *trace = walk->deps->trace;
	uint32_t thread = call == TRACE_NONE ? TRACE_NONE : trace->calls[call].thread;

	return thread == TRACE_NONE ? TRACE_NONE : walk->thread_agents[thread];
}

void record_take(struct dependency_walk *walk, uint32_t record)
{
	const struct trace_event_record *row = &walk->deps->trace->event_records[record];
	uint32_t stream_order =
		orders_find(&walk->orders, row->stream, thread_agent(walk, row->call));

	if (stream_order != TRACE_NONE)
		walk->record_sources[record] = orders_settle(&walk->orders, stream_order);
}

/* ---- what a wait is for ---- */

static bool is_for_event(const struct trace_wait *wait)
{
	return wait->type == TRACE_WAIT_EVENT || wait->type == TRACE_WAIT_STREAM_EVENT;
}

/* Finds the activity or join that wait AT is for. STORE_NOTHING: the wait is for nothing. False:
 * not known; the wait is added to the unresolved ones. */
static bool find_event_source(struct dependency_walk *walk, uint32_t at, uint32_t *ret_source)
{
	const struct trace *trace = walk->deps->trace;
	const struct trace_wait *wait = &trace->waits[at];
	enum dependency_doubt doubt = DEPENDENCY_DOUBT_NO_RECORD;

	if (wait->producer != TRACE_NONE) {
		uint32_t source = walk->record_sources[wait->producer];

		doubt = source == RECORD_NOT_PLACED ? DEPENDENCY_DOUBT_NO_NODE
						    : DEPENDENCY_DOUBT_NO_STREAM;
		if (source != RECORD_NOT_PLACED &&
		    trace->event_records[wait->producer].stream != TRACE_NONE) {
			*ret_source = source;
			return true;
		}
	} else if (wait->known != TRACE_KNOWN_NOT) {
		*ret_source = STORE_NOTHING;
		return true;
	} else if (wait->event != TRACE_NONE && trace->events[wait->event].is_foreign) {
		doubt = DEPENDENCY_DOUBT_FOREIGN;
	}
	store_unresolved(walk->deps, at, doubt);
	return false;
}

static void take_stream_wait(struct dependency_walk *walk, uint32_t at)
{
	const struct trace_wait *wait = &walk->deps->trace->waits[at];
	uint32_t stream_order =
		orders_find(&walk->orders, wait->stream, thread_agent(walk, wait->call));
	uint32_t source;

	if (!find_event_source(walk, at, &source)) {
		if (stream_order != TRACE_NONE)
			walk->orders.rows[stream_order].is_blind = true;
		return;
	}
	if (stream_order == TRACE_NONE) {
		store_unresolved(walk->deps, at, DEPENDENCY_DOUBT_NO_STREAM);
		return;
	}
	walk->deps->resolved_waits++;
	if (source != STORE_NOTHING)
		orders_add_pending(&walk->orders, stream_order,
				   dependency_on(source, at, DEPENDENCY_EVENT));
	/* Blocking streams also wait for waits of the legacy stream, so turn them into work at
	 * once. */
	if (walk->orders.rows[stream_order].kind == TRACE_STREAM_NULL)
		orders_settle(&walk->orders, stream_order);
}

/* ---- the host's ---- */

/* Whether LANE belongs to AGENT and got work or waits since the host waited for the whole device
 * last. */
static bool is_awaited(const struct dependency_walk *walk, uint32_t stream_order, uint32_t agent)
{
	const struct stream_order *row = &walk->orders.rows[stream_order];

	return row->agent == agent && row->last != STORE_NOTHING &&
	       (row->turn > walk->synced[agent] || row->pending);
}

/* Makes the joins that WAIT of the host needs. Must run before the list of the call is opened,
 * because a join is a list of its own. */
static void settle(struct dependency_walk *walk, const struct trace_wait *wait)
{
	uint32_t agent = thread_agent(walk, wait->call), stream_order;

	if (wait->type == TRACE_WAIT_STREAM) {
		stream_order = orders_find(&walk->orders, wait->stream, agent);
		if (stream_order != TRACE_NONE)
			orders_settle(&walk->orders, stream_order);
	} else if (wait->type == TRACE_WAIT_DEVICE && agent != TRACE_NONE) {
		for (stream_order = 0; stream_order < walk->orders.count; stream_order++) {
			if (is_awaited(walk, stream_order, agent) &&
			    walk->orders.rows[stream_order].pending)
				orders_settle(&walk->orders, stream_order);
		}
	}
}

static void push_device(struct dependency_walk *walk, uint32_t at)
{
	uint32_t agent = thread_agent(walk, walk->deps->trace->waits[at].call);

	if (agent == TRACE_NONE) {
		store_unresolved(walk->deps, at, DEPENDENCY_DOUBT_NO_DEVICE);
		return;
	}
	walk->deps->resolved_waits++;
	for (uint32_t stream_order = 0; stream_order < walk->orders.count; stream_order++) {
		if (is_awaited(walk, stream_order, agent))
			store_push(walk->deps, dependency_on(walk->orders.rows[stream_order].last,
							     at, DEPENDENCY_HOST_DEVICE));
	}
	walk->synced[agent] = walk->orders.turn;
}

static void push_stream(struct dependency_walk *walk, uint32_t at)
{
	const struct trace_wait *wait = &walk->deps->trace->waits[at];
	uint32_t stream_order =
		orders_find(&walk->orders, wait->stream, thread_agent(walk, wait->call));

	if (stream_order == TRACE_NONE) {
		store_unresolved(walk->deps, at, DEPENDENCY_DOUBT_NO_STREAM);
		return;
	}
	walk->deps->resolved_waits++;
	if (walk->orders.rows[stream_order].last != STORE_NOTHING)
		store_push(walk->deps, dependency_on(walk->orders.rows[stream_order].last, at,
						     DEPENDENCY_HOST_STREAM));
}

static void push_event(struct dependency_walk *walk, uint32_t at)
{
	uint32_t source;

	if (!find_event_source(walk, at, &source))
		return;
	walk->deps->resolved_waits++;
	if (source != STORE_NOTHING)
		store_push(walk->deps, dependency_on(source, at, DEPENDENCY_HOST_EVENT));
}

static void push_host(struct dependency_walk *walk, uint32_t at)
{
	switch (walk->deps->trace->waits[at].type) {
	case TRACE_WAIT_EVENT:
		push_event(walk, at);
		break;
	case TRACE_WAIT_STREAM:
		push_stream(walk, at);
		break;
	case TRACE_WAIT_DEVICE:
		push_device(walk, at);
		break;
	case TRACE_WAIT_UNKNOWN:
		store_unresolved(walk->deps, at, DEPENDENCY_DOUBT_NO_TYPE);
		break;
	case TRACE_WAIT_STREAM_EVENT:
		break;
	}
}

/* ---- in the order of calls ---- */

/* A wait that failed waited for nothing. */
static bool is_wait(const struct trace_wait *wait)
{
	return wait->result == 0;
}

/* Takes a wait without a call. A wait of a stream gates the stream; a wait of the host gates
 * nothing, because its call is not in the trace, and is only counted. */
static void take_without_call(struct dependency_walk *walk, uint32_t at)
{
	const struct trace_wait *wait = &walk->deps->trace->waits[at];
	uint32_t source;

	if (!is_wait(wait))
		return;
	if (wait->type == TRACE_WAIT_STREAM_EVENT)
		take_stream_wait(walk, at);
	else if (wait->type == TRACE_WAIT_UNKNOWN)
		store_unresolved(walk->deps, at, DEPENDENCY_DOUBT_NO_TYPE);
	else if (!is_for_event(wait) || find_event_source(walk, at, &source))
		walk->deps->resolved_waits++;
}

void waits_take_before(struct dependency_walk *walk, uint32_t process, uint64_t cid)
{
	const struct trace *trace = walk->deps->trace;

	for (; walk->next_wait < trace->waits_count; walk->next_wait++) {
		const struct trace_wait *wait = &trace->waits[walk->next_wait];

		if (wait->process > process || (wait->process == process && wait->cid >= cid))
			return;
		take_without_call(walk, walk->next_wait);
	}
}

void waits_take_rest(struct dependency_walk *walk)
{
	const struct trace *trace = walk->deps->trace;

	for (; walk->next_record < trace->event_records_count; walk->next_record++)
		record_take(walk, walk->next_record);
	for (; walk->next_wait < trace->waits_count; walk->next_wait++)
		take_without_call(walk, walk->next_wait);
}

void waits_take_streams(struct dependency_walk *walk, const struct trace_call *call)
{
	const struct trace *trace = walk->deps->trace;
	uint32_t at = walk->next_wait;

	walk->wait_first = at;
	for (; at < trace->waits_count && trace->waits[at].process == call->process &&
	       trace->waits[at].cid == call->cid;
	     at++) {
		if (trace->waits[at].type == TRACE_WAIT_STREAM_EVENT && is_wait(&trace->waits[at]))
			take_stream_wait(walk, at);
	}
	walk->wait_stop = walk->next_wait = at;
}

void waits_settle(struct dependency_walk *walk, const struct trace_call *call)
{
	for (uint32_t at = walk->wait_first; at < walk->wait_stop; at++) {
		if (is_wait(&walk->deps->trace->waits[at]))
			settle(walk, &walk->deps->trace->waits[at]);
	}
}

void waits_push_host(struct dependency_walk *walk, const struct trace_call *call)
{
	for (uint32_t at = walk->wait_first; at < walk->wait_stop; at++) {
		if (is_wait(&walk->deps->trace->waits[at]))
			push_host(walk, at);
	}
}
