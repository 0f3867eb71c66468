/* Opening a recording: a .dagtap, a .spool, or a folder of spools, into the model of model.h.
 *
 * Loading is deterministic: the same spools give the same rows in the same order, whatever the
 * order of their chunks. Defects inside a spool become messages (trace.messages) and show in the
 * ledger; only a file that cannot be read at all is an error. A loaded trace is immutable: any
 * number of threads may read it.
 */
#ifndef DAGTAP_TRACE_LOAD_H
#define DAGTAP_TRACE_LOAD_H

#include "base/error.h"
#include "trace/model.h"

struct trace_options {
	/* Without the arguments of calls and without raw ticks: a third of the memory less. */
	bool is_brief;

	/* Without events, their records and waits, of which some programs have as many as kernels. */
	bool without_waits;

	/* Called now and then with how far the load is; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/* OPTIONS may be NULL. 0, or -errno with one line in ERROR naming file, offset and cause. */
int trace_open(const char *path, const struct trace_options *options, struct trace **ret_trace,
	       struct dagtap_error *error);

/* The same from a spool's or a bundle's bytes in memory, which must stay until this returns. */
int trace_open_memory(const char *name, const void *bytes, size_t size, struct trace **ret_trace,
		      struct dagtap_error *error);

void trace_close(struct trace *trace); /* accepts NULL */

#endif
