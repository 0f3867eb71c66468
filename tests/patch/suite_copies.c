/* Copies and memsets in recorded graphs: every shape, direction and width. GC-5 and GC-6 of the
 * shared tests for command buffers. */
#include <string.h>

#include "suite.h"

/* GC-5, TH-1; the copy must also reach its destination. */
static void copy_device_to_device(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t from = slot(recording, "from"), to = slot(recording, "to");
	uint32_t *a = buffer(42), *b = buffer(0);

	OK(recording,
	   dagpatch_add_copy(recording,
			     &DAGPATCH_SIZED(copy, .dst = {.slot = to}, .src = {.slot = from},
					     .width_bytes = WORDS * 4),
			     NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, from, a);
	bind(recording, to, b);
	scene_run(scene);
	expect_all(b, 42);
	expect_all(a, 42);
	bind(recording, from, b);
	bind(recording, to, a);
	buffer_set(a, 0);
	scene_run(scene);
	expect_all(a, 42);
	buffer_set(a, 0);
	scene_run(scene);
	expect_all(a, 42);
}

/* GC-6, TH-6, TH-7 */
static void memset_of_each_width(void **state)
{
	struct scene *scene = *state;
	static const struct {
		uint32_t value, bytes, expected;
	} cases[] = {{42, 4, 42}, {0x0102, 2, 0x01020102}, {7, 1, 0x07070707}};

	for (uint32_t i = 0; i < 3; i++) {
		struct dagpatch_recording *recording;
		uint32_t *a = buffer(1), *b = buffer(1);
		uint32_t to, node;

		scene_again(scene, 0);
		recording = scene->recording;
		to = slot(recording, "to");
		OK(recording,
		   dagpatch_add_memset(recording,
				       &DAGPATCH_SIZED(memset, .slot = to, .value = cases[i].value,
						       .element_bytes = cases[i].bytes,
						       .width = WORDS * 4 / cases[i].bytes),
				       NULL, &node));
		OK(recording, dagpatch_finalize(recording));
		bind(recording, to, a);
		scene_run(scene);
		expect_all(a, cases[i].expected);
		bind(recording, to, b);
		buffer_set(a, 1);
		scene_run(scene);
		expect_all(b, cases[i].expected);
		expect_all(a, 1);
		OK(recording, dagpatch_set_memset_value(recording, node, 0));
		scene_run(scene);
		expect_all(b, 0);
	}
}

/* TH-10: two memsets on slices of one buffer, launched on two streams one after the other. */
static void memsets_on_slices(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(0), *b = buffer(0), words[WORDS];
	void *other = suite_bed->stream_create();
	uint32_t to = slot(recording, "to");

	for (uint32_t i = 0; i < 2; i++)
		OK(recording,
		   dagpatch_add_memset(recording,
				       &DAGPATCH_SIZED(memset, .slot = to, .offset = i * WORDS * 2,
						       .value = i ? 34 : 12, .element_bytes = 4,
						       .width = WORDS / 2),
				       NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	OK(recording, dagpatch_launch(recording, scene->stream));
	bind(recording, to, b);
	OK(recording, dagpatch_launch(recording, other));
	suite_bed->stream_synchronize(other);
	suite_bed->stream_synchronize(scene->stream);
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->read(words, i ? a : b, sizeof(words));
		assert_int_equal(words[0], 12);
		assert_int_equal(words[WORDS / 2 - 1], 12);
		assert_int_equal(words[WORDS / 2], 34);
		assert_int_equal(words[WORDS - 1], 34);
	}
	suite_bed->stream_destroy(other);
}

enum { PITCH = 32, ROWS = 6, SLICES = 3, BOX = PITCH * ROWS * SLICES };

static void add_box_copy(struct dagpatch_recording *recording, struct dagpatch_end dst,
			 struct dagpatch_end src, const uint64_t extent[3])
{
	OK(recording,
	   dagpatch_add_copy(recording,
			     &DAGPATCH_SIZED(copy, .dst = dst, .src = src, .width_bytes = extent[0],
					     .height = extent[1], .depth = extent[2]),
			     NULL, NULL));
}

static void fill_box(uint8_t *box, uint8_t first)
{
	for (uint32_t i = 0; i < BOX; i++)
		box[i] = (uint8_t)(first + i * 7);
}

static void copy_box(uint8_t *dst, const uint8_t *src, const uint64_t extent[3])
{
	for (uint64_t z = 0; z < extent[2]; z++)
		for (uint64_t y = 0; y < extent[1]; y++)
			memcpy(dst + (z * ROWS + y) * PITCH, src + (z * ROWS + y) * PITCH,
			       extent[0]);
}

/* Copies one shape in one direction and binds again once. KINDS bit 0: dst is on the host; bit
 * 1: src is on the host. */
static void run_copy(struct scene *scene, const uint64_t extent[3], uint32_t kinds)
{
	bool dst_host = kinds & 1, src_host = kinds & 2;
	uint8_t expected[BOX], got[BOX], from[BOX];
	struct dagpatch_recording *recording;
	uint8_t *src[2], *dst[2];
	uint32_t slots[2];

	scene_again(scene, 0);
	recording = scene->recording;
	for (uint32_t i = 0; i < 2; i++) {
		src[i] = src_host ? suite_bed->alloc_host(BOX) : suite_bed->alloc(BOX);
		dst[i] = dst_host ? suite_bed->alloc_host(BOX) : suite_bed->alloc(BOX);
		OK(recording, dagpatch_slot_add(recording,
						&DAGPATCH_SIZED(slot, .bytes = BOX, .alignment = 64,
								.on_host = i ? src_host : dst_host),
						&slots[i]));
	}
	add_box_copy(recording,
		     (struct dagpatch_end){.slot = slots[0], .pitch = PITCH, .rows = ROWS},
		     (struct dagpatch_end){.slot = slots[1], .pitch = PITCH, .rows = ROWS}, extent);
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		fill_box(from, (uint8_t)(50 + i));
		suite_bed->write(src[i], from, BOX);
		fill_box(expected, (uint8_t)(150 + i));
		suite_bed->write(dst[i], expected, BOX);
		copy_box(expected, from, extent);
		OK(recording, dagpatch_bind(recording, slots[0], dst[i], BOX));
		OK(recording, dagpatch_bind(recording, slots[1], src[i], BOX));
		scene_run(scene);
		suite_bed->read(got, dst[i], BOX);
		assert_memory_equal(got, expected, BOX);
	}
	for (uint32_t i = 0; i < 2; i++) {
		(src_host ? suite_bed->free_host : suite_bed->free)(src[i]);
		(dst_host ? suite_bed->free_host : suite_bed->free)(dst[i]);
	}
}

static void copies_of_every_shape_and_direction(void **state)
{
	static const uint64_t extents[3][3] = {{77, 1, 1}, {20, 5, 1}, {20, 5, 3}};

	for (uint32_t shape = 0; shape < 3; shape++)
		for (uint32_t kinds = 0; kinds < 4; kinds++)
			run_copy(*state, extents[shape], kinds);
}

static void copy_to_a_fixed_address(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(5), *b = buffer(6), *fixed = buffer(0);
	uint32_t from = slot(recording, "from");

	OK(recording,
	   dagpatch_add_copy(recording,
			     &DAGPATCH_SIZED(copy, .dst = {.slot = DAGPATCH_NONE, .address = fixed},
					     .src = {.slot = from}, .width_bytes = WORDS * 4),
			     NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, from, a);
	scene_run(scene);
	expect_all(fixed, 5);
	bind(recording, from, b);
	scene_run(scene);
	expect_all(fixed, 6);
}

static void add_fill(struct dagpatch_recording *recording, uint32_t to, uint32_t value,
		     const struct dagpatch_after *after)
{
	OK(recording, dagpatch_add_memset(recording,
					  &DAGPATCH_SIZED(memset, .slot = to, .value = value,
							  .element_bytes = 4, .width = WORDS),
					  after, NULL));
}

/* HIP 6.4.3 keeps the values of a graph's memsets in memory that is overwritten after about
 * 4,000 later memsets. */
static void memset_keeps_its_value(void **state)
{
	enum { OTHERS = 10000 };
	struct scene *scene = *state;
	struct dagpatch_recording *many;
	uint32_t to = slot(scene->recording, "to"), other;
	uint32_t *a = buffer(0);

	add_fill(scene->recording, to, 0x1234567, NULL);
	OK(scene->recording, dagpatch_finalize(scene->recording));
	bind(scene->recording, to, a);
	scene_run(scene);
	expect_all(a, 0x1234567);
	OK(NULL, dagpatch_recording_create(scene->context, 0, &many));
	other = slot(many, "other");
	for (uint32_t i = 0; i < OTHERS; i++)
		add_fill(many, other, i, i > 0 ? AFTER(i - 1) : NULL);
	OK(many, dagpatch_finalize(many));
	bind(many, other, a);
	OK(many, dagpatch_launch(many, scene->stream));
	suite_bed->stream_synchronize(scene->stream);
	expect_all(a, OTHERS - 1);
	scene_run(scene);
	expect_all(a, 0x1234567);
	dagpatch_recording_destroy(many);
}

int suite_copies(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(copy_device_to_device),	SCENE(memset_of_each_width),
		SCENE(memsets_on_slices),	SCENE(copies_of_every_shape_and_direction),
		SCENE(copy_to_a_fixed_address), SCENE(memset_keeps_its_value),
	};

	return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
