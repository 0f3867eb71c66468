/* The order of activities in hardware queues: which packets wait for the packets before them. */
#include "analyze/dependency_walk.h"

uint32_t queue_take(struct dependency_walk *walk, uint32_t activity)
{
	const struct trace *trace = walk->deps->trace;
	const struct trace_activity *row = &trace->activities[activity];
	uint32_t behind;

	/* CUDA's activities and copies have no queue. */
	if (row->queue >= trace->queues_count || row->untimed != RECORD_UNTIMED_NO)
		return TRACE_NONE;
	behind = walk->last_packets[row->queue];
	walk->last_packets[row->queue] = activity;
	/* Calls of two threads may have reached the queue in another order than that of their cids.
	 * The packet index (id) tells the real order. */
	if (behind != TRACE_NONE && trace->activities[behind].id > row->id) {
		walk->last_packets[row->queue] = behind;
		return TRACE_NONE;
	}
	return queue_has_barrier_bit(row) ? behind : TRACE_NONE;
}

void queue_push(struct dependency_walk *walk, uint32_t opened, uint32_t behind)
{
	if (behind == TRACE_NONE)
		return;
	for (uint32_t i = opened; i < walk->deps->edges_count; i++) {
		if (walk->deps->edges[i].from == behind)
			return;
	}
	store_push(walk->deps, dependency_on(behind, TRACE_NONE, DEPENDENCY_QUEUE));
}
