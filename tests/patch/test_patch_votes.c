/* Captured collectives on two ranks, two processes: all take what their caches have, or all capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "vote.h"

enum { RANKS = 2, BUFFERS = 4, SECOND_NS = 1000000000, ALONE_NS = 1000000 };

#define FOR_EVER_NS (UINT64_MAX / 4)

/* Two ranks' shared box, and what each of them did. */
struct shared {
	struct vote_box *box;
	struct {
		uint32_t captures, hits, misses;
		int result;
	} ranks[RANKS];
};

static struct shared *shared;

struct rank {
	uint32_t number;
	struct vote_rank vote;
	bool is_alone;
	struct dagpatch_context *context;
	struct dagpatch_cache *cache;
	struct dagpatch_recording *recording;
	void *stream;
	uint32_t *buffers[BUFFERS];
	uint32_t slot;
	uint32_t captures;
};

/* As good as a collective: work that only this rank's library knows. */
static int capture_reduce(void *user, void *stream, void *const *addresses)
{
	struct rank *rank = user;
	uint32_t value = 1;

	rank->captures++;
	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value})
		       ? -EIO
		       : 0;
}

/* A rank that comes is waited for, however late: only one that never comes is given up. */
static int vote_patiently(void *user, int has, uint64_t timeout_ns, int *ret_all_have)
{
	struct rank *rank = user;

	if (timeout_ns != SECOND_NS)
		return -EINVAL;
	return vote(&rank->vote, has, rank->is_alone ? ALONE_NS : FOR_EVER_NS, ret_all_have);
}

static void rank_begin(struct rank *rank, uint32_t number, int change_together)
{
	const struct dagpatch_collective collective = {.size = sizeof(collective),
						       .communicator = 7,
						       .count = WORDS,
						       .buffers_are_registered = 1};

	*rank = (struct rank){.number = number, .vote = {shared->box, number, 0}};
	OK(NULL, dagpatch_context_create(
			 &(struct dagpatch_options){.size = sizeof(struct dagpatch_options),
						    .driver = "model"},
			 &rank->context, NULL));
	OK(NULL, dagpatch_cache_create(rank->context,
				       &(struct dagpatch_cache_options){
					       .size = sizeof(struct dagpatch_cache_options),
					       .vote = vote_patiently,
					       .vote_user = rank,
					       .vote_timeout_ns = SECOND_NS,
					       .ranks_change_together = change_together,
				       },
				       &rank->cache));
	OK(NULL, dagpatch_recording_create(rank->context, 0, &rank->recording));
	rank->slot = slot(rank->recording, "gradients");
	OK(rank->recording,
	   dagpatch_add_captured(rank->recording,
				 &DAGPATCH_SIZED(capture, .record = capture_reduce, .user = rank,
						 .slots = &rank->slot, .slot_count = 1,
						 .flags = DAGPATCH_CAPTURE_AGAIN,
						 .collective = &collective, .cache = rank->cache),
				 NULL, NULL));
	OK(rank->recording, dagpatch_finalize(rank->recording));
	rank->stream = suite_bed->stream_create();
	for (uint32_t i = 0; i < BUFFERS; i++)
		rank->buffers[i] = buffer(0);
}

static int rank_step(struct rank *rank, uint32_t number)
{
	int rc;

	bind(rank->recording, rank->slot, rank->buffers[number]);
	rc = dagpatch_launch(rank->recording, rank->stream);
	suite_bed->stream_synchronize(rank->stream);
	return rc;
}

static void rank_end(struct rank *rank)
{
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};

	OK(NULL, dagpatch_cache_stats(rank->cache, &stats));
	shared->ranks[rank->number].captures = rank->captures;
	shared->ranks[rank->number].hits = (uint32_t)stats.hits;
	shared->ranks[rank->number].misses = (uint32_t)stats.misses;
	dagpatch_recording_destroy(rank->recording);
	dagpatch_cache_destroy(rank->cache);
	dagpatch_context_destroy(rank->context);
	suite_bed->stream_destroy(rank->stream);
	for (uint32_t i = 0; i < BUFFERS; i++)
		suite_bed->free(rank->buffers[i]);
}

/* Runs STORY as each rank in a process of its own; false: one of them did not end well. */
static bool run_ranks(void (*story)(uint32_t rank))
{
	pid_t children[RANKS];
	bool all_well = true;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(shared != MAP_FAILED);
	shared->box = vote_box_create(RANKS);
	assert_non_null(shared->box);
	for (uint32_t i = 0; i < RANKS; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			story(i);
			_exit(0);
		}
	}
	for (uint32_t i = 0; i < RANKS; i++) {
		int status = -1;

		waitpid(children[i], &status, 0);
		all_well &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	vote_box_destroy(shared->box);
	return all_well;
}

static void tell(uint32_t rank, int result)
{
	if (shared->ranks[rank].result == 0)
		shared->ranks[rank].result = result;
}

/* Both know buffers 0 and 1; then rank 0 goes back to 0 while rank 1 needs 2; then both have all. */
static void one_misses(uint32_t number)
{
	static const uint32_t steps[RANKS][4] = {{0, 1, 0, 1}, {0, 1, 2, 1}};
	struct rank rank;

	rank_begin(&rank, number, 0);
	for (uint32_t i = 0; i < 4; i++)
		tell(number, rank_step(&rank, steps[number][i]));
	rank_end(&rank);
}

static void one_rank_misses_and_both_capture(void **state)
{
	assert_true(run_ranks(one_misses));
	for (uint32_t i = 0; i < RANKS; i++) {
		assert_int_equal(shared->ranks[i].result, 0);
		assert_int_equal(shared->ranks[i].captures, 3);
		assert_int_equal(shared->ranks[i].misses, 3);
		assert_int_equal(shared->ranks[i].hits, 1);
	}
}

/* Rank 0's buffer never moves; rank 1's does: rank 0 is asked all the same. */
static void one_moves(uint32_t number)
{
	struct rank rank;

	rank_begin(&rank, number, 0);
	for (uint32_t i = 0; i < 3; i++)
		tell(number, rank_step(&rank, number ? i : 0));
	rank_end(&rank);
}

static void a_rank_that_did_not_move_captures_too(void **state)
{
	assert_true(run_ranks(one_moves));
	for (uint32_t i = 0; i < RANKS; i++) {
		assert_int_equal(shared->ranks[i].result, 0);
		assert_int_equal(shared->ranks[i].captures, 3);
	}
}

/* Rank 1 is gone before the second step. */
static void one_dies(uint32_t number)
{
	struct rank rank;
	uint32_t words[WORDS];

	rank_begin(&rank, number, 1);
	tell(number, rank_step(&rank, 0));
	if (number == 1)
		_exit(0);
	rank.is_alone = true;
	tell(number, rank_step(&rank, 1));
	if (strstr(dagpatch_recording_error(rank.recording)->message, "vote") == NULL)
		_exit(1);
	/* Nothing ran; what was there is there; no later vote is taken for this one. */
	suite_bed->read(words, rank.buffers[1], sizeof(words));
	if (words[0] != 0 || rank.captures != 1 || rank_step(&rank, 2) != -EPIPE)
		_exit(2);
	dagpatch_revert(rank.recording);
	if (dagpatch_launch(rank.recording, rank.stream) != 0)
		_exit(3);
	suite_bed->stream_synchronize(rank.stream);
	suite_bed->read(words, rank.buffers[0], sizeof(words));
	if (words[0] != 2)
		_exit(4);
	rank_end(&rank);
}

static void one_rank_dies_and_the_other_gets_an_error(void **state)
{
	assert_true(run_ranks(one_dies));
	assert_int_equal(shared->ranks[0].result, -ETIMEDOUT);
	assert_int_equal(shared->ranks[1].result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rank_misses_and_both_capture),
		cmocka_unit_test(a_rank_that_did_not_move_captures_too),
		cmocka_unit_test(one_rank_dies_and_the_other_gets_an_error),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
