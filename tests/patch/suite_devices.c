/* Two devices: recordings of either device, used by threads whose current device is either one.
 * With one device all cases are skipped. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

enum { DEVICES = 2, ON_EACH = 2, THREADS = DEVICES * 2, SCENES = DEVICES * ON_EACH };

static uint64_t devices_seed;
static uint32_t devices_rounds;

/* ---- launches of four threads ---- */

struct shared {
	pthread_mutex_t lock; /* one thread at a time uses a recording */
	struct scene scene;
	struct world *world;
};

static struct shared shared[SCENES];

struct user {
	pthread_t thread;
	uint32_t device;
	uint64_t state;
};

static struct dagpatch_context *context_on(uint32_t device)
{
	struct dagpatch_context *context;
	struct dagpatch_error error;

	suite_bed->device_set(device);
	if (dagpatch_context_create(&DAGPATCH_SIZED(options, .driver = suite_bed->driver,
						    .strategy = suite_strategy, .verify = 1),
				    &context, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(suite_bed->device_current(), device);
	return context;
}

static uint32_t draw(struct user *user, uint32_t limit)
{
	user->state = user->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((user->state >> 33) % limit);
}

static void *use(void *argument)
{
	struct user *user = argument;

	suite_bed->device_set(user->device);
	for (uint32_t i = 0; i < devices_rounds / THREADS; i++) {
		struct shared *at = &shared[draw(user, SCENES)];

		pthread_mutex_lock(&at->lock);
		world_round(at->world);
		pthread_mutex_unlock(&at->lock);
		assert_int_equal(suite_bed->device_current(), user->device);
	}
	return NULL;
}

/* Two threads for each device and two recordings of each device. Each round draws the recording
 * of a thread, so in half of the rounds the current device is not the recording's. */
static void threads_of_either_device(void **state)
{
	struct dagpatch_context *contexts[DEVICES];
	struct user users[THREADS];

	for (uint32_t i = 0; i < DEVICES; i++)
		contexts[i] = context_on(i);
	for (uint32_t i = 0; i < SCENES; i++) {
		struct scene *scene = &shared[i].scene;

		*scene = (struct scene){
			.device = i % DEVICES, .context = contexts[i % DEVICES], .is_shared = true};
		suite_bed->device_set(scene->device);
		scene->stream = suite_bed->stream_create();
		shared[i].world = world_create(scene, devices_seed + i);
		pthread_mutex_init(&shared[i].lock, NULL);
	}
	suite_bed->device_set(0);
	threads_begin();
	for (uint32_t i = 0; i < THREADS; i++) {
		users[i] = (struct user){.device = i % DEVICES, .state = devices_seed * 31 + i};
		assert_int_equal(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(users[i].thread, NULL);
	threads_end();
	for (uint32_t i = 0; i < SCENES; i++) {
		world_destroy(shared[i].world);
		dagpatch_recording_destroy(shared[i].scene.recording);
		suite_bed->device_set(shared[i].scene.device);
		suite_bed->stream_destroy(shared[i].scene.stream);
		suite_bed->device_set(0);
		pthread_mutex_destroy(&shared[i].lock);
	}
	for (uint32_t i = 0; i < DEVICES; i++)
		dagpatch_context_destroy(contexts[i]);
	assert_int_equal(suite_bed->device_current(), 0);
}

/* ---- one thread whose current device is the other one ---- */

/* The scene is on device 1, and the thread keeps device 0 current in all calls. */
static int away_setup(void **state)
{
	suite_bed->device_set(1);
	scene_setup(state);
	suite_bed->device_set(0);
	return 0;
}

static int away_teardown(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(suite_bed->device_current(), 0);
	dagpatch_recording_destroy(scene->recording);
	scene->recording = NULL;
	assert_int_equal(suite_bed->device_current(), 0);
	suite_bed->device_set(1);
	scene_teardown(state);
	suite_bed->device_set(0);
	return 0;
}

#define AWAY(name) cmocka_unit_test_setup_teardown(name, away_setup, away_teardown)

static uint32_t *buffer_of(const struct scene *scene, uint32_t value)
{
	uint32_t before = scene_visit(scene);
	uint32_t *made = buffer(value);

	device_back(before);
	return made;
}

#define expect_of(scene, buffer, value) expect_at(scene, buffer, value, __FILE__, __LINE__)

static void expect_at(const struct scene *scene, const uint32_t *buffer, uint32_t value,
		      const char *file, int line)
{
	uint32_t before = scene_visit(scene);

	expect_words(buffer, WORDS, value, file, line);
	device_back(before);
}

static void free_of(const struct scene *scene, void *buffer)
{
	uint32_t before = scene_visit(scene);

	buffer_free(buffer);
	device_back(before);
}

/* out = in + in */
struct doubling {
	uint32_t in, out;
	uint32_t *in_at[2], *out_at[2];
};

static int capture_double(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, 1, WORDS,
				 (void *[]){(void *)&addresses[1], (void *)&addresses[0],
					    (void *)&addresses[0], &count})
		       ? -EIO
		       : 0;
}

static void record_double(struct scene *scene, dagpatch_capture_fn record,
			  struct dagpatch_cache *cache, struct doubling *doubling)
{
	struct dagpatch_recording *recording = scene->recording;

	doubling->in = slot(recording, "in");
	doubling->out = slot(recording, "out");
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record,
						 .slots = (uint32_t[]){doubling->in, doubling->out},
						 .slot_count = 2, .cache = cache,
						 .flags = cache ? DAGPATCH_RECAPTURE : 0),
				 NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		doubling->in_at[i] = buffer_of(scene, 3 + i);
		doubling->out_at[i] = buffer_of(scene, 0);
	}
}

static void bind_double(struct scene *scene, const struct doubling *doubling, uint32_t which)
{
	bind(scene->recording, doubling->in, doubling->in_at[which]);
	bind(scene->recording, doubling->out, doubling->out_at[which]);
}

static void free_double(const struct scene *scene, const struct doubling *doubling)
{
	for (uint32_t i = 0; i < 2; i++) {
		free_of(scene, doubling->in_at[i]);
		free_of(scene, doubling->out_at[i]);
	}
}

/* The message has both device numbers. Nothing is applied, and the next launch works as if the
 * failed one had not been made. */
static void stream_of_another_device(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	void *other = suite_bed->stream_create();
	struct doubling doubling;

	record_double(scene, capture_double, NULL, &doubling);
	bind_double(scene, &doubling, 0);
	scene_run(scene);
	expect_of(scene, doubling.out_at[0], 6);
	bind_double(scene, &doubling, 1);
	scene_failed(scene->recording, dagpatch_launch(scene->recording, other), -EINVAL,
		     "the stream is of device 0, the recording of device 1");
	assert_int_equal(dagpatch_recording_stats(scene->recording, &stats), 0);
	assert_int_equal(stats.launches, 1);
	suite_bed->stream_synchronize(other);
	expect_of(scene, doubling.out_at[1], 0);
	scene_run(scene);
	expect_of(scene, doubling.out_at[1], 8);
	suite_bed->stream_destroy(other);
	free_double(scene, &doubling);
}

/* NULL, and the per-thread stream if the driver has one, mean the stream of the recording's
 * device. */
static void streams_without_a_handle(void **state)
{
	struct scene *scene = *state;
	void *streams[2] = {NULL, suite_bed->per_thread_stream};
	struct doubling doubling;

	record_double(scene, capture_double, NULL, &doubling);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t before;

		bind_double(scene, &doubling, i);
		OK(scene->recording, dagpatch_launch(scene->recording, streams[i]));
		before = scene_visit(scene);
		suite_bed->stream_synchronize(streams[i]);
		device_back(before);
		expect_of(scene, doubling.out_at[i], i ? 8 : 6);
	}
	free_double(scene, &doubling);
}

static int capture_and_leave(void *user, void *stream, void *const *addresses)
{
	int *mood = user;
	int rc = capture_double(NULL, stream, addresses);

	assert_int_equal(suite_bed->device_current(), 1);
	suite_bed->device_set(0);
	return *mood ? *mood : rc;
}

/* Callbacks run with the recording's device current. A callback that makes another device
 * current, or fails, must do no harm. */
static void callbacks_that_change_the_device(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t slots[] = {slot(recording, "in"), slot(recording, "out")};
	uint32_t *in = buffer_of(scene, 3), *out = buffer_of(scene, 0);
	int mood = -EPERM;
	struct dagpatch_capture capture =
		DAGPATCH_SIZED(capture, .record = capture_and_leave, .user = &mood, .slots = slots,
			       .slot_count = 2);

	scene_failed(recording, dagpatch_add_captured(recording, &capture, NULL, NULL), -EPERM,
		     "callback");
	assert_int_equal(suite_bed->device_current(), 0);
	mood = 0;
	OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], in);
	bind(recording, slots[1], out);
	scene_run(scene); /* this also verifies */
	expect_of(scene, out, 6);
	assert_int_equal(suite_bed->device_current(), 0);
	free_of(scene, in);
	free_of(scene, out);
}

/* A cache of one graph: capturing, evicting and destroying happen on the recording's device. */
static void cache_of_another_device(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
	struct dagpatch_cache *cache;
	struct doubling doubling;

	assert_int_equal(dagpatch_cache_create(scene->context,
					       &DAGPATCH_SIZED(cache_options, .capacity = 1),
					       &cache),
			 0);
	record_double(scene, capture_double, cache, &doubling);
	for (uint32_t i = 0; i < 4; i++) {
		bind_double(scene, &doubling, i % 2);
		scene_run(scene);
		expect_of(scene, doubling.out_at[i % 2], i % 2 ? 8 : 6);
	}
	assert_int_equal(dagpatch_cache_stats(cache, &stats), 0);
	assert_int_equal(stats.evictions, 3);
	dagpatch_recording_destroy(scene->recording);
	scene->recording = NULL;
	dagpatch_cache_destroy(cache);
	assert_int_equal(suite_bed->device_current(), 0);
	free_double(scene, &doubling);
}

static void *capture_at(const struct scene *scene, void *const *addresses)
{
	uint32_t before = scene_visit(scene);
	void *graph;

	suite_bed->capture_begin(scene->stream);
	assert_int_equal(capture_double(NULL, scene->stream, addresses), 0);
	graph = suite_bed->capture_end(scene->stream);
	device_back(before);
	return graph;
}

static void adopted_on_another_device(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct doubling doubling;
	void *graphs[2], *sets[2][2];

	scene_again(scene, 0);
	recording = scene->recording;
	doubling.in = slot(recording, "in");
	doubling.out = slot(recording, "out");
	for (uint32_t i = 0; i < 2; i++) {
		sets[i][0] = doubling.in_at[i] = buffer_of(scene, 3 + i);
		sets[i][1] = doubling.out_at[i] = buffer_of(scene, 0);
		graphs[i] = capture_at(scene, sets[i]);
	}
	OK(recording, dagpatch_adopt(recording, &DAGPATCH_SIZED(adoption, .graph = graphs[0],
								.addresses = {sets[0], sets[1]},
								.other_graph = graphs[1])));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind_double(scene, &doubling, i);
		scene_run(scene);
		expect_of(scene, doubling.out_at[i], i ? 8 : 6);
		suite_bed->graph_destroy(graphs[i]);
	}
	free_double(scene, &doubling);
}

static int count_bytes(void *user, const char *text, size_t bytes)
{
	*(size_t *)user += bytes;
	return 0;
}

/* The capture is on the recording's device and the thread that launches into it has the other
 * device current. The dump also asks the driver for kernel names. */
static void captured_on_another_device(void **state)
{
	struct scene *scene = *state;
	struct doubling doubling;
	size_t dumped = 0;
	uint32_t before;
	void *graph, *exec;

	record_double(scene, capture_double, NULL, &doubling);
	bind_double(scene, &doubling, 0);
	before = scene_visit(scene);
	suite_bed->capture_begin(scene->stream);
	device_back(before);
	OK(scene->recording, dagpatch_launch(scene->recording, scene->stream));
	assert_int_equal(suite_bed->device_current(), 0);
	OK(scene->recording,
	   dagpatch_dump(scene->recording, DAGPATCH_DUMP_TEXT, count_bytes, &dumped));
	assert_true(dumped > 0);
	assert_int_equal(suite_bed->device_current(), 0);
	before = scene_visit(scene);
	graph = suite_bed->capture_end(scene->stream);
	exec = suite_bed->instantiate(graph);
	suite_bed->graph_destroy(graph);
	suite_bed->exec_launch(exec, scene->stream);
	suite_bed->stream_synchronize(scene->stream);
	suite_bed->exec_destroy(exec);
	device_back(before);
	expect_of(scene, doubling.out_at[0], 6);
	free_double(scene, &doubling);
}

/* A thread's current device after its first launch is the same as before its first driver call. */
static void *launch_at_first(void *argument)
{
	struct scene *scene = argument;
	uint32_t before = suite_bed->device_current();

	OK(scene->recording, dagpatch_launch(scene->recording, scene->stream));
	assert_int_equal(suite_bed->device_current(), before);
	return NULL;
}

static void thread_that_has_chosen_no_device(void **state)
{
	struct scene *scene = *state;
	struct doubling doubling;
	pthread_t thread;

	record_double(scene, capture_double, NULL, &doubling);
	bind_double(scene, &doubling, 0);
	assert_int_equal(pthread_create(&thread, NULL, launch_at_first, scene), 0);
	pthread_join(thread, NULL);
	scene_wait(scene);
	expect_of(scene, doubling.out_at[0], 6);
	free_double(scene, &doubling);
}

static void caches_and_children_of_another_context(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_context *other = context_on(0);
	struct dagpatch_cache *cache;
	uint32_t slots[] = {slot(scene->recording, "in"), slot(scene->recording, "out")};

	assert_int_equal(dagpatch_cache_create(other, &DAGPATCH_SIZED(cache_options), &cache), 0);
	scene_failed(
		scene->recording,
		dagpatch_add_captured(scene->recording,
				      &DAGPATCH_SIZED(capture, .record = capture_double,
						      .slots = slots, .slot_count = 2,
						      .cache = cache, .flags = DAGPATCH_RECAPTURE),
				      NULL, NULL),
		-EINVAL, "another context");
	dagpatch_cache_destroy(cache);
	dagpatch_context_destroy(other);
}

int suite_devices(uint64_t seed, uint32_t rounds)
{
	const struct CMUnitTest tests[] = {
		AWAY(stream_of_another_device),
		AWAY(streams_without_a_handle),
		AWAY(callbacks_that_change_the_device),
		AWAY(cache_of_another_device),
		AWAY(adopted_on_another_device),
		AWAY(captured_on_another_device),
		AWAY(thread_that_has_chosen_no_device),
		AWAY(caches_and_children_of_another_context),
		cmocka_unit_test(threads_of_either_device),
	};
	int failed;

	if (!suite_bed->device_count || suite_bed->device_count() < DEVICES)
		return 0;
	devices_seed = seed;
	devices_rounds = rounds;
	failed = cmocka_run_group_tests_name("devices", tests, NULL, NULL);
	/* The model counts calls that were made with another device current; other drivers
	 * report none. */
	if (dagpatch_model_misplaced() > 0) {
		print_error("%llu calls on another device\n",
			    (unsigned long long)dagpatch_model_misplaced());
		failed++;
	}
	return failed;
}
