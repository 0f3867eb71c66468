/* Inside trace/: the events that launches of graphs record. A node of the type "event record"
 * records its event whenever its graph is launched. Which event that is follows from the graph as
 * it was when its executable graph was made, and from the updates of the executable graph before
 * the launch. call_events.c and cuda_recorders.c use it. */
#ifndef DAGTAP_TRACE_GRAPH_EVENTS_H
#define DAGTAP_TRACE_GRAPH_EVENTS_H

#include <stdint.h>

struct process_load;

/* One node's record of an event in one launch. If `node` is TRACE_NONE, the graph is not known in
 * full: other nodes of the launch may have recorded any event. */
struct graph_event {
	uint64_t event; /* handle, 0 = not known */
	uint32_t node;	/* index into trace.nodes */
	uint32_t call;	/* index into trace.calls: the call that launched */
};

struct graph_events {
	/* those of one launch follow each other, in the order of the nodes */
	struct graph_event *rows;
	uint32_t count;
};

/* Finds the events of all launches that succeeded. Call after naming_load, which sorts the updates.
 * Returns 0 or -ENOMEM; call graph_events_release in both cases. */
int graph_events_find(struct process_load *load, struct graph_events *ret_events);
void graph_events_release(struct graph_events *events);

#endif
