/* Opening a recording: a .dagtap, a .spool, or a folder of spools, is loaded into the model of
 * trace_model.h. How it is done: trace/ingest.h and trace/process_load.h.
 *
 * Loading is deterministic: the same spools give the same rows in the same order, whatever the
 * order of their chunks. A defect inside a spool becomes a message (trace.messages) and shows in
 * the ledger; only a file that cannot be read at all is an error.
 *
 * Threading: any thread may open a trace. A loaded trace does not change, so any number of threads
 * may read it. Cost: opening checks the file once, then reads each record twice at most;
 * memory is about 100 bytes per activity. */
#ifndef DAGTAP_TRACE_LOAD_H
#define DAGTAP_TRACE_LOAD_H

#include "base/error_text.h"
#include "trace/record_set.h"
#include "trace/trace_model.h"

/* What to load. All zero: everything. */
struct trace_options {
	/* Leave out the arguments of calls and unconverted ticks: saves a third of the memory. */
	bool is_brief;

	/* Leave out events, their records and waits. Some programs have as many of them as
	 * kernels. */
	bool without_waits;

	/* Leave out the ledger: sources and drops, and the barriers, which only it reads. */
	bool without_ledger;

	/* Leave out scopes, and the scopes of calls, activities and nodes. Needs without_ledger,
	 * because the ledger counts scopes. */
	bool without_scopes;

	/* Leave out calls that submitted no work and name no stream: of HIP those of the functions
	 * in trace/load/idle_calls.c, unless another call or an activity refers to them.
	 * trace.idle_calls counts them. Needs without_waits and without_ledger, which read all
	 * calls. Most programs ask for the current device and the last error more often than they
	 * launch: of the reference run 40 % of the calls stay. */
	bool without_idle_calls;

	/* Leave out of HIP's graphs which node an activity is, and how certain that is: `node`,
	 * `confidence`, trace_launch.exact and body_count may be missing. Needs without_waits and
	 * without_ledger. */
	bool without_nodes;

	/* Called on the loading thread now and then with how far the load is: in stages for
	 * recordings, in bytes for other tools' files. May be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/* Opens PATH and loads it completely. OPTIONS may be NULL. Returns 0; the caller frees *RET_TRACE
 * with trace_close. On failure returns a negative errno, *RET_TRACE is untouched, and ERROR (may be
 * NULL) gets one line that names file, offset and cause. -ESTALE: the file changed while it was
 * read. -E2BIG: more rows than an index can count. */
int trace_open(const char *path, const struct trace_options *options, struct trace **ret_trace,
	       struct dagtap_error *error);

/* The same from the bytes of a spool or a .dagtap in memory, aligned to 8 bytes, which the caller
 * keeps until this call returns. NAME is used in messages. */
int trace_open_memory(const char *name, const void *bytes, size_t size, struct trace **ret_trace,
		      struct dagtap_error *error);

/* The same from records in memory: loads SET as if it were all of a recording. So it has only rows
 * whose records are in it, and a reference to another row is TRACE_NONE. Returns 0 or a negative
 * errno, as trace_open. */
int trace_open_records(const struct record_set *set, const struct trace_options *options,
		       struct trace **ret_trace);

/* Frees the trace with its texts. TRACE may be NULL, or unfinished (trace/create.h). */
void trace_close(struct trace *trace);

#endif
