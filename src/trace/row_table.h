/* Growing the arrays of the model: base/table.h for an array that struct trace, or another struct,
 * holds as NAME and NAME_count. */
#ifndef DAGTAP_TRACE_ROW_TABLE_H
#define DAGTAP_TRACE_ROW_TABLE_H

#include "base/table.h"

/* Append MORE rows to trace->NAME, zeroed or uninitialised, and return the first, with its type.
 * Not NULL even when MORE is 0. NULL: out of memory, or too many rows. */
#define trace_extend(trace, name, more)                                                            \
	((__typeof__((trace)->name))table_extend((void **)&(trace)->name, &(trace)->name##_count,  \
						 (more), sizeof(*(trace)->name)))

#define trace_append(trace, name, more)                                                            \
	((__typeof__((trace)->name))table_append((void **)&(trace)->name, &(trace)->name##_count,  \
						 (more), sizeof(*(trace)->name)))

/* Appends one zeroed row to trace->NAME and returns it; NULL as above. */
#define trace_add(trace, name)                                                                     \
	((__typeof__((trace)->name))table_add((void **)&(trace)->name, &(trace)->name##_count,     \
					      sizeof(*(trace)->name)))

#endif
