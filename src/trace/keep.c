/* Removes rows from a trace (keep.h). */
#include "trace/keep.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

/* New indices of rows, by old index; TRACE_NONE: the row is removed. */
struct renumbering {
	uint32_t *calls, *records;
};

static uint32_t renumber(const uint32_t *numbers, uint32_t old)
{
	return old == TRACE_NONE ? TRACE_NONE : numbers[old];
}

static void number_calls(const struct trace *trace, const bool *kept, uint32_t *numbers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->calls_count; i++)
		numbers[i] = kept[i] ? count++ : TRACE_NONE;
}

static void number_records(const struct trace *trace, const uint32_t *calls, uint32_t *numbers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->event_records_count; i++) {
		bool is_kept = renumber(calls, trace->event_records[i].call) != TRACE_NONE;

		numbers[i] = is_kept ? count++ : TRACE_NONE;
	}
}

static void keep_activities(struct trace *trace, const bool *kept, const uint32_t *calls)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->launches_count; i++)
		trace->launches[i].activity_count = trace->launches[i].body_count = 0;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		trace->calls[i].activity_count = 0;
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];

		if (!kept[i])
			continue;
		if (row->call != TRACE_NONE && trace->calls[row->call].activity_count++ == 0)
			trace->calls[row->call].activity_first = count;
		if (row->launch != TRACE_NONE) {
			trace->launches[row->launch].activity_count++;
			trace->launches[row->launch].body_count += trace_is_in_body(trace, row);
		}
		row->call = renumber(calls, row->call);
		if (trace->ticks)
			trace->ticks[count] = trace->ticks[i];
		if (trace->activity_attributes)
			trace->activity_attributes[count] = trace->activity_attributes[i];
		trace->activities[count++] = *row;
	}
	trace->activities_count = count;
}

static void keep_calls(struct trace *trace, const uint32_t *calls)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->launches_count; i++)
		trace->launches[i].call = renumber(calls, trace->launches[i].call);
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		if (calls[i] == TRACE_NONE)
			continue;
		if (trace->call_attributes)
			trace->call_attributes[count] = trace->call_attributes[i];
		trace->calls[i].parent = renumber(calls, trace->calls[i].parent);
		trace->calls[count++] = trace->calls[i];
	}
	trace->calls_count = count;
}

/* Keeps of a table the rows whose call is kept. */
#define KEEP_ROWS(trace, name, calls)                                                              \
	do {                                                                                       \
		uint32_t kept = 0;                                                                 \
                                                                                                   \
		for (uint32_t i = 0; i < (trace)->name##_count; i++) {                             \
			uint32_t call = renumber((calls), (trace)->name[i].call);                  \
                                                                                                   \
			if (call == TRACE_NONE)                                                    \
				continue;                                                          \
			(trace)->name[kept] = (trace)->name[i];                                    \
			(trace)->name[kept++].call = call;                                         \
		}                                                                                  \
		(trace)->name##_count = kept;                                                      \
	} while (0)

/* Points the waits at the new numbers of their records. */
static void renumber_producers(struct trace *trace, const uint32_t *records)
{
	for (uint32_t i = 0; i < trace->waits_count; i++) {
		struct trace_wait *wait = &trace->waits[i];
		uint32_t producer = renumber(records, wait->producer);

		if (producer == TRACE_NONE && wait->producer != TRACE_NONE)
			wait->known = TRACE_KNOWN_NOT;
		wait->producer = producer;
	}
}

static void keep_rows_of_calls(struct trace *trace, const uint32_t *calls)
{
	KEEP_ROWS(trace, barriers, calls);
	KEEP_ROWS(trace, event_records, calls);
	KEEP_ROWS(trace, waits, calls);
	KEEP_ROWS(trace, memory_operations, calls);
}

int trace_keep(struct trace *trace, const bool *activities, const bool *calls)
{
	struct renumbering numbers = {
		.calls = table_alloc(trace->calls_count, sizeof(*numbers.calls)),
		.records = table_alloc(trace->event_records_count, sizeof(*numbers.records)),
	};
	int err = numbers.calls && numbers.records ? 0 : -ENOMEM;

	if (err == 0) {
		number_calls(trace, calls, numbers.calls);
		number_records(trace, numbers.calls, numbers.records);
		keep_activities(trace, activities, numbers.calls);
		keep_calls(trace, numbers.calls);
		renumber_producers(trace, numbers.records);
		keep_rows_of_calls(trace, numbers.calls);
	}
	free(numbers.calls);
	free(numbers.records);
	return err;
}
