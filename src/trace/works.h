/* Interns work kinds (trace.works): what an activity does. Equal work gets one row, which leaves 88
 * bytes per activity. One thread fills a table. */
#ifndef DAGTAP_TRACE_WORKS_H
#define DAGTAP_TRACE_WORKS_H

#include "base/hash_map.h"
#include "trace/trace_model.h"

/* A hash table of the rows of trace.works, which the trace owns. */
struct work_table {
	struct trace *trace;
	struct hash_map map; /* rows by the hash of their bytes */
};

/* Starts with the rows that TRACE has. Returns 0 or -ENOMEM; call work_table_release in both
 * cases. */
int work_table_init(struct work_table *table, struct trace *trace);
void work_table_release(struct work_table *table);

/* Index into trace.works of WORK, which is added if it is new. Rows are compared byte by byte: WORK
 * must be zero where nothing is known, in its padding too, so start with work_blank. TRACE_NONE:
 * out of memory. WORK must not be a row of trace.works, which may move. */
uint32_t work_intern(struct work_table *table, const struct trace_work *work);

/* Makes *WORK a work kind of KIND of which nothing else is known, with zeros in its padding. */
void work_blank(struct trace_work *work, enum trace_activity_kind kind);

/* Gives new numbers to the rows from `first` on, in the order in which they are taken, so that the
 * order of rows does not depend on the order in which records arrived. */
struct work_numbering {
	uint32_t first;
	uint32_t count;	   /* number of rows from `first` on */
	uint32_t used;	   /* number of rows taken */
	uint32_t *numbers; /* by old number, from `first`: the new number + 1, 0 = not taken */
};

/* Returns 0 or -ENOMEM; call work_numbering_release in both cases. */
int work_numbering_init(struct work_numbering *numbering, const struct trace *trace,
			uint32_t first);

/* The new number of WORK, an old number. Rows before `first`, of earlier processes, keep their
 * numbers. */
static inline uint32_t work_numbering_take(struct work_numbering *numbering, uint32_t work)
{
	uint32_t *number;

	if (work < numbering->first)
		return work;
	number = &numbering->numbers[work - numbering->first];
	if (!*number)
		*number = ++numbering->used;
	return numbering->first + *number - 1;
}

/* The new number of WORK, which was taken before. */
static inline uint32_t work_numbering_get(const struct work_numbering *numbering, uint32_t work)
{
	return work < numbering->first
		       ? work
		       : numbering->first + numbering->numbers[work - numbering->first] - 1;
}

/* Brings the rows into the new order and removes those that were not taken. Returns 0 or
 * -ENOMEM. */
int work_numbering_apply(const struct work_numbering *numbering, struct work_table *table);
void work_numbering_release(struct work_numbering *numbering);

#endif
