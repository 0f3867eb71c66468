/* Failures on one of two ranks: driver calls, captures, and ranks that cannot begin. Either all
 * ranks launch the changed graph, or all keep the old one. On the model and on HIP. */
#include <errno.h>
#include <string.h>

#include <dagpatch/model.h>

#include "vote_ranks.h"

static const enum dagpatch_strategy strategies[] = {DAGPATCH_SET_PARAMS, DAGPATCH_DEVICE_TABLE,
						    DAGPATCH_INSTANTIATE};
enum { STRATEGIES = sizeof(strategies) / sizeof(*strategies) };

/* Checks that both ranks agree, with a complete graph at either the old or the new addresses,
 * and that both can go on. */
static void expect_agreed(struct rank *rank, int rc, bool was_mine)
{
	if (rc == 0) { /* dagpatch found another strategy */
		expect_launch(rank, 1);
		launch_set(rank, 0);
		return;
	}
	if (!was_mine)
		scene_failed(rank->recording, rc, -ECANCELED, "another rank failed after");
	assert_int_equal(dagpatch_recording_state(rank->recording), DAGPATCH_READY);
	expect_reverted(rank, 0);
	launch_set(rank, 1);
	launch_set(rank, 0);
}

static void change_fails(struct rank *rank)
{
	for (uint32_t i = 0; i < STRATEGIES; i++) {
		uint64_t calls;
		int rc;

		rank_again(rank, &(struct choice){.strategy = strategies[i], .change_together = 1});
		launch_set(rank, 0);
		calls = change(rank, 0, &rc);
		assert_int_equal(rc, 0);
		launch_set(rank, 0);
		for (uint64_t call = 1; call <= calls; call++)
			for (uint32_t failing = 0; failing < RANKS; failing++) {
				change(rank, rank->number == failing ? call : 0, &rc);
				expect_agreed(rank, rc, rank->number == failing);
			}
	}
}

static void each_call_of_a_change_fails_in_turn(void **state)
{
	run_ranks(change_fails, &(struct choice){.change_together = 1});
	assert_true(shared->ranks[0].outcomes == shared->ranks[1].outcomes);
}

/* Starts without a graph: afterwards either no rank has one or both have one. */
static uint64_t build_first(struct rank *rank, uint64_t call, bool is_mine)
{
	uint64_t calls;
	int rc;

	rank_record_again(rank);
	calls = change(rank, is_mine ? call : 0, &rc);
	if (rc < 0)
		assert_null(dagpatch_recording_exec(rank->recording));
	if (rc < 0 && !is_mine)
		scene_failed(rank->recording, rc, -ECANCELED, "another rank failed after");
	expect_launch(rank, 1);
	launch_set(rank, 0);
	return calls;
}

static void building_fails(struct rank *rank)
{
	uint64_t calls = build_first(rank, 0, false);

	for (uint64_t call = 1; call <= calls; call++)
		for (uint32_t failing = 0; failing < RANKS; failing++)
			build_first(rank, call, rank->number == failing);
}

static void each_call_of_building_fails_in_turn(void **state)
{
	run_ranks(building_fails, &(struct choice){.change_together = 1});
	assert_true(shared->ranks[0].outcomes == shared->ranks[1].outcomes);
}

/* The collective's own callback fails; then verify finds other work than was recorded. */
static void work_fails(struct rank *rank)
{
	for (uint32_t failing = 0; failing < RANKS; failing++) {
		int rc;

		rank_again(rank, &(struct choice){.change_together = 1, .verify = 1});
		launch_set(rank, 0);
		rank->collective_result = rank->number == failing ? -EDOM : 0;
		change(rank, 0, &rc);
		rank->collective_result = 0;
		assert_int_equal(rc, rank->number == failing ? -EDOM : -ECANCELED);
		expect_reverted(rank, 0);
		rank->is_other = rank->number == failing;
		change(rank, 0, &rc);
		rank->is_other = false;
		assert_int_equal(rc, rank->number == failing ? -EILSEQ : -ECANCELED);
		expect_reverted(rank, 0);
		launch_set(rank, 1);
	}
}

static void work_that_fails_on_one_rank(void **state)
{
	run_ranks(work_fails, &(struct choice){0});
	assert_true(shared->ranks[0].outcomes == shared->ranks[1].outcomes);
}

/* Launches set 1 into a captured graph that never runs. */
static int launch_into_capture(struct rank *rank)
{
	int rc;

	bind_set(rank, 1);
	suite_bed->capture_begin(rank->stream);
	rc = dagpatch_launch(rank->recording, rank->stream);
	suite_bed->graph_destroy(suite_bed->capture_end(rank->stream));
	return rc;
}

/* The captures of both ranks continue, or neither does; what they captured together is in their
 * caches. */
static void ranks_that_capture_what_they_launch(struct rank *rank)
{
	for (uint32_t failing = 0; failing < RANKS; failing++) {
		rank_again(rank, &(struct choice){.change_together = 1});
		launch_set(rank, 0);
		rank->collective_result = rank->number == failing ? -EDOM : 0;
		assert_int_equal(launch_into_capture(rank),
				 rank->number == failing ? -EDOM : -ECANCELED);
		rank->collective_result = 0;
		expect_reverted(rank, 0);
		rank->captures = 0;
		OK(rank->recording, launch_into_capture(rank));
		launch_set(rank, 1);
		assert_int_equal(rank->captures, 1);
	}
}

/* Checks that RC is rank 0's own failure, and that the other rank has learned of it by a vote. */
static void expect_failure_of_0(struct rank *rank, int rc, int code, const char *text)
{
	if (rank->number == 0)
		scene_failed(rank->recording, rc, code, text);
	else
		scene_failed(rank->recording, rc, -ECANCELED, "another rank failed before");
}

/* A rank that cannot begin votes so, and the others do not wait for their timeout. */
static void a_rank_that_cannot_begin_says_so(struct rank *rank)
{
	int rc;

	for (uint32_t i = rank->number == 0; i < SLOTS; i++)
		bind(rank->recording, i, rank->sets[0][i]);
	rc = dagpatch_launch(rank->recording, rank->stream);
	expect_failure_of_0(rank, rc, -ENXIO, "slot 0");
	assert_int_equal(rank->captures, 0);
	launch_set(rank, 0);
}

/* The driver fails on rank 0 before the launch has begun: it cannot tell whether the stream is
 * captured. */
static void a_rank_whose_stream_fails_says_so(struct rank *rank)
{
	uint32_t asked;
	int rc;

	launch_set(rank, 0);
	bind_set(rank, 1);
	asked = rank->asked;
	let_fail(rank->number == 0);
	rc = dagpatch_launch(rank->recording, rank->stream);
	let_fail(0);
	expect_failure_of_0(rank, rc, -EIO, "launching");
	assert_int_equal(rank->asked, asked + 1);
	expect_launch(rank, 1);
}

/* Rank 0 calls from a thread whose current device is another one, and its driver cannot make the
 * recording's device current. */
static void expect_no_entry(struct rank *rank, int (*call)(struct rank *rank))
{
	uint32_t asked = rank->asked;
	int rc;

	bind_set(rank, 1);
	suite_bed->device_set(rank->number == 0);
	let_fail(rank->number == 0);
	rc = call(rank);
	let_fail(0);
	assert_int_equal(suite_bed->device_current(), rank->number == 0);
	suite_bed->device_set(0);
	expect_failure_of_0(rank, rc, -EIO, "entering device 0");
	assert_int_equal(rank->asked, asked + 1);
	expect_launch(rank, 1);
	launch_set(rank, 0);
}

static int call_apply(struct rank *rank)
{
	return dagpatch_apply(rank->recording);
}

static int call_launch(struct rank *rank)
{
	return dagpatch_launch(rank->recording, rank->stream);
}

static void a_rank_that_cannot_enter_its_device_says_so(struct rank *rank)
{
	launch_set(rank, 0);
	expect_no_entry(rank, call_apply);
	expect_no_entry(rank, call_launch);
}

#ifndef BETWEEN_LIBRARY
/* On one rank restoring the old addresses fails, too. That rank is lost, the other one is
 * complete, and both can recover. */
static void a_rank_that_is_lost_comes_back(struct rank *rank)
{
	uint64_t calls;
	bool was_lost = false;
	int rc;

	launch_set(rank, 0);
	calls = change(rank, 0, &rc);
	launch_set(rank, 0);
	for (uint64_t call = 1; call <= calls; call++) {
		dagpatch_cache_drop(rank->cache, KEY, sizeof(KEY));
		bind_set(rank, 1);
		if (rank->number == 0)
			dagpatch_model_fail(call, 1000000);
		rc = dagpatch_apply(rank->recording);
		dagpatch_model_fail(0, 0);
		assert_int_equal(rc, rank->number == 0 ? -EIO : -ECANCELED);
		if (dagpatch_recording_state(rank->recording) == DAGPATCH_LOST) {
			was_lost = true;
			OK(rank->recording, dagpatch_finalize(rank->recording));
		}
		expect_launch(rank, 1);
		launch_set(rank, 0);
	}
	assert_int_equal(was_lost, rank->number == 0);
}

/* The driver of rank 0 loses the value of a memset after each launch and cannot set it again, so
 * each launch of this rank needs a new graph. Ranks that vote on changes only do not vote on it. */
static void a_spent_graph_is_replaced_without_a_vote(struct rank *rank)
{
	uint64_t instantiated;
	uint32_t asked;

	if (rank->number == 0)
		dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_NESTED_SETS |
				       DAGPATCH_MODEL_NO_CONDITIONALS | DAGPATCH_MODEL_NO_CHILDREN |
				       DAGPATCH_MODEL_NO_KEPT_MEMSETS |
				       DAGPATCH_MODEL_NO_MEMSET_SETS);
	rank_again(rank, &(struct choice){.change_together = 1});
	rank->sets_second = true;
	rank_record_again(rank);
	launch_set(rank, 0);
	instantiated = instantiations(rank);
	asked = rank->asked;
	for (uint32_t i = 1; i <= 2; i++) {
		expect_launch(rank, 0);
		assert_int_equal(instantiations(rank) - instantiated, rank->number == 0 ? i : 0);
	}
	assert_int_equal(rank->asked, asked);
	launch_set(rank, 1);
}

#endif

/* After a failed change, the executable graph of rank 0 is worn: setting the nodes and putting them
 * back were too many updates. The new graph is made although no address has changed, so the ranks
 * vote on it: APPLY fails on both ranks or on none. */
static void a_worn_graph_is_replaced_by_a_vote(struct rank *rank)
{
	uint64_t instantiated, call = 0;
	int rc;

	rank_again(rank, &(struct choice){.strategy = DAGPATCH_SET_PARAMS,
					  .verify = 1,
					  .updates = rank->number == 0 ? 1 : UINT32_MAX});
	launch_set(rank, 0);
	rank->is_other = true;
	change(rank, 0, &rc);
	rank->is_other = false;
	scene_failed(rank->recording, rc, -EILSEQ, "");
	OK(rank->recording, dagpatch_revert(rank->recording));
	instantiated = instantiations(rank);
	do {
		let_fail(rank->number == 0 ? ++call : 0);
		rc = dagpatch_apply(rank->recording);
		let_fail(0);
		if (rc < 0)
			assert_int_equal(rc, rank->number == 0 ? -EIO : -ECANCELED);
	} while (rc < 0);
	assert_true(rank->number == 1 || call > 3);
	assert_int_equal(instantiations(rank) - instantiated, rank->number == 0);
	expect_launch(rank, 0);
	launch_set(rank, 1);
}

/* The argument -d selects the cases that need two devices. */
int main(int argc, char **argv)
{
	const struct CMUnitTest with_devices[] = {
		STORY(a_rank_that_cannot_enter_its_device_says_so, .change_together = 1),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_of_a_change_fails_in_turn),
		cmocka_unit_test(each_call_of_building_fails_in_turn),
		cmocka_unit_test(work_that_fails_on_one_rank),
		STORY(ranks_that_capture_what_they_launch),
		STORY(a_rank_that_cannot_begin_says_so),
		STORY(a_rank_whose_stream_fails_says_so, .change_together = 1),
		STORY(a_worn_graph_is_replaced_by_a_vote),
#ifndef BETWEEN_LIBRARY
		STORY(a_rank_that_cannot_enter_its_device_says_so, .change_together = 1),
		STORY(a_rank_that_is_lost_comes_back, .strategy = DAGPATCH_SET_PARAMS),
		STORY(a_spent_graph_is_replaced_without_a_vote),
#endif
	};

	suite_bed = &SUITE_BED;
	if (argc > 1 && strcmp(argv[1], "-d") == 0)
		return cmocka_run_group_tests(with_devices, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
