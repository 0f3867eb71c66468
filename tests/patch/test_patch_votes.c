/* Captured collectives on two ranks in two processes. Either all ranks use what their caches
 * have, or all capture; and what follows when a vote itself fails. On the model and on HIP. */
#include <errno.h>
#include <stdlib.h>

#include "vote_ranks.h"

/* ---- different caches ---- */

/* Both ranks know sets 0 and 1. Then rank 0 returns to set 0 while rank 1 needs set 2. Then both
 * have all. */
static void one_misses(struct rank *rank)
{
	static const uint32_t steps[RANKS][4] = {{0, 1, 0, 0}, {0, 1, 2, 2}};

	for (uint32_t i = 0; i < 4; i++)
		launch_set(rank, steps[rank->number][i]);
	launch_set(rank, 1);
	launch_set(rank, steps[rank->number][3]);
}

static void one_rank_misses_and_both_capture(void **state)
{
	run_ranks(one_misses, &(struct choice){0});
	for (uint32_t i = 0; i < RANKS; i++) {
		assert_int_equal(shared->ranks[i].captures, 3);
		assert_int_equal(shared->ranks[i].misses, 3);
		assert_int_equal(shared->ranks[i].hits, 2);
	}
}

/* The buffers of rank 0 never move and those of rank 1 do; rank 0 must vote all the same. */
static void one_moves(struct rank *rank)
{
	for (uint32_t i = 0; i < 3; i++)
		launch_set(rank, rank->number ? i : 0);
}

static void a_rank_that_did_not_move_captures_too(void **state)
{
	run_ranks(one_moves, &(struct choice){0});
	for (uint32_t i = 0; i < RANKS; i++)
		assert_int_equal(shared->ranks[i].captures, 3);
}

/* Each rank has captured at its current addresses, but not in the same round. */
static void one_comes_back(struct rank *rank)
{
	static const uint32_t steps[RANKS][5] = {{0, 0, 0, 1, 0}, {0, 1, 0, 1, 0}};

	for (uint32_t i = 0; i < 5; i++)
		shared->ranks[rank->number].marks[i] = launch_set(rank, steps[rank->number][i]);
}

static void what_was_captured_apart_is_not_launched_together(void **state)
{
	static const uint32_t captures[] = {1, 2, 3, 4, 3};

	run_ranks(one_comes_back, &(struct choice){0});
	for (uint32_t i = 0; i < RANKS; i++)
		for (uint32_t j = 0; j < 5; j++)
			assert_int_equal(shared->ranks[i].marks[j], captures[j]);
}

/* ---- votes that fail ---- */

/* Checks the state after a failed vote: the old state is kept, nothing ran, and the rank votes
 * no more. */
static void expect_out_of_order(struct rank *rank, int rc, int code, const char *text)
{
	uint32_t asked = rank->asked;

	scene_failed(rank->recording, rc, code, text);
	bind_set(rank, 2);
	scene_failed(rank->recording, dagpatch_launch(rank->recording, rank->stream), -EPIPE,
		     "vote before");
	assert_int_equal(rank->asked, asked);
	expect_reverted(rank, 0);
	shared->ranks[rank->number].is_done = true;
}

/* Rank 1 ends before the vote of this phase. */
static void one_dies(struct rank *rank, enum dagpatch_vote_phase phase, const char *text)
{
	int rc;

	launch_set(rank, 0);
	rank->fates[phase] = rank->number == 1 ? IT_DIES : IT_IS_ALONE;
	change(rank, 0, &rc);
	assert_int_equal(rank->number, 0);
	assert_int_equal(rank->captures, phase == DAGPATCH_VOTE_BEFORE ? 1 : 2);
	expect_out_of_order(rank, rc, -ETIMEDOUT, text);
}

static void one_dies_before(struct rank *rank)
{
	one_dies(rank, DAGPATCH_VOTE_BEFORE, "vote before the captures");
}

static void one_dies_between(struct rank *rank)
{
	one_dies(rank, DAGPATCH_VOTE_AFTER, "other ranks may have launched");
}

static void one_rank_dies_and_the_other_gets_an_error(void **state)
{
	run_ranks(one_dies_before, &(struct choice){.change_together = 1});
	assert_true(shared->ranks[0].is_done);
	run_ranks(one_dies_between, &(struct choice){.change_together = 1});
	assert_true(shared->ranks[0].is_done);
}

/* Waits until all ranks are here, without using the vote that has failed. */
static void meet(struct rank *rank)
{
	int comes_last;

	OK(NULL, dagpatch_cache_rejoin(rank->cache));
	comes_last = pthread_barrier_wait(&shared->meeting) == PTHREAD_BARRIER_SERIAL_THREAD;
	rank->vote.round = 0;
	if (comes_last)
		vote_box_mend(shared->box);
	pthread_barrier_wait(&shared->meeting);
}

/* Rank 0 does not get the answer before the captures. Rank 1 captures, then waits for rank 0 in
 * vain. */
static void one_hears_nothing_before(struct rank *rank)
{
	int rc;

	launch_set(rank, 0);
	if (rank->number == 0)
		rank->fates[DAGPATCH_VOTE_BEFORE] = IT_HEARS_NOTHING;
	else
		rank->fates[DAGPATCH_VOTE_AFTER] = IT_IS_ALONE;
	change(rank, 0, &rc);
	assert_int_equal(rank->captures, rank->number == 0 ? 1 : 2);
	expect_out_of_order(rank, rc, -ETIMEDOUT,
			    rank->number == 0 ? "vote before the captures"
					      : "other ranks may have launched");
}

/* Rank 0 does not get the answer that both are ready, and rank 1 has launched. No vote can
 * prevent that. Rank 0 gets an error instead of going on as if nothing happened, and works again
 * after joining. */
static void one_hears_nothing_after(struct rank *rank)
{
	int rc;

	launch_set(rank, 0);
	rank->fates[DAGPATCH_VOTE_AFTER] = rank->number == 0 ? IT_HEARS_NOTHING : IT_GOES_WELL;
	change(rank, 0, &rc);
	if (rank->number == 0)
		expect_out_of_order(rank, rc, -ETIMEDOUT, "other ranks may have launched");
	else
		expect_launch(rank, 1);
	rank->fates[DAGPATCH_VOTE_AFTER] = IT_GOES_WELL;
	meet(rank);
	/* By now rank 0's capture and rank 1's capture of set 0 were made in different rounds. */
	launch_set(rank, 2);
	launch_set(rank, 0);
	launch_set(rank, 1);
	assert_int_equal(rank->captures, 5);
	shared->ranks[rank->number].is_done = true;
}

static void an_answer_that_one_rank_does_not_hear(void **state)
{
	run_ranks(one_hears_nothing_before, &(struct choice){.change_together = 1});
	for (uint32_t i = 0; i < RANKS; i++)
		assert_true(shared->ranks[i].is_done);
	run_ranks(one_hears_nothing_after, &(struct choice){.change_together = 1});
	for (uint32_t i = 0; i < RANKS; i++)
		assert_true(shared->ranks[i].is_done);
}

/* One rank believes that all have joined again; the other does not. */
static void ranks_that_are_not_at_the_same_vote(struct rank *rank)
{
	int rc;

	launch_set(rank, 0);
	if (rank->number == 0)
		OK(NULL, dagpatch_cache_rejoin(rank->cache));
	change(rank, 0, &rc);
	assert_int_equal(rank->captures, 1);
	expect_out_of_order(rank, rc, -EPROTO, "vote before the captures");
}

static void two_caches_that_vote(void **state)
{
	struct rank rank;
	struct dagpatch_cache *other;

	assert_int_equal(suite_bed->open(), 0);
	shared = calloc(1, sizeof(*shared));
	rank_begin(&rank, 0, &(struct choice){0});
	OK(NULL,
	   dagpatch_cache_create(rank.context,
				 &DAGPATCH_SIZED(cache_options, .vote = vote_patiently), &other));
	dagpatch_recording_destroy(rank.recording);
	OK(NULL, dagpatch_recording_create(rank.context, 0, &rank.recording));
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t to = slot(rank.recording, NULL);

		OK(rank.recording,
		   dagpatch_add_captured(rank.recording,
					 &DAGPATCH_SIZED(capture, .record = capture_reduce,
							 .user = &rank, .slots = &to,
							 .slot_count = 1,
							 .flags = DAGPATCH_RECAPTURE,
							 .cache = i ? other : rank.cache),
					 NULL, NULL));
	}
	scene_failed(rank.recording, dagpatch_finalize(rank.recording), -EINVAL, "two caches");
	dagpatch_recording_destroy(rank.recording);
	rank.recording = NULL;
	dagpatch_cache_destroy(other);
	rank_end(&rank);
	free(shared);
	suite_bed->close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rank_misses_and_both_capture),
		cmocka_unit_test(a_rank_that_did_not_move_captures_too),
		cmocka_unit_test(what_was_captured_apart_is_not_launched_together),
		cmocka_unit_test(one_rank_dies_and_the_other_gets_an_error),
		cmocka_unit_test(an_answer_that_one_rank_does_not_hear),
		STORY(ranks_that_are_not_at_the_same_vote, .change_together = 1),
		cmocka_unit_test(two_caches_that_vote),
	};

	suite_bed = &SUITE_BED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
