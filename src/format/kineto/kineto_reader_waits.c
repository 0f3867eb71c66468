/* Makes events, event records and waits of the rows that kineto_reader_syncs.c has taken, after all
 * rows are read. */
#include <errno.h>
#include <stdlib.h>

#include "format/import/row_order.h"
#include "format/kineto/kineto_reader_load.h"
#include "trace/row_table.h"

static uint64_t sync_process(const void *row)
{
	return ((const struct kread_sync *)row)->process;
}

static uint64_t sync_cid(const void *row)
{
	return ((const struct kread_sync *)row)->cid;
}

/* Records before waits; a cuda_sync row before the call's own row, because it states more. */
static uint64_t sync_kind(const void *row)
{
	const struct kread_sync *sync = row;

	return (sync->is_record ? 0 : 2) | sync->is_call;
}

static int order_syncs(struct kread_load *load)
{
	const struct order_table table = {(void **)&load->syncs,
					  load->syncs_count,
					  sizeof(*load->syncs),
					  {sync_process, sync_cid, sync_kind}};
	uint32_t *place;
	int err = order_rows(&table, &place);

	if (err == 0)
		free(place);
	return err;
}

/* True if ROW, of a call, repeats BEFORE: the same wait, or a record by the same call. */
static bool is_again(const struct kread_sync *row, const struct kread_sync *before)
{
	return row->is_call && row->cid && row->cid == before->cid &&
	       row->process == before->process && row->is_record == before->is_record;
}

/* Adds to ROW what the call's row FROM states. The event is replaced, because HIP's events are
 * identified by their handles, which belong to no context; other values only fill gaps. */
static void add_to(struct kread_sync *row, const struct kread_sync *from)
{
	if (from->has_event) {
		row->has_event = true;
		row->event = from->event;
		row->event_context = from->event_context;
	}
	if (row->record_cid == 0) {
		row->record_cid = from->record_cid;
		row->record_stream = from->record_stream;
	}
	if (row->stream == KREAD_NO_STREAM)
		row->stream = from->stream;
}

/* The kept row that ROW repeats, or NULL. If several records are by one call, the one with the
 * call's event. */
static struct kread_sync *find_same(const struct kread_load *load, const struct kread_sync *row,
				    uint32_t kept)
{
	for (uint32_t i = kept; i > 0 && is_again(row, &load->syncs[i - 1]); i--) {
		struct kread_sync *before = &load->syncs[i - 1];

		if (before->has_event && row->has_event && before->event == row->event)
			return before;
	}
	return kept && is_again(row, &load->syncs[kept - 1]) ? &load->syncs[kept - 1] : NULL;
}

static void merge_syncs(struct kread_load *load)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < load->syncs_count; i++) {
		struct kread_sync *same = find_same(load, &load->syncs[i], kept);

		if (same)
			add_to(same, &load->syncs[i]);
		else
			load->syncs[kept++] = load->syncs[i];
	}
	load->syncs_count = kept;
}

struct waits {
	struct numbers events; /* (process and context, event) -> index into trace.events */
	struct numbers cids;   /* (process, cid) of records -> index into `firsts` */
	uint32_t *firsts;      /* the first record with this cid */
	uint32_t firsts_count;
	uint32_t *nexts; /* by record: the next one with the same cid, or TRACE_NONE */
	uint32_t nexts_count;
};

static void waits_release(struct waits *waits)
{
	numbers_release(&waits->events);
	numbers_release(&waits->cids);
	free(waits->firsts);
	free(waits->nexts);
}

static int64_t find_event(struct kread_load *load, struct waits *waits,
			  const struct kread_sync *sync)
{
	uint32_t known = waits->events.count, number;
	struct trace_event *row;

	if (!sync->has_event)
		return TRACE_NONE;
	number = numbers_get(&waits->events, (uint64_t)sync->process << 32 | sync->event_context,
			     sync->event);
	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	row = trace_add(load->import.trace, events);
	if (!row)
		return -ENOMEM;
	row->process = sync->process;
	row->handle = sync->event;
	return number;
}

static int64_t make_record(struct kread_load *load, struct waits *waits,
			   const struct kread_sync *sync, uint64_t cid)
{
	struct trace_event_record *row = trace_add(load->import.trace, event_records);
	uint32_t *next =
		table_add((void **)&waits->nexts, &waits->nexts_count, sizeof(*waits->nexts));

	if (!row || !next)
		return -ENOMEM;
	*next = TRACE_NONE;
	*row = (struct trace_event_record){
		.process = sync->process,
		.cid = cid,
		.stream = TRACE_NONE,
		.event = TRACE_NONE,
		.node = TRACE_NONE,
	};
	return load->import.trace->event_records_count - 1;
}

/* True if RECORD may be of EVENT. Handles are compared too, because a wait on another device has
 * another context than the event's record. */
static bool is_of_event(const struct trace *trace, const struct trace_event_record *record,
			uint32_t event)
{
	return record->event == event || record->event == TRACE_NONE || event == TRACE_NONE ||
	       trace->events[record->event].handle == trace->events[event].handle;
}

/* The record of EVENT with correlation id CID, which is added when it is new; or -ENOMEM. One call
 * may record several events. */
static int64_t find_record(struct kread_load *load, struct waits *waits,
			   const struct kread_sync *sync, uint64_t cid, uint32_t event)
{
	uint32_t known = waits->cids.count;
	uint32_t number = numbers_get(&waits->cids, sync->process, cid), last = TRACE_NONE;
	uint32_t *first;
	int64_t row;

	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number != known) {
		for (uint32_t at = waits->firsts[number]; at != TRACE_NONE; at = waits->nexts[at]) {
			if (is_of_event(load->import.trace, &load->import.trace->event_records[at],
					event))
				return at;
			last = at;
		}
	}
	row = make_record(load, waits, sync, cid);
	if (row < 0)
		return row;
	if (last != TRACE_NONE) {
		waits->nexts[last] = (uint32_t)row;
		return row;
	}
	first = table_add((void **)&waits->firsts, &waits->firsts_count, sizeof(*first));
	if (!first)
		return -ENOMEM;
	*first = (uint32_t)row;
	return row;
}

static int add_record(struct kread_load *load, struct waits *waits, const struct kread_sync *sync)
{
	int64_t event = find_event(load, waits, sync), row = -ENOMEM, stream = -ENOMEM;
	struct trace_event_record *record;

	if (event >= 0)
		row = find_record(load, waits, sync, sync->cid, (uint32_t)event);
	if (row >= 0)
		stream = kread_stream(load, sync->process, sync->device, sync->stream);
	if (stream < 0)
		return -ENOMEM;
	record = &load->import.trace->event_records[row];
	record->event = (uint32_t)event;
	record->stream = (uint32_t)stream;
	record->context = sync->context;
	if (!sync->is_call && !sync->is_untimed)
		record->device_ns = sync->begin_ns;
	return 0;
}

/* The record that a wait names, which may have no row of its own in the file; or -ENOMEM. */
static int64_t find_producer(struct kread_load *load, struct waits *waits,
			     const struct kread_sync *sync, uint32_t event)
{
	struct trace_event_record *record;
	int64_t row, stream = TRACE_NONE;

	if (sync->record_cid == 0)
		return TRACE_NONE;
	row = find_record(load, waits, sync, sync->record_cid, event);
	if (row >= 0)
		stream = kread_stream(load, sync->process, sync->device, sync->record_stream);
	if (row < 0 || stream < 0)
		return -ENOMEM;
	record = &load->import.trace->event_records[row];
	if (record->stream == TRACE_NONE)
		record->stream = (uint32_t)stream;
	if (record->event == TRACE_NONE)
		record->event = event;
	return row;
}

static int add_wait(struct kread_load *load, struct waits *waits, const struct kread_sync *sync)
{
	int64_t event = find_event(load, waits, sync), producer = -ENOMEM, stream = -ENOMEM;
	struct trace_wait *row;

	if (event >= 0)
		producer = find_producer(load, waits, sync, (uint32_t)event);
	if (producer >= 0)
		stream = kread_stream(load, sync->process, sync->device, sync->stream);
	row = stream >= 0 ? trace_add(load->import.trace, waits) : NULL;
	if (!row)
		return -ENOMEM;
	*row = (struct trace_wait){
		.process = sync->process,
		.call = TRACE_NONE,
		.cid = sync->cid,
		.begin_ns = sync->begin_ns,
		.end_ns = sync->end_ns,
		.type = sync->type,
		.known = producer == TRACE_NONE ? TRACE_KNOWN_NOT : sync->known,
		.stream = (uint32_t)stream,
		.event = (uint32_t)event,
		.producer = (uint32_t)producer,
		.context = sync->context,
	};
	return 0;
}

static int add_rows(struct kread_load *load, struct waits *waits)
{
	int err = 0;

	for (uint32_t i = 0; i < load->syncs_count && err == 0; i++) {
		if (load->syncs[i].is_record)
			err = add_record(load, waits, &load->syncs[i]);
	}
	for (uint32_t i = 0; i < load->syncs_count && err == 0; i++) {
		if (!load->syncs[i].is_record)
			err = add_wait(load, waits, &load->syncs[i]);
	}
	return err;
}

static uint64_t record_process(const void *row)
{
	return ((const struct trace_event_record *)row)->process;
}

static uint64_t record_cid(const void *row)
{
	return ((const struct trace_event_record *)row)->cid;
}

static int order_records(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, event_records, record_process, record_cid), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, waits, producer, place);
	free(place);
	return 0;
}

/* The call with (PROCESS, CID), or TRACE_NONE. Calls are in this order; *AT only moves forward, so
 * the caller asks in the same order. */
static uint32_t find_call(const struct trace *trace, uint32_t process, uint64_t cid, uint32_t *at)
{
	const struct trace_call *rows = trace->calls;

	while (*at < trace->calls_count && (rows[*at].process < process ||
					    (rows[*at].process == process && rows[*at].cid < cid)))
		++*at;
	if (cid == 0 || *at == trace->calls_count || rows[*at].process != process ||
	    rows[*at].cid != cid)
		return TRACE_NONE;
	return *at;
}

static void find_calls(struct trace *trace)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < trace->event_records_count; i++) {
		struct trace_event_record *row = &trace->event_records[i];

		row->call = find_call(trace, row->process, row->cid, &at);
	}
	at = 0;
	for (uint32_t i = 0; i < trace->waits_count; i++) {
		struct trace_wait *row = &trace->waits[i];

		row->call = find_call(trace, row->process, row->cid, &at);
	}
}

int kread_join_waits(struct kread_load *load)
{
	struct waits waits = {0};
	int err = order_syncs(load);

	if (err == 0) {
		merge_syncs(load);
		err = add_rows(load, &waits);
	}
	if (err == 0)
		err = order_records(load->import.trace);
	if (err == 0)
		find_calls(load->import.trace);
	waits_release(&waits);
	return err;
}
