/* Lifetimes: replays that are queued when their recording is destroyed, built again or evicted;
 * contexts and caches that are destroyed first; executable graphs that are evicted when memory
 * runs out. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

static struct dagpatch_context *context_with(enum dagpatch_strategy strategy)
{
	struct dagpatch_context *context;

	OK(NULL, dagpatch_context_create(
			 &DAGPATCH_SIZED(options, .driver = "model", .strategy = strategy),
			 &context, NULL));
	return context;
}

static struct dagpatch_model_live live(void)
{
	struct dagpatch_model_live now;

	dagpatch_model_live(&now);
	return now;
}

static struct dagpatch_stats stats_of(const struct dagpatch_recording *recording)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	OK(recording, dagpatch_recording_stats(recording, &stats));
	return stats;
}

/* Records c = a + b with flags for each of the three slots, repeated in the given number of
 * kernels. */
static struct dagpatch_recording *sum(struct dagpatch_context *context, const uint32_t flags[3],
				      uint32_t kernels)
{
	struct dagpatch_recording *recording;
	uint32_t slots[3], node = 0;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	for (uint32_t i = 0; i < 3; i++)
		OK(recording, dagpatch_slot_add(recording,
						&DAGPATCH_SIZED(slot, .bytes = WORDS * 4,
								.flags = flags ? flags[i] : 0),
						&slots[i]));
	for (uint32_t i = 0; i < kernels; i++)
		node = add_three(recording, BED_ADD, slots, i ? AFTER(node) : NULL);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

static void bind_three(struct dagpatch_recording *recording, uint32_t *const buffers[3])
{
	OK(recording,
	   dagpatch_bind_all(recording, (const void *[]){buffers[0], buffers[1], buffers[2]}, 3));
}

struct lives {
	struct dagpatch_context *context;
	void *streams[2];
	uint32_t *buffers[2][3];
	uint64_t stale;
};

static void begin(struct lives *lives, enum dagpatch_strategy strategy)
{
	lives->context = context_with(strategy);
	lives->stale = dagpatch_model_stale_replays();
	for (uint32_t i = 0; i < 2; i++) {
		lives->streams[i] = suite_bed->stream_create();
		for (uint32_t j = 0; j < 3; j++)
			lives->buffers[i][j] = buffer(j ? 10 * i + j : 0);
	}
}

/* The context may be destroyed already. */
static void end(struct lives *lives)
{
	assert_int_equal(dagpatch_model_stale_replays(), lives->stale);
	dagpatch_context_destroy(lives->context);
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->stream_destroy(lives->streams[i]);
		for (uint32_t j = 0; j < 3; j++)
			buffer_free(lives->buffers[i][j]);
	}
}

static const uint32_t in_and_out[3] = {DAGPATCH_SHADOW_OUT, DAGPATCH_SHADOW_IN, 0};

/* A driver that keeps executable graphs for their replays, with and without the table, and one
 * that does not keep them. */
static const uint32_t drivers[] = {0, DAGPATCH_MODEL_NO_TABLE,
				   DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_KEPT_EXECS};
enum { DRIVERS = sizeof(drivers) / sizeof(*drivers) };

static void with_each_driver(void (*run)(enum dagpatch_strategy strategy))
{
	struct dagpatch_model_live before = live(), after;

	for (uint32_t i = 0; i < DRIVERS; i++) {
		dagpatch_model_without(drivers[i]);
		run(drivers[i] & DAGPATCH_MODEL_NO_TABLE ? DAGPATCH_AUTO : DAGPATCH_DEVICE_TABLE);
	}
	dagpatch_model_without(suite_without);
	after = live();
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(dagpatch_model_held(), 0);
}

/* ---- replays that are queued ---- */

static void destroy_while_queued(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording;
	uint64_t allocations;
	struct lives lives;

	begin(&lives, strategy);
	recording = sum(lives.context, in_and_out, 1);
	allocations = live().allocations;
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	dagpatch_recording_destroy(recording);
	/* The call did not wait, and the shadow buffers still exist. */
	expect_all(lives.buffers[0][0], 0);
	assert_int_equal(live().allocations, allocations);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 3);
	/* The next create or destroy call finds that the replay is done. */
	OK(NULL, dagpatch_recording_create(lives.context, 0, &recording));
	assert_int_equal(live().allocations, allocations - 2);
	assert_int_equal(live().tables, 0);
	dagpatch_recording_destroy(recording);
	end(&lives);
}

static void destroyed_while_a_replay_is_queued(void **state)
{
	with_each_driver(destroy_while_queued);
}

static void destroy_all_while_queued(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording;
	struct lives lives;

	begin(&lives, strategy);
	recording = sum(lives.context, in_and_out, 1);
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(lives.context);
	lives.context = NULL;
	/* Destroying the context waits. */
	assert_int_equal(live().tables, 0);
	assert_int_equal(live().execs, 0);
	expect_all(lives.buffers[0][0], 3);
	end(&lives);
}

static void context_waits_for_queued_replays(void **state)
{
	with_each_driver(destroy_all_while_queued);
}

static void rebuild_while_queued(enum dagpatch_strategy unused)
{
	struct dagpatch_recording *recording;
	struct lives lives;

	begin(&lives, DAGPATCH_INSTANTIATE);
	recording = sum(lives.context, NULL, 1);
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	bind_three(recording, lives.buffers[1]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	expect_all(lives.buffers[0][0], 0);
	/* In another stream, and by an apply, which does not know of any stream. */
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	bind_three(recording, lives.buffers[1]);
	OK(recording, dagpatch_apply(recording));
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	expect_all(lives.buffers[0][0], 0);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->stream_synchronize(lives.streams[i]);
	expect_all(lives.buffers[0][0], 3);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	end(&lives);
}

static void built_anew_while_a_replay_is_queued(void **state)
{
	with_each_driver(rebuild_while_queued);
}

/* A launch shows that its stream exists, so earlier work in that stream gets a mark. */
static void a_launch_marks_what_has_gone(void **state)
{
	struct dagpatch_recording *gone, *next;
	struct lives lives;

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_KEPT_EXECS);
	begin(&lives, DAGPATCH_AUTO);
	for (uint32_t i = 0; i < 3; i++) {
		gone = sum(lives.context, NULL, 1);
		bind_three(gone, lives.buffers[0]);
		OK(gone, dagpatch_launch(gone, lives.streams[0]));
		if (i == 2)
			OK(gone, dagpatch_launch(gone, lives.streams[1]));
		dagpatch_recording_destroy(gone);
	}
	assert_int_equal(live().execs, 3);
	next = sum(lives.context, NULL, 1);
	bind_three(next, lives.buffers[0]);
	OK(next, dagpatch_launch(next, lives.streams[0]));
	suite_bed->stream_synchronize(lives.streams[0]);
	dagpatch_recording_destroy(sum(lives.context, NULL, 1));
	assert_int_equal(live().execs, 2);
	OK(next, dagpatch_launch(next, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	dagpatch_recording_destroy(sum(lives.context, NULL, 1));
	assert_int_equal(live().execs, 1);
	dagpatch_recording_destroy(next);
	dagpatch_model_without(suite_without);
	end(&lives);
}

/* If dagpatch cannot tell when retired graphs are done, it collects some of them and then
 * synchronises the device. */
static void what_cannot_be_told_does_not_pile_up(void **state)
{
	struct dagpatch_recording *recordings[65];
	struct lives lives;

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_KEPT_EXECS);
	begin(&lives, DAGPATCH_AUTO);
	for (uint32_t i = 0; i < 65; i++) {
		recordings[i] = sum(lives.context, NULL, 1);
		bind_three(recordings[i], lives.buffers[0]);
		OK(recordings[i], dagpatch_launch(recordings[i], lives.streams[0]));
	}
	for (uint32_t i = 0; i < 65; i++) {
		expect_all(lives.buffers[0][0], 0);
		assert_int_equal(live().execs, 65);
		dagpatch_recording_destroy(recordings[i]);
	}
	assert_int_equal(live().execs, 0);
	expect_all(lives.buffers[0][0], 3);
	dagpatch_model_without(suite_without);
	end(&lives);
}

static void evict_while_queued(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording;
	struct dagpatch_stats stats;
	struct lives lives;
	uint64_t execs;

	begin(&lives, strategy);
	execs = live().execs;
	recording = sum(lives.context, in_and_out, 2);
	assert_int_equal(dagpatch_evict(recording), 0); /* no graph is built */
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	OK(recording, dagpatch_evict(recording));
	assert_null(dagpatch_recording_exec(recording));
	assert_null(dagpatch_node_handle(recording, 0));
	expect_all(lives.buffers[0][0], 0);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 3);
	OK(recording, dagpatch_evict(recording));
	if (strategy == DAGPATCH_DEVICE_TABLE)
		assert_int_equal(live().execs, execs);
	stats = stats_of(recording);
	assert_int_equal(stats.evictions, 1);
	assert_int_equal(stats.exec_bytes, 0);
	/* The rebuilt graph has the bound addresses, including those that were bound in the
	 * meantime. */
	buffer_set(lives.buffers[0][0], 0);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	expect_all(lives.buffers[0][0], 3);
	assert_true(stats_of(recording).exec_bytes > 0);
	OK(recording, dagpatch_evict(recording));
	bind_three(recording, lives.buffers[1]);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	expect_all(lives.buffers[1][0], 23);
	OK(recording, dagpatch_evict(recording));
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_revert(recording));
	buffer_set(lives.buffers[1][0], 0);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	end(&lives);
}

static void evicted_and_built_again(void **state)
{
	with_each_driver(evict_while_queued);
}

/* Only one launch at a time uses the shadow buffers, in whatever stream it is. */
static void shadows_are_not_shared_by_streams(void **state)
{
	const uint32_t flags[3] = {0, DAGPATCH_SHADOW_IN, 0};
	struct dagpatch_recording *recording;
	struct lives lives;

	begin(&lives, DAGPATCH_AUTO);
	recording = sum(lives.context, flags, 1);
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	bind_three(recording, lives.buffers[1]);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 3);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	end(&lives);
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
	struct dagpatch_model_live before = live(), after;
	struct dagpatch_recording *recording;
	struct dagpatch_cache *cache;
	struct lives lives;

	begin(&lives, DAGPATCH_AUTO);
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
	end(&lives);
	after = live();
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

	begin(&lives, DAGPATCH_AUTO);
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
	end(&lives);
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

	begin(&lives, DAGPATCH_AUTO);
	OK(NULL, dagpatch_cache_create(
			 lives.context,
			 &DAGPATCH_SIZED(cache_options, .vote = vote_alone, .vote_user = &votes),
			 &cache));
	voting = cached(lives.context, cache);
	bind(voting, 0, lives.buffers[0][0]);
	bind(voting, 1, lives.buffers[0][1]);
	OK(voting, dagpatch_launch(voting, lives.streams[0]));
	suite_bed->stream_synchronize(lives.streams[0]);
	other = sum(lives.context, NULL, 3);
	bind_three(other, lives.buffers[0]);
	dagpatch_model_limit(dagpatch_model_held());
	scene_failed(other, dagpatch_launch(other, lives.streams[0]), -ENOMEM, "the ");
	assert_int_equal(stats_of(voting).evictions, 0);
	dagpatch_model_limit(0);
	dagpatch_recording_destroy(voting);
	dagpatch_recording_destroy(other);
	dagpatch_cache_destroy(cache);
	end(&lives);
}

enum { MANY = 5 };

static void run_and_check(struct lives *lives, struct dagpatch_recording *recording)
{
	buffer_set(lives->buffers[0][0], 0);
	OK(recording, dagpatch_launch(recording, lives->streams[0]));
	suite_bed->stream_synchronize(lives->streams[0]);
	expect_all(lives->buffers[0][0], 3);
}

static void out_of_memory(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recordings[MANY];
	struct lives lives;

	begin(&lives, strategy);
	for (uint32_t i = 0; i < MANY; i++) {
		recordings[i] = sum(lives.context, NULL, 3);
		bind_three(recordings[i], lives.buffers[0]);
	}
	run_and_check(&lives, recordings[0]);
	/* Memory for three graphs. */
	dagpatch_model_limit(3 * dagpatch_model_held());
	run_and_check(&lives, recordings[1]);
	run_and_check(&lives, recordings[2]);
	run_and_check(&lives, recordings[0]);
	assert_int_equal(stats_of(recordings[1]).evictions, 0);
	run_and_check(&lives, recordings[3]);
	assert_int_equal(stats_of(recordings[3]).memory_retries, 1);
	assert_int_equal(stats_of(recordings[3]).failures, 0);
	assert_int_equal(stats_of(recordings[1]).evictions, 1);
	/* A graph whose handle the program has read is not evicted, although it is the next
	 * candidate. */
	assert_non_null(dagpatch_recording_exec(recordings[2]));
	run_and_check(&lives, recordings[4]);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(stats_of(recordings[i]).evictions, i < 2);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++)
			run_and_check(&lives, recordings[i]);
	assert_int_equal(stats_of(recordings[2]).evictions, 0);
	/* With memory for less than one graph, eviction does not help. */
	for (uint32_t i = 0; i < MANY; i++)
		OK(recordings[i], dagpatch_evict(recordings[i]));
	dagpatch_model_limit(8);
	scene_failed(recordings[0], dagpatch_launch(recordings[0], lives.streams[0]), -ENOMEM,
		     "the ");
	dagpatch_model_limit(0);
	run_and_check(&lives, recordings[0]);
	for (uint32_t i = 0; i < MANY; i++)
		dagpatch_recording_destroy(recordings[i]);
	end(&lives);
}

static void least_recently_launched_goes(void **state)
{
	with_each_driver(out_of_memory);
}

/* The launch of each thread may evict the graphs of every other thread. */
static void *launch_many(void *argument)
{
	struct dagpatch_context *context = argument;
	uint32_t *buffers[3] = {buffer(0), buffer(1), buffer(2)};
	struct dagpatch_recording *recording = sum(context, NULL, 3);
	struct dagpatch_model_stream *stream;

	dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED, &stream);
	bind_three(recording, buffers);
	for (uint32_t i = 0; i < 50; i++) {
		int rc = dagpatch_launch(recording, stream);

		/* The only graph that fits may be in use by a call of another thread. */
		assert_true(rc == 0 || rc == -ENOMEM);
		dagpatch_model_stream_synchronize(stream);
		if (rc == 0)
			expect_all(buffers[0], 3);
		buffer_set(buffers[0], 0);
	}
	dagpatch_recording_destroy(recording);
	dagpatch_model_stream_destroy(stream);
	for (uint32_t i = 0; i < 3; i++)
		buffer_free(buffers[i]);
	return NULL;
}

static void threads_evict_each_other(void **state)
{
	enum { THREADS = 3 };
	struct dagpatch_recording *probe;
	pthread_t threads[THREADS];
	struct lives lives;

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE);
	begin(&lives, DAGPATCH_AUTO);
	probe = sum(lives.context, NULL, 3);
	bind_three(probe, lives.buffers[0]);
	run_and_check(&lives, probe);
	dagpatch_model_limit(dagpatch_model_held() * 3 / 2);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, launch_many, lives.context);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	dagpatch_model_limit(0);
	run_and_check(&lives, probe);
	dagpatch_recording_destroy(probe);
	dagpatch_model_without(suite_without);
	end(&lives);
}

/* ---- memory that is in use ---- */

static void stats_tell_what_is_held(void **state)
{
	struct dagpatch_recording *recording;
	struct dagpatch_stats stats;
	struct lives lives;
	uint64_t held;

	begin(&lives, DAGPATCH_DEVICE_TABLE);
	held = dagpatch_model_held();
	recording = sum(lives.context, in_and_out, 2);
	stats = stats_of(recording);
	assert_true(stats.host_bytes >=
		    stats.node_bytes + stats.relocation_bytes + stats.parameter_bytes);
	assert_int_equal(stats.device_bytes, 2 * WORDS * 4);
	assert_int_equal(stats.pinned_bytes, 0);
	assert_int_equal(stats.exec_bytes, 0);
	bind_three(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	stats = stats_of(recording);
	assert_true(stats.device_bytes > 2 * WORDS * 4); /* the table */
	assert_true(stats.pinned_bytes > 0);
	assert_true(stats.exec_bytes > 0);
	/* Allocations are rounded up. */
	assert_true(dagpatch_model_held() - held >= stats.device_bytes + stats.exec_bytes);
	suite_bed->stream_synchronize(lives.streams[0]);
	OK(recording, dagpatch_evict(recording));
	stats = stats_of(recording);
	assert_int_equal(stats.device_bytes, 2 * WORDS * 4);
	assert_int_equal(stats.pinned_bytes, 0);
	dagpatch_recording_destroy(recording);
	end(&lives);
}

/* Evicts a graph and launches it again while call number FAILS fails; 0: none. Returns the
 * number of calls. */
static uint64_t launch_evicted(uint64_t fails)
{
	struct dagpatch_recording *recording;
	struct lives lives;
	uint64_t calls;
	int rc;

	begin(&lives, DAGPATCH_DEVICE_TABLE);
	recording = sum(lives.context, in_and_out, 2);
	bind_three(recording, lives.buffers[0]);
	run_and_check(&lives, recording);
	OK(recording, dagpatch_evict(recording));
	bind_three(recording, lives.buffers[1]);
	calls = dagpatch_model_calls();
	dagpatch_model_fail(fails, fails ? 1 : 0);
	rc = dagpatch_launch(recording, lives.streams[1]);
	dagpatch_model_fail(0, 0);
	calls = dagpatch_model_calls() - calls;
	assert_int_equal(rc, fails ? -EIO : 0);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	end(&lives);
	return calls;
}

static void each_call_of_building_again_fails(void **state)
{
	struct dagpatch_model_live before = live(), after;
	uint64_t calls = launch_evicted(0);

	assert_true(calls > 5);
	for (uint64_t call = 1; call <= calls; call++)
		launch_evicted(call);
	after = live();
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(dagpatch_model_held(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destroyed_while_a_replay_is_queued),
		cmocka_unit_test(context_waits_for_queued_replays),
		cmocka_unit_test(built_anew_while_a_replay_is_queued),
		cmocka_unit_test(a_launch_marks_what_has_gone),
		cmocka_unit_test(what_cannot_be_told_does_not_pile_up),
		cmocka_unit_test(evicted_and_built_again),
		cmocka_unit_test(shadows_are_not_shared_by_streams),
		cmocka_unit_test(contexts_and_caches_may_go_first),
		cmocka_unit_test(ranks_vote_on_what_was_evicted),
		cmocka_unit_test(ranks_that_vote_keep_theirs),
		cmocka_unit_test(least_recently_launched_goes),
		cmocka_unit_test(threads_evict_each_other),
		cmocka_unit_test(stats_tell_what_is_held),
		cmocka_unit_test(each_call_of_building_again_fails),
	};

	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
