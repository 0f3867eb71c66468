/* Work kinds of activities (see works.h): a hash table over trace.works. */
#include "trace/works.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/row_table.h"

static uint64_t hash_work(const struct trace_work *work)
{
	return hash_bytes(work, sizeof(*work));
}

/* Finds WORK in the table, which has room for one more; false if it is new. */
static bool find(const struct work_table *table, struct hash_probe *probe,
		 const struct trace_work *work)
{
	*probe = hash_map_probe(&table->map, hash_work(work));
	while (hash_map_next(&table->map, probe)) {
		/* Works are zeroed before they are filled, padding included.
		 * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*) */
		if (!memcmp(&table->trace->works[probe->row], work, sizeof(*work)))
			return true;
	}
	return false;
}

/* Puts the rows that the trace has into the empty table. */
static int index_rows(struct work_table *table)
{
	const struct trace *trace = table->trace;
	struct hash_probe probe;

	for (uint32_t i = 0; i < trace->works_count; i++) {
		if (hash_map_reserve(&table->map) < 0)
			return -ENOMEM;
		find(table, &probe, &trace->works[i]);
		hash_map_put(&table->map, &probe, i);
	}
	return 0;
}

int work_table_init(struct work_table *table, struct trace *trace)
{
	*table = (struct work_table){.trace = trace};
	return index_rows(table);
}

void work_table_release(struct work_table *table)
{
	hash_map_release(&table->map);
	table->trace = NULL;
}

uint32_t work_intern(struct work_table *table, const struct trace_work *work)
{
	struct trace *trace = table->trace;
	struct trace_work *row;
	struct hash_probe probe;

	if (hash_map_reserve(&table->map) < 0)
		return TRACE_NONE;
	if (find(table, &probe, work))
		return probe.row;
	row = trace_add(trace, works);
	if (!row)
		return TRACE_NONE;
	memcpy(row, work, sizeof(*row));
	hash_map_put(&table->map, &probe, trace->works_count - 1);
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
	*numbering = (struct work_numbering){0};
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
	hash_map_clear(&table->map);
	return index_rows(table);
}
