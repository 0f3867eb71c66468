/* Captured work that is refused: differences of two captures that prove no address, and captures
 * that fail. */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "suite_work.h"

static int record_unexplained(struct work *work, void *stream, void *const *addresses)
{
	uint32_t count = WORDS + work->calls;

	return work_launch(stream, BED_ADD,
			   (void *[]){(void *)&addresses[0], (void *)&addresses[0],
				      (void *)&addresses[0], &count});
}

static void unexplained_difference_is_an_error(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	struct work work = {.record = record_unexplained};
	uint32_t to = slot(recording, "words");

	scene_failed(recording, work_add(recording, &work, &to, 1), -EILSEQ,
		     ": the captures differ and no slot");
	assert_int_equal(dagpatch_recording_error(recording)->node, 1);
	assert_int_equal(dagpatch_recording_error(recording)->byte, 24);
	/* Nothing of the refused work is left in the recording. */
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.node_count, 0);
	assert_int_equal(stats.relocation_count, 0);
	OK(recording, dagpatch_add_empty(recording, NULL, NULL));
}

/* The value of an uninitialised hole in a struct in each capture. The captures come at the
 * addresses A, B, B, A, B, A, A, B, B, A, A, B. In some rows one byte is equal by chance at A; in
 * others the whole word is, but not at B; in the last one the word goes with the addresses in the
 * first six captures. */
#define HOLES 12
static const uint32_t *hole;
static const uint32_t holes[][HOLES] = {
	{1, 2, 3, 4, 5, 6},
	{0x11110001, 0x22220002, 0x22220002, 0x33330001, 0x22220002, 0x11110001},
	{7, 9, 9, 7, 5, 7},
	{7, 9, 9, 7, 9, 7, 9, 9, 7, 7, 9, 7},
};

static int record_hole(struct work *work, void *stream, void *const *addresses)
{
	struct bed_struct by_value = {.dst = addresses[0],
				      .scalar = 6,
				      .count = WORDS,
				      .unused = hole[(work->calls - 1) % HOLES],
				      .src = addresses[1]};

	return work_launch(stream, BED_STRUCT, (void *[]){&by_value});
}

static void leave_hole(struct scene *scene, const char *number)
{
	struct dagpatch_recording *recording;
	struct work work = {.record = record_hole};
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0), slots[2];
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = work_record,
					   .user = &work,
					   .slots = slots,
					   .slot_count = 2};
	void *stream = suite_bed->stream_create();

	OK(NULL, dagpatch_recording_create(scene->context, 0, &recording));
	slots[0] = slot(recording, "dst");
	slots[1] = slot(recording, "src");
	scene_failed(recording, dagpatch_add_captured(recording, &capture, NULL, NULL), -EILSEQ,
		     number);
	work.calls = 0;
	capture.flags = DAGPATCH_LEAVE_UNSTABLE;
	OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, slots[0], i ? a : c);
		bind(recording, slots[1], i ? b : a);
		OK(recording, dagpatch_launch(recording, stream));
		suite_bed->stream_synchronize(stream);
		expect_all(i ? a : c, i ? 8 : 7);
	}
	dagpatch_recording_destroy(recording);
	suite_bed->stream_destroy(stream);
}

static void unstable_words_stay_when_asked_for(void **state)
{
	for (size_t i = 0; i < sizeof(holes) / sizeof(*holes); i++) {
		hole = holes[i];
		leave_hole(*state, "byte 2"); /* byte 20 or byte 22 */
	}
}

static int record_with_set(struct work *work, void *stream, void *const *addresses)
{
	struct bed_struct by_value = {.dst = addresses[0],
				      .scalar = 6,
				      .count = WORDS,
				      .unused = addresses[0] == work->fixed ? 7 : 9,
				      .src = addresses[1]};

	return work_launch(stream, BED_STRUCT, (void *[]){&by_value});
}

/* A word that goes with the addresses in all captures may depend on them. */
static void word_that_goes_with_the_set_is_an_error(void **state)
{
	struct scene *scene = *state;
	uint32_t *at[4] = {buffer(0), buffer(0), buffer(0), buffer(0)}, slots[2];
	struct work work = {.record = record_with_set, .fixed = at[0]};
	struct dagpatch_capture capture = {
		.size = sizeof(capture),
		.record = work_record,
		.user = &work,
		.slots = slots,
		.slot_count = 2,
		.flags = DAGPATCH_LEAVE_UNSTABLE,
		.addresses = {(void *[]){at[0], at[1]}, (void *[]){at[3], at[2]}},
	};

	slots[0] = slot(scene->recording, "dst");
	slots[1] = slot(scene->recording, "src");
	scene_failed(scene->recording,
		     dagpatch_add_captured(scene->recording, &capture, NULL, NULL), -EILSEQ,
		     "no slot explains it: 0x700000040 and 0x900000040");
	assert_int_equal(work.calls, 32);
}

static int record_more_each_time(struct work *work, void *stream, void *const *addresses)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < work->calls; i++)
		rc = work_launch_add(stream, addresses[0], addresses[0], addresses[0]);
	return rc;
}

static void another_shape_is_an_error(void **state)
{
	struct scene *scene = *state;
	struct work work = {.record = record_more_each_time};
	uint32_t to = slot(scene->recording, "words");

	scene_failed(scene->recording, work_add(scene->recording, &work, &to, 1), -EILSEQ,
		     "capture 1 has 1 nodes, capture 2 has 2");
}

static int record_other_kernel(struct work *work, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return work_launch(stream, work->calls == 1 ? BED_ADD : BED_MUL,
			   (void *[]){(void *)&addresses[0], (void *)&addresses[0],
				      (void *)&addresses[0], &count});
}

static void another_kernel_is_an_error(void **state)
{
	struct scene *scene = *state;
	struct work work = {.record = record_other_kernel};
	uint32_t to = slot(scene->recording, "words");

	scene_failed(scene->recording, work_add(scene->recording, &work, &to, 1), -EILSEQ,
		     "another kernel");
}

static int record_failing(struct work *work, void *stream, void *const *addresses)
{
	work_launch_add(stream, addresses[0], addresses[0], addresses[0]);
	return work->result;
}

/* The recording reports the callback's own error, not a later error of its capture. */
static void failing_callback_is_reported(void **state)
{
	struct scene *scene = *state;
	struct work work = {.record = record_failing, .result = -EDOM};
	uint32_t to = slot(scene->recording, "words");

	scene_failed(scene->recording, work_add(scene->recording, &work, &to, 1), -EDOM,
		     "callback");
	work.result = 0;
	OK(scene->recording, work_add(scene->recording, &work, &to, 1));
}

int suite_refused(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(unexplained_difference_is_an_error),
		SCENE(unstable_words_stay_when_asked_for),
		SCENE(word_that_goes_with_the_set_is_an_error),
		SCENE(another_shape_is_an_error),
		SCENE(another_kernel_is_an_error),
		SCENE(failing_callback_is_reported),
	};

	return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
