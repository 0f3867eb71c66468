/* Inside trace/: completes the work kinds of copies and fills with what their calls know. Used by
 * join_load. */
#ifndef DAGTAP_TRACE_CALL_COPIES_H
#define DAGTAP_TRACE_CALL_COPIES_H

#include "trace/trace_model.h"

/* True if CALL may know more about WORK, the work kind of one of its activities. Any thread. */
bool copy_is_incomplete(const struct trace_call *call, const struct trace_work *work);

/* Completes WORK, for which copy_is_incomplete, by what CALL knows. Records of rectangular copies
 * name no agents, so the call gives the direction. Any thread. */
void copy_complete(const struct trace *trace, const struct trace_call *call,
		   struct trace_work *work);

#endif
