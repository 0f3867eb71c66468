/* Executable graphs that are evicted: by the program, or when memory runs out. */
#include <errno.h>
#include <pthread.h>

#include "replay_lives.h"

enum { MANY = 5 };

static void evict_while_queued(enum dagpatch_strategy strategy)
{
	struct dagpatch_recording *recording;
	struct dagpatch_stats stats;
	struct lives lives;
	uint64_t execs;

	lives_begin(&lives, strategy);
	execs = lives_now().execs;
	recording = lives_sum(lives.context, lives_in_and_out, 2);
	assert_int_equal(dagpatch_evict(recording), 0); /* no graph is built */
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_launch(recording, lives.streams[0]));
	OK(recording, dagpatch_evict(recording));
	assert_null(dagpatch_recording_exec(recording));
	assert_null(dagpatch_node_handle(recording, 0));
	expect_all(lives.buffers[0][0], 0);
	suite_bed->stream_synchronize(lives.streams[0]);
	expect_all(lives.buffers[0][0], 3);
	OK(recording, dagpatch_evict(recording));
	if (strategy == DAGPATCH_DEVICE_TABLE)
		assert_int_equal(lives_now().execs, execs);
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
	lives_bind(recording, lives.buffers[1]);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	expect_all(lives.buffers[1][0], 23);
	OK(recording, dagpatch_evict(recording));
	lives_bind(recording, lives.buffers[0]);
	OK(recording, dagpatch_revert(recording));
	buffer_set(lives.buffers[1][0], 0);
	OK(recording, dagpatch_launch(recording, lives.streams[1]));
	suite_bed->stream_synchronize(lives.streams[1]);
	expect_all(lives.buffers[1][0], 23);
	dagpatch_recording_destroy(recording);
	lives_end(&lives);
}

static void evicted_and_built_again(void **state)
{
	lives_with_each_driver(evict_while_queued);
}

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

	lives_begin(&lives, strategy);
	for (uint32_t i = 0; i < MANY; i++) {
		recordings[i] = lives_sum(lives.context, NULL, 3);
		lives_bind(recordings[i], lives.buffers[0]);
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
	lives_end(&lives);
}

static void least_recently_launched_goes(void **state)
{
	lives_with_each_driver(out_of_memory);
}

/* The launch of each thread may evict the graphs of every other thread. */
static void *launch_many(void *argument)
{
	struct dagpatch_context *context = argument;
	uint32_t *buffers[3] = {buffer(0), buffer(1), buffer(2)};
	struct dagpatch_recording *recording = lives_sum(context, NULL, 3);
	struct dagpatch_model_stream *stream;

	dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED, &stream);
	lives_bind(recording, buffers);
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
	lives_begin(&lives, DAGPATCH_AUTO);
	probe = lives_sum(lives.context, NULL, 3);
	lives_bind(probe, lives.buffers[0]);
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
	lives_end(&lives);
}

static void stats_tell_what_is_held(void **state)
{
	struct dagpatch_recording *recording;
	struct dagpatch_stats stats;
	struct lives lives;
	uint64_t held;

	lives_begin(&lives, DAGPATCH_DEVICE_TABLE);
	held = dagpatch_model_held();
	recording = lives_sum(lives.context, lives_in_and_out, 2);
	stats = stats_of(recording);
	assert_true(stats.host_bytes >=
		    stats.node_bytes + stats.relocation_bytes + stats.parameter_bytes);
	assert_int_equal(stats.device_bytes, 2 * WORDS * 4);
	assert_int_equal(stats.pinned_bytes, 0);
	assert_int_equal(stats.exec_bytes, 0);
	lives_bind(recording, lives.buffers[0]);
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
	lives_end(&lives);
}

/* Evicts a graph and launches it again while call number FAILS fails; 0: none. Returns the
 * number of calls. */
static uint64_t launch_evicted(uint64_t fails)
{
	struct dagpatch_recording *recording;
	struct lives lives;
	uint64_t calls;
	int rc;

	lives_begin(&lives, DAGPATCH_DEVICE_TABLE);
	recording = lives_sum(lives.context, lives_in_and_out, 2);
	lives_bind(recording, lives.buffers[0]);
	run_and_check(&lives, recording);
	OK(recording, dagpatch_evict(recording));
	lives_bind(recording, lives.buffers[1]);
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
	lives_end(&lives);
	return calls;
}

static void each_call_of_building_again_fails(void **state)
{
	struct dagpatch_model_live before = lives_now(), after;
	uint64_t calls = launch_evicted(0);

	assert_true(calls > 5);
	for (uint64_t call = 1; call <= calls; call++)
		launch_evicted(call);
	after = lives_now();
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(dagpatch_model_held(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evicted_and_built_again),
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
