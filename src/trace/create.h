/* A trace in the making: what load.c and the readers of other formats fill, row by row
 * (trace/table.h). trace_close (trace/load.h) frees it, sealed or not. */
#ifndef DAGTAP_TRACE_CREATE_H
#define DAGTAP_TRACE_CREATE_H

#include "trace/model.h"
#include "trace/strtab.h"

/* An empty one. 0 or -ENOMEM. */
int trace_create(struct trace **ret_trace);

/* Where its texts are to be interned. */
static inline struct strtab *trace_strings(struct trace *trace)
{
	return trace->arena;
}

/* Makes the texts readable through the trace: nothing may be interned afterwards. 0, or -ENOMEM if a
 * text was lost on the way. */
int trace_seal(struct trace *trace);

#endif
