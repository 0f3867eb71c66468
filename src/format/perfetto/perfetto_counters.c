/* Writes the counters of each GPU: tracks of values that are written where they change.
 *
 * - busy: the part of the time, in percent, in which at least one activity ran; over steps of equal
 *   length, BUSY_STEPS_MOST of them at most.
 * - memory in use: bytes that the program has allocated since the recording began and not released.
 * - depth of a stream: calls that gave the stream work which has not ended. A graph's launch counts
 *   once, on each stream on which its activities are. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "base/sort.h"
#include "base/table.h"
#include "format/perfetto/perfetto_parts.h"
#include "trace/row_table.h"

#define BUSY_STEPS_MOST 500

/* A change of a value. */
struct change {
	int64_t ns;
	int64_t by;
};

struct changes {
	struct change *rows;
	uint32_t rows_count;
};

/* A track that is being written. */
struct counter {
	struct sequence *sequence;
	int64_t last;
	bool has_last;
};

/* The sign bit is inverted, so that negative times come first. */
static uint64_t key_of_ns(int64_t ns)
{
	return (uint64_t)ns ^ (uint64_t)INT64_MIN;
}

/* ---- writing ---- */

static uint64_t parent_id(uint32_t gpu)
{
	return perfetto_track_id(PERFETTO_TRACK_COUNTERS, gpu, 0);
}

/* Describes the track and the sequence of its own that it has. UNIT_NAME: NULL if UNIT says all. */
static struct counter begin_counter(struct sequence *sequence, uint64_t track, uint32_t gpu,
				    const char *name, enum counter_unit unit, const char *unit_name)
{
	struct proto *packet = &sequence->packet;
	char full_name[128];
	size_t mark, inner;

	snprintf(full_name, sizeof(full_name), "GPU %" PRIu32 " %s", gpu, name);
	sequence_start_track(sequence, track);
	sequence_packet_begin(sequence);
	mark = proto_begin(packet, PACKET_TRACK_DESCRIPTOR);
	proto_put_u64(packet, TRACK_UUID, track);
	proto_put_u64(packet, TRACK_PARENT, parent_id(gpu));
	proto_put_text(packet, TRACK_NAME, full_name);
	inner = proto_begin(packet, TRACK_COUNTER);
	if (unit_name)
		proto_put_text(packet, COUNTER_UNIT_NAME, unit_name);
	else
		proto_put_u64(packet, COUNTER_UNIT, unit);
	proto_end(packet, inner);
	sequence_event_end(sequence, mark);
	return (struct counter){.sequence = sequence};
}

/* Writes the value, unless it is that before. */
static void put_value(struct counter *counter, int64_t ns, int64_t value)
{
	size_t mark;

	if (counter->has_last && counter->last == value)
		return;
	counter->has_last = true;
	counter->last = value;
	mark = sequence_event_begin(counter->sequence, EVENT_COUNTER, 0, ns);
	proto_put_i64(&counter->sequence->packet, EVENT_COUNTER_VALUE, value);
	sequence_event_end(counter->sequence, mark);
}

static uint64_t key_of_change(const void *row)
{
	return key_of_ns(((const struct change *)row)->ns);
}

/* Writes the sums of the changes, one value for all changes of a moment. */
static int put_changes(struct counter counter, struct changes *changes)
{
	int64_t sum = 0;
	int err = sort_by_key(changes->rows, changes->rows_count, sizeof(*changes->rows),
			      key_of_change);

	for (uint32_t i = 0; i < changes->rows_count && !err; i++) {
		const struct change *row = &changes->rows[i];

		/* A damaged file may say of any number of bytes: wrap. */
		sum = (int64_t)((uint64_t)sum + (uint64_t)row->by);
		if (i + 1 == changes->rows_count || row[1].ns != row->ns)
			put_value(&counter, row->ns, sum);
	}
	return err;
}

static int add_change(struct changes *changes, int64_t ns, int64_t by)
{
	struct change *row = trace_add(changes, rows);

	if (!row)
		return -ENOMEM;
	*row = (struct change){ns, by};
	return 0;
}

/* ---- busy ---- */

/* The steps over which one GPU's busy time is summed. */
struct steps {
	int64_t begin_ns, step_ns;
	uint32_t count;
	int64_t *busy_ns; /* by step */
};

/* The least of 1, 2, 5, 10, 20, ... ns with which SPAN_NS has BUSY_STEPS_MOST steps at most. */
static int64_t choose_step(int64_t span_ns)
{
	static const int64_t factors[] = {1, 2, 5};

	for (int64_t power = 1;; power *= 10) {
		for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
			if (factors[i] * power >= span_ns / BUSY_STEPS_MOST + 1)
				return factors[i] * power;
		}
	}
}

static void add_busy(struct steps *steps, int64_t begin_ns, int64_t end_ns)
{
	while (begin_ns < end_ns) {
		uint32_t step = (uint32_t)((begin_ns - steps->begin_ns) / steps->step_ns);
		int64_t border_ns = steps->begin_ns + (step + INT64_C(1)) * steps->step_ns;
		int64_t until_ns = end_ns < border_ns ? end_ns : border_ns;

		steps->busy_ns[step] += until_ns - begin_ns;
		begin_ns = until_ns;
	}
}

/* Adds up the time in which any of the activities ran; ORDER has them by start. */
static void add_activities(struct steps *steps, const struct trace *trace,
			   const struct sort_row *order, uint32_t count)
{
	int64_t until_ns = steps->begin_ns;

	for (uint32_t i = 0; i < count; i++) {
		struct rows_time time = timeline_activity_time(trace->activities, order[i].index);

		if (time.begin_ns > until_ns)
			until_ns = time.begin_ns;
		add_busy(steps, until_ns, time.end_ns);
		if (time.end_ns > until_ns)
			until_ns = time.end_ns;
	}
}

static int put_steps(struct sequence *sequence, uint32_t gpu, const struct sort_row *order,
		     uint32_t count, struct rows_time span)
{
	struct steps steps = {.begin_ns = span.begin_ns};
	struct counter counter;

	steps.step_ns = choose_step(span.end_ns - span.begin_ns);
	steps.count = (uint32_t)((span.end_ns - span.begin_ns) / steps.step_ns) + 1;
	steps.busy_ns = table_zeroed(steps.count, sizeof(*steps.busy_ns));
	if (!steps.busy_ns)
		return -ENOMEM;
	add_activities(&steps, sequence->trace, order, count);
	counter = begin_counter(sequence, perfetto_track_id(PERFETTO_TRACK_BUSY, gpu, 0), gpu,
				"busy", UNIT_COUNT, "%");
	for (uint32_t i = 0; i < steps.count; i++)
		put_value(&counter, steps.begin_ns + i * steps.step_ns,
			  (steps.busy_ns[i] * 100 + steps.step_ns / 2) / steps.step_ns);
	put_value(&counter, steps.begin_ns + steps.count * steps.step_ns, 0);
	free(steps.busy_ns);
	return 0;
}

static int put_busy(const struct perfetto *perfetto, uint32_t gpu)
{
	const struct trace *trace = perfetto->timeline->trace;
	struct sort_row *order = table_alloc(trace->activities_count, sizeof(*order));
	struct rows_time span = {INT64_MAX, INT64_MIN};
	uint32_t count = 0;
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->activities_count && !err; i++) {
		const struct trace_activity *row = &trace->activities[i];
		struct rows_time time = timeline_activity_time(trace->activities, i);

		if (row->untimed != RECORD_UNTIMED_NO ||
		    gpus_find(&perfetto->timeline->gpus, row->agent) != gpu)
			continue;
		order[count++] = (struct sort_row){key_of_ns(time.begin_ns), i};
		span.begin_ns = time.begin_ns < span.begin_ns ? time.begin_ns : span.begin_ns;
		span.end_ns = time.end_ns > span.end_ns ? time.end_ns : span.end_ns;
	}
	if (!err)
		err = sort_rows(order, count);
	/* A damaged file may have times that are centuries apart. */
	if (!err && count && (uint64_t)span.end_ns - (uint64_t)span.begin_ns < INT64_MAX / 200)
		err = put_steps(perfetto->sequence, gpu, order, count, span);
	free(order);
	return err;
}

/* ---- memory ---- */

/* Adds the change that the operation made to what is live: by address, its bytes. */
static int add_operation(struct changes *changes, struct numbers *addresses,
			 const struct trace_memory_operation *row, uint64_t **bytes,
			 uint32_t *count)
{
	void *added;
	int64_t number = numbers_row(addresses, row->process, row->address, (void **)bytes, count,
				     sizeof(**bytes), &added);
	uint64_t before, after = row->is_release ? 0 : row->bytes;

	if (number < 0)
		return -ENOMEM;
	before = (*bytes)[number];
	(*bytes)[number] = after;
	return after == before ? 0 : add_change(changes, row->ns, (int64_t)(after - before));
}

static uint64_t key_of_operation(const struct trace_memory_operation *row)
{
	return key_of_ns(row->ns);
}

static int find_memory(const struct perfetto *perfetto, uint32_t gpu, struct changes *changes)
{
	const struct trace *trace = perfetto->timeline->trace;
	struct sort_row *order = table_alloc(trace->memory_operations_count, sizeof(*order));
	struct numbers addresses = {0};
	uint64_t *bytes = NULL;
	uint32_t count = 0, addresses_count = 0;
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->memory_operations_count && !err; i++) {
		const struct trace_memory_operation *row = &trace->memory_operations[i];

		if (gpus_find(&perfetto->timeline->gpus, row->agent) == gpu)
			order[count++] = (struct sort_row){key_of_operation(row), i};
	}
	if (!err)
		err = sort_rows(order, count);
	for (uint32_t i = 0; i < count && !err; i++)
		err = add_operation(changes, &addresses, &trace->memory_operations[order[i].index],
				    &bytes, &addresses_count);
	numbers_release(&addresses);
	free(bytes);
	free(order);
	return err;
}

static int put_memory(const struct perfetto *perfetto, uint32_t gpu)
{
	struct changes changes = {0};
	int err = find_memory(perfetto, gpu, &changes);

	if (!err && changes.rows_count)
		err = put_changes(begin_counter(perfetto->sequence,
						perfetto_track_id(PERFETTO_TRACK_MEMORY, gpu, 0),
						gpu, "memory in use", UNIT_BYTES, NULL),
				  &changes);
	free(changes.rows);
	return err;
}

/* ---- depth of streams ---- */

/* What a call gave a stream. */
struct given {
	uint32_t call;
	int64_t begin_ns, end_ns;
};

/* By stream. */
struct depth {
	struct given last; /* of the call before; valid if has_last */
	bool has_last;
	struct changes changes;
};

static int add_last(struct depth *depth)
{
	int err = 0;

	if (depth->has_last && depth->last.begin_ns < depth->last.end_ns)
		err = add_change(&depth->changes, depth->last.begin_ns, 1);
	if (!err && depth->has_last && depth->last.begin_ns < depth->last.end_ns)
		err = add_change(&depth->changes, depth->last.end_ns, -1);
	return err;
}

/* Activities of one call follow each other. */
static int add_activity(struct depth *depth, const struct trace *trace, uint32_t number)
{
	const struct trace_activity *row = &trace->activities[number];
	int err;

	if (depth->has_last && depth->last.call == row->call) {
		if (row->end_ns > depth->last.end_ns)
			depth->last.end_ns = row->end_ns;
		return 0;
	}
	err = add_last(depth);
	depth->last = (struct given){row->call, trace->calls[row->call].begin_ns, row->end_ns};
	depth->has_last = true;
	return err;
}

static int put_depth(const struct perfetto *perfetto, uint32_t gpu, uint32_t stream,
		     struct depth *depth)
{
	const struct trace *trace = perfetto->timeline->trace;
	const struct trace_stream *row = &trace->streams[stream];
	char name[96];
	int err = add_last(depth);

	if (err || !depth->changes.rows_count)
		return err;
	if (trace->processes_count > 1)
		snprintf(name, sizeof(name), "stream %" PRIu32 " depth (pid %" PRIu32 ")",
			 row->ordinal, trace->processes[row->process].pid);
	else
		snprintf(name, sizeof(name), "stream %" PRIu32 " depth", row->ordinal);
	return put_changes(begin_counter(perfetto->sequence,
					 perfetto_track_id(PERFETTO_TRACK_DEPTH, stream, gpu), gpu,
					 name, UNIT_COUNT, NULL),
			   &depth->changes);
}

static int put_depths(const struct perfetto *perfetto, uint32_t gpu)
{
	const struct trace *trace = perfetto->timeline->trace;
	struct depth *depths = table_zeroed(trace->streams_count, sizeof(*depths));
	int err = depths ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->activities_count && !err; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->untimed == RECORD_UNTIMED_NO && row->call != TRACE_NONE &&
		    row->stream != TRACE_NONE &&
		    gpus_find(&perfetto->timeline->gpus, row->agent) == gpu)
			err = add_activity(&depths[row->stream], trace, i);
	}
	for (uint32_t i = 0; i < trace->streams_count && !err; i++)
		err = put_depth(perfetto, gpu, i, &depths[i]);
	for (uint32_t i = 0; i < trace->streams_count && depths; i++)
		free(depths[i].changes.rows);
	free(depths);
	return err;
}

/* ---- all of a GPU ---- */

static void put_parent(const struct perfetto *perfetto, uint32_t gpu)
{
	char name[64];

	snprintf(name, sizeof(name), "GPU %" PRIu32 " counters", gpu);
	sequence_start(perfetto->sequence);
	sequence_packet_begin(perfetto->sequence);
	sequence_track_end(perfetto->sequence, parent_id(gpu), 0, name);
}

int perfetto_put_counters(const struct perfetto *perfetto)
{
	int err = 0;

	for (uint32_t gpu = 0; gpu < perfetto->timeline->gpus.count && !err; gpu++) {
		put_parent(perfetto, gpu);
		err = put_busy(perfetto, gpu);
		if (!err)
			err = put_memory(perfetto, gpu);
		if (!err)
			err = put_depths(perfetto, gpu);
	}
	return err ? err : sequence_error(perfetto->sequence);
}
