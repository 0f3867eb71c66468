/* The arguments of HIP calls about waits and event records, and what the rows of waits have in
 * common with them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_waits.h"
#include "format/words.h"

const char *const kineto_producer_keys[3] = {"wait_on_graph_id", "wait_on_graph_node_id",
					     "wait_on_replay"};

char *kineto_put_known(char *at, const struct trace_wait *wait)
{
	if (wait->producer == TRACE_NONE || wait->known == TRACE_KNOWN_NOT)
		return at;
	at = KINETO_PUT(at, ",\"known by\":\"");
	at = kineto_put_z(at, words_known(wait->known));
	*at++ = '"';
	return at;
}

/* The node's id as the launch's kernels have it: graph id and node index, or CUPTI's id. CUPTI's
 * ids of the top graph's nodes have the graph's id in the upper half; in the ids of a launch's
 * kernels the executable graph's id replaces it (seen on H200, CUDA 13.0). */
static uint64_t node_id(const struct trace *trace, const struct trace_event_record *record,
			const struct trace_launch *launch)
{
	const struct trace_node *node = &trace->nodes[record->node];

	if (trace->apis[trace->calls[record->call].api].domain == RECORD_DOMAIN_CUDA)
		return trace->graphs[node->graph].parent == TRACE_NONE
			       ? trace->execs[launch->exec].id << 32 | (uint32_t)node->handle
			       : node->handle;
	return trace->graphs[node->graph].id << 32 | ((uint64_t)node->index + 1);
}

char *kineto_put_node(const struct trace *trace, char *at, const struct trace_event_record *record,
		      const char *const keys[3])
{
	const struct trace_launch *launch;
	uint64_t values[3];

	if (!record || record->node == TRACE_NONE || record->call == TRACE_NONE ||
	    trace->calls[record->call].launch == TRACE_NONE)
		return at;
	launch = &trace->launches[trace->calls[record->call].launch];
	values[0] = trace->execs[launch->exec].id;
	values[1] = node_id(trace, record, launch);
	values[2] = launch->replay;
	for (int i = 0; i < 3; i++) {
		at = KINETO_PUT(at, ",\"");
		at = kineto_put_z(at, keys[i]);
		at = KINETO_PUT(at, "\":");
		at = kineto_put_u64(at, values[i]);
	}
	return at;
}

/* True if the call's attributes already state the wait: in another tool's file, or in one of
 * dagtap's that was read again. */
static bool is_said(const struct trace *trace, uint32_t call)
{
	const struct trace_attribute_set *set;

	if (!trace->call_attributes)
		return false;
	set = &trace->attribute_sets[trace->call_attributes[call]];
	for (uint32_t i = set->first; i < set->first + set->count; i++) {
		const char *key = trace_text(trace, trace->scope_attributes[i].key);

		if (!strcmp(key, "hip_stream") || !strcmp(key, "hip_event") ||
		    !strcmp(key, "sync_type"))
			return true;
	}
	return false;
}

/* Marks CALL as the wait or record NUMBER (waits_of_calls). Only HIP calls get these arguments,
 * and none for HTA, which would take the calls for the waits' own rows. */
static void see_wait(struct kineto *kineto, uint32_t call, uint32_t number)
{
	const struct trace *trace = kineto->trace;

	if (call == TRACE_NONE || kineto->is_hta ||
	    trace->apis[trace->calls[call].api].domain != RECORD_DOMAIN_HIP || is_said(trace, call))
		return;
	kineto->waits_of_calls[call] = number;
	kineto_mark(kineto, call, KINETO_MARK_WAIT);
}

int kineto_find_waits(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	uint32_t count = trace->waits_count;

	if (count == 0 && trace->event_records_count == 0)
		return 0;
	kineto->waits_of_calls =
		calloc((size_t)trace->calls_count + 1, sizeof(*kineto->waits_of_calls));
	if (!kineto->waits_of_calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->event_records_count; i++) {
		uint32_t call = trace->event_records[i].call;

		/* a graph launch may record many events, by its nodes */
		if (call != TRACE_NONE && trace->calls[call].launch == TRACE_NONE)
			see_wait(kineto, call, count + i + 1);
	}
	for (uint32_t i = 0; i < count; i++)
		see_wait(kineto, trace->waits[i].call, i + 1);
	return 0;
}

/* The keys and words below are those of a change that is proposed to Kineto
 * (docs/format/kineto.md); handles are written as C prints addresses. */
static char *put_handle(char *at, const char *key, uint64_t handle)
{
	at = KINETO_PUT(at, ",\"");
	at = kineto_put_z(at, key);
	at = KINETO_PUT(at, "\":");
	return kineto_put_pointer(at, handle);
}

static char *put_stream(const struct trace *trace, char *at, const char *key, uint32_t stream)
{
	return stream == TRACE_NONE ? at : put_handle(at, key, trace->streams[stream].handle);
}

static char *put_event(const struct trace *trace, char *at, const char *key, uint32_t event)
{
	return event == TRACE_NONE ? at : put_handle(at, key, trace->events[event].handle);
}

static const char *sync_type(enum trace_wait_type type)
{
	static const char *const names[] = {
		[TRACE_WAIT_UNKNOWN] = "unknown",
		[TRACE_WAIT_EVENT] = "event_synchronize",
		[TRACE_WAIT_STREAM_EVENT] = "stream_wait_event",
		[TRACE_WAIT_STREAM] = "stream_synchronize",
		[TRACE_WAIT_DEVICE] = "device_synchronize",
	};

	return names[type];
}

/* Writes the producer of a HIP wait; unknown parts are left out. */
static char *put_hip_producer(const struct kineto *kineto, char *at, const struct trace_wait *wait)
{
	const struct trace *trace = kineto->trace;
	const struct trace_event_record *record;

	at = put_event(trace, at, "wait_on_hip_event_id", wait->event);
	if (wait->producer == TRACE_NONE)
		return at;
	record = &trace->event_records[wait->producer];
	at = put_stream(trace, at, "wait_on_stream", record->stream);
	at = KINETO_PUT(at, ",\"wait_on_hip_event_record_corr_id\":");
	at = kineto_put_u64(at,
			    timeline_correlation(&kineto->timeline, record->process, record->cid));
	at = kineto_put_node(trace, at, record, kineto_producer_keys);
	return kineto_put_known(at, wait);
}

char *kineto_put_wait_args(const struct kineto *kineto, char *at, uint32_t call)
{
	const struct trace *trace = kineto->trace;
	uint32_t number = kineto->waits_of_calls[call];
	const struct trace_event_record *record;
	const struct trace_wait *wait;

	if (number > trace->waits_count) {
		record = &trace->event_records[number - trace->waits_count - 1];
		at = put_stream(trace, at, "hip_stream", record->stream);
		return put_event(trace, at, "hip_event", record->event);
	}
	wait = &trace->waits[number - 1];
	at = KINETO_PUT(at, ",\"sync_type\":\"");
	at = kineto_put_z(at, sync_type(wait->type));
	*at++ = '"';
	/* waits for no stream have a null stream, as the proposed change does */
	if (wait->type == TRACE_WAIT_EVENT || wait->type == TRACE_WAIT_DEVICE)
		at = put_handle(at, "hip_stream", 0);
	else
		at = put_stream(trace, at, "hip_stream", wait->stream);
	at = put_event(trace, at, "hip_event", wait->event);
	return kineto_is_for_event(wait->type) ? put_hip_producer(kineto, at, wait) : at;
}
