/* Start and end times of the processes in another tool's file, which states neither. Used by the
 * readers of kineto/ and xspace/. */
#ifndef DAGTAP_FORMAT_READ_TIMES_H
#define DAGTAP_FORMAT_READ_TIMES_H

#include "trace/trace_model.h"

/* Widens each process's start_ns and end_ns so that they cover all its calls, activities and timed
 * scopes. A start_ns of 0 counts as not set. Activities, calls and scopes must be complete. Cost:
 * one scan of the three tables. */
void read_process_times(struct trace *trace);

#endif
