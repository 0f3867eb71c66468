/* Work kinds of activities (see ops.h): a hash table over trace.ops. */
#include "trace/ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/table.h"

#define SLOTS_FIRST 1024

static uint32_t first_slot(const struct op_table *table, const struct trace_op *op)
{
	return (uint32_t)XXH3_64bits(op, sizeof(*op)) & (table->slot_count - 1);
}

static int index_rows(struct op_table *table, uint32_t slot_count)
{
	uint32_t *slots;

	while (slot_count / 2 <= table->trace->ops_count)
		slot_count *= 2;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->slot_count = slot_count;
	for (uint32_t i = 0; i < table->trace->ops_count; i++) {
		uint32_t at = first_slot(table, &table->trace->ops[i]);

		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	return 0;
}

static int grow(struct op_table *table)
{
	return index_rows(table, table->slot_count ? table->slot_count * 2 : SLOTS_FIRST);
}

int op_table_init(struct op_table *table, struct trace *trace)
{
	*table = (struct op_table){.trace = trace};
	return grow(table);
}

void op_table_release(struct op_table *table)
{
	free(table->slots);
	*table = (struct op_table){0};
}

uint32_t op_intern(struct op_table *table, const struct trace_op *op)
{
	struct trace *trace = table->trace;
	struct trace_op *row;
	uint32_t at;

	if (trace->ops_count >= table->slot_count / 2 && grow(table) < 0)
		return TRACE_NONE;
	at = first_slot(table, op);
	for (; table->slots[at]; at = (at + 1) & (table->slot_count - 1)) {
		if (!memcmp(&trace->ops[table->slots[at] - 1], op, sizeof(*op)))
			return table->slots[at] - 1;
	}
	row = trace_add(trace, ops);
	if (!row)
		return TRACE_NONE;
	memcpy(row, op, sizeof(*row));
	table->slots[at] = trace->ops_count;
	return trace->ops_count - 1;
}

void op_blank(struct trace_op *op, enum trace_activity_kind kind)
{
	memset(op, 0, sizeof(*op));
	op->kind = kind;
	op->dst_agent = TRACE_NONE;
	op->src_agent = TRACE_NONE;
}

int op_numbering_init(struct op_numbering *numbering, const struct trace *trace, uint32_t first)
{
	*numbering = (struct op_numbering){
		.first = first,
		.count = trace->ops_count - first,
		.numbers = calloc((size_t)(trace->ops_count - first) + 1, sizeof(uint32_t)),
	};
	return numbering->numbers ? 0 : -ENOMEM;
}

void op_numbering_release(struct op_numbering *numbering)
{
	free(numbering->numbers);
}

int op_numbering_apply(const struct op_numbering *numbering, struct op_table *table)
{
	struct trace *trace = table->trace;
	struct trace_op *rows = malloc(((size_t)numbering->used + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < numbering->count; i++) {
		if (numbering->numbers[i])
			rows[numbering->numbers[i] - 1] = trace->ops[numbering->first + i];
	}
	if (numbering->used)
		memcpy(trace->ops + numbering->first, rows, numbering->used * sizeof(*rows));
	trace->ops_count = numbering->first + numbering->used;
	free(rows);
	return index_rows(table, table->slot_count);
}
