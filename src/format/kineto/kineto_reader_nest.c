/* Nests the scopes and calls of each thread by their times, and finds scopes by External id. */
#include <errno.h>
#include <stdlib.h>

#include "format/kineto/kineto_reader_load.h"
#include "trace/row_table.h"

static void fill_intervals(const struct trace *trace, struct import_interval *rows)
{
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		const struct trace_scope *scope = &trace->scopes[i];

		*rows++ = (struct import_interval){scope->begin_ns, scope->end_ns, scope->thread, i,
						   false};
	}
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		*rows++ = (struct import_interval){call->begin_ns, call->end_ns, call->thread, i,
						   true};
	}
}

static int nest(struct import *import)
{
	uint64_t count = (uint64_t)import->trace->scopes_count + import->trace->calls_count;
	struct import_interval *rows = table_alloc(count, sizeof(*rows));
	int err = rows && count < TRACE_NONE ? 0 : -ENOMEM;

	if (err == 0) {
		fill_intervals(import->trace, rows);
		err = import_nest(import, &rows, (uint32_t)count);
	}
	free(rows);
	return err;
}

static int index_externals(struct kread_load *load)
{
	const struct trace *trace = load->import.trace;
	uint32_t count = 0;

	load->external_scopes = table_zeroed(trace->scopes_count, sizeof(uint32_t));
	if (!load->external_scopes)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		const struct trace_scope *row = &trace->scopes[i];
		uint32_t number;

		if (row->id == 0)
			continue;
		number = numbers_get(&load->externals, row->process, row->id);
		if (number == NUMBERS_NONE)
			return -ENOMEM;
		if (number == count)
			load->external_scopes[count++] = i;
	}
	return 0;
}

int64_t kread_find_scope(struct kread_load *load, uint32_t process, uint64_t external_id)
{
	uint32_t number;

	if (external_id == 0)
		return TRACE_NONE;
	if (!load->external_scopes && index_externals(load) < 0)
		return -ENOMEM;
	number = numbers_find(&load->externals, process, external_id);
	if (number != NUMBERS_NONE)
		return load->external_scopes[number];
	load->left_out[KREAD_LEFT_OUT_EXTERNAL]++;
	return TRACE_NONE;
}

/* Finds by External id the scope of each call that is inside no scope on its thread. */
static int find_scopes(struct kread_load *load)
{
	for (uint32_t i = 0; i < load->import.trace->calls_count; i++) {
		struct trace_call *call = &load->import.trace->calls[i];
		int64_t scope;

		if (call->scope != TRACE_NONE)
			continue;
		scope = kread_find_scope(load, call->process, load->call_externals[i]);
		if (scope < 0)
			return -ENOMEM;
		call->scope = (uint32_t)scope;
	}
	return 0;
}

int kread_nest(struct kread_load *load)
{
	int err = import_order_scopes(&load->import);

	if (err == 0)
		err = nest(&load->import);
	return err == 0 ? find_scopes(load) : err;
}
