/* What several threads may do at once (dagpatch.h, "Threading"), on the model device. Meant for
 * ThreadSanitizer, which reports two threads that use one graph (model_parts.h). */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

enum { THREADS = 4, TURNS = 50, SETS = 3 };

struct worker {
	pthread_t thread;
	uint32_t number;
	struct scene *scene;
	struct dagpatch_cache *cache;	   /* shared */
	struct dagpatch_recording *nested; /* shared */
	pthread_barrier_t *start;
};

static void run_workers(struct scene *scene, void *(*body)(void *), struct dagpatch_cache *cache,
			struct dagpatch_recording *nested)
{
	struct worker workers[THREADS];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.number = i,
					     .scene = scene,
					     .cache = cache,
					     .nested = nested,
					     .start = &start};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&start);
}

/* Captures out = in + in. */
static int capture_double(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, 1, WORDS,
				 (void *[]){(void *)&addresses[1], (void *)&addresses[0],
					    (void *)&addresses[0], &count})
		       ? -EIO
		       : 0;
}

static void add_double(struct dagpatch_recording *recording, struct dagpatch_cache *cache)
{
	uint32_t slots[] = {slot(recording, "in"), slot(recording, "out")};

	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = capture_double, .slots = slots,
						 .slot_count = 2, .cache = cache,
						 .flags = cache ? DAGPATCH_RECAPTURE : 0,
						 .key = cache ? "double" : NULL,
						 .key_bytes = cache ? 6 : 0),
				 NULL, NULL));
}

static void run_at(struct dagpatch_recording *recording, void *stream, uint32_t *in, uint32_t *out)
{
	bind(recording, 0, in);
	bind(recording, 1, out);
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	expect_all(out, 2 * in[0]);
	buffer_set(out, 0);
}

/* ---- one context and one cache, each thread with its own recordings ---- */

static uint32_t *shared_in[SETS];

/* All threads want the same few graphs from a cache of two; every turn is the whole life of a
 * recording. */
static void *live(void *argument)
{
	struct worker *worker = argument;
	void *stream = suite_bed->stream_create();
	uint32_t *out = buffer(0);

	pthread_barrier_wait(worker->start);
	for (uint32_t i = 0; i < TURNS; i++) {
		struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
		struct dagpatch_recording *recording;

		OK(NULL, dagpatch_recording_create(worker->scene->context, 0, &recording));
		add_double(recording, i % 3 ? worker->cache : NULL);
		OK(recording, dagpatch_finalize(recording));
		for (uint32_t j = 0; j < SETS; j++)
			run_at(recording, stream, shared_in[(worker->number + i + j) % SETS], out);
		OK(recording, dagpatch_verify(recording));
		assert_int_equal(dagpatch_cache_stats(worker->cache, &stats), 0);
		dagpatch_recording_destroy(recording);
	}
	suite_bed->stream_destroy(stream);
	buffer_free(out);
	return NULL;
}

static void recordings_in_threads_of_their_own(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_cache *cache;

	for (uint32_t i = 0; i < SETS; i++)
		shared_in[i] = buffer(5 + i);
	assert_int_equal(dagpatch_cache_create(scene->context,
					       &DAGPATCH_SIZED(cache_options, .capacity = 2),
					       &cache),
			 0);
	run_workers(scene, live, cache, NULL);
	dagpatch_cache_destroy(cache);
}

/* All threads use one graph, so several of them have the same graph in use at once; the cache is
 * filled first. */
static void *launch_same(void *argument)
{
	struct worker *worker = argument;
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();

	OK(NULL, dagpatch_recording_create(worker->scene->context, 0, &recording));
	add_double(recording, worker->cache);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, 0, shared_in[0]);
	bind(recording, 1, shared_in[1]);
	pthread_barrier_wait(worker->start);
	for (uint32_t i = 0; i < TURNS; i++)
		OK(recording, dagpatch_apply(recording));
	dagpatch_recording_destroy(recording);
	suite_bed->stream_destroy(stream);
	return NULL;
}

static void one_graph_of_a_cache(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
	struct dagpatch_cache *cache;

	shared_in[0] = buffer(5);
	shared_in[1] = buffer(0);
	assert_int_equal(
		dagpatch_cache_create(scene->context, &DAGPATCH_SIZED(cache_options), &cache), 0);
	add_double(scene->recording, cache);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	run_at(scene->recording, scene->stream, shared_in[0], shared_in[1]);
	run_workers(scene, launch_same, cache, NULL);
	assert_int_equal(dagpatch_cache_stats(cache, &stats), 0);
	assert_int_equal(stats.misses, 1);
	assert_int_equal(stats.hits, THREADS);
	scene_again(scene, 0);
	dagpatch_cache_destroy(cache);
}

/* ---- one nested recording that all threads add to theirs ---- */

static void *nest(void *argument)
{
	struct worker *worker = argument;
	void *stream = suite_bed->stream_create();
	uint32_t *in = buffer(worker->number + 1), *out = buffer(0);

	pthread_barrier_wait(worker->start);
	for (uint32_t i = 0; i < TURNS; i++) {
		struct dagpatch_recording *recording;
		struct dagpatch_mapping mappings[] = {{0, 0}, {1, 0}};

		OK(NULL, dagpatch_recording_create(worker->scene->context, 0, &recording));
		slot(recording, "in");
		slot(recording, "out");
		OK(recording,
		   dagpatch_add_child(recording,
				      &DAGPATCH_SIZED(child, worker->nested, mappings, 2), NULL,
				      NULL));
		OK(recording, dagpatch_finalize(recording));
		run_at(recording, stream, in, out);
		dagpatch_recording_destroy(recording);
	}
	suite_bed->stream_destroy(stream);
	buffer_free(in);
	buffer_free(out);
	return NULL;
}

static void one_nested_recording(void **state)
{
	struct scene *scene = *state;

	scene_again(scene, DAGPATCH_NESTED);
	add_double(scene->recording, NULL);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	run_workers(scene, nest, NULL, scene->recording);
}

/* ---- one recording that the threads pass on ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	uint32_t turn; /* thread TURN % THREADS owns the recording */
	uint32_t *in, *out;
} hands = {.lock = PTHREAD_MUTEX_INITIALIZER, .passed = PTHREAD_COND_INITIALIZER};

/* A thread holds the lock to pass the recording on, not while it uses it. The last thread
 * destroys it. */
static void *take_turns(void *argument)
{
	struct worker *worker = argument;
	struct scene *scene = worker->scene;

	dagpatch_model_device_set(worker->number % DAGPATCH_MODEL_DEVICES);
	for (uint32_t i = 0; i < TURNS; i++) {
		uint32_t turn = i * THREADS + worker->number;

		pthread_mutex_lock(&hands.lock);
		while (hands.turn != turn)
			pthread_cond_wait(&hands.passed, &hands.lock);
		pthread_mutex_unlock(&hands.lock);
		run_at(scene->recording, scene->stream, hands.in + turn % 2 * WORDS, hands.out);
		OK(scene->recording, dagpatch_verify(scene->recording));
		if (turn == TURNS * THREADS - 1)
			scene_again(scene, 0);
		pthread_mutex_lock(&hands.lock);
		hands.turn++;
		pthread_cond_broadcast(&hands.passed);
		pthread_mutex_unlock(&hands.lock);
	}
	return NULL;
}

static void one_recording_from_hand_to_hand(void **state)
{
	struct scene *scene = *state;

	hands.turn = 0;
	hands.in = device_memory(2 * WORDS * sizeof(*hands.in));
	buffer_set(hands.in, 7);
	buffer_set(hands.in + WORDS, 9);
	hands.out = buffer(0);
	add_double(scene->recording, NULL);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	run_workers(scene, take_turns, NULL, NULL);
}

/* ---- calls on the context itself ---- */

static void do_nothing(const void *arguments, const uint32_t grid[3], const uint32_t block[3])
{
}

static void *describe(void *argument)
{
	static const struct dagpatch_parameter parameter = {0, 8, DAGPATCH_PARAMETER_POINTER};
	struct worker *worker = argument;
	struct dagpatch_model_kernel *kernels[TURNS];

	pthread_barrier_wait(worker->start);
	for (uint32_t i = 0; i < TURNS; i++) {
		struct dagpatch_cache *cache;

		assert_int_equal(
			dagpatch_model_kernel_create(do_nothing, &parameter, 1, &kernels[i]), 0);
		assert_int_equal(
			dagpatch_kernel_describe(worker->scene->context, kernels[i], &parameter, 1),
			0);
		assert_int_equal(dagpatch_kernel_describe(worker->scene->context,
							  suite_bed->function(BED_KERNELS - 1),
							  &parameter, 1),
				 -EEXIST);
		assert_int_equal(dagpatch_cache_create(worker->scene->context,
						       &DAGPATCH_SIZED(cache_options), &cache),
				 0);
		dagpatch_cache_destroy(cache);
	}
	/* The context knows the kernels by their addresses, so no kernel is destroyed until all
	 * are described. */
	pthread_barrier_wait(worker->start);
	for (uint32_t i = 0; i < TURNS; i++)
		dagpatch_model_kernel_destroy(kernels[i]);
	return NULL;
}

static void a_contexts_own_calls(void **state)
{
	struct scene *scene = *state;
	static const struct dagpatch_parameter other[] = {{0, 8, DAGPATCH_PARAMETER_POINTER},
							  {8, 8, DAGPATCH_PARAMETER_POINTER}};

	assert_int_equal(dagpatch_kernel_describe(scene->context,
						  suite_bed->function(BED_KERNELS - 1), other, 2),
			 0);
	run_workers(scene, describe, NULL, NULL);
}

/* ---- replays that other threads run ---- */

/* Records COUNT kernels in a chain, out = in + in, alternating between two slots. */
static struct dagpatch_recording *chain(struct dagpatch_context *context, uint32_t count)
{
	struct dagpatch_recording *recording;
	uint32_t slots[2], node = 0;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "even");
	slots[1] = slot(recording, "odd");
	for (uint32_t i = 0; i < count; i++)
		node = add_three(recording, BED_ADD,
				 (uint32_t[]){slots[i % 2], slots[1 - i % 2], slots[1 - i % 2]},
				 i ? AFTER(node) : NULL);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

enum { ROUNDS = 200 };

static void *launch_own(void *argument)
{
	struct worker *worker = argument;
	struct dagpatch_recording *recording = chain(worker->scene->context, 8);
	uint32_t *buffers[3] = {buffer(1), buffer(0), buffer(0)}, words[WORDS];
	struct dagpatch_model_stream *stream;

	OK(NULL, dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED, &stream));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		buffer_set(buffers[0], 1);
		bind(recording, 1, buffers[0]);
		bind(recording, 0, buffers[1 + i % 2]);
		OK(recording, dagpatch_launch(recording, stream));
		OK(NULL, dagpatch_model_stream_synchronize(stream));
		suite_bed->read(words, buffers[0], sizeof(words));
		assert_int_equal(words[WORDS - 1], 256);
	}
	dagpatch_model_stream_destroy(stream);
	dagpatch_recording_destroy(recording);
	for (uint32_t i = 0; i < 3; i++)
		buffer_free(buffers[i]);
	return NULL;
}

static void replays_on_threads_of_their_own(void **state)
{
	struct scene *scene = *state;

	scene_create(scene, &(struct dagpatch_options){0});
	run_workers(scene, launch_own, NULL, NULL);
}

static void add_mark(struct dagpatch_recording *recording, uint32_t to, uint32_t flags,
		     struct dagpatch_cache *cache)
{
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = capture_mark, .slots = &to,
						 .slot_count = 1, .flags = flags, .cache = cache),
				 NULL, NULL));
}

enum { PLACES = 4 };

static uint32_t *places[PLACES];
static struct dagpatch_recording *sharing[THREADS];

/* Records captured work that copies of a nested recording and the entries of a cache share. */
static struct dagpatch_recording *share(struct dagpatch_context *context,
					const struct dagpatch_recording *nested,
					struct dagpatch_cache *cache)
{
	struct dagpatch_recording *recording;
	uint32_t to;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	OK(recording,
	   dagpatch_add_child(recording,
			      &DAGPATCH_SIZED(child, nested, &(struct dagpatch_mapping){to, 0}, 1),
			      NULL, NULL));
	add_mark(recording, to, DAGPATCH_RECAPTURE, cache);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

static void *apply_shared(void *argument)
{
	struct worker *worker = argument;
	struct dagpatch_recording *recording = sharing[worker->number];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		bind(recording, 0, places[i % PLACES]);
		OK(recording, dagpatch_apply(recording));
	}
	return NULL;
}

static void threads_share_what_was_captured(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
	struct dagpatch_cache *cache;

	scene_create(scene, &(struct dagpatch_options){.strategy = DAGPATCH_SET_PARAMS});
	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = buffer(0);
	OK(NULL, dagpatch_cache_create(scene->context,
				       &DAGPATCH_SIZED(cache_options, .capacity = 3), &cache));
	scene_again(scene, DAGPATCH_NESTED);
	add_mark(scene->recording, slot(scene->recording, "inner"), 0, NULL);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	for (uint32_t i = 0; i < THREADS; i++)
		sharing[i] = share(scene->context, scene->recording, cache);
	scene_again(scene, 0);
	run_workers(scene, apply_shared, cache, NULL);
	OK(NULL, dagpatch_cache_stats(cache, &stats));
	assert_int_equal(stats.hits + stats.misses, THREADS * ROUNDS);
	assert_int_equal(stats.entries, 3);
	for (uint32_t i = 0; i < THREADS; i++)
		dagpatch_recording_destroy(sharing[i]);
	dagpatch_cache_destroy(cache);
}

/* On a stream with a thread of its own: addresses are bound while the last replay runs. */
static void bound_while_a_replay_runs(void **state)
{
	static const enum dagpatch_strategy strategies[] = {
		DAGPATCH_SET_PARAMS, DAGPATCH_DEVICE_TABLE, DAGPATCH_UPDATE_GRAPH};
	struct scene *scene = *state;

	for (uint32_t i = 0; i < 3; i++) {
		struct dagpatch_recording *recording;
		struct dagpatch_model_stream *stream;
		uint32_t *buffers[32], words[WORDS];

		scene_create(scene, &(struct dagpatch_options){.strategy = strategies[i],
							       .table_versions = 4});
		recording = chain(scene->context, 6);
		OK(NULL, dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED, &stream));
		for (uint32_t j = 0; j < 32; j++)
			buffers[j] = buffer(1);
		for (uint32_t j = 0; j < 32; j += 2) {
			bind(recording, 0, buffers[j]);
			bind(recording, 1, buffers[j + 1]);
			OK(recording, dagpatch_launch(recording, stream));
		}
		OK(NULL, dagpatch_model_stream_synchronize(stream));
		for (uint32_t j = 0; j < 32; j++) {
			suite_bed->read(words, buffers[j], sizeof(words));
			assert_int_equal(words[0], j % 2 ? 64 : 32);
		}
		dagpatch_model_stream_destroy(stream);
		dagpatch_recording_destroy(recording);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(recordings_in_threads_of_their_own),
		SCENE(one_graph_of_a_cache),
		SCENE(one_nested_recording),
		SCENE(one_recording_from_hand_to_hand),
		SCENE(a_contexts_own_calls),
		SCENE(replays_on_threads_of_their_own),
		SCENE(threads_share_what_was_captured),
		SCENE(bound_while_a_replay_runs),
	};
	int failed;

	suite_bed = &bed_model;
	if (suite_bed->open() != 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed != 0 || dagpatch_model_misplaced() > 0;
}
