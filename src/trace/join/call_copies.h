/* Inside trace/: completes the work kinds of copies and fills with what their calls know. Used by
 * join_load. */
#ifndef DAGTAP_TRACE_CALL_COPIES_H
#define DAGTAP_TRACE_CALL_COPIES_H

#include "trace/process_load.h"

/* True if CALL may know more about WORK, the work kind of one of its activities. Any thread. */
bool copy_is_incomplete(const struct trace_call *call, const struct trace_work *work);

/* Gives ROW, for which copy_is_incomplete, a completed work kind. Records of rectangular copies
 * name no agents, so the call gives the direction. Interns, so one thread calls it for one row
 * after the other. Returns 0 or -ENOMEM. */
int copy_complete(struct process_load *load, const struct trace_call *call,
		  struct trace_activity *row);

#endif
