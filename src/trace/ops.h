/* The table of what activities do (trace.ops): equal work gets one row. */
#ifndef DAGTAP_TRACE_OPS_H
#define DAGTAP_TRACE_OPS_H

#include "trace/model.h"

struct op_table {
	struct trace *trace;
	uint32_t *slots; /* row + 1, 0 = free; open addressing */
	uint32_t slot_count;
};

/* Starts with the rows that TRACE has. 0 or -ENOMEM. */
int op_table_init(struct op_table *table, struct trace *trace);
void op_table_release(struct op_table *table);

/* Row of OP, which is all zeros where it says nothing, its padding too (start with op_blank).
 * TRACE_NONE: out of memory. */
uint32_t op_intern(struct op_table *table, const struct trace_op *op);

/* An op of KIND that nothing is known about. */
void op_blank(struct trace_op *op, enum trace_activity_kind kind);

/* Numbers the rows from FIRST on in the order in which the activities from FIRST_ACTIVITY on have
 * them, and drops those that none has: so they do not depend on the order of arrival. 0 or -ENOMEM;
 * no more interning after that. */
int ops_renumber(struct trace *trace, uint32_t first, uint32_t first_activity);

#endif
