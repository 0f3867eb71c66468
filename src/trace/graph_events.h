/* Inside trace/: the events that graphs record. A node of the type "event record" records its event
 * whenever its graph is launched. Which event that is follows from the graph as it was when its
 * exec was made and from the updates of the exec before the launch. */
#ifndef DAGTAP_TRACE_GRAPH_EVENTS_H
#define DAGTAP_TRACE_GRAPH_EVENTS_H

#include <stdint.h>

struct process_load;

/* NODE is TRACE_NONE where other nodes of the launch may have recorded events, too. */
struct graph_event {
	uint64_t event; /* handle, 0 = not known */
	uint32_t node;	/* index into trace.nodes */
	uint32_t call;	/* index into trace.calls: the launch */
};

struct graph_events {
	struct graph_event *rows; /* one launch's lie together, in the order of the nodes */
	uint32_t count;
};

/* After the naming stage: of all launches that succeeded. 0 or -ENOMEM; to be released either
 * way. */
int graph_events_find(struct process_load *load, struct graph_events *ret_events);
void graph_events_release(struct graph_events *events);

#endif
