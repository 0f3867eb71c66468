/* Two ranks in two processes: vote_ranks.h. */
#include "vote_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, ALONE_NS = 1000000 };

#define FOR_EVER_NS (UINT64_MAX / 4)

/* ---- driver calls that fail ---- */

#ifdef BETWEEN_LIBRARY
#include "between.h"

#define VOTES_LIBRARY BETWEEN_LIBRARY

static uint64_t calls_made(void)
{
	return between.calls;
}

void let_fail(uint64_t which)
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

void let_fail(uint64_t which)
{
	dagpatch_model_fail(which, which ? 1 : 0);
}
#endif

/* ---- ranks ---- */

struct shared *shared;

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
int capture_reduce(void *user, void *stream, void *const *addresses)
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
int vote_patiently(void *user, const struct dagpatch_vote *asked, int64_t *ret_least)
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

void rank_begin(struct rank *rank, uint32_t number, const struct choice *choice)
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

void bind_set(struct rank *rank, uint32_t set)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		bind(rank->recording, i, rank->sets[set][i]);
}

uint32_t expect_launch(struct rank *rank, uint32_t set)
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

uint32_t launch_set(struct rank *rank, uint32_t set)
{
	bind_set(rank, set);
	return expect_launch(rank, set);
}

void expect_reverted(struct rank *rank, uint32_t set)
{
	OK(rank->recording, dagpatch_revert(rank->recording));
	expect_launch(rank, set);
}

uint64_t change(struct rank *rank, uint64_t call, int *ret_rc)
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

uint64_t instantiations(const struct rank *rank)
{
	return stats_of(rank->recording).uses[DAGPATCH_INSTANTIATE];
}

void rank_end(struct rank *rank)
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
			buffer_free(rank->sets[i][j]);
}

void rank_again(struct rank *rank, const struct choice *choice)
{
	uint32_t number = rank->number;

	rank_end(rank);
	rank_begin(rank, number, choice);
}

void rank_record_again(struct rank *rank)
{
	dagpatch_recording_destroy(rank->recording);
	record(rank);
}

static void run_rank(rank_story story, const struct choice *choice, uint32_t number)
{
	struct rank rank;

	/* A failed assertion must end this process, not the test that it was forked from. */
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	if (suite_bed->open() != 0)
		_exit(1);
	rank_begin(&rank, number, choice);
	story(&rank);
	rank_end(&rank);
	suite_bed->close();
	_exit(0);
}

/* Waits for all children. Returns false if one of them failed. */
static bool await_ranks(const pid_t children[RANKS])
{
	bool all_well = true;

	for (uint32_t i = 0; i < RANKS; i++) {
		int status = -1;
		pid_t child = waitpid(-1, &status, 0);

		assert_true(child == children[0] || child == children[1]);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		all_well = false;
		vote_box_break(shared->box);
	}
	return all_well;
}

void run_ranks(rank_story story, const struct choice *choice)
{
	pthread_barrierattr_t attributes;
	pid_t children[RANKS];
	bool all_well;

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
			run_rank(story, choice, i);
	}
	all_well = await_ranks(children);
	vote_box_destroy(shared->box);
	assert_true(all_well);
}

void run_story(void **state)
{
	const struct story_case *told = *state;

	run_ranks(told->story, &told->choice);
}
