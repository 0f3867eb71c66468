/* What the rows of waits and event records (kineto_waits.c) and the arguments of calls about them
 * (kineto_wait_args.c) have in common. Each function that writes writes at AT and returns the
 * end. */
#ifndef DAGTAP_FORMAT_KINETO_WAITS_H
#define DAGTAP_FORMAT_KINETO_WAITS_H

#include "format/kineto/kineto_writer.h"

/* The keys of kineto_put_node for the producer of a wait. */
extern const char *const kineto_producer_keys[3];

static inline bool kineto_is_for_event(enum trace_wait_type type)
{
	return type == TRACE_WAIT_EVENT || type == TRACE_WAIT_STREAM_EVENT;
}

/* Writes how the producer of WAIT is known, if it is. */
char *kineto_put_known(char *at, const struct trace_wait *wait);

/* Writes the node that recorded the event, if a node did. RECORD may be NULL. KEYS: for the graph,
 * the node and the replay. */
char *kineto_put_node(const struct trace *trace, char *at, const struct trace_event_record *record,
		      const char *const keys[3]);

#endif
