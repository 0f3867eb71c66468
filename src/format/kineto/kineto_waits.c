/* Writes a row for each wait and each record of an event, and the arguments of HIP calls about
 * them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_writer.h"
#include "format/timeline/slices.h"
#include "format/words.h"

/* An upper bound for the size of a row. */
#define ROW_BYTES 640

static bool is_for_event(enum trace_wait_type type)
{
	return type == TRACE_WAIT_EVENT || type == TRACE_WAIT_STREAM_EVENT;
}

static int64_t stream_number(const struct kineto *kineto, uint32_t stream)
{
	return stream == TRACE_NONE ? -1 : (int64_t)kineto->slot_numbers[stream];
}

static char *put_known(char *at, const struct trace_wait *wait)
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

/* Writes the node that recorded the event, if a node did. KEYS: for the graph, the node and the
 * replay. */
static char *put_node(const struct trace *trace, char *at, const struct trace_event_record *record,
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

static const char *const producer_keys[] = {"wait_on_graph_id", "wait_on_graph_node_id",
					    "wait_on_replay"};
static const char *const record_keys[] = {"graph id", "graph node id", "replay"};

/* Writes the producer of a wait as Kineto writes it for CUPTI: -1 if the producer is unknown. The
 * event is always written. */
static char *put_producer(const struct kineto *kineto, char *at, const struct trace_wait *wait)
{
	const struct trace_event_record *record =
		wait->producer == TRACE_NONE ? NULL : &kineto->trace->event_records[wait->producer];

	at = KINETO_PUT(at, ",\"wait_on_stream\":");
	at = kineto_put_i64(at, record ? stream_number(kineto, record->stream) : -1);
	at = KINETO_PUT(at, ",\"wait_on_cuda_event_record_corr_id\":");
	at = record ? kineto_put_u64(at, timeline_correlation(&kineto->timeline, record->process,
							      record->cid))
		    : KINETO_PUT(at, "-1");
	at = KINETO_PUT(at, ",\"wait_on_cuda_event_id\":");
	at = wait->event != TRACE_NONE
		     ? kineto_put_u64(at, kineto->trace->events[wait->event].handle)
		     : KINETO_PUT(at, "-1");
	at = put_node(kineto->trace, at, record, producer_keys);
	return put_known(at, wait);
}

/* ---- calls ---- */

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
	at = put_node(trace, at, record, producer_keys);
	return put_known(at, wait);
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
	return is_for_event(wait->type) ? put_hip_producer(kineto, at, wait) : at;
}

/* ---- rows of their own ---- */

struct waits {
	struct kineto *kineto;
	/* by process: its only GPU; the place of no GPU if it has none or several */
	uint32_t *only_gpus;
	/* Rows: the waits, then the event records; a list for each GPU and slot (list_at). */
	struct rows rows;
	struct rows_time *times; /* by row */
	uint64_t *tids;		 /* of the tracks of the current list */
};

static uint32_t gpu_of_stream(const struct kineto *kineto, uint32_t stream)
{
	return stream == TRACE_NONE
		       ? kineto->timeline.gpus.host
		       : gpus_find(&kineto->timeline.gpus, kineto->trace->streams[stream].agent);
}

/* The GPU on which a wait is shown: that of its stream, else of the producer's stream, else the
 * process's only GPU. For HTA the producer's comes first, because HTA takes the wait's GPU for the
 * producer's. */
static uint32_t gpu_of(const struct waits *waits, const struct trace_wait *wait)
{
	const struct kineto *kineto = waits->kineto;
	uint32_t producer = kineto->timeline.gpus.host;
	uint32_t gpu = gpu_of_stream(kineto, wait->stream);

	if (wait->producer != TRACE_NONE)
		producer =
			gpu_of_stream(kineto, kineto->trace->event_records[wait->producer].stream);
	if (producer != kineto->timeline.gpus.host &&
	    (gpu == kineto->timeline.gpus.host || kineto->is_hta))
		gpu = producer;
	return gpu == kineto->timeline.gpus.host ? waits->only_gpus[wait->process] : gpu;
}

/* The slot on which a wait is shown; TRACE_NONE, the whole device, for waits of the host that are
 * not for one stream. */
static uint32_t slot_of(const struct waits *waits, const struct trace_wait *wait)
{
	bool is_of_stream =
		wait->type == TRACE_WAIT_STREAM_EVENT || wait->type == TRACE_WAIT_STREAM;

	if (!is_of_stream)
		return TRACE_NONE;
	return timeline_slot(&waits->kineto->timeline, wait->stream, wait->process);
}

/* The list of a GPU and slot; the last slot of a GPU is the whole device. */
static size_t list_at(const struct waits *waits, uint32_t gpu, uint32_t slot)
{
	size_t slots = waits->kineto->timeline.slots;

	return gpu * (slots + 1) + (slot == TRACE_NONE ? slots : slot);
}

static size_t list_of_record(const struct waits *waits, const struct trace_event_record *record)
{
	const struct kineto *kineto = waits->kineto;
	uint32_t gpu = gpu_of_stream(kineto, record->stream);

	return list_at(waits,
		       gpu == kineto->timeline.gpus.host ? waits->only_gpus[record->process] : gpu,
		       timeline_slot(&kineto->timeline, record->stream, record->process));
}

static void begin_track(void *context, const struct slice *first)
{
	struct waits *waits = context;
	struct kineto *kineto = waits->kineto;
	uint32_t gpu = first->list / (kineto->timeline.slots + 1);
	uint32_t slot = first->list % (kineto->timeline.slots + 1);

	waits->tids[first->subtrack] =
		kineto_name_stream(kineto, gpu, slot == kineto->timeline.slots ? TRACE_NONE : slot,
				   KINETO_TRACK_SYNC, first->subtrack + 1);
}

/* Begins a row up to its first own argument, which the caller writes without a comma. NULL after
 * an error. */
static char *begin_row(struct waits *waits, const struct slice *slice, const char *category,
		       const char *name)
{
	struct kineto *kineto = waits->kineto;
	char *at = kineto_out_begin(&kineto->out, ROW_BYTES);

	if (!at)
		return NULL;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"");
	at = kineto_put_z(at, category);
	at = KINETO_PUT(at, "\",\"name\":\"");
	at = kineto_put_z(at, name);
	at = KINETO_PUT(at, "\",\"pid\":");
	at = kineto_put_u64(at, slice->list / (kineto->timeline.slots + 1));
	at = KINETO_PUT(at, ",\"tid\":");
	at = kineto_put_u64(at, waits->tids[slice->subtrack]);
	at = KINETO_PUT(at, ",\"ts\":");
	at = kineto_put_time(&kineto->out, at, slice->time.begin_ns);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, timeline_span_ns(slice->time));
	return KINETO_PUT(at, ",\"args\":{");
}

/* Writes the arguments that waits and records share. */
static char *put_place(const struct kineto *kineto, char *at, const struct slice *slice,
		       uint64_t correlation, uint32_t context)
{
	uint32_t slot = slice->list % (kineto->timeline.slots + 1);

	at = KINETO_PUT(at, ",\"stream\":");
	at = kineto_put_i64(
		at, slot == kineto->timeline.slots ? -1 : (int64_t)kineto->slot_numbers[slot]);
	at = KINETO_PUT(at, ",\"correlation\":");
	at = kineto_put_u64(at, correlation);
	at = KINETO_PUT(at, ",\"device\":");
	at = kineto_put_u64(at, slice->list / (kineto->timeline.slots + 1));
	if (!context)
		return at;
	at = KINETO_PUT(at, ",\"context\":");
	return kineto_put_u64(at, context);
}

static void put_wait(struct waits *waits, const struct slice *slice)
{
	struct kineto *kineto = waits->kineto;
	const struct trace_wait *wait = &kineto->trace->waits[slice->row];
	const char *name = kineto_wait_name(wait->type);
	char *at = begin_row(waits, slice, "cuda_sync", name);

	if (!at)
		return;
	at = KINETO_PUT(at, "\"cuda_sync_kind\":\"");
	at = kineto_put_z(at, name);
	*at++ = '"';
	if (is_for_event(wait->type))
		at = put_producer(kineto, at, wait);
	at = put_place(kineto, at, slice,
		       timeline_correlation(&kineto->timeline, wait->process, wait->cid),
		       wait->context);
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
}

static void put_record(struct waits *waits, const struct slice *slice)
{
	struct kineto *kineto = waits->kineto;
	uint32_t number = slice->row - kineto->trace->waits_count;
	const struct trace_event_record *record = &kineto->trace->event_records[number];
	char *at = begin_row(waits, slice, "cuda_event", "cudaEvent");

	if (!at)
		return;
	at = KINETO_PUT(at, "\"event_id\":");
	at = record->event == TRACE_NONE
		     ? KINETO_PUT(at, "-1")
		     : kineto_put_u64(at, kineto->trace->events[record->event].handle);
	at = put_place(kineto, at, slice,
		       timeline_correlation(&kineto->timeline, record->process, record->cid),
		       record->context);
	at = put_node(kineto->trace, at, record, record_keys);
	if (!record->device_ns)
		at = KINETO_PUT(at, ",\"untimed\":\"host\"");
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
}

static void begin_slice(void *context, const struct slice *slice)
{
	struct waits *waits = context;

	if (slice->row < waits->kineto->trace->waits_count)
		put_wait(waits, slice);
	else
		put_record(waits, slice);
}

static void find_only_gpus(struct waits *waits)
{
	const struct kineto *kineto = waits->kineto;
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->processes_count; i++)
		waits->only_gpus[i] = TRACE_NONE;
	for (uint32_t i = 0; i < trace->agents_count; i++) {
		uint32_t *only = &waits->only_gpus[trace->agents[i].process];

		if (trace->agents[i].is_gpu)
			*only = *only == TRACE_NONE ? gpus_find(&kineto->timeline.gpus, i)
						    : kineto->timeline.gpus.host;
	}
	for (uint32_t i = 0; i < trace->processes_count; i++)
		if (waits->only_gpus[i] == TRACE_NONE)
			waits->only_gpus[i] = kineto->timeline.gpus.host;
}

static struct rows_time time_of(const void *times, uint32_t row)
{
	return ((const struct rows_time *)times)[row];
}

static void deal(struct waits *waits, uint32_t row, size_t list, struct rows_time time)
{
	waits->times[row] = time;
	rows_list_deal(&waits->rows, &waits->rows.lists[list], row, time);
}

static void deal_waits(struct waits *waits)
{
	const struct trace *trace = waits->kineto->trace;

	for (uint32_t i = 0; i < trace->waits_count; i++) {
		const struct trace_wait *wait = &trace->waits[i];

		deal(waits, i, list_at(waits, gpu_of(waits, wait), slot_of(waits, wait)),
		     timeline_time(wait->begin_ns, wait->end_ns));
	}
}

/* Deals each event record, without length: at the device's time, or at the begin of its call if
 * that is unknown. A record with neither, which only a wait named, gets no row. HTA gets no
 * records. */
static void deal_records(struct waits *waits)
{
	const struct kineto *kineto = waits->kineto;
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->event_records_count && !kineto->is_hta; i++) {
		const struct trace_event_record *record = &trace->event_records[i];
		int64_t ns = record->device_ns;

		if (!ns && record->call == TRACE_NONE)
			continue;
		if (!ns)
			ns = trace->calls[record->call].begin_ns;
		deal(waits, trace->waits_count + i, list_of_record(waits, record),
		     timeline_time(ns, ns));
	}
}

static int init_waits(struct waits *waits)
{
	const struct kineto *kineto = waits->kineto;
	const struct trace *trace = kineto->trace;
	size_t lists = ((size_t)kineto->timeline.gpus.count + 1) * (kineto->timeline.slots + 1);
	size_t most = (size_t)trace->waits_count + trace->event_records_count;

	waits->only_gpus = calloc((size_t)trace->processes_count + 1, sizeof(*waits->only_gpus));
	waits->tids = calloc(most + 1, sizeof(*waits->tids));
	waits->times = calloc(most + 1, sizeof(*waits->times));
	waits->rows = (struct rows){
		.table = waits->times, .row_bytes = sizeof(*waits->times), .time_of = time_of};
	if (!waits->only_gpus || !waits->tids || !waits->times || most >= TRACE_NONE)
		return -ENOMEM;
	return rows_init(&waits->rows, most, lists);
}

void kineto_put_waits(struct kineto *kineto)
{
	struct waits waits = {.kineto = kineto};
	const struct slices_output output = {false, begin_track, begin_slice, NULL, &waits};
	int err = init_waits(&waits);

	if (!err) {
		find_only_gpus(&waits);
		deal_waits(&waits);
		deal_records(&waits);
	}
	for (size_t list = 0; list < waits.rows.lists_count && !err; list++)
		err = slices_put(&waits.rows, list, &output);
	kineto_fail(kineto, err);
	rows_release(&waits.rows);
	free(waits.only_gpus);
	free(waits.tids);
	free(waits.times);
}
