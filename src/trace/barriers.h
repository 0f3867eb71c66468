/* Inside trace/: filling the rows of barrier packets, record by record in any order. */
#ifndef DAGTAP_TRACE_BARRIERS_H
#define DAGTAP_TRACE_BARRIERS_H

#include "trace/process.h"

struct barriers {
	struct process_load *load;
	uint64_t *is_filled; /* a bit a row */
	uint32_t count;	     /* of rows that are */
};

/* 0 or -ENOMEM; to be released either way. Adding: -ESTALE if its id was not among those learnt. */
int barriers_init(struct barriers *barriers, struct process_load *load);
int barriers_add(struct barriers *barriers, const struct record_barrier *record);
bool barriers_are_complete(const struct barriers *barriers);
void barriers_release(struct barriers *barriers);

#endif
