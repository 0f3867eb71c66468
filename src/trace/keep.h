/* Removes rows from a loaded trace, so that it is as if they had not been recorded. */
#ifndef DAGTAP_TRACE_KEEP_H
#define DAGTAP_TRACE_KEEP_H

#include "trace/trace_model.h"

/* Keeps of TRACE the activities and calls that are marked, by index, and of the rows that belong to
 * a call (barrier packets, records of events, waits, allocations) those of kept calls. Scopes,
 * graphs, executable graphs and launches stay. A kept activity whose call is removed has no call.
 * No other thread may read TRACE meanwhile. 0, or -ENOMEM with TRACE unchanged. */
int trace_keep(struct trace *trace, const bool *activities, const bool *calls);

#endif
