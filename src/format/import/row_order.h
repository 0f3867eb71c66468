/* Sorts a table by several keys and tells where each row went, so that references to its rows can
 * be updated.
 *
 * Threading: one thread. Cost: a radix sort (base/sort.h) for each key, and one copy of the table
 * if it was not in order. */
#ifndef DAGTAP_FORMAT_IMPORT_ROW_ORDER_H
#define DAGTAP_FORMAT_IMPORT_ROW_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_model.h"

/* A row's sort key. Smaller keys come first. */
typedef uint64_t order_key(const void *row);

/* A table to be sorted by up to four keys; keys[0] is the most significant and a NULL key ends
 * them. */
struct order_table {
	void **rows;
	uint32_t count;
	size_t row_bytes;
	order_key *keys[5];
};

#define ORDER_TABLE(trace, name, ...)                                                              \
	(&(struct order_table){(void **)&(trace)->name,                                            \
			       (trace)->name##_count,                                              \
			       sizeof(*(trace)->name),                                             \
			       {__VA_ARGS__}})

/* Sorts the table; stable. RET_PLACE maps each row's old index to its new one; the caller frees it.
 * It is NULL if the rows were in order, so that no reference changes. The table's memory may be
 * replaced. Returns 0 or -ENOMEM. */
int order_rows(const struct order_table *table, uint32_t **ret_place);

/* Replaces a reference *INDEX by the row's new index; TRACE_NONE stays. */
static inline void order_move(uint32_t *index, const uint32_t *place)
{
	if (*index != TRACE_NONE)
		*index = place[*index];
}

/* Replaces the field FIELD, a reference, in all rows of trace->TABLE. */
#define ORDER_MOVE(trace, table, field, place)                                                     \
	do {                                                                                       \
		for (uint32_t row_ = 0; row_ < (trace)->table##_count; row_++)                     \
			order_move(&(trace)->table[row_].field, place);                            \
	} while (0)

/* A signed time as a key that sorts in the same order. */
static inline uint64_t order_ns(int64_t ns)
{
	return (uint64_t)ns ^ UINT64_C(1) << 63;
}

#endif
