/* Work that is captured again whenever its addresses change (recapture): with a cache (CM-8), as
 * a collective, and beside work that is patched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

/* What a capture callback does; it gets the addresses of its slots. */
struct work {
	int (*record)(struct work *work, void *stream, void *const *addresses);
	uint32_t calls;
};

static int record_work(void *user, void *stream, void *const *addresses)
{
	struct work *work = user;

	work->calls++;
	return work->record(work, stream, addresses);
}

static int launch(void *stream, enum bed_kernel kernel, void *const addresses[3])
{
	uint32_t count = WORDS;
	void *parameters[] = {(void *)&addresses[0], (void *)&addresses[1], (void *)&addresses[2],
			      &count};

	return suite_bed->launch(stream, kernel, 2, WORDS / 2, parameters) ? -EIO : 0;
}

static int record_add(struct work *work, void *stream, void *const *addresses)
{
	return launch(stream, BED_ADD, addresses);
}

/* Captures d = c * c. */
static int record_square(struct work *work, void *stream, void *const *addresses)
{
	return launch(stream, BED_MUL, (void *[]){addresses[0], addresses[1], addresses[1]});
}

static int record_more_each_time(struct work *work, void *stream, void *const *addresses)
{
	void *const same[3] = {addresses[0], addresses[0], addresses[0]};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < work->calls; i++)
		rc = launch(stream, BED_ADD, same);
	return rc;
}

/* CM-8: a cache of two entries. */
static void captured_anew_through_a_cache(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
	struct work work = {.record = record_add};
	uint32_t *buffers[5] = {buffer(1), buffer(2), buffer(0), buffer(0), buffer(0)};
	uint32_t slots[3] = {slot(recording, "c"), slot(recording, "a"), slot(recording, "b")};
	struct dagpatch_cache *cache;
	/* The buffer of the result, and the number of captures up to then. */
	static const uint32_t steps[][2] = {{2, 1}, {2, 1}, {3, 2}, {2, 2}, {4, 3}, {2, 3}, {3, 4}};

	OK(NULL, dagpatch_cache_create(
			 scene->context,
			 &(struct dagpatch_cache_options){
				 .size = sizeof(struct dagpatch_cache_options), .capacity = 2},
			 &cache));
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = &work,
						 .slots = slots, .slot_count = 3,
						 .flags = DAGPATCH_RECAPTURE, .cache = cache),
				 NULL, NULL));
	assert_int_equal(work.calls, 0);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[1], buffers[0]);
	bind(recording, slots[2], buffers[1]);
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		buffer_set(buffers[steps[i][0]], 0);
		bind(recording, slots[0], buffers[steps[i][0]]);
		scene_run(scene);
		expect_all(buffers[steps[i][0]], 3);
		assert_int_equal(work.calls, steps[i][1]);
	}
	OK(NULL, dagpatch_cache_stats(cache, &stats));
	assert_int_equal(stats.misses, 4);
	assert_int_equal(stats.hits, 2);
	assert_int_equal(stats.evictions, 2);
	assert_int_equal(stats.entries, 2);
	scene_again(scene, 0);
	dagpatch_cache_destroy(cache);
}

/* ---- how work in a cache is identified ---- */

static struct dagpatch_cache *make_cache(struct scene *scene)
{
	struct dagpatch_cache *cache;

	OK(NULL, dagpatch_cache_create(scene->context, &DAGPATCH_SIZED(cache_options, .vote = NULL),
				       &cache));
	return cache;
}

static uint64_t entries_of(struct dagpatch_cache *cache)
{
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};

	OK(NULL, dagpatch_cache_stats(cache, &stats));
	return stats.entries;
}

/* A recording of WORK in CACHE on c, a and b. KEY identifies the work; NULL: the callback
 * identifies it. */
static struct dagpatch_recording *record_cached(struct scene *scene, struct dagpatch_cache *cache,
						struct work *work,
						const struct dagpatch_collective *collective,
						const char *key)
{
	struct dagpatch_recording *recording;
	char *bytes = key ? strdup(key) : NULL;
	uint32_t slots[3];

	OK(NULL, dagpatch_recording_create(scene->context, 0, &recording));
	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(recording, NULL);
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = work,
						 .slots = slots, .slot_count = 3,
						 .flags = DAGPATCH_RECAPTURE,
						 .collective = collective, .cache = cache,
						 .key = bytes, .key_bytes = key ? strlen(key) : 0),
				 NULL, NULL));
	/* dagpatch must have copied the key. */
	if (bytes)
		memset(bytes, 'x', strlen(bytes));
	free(bytes);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

/* Launches at these buffers and checks that the first one then holds RESULT. */
static void expect_cached(struct scene *scene, struct dagpatch_recording *recording,
			  uint32_t *const buffers[3], uint32_t result)
{
	buffer_set(buffers[0], 0);
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	OK(recording, dagpatch_launch(recording, scene->stream));
	suite_bed->stream_synchronize(scene->stream);
	expect_all(buffers[0], result);
}

static int record_product(struct work *work, void *stream, void *const *addresses)
{
	return launch(stream, BED_MUL, addresses);
}

/* The callback's memory is reused for other work at the same addresses; the cache must not
 * return the old capture. */
static void a_cache_does_not_outlive_its_work(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_cache *cache = make_cache(scene);
	struct work work = {.record = record_add};
	uint32_t *buffers[3] = {buffer(0), buffer(3), buffer(4)};
	struct dagpatch_recording *recording = record_cached(scene, cache, &work, NULL, NULL);

	expect_cached(scene, recording, buffers, 7);
	assert_int_equal(entries_of(cache), 1);
	dagpatch_recording_destroy(recording);
	assert_int_equal(entries_of(cache), 0);
	work.record = record_product;
	recording = record_cached(scene, cache, &work, NULL, NULL);
	expect_cached(scene, recording, buffers, 12);
	dagpatch_recording_destroy(recording);
	dagpatch_cache_destroy(cache);
}

/* Two collectives with the same communicator, count and type need not be the same work, because
 * their callbacks may differ. */
static void collectives_alike_are_not_the_same_work(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_collective collective = DAGPATCH_SIZED(collective, .communicator = 1);
	struct dagpatch_cache *cache = make_cache(scene);
	struct work works[2] = {{.record = record_add}, {.record = record_product}};
	uint32_t *buffers[3] = {buffer(0), buffer(3), buffer(4)};
	struct dagpatch_recording *recordings[2];

	for (uint32_t i = 0; i < 2; i++) {
		recordings[i] = record_cached(scene, cache, &works[i], &collective, NULL);
		expect_cached(scene, recordings[i], buffers, i ? 12 : 7);
		assert_int_equal(works[i].calls, 1);
	}
	for (uint32_t i = 0; i < 2; i++)
		dagpatch_recording_destroy(recordings[i]);
	dagpatch_cache_destroy(cache);
}

/* Work with the same key is the same work in every recording; work with another key is not. */
static void named_work_is_shared(void **state)
{
	static const char *const keys[] = {"gemm", "gemm", "gemm 2", "gem", "gemm"};
	static const uint32_t calls[] = {1, 0, 1, 1, 1};
	struct scene *scene = *state;
	struct dagpatch_collective collective = DAGPATCH_SIZED(collective, .communicator = 1);
	struct dagpatch_cache *cache = make_cache(scene);
	uint32_t *buffers[3] = {buffer(0), buffer(3), buffer(4)};

	for (uint32_t i = 0; i < 5; i++) {
		struct work work = {.record = record_add};
		struct dagpatch_recording *recording =
			record_cached(scene, cache, &work, i == 4 ? &collective : NULL, keys[i]);

		expect_cached(scene, recording, buffers, 7);
		assert_int_equal(work.calls, calls[i]);
		dagpatch_recording_destroy(recording);
	}
	assert_int_equal(entries_of(cache), 4);
	assert_int_equal(dagpatch_cache_drop(cache, "gemm", 4), 2);
	assert_int_equal(dagpatch_cache_drop(cache, "gemm", 4), 0);
	assert_int_equal(entries_of(cache), 2);
	dagpatch_cache_destroy(cache);
}

/* The same work is in one recording twice, as a child. */
static void nested_copies_share_a_cache(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *outer = scene->recording, *nested;
	struct dagpatch_cache *cache = make_cache(scene);
	struct work work = {.record = record_add};
	uint32_t *buffers[3] = {buffer(0), buffer(3), buffer(4)};
	struct dagpatch_mapping mappings[3];
	uint32_t slots[3], node;

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	for (uint32_t i = 0; i < 3; i++) {
		slots[i] = slot(nested, NULL);
		mappings[i] = (struct dagpatch_mapping){slot(outer, NULL), 0};
	}
	OK(nested,
	   dagpatch_add_captured(nested,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = &work,
						 .slots = slots, .slot_count = 3,
						 .flags = DAGPATCH_RECAPTURE, .cache = cache),
				 NULL, NULL));
	OK(nested, dagpatch_finalize(nested));
	OK(outer, dagpatch_add_child(outer,
				     &DAGPATCH_SIZED(child, .nested = nested, .mappings = mappings,
						     .mapping_count = 3),
				     NULL, &node));
	OK(outer, dagpatch_add_child(outer,
				     &DAGPATCH_SIZED(child, .nested = nested, .mappings = mappings,
						     .mapping_count = 3),
				     AFTER(node), NULL));
	dagpatch_recording_destroy(nested);
	OK(outer, dagpatch_finalize(outer));
	expect_cached(scene, outer, buffers, 7);
	assert_int_equal(entries_of(cache), 1);
	scene_again(scene, 0);
	assert_int_equal(entries_of(cache), 0);
	dagpatch_cache_destroy(cache);
}

static void wrong_caches_and_keys(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_context *context;
	struct dagpatch_cache *cache;
	struct work work = {.record = record_add};
	uint32_t to = slot(scene->recording, "words");
	struct dagpatch_capture capture = DAGPATCH_SIZED(
		capture, .record = record_work, .user = &work, .slots = &to, .slot_count = 1,
		.flags = DAGPATCH_RECAPTURE, .key = "key", .key_bytes = 3);

	OK(NULL, dagpatch_context_create(&DAGPATCH_SIZED(options, .driver = suite_bed->driver),
					 &context, NULL));
	OK(NULL,
	   dagpatch_cache_create(context, &DAGPATCH_SIZED(cache_options, .vote = NULL), &cache));
	scene_failed(scene->recording,
		     dagpatch_add_captured(scene->recording, &capture, NULL, NULL), -EINVAL,
		     "without a cache");
	capture.cache = cache;
	scene_failed(scene->recording,
		     dagpatch_add_captured(scene->recording, &capture, NULL, NULL), -EINVAL,
		     "another context");
	dagpatch_cache_destroy(cache);
	dagpatch_context_destroy(context);
	capture.cache = cache = make_cache(scene);
	capture.key_bytes = 0;
	scene_failed(scene->recording,
		     dagpatch_add_captured(scene->recording, &capture, NULL, NULL), -EINVAL, "key");
	dagpatch_cache_destroy(cache);
}

/* Whether the strategy can keep the executable graph of work that is captured again. */
static bool keeps_graph(void)
{
	bool has_children = !(suite_without & DAGPATCH_MODEL_NO_CHILDREN);

	return suite_strategy != DAGPATCH_INSTANTIATE &&
	       !((suite_without & DAGPATCH_MODEL_NO_NESTED_SETS) && has_children);
}

/* c = a + b as a library would do it, and d = c * c as a collective with registered buffers. The
 * first is patched, the second is captured again, and both changes go into the existing
 * executable graph. */
static void captured_work_and_a_registered_collective(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	struct work gemm = {.record = record_add}, reduce = {.record = record_square};
	struct dagpatch_collective collective = {
		.size = sizeof(collective), .communicator = 1, .buffers_are_registered = 1};
	uint32_t *buffers[6], slots[4], node;
	void *exec;

	for (uint32_t i = 0; i < 6; i++)
		buffers[i] = buffer(i + 1);
	for (uint32_t i = 0; i < 4; i++)
		slots[i] = slot(recording, NULL);
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = &gemm,
						 .slots = slots, .slot_count = 3),
				 NULL, &node));
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = &reduce,
						 .slots = (uint32_t[]){slots[3], slots[0]},
						 .slot_count = 2, .flags = DAGPATCH_RECAPTURE,
						 .collective = &collective),
				 AFTER(node), NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 4; i++)
		bind(recording, slots[i], buffers[i == 0 ? 4 : i == 3 ? 5 : i]);
	scene_run(scene);
	expect_all(buffers[5], 25);
	exec = dagpatch_recording_exec(recording);
	for (uint32_t i = 1; i <= 10; i++) {
		bind(recording, slots[0], buffers[i % 2 ? 5 : 4]);
		bind(recording, slots[3], buffers[i % 2 ? 4 : 5]);
		bind(recording, slots[1], buffers[i % 3]);
		scene_run(scene);
		expect_all(buffers[i % 2 ? 5 : 4], i % 3 + 4);
		expect_all(buffers[i % 2 ? 4 : 5], (i % 3 + 4) * (i % 3 + 4));
		if (keeps_graph())
			assert_ptr_equal(dagpatch_recording_exec(recording), exec);
	}
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.uses[DAGPATCH_CAPTURE], 10);
	if (keeps_graph())
		assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE], 1);
}

/* Each capture has more nodes, so the existing executable graph cannot be changed to it. */
static void captured_anew_in_another_shape(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_more_each_time};
	uint32_t *a = buffer(1), *b = buffer(1), to = slot(recording, "words");

	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = &work,
						 .slots = &to, .slot_count = 1,
						 .flags = DAGPATCH_RECAPTURE),
				 NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 1; i < 6; i++) {
		uint32_t *now = i % 2 ? a : b;

		buffer_set(now, 1);
		bind(recording, to, now);
		scene_run(scene);
		expect_all(now, 1u << i);
	}
}

static void registered_collective_is_not_patched(void **state)
{
	struct scene *scene = *state;
	struct work work = {.record = record_add};
	uint32_t slots[3] = {slot(scene->recording, "c"), slot(scene->recording, "a"),
			     slot(scene->recording, "b")};
	struct dagpatch_collective collective = {
		.size = sizeof(collective), .communicator = 1, .buffers_are_registered = 1};

	scene_failed(
		scene->recording,
		dagpatch_add_captured(scene->recording,
				      &DAGPATCH_SIZED(capture, .record = record_work, .user = &work,
						      .slots = slots, .slot_count = 3,
						      .collective = &collective),
				      NULL, NULL),
		-EINVAL, "registered");
	assert_int_equal(work.calls, 0);
	collective.buffers_are_registered = 0;
	OK(scene->recording,
	   dagpatch_add_captured(scene->recording,
				 &DAGPATCH_SIZED(capture, .record = record_work, .user = &work,
						 .slots = slots, .slot_count = 3,
						 .collective = &collective),
				 NULL, NULL));
}

int suite_recapture(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(captured_anew_through_a_cache),
		SCENE(a_cache_does_not_outlive_its_work),
		SCENE(collectives_alike_are_not_the_same_work),
		SCENE(named_work_is_shared),
		SCENE(nested_copies_share_a_cache),
		SCENE(wrong_caches_and_keys),
		SCENE(captured_work_and_a_registered_collective),
		SCENE(captured_anew_in_another_shape),
		SCENE(registered_collective_is_not_patched),
	};

	return cmocka_run_group_tests_name("again", tests, NULL, NULL);
}
