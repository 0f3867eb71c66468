/* Selects of a process's records those that tell of its collectives: the calls (rank_calls.h), the
 * kernels and copies that they submitted with their completions, and what these refer to. Loaded
 * with trace_open_records they give the same collectives as the whole recording.
 *
 * Threading: one thread. Cost: up to five walks, each of which reads the blocks with the types that
 * it looks for; and of the blocks with CUDA's inner calls one more than these are deep, up to
 * TRACE_PARENTS_MOST. Memory: that of the calls, and of what they submitted. */
#ifndef DAGTAP_MERGE_RANK_RECORDS_H
#define DAGTAP_MERGE_RANK_RECORDS_H

#include "trace/pack/origin.h"

struct rank_records {
	unsigned char *bytes;
	size_t size, room;
	struct record_run *runs; /* in BYTES, one after the other */
	uint32_t run_count;
};

/* Selects the records of ORIGIN. If the process has no end, one more record has the time of the
 * latest, so that the process ends with it. Returns 0; release *RET_RECORDS. Else -ENOMEM. */
int rank_records_select(struct origin *origin, struct rank_records *ret_records);

/* Frees what RECORDS owns and makes it empty. */
void rank_records_release(struct rank_records *records);

#endif
