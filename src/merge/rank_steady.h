/* The moments of ranks on their machines' steady clocks (merge/clock_steady.h), from the ANCHOR
 * records of their recordings.
 *
 * Threading: one thread at a time. Memory: 24 bytes for each moment, RANK_STEADY_MOST of them at
 * most. If there are more, they are thinned, so that they are further apart. */
#ifndef DAGTAP_MERGE_RANK_STEADY_H
#define DAGTAP_MERGE_RANK_STEADY_H

#include "merge/clock_steady.h"
#include "trace/record_set.h"

/* At four in a second: all moments of one process in 136 minutes. Of many processes, moments that
 * are 0.2 s apart, or as far as those of one process, for 54 minutes at least. */
#define RANK_STEADY_MOST 32768

/* Of any number of processes of one machine. Zero is none. */
struct rank_steady {
	struct steady_moment *rows; /* owned */
	size_t count, room;
	int64_t apart_ns; /* the shortest span that is left when they are thinned; 0: not thinned */
};

/* Adds those of RUN_COUNT runs of records. Returns 0 or -ENOMEM. */
int rank_steady_add(struct rank_steady *steady, const struct record_run *runs, uint32_t run_count);

/* Adds those of FROM. Returns 0 or -ENOMEM. */
int rank_steady_join(struct rank_steady *steady, const struct rank_steady *from);

/* Sorts the moments, leaves out those that were read badly or too soon after the one before, and
 * returns them, borrowed. More can be added afterwards. */
struct steady_clock rank_steady_sort(struct rank_steady *steady);

/* Frees the moments and makes STEADY empty. */
void rank_steady_release(struct rank_steady *steady);

#endif
