/* Lifetimes: replays that are queued when their recording is destroyed or built again; contexts and
 * caches that are destroyed first. test_patch_evict.c tests what is evicted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay_lives.h"

/* ---- replays that are queued ---- */

static void destroy_while_queued(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording;
	uint64_t allocations;
	struct lives lives;

	lives_begin(&lives, strategy);
	recording = lives_sum(lives.context, lives_in_and_out, 1);
	allocations = lives_now().allocations;
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	dagpatch_recording_destroy(recording);
	/* The call did not wait, and the shadow buffers still exist. */
	expect_all(lives.buffers[0][0], 0);
	assert_int_equal(lives_now().allocations, allocations);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 3);
	/* The next create or destroy call finds that the replay is done. */
	OK(NULL, dagpatch_recording_create(lives.context, 0, &recording));
	assert_int_equal(lives_now().allocations, allocations - 2);
	assert_int_equal(lives_now().tables, 0);
	dagpatch_recording_destroy(recording);
	lives_end(&lives);
}

static void destroyed_while_a_replay_is_queued(void **state)
{
	lives_with_each_driver(destroy_while_queued);
}

static void destroy_all_while_queued(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording;
	struct lives lives;

	lives_begin(&lives, strategy);
	recording = lives_sum(lives.context, lives_in_and_out, 1);
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(lives.context);
	lives.context = NULL;
	/* Destroying the context waits. */
	assert_int_equal(lives_now().tables, 0);
	assert_int_equal(lives_now().execs, 0);
	expect_all(lives.buffers[0][0], 3);
	lives_end(&lives);
}

static void context_waits_for_queued_replays(void **state)
{
	lives_with_each_driver(destroy_all_while_queued);
}

static void rebuild_while_queued(enum dagpatch_strategy unused)
{
	struct dagpatch_recording *recording;
	struct lives lives;

	lives_begin(&lives, DAGPATCH_INSTANTIATE);
	recording = lives_sum(lives.context, NULL, 1);
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	lives_bind(recording, lives.buffers[1]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	expect_all(lives.buffers[0][0], 0);
	/* In another stream, and by an apply, which does not know of any stream. */
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	lives_bind(recording, lives.buffers[1]);
	OK(recording, dagpatch_apply(recording));
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	expect_all(lives.buffers[0][0], 0);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->stream_synchronize(lives.streams[i]);
	expect_all(lives.buffers[0][0], 3);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	lives_end(&lives);
}

static void built_anew_while_a_replay_is_queued(void **state)
{
	lives_with_each_driver(rebuild_while_queued);
}

/* A launch shows that its stream exists, so earlier work in that stream gets a mark. */
static void a_launch_marks_what_has_gone(void **state)
{
	struct dagpatch_recording *gone, *next;
	struct lives lives;

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_KEPT_EXECS);
	lives_begin(&lives, DAGPATCH_AUTO);
	for (uint32_t i = 0; i < 3; i++) {
		gone = lives_sum(lives.context, NULL, 1);
		lives_bind(gone, lives.buffers[0]);
		OK(gone, dagpatch_launch(gone, lives.streams[0]));
		if (i == 2)
			OK(gone, dagpatch_launch(gone, lives.streams[1]));
		dagpatch_recording_destroy(gone);
	}
	assert_int_equal(lives_now().execs, 3);
	next = lives_sum(lives.context, NULL, 1);
	lives_bind(next, lives.buffers[0]);
	OK(next, dagpatch_launch(next, lives.streams[0]));
	suite_bed->stream_synchronize(lives.streams[0]);
	dagpatch_recording_destroy(lives_sum(lives.context, NULL, 1));
	assert_int_equal(lives_now().execs, 2);
	OK(next, dagpatch_launch(next, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	dagpatch_recording_destroy(lives_sum(lives.context, NULL, 1));
	assert_int_equal(lives_now().execs, 1);
	dagpatch_recording_destroy(next);
	dagpatch_model_without(suite_without);
	lives_end(&lives);
}

/* If dagpatch cannot tell when retired graphs are done, it collects some of them and then
 * synchronises the device. */
static void what_cannot_be_told_does_not_pile_up(void **state)
{
	struct dagpatch_recording *recordings[65];
	struct lives lives;

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_KEPT_EXECS);
	lives_begin(&lives, DAGPATCH_AUTO);
	for (uint32_t i = 0; i < 65; i++) {
		recordings[i] = lives_sum(lives.context, NULL, 1);
		lives_bind(recordings[i], lives.buffers[0]);
		OK(recordings[i], dagpatch_launch(recordings[i], lives.streams[0]));
	}
	for (uint32_t i = 0; i < 65; i++) {
		expect_all(lives.buffers[0][0], 0);
		assert_int_equal(lives_now().execs, 65);
		dagpatch_recording_destroy(recordings[i]);
	}
	assert_int_equal(lives_now().execs, 0);
	expect_all(lives.buffers[0][0], 3);
	dagpatch_model_without(suite_without);
	lives_end(&lives);
}

/* Only one launch at a time uses the shadow buffers, in whatever stream it is. */
static void shadows_are_not_shared_by_streams(void **state)
{
	const uint32_t flags[3] = {0, DAGPATCH_SHADOW_IN, 0};
	struct dagpatch_recording *recording;
	struct lives lives;

	lives_begin(&lives, DAGPATCH_AUTO);
	recording = lives_sum(lives.context, flags, 1);
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	lives_bind(recording, lives.buffers[1]);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 3);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	lives_end(&lives);
}

/* ---- order of destruction ---- */

static int record_double(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, 1, WORDS,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[1], &count})
		       ? -EIO
		       : 0;
}

static struct dagpatch_recording *cached(struct dagpatch_context *context,
					 struct dagpatch_cache *cache)
{
	const uint32_t slots[2] = {0, 1};
	struct dagpatch_recording *recording;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slot(recording, "out");
	slot(recording, "in");
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record_double, .slots = slots,
						 .slot_count = 2, .flags = DAGPATCH_RECAPTURE,
						 .cache = cache),
				 NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

/* Contexts, caches and recordings are destroyed in any order: the remaining ones work, and
 * nothing leaks. */
static void contexts_and_caches_may_go_first(void **state)
{
	struct dagpatch_model_live before = lives_now(), after;
	struct dagpatch_recording *recording;
	struct dagpatch_cache *cache;
	struct lives lives;

	lives_begin(&lives, DAGPATCH_AUTO);
	OK(NULL, dagpatch_cache_create(lives.context, &DAGPATCH_SIZED(cache_options, .capacity = 2),
				       &cache));
	recording = cached(lives.context, cache);
	dagpatch_context_destroy(lives.context);
	lives.context = NULL;
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, 0, lives.buffers[i][0]);
		bind(recording, 1, lives.buffers[i][1]);
		OK(recording, dagpatch_launch(recording, lives.streams[0]));
		suite_bed->stream_synchronize(lives.streams[0]);
		expect_all(lives.buffers[i][0], i ? 22 : 2);
		dagpatch_cache_destroy(cache);
		cache = NULL;
	}
	dagpatch_recording_destroy(recording);
	lives_end(&lives);
	after = lives_now();
	assert_memory_equal(&before, &after, sizeof(before));
}

/* One rank, which counts its votes. */
static int vote_alone(void *user, const struct dagpatch_vote *vote, int64_t *ret_least)
{
	uint32_t *votes = user;

	(*votes)++;
	memcpy(ret_least, vote->values, vote->count * sizeof(*ret_least));
	return 0;
}

/* An evicted graph is built from its existing captures when all ranks can do so. */
static void ranks_vote_on_what_was_evicted(void **state)
{
	uint32_t votes = 0;
	struct dagpatch_recording *recording;
	struct dagpatch_cache *cache;
	struct lives lives;

	lives_begin(&lives, DAGPATCH_AUTO);
	OK(NULL,
	   dagpatch_cache_create(lives.context,
				 &DAGPATCH_SIZED(cache_options, .vote = vote_alone,
						 .vote_user = &votes, .ranks_change_together = 1),
				 &cache));
	recording = cached(lives.context, cache);
	bind(recording, 0, lives.buffers[0][0]);
	bind(recording, 1, lives.buffers[0][1]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	assert_int_equal(votes, 2); /* one before the captures and one after */
	OK(recording, dagpatch_evict(recording));
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	assert_int_equal(votes, 4);
	assert_int_equal(stats_of(recording).captures, 1);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 2);
	dagpatch_recording_destroy(recording);
	dagpatch_cache_destroy(cache);
	lives_end(&lives);
}

/* ---- no memory left ---- */

/* Other ranks would have to rebuild their graphs too, so only the caller evicts a recording that
 * votes, on all ranks; dagpatch never does. */
static void ranks_that_vote_keep_theirs(void **state)
{
	uint32_t votes = 0;
	struct dagpatch_recording *voting, *other;
	struct dagpatch_cache *cache;
	struct lives lives;

	lives_begin(&lives, DAGPATCH_AUTO);
	OK(NULL, dagpatch_cache_create(
			 lives.context,
			 &DAGPATCH_SIZED(cache_options, .vote = vote_alone, .vote_user = &votes),
			 &cache));
	voting = cached(lives.context, cache);
	bind(voting, 0, lives.buffers[0][0]);
	bind(voting, 1, lives.buffers[0][1]);
	OK(voting, dagpatch_launch(voting, lives.streams[0]));
	suite_bed->stream_synchronize(lives.streams[0]);
	other = lives_sum(lives.context, NULL, 3);
	lives_bind(other, lives.buffers[0]);
	dagpatch_model_limit(dagpatch_model_held());
	scene_failed(other, dagpatch_launch(other, lives.streams[0]), -ENOMEM, "the ");
	assert_int_equal(stats_of(voting).evictions, 0);
	dagpatch_model_limit(0);
	dagpatch_recording_destroy(voting);
	dagpatch_recording_destroy(other);
	dagpatch_cache_destroy(cache);
	lives_end(&lives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destroyed_while_a_replay_is_queued),
		cmocka_unit_test(context_waits_for_queued_replays),
		cmocka_unit_test(built_anew_while_a_replay_is_queued),
		cmocka_unit_test(a_launch_marks_what_has_gone),
		cmocka_unit_test(what_cannot_be_told_does_not_pile_up),
		cmocka_unit_test(shadows_are_not_shared_by_streams),
		cmocka_unit_test(contexts_and_caches_may_go_first),
		cmocka_unit_test(ranks_vote_on_what_was_evicted),
		cmocka_unit_test(ranks_that_vote_keep_theirs),
	};

	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
