/* Two ranks in two processes that launch captured collectives: a scene of each rank with its cache,
 * whose votes go through a box in shared memory. Cases of test_patch_votes*.c run a story on every
 * rank at once. All functions fail the cmocka test on an error. */
#ifndef TESTS_PATCH_VOTE_RANKS_H
#define TESTS_PATCH_VOTE_RANKS_H

#include <pthread.h>
#include <stdbool.h>

#include "suite.h"
#include "vote.h"

enum { RANKS = 2, SETS = 3, SLOTS = 4, STEPS = 8 };

/* The slots: SUM = FIRST + SECOND is patched work, GRADIENTS is the collective's. */
enum { SUM, FIRST, SECOND, GRADIENTS };

/* The key of the collective in the cache. */
#define KEY "reduce"

/* The box that the ranks share, and what each rank did. */
struct shared {
	struct vote_box *box;
	pthread_barrier_t meeting; /* for meetings without a vote */
	struct {
		uint32_t captures, hits, misses;
		uint64_t round;	   /* the box's round of votes */
		uint64_t outcomes; /* of all changes; must be equal on all ranks */
		bool is_done;
		uint32_t marks[STEPS]; /* number of the capture that was launched */
	} ranks[RANKS];
};

extern struct shared *shared;

/* The outcome of a vote on this rank. */
enum fate {
	IT_GOES_WELL,
	IT_IS_ALONE,	  /* no other rank votes */
	IT_DIES,	  /* the rank ends before it votes */
	IT_HEARS_NOTHING, /* only the other ranks get the answer */
};

/* What a rank's context and cache are created with. */
struct choice {
	enum dagpatch_strategy strategy;
	int change_together, verify;
	uint32_t updates; /* dagpatch_options.updates_before_instantiate */
};

struct rank {
	uint32_t number;
	struct vote_rank vote;
	enum fate fates[2]; /* indexed by phase */
	uint32_t asked;
	struct dagpatch_context *context;
	struct dagpatch_cache *cache;
	struct dagpatch_recording *recording;
	void *stream;
	uint32_t *sets[SETS][SLOTS];
	uint32_t captures;
	bool is_other;	  /* the patched work now captures something else */
	bool sets_second; /* the graph sets slot SECOND by a memset, to the value that it has */
	int collective_result;
};

typedef void (*rank_story)(struct rank *rank);

/* Runs STORY as each rank in a process of its own, with a rank that was begun with CHOICE. Fails
 * if one of them failed; the others are then not left waiting for it. What the ranks did is in
 * shared->ranks until the next run. */
void run_ranks(rank_story story, const struct choice *choice);

/* A case that only runs a story, which it is named after. The further arguments are the choice. */
#define STORY(story, ...)                                                                          \
	{                                                                                          \
		.name = #story, .test_func = run_story,                                            \
		.initial_state = &(struct story_case){story, {__VA_ARGS__}},                       \
	}
struct story_case {
	rank_story story;
	struct choice choice;
};
void run_story(void **state);

/* Begin and end a rank; rank_again does both, with the same number. The ranks of run_ranks are
 * begun and ended by it. */
void rank_begin(struct rank *rank, uint32_t number, const struct choice *choice);
void rank_end(struct rank *rank);
void rank_again(struct rank *rank, const struct choice *choice);
/* Destroys the rank's recording and records it anew. */
void rank_record_again(struct rank *rank);

/* Binds the addresses of SET. */
void bind_set(struct rank *rank, uint32_t set);
/* Launches, and checks that the graph ran at this set only. Returns the number of its capture. */
uint32_t expect_launch(struct rank *rank, uint32_t set);
/* Binds SET, and the same. */
uint32_t launch_set(struct rank *rank, uint32_t set);
/* Drops the changes that failed, and checks that the graph is at SET. */
void expect_reverted(struct rank *rank, uint32_t set);

/* Binds set 1, whose work is captured again, while call number CALL fails (0: none), and applies
 * it. Returns the number of driver calls. */
uint64_t change(struct rank *rank, uint64_t call, int *ret_rc);

/* How often the rank has instantiated its graph. */
uint64_t instantiations(const struct rank *rank);

/* Captures the collective; calls of dagpatch_add_captured take it with the rank as its user. */
int capture_reduce(void *user, void *stream, void *const *addresses);
/* The vote of every rank's cache; its user is the rank. */
int vote_patiently(void *user, const struct dagpatch_vote *asked, int64_t *ret_least);

/* Makes call number WHICH of the driver from now on fail (1: the next one); 0: none. */
void let_fail(uint64_t which);

#endif
