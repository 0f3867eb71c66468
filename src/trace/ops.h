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

/* New numbers for the rows from FIRST on: in the order in which they are taken, so that they do not
 * depend on the order of arrival. */
struct op_numbering {
	uint32_t first;
	uint32_t count;	   /* of the rows */
	uint32_t used;	   /* that were taken */
	uint32_t *numbers; /* by old number, from FIRST: the new one + 1, 0 = not taken */
};

/* 0 or -ENOMEM; to be released either way. */
int op_numbering_init(struct op_numbering *numbering, const struct trace *trace, uint32_t first);

/* Rows of processes before this one have their numbers. */
static inline uint32_t op_numbering_take(struct op_numbering *numbering, uint32_t op)
{
	uint32_t *number;

	if (op < numbering->first)
		return op;
	number = &numbering->numbers[op - numbering->first];
	if (!*number)
		*number = ++numbering->used;
	return numbering->first + *number - 1;
}

/* Brings the table's rows into the new order, without those that were not taken. 0 or -ENOMEM. */
int op_numbering_apply(const struct op_numbering *numbering, struct op_table *table);
void op_numbering_release(struct op_numbering *numbering);

#endif
