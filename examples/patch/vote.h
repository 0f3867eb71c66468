/* A vote among the processes of one machine, for dagpatch_cache_options.vote: over shared memory. Each
 * rank says whether it has what it needs, all learn whether all have.
 *
 *	struct vote_box *box = vote_box_create(2);		before fork, or mapped by name
 *	struct vote_rank rank = {.box = box, .rank = 0};	in each process
 *	options.vote = vote;
 *	options.vote_user = &rank;
 *	options.vote_timeout_ns = 5000000000;
 *
 * A rank that dies is missed: the others get -ETIMEDOUT when the time is over, and the box stays out
 * of order, so that no later vote can be taken for this one (-EPIPE). */
#ifndef VOTE_H
#define VOTE_H

#include <stdint.h>

struct vote_box;

struct vote_rank {
	struct vote_box *box;
	uint32_t rank;
	uint64_t round; /* of this rank's next vote */
};

/* Shared with the children of a fork; NULL: no memory. */
struct vote_box *vote_box_create(uint32_t ranks);
void vote_box_destroy(struct vote_box *box);

/* A dagpatch_vote_fn; USER is the struct vote_rank. */
int vote(void *user, int has, uint64_t timeout_ns, int *ret_all_have);

#endif
