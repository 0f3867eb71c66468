/* Calls, activities and attribute sets (see import.h). */
#include <errno.h>
#include <stdlib.h>

#include <xxhash.h>

#include "format/import/import.h"
#include "trace/row_table.h"

struct trace_call *import_call(struct import *import)
{
	struct trace_call *row = trace_add(import->trace, calls);

	if (row)
		row->parent = row->scope = row->stream = row->launch = row->arg_first = TRACE_NONE;
	return row;
}

struct trace_activity *import_activity(struct import *import)
{
	struct trace_activity *row = trace_add(import->trace, activities);

	if (row) {
		row->call = row->agent = row->queue = row->stream = row->thread = TRACE_NONE;
		row->scope = row->launch = row->node = TRACE_NONE;
	}
	return row;
}

int import_attributes(struct import *import, const struct trace_scope_attribute *rows,
		      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct trace_scope_attribute *row = trace_add(import->trace, scope_attributes);

		if (!row)
			return -ENOMEM;
		*row = rows[i];
	}
	return 0;
}

int64_t import_set(struct import *import, const struct trace_scope_attribute *rows, uint32_t count)
{
	struct trace *trace = import->trace;
	uint32_t number, known = import->set_hashes.count;
	struct trace_attribute_set *set;
	XXH128_hash_t hash;

	if (count == 0)
		return 0;
	if (trace->attribute_sets_count == 0 && !trace_add(trace, attribute_sets))
		return -ENOMEM;
	hash = XXH3_128bits(rows, count * sizeof(*rows));
	number = numbers_get(&import->set_hashes, hash.high64, hash.low64);
	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number == known) {
		set = trace_add(trace, attribute_sets);
		if (!set)
			return -ENOMEM;
		*set = (struct trace_attribute_set){trace->scope_attributes_count, count};
		if (import_attributes(import, rows, count) < 0)
			return -ENOMEM;
	}
	return (int64_t)number + 1;
}

/* Notes SET for the last one of COUNT rows. */
static int set_last(struct import_sets *sets, uint32_t count, int64_t set)
{
	if (set <= 0)
		return (int)set;
	while (sets->count < count) {
		if (!table_add((void **)&sets->rows, &sets->count, sizeof(*sets->rows)))
			return -ENOMEM;
	}
	sets->rows[count - 1] = (uint32_t)set;
	return 0;
}

int import_set_call(struct import *import, int64_t set)
{
	return set_last(&import->call_sets, import->trace->calls_count, set);
}

int import_set_activity(struct import *import, int64_t set)
{
	return set_last(&import->activity_sets, import->trace->activities_count, set);
}

void import_join_call(struct import *import, uint32_t activity)
{
	struct trace_activity *row = &import->trace->activities[activity];
	struct trace_call *call;

	if (row->call == TRACE_NONE)
		return;
	call = &import->trace->calls[row->call];
	/* the activities of a call are contiguous */
	if (call->activity_count == 0) {
		call->activity_first = activity;
		call->stream = row->stream;
	}
	row->ordinal = call->activity_count++;
	if (call->activities_expected < call->activity_count)
		call->activities_expected = call->activity_count;
	row->thread = call->thread;
	if (row->scope == TRACE_NONE && !import->is_complete)
		row->scope = call->scope;
	if (call->launch == TRACE_NONE)
		call->launch = row->launch;
	if (row->launch == TRACE_NONE && import->is_complete)
		row->launch = call->launch;
	if (row->launch != TRACE_NONE && row->confidence == TRACE_CONFIDENCE_NONE)
		row->confidence = TRACE_CONFIDENCE_UNKNOWN;
}
