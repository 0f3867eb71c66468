/* Nests scopes and calls by their times (see import.h). */
#include <errno.h>
#include <stdlib.h>

#include "format/import/import.h"
#include "format/import/row_order.h"
#include "trace/row_table.h"

/* no program nests deeper */
#define DEPTH_MOST 256

uint32_t import_root(const struct import *import, uint32_t scope)
{
	const struct trace_scope *rows = import->trace->scopes;

	for (int depth = 0; depth < DEPTH_MOST; depth++) {
		uint32_t parent = rows[scope].parent;

		if (parent == TRACE_NONE || import_is_numbered(import, rows[parent].id))
			return scope;
		scope = parent;
	}
	return TRACE_NONE;
}

static uint64_t interval_thread(const void *row)
{
	return ((const struct import_interval *)row)->thread;
}

static uint64_t interval_begin(const void *row)
{
	return order_ns(((const struct import_interval *)row)->begin_ns);
}

/* Inverted, so that the longer of two intervals with the same begin comes first. */
static uint64_t interval_end(const void *row)
{
	return ~order_ns(((const struct import_interval *)row)->end_ns);
}

/* Scopes before calls. */
static uint64_t interval_row(const void *row)
{
	const struct import_interval *interval = row;

	return (uint64_t)interval->is_call << 32 | interval->row;
}

static bool is_inside(const struct trace_call *call, const struct trace_scope *scope)
{
	return scope->thread == call->thread && scope->begin_ns <= call->begin_ns &&
	       scope->end_ns >= call->end_ns;
}

/* Puts a call into SCOPE, the innermost scope that is open on its thread, if that has no id in the
 * file (see import_nest). */
static void put_call(struct import *import, struct trace_call *call, uint32_t scope)
{
	struct trace_scope *rows = import->trace->scopes;
	uint32_t root;

	if (scope == TRACE_NONE || !import_is_numbered(import, rows[scope].id))
		return;
	if (call->scope == TRACE_NONE) {
		call->scope = scope;
		return;
	}
	root = import_root(import, call->scope);
	if (root == TRACE_NONE || !rows[root].untimed)
		return;
	if (rows[root].thread == TRACE_NONE) {
		rows[root].thread = call->thread;
		rows[root].parent = scope;
	}
	while (rows[root].parent != TRACE_NONE && !is_inside(call, &rows[rows[root].parent]))
		rows[root].parent = rows[rows[root].parent].parent;
}

/* Puts ROW into HOLDER, the innermost interval around it; NULL: there is none. */
static void put_inside(struct import *import, const struct import_interval *row,
		       const struct import_interval *holder)
{
	struct trace *trace = import->trace;
	uint32_t call = TRACE_NONE, scope = TRACE_NONE;

	if (holder) {
		call = holder->is_call ? holder->row : TRACE_NONE;
		scope = holder->is_call ? trace->calls[holder->row].scope : holder->row;
	}
	if (row->is_call) {
		trace->calls[row->row].parent = call;
		put_call(import, &trace->calls[row->row], scope);
	} else if (import_is_numbered(import, trace->scopes[row->row].id)) {
		trace->scopes[row->row].parent = scope;
	}
}

/* False for marks, which have no length, and for ranges, which need not nest. */
static bool can_hold(const struct trace *trace, const struct import_interval *row)
{
	enum record_scope_kind kind;

	if (row->is_call)
		return true;
	kind = trace->scopes[row->row].kind;
	return kind != RECORD_SCOPE_MARK && kind != RECORD_SCOPE_RANGE;
}

int import_nest(struct import *import, struct import_interval **intervals, uint32_t count)
{
	const struct order_table table = {
		(void **)intervals,
		count,
		sizeof(**intervals),
		{interval_thread, interval_begin, interval_end, interval_row},
	};
	uint32_t *place, *held_by, top = TRACE_NONE;
	const struct import_interval *rows;
	int err = order_rows(&table, &place);

	if (err < 0)
		return err;
	/* by interval: the one around it; the map of places is not needed, but its memory */
	held_by = place ? place : table_alloc(count, sizeof(*held_by));
	if (!held_by)
		return -ENOMEM;
	rows = *intervals;
	for (uint32_t i = 0; i < count; i++) {
		if (i && rows[i].thread != rows[i - 1].thread)
			top = TRACE_NONE;
		/* an interval that ends before this one can hold neither it nor a later one */
		while (top != TRACE_NONE && rows[top].end_ns < rows[i].end_ns)
			top = held_by[top];
		held_by[i] = top;
		put_inside(import, &rows[i], top == TRACE_NONE ? NULL : &rows[top]);
		if (can_hold(import->trace, &rows[i]))
			top = i;
	}
	free(held_by);
	return 0;
}
