/* A vote among the processes of one machine, for dagpatch_cache_options.vote: over shared memory.
 * All ranks learn the least of what each of them says.
 *
 *	struct vote_box *box = vote_box_create(2);		before fork, or mapped by name
 *	struct vote_rank rank = {.box = box, .rank = 0};	in each process
 *	options.vote = vote;
 *	options.vote_user = &rank;
 *	options.vote_timeout_ns = 5000000000;
 *
 * A rank that dies is missed: the others get -ETIMEDOUT when the time is over, and the box stays
 * out of order, so that no later vote can be taken for this one (-EPIPE). */
#ifndef VOTE_H
#define VOTE_H

#include <stdint.h>

#include <dagpatch/dagpatch.h>

struct vote_box;

struct vote_rank {
	struct vote_box *box;
	uint32_t rank;
	uint64_t round; /* of this rank's next vote */
};

/* Shared with the children of a fork; NULL: no memory. */
struct vote_box *vote_box_create(uint32_t ranks);
void vote_box_destroy(struct vote_box *box);

/* Somebody knows that a rank is gone: votes that wait and those to come end with -EPIPE. */
void vote_box_break(struct vote_box *box);
/* After a vote that failed, by one of the ranks while none of them is in a vote: all of them set
 * their vote_rank.round to 0, and the next votes are the first. */
void vote_box_mend(struct vote_box *box);

/* A dagpatch_vote_fn; USER is the struct vote_rank. -E2BIG: more values than it knows. */
int vote(void *user, const struct dagpatch_vote *vote, int64_t *ret_least);

#endif
