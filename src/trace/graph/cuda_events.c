/* Makes the rows of CUDA's events, event records, waits and overhead.
 *
 * The producer of a wait for an event is the event record with the same number; CUPTI gives a
 * number to both. An older CUPTI gives no numbers; then the producer is the last record of the
 * event before the wait, in the order of correlation ids. That order is uncertain where the calls
 * overlapped in time. CUPTI does not report which events were made by other processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "trace/graph/cuda_recorders.h"
#include "trace/load/cuda_load.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

/* Identifies an event record, or the record that a wait is for. */
struct event_key {
	uint64_t cid;
	uint64_t order;
	uint32_t context;
	uint32_t event;
};

/* An event record as an entry of a sorted array. ROW is its index in trace.event_records. */
struct producer {
	struct event_key key;
	uint32_t row;
};

static uint64_t by_cid(const struct raw *row)
{
	return ((const struct record_cuda_event *)row->record)->cid;
}

/* CUPTI reports records in no useful order, so the three lists are sorted by cid. by_cid works for
 * all three types because they have the cid at the same offset. */
_Static_assert(offsetof(struct record_cuda_sync, cid) == offsetof(struct record_cuda_event, cid) &&
		       offsetof(struct record_cuda_overhead, cid) ==
			       offsetof(struct record_cuda_event, cid),
	       "cid");

/* The events of the process. CUPTI does not use the number of an event again within a context. */
struct events {
	uint64_t *keys; /* cuda_stream_key() of context and event, ascending */
	uint32_t count;
	uint32_t first; /* index into trace.events of the first */
};

static int compare_keys(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int load_events(struct process_load *load, struct events *ret)
{
	const struct raw_list *records = &load->raw.lists[RECORD_CUDA_EVENT];
	const struct raw_list *syncs = &load->raw.lists[RECORD_CUDA_SYNC];
	struct trace_event *rows;
	uint32_t count = 0;

	*ret = (struct events){.first = load->trace->events_count};
	ret->keys = malloc(((size_t)records->count + syncs->count + 1) * sizeof(*ret->keys));
	if (!ret->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < records->count; i++) {
		const struct record_cuda_event *record = records->rows[i].record;

		ret->keys[count++] = cuda_stream_key(record->context, record->header.tag);
	}
	for (uint32_t i = 0; i < syncs->count; i++) {
		const struct record_cuda_sync *record = syncs->rows[i].record;

		if (record->event != RECORD_CUDA_NONE)
			ret->keys[count++] = cuda_stream_key(record->context, record->event);
	}
	qsort(ret->keys, count, sizeof(*ret->keys), compare_keys);
	for (uint32_t i = 0; i < count; i++)
		if (i == 0 || ret->keys[i] != ret->keys[i - 1])
			ret->keys[ret->count++] = ret->keys[i];
	rows = trace_extend(load->trace, events, ret->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < ret->count; i++)
		rows[i] = (struct trace_event){.process = load->process,
					       .handle = (uint32_t)ret->keys[i]};
	return 0;
}

static uint32_t find_event(const struct events *events, uint32_t context, uint32_t event)
{
	uint64_t key = cuda_stream_key(context, event);
	const uint64_t *found;

	if (event == RECORD_CUDA_NONE)
		return TRACE_NONE;
	found = bsearch(&key, events->keys, events->count, sizeof(key), compare_keys);
	return found ? events->first + (uint32_t)(found - events->keys) : TRACE_NONE;
}

static int load_event_records(struct process_load *load, const struct events *events,
			      const uint32_t *nodes)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_EVENT];
	struct trace_event_record *rows = trace_extend(load->trace, event_records, list->count);

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_event *record = list->rows[i].record;
		uint64_t cid = cuda_outer_cid(&load->cuda, record->cid);

		rows[i] = (struct trace_event_record){
			.process = load->process,
			.cid = cid,
			.call = load_find_call(load, cid),
			.stream = cuda_find_stream(load, record->context, record->stream),
			.event = find_event(events, record->context, record->header.tag),
			.node = nodes[i],
			.context = record->context,
			.order = record->order,
			.device_ns = cuda_host_ns(&load->cuda, record->time),
		};
	}
	return 0;
}

static int compare_events(const struct event_key *a, const struct event_key *b)
{
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static int compare_by_cid(const void *left, const void *right)
{
	const struct event_key *a = left, *b = right;
	int order = compare_events(a, b);

	return order ? order : (a->cid > b->cid) - (a->cid < b->cid);
}

static int compare_numbers(const void *left, const void *right)
{
	const struct event_key *a = left, *b = right;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int compare_by_order(const void *left, const void *right)
{
	const struct event_key *a = left, *b = right;
	int order = compare_numbers(a, b);

	return order ? order : (a->context > b->context) - (a->context < b->context);
}

struct producers {
	struct producer *by_cid;   /* sorted by (context, event, cid) */
	struct producer *by_order; /* sorted by (event, order, context) */
	uint32_t count;
	uint32_t first;	  /* index into trace.event_records of the first */
	bool is_numbered; /* this CUPTI numbers records and waits */
	const struct cuda_recorders *recorders;
};

static int make_producers(struct process_load *load, uint32_t first, struct producers *ret)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_EVENT];
	size_t bytes = ((size_t)list->count + 1) * sizeof(struct producer);

	*ret = (struct producers){
		.by_cid = malloc(bytes),
		.by_order = malloc(bytes),
		.count = list->count,
		.first = first,
	};
	if (!ret->by_cid || !ret->by_order)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_event *record = list->rows[i].record;

		ret->by_cid[i] = (struct producer){
			{record->cid, record->order, record->context, record->header.tag},
			first + i};
		ret->is_numbered |= record->order > 0;
	}
	memcpy(ret->by_order, ret->by_cid, bytes - sizeof(struct producer));
	qsort(ret->by_cid, list->count, sizeof(struct producer), compare_by_cid);
	qsort(ret->by_order, list->count, sizeof(struct producer), compare_by_order);
	return 0;
}

/* The last record of WANTED's event with at most its cid, or NULL. */
static const struct producer *find_latest(const struct producers *producers,
					  const struct event_key *wanted)
{
	const struct producer *rows = producers->by_cid;
	uint32_t low = 0, high = producers->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_by_cid(&rows[middle].key, wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !compare_events(&rows[low - 1].key, wanted) ? &rows[low - 1] : NULL;
}

/* The first index into by_order whose key is not less than WANTED. */
static uint32_t lower_bound(const struct producers *producers, const struct event_key *wanted,
			    int (*compare)(const void *, const void *))
{
	uint32_t low = 0, high = producers->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&producers->by_order[middle].key, wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The event record with WANTED's number, or NULL. A wait names the context of its stream; for a
 * stream of another device that is not the context of the event. Then a record with the same event
 * and number is the producer if it is the only one. */
static const struct producer *find_numbered(const struct producers *producers,
					    const struct event_key *wanted)
{
	const struct producer *rows = producers->by_order;
	uint32_t count = producers->count;
	uint32_t at = lower_bound(producers, wanted, compare_by_order);
	uint32_t first = lower_bound(producers, wanted, compare_numbers);

	if (at < count && !compare_by_order(&rows[at].key, wanted))
		return &rows[at];
	if (first == count || compare_numbers(&rows[first].key, wanted))
		return NULL;
	return first + 1 == count || compare_numbers(&rows[first + 1].key, wanted) ? &rows[first]
										   : NULL;
}

/* Whether the record's call had returned before the wait's call began. */
static bool is_before(const struct trace *trace, const struct trace_event_record *record,
		      const struct trace_wait *wait)
{
	return record->call == TRACE_NONE || wait->call == TRACE_NONE ||
	       trace->calls[record->call].end_ns <= trace->calls[wait->call].begin_ns;
}

/* Whether a graph that was launched between the calls RECORD and WAIT (cids) may have recorded the
 * event without a report from CUPTI. */
static bool is_doubted(const struct cuda_recorders *recorders, uint64_t record, uint64_t wait)
{
	uint32_t low = 0, high = recorders->silent_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (recorders->silent[middle] <= record)
			low = middle + 1;
		else
			high = middle;
	}
	return low < recorders->silent_count && recorders->silent[low] < wait;
}

static void resolve(const struct trace *trace, const struct producers *producers,
		    const struct record_cuda_sync *record, struct trace_wait *wait)
{
	struct event_key wanted = {record->cid, record->order, record->context, record->event};
	const struct producer *found;

	if (record->event == RECORD_CUDA_NONE || record->result)
		return;
	if (record->order) {
		found = find_numbered(producers, &wanted);
		/* The event was recorded before our recording began: no producer. */
		if (!found)
			return;
		wait->known = TRACE_KNOWN_NUMBER;
		wait->event = trace->event_records[found->row].event;
	} else if (producers->is_numbered) {
		/* CUPTI numbers records, but knows no record of this event. NCCL makes such waits.
		 * The first recording of a process began with its first use of CUDA, so there the
		 * event certainly was never recorded, and the wait was for nothing. */
		if (!trace->processes[wait->process].session)
			wait->known = TRACE_KNOWN_NUMBER;
		return;
	} else {
		found = find_latest(producers, &wanted);
		if (!found)
			return;
		wait->known = is_before(trace, &trace->event_records[found->row], wait) &&
					      !is_doubted(producers->recorders, found->key.cid,
							  record->cid)
				      ? TRACE_KNOWN_ORDER
				      : TRACE_KNOWN_LIKELY;
	}
	wait->producer = found->row;
}

static enum trace_wait_type wait_type(uint32_t type)
{
	static const enum trace_wait_type types[RECORD_CUDA_SYNC_TYPE_COUNT] = {
		[RECORD_CUDA_SYNC_EVENT] = TRACE_WAIT_EVENT,
		[RECORD_CUDA_SYNC_STREAM_WAIT] = TRACE_WAIT_STREAM_EVENT,
		[RECORD_CUDA_SYNC_STREAM] = TRACE_WAIT_STREAM,
		[RECORD_CUDA_SYNC_CONTEXT] = TRACE_WAIT_DEVICE,
	};

	return type < RECORD_CUDA_SYNC_TYPE_COUNT ? types[type] : TRACE_WAIT_UNKNOWN;
}

/* Whether the wait was captured. It then is an edge of a graph and gets no row. */
static bool is_edge(const struct process_load *load, const struct record_cuda_sync *record)
{
	return record->header.tag == RECORD_CUDA_SYNC_STREAM_WAIT &&
	       cuda_is_captured(load, cuda_find_call(load, record->cid));
}

static uint32_t count_waits(const struct process_load *load)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_SYNC];
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
		count += !is_edge(load, list->rows[i].record);
	return count;
}

static int load_waits(struct process_load *load, const struct events *events,
		      const struct producers *producers)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_SYNC];
	struct trace_wait *row = trace_extend(load->trace, waits, count_waits(load));

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_sync *record = list->rows[i].record;
		uint64_t cid = cuda_outer_cid(&load->cuda, record->cid);

		if (is_edge(load, record))
			continue;
		*row = (struct trace_wait){
			.process = load->process,
			.cid = cid,
			.call = load_find_call(load, cid),
			.type = wait_type(record->header.tag),
			.stream = cuda_find_stream(load, record->context, record->stream),
			.event = find_event(events, record->context, record->event),
			.order = record->order,
			.begin_ns = cuda_host_ns(&load->cuda, record->start),
			.end_ns = cuda_host_ns(&load->cuda, record->end),
			.producer = TRACE_NONE,
			.context = record->context,
			.result = record->result,
		};
		resolve(load->trace, producers, record, row++);
	}
	return 0;
}

static int load_overheads(struct process_load *load)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_OVERHEAD];
	struct trace_overhead *rows = trace_extend(load->trace, overheads, list->count);

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_overhead *record = list->rows[i].record;

		rows[i] = (struct trace_overhead){
			.process = load->process,
			.thread = record->tid ? load_find_thread(load, record->tid) : TRACE_NONE,
			.kind = record->header.tag,
			.begin_ns = cuda_host_ns(&load->cuda, record->start),
			.end_ns = cuda_host_ns(&load->cuda, record->end),
		};
	}
	return 0;
}

static int load_all_waits(struct process_load *load)
{
	struct producers producers = {0};
	struct events events = {0};
	struct cuda_recorders recorders = {0};
	uint32_t first = load->trace->event_records_count;
	int err = load_events(load, &events);

	if (err == 0)
		err = cuda_recorders_find(load, &recorders);
	if (err == 0)
		err = load_event_records(load, &events, recorders.nodes);
	if (err == 0)
		err = make_producers(load, first, &producers);
	producers.recorders = &recorders;
	if (err == 0)
		err = load_waits(load, &events, &producers);
	cuda_recorders_release(&recorders);
	free(events.keys);
	free(producers.by_cid);
	free(producers.by_order);
	return err;
}

int cuda_events_load(struct process_load *load)
{
	static const enum record_type types[] = {RECORD_CUDA_EVENT, RECORD_CUDA_SYNC,
						 RECORD_CUDA_OVERHEAD};
	int err = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types) && err == 0; i++)
		err = raw_sort(&load->raw.lists[types[i]], by_cid);
	if (err == 0 && !load->without_waits && !load->cuda.waits_from_calls)
		err = load_all_waits(load);
	return err == 0 ? load_overheads(load) : err;
}
