/* Writes a row for each wait and each record of an event. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/kineto/kineto_waits.h"
#include "format/timeline/slices.h"

/* An upper bound for the size of a row. */
#define ROW_BYTES 640

static int64_t stream_number(const struct kineto *kineto, uint32_t stream)
{
	return stream == TRACE_NONE ? -1 : (int64_t)kineto->slot_numbers[stream];
}

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
	at = kineto_put_node(kineto->trace, at, record, kineto_producer_keys);
	return kineto_put_known(at, wait);
}

struct waits {
	struct kineto *kineto;
	/* by process: its only GPU; the place of no GPU if it has none or several */
	uint32_t *only_gpus;
	/* Rows: the waits, then the event records; a list for each GPU and slot (list_at). */
	struct rows rows;
	struct rows_time *times; /* by row */
	/* of the tracks of the current list: the text from the pid up to the time */
	struct piece *places;
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

	uint64_t tid =
		kineto_name_stream(kineto, gpu, slot == kineto->timeline.slots ? TRACE_NONE : slot,
				   KINETO_TRACK_SYNC, first->subtrack + 1);
	size_t begin = kineto->text.used;

	kineto_text_put(&kineto->text, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"ts\":", gpu,
			tid);
	waits->places[first->subtrack] = pieces_since(&kineto->text, begin);
}

/* Writes a row from its pid up to its first own argument, which the caller writes without a
 * comma. */
static char *put_times(struct waits *waits, char *at, const struct slice *slice)
{
	struct kineto *kineto = waits->kineto;

	at = pieces_copy(at, &kineto->text, waits->places[slice->subtrack]);
	at = kineto_put_time(&kineto->out, at, slice->time.begin_ns);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, timeline_span_ns(slice->time));
	return KINETO_PUT(at, ",\"args\":{");
}

/* Writes the arguments that waits and records share. */
static char *put_place(struct kineto *kineto, char *at, const struct slice *slice,
		       uint64_t correlation, uint32_t context)
{
	uint32_t slot = slice->list % (kineto->timeline.slots + 1);

	at = KINETO_PUT(at, ",\"stream\":");
	at = kineto_put_i64(
		at, slot == kineto->timeline.slots ? -1 : (int64_t)kineto->slot_numbers[slot]);
	at = KINETO_PUT(at, ",\"correlation\":");
	at = kineto_put_near(&kineto->correlations, at, correlation);
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
	char *at = kineto_out_begin(&kineto->out, ROW_BYTES);

	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"");
	at = kineto_put_z(at, name);
	*at++ = '"';
	at = put_times(waits, at, slice);
	at = KINETO_PUT(at, "\"cuda_sync_kind\":\"");
	at = kineto_put_z(at, name);
	*at++ = '"';
	if (kineto_is_for_event(wait->type))
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
	char *at = kineto_out_begin(&kineto->out, ROW_BYTES);

	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"cuda_event\",\"name\":\"cudaEvent\"");
	at = put_times(waits, at, slice);
	at = KINETO_PUT(at, "\"event_id\":");
	at = record->event == TRACE_NONE
		     ? KINETO_PUT(at, "-1")
		     : kineto_put_u64(at, kineto->trace->events[record->event].handle);
	at = put_place(kineto, at, slice,
		       timeline_correlation(&kineto->timeline, record->process, record->cid),
		       record->context);
	at = kineto_put_node(kineto->trace, at, record, record_keys);
	if (!record->device_ns)
		at = KINETO_PUT(at, ",\"untimed\":\"host\"");
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
}

/* The wait or the event record that a row is about; NULL for ROWS_NONE. */
static const void *find_row(const struct waits *waits, uint32_t row)
{
	const struct trace *trace = waits->kineto->trace;

	if (row == ROWS_NONE)
		return NULL;
	return row < trace->waits_count
		       ? (const void *)&trace->waits[row]
		       : (const void *)&trace->event_records[row - trace->waits_count];
}

static void begin_slice(void *context, const struct slice *slice)
{
	struct waits *waits = context;

	/* The rows of a list are far apart in their tables. */
	__builtin_prefetch(find_row(waits, slice->ahead));
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

static void deal_wait(struct waits *waits, uint32_t row)
{
	const struct trace_wait *wait = &waits->kineto->trace->waits[row];

	deal(waits, row, list_at(waits, gpu_of(waits, wait), slot_of(waits, wait)),
	     timeline_time(wait->begin_ns, wait->end_ns));
}

/* The time of an event record: the device's, or the begin of its call if that is unknown. Returns
 * false for a record with neither, which only a wait named. */
static bool get_record_time(const struct trace *trace, uint32_t number, int64_t *ret_ns)
{
	const struct trace_event_record *record = &trace->event_records[number];

	if (!record->device_ns && record->call == TRACE_NONE)
		return false;
	*ret_ns = record->device_ns ? record->device_ns : trace->calls[record->call].begin_ns;
	return true;
}

/* Deals the waits and the event records, which have no length, together in the order of their
 * times, so that few rows come late. A record without a time gets no row. HTA gets no records. */
static void deal_rows(struct waits *waits)
{
	const struct trace *trace = waits->kineto->trace;
	uint32_t records = waits->kineto->is_hta ? 0 : trace->event_records_count;
	uint32_t wait = 0;
	int64_t ns;

	for (uint32_t i = 0; i < records; i++) {
		if (!get_record_time(trace, i, &ns))
			continue;
		while (wait < trace->waits_count && trace->waits[wait].begin_ns <= ns)
			deal_wait(waits, wait++);
		deal(waits, trace->waits_count + i, list_of_record(waits, &trace->event_records[i]),
		     timeline_time(ns, ns));
	}
	while (wait < trace->waits_count)
		deal_wait(waits, wait++);
}

static int init_waits(struct waits *waits)
{
	const struct kineto *kineto = waits->kineto;
	const struct trace *trace = kineto->trace;
	size_t lists = ((size_t)kineto->timeline.gpus.count + 1) * (kineto->timeline.slots + 1);
	size_t most = (size_t)trace->waits_count + trace->event_records_count;

	waits->only_gpus = calloc((size_t)trace->processes_count + 1, sizeof(*waits->only_gpus));
	waits->places = calloc(most + 1, sizeof(*waits->places));
	waits->times = calloc(most + 1, sizeof(*waits->times));
	waits->rows = (struct rows){
		.table = waits->times, .row_bytes = sizeof(*waits->times), .time_of = time_of};
	if (!waits->only_gpus || !waits->places || !waits->times || most >= TRACE_NONE)
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
		deal_rows(&waits);
	}
	for (size_t list = 0; list < waits.rows.lists_count && !err; list++)
		err = slices_put(&waits.rows, list, &output);
	kineto_fail(kineto, err);
	rows_release(&waits.rows);
	free(waits.only_gpus);
	free(waits.places);
	free(waits.times);
}
