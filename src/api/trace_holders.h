/* The open trace of the public interface, and what keeps it: the program, until it closes it, and
 * the streams of its tables, until they are released. The last one frees it.
 *
 * Threading: any thread. */
#ifndef DAGTAP_API_TRACE_HOLDERS_H
#define DAGTAP_API_TRACE_HOLDERS_H

#include <stdatomic.h>

#include <dagtap/trace.h>

#include "base/keep_input.h"

struct trace;

/* Opaque in the public headers. */
struct dagtap_trace {
	struct trace *model; /* owned; does not change */
	char *path;	     /* of its file or folder, absolute and without links; owned */
	struct kept_input input;
	bool has_input; /* else nothing is known of the file */
	atomic_uint holders;
};

/* Adds a holder. The caller is one, or has one that does not drop the trace meanwhile. Returns
 * TRACE. */
struct dagtap_trace *trace_hold(const struct dagtap_trace *trace);

/* Removes a holder, and frees the trace with the last one. */
void trace_drop(struct dagtap_trace *trace);

#endif
