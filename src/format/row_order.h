/* Sorts the rows that were read from another tool's file into the order that trace/trace_model.h
 * requires. Rows refer to each other by index; a function that moves rows also updates the
 * references to them.
 *
 * Functions that return int return 0 or -ENOMEM. Threading: one thread, before the trace is handed
 * out. Cost: a radix sort (trace/sort.h) for each key, and one copy of the table if it was not in
 * order. */
#ifndef DAGTAP_FORMAT_ROW_ORDER_H
#define DAGTAP_FORMAT_ROW_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_model.h"

/* The replay number of a launch whose number the file does not state; order_graphs replaces it. */
#define ORDER_NO_REPLAY UINT64_MAX

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

/* Sorts the table; stable. RET_PLACE maps each row's old index to its new one; the caller frees
 * it. The table's memory may be replaced. */
int order_rows(const struct order_table *table, uint32_t **ret_place);

/* Replaces a reference *INDEX by the row's new index; TRACE_NONE stays. */
static inline void order_move(uint32_t *index, const uint32_t *place)
{
	if (*index != TRACE_NONE)
		*index = place[*index];
}

/* A signed time as a key that sorts in the same order. */
static inline uint64_t order_ns(int64_t ns)
{
	return (uint64_t)ns ^ UINT64_C(1) << 63;
}

/* Attribute sets beside a table: by row, an index into trace.attribute_sets. `count` may be less
 * than the table's: rows from there on have no set. `rows` is owned by the holder of the struct. */
struct order_sets {
	uint32_t *rows;
	uint32_t count;
};

/* Notes SET for the last one of COUNT rows. Does nothing if SET is 0, the empty set. */
int order_keep_set(struct order_sets *sets, uint32_t count, uint32_t set);

/* Sorts threads by (process, tid) and updates calls, scopes and overheads. */
int order_threads(struct trace *trace);

/* Sorts streams by (process, ordinal) and updates calls, activities, launches, event records and
 * waits. */
int order_streams(struct trace *trace);

/* Sorts APIs by process and updates calls. */
int order_apis(struct trace *trace);

/* Sorts agents by (process, index) and updates streams, activities and work kinds. */
int order_agents(struct trace *trace);

/* Calls by (process, cid, begin), and their attribute sets with them. Does not update activities
 * and launches, so call it before they refer to calls. */
int order_calls(struct trace *trace, struct order_sets *sets);

/* Finds the call of each activity, sets `call`, and sorts by (process, with a call before without,
 * cid, start). Calls must be in order already. If several calls share a correlation id, the first
 * one gets the activities. */
int order_activities(struct trace *trace, struct order_sets *sets);

/* Sorts graphs, nodes, execs and launches, and fills in their counts and each launch's call,
 * stream and `exact`. Nodes get their index by the order of their handles. Launches without a
 * replay number are numbered in the order of their calls. Call it when calls and activities are in
 * order. */
int order_graphs(struct trace *trace);

#endif
