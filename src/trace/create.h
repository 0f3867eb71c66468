/* A trace while it is filled, by load.c and by the readers of other formats, row by row
 * (trace/row_table.h). trace_close (trace/load.h) frees it, whether trace_seal was called or not.
 * One thread fills a trace. */
#ifndef DAGTAP_TRACE_CREATE_H
#define DAGTAP_TRACE_CREATE_H

#include "base/strtab.h"
#include "trace/trace_model.h"

/* Makes an empty trace. Returns 0 or -ENOMEM. */
int trace_create(struct trace **ret_trace);

/* The table in which all texts of TRACE are interned. It belongs to the trace. */
static inline struct strtab *trace_strings(struct trace *trace)
{
	return trace->arena;
}

/* Ends the filling: makes the texts readable through trace->strings. Nothing may be interned
 * afterwards. Returns 0, or -ENOMEM if a text was lost before. */
int trace_seal(struct trace *trace);

#endif
