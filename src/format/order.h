/* Rows of another tool's file, read in whatever order they stand there, in the model's order. Rows
 * refer to each other by their places; what is moved takes the references to it along.
 *
 * Functions that return int: 0 or -ENOMEM. */
#ifndef DAGTAP_FORMAT_ORDER_H
#define DAGTAP_FORMAT_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model.h"

/* Of a launch whose place among its exec's nobody said. */
#define ORDER_NO_REPLAY UINT64_MAX

typedef uint64_t order_key(const void *row);

/* A table to be sorted by up to four keys, the first one first. */
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

/* Stable. ret_place: by the place that a row had, the one that it has now; to be freed. */
int order_rows(const struct order_table *table, uint32_t **ret_place);

/* The new place of what was at *INDEX. */
static inline void order_move(uint32_t *index, const uint32_t *place)
{
	if (*index != TRACE_NONE)
		*index = place[*index];
}

/* Signed times in the order of keys. */
static inline uint64_t order_ns(int64_t ns)
{
	return (uint64_t)ns ^ UINT64_C(1) << 63;
}

/* Beside a table, an attribute set for each row as far as the last one that has any. */
struct order_sets {
	uint32_t *rows;
	uint32_t count;
};

/* The set of the last one of COUNT rows. */
int order_keep_set(struct order_sets *sets, uint32_t count, uint32_t set);

int order_threads(struct trace *trace);
int order_streams(struct trace *trace);
int order_apis(struct trace *trace);
int order_agents(struct trace *trace);

/* By (process, cid, begin). */
int order_calls(struct trace *trace, struct order_sets *sets);

/* By (process, cid, start), those without a call last, with their calls in `call`; calls are in order.
 * Of several calls with one id the first has the activities. */
int order_activities(struct trace *trace, struct order_sets *sets);

/* Graphs, nodes, execs and launches, when activities are in order: counts, a launch's call, replays
 * that nobody numbered, in the order of their calls. Nodes are ranked by their handle. */
int order_graphs(struct trace *trace);

#endif
