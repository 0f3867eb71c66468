/* Nests the scopes and calls of each thread by their times, and finds scopes by External id. */
#include <errno.h>
#include <stdlib.h>

#include "format/kineto/kineto_reader_load.h"
#include "trace/row_table.h"

/* A scope or a call. */
struct interval {
	int64_t begin_ns, end_ns;
	uint32_t thread;
	uint32_t row;
	bool is_call;
};

static uint64_t scope_process(const void *row)
{
	return ((const struct trace_scope *)row)->process;
}

static uint64_t scope_begin(const void *row)
{
	return order_ns(((const struct trace_scope *)row)->begin_ns);
}

static uint64_t scope_end(const void *row)
{
	return ~order_ns(((const struct trace_scope *)row)->end_ns);
}

static uint64_t interval_thread(const void *row)
{
	return ((const struct interval *)row)->thread;
}

static uint64_t interval_begin(const void *row)
{
	return order_ns(((const struct interval *)row)->begin_ns);
}

/* Inverted, so that the longer of two intervals with the same begin comes first. */
static uint64_t interval_end(const void *row)
{
	return ~order_ns(((const struct interval *)row)->end_ns);
}

static int move_externals(struct kread_externals *externals, const uint32_t *place)
{
	uint64_t *rows = calloc((size_t)externals->count + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < externals->count; i++)
		rows[place[i]] = externals->rows[i];
	free(externals->rows);
	externals->rows = rows;
	return 0;
}

/* Sorts the scopes by (process, begin, longest first) and numbers them in this order, because the
 * file gives them no ids. */
static int order_scopes(struct kread_load *load)
{
	struct trace *trace = load->trace;
	uint32_t *place, next = 0;
	int err = order_rows(ORDER_TABLE(trace, scopes, scope_process, scope_begin, scope_end),
			     &place);

	if (err < 0)
		return err;
	err = move_externals(&load->scope_externals, place);
	free(place);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (i && trace->scopes[i].process != trace->scopes[i - 1].process)
			next = 0;
		trace->scopes[i].id = ++next;
	}
	return err;
}

static void fill_intervals(const struct trace *trace, struct interval *rows)
{
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		const struct trace_scope *scope = &trace->scopes[i];

		*rows++ =
			(struct interval){scope->begin_ns, scope->end_ns, scope->thread, i, false};
	}
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		*rows++ = (struct interval){call->begin_ns, call->end_ns, call->thread, i, true};
	}
}

/* Sets the parent, and for a call the scope, of ROW, which is inside HOLDER; NULL: inside
 * nothing. */
static void put_inside(struct trace *trace, const struct interval *row,
		       const struct interval *holder)
{
	uint32_t call = TRACE_NONE, scope = TRACE_NONE;

	if (holder) {
		call = holder->is_call ? holder->row : TRACE_NONE;
		scope = holder->is_call ? trace->calls[holder->row].scope : holder->row;
	}
	if (row->is_call) {
		trace->calls[row->row].parent = call;
		trace->calls[row->row].scope = scope;
	} else {
		trace->scopes[row->row].parent = scope;
	}
}

/* Nests COUNT intervals in the order of (thread, begin, longest first). `top` is the innermost
 * open interval and HELD_BY links it to those around it. An interval that ends before the current
 * one ends cannot hold it or any later one, so it is removed. */
static void nest_intervals(struct trace *trace, const struct interval *rows, uint32_t count,
			   uint32_t *held_by)
{
	uint32_t top = TRACE_NONE;

	for (uint32_t i = 0; i < count; i++) {
		if (i && rows[i].thread != rows[i - 1].thread)
			top = TRACE_NONE;
		while (top != TRACE_NONE && rows[top].end_ns < rows[i].end_ns)
			top = held_by[top];
		held_by[i] = top;
		put_inside(trace, &rows[i], top == TRACE_NONE ? NULL : &rows[top]);
		if (rows[i].is_call || trace->scopes[rows[i].row].kind != RECORD_SCOPE_MARK)
			top = i;
	}
}

static int nest(struct trace *trace)
{
	uint64_t count = (uint64_t)trace->scopes_count + trace->calls_count;
	struct interval *rows = table_alloc(count, sizeof(*rows));
	struct order_table table = {
		(void **)&rows,
		(uint32_t)count,
		sizeof(*rows),
		{interval_thread, interval_begin, interval_end},
	};
	uint32_t *place;
	int err = rows && count < TRACE_NONE ? 0 : -ENOMEM;

	if (err == 0) {
		fill_intervals(trace, rows);
		err = order_rows(&table, &place);
	}
	if (err == 0) {
		/* the map of places is not needed; its memory serves as held_by */
		nest_intervals(trace, rows, (uint32_t)count, place);
		free(place);
	}
	free(rows);
	return err;
}

static int index_externals(struct kread_load *load)
{
	const struct kread_externals *externals = &load->scope_externals;
	uint32_t count = 0;

	load->external_scopes = calloc((size_t)externals->count + 1, sizeof(uint32_t));
	if (!load->external_scopes)
		return -ENOMEM;
	for (uint32_t i = 0; i < externals->count; i++) {
		uint32_t number;

		if (externals->rows[i] == 0)
			continue;
		number = numbers_get(&load->externals, load->trace->scopes[i].process,
				     externals->rows[i]);
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
	for (uint32_t i = 0; i < load->trace->calls_count; i++) {
		struct trace_call *call = &load->trace->calls[i];
		int64_t scope;

		if (call->scope != TRACE_NONE)
			continue;
		scope = kread_find_scope(load, call->process, load->call_externals.rows[i]);
		if (scope < 0)
			return -ENOMEM;
		call->scope = (uint32_t)scope;
	}
	return 0;
}

int kread_nest(struct kread_load *load)
{
	int err = order_scopes(load);

	if (err == 0)
		err = nest(load->trace);
	return err == 0 ? find_scopes(load) : err;
}
