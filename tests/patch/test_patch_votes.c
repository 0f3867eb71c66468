/* Captured collectives on two ranks in two processes. Either all ranks use what their caches
 * have, or all capture; either all launch the changed graph, or all keep the old one. On the
 * model and on HIP. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "vote.h"

enum { RANKS = 2, SETS = 3, SLOTS = 4, STEPS = 8, SECOND_NS = 1000000000, ALONE_NS = 1000000 };

#define FOR_EVER_NS (UINT64_MAX / 4)

/* ---- driver calls that fail ---- */

#ifdef BETWEEN_LIBRARY
#include "between.h"

#define VOTES_LIBRARY BETWEEN_LIBRARY

static uint64_t calls_made(void)
{
	return between.calls;
}

/* Makes call number WHICH from now on fail (1: the next one); 0: none. */
static void let_fail(uint64_t which)
{
	between.fails = which ? between.calls + which : 0;
}
#else
#include <dagpatch/model.h>

#define VOTES_LIBRARY NULL

static uint64_t calls_made(void)
{
	return dagpatch_model_calls();
}

static void let_fail(uint64_t which)
{
	dagpatch_model_fail(which, which ? 1 : 0);
}
#endif

/* ---- ranks ---- */

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

static struct shared *shared;

enum { SUM, FIRST, SECOND, GRADIENTS };

#define KEY "reduce"

/* The outcome of a vote on this rank. */
enum fate {
	IT_GOES_WELL,
	IT_IS_ALONE,	  /* no other rank votes */
	IT_DIES,	  /* the rank ends before it votes */
	IT_HEARS_NOTHING, /* only the other ranks get the answer */
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

/* Captures c = a + b, as a library would do it: patched. */
static int capture_sum(void *user, void *stream, void *const *addresses)
{
	const struct rank *rank = user;
	uint32_t count = rank->is_other ? WORDS / 2 : WORDS;

	return suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[2], &count})
		       ? -EIO
		       : 0;
}

/* Stands for a collective: work that only this rank's library knows. It writes the number of its
 * capture. */
static int capture_reduce(void *user, void *stream, void *const *addresses)
{
	struct rank *rank = user;

	if (rank->collective_result < 0)
		return rank->collective_result;
	rank->captures++;
	return suite_bed->launch(stream, BED_MARK, 1, 1,
				 (void *[]){(void *)&addresses[0], &rank->captures})
		       ? -EIO
		       : 0;
}

/* Waits for a rank that votes, however late; only a rank that never votes is given up. */
static int vote_patiently(void *user, const struct dagpatch_vote *asked, int64_t *ret_least)
{
	struct rank *rank = user;
	struct dagpatch_vote patient = *asked;
	enum fate fate = rank->fates[asked->phase];
	int rc;

	rank->asked++;
	if (asked->timeout_ns != SECOND_NS || asked->size != sizeof(*asked))
		return -EINVAL;
	if (fate == IT_DIES)
		_exit(0);
	patient.timeout_ns = fate == IT_IS_ALONE ? ALONE_NS : FOR_EVER_NS;
	rc = vote(&rank->vote, &patient, ret_least);
	return fate == IT_HEARS_NOTHING ? -ETIMEDOUT : rc;
}

struct choice {
	enum dagpatch_strategy strategy;
	int change_together, verify;
	uint32_t updates; /* dagpatch_options.updates_before_instantiate */
};

/* Returns the node that the captured work comes after; DAGPATCH_NONE: none. */
static uint32_t record_memset(const struct rank *rank, uint32_t slot)
{
	uint32_t node = DAGPATCH_NONE;

	if (rank->sets_second)
		OK(rank->recording,
		   dagpatch_add_memset(rank->recording,
				       &DAGPATCH_SIZED(memset, .slot = slot, .value = 10,
						       .element_bytes = 4, .width = WORDS),
				       NULL, &node));
	return node;
}

static void record(struct rank *rank)
{
	const struct dagpatch_collective collective = DAGPATCH_SIZED(
		collective, .communicator = 7, .count = WORDS, .buffers_are_registered = 1);
	uint32_t slots[SLOTS], node;

	OK(NULL, dagpatch_recording_create(rank->context, 0, &rank->recording));
	for (uint32_t i = 0; i < SLOTS; i++)
		slots[i] = slot(rank->recording, NULL);
	node = record_memset(rank, slots[SECOND]);
	OK(rank->recording,
	   dagpatch_add_captured(rank->recording,
				 &DAGPATCH_SIZED(capture, .record = capture_sum, .user = rank,
						 .slots = slots, .slot_count = 3),
				 node == DAGPATCH_NONE ? NULL : AFTER(node), &node));
	OK(rank->recording,
	   dagpatch_add_captured(rank->recording,
				 &DAGPATCH_SIZED(capture, .record = capture_reduce, .user = rank,
						 .slots = &slots[GRADIENTS], .slot_count = 1,
						 .flags = DAGPATCH_RECAPTURE,
						 .collective = &collective, .cache = rank->cache,
						 .key = KEY, .key_bytes = sizeof(KEY)),
				 AFTER(node), NULL));
	OK(rank->recording, dagpatch_finalize(rank->recording));
}

static void rank_begin(struct rank *rank, uint32_t number, const struct choice *choice)
{
	struct dagpatch_options options =
		DAGPATCH_SIZED(options, .driver = suite_bed->driver, .library = VOTES_LIBRARY,
			       .strategy = choice->strategy, .verify = choice->verify,
			       .updates_before_instantiate = choice->updates);

	*rank = (struct rank){.number = number,
			      .vote = {shared->box, number, shared->ranks[number].round}};
	OK(NULL, dagpatch_context_create(&options, &rank->context, NULL));
	OK(NULL,
	   dagpatch_cache_create(rank->context,
				 &DAGPATCH_SIZED(cache_options, .vote = vote_patiently,
						 .vote_user = rank, .vote_timeout_ns = SECOND_NS,
						 .ranks_change_together = choice->change_together),
				 &rank->cache));
	rank->stream = suite_bed->stream_create();
	for (uint32_t i = 0; i < SETS; i++)
		for (uint32_t j = 0; j < SLOTS; j++)
			rank->sets[i][j] = buffer(j == FIRST ? i + 3 : j == SECOND ? 10 : 0);
	record(rank);
}

static void bind_set(struct rank *rank, uint32_t set)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		bind(rank->recording, i, rank->sets[set][i]);
}

/* Launches, and checks that the graph ran at this set only. Returns the number of its capture. */
static uint32_t expect_launch(struct rank *rank, uint32_t set)
{
	uint32_t words[WORDS], mark = 0;

	for (uint32_t i = 0; i < SETS; i++) {
		buffer_set(rank->sets[i][SUM], 0);
		buffer_set(rank->sets[i][GRADIENTS], 0);
	}
	OK(rank->recording, dagpatch_launch(rank->recording, rank->stream));
	suite_bed->stream_synchronize(rank->stream);
	for (uint32_t i = 0; i < SETS; i++) {
		expect_all(rank->sets[i][SUM], i == set ? i + 13 : 0);
		suite_bed->read(words, rank->sets[i][GRADIENTS], sizeof(words));
		assert_int_equal(words[0] != 0, i == set);
		mark += words[0];
	}
	return mark;
}

static uint32_t launch_set(struct rank *rank, uint32_t set)
{
	bind_set(rank, set);
	return expect_launch(rank, set);
}

static struct dagpatch_stats stats_of(const struct dagpatch_recording *recording)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	OK(recording, dagpatch_recording_stats(recording, &stats));
	return stats;
}

static void rank_end(struct rank *rank)
{
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};

	OK(NULL, dagpatch_cache_stats(rank->cache, &stats));
	shared->ranks[rank->number].round = rank->vote.round;
	shared->ranks[rank->number].captures = rank->captures;
	shared->ranks[rank->number].hits = (uint32_t)stats.hits;
	shared->ranks[rank->number].misses = (uint32_t)stats.misses;
	dagpatch_recording_destroy(rank->recording);
	dagpatch_cache_destroy(rank->cache);
	dagpatch_context_destroy(rank->context);
	suite_bed->stream_destroy(rank->stream);
	for (uint32_t i = 0; i < SETS; i++)
		for (uint32_t j = 0; j < SLOTS; j++)
			suite_bed->free(rank->sets[i][j]);
}

static void run_rank(void (*story)(uint32_t rank), uint32_t number)
{
	/* A failed assertion must end this process, not the test that it was forked from. */
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	if (suite_bed->open() != 0)
		_exit(1);
	story(number);
	suite_bed->close();
	_exit(0);
}

/* Runs STORY as each rank in a process of its own. Returns false if one of them failed; the
 * others are then not left waiting for it. */
static bool run_ranks(void (*story)(uint32_t rank))
{
	pthread_barrierattr_t attributes;
	pid_t children[RANKS];
	bool all_well = true;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(shared != MAP_FAILED);
	shared->box = vote_box_create(RANKS);
	assert_non_null(shared->box);
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->meeting, &attributes, RANKS);
	for (uint32_t i = 0; i < RANKS; i++) {
		children[i] = fork();
		if (children[i] == 0)
			run_rank(story, i);
	}
	for (uint32_t i = 0; i < RANKS; i++) {
		int status = -1;
		pid_t child = waitpid(-1, &status, 0);

		assert_true(child == children[0] || child == children[1]);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		all_well = false;
		vote_box_break(shared->box);
	}
	vote_box_destroy(shared->box);
	return all_well;
}

/* ---- different caches ---- */

/* Both ranks know sets 0 and 1. Then rank 0 returns to set 0 while rank 1 needs set 2. Then both
 * have all. */
static void one_misses(uint32_t number)
{
	static const uint32_t steps[RANKS][4] = {{0, 1, 0, 0}, {0, 1, 2, 2}};
	struct rank rank;

	rank_begin(&rank, number, &(struct choice){0});
	for (uint32_t i = 0; i < 4; i++)
		launch_set(&rank, steps[number][i]);
	launch_set(&rank, 1);
	launch_set(&rank, steps[number][3]);
	rank_end(&rank);
}

static void one_rank_misses_and_both_capture(void **state)
{
	assert_true(run_ranks(one_misses));
	for (uint32_t i = 0; i < RANKS; i++) {
		assert_int_equal(shared->ranks[i].captures, 3);
		assert_int_equal(shared->ranks[i].misses, 3);
		assert_int_equal(shared->ranks[i].hits, 2);
	}
}

/* The buffers of rank 0 never move and those of rank 1 do; rank 0 must vote all the same. */
static void one_moves(uint32_t number)
{
	struct rank rank;

	rank_begin(&rank, number, &(struct choice){0});
	for (uint32_t i = 0; i < 3; i++)
		launch_set(&rank, number ? i : 0);
	rank_end(&rank);
}

static void a_rank_that_did_not_move_captures_too(void **state)
{
	assert_true(run_ranks(one_moves));
	for (uint32_t i = 0; i < RANKS; i++)
		assert_int_equal(shared->ranks[i].captures, 3);
}

/* Each rank has captured at its current addresses, but not in the same round. */
static void one_comes_back(uint32_t number)
{
	static const uint32_t steps[RANKS][5] = {{0, 0, 0, 1, 0}, {0, 1, 0, 1, 0}};
	struct rank rank;

	rank_begin(&rank, number, &(struct choice){0});
	for (uint32_t i = 0; i < 5; i++)
		shared->ranks[number].marks[i] = launch_set(&rank, steps[number][i]);
	rank_end(&rank);
}

static void what_was_captured_apart_is_not_launched_together(void **state)
{
	static const uint32_t captures[] = {1, 2, 3, 4, 3};

	assert_true(run_ranks(one_comes_back));
	for (uint32_t i = 0; i < RANKS; i++)
		for (uint32_t j = 0; j < 5; j++)
			assert_int_equal(shared->ranks[i].marks[j], captures[j]);
}

/* ---- failures on one rank ---- */

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
	OK(rank->recording, dagpatch_revert(rank->recording));
	expect_launch(rank, 0);
	launch_set(rank, 1);
	launch_set(rank, 0);
}

/* Binds set 1, whose work is captured again, while call number CALL fails (0: none). Returns the
 * number of calls. */
static uint64_t change(struct rank *rank, uint64_t call, int *ret_rc)
{
	uint64_t begin = calls_made();

	dagpatch_cache_drop(rank->cache, KEY, sizeof(KEY));
	bind_set(rank, 1);
	let_fail(call);
	*ret_rc = dagpatch_apply(rank->recording);
	let_fail(0);
	shared->ranks[rank->number].outcomes =
		shared->ranks[rank->number].outcomes * 31 + (*ret_rc == 0) + 1;
	return calls_made() - begin;
}

static void change_fails(uint32_t number)
{
	for (uint32_t i = 0; i < STRATEGIES; i++) {
		struct rank rank;
		uint64_t calls;
		int rc;

		rank_begin(&rank, number,
			   &(struct choice){.strategy = strategies[i], .change_together = 1});
		launch_set(&rank, 0);
		calls = change(&rank, 0, &rc);
		assert_int_equal(rc, 0);
		launch_set(&rank, 0);
		for (uint64_t call = 1; call <= calls; call++)
			for (uint32_t failing = 0; failing < RANKS; failing++) {
				change(&rank, number == failing ? call : 0, &rc);
				expect_agreed(&rank, rc, number == failing);
			}
		rank_end(&rank);
	}
}

static void each_call_of_a_change_fails_in_turn(void **state)
{
	assert_true(run_ranks(change_fails));
	assert_true(shared->ranks[0].outcomes == shared->ranks[1].outcomes);
}

/* Starts without a graph: afterwards either no rank has one or both have one. */
static uint64_t build_first(struct rank *rank, uint64_t call, bool is_mine)
{
	uint64_t calls;
	int rc;

	dagpatch_recording_destroy(rank->recording);
	record(rank);
	calls = change(rank, is_mine ? call : 0, &rc);
	if (rc < 0)
		assert_null(dagpatch_recording_exec(rank->recording));
	if (rc < 0 && !is_mine)
		scene_failed(rank->recording, rc, -ECANCELED, "another rank failed after");
	expect_launch(rank, 1);
	launch_set(rank, 0);
	return calls;
}

static void building_fails(uint32_t number)
{
	struct rank rank;
	uint64_t calls;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	calls = build_first(&rank, 0, false);
	for (uint64_t call = 1; call <= calls; call++)
		for (uint32_t failing = 0; failing < RANKS; failing++)
			build_first(&rank, call, number == failing);
	rank_end(&rank);
}

static void each_call_of_building_fails_in_turn(void **state)
{
	assert_true(run_ranks(building_fails));
	assert_true(shared->ranks[0].outcomes == shared->ranks[1].outcomes);
}

/* The collective's own callback fails; then verify finds other work than was recorded. */
static void work_fails(uint32_t number)
{
	for (uint32_t failing = 0; failing < RANKS; failing++) {
		struct rank rank;
		int rc;

		rank_begin(&rank, number, &(struct choice){.change_together = 1, .verify = 1});
		launch_set(&rank, 0);
		rank.collective_result = number == failing ? -EDOM : 0;
		change(&rank, 0, &rc);
		rank.collective_result = 0;
		assert_int_equal(rc, number == failing ? -EDOM : -ECANCELED);
		OK(rank.recording, dagpatch_revert(rank.recording));
		expect_launch(&rank, 0);
		rank.is_other = number == failing;
		change(&rank, 0, &rc);
		rank.is_other = false;
		assert_int_equal(rc, number == failing ? -EILSEQ : -ECANCELED);
		OK(rank.recording, dagpatch_revert(rank.recording));
		expect_launch(&rank, 0);
		launch_set(&rank, 1);
		rank_end(&rank);
	}
}

static void work_that_fails_on_one_rank(void **state)
{
	assert_true(run_ranks(work_fails));
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
static void into_captures(uint32_t number)
{
	for (uint32_t failing = 0; failing < RANKS; failing++) {
		struct rank rank;

		rank_begin(&rank, number, &(struct choice){.change_together = 1});
		launch_set(&rank, 0);
		rank.collective_result = number == failing ? -EDOM : 0;
		assert_int_equal(launch_into_capture(&rank),
				 number == failing ? -EDOM : -ECANCELED);
		rank.collective_result = 0;
		OK(rank.recording, dagpatch_revert(rank.recording));
		expect_launch(&rank, 0);
		rank.captures = 0;
		OK(rank.recording, launch_into_capture(&rank));
		launch_set(&rank, 1);
		assert_int_equal(rank.captures, 1);
		rank_end(&rank);
	}
}

static void ranks_that_capture_what_they_launch(void **state)
{
	assert_true(run_ranks(into_captures));
}

/* A rank that cannot begin votes so, and the others do not wait for their timeout. */
static void one_has_no_address(uint32_t number)
{
	struct rank rank;
	int rc;

	rank_begin(&rank, number, &(struct choice){0});
	for (uint32_t i = number == 0; i < SLOTS; i++)
		bind(rank.recording, i, rank.sets[0][i]);
	rc = dagpatch_launch(rank.recording, rank.stream);
	if (number == 0)
		scene_failed(rank.recording, rc, -ENXIO, "slot 0");
	else
		scene_failed(rank.recording, rc, -ECANCELED, "another rank failed before");
	assert_int_equal(rank.captures, 0);
	launch_set(&rank, 0);
	rank_end(&rank);
}

static void a_rank_that_cannot_begin_says_so(void **state)
{
	assert_true(run_ranks(one_has_no_address));
}

/* The driver fails on rank 0 before the launch has begun: it cannot tell whether the stream is
 * captured. */
static void one_has_no_stream(uint32_t number)
{
	struct rank rank;
	uint32_t asked;
	int rc;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	launch_set(&rank, 0);
	bind_set(&rank, 1);
	asked = rank.asked;
	let_fail(number == 0);
	rc = dagpatch_launch(rank.recording, rank.stream);
	let_fail(0);
	if (number == 0)
		scene_failed(rank.recording, rc, -EIO, "launching");
	else
		scene_failed(rank.recording, rc, -ECANCELED, "another rank failed before");
	assert_int_equal(rank.asked, asked + 1);
	expect_launch(&rank, 1);
	rank_end(&rank);
}

static void a_rank_whose_stream_fails_says_so(void **state)
{
	assert_true(run_ranks(one_has_no_stream));
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
	if (rank->number == 0)
		scene_failed(rank->recording, rc, -EIO, "entering device 0");
	else
		scene_failed(rank->recording, rc, -ECANCELED, "another rank failed before");
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

static void one_has_no_device(uint32_t number)
{
	struct rank rank;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	launch_set(&rank, 0);
	expect_no_entry(&rank, call_apply);
	expect_no_entry(&rank, call_launch);
	rank_end(&rank);
}

static void a_rank_that_cannot_enter_its_device_says_so(void **state)
{
	assert_true(run_ranks(one_has_no_device));
}

#ifndef BETWEEN_LIBRARY
/* On one rank restoring the old addresses fails, too. That rank is lost, the other one is
 * complete, and both can recover. */
static void one_is_lost(uint32_t number)
{
	struct rank rank;
	uint64_t calls;
	bool was_lost = false;
	int rc;

	rank_begin(&rank, number, &(struct choice){.strategy = DAGPATCH_SET_PARAMS});
	launch_set(&rank, 0);
	calls = change(&rank, 0, &rc);
	launch_set(&rank, 0);
	for (uint64_t call = 1; call <= calls; call++) {
		dagpatch_cache_drop(rank.cache, KEY, sizeof(KEY));
		bind_set(&rank, 1);
		if (number == 0)
			dagpatch_model_fail(call, 1000000);
		rc = dagpatch_apply(rank.recording);
		dagpatch_model_fail(0, 0);
		assert_int_equal(rc, number == 0 ? -EIO : -ECANCELED);
		if (dagpatch_recording_state(rank.recording) == DAGPATCH_LOST) {
			was_lost = true;
			OK(rank.recording, dagpatch_finalize(rank.recording));
		}
		expect_launch(&rank, 1);
		launch_set(&rank, 0);
	}
	assert_int_equal(was_lost, number == 0);
	rank_end(&rank);
}

static void a_rank_that_is_lost_comes_back(void **state)
{
	assert_true(run_ranks(one_is_lost));
}
#endif

#ifndef BETWEEN_LIBRARY
/* The driver of rank 0 loses the value of a memset after each launch and cannot set it again, so
 * each launch of this rank needs a new graph. Ranks that vote on changes only do not vote on it. */
static void one_is_spent(uint32_t number)
{
	struct rank rank;
	uint64_t instantiated;
	uint32_t asked;

	if (number == 0)
		dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_NESTED_SETS |
				       DAGPATCH_MODEL_NO_CONDITIONALS | DAGPATCH_MODEL_NO_CHILDREN |
				       DAGPATCH_MODEL_NO_KEPT_MEMSETS |
				       DAGPATCH_MODEL_NO_MEMSET_SETS);
	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	dagpatch_recording_destroy(rank.recording);
	rank.sets_second = true;
	record(&rank);
	launch_set(&rank, 0);
	instantiated = stats_of(rank.recording).uses[DAGPATCH_INSTANTIATE];
	asked = rank.asked;
	for (uint32_t i = 1; i <= 2; i++) {
		expect_launch(&rank, 0);
		assert_int_equal(stats_of(rank.recording).uses[DAGPATCH_INSTANTIATE] - instantiated,
				 number == 0 ? i : 0);
	}
	assert_int_equal(rank.asked, asked);
	launch_set(&rank, 1);
	rank_end(&rank);
}

static void a_spent_graph_is_replaced_without_a_vote(void **state)
{
	assert_true(run_ranks(one_is_spent));
}
#endif

/* After a failed change, the executable graph of rank 0 is worn: setting the nodes and putting them
 * back were too many updates. The new graph is made although no address has changed, so the ranks
 * vote on it: APPLY fails on both ranks or on none. */
static void one_is_worn(uint32_t number)
{
	struct rank rank;
	uint64_t instantiated, call = 0;
	int rc;

	rank_begin(&rank, number,
		   &(struct choice){.strategy = DAGPATCH_SET_PARAMS,
				    .verify = 1,
				    .updates = number == 0 ? 1 : UINT32_MAX});
	launch_set(&rank, 0);
	rank.is_other = true;
	change(&rank, 0, &rc);
	rank.is_other = false;
	scene_failed(rank.recording, rc, -EILSEQ, "");
	OK(rank.recording, dagpatch_revert(rank.recording));
	instantiated = stats_of(rank.recording).uses[DAGPATCH_INSTANTIATE];
	do {
		let_fail(number == 0 ? ++call : 0);
		rc = dagpatch_apply(rank.recording);
		let_fail(0);
		if (rc < 0)
			assert_int_equal(rc, number == 0 ? -EIO : -ECANCELED);
	} while (rc < 0);
	assert_true(number == 1 || call > 3);
	assert_int_equal(stats_of(rank.recording).uses[DAGPATCH_INSTANTIATE] - instantiated,
			 number == 0);
	expect_launch(&rank, 0);
	launch_set(&rank, 1);
	rank_end(&rank);
}

static void a_worn_graph_is_replaced_by_a_vote(void **state)
{
	assert_true(run_ranks(one_is_worn));
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
	OK(rank->recording, dagpatch_revert(rank->recording));
	expect_launch(rank, 0);
	shared->ranks[rank->number].is_done = true;
}

/* Rank 1 ends before the vote of this phase. */
static void one_dies(uint32_t number, enum dagpatch_vote_phase phase, const char *text)
{
	struct rank rank;
	int rc;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	launch_set(&rank, 0);
	rank.fates[phase] = number == 1 ? IT_DIES : IT_IS_ALONE;
	change(&rank, 0, &rc);
	assert_int_equal(number, 0);
	assert_int_equal(rank.captures, phase == DAGPATCH_VOTE_BEFORE ? 1 : 2);
	expect_out_of_order(&rank, rc, -ETIMEDOUT, text);
	rank_end(&rank);
}

static void one_dies_before(uint32_t number)
{
	one_dies(number, DAGPATCH_VOTE_BEFORE, "vote before the captures");
}

static void one_dies_between(uint32_t number)
{
	one_dies(number, DAGPATCH_VOTE_AFTER, "other ranks may have launched");
}

static void one_rank_dies_and_the_other_gets_an_error(void **state)
{
	assert_true(run_ranks(one_dies_before));
	assert_true(shared->ranks[0].is_done);
	assert_true(run_ranks(one_dies_between));
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
static void one_hears_nothing_before(uint32_t number)
{
	struct rank rank;
	int rc;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	launch_set(&rank, 0);
	if (number == 0)
		rank.fates[DAGPATCH_VOTE_BEFORE] = IT_HEARS_NOTHING;
	else
		rank.fates[DAGPATCH_VOTE_AFTER] = IT_IS_ALONE;
	change(&rank, 0, &rc);
	assert_int_equal(rank.captures, number == 0 ? 1 : 2);
	expect_out_of_order(&rank, rc, -ETIMEDOUT,
			    number == 0 ? "vote before the captures"
					: "other ranks may have launched");
	rank_end(&rank);
}

/* Rank 0 does not get the answer that both are ready, and rank 1 has launched. No vote can
 * prevent that. Rank 0 gets an error instead of going on as if nothing happened, and works again
 * after joining. */
static void one_hears_nothing_after(uint32_t number)
{
	struct rank rank;
	int rc;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	launch_set(&rank, 0);
	rank.fates[DAGPATCH_VOTE_AFTER] = number == 0 ? IT_HEARS_NOTHING : IT_GOES_WELL;
	change(&rank, 0, &rc);
	if (number == 0)
		expect_out_of_order(&rank, rc, -ETIMEDOUT, "other ranks may have launched");
	else
		expect_launch(&rank, 1);
	rank.fates[DAGPATCH_VOTE_AFTER] = IT_GOES_WELL;
	meet(&rank);
	/* By now rank 0's capture and rank 1's capture of set 0 were made in different rounds. */
	launch_set(&rank, 2);
	launch_set(&rank, 0);
	launch_set(&rank, 1);
	assert_int_equal(rank.captures, 5);
	rank_end(&rank);
	shared->ranks[number].is_done = true;
}

static void an_answer_that_one_rank_does_not_hear(void **state)
{
	assert_true(run_ranks(one_hears_nothing_before));
	for (uint32_t i = 0; i < RANKS; i++)
		assert_true(shared->ranks[i].is_done);
	assert_true(run_ranks(one_hears_nothing_after));
	for (uint32_t i = 0; i < RANKS; i++)
		assert_true(shared->ranks[i].is_done);
}

/* One rank believes that all have joined again; the other does not. */
static void one_is_elsewhere(uint32_t number)
{
	struct rank rank;
	int rc;

	rank_begin(&rank, number, &(struct choice){.change_together = 1});
	launch_set(&rank, 0);
	if (number == 0)
		OK(NULL, dagpatch_cache_rejoin(rank.cache));
	change(&rank, 0, &rc);
	assert_int_equal(rank.captures, 1);
	expect_out_of_order(&rank, rc, -EPROTO, "vote before the captures");
	rank_end(&rank);
}

static void ranks_that_are_not_at_the_same_vote(void **state)
{
	assert_true(run_ranks(one_is_elsewhere));
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

/* The argument -d selects the cases that need two devices. */
int main(int argc, char **argv)
{
	const struct CMUnitTest with_devices[] = {
		cmocka_unit_test(a_rank_that_cannot_enter_its_device_says_so),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rank_misses_and_both_capture),
		cmocka_unit_test(a_rank_that_did_not_move_captures_too),
		cmocka_unit_test(what_was_captured_apart_is_not_launched_together),
		cmocka_unit_test(each_call_of_a_change_fails_in_turn),
		cmocka_unit_test(each_call_of_building_fails_in_turn),
		cmocka_unit_test(work_that_fails_on_one_rank),
		cmocka_unit_test(ranks_that_capture_what_they_launch),
		cmocka_unit_test(a_rank_that_cannot_begin_says_so),
		cmocka_unit_test(a_rank_whose_stream_fails_says_so),
		cmocka_unit_test(a_worn_graph_is_replaced_by_a_vote),
#ifndef BETWEEN_LIBRARY
		cmocka_unit_test(a_rank_that_cannot_enter_its_device_says_so),
		cmocka_unit_test(a_rank_that_is_lost_comes_back),
		cmocka_unit_test(a_spent_graph_is_replaced_without_a_vote),
#endif
		cmocka_unit_test(one_rank_dies_and_the_other_gets_an_error),
		cmocka_unit_test(an_answer_that_one_rank_does_not_hear),
		cmocka_unit_test(ranks_that_are_not_at_the_same_vote),
		cmocka_unit_test(two_caches_that_vote),
	};

	suite_bed = &SUITE_BED;
	if (argc > 1 && strcmp(argv[1], "-d") == 0)
		return cmocka_run_group_tests(with_devices, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
