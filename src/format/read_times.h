/* When the processes of another tool's file began and ended, as far as its rows tell. */
#ifndef DAGTAP_FORMAT_READ_TIMES_H
#define DAGTAP_FORMAT_READ_TIMES_H

#include "trace/model.h"

/* From each process's first call, activity or scope to its last; what it is said to span already is widened. */
void read_process_times(struct trace *trace);

#endif
