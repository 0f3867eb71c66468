/*
 * A vote among the processes of one machine over shared memory, for dagpatch_cache_options.vote:
 * all ranks get the least of the values that they gave.
 *
 * struct vote_box *box = vote_box_create(2);              before fork, or mapped by name
 * struct vote_rank rank = {.box = box, .rank = 0};        in each process
 * options.vote = vote;
 * options.vote_user = &rank;
 * options.vote_timeout_ns = 5000000000;
 *
 * When a rank dies, the votes of the others return -ETIMEDOUT after the time-out, and the box is
 * broken: later votes return -EPIPE, so that no late vote is counted in a wrong round.
 */
#ifndef VOTE_H
#define VOTE_H

#include <stdint.h>

#include <dagpatch/dagpatch.h>

struct vote_box;

struct vote_rank {
	struct vote_box *box;
	uint32_t rank;
	uint64_t round; /* number of this rank's next vote */
};

/*
 * Creates a box in memory that is shared with the children of a fork. Returns NULL without memory.
 */
struct vote_box *vote_box_create(uint32_t ranks);
void vote_box_destroy(struct vote_box *box);

/* Call when a rank is known to be gone: current and later votes return -EPIPE. */
void vote_box_break(struct vote_box *box);
/*
 * Makes the box usable after a failed vote. One rank calls it while no rank is in a vote; every
 * rank then sets its vote_rank.round to 0.
 */
void vote_box_mend(struct vote_box *box);

/*
 * A dagpatch_vote_fn; USER is the caller's struct vote_rank. Returns -E2BIG for more values than a
 * box can hold.
 */
int vote(void *user, const struct dagpatch_vote *vote, int64_t *ret_least);

#endif
