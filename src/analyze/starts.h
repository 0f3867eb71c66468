/* The activities that have times, in the order of their starts; of those that start together, in the
 * trace's. Four bytes an activity. */
#ifndef DAGTAP_ANALYZE_STARTS_H
#define DAGTAP_ANALYZE_STARTS_H

#include "trace/model.h"

struct starts {
	const struct trace *trace;
	uint32_t *order; /* activities */
	uint32_t count;
	int64_t *last_ends; /* by block of order: the latest end in it and in all before it */
};

/* 0 or -ENOMEM; to be released either way. */
int starts_init(struct starts *starts, const struct trace *trace);
void starts_release(struct starts *starts);

/* The places in the order that may lie between two moments: all before FIRST are over by BEGIN_NS, all from
 * STOP on start at END_NS or later. Some from FIRST on may be over, too. */
void starts_find(const struct starts *starts, int64_t begin_ns, int64_t end_ns, uint32_t *ret_first,
		 uint32_t *ret_stop);

#endif
