/*
 * A small trace made by hand that has every case that is hard to show: kernels that overlap on one
 * queue, graph replays, an orphan, an untimed activity, a blit, nested and overlapping scopes, text
 * that needs quoting.
 *
 * Time is host ns from 1,000,000. The process has pid 100 and threads 100 and 101; the GPU has the
 * null stream and stream 1 on queues 1 and 2.
 *
 * call 1  hipGraphLaunch    [1000..1100], replay 0: kernels "a", "b", "a" on queue 1
 * call 2  hipGraphLaunch    replay 1, the same
 * call 3  hipMemcpyAsync    H2D by a copy engine
 * call 4  hipMemset         by a blit kernel, nested in call 5
 * call 5  hipMemset         (thread 101)
 * no call                   kernel "orphan", untimed
 */
#ifndef DAGTAP_TESTS_FORMAT_SAMPLE_H
#define DAGTAP_TESTS_FORMAT_SAMPLE_H

#include "trace/trace_model.h"

enum {
	SAMPLE_KERNELS = 7,
	SAMPLE_COPIES = 1,
	SAMPLE_MEMSETS = 1,
	SAMPLE_ACTIVITIES = SAMPLE_KERNELS + SAMPLE_COPIES + SAMPLE_MEMSETS,
	SAMPLE_CALLS = 5,
	SAMPLE_SCOPES = 5,
	SAMPLE_MARKS = 1,
	SAMPLE_SOURCES = 1,
	SAMPLE_MESSAGES = 1,
};

/* Returns the trace in static storage, reset to its first content at each call. */
struct trace *sample_trace(void);

/*
 * Returns what FORMAT writes as text; its length is in ret_bytes. The case's end frees it (kept.h).
 */
struct format;
struct format_options;
char *sample_write(const struct trace *trace, const struct format *format,
		   const struct format_options *options, size_t *ret_bytes);

#endif
