/* The timed activities, sorted by start, then by row. Takes four bytes per activity. */
#ifndef DAGTAP_ANALYZE_STARTS_H
#define DAGTAP_ANALYZE_STARTS_H

#include "trace/trace_model.h"

struct starts {
	const struct trace *trace;
	uint32_t *order; /* rows of activities */
	uint32_t count;
	/* By block of order: the latest end in this block and all before it. */
	int64_t *last_ends;
};

/* Sorts the timed activities of TRACE, which it borrows. 0 or -ENOMEM; the caller releases STARTS
 * in both cases. */
int starts_init(struct starts *starts, const struct trace *trace);
void starts_release(struct starts *starts);

/* Finds the range [first, stop) of order that may overlap [BEGIN_NS, END_NS): all activities before
 * first end at BEGIN_NS or earlier, and all from stop on start at END_NS or later. Some in the
 * range may also end before BEGIN_NS, so the caller checks ends. A binary search. */
void starts_find(const struct starts *starts, int64_t begin_ns, int64_t end_ns, uint32_t *ret_first,
		 uint32_t *ret_stop);

#endif
