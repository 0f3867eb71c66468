/* Interns work kinds (trace.ops): what an activity does. Equal work gets one row, which leaves 88
 * bytes per activity. One thread fills a table. */
#ifndef DAGTAP_TRACE_OPS_H
#define DAGTAP_TRACE_OPS_H

#include "trace/model.h"

/* A hash table of the rows of trace.ops, which the trace owns. */
struct op_table {
	struct trace *trace;
	uint32_t *slots; /* row + 1, 0 = free; open addressing */
	uint32_t slot_count;
};

/* Starts with the rows that TRACE has. Returns 0 or -ENOMEM; call op_table_release in both
 * cases. */
int op_table_init(struct op_table *table, struct trace *trace);
void op_table_release(struct op_table *table);

/* Index into trace.ops of OP, which is added if it is new. Rows are compared byte by byte: OP must
 * be zero where nothing is known, in its padding too, so start with op_blank. TRACE_NONE: out of
 * memory. OP must not be a row of trace.ops, which may move. */
uint32_t op_intern(struct op_table *table, const struct trace_op *op);

/* Makes *OP a work kind of KIND of which nothing else is known, with zeros in its padding. */
void op_blank(struct trace_op *op, enum trace_activity_kind kind);

/* Gives new numbers to the rows from `first` on, in the order in which they are taken, so that the
 * order of rows does not depend on the order in which records arrived. */
struct op_numbering {
	uint32_t first;
	uint32_t count;	   /* number of rows from `first` on */
	uint32_t used;	   /* number of rows taken */
	uint32_t *numbers; /* by old number, from `first`: the new number + 1, 0 = not taken */
};

/* Returns 0 or -ENOMEM; call op_numbering_release in both cases. */
int op_numbering_init(struct op_numbering *numbering, const struct trace *trace, uint32_t first);

/* The new number of OP, an old number. Rows before `first`, of earlier processes, keep their
 * numbers. */
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

/* Brings the rows into the new order and removes those that were not taken. Returns 0 or
 * -ENOMEM. */
int op_numbering_apply(const struct op_numbering *numbering, struct op_table *table);
void op_numbering_release(struct op_numbering *numbering);

#endif
