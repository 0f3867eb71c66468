/* Work kinds of activities (see works.h): a hash table over trace.works. */
#include "trace/works.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trace/row_table.h"

#define SLOTS_FIRST 1024

static uint32_t first_slot(const struct work_table *table, const struct trace_work *work)
{
	return (uint32_t)XXH3_64bits(work, sizeof(*work)) & (table->slot_count - 1);
}

static int index_rows(struct work_table *table, uint32_t slot_count)
{
	uint32_t *slots;

	while (slot_count / 2 <= table->trace->works_count)
		slot_count *= 2;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->slot_count = slot_count;
	for (uint32_t i = 0; i < table->trace->works_count; i++) {
		uint32_t at = first_slot(table, &table->trace->works[i]);

		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = i + 1;
	}
	return 0;
}

static int grow(struct work_table *table)
{
	return index_rows(table, table->slot_count ? table->slot_count * 2 : SLOTS_FIRST);
}

int work_table_init(struct work_table *table, struct trace *trace)
{
	*table = (struct work_table){.trace = trace};
	return grow(table);
}

void work_table_release(struct work_table *table)
{
	free(table->slots);
	*table = (struct work_table){0};
}

uint32_t work_intern(struct work_table *table, const struct trace_work *work)
{
	struct trace *trace = table->trace;
	struct trace_work *row;
	uint32_t at;

	if (trace->works_count >= table->slot_count / 2 && grow(table) < 0)
		return TRACE_NONE;
	at = first_slot(table, work);
	for (; table->slots[at]; at = (at + 1) & (table->slot_count - 1)) {
		if (!memcmp(&trace->works[table->slots[at] - 1], work, sizeof(*work)))
			return table->slots[at] - 1;
	}
	row = trace_add(trace, works);
	if (!row)
		return TRACE_NONE;
	memcpy(row, work, sizeof(*row));
	table->slots[at] = trace->works_count;
	return trace->works_count - 1;
}

void work_blank(struct trace_work *work, enum trace_activity_kind kind)
{
	memset(work, 0, sizeof(*work));
	work->kind = kind;
	work->dst_agent = TRACE_NONE;
	work->src_agent = TRACE_NONE;
}

int work_numbering_init(struct work_numbering *numbering, const struct trace *trace, uint32_t first)
{
	*numbering = (struct work_numbering){
		.first = first,
		.count = trace->works_count - first,
		.numbers = calloc((size_t)(trace->works_count - first) + 1, sizeof(uint32_t)),
	};
	return numbering->numbers ? 0 : -ENOMEM;
}

void work_numbering_release(struct work_numbering *numbering)
{
	free(numbering->numbers);
}

int work_numbering_apply(const struct work_numbering *numbering, struct work_table *table)
{
	struct trace *trace = table->trace;
	struct trace_work *rows = malloc(((size_t)numbering->used + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < numbering->count; i++) {
		if (numbering->numbers[i])
			rows[numbering->numbers[i] - 1] = trace->works[numbering->first + i];
	}
	if (numbering->used)
		memcpy(trace->works + numbering->first, rows, numbering->used * sizeof(*rows));
	trace->works_count = numbering->first + numbering->used;
	free(rows);
	return index_rows(table, table->slot_count);
}
