/* Captured work: dagpatch patches what two captures prove to be an address, and nothing else.
 * Each defect that a review found in patching by searching for values is a case here.
 * suite_refused.c has what is refused. GC-2, GC-3, CM-8. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "suite_work.h"

static int record_add(struct work *work, void *stream, void *const *addresses)
{
	return work_launch_add(stream, addresses[0], addresses[1], addresses[2]);
}

/* GC-2 */
static void captured_kernel(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_add};
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0), *d = buffer(0);
	uint32_t slots[3] = {slot(recording, "c"), slot(recording, "a"), slot(recording, "b")};

	OK(recording, work_add(recording, &work, slots, 3));
	assert_int_equal(work.calls, 2);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], c);
	bind(recording, slots[1], a);
	bind(recording, slots[2], b);
	scene_run(scene);
	expect_all(c, 3);
	bind(recording, slots[0], d);
	bind(recording, slots[1], b);
	scene_run(scene);
	expect_all(d, 4);
	expect_all(c, 3);
}

static int record_nothing(struct work *work, void *stream, void *const *addresses)
{
	return 0;
}

/* GC-3 */
static void captured_nothing(void **state)
{
	struct scene *scene = *state;
	struct work work = {.record = record_nothing};

	OK(scene->recording, work_add(scene->recording, &work, NULL, 0));
	OK(scene->recording, dagpatch_finalize(scene->recording));
	scene_run(scene);
}

static int record_fold(struct work *work, void *stream, void *const *addresses)
{
	uint64_t *out = addresses[0], *in = addresses[1];
	uint32_t count = WORDS / 2;

	return work_launch(stream, BED_FOLD, (void *[]){&out, &in, &work->scalar, &count});
}

/* A scalar that equals an address, of the buffer that is bound now or of one that is bound
 * later, must not change. */
static void scalar_equal_to_address_is_left_alone(void **state)
{
	struct scene *scene = *state;
	uint64_t words[WORDS / 2] = {0};
	uint64_t *buffers[3] = {(uint64_t *)buffer(0), (uint64_t *)buffer(0),
				(uint64_t *)buffer(0)};

	for (uint32_t which = 0; which < 3; which++) {
		struct work work = {.record = record_fold, .scalar = (uintptr_t)buffers[which]};
		struct dagpatch_recording *recording;
		uint32_t slots[2];

		scene_again(scene, 0);
		recording = scene->recording;
		slots[0] = slot(recording, "out");
		slots[1] = slot(recording, "in");
		OK(recording, work_add(recording, &work, slots, 2));
		OK(recording, dagpatch_finalize(recording));
		for (uint32_t i = 0; i < 2; i++) {
			buffer_set((uint32_t *)buffers[i], 0);
			bind(recording, slots[0], buffers[i]);
			bind(recording, slots[1], buffers[2]);
			scene_run(scene);
			suite_bed->read(words, buffers[i], sizeof(words));
			assert_int_equal(words[0], (uintptr_t)buffers[which]);
			assert_int_equal(words[WORDS / 2 - 1], (uintptr_t)buffers[which]);
		}
		buffer_set((uint32_t *)buffers[2], 0);
	}
}

static int record_interior(struct work *work, void *stream, void *const *addresses)
{
	uint32_t *words = addresses[0];
	uint32_t *upper = words + WORDS / 2, value = 5, count = WORDS / 2;
	uint32_t *last = words + WORDS - 1;
	int rc = work_launch(stream, BED_ADD, (void *[]){&upper, &words, &words, &count});

	return rc < 0 ? rc : work_launch(stream, BED_MARK, (void *[]){&last, &value});
}

/* Addresses inside a buffer: a slice, and the last word. */
static void interior_pointer_is_moved(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_interior};
	uint32_t *a = buffer(3), *b = buffer(4), words[WORDS];
	uint32_t to = slot(recording, "words");

	OK(recording, work_add(recording, &work, &to, 1));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, to, i ? b : a);
		scene_run(scene);
		suite_bed->read(words, i ? b : a, sizeof(words));
		assert_int_equal(words[0], 3 + i);
		assert_int_equal(words[WORDS / 2], 2 * (3 + i));
		assert_int_equal(words[WORDS - 1], 2 * (3 + i) + 5);
	}
}

static int record_packed(struct work *work, void *stream, void *const *addresses)
{
	struct bed_packed packed = {
		.count = WORDS, .dst = addresses[0], .scalar = 7, .src = addresses[1]};

	return work_launch(stream, BED_PACKED, (void *[]){&packed});
}

/* Addresses at bytes 4 and 13 of a struct: arguments are not always words of eight bytes. */
static void unaligned_argument_is_moved(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_packed};
	struct dagpatch_relocation relocation;
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0), *d = buffer(0);
	uint32_t slots[2] = {slot(recording, "dst"), slot(recording, "src")};

	OK(recording, work_add(recording, &work, slots, 2));
	OK(recording, dagpatch_finalize(recording));
	assert_int_equal(dagpatch_recording_relocation(recording, 0, &relocation), 0);
	assert_int_equal(relocation.byte, offsetof(struct bed_packed, dst));
	assert_int_equal(dagpatch_recording_relocation(recording, 1, &relocation), 0);
	assert_int_equal(relocation.byte, offsetof(struct bed_packed, src));
	assert_int_equal(dagpatch_recording_relocation(recording, 2, &relocation), -ERANGE);
	bind(recording, slots[0], c);
	bind(recording, slots[1], a);
	scene_run(scene);
	expect_all(c, 8);
	bind(recording, slots[0], d);
	bind(recording, slots[1], b);
	scene_run(scene);
	expect_all(d, 9);
	expect_all(c, 8);
}

static int record_struct(struct work *work, void *stream, void *const *addresses)
{
	struct bed_struct by_value = {.dst = addresses[0],
				      .scalar = work->scalar,
				      .count = WORDS / 2,
				      .src = (uint32_t *)addresses[0] + WORDS / 2};

	return work_launch(stream, BED_STRUCT, (void *[]){&by_value});
}

/* Two addresses of one buffer in a struct, and a scalar that looks like an address. */
static void struct_by_value_is_moved(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(1), *b = buffer(2), first;
	struct work work = {.record = record_struct, .scalar = (uintptr_t)a};
	uint32_t to = slot(recording, "words");

	OK(recording, work_add(recording, &work, &to, 1));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, to, i ? b : a);
		scene_run(scene);
		suite_bed->read(&first, i ? b : a, sizeof(first));
		assert_int_equal(first, 1 + i + (uint32_t)(uintptr_t)a);
	}
}

static int record_block(struct work *work, void *stream, void *const *addresses)
{
	struct bed_struct block = {
		.dst = addresses[0], .scalar = 4, .count = WORDS, .src = addresses[1]};

	return suite_bed->launch_block(stream, BED_STRUCT, 2, WORDS / 2, &block, sizeof(block))
		       ? -EIO
		       : 0;
}

static void block_of_arguments_is_moved(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_block};
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0);
	uint32_t slots[2] = {slot(recording, "dst"), slot(recording, "src")};

	if (!suite_bed->launch_block || suite_bed->no_captured_blocks)
		skip();
	OK(recording, work_add(recording, &work, slots, 2));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], c);
	bind(recording, slots[1], a);
	scene_run(scene);
	expect_all(c, 5);
	bind(recording, slots[0], a);
	bind(recording, slots[1], b);
	scene_run(scene);
	expect_all(a, 6);
	expect_all(c, 5);
}

static void count_call(void *user)
{
	(*(uint64_t *)user)++;
}

static int record_host(struct work *work, void *stream, void *const *addresses)
{
	int rc = work_launch_add(stream, addresses[0], addresses[0], addresses[0]);

	if (rc < 0)
		return rc;
	return suite_bed->host(stream, count_call, work->fixed) ? -EIO : 0;
}

/* The host function's argument is also a pointer, but belongs to no slot and must not change. */
static void host_function_keeps_its_pointer(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint64_t calls = 0;
	struct work work = {.record = record_host, .fixed = &calls};
	uint32_t *a = buffer(1), *b = buffer(2);
	uint32_t to = slot(recording, "words");

	if (!suite_bed->host)
		skip();
	OK(recording, work_add(recording, &work, &to, 1));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	scene_run(scene);
	bind(recording, to, b);
	scene_run(scene);
	expect_all(a, 2);
	expect_all(b, 4);
	assert_int_equal(calls, 2);
}

enum { PITCH = 32 };

static int record_copies(struct work *work, void *stream, void *const *addresses)
{
	uint8_t *dst = addresses[0], *src = addresses[1];
	const struct bed_copy two = {.dst = dst + 4,
				     .src = src,
				     .dst_pitch = PITCH,
				     .src_pitch = PITCH,
				     .width = 12,
				     .height = 3};

	return suite_bed->copy(stream, &two) || suite_bed->memset(stream, dst + 128, 0x55, 1, 16)
		       ? -EIO
		       : 0;
}

/* The bytes between the rows must not change. */
static void copy_2d_stays_2d(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_copies};
	uint32_t *buffers[4] = {buffer(0), buffer(0x01010101), buffer(0), buffer(0x02020202)};
	uint32_t slots[2] = {slot(recording, "dst"), slot(recording, "src")};
	uint8_t got[WORDS * 4], expected[WORDS * 4];

	if (suite_bed->no_captured_copies)
		skip();
	OK(recording, work_add(recording, &work, slots, 2));
	OK(recording, dagpatch_finalize(recording));
	for (uint8_t i = 0; i < 2; i++) {
		memset(expected, 0, sizeof(expected));
		for (uint32_t row = 0; row < 3; row++)
			memset(expected + row * PITCH + 4, i + 1, 12);
		memset(expected + 128, 0x55, 16);
		bind(recording, slots[0], buffers[2 * i]);
		bind(recording, slots[1], buffers[2 * i + 1]);
		scene_run(scene);
		suite_bed->read(got, buffers[2 * i], sizeof(got));
		assert_memory_equal(got, expected, sizeof(got));
	}
}

/* ---- children ---- */

/* A graph that launches add on the buffer and then a graph of the same form, DEPTH levels deep. */
static void *deep_graph(void *stream, uint32_t depth, void *address)
{
	void *inner = depth > 1 ? deep_graph(stream, depth - 1, address) : NULL;
	void *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(work_launch_add(stream, address, address, address), 0);
	if (inner)
		assert_int_equal(suite_bed->graph_launch(stream, inner), 0);
	graph = suite_bed->capture_end(stream);
	if (inner)
		suite_bed->graph_destroy(inner);
	return graph;
}

static int record_deep(struct work *work, void *stream, void *const *addresses)
{
	void *other = suite_bed->stream_create();
	void *graph = deep_graph(other, (uint32_t)work->scalar, addresses[0]);
	int rc = suite_bed->graph_launch(stream, graph);

	suite_bed->graph_destroy(graph);
	suite_bed->stream_destroy(other);
	return rc ? -EIO : 0;
}

static void captured_children_are_moved(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_deep, .scalar = 5};
	uint32_t *a = buffer(1), *b = buffer(1);
	uint32_t to = slot(recording, "words");

	if (!suite_bed->graph_launch)
		skip();
	OK(recording, work_add(recording, &work, &to, 1));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	scene_run(scene);
	expect_all(a, 32);
	bind(recording, to, b);
	scene_run(scene);
	expect_all(b, 32);
	expect_all(a, 32);
}

static void child_depth_is_bounded(void **state)
{
	struct scene *scene = *state;
	struct work work = {.record = record_deep, .scalar = 8};
	uint32_t to = slot(scene->recording, "words");

	if (!suite_bed->graph_launch)
		skip();
	scene_failed(scene->recording, work_add(scene->recording, &work, &to, 1), -ELOOP,
		     "child_depth, 8");
	work.scalar = 7;
	OK(scene->recording, work_add(scene->recording, &work, &to, 1));
}

/* ---- alignment, nesting ---- */

static int record_alignment(struct work *work, void *stream, void *const *addresses)
{
	work->scalar |= (uintptr_t)addresses[0];
	return work_launch_add(stream, addresses[0], addresses[0], addresses[0]);
}

/* A library may choose its kernel by the alignment of a buffer. The capture must not show an
 * alignment that is better than the slot's. */
static void captured_as_aligned_as_the_slot_says(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct work work = {.record = record_alignment};
	uint32_t *a = buffer(1), to;

	OK(recording,
	   dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = WORDS * 4, .alignment = 16),
			     &to));
	OK(recording, work_add(recording, &work, &to, 1));
	assert_int_equal(work.scalar & 31, 16);
	OK(recording, dagpatch_finalize(recording));
	scene_failed(recording, dagpatch_bind(recording, to, (uint8_t *)a + 8, WORDS * 4), -EINVAL,
		     "not aligned to 16");
}

static void captured_work_inside_of_nested_recordings(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *nested;
	struct work work = {.record = record_add};
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(0), *d = buffer(0);
	uint32_t inner[3], slots[3], node;

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	for (uint32_t i = 0; i < 3; i++) {
		inner[i] = slot(nested, NULL);
		slots[i] = slot(recording, NULL);
	}
	OK(nested, work_add(nested, &work, inner, 3));
	OK(nested, dagpatch_finalize(nested));
	for (uint32_t i = 0; i < 2; i++)
		OK(recording, dagpatch_add_child(recording,
						 &DAGPATCH_SIZED(child, nested,
								 (struct dagpatch_mapping[]){
									 {slots[i ? 1 : 0], 0},
									 {slots[i ? 0 : 1], 0},
									 {slots[2], 0}},
								 3),
						 i ? AFTER(node) : NULL, &node));
	dagpatch_recording_destroy(nested);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], c);
	bind(recording, slots[1], a);
	bind(recording, slots[2], b);
	scene_run(scene);
	expect_all(c, 3);
	expect_all(a, 5);
	bind(recording, slots[0], d);
	scene_run(scene);
	expect_all(d, 7);
	expect_all(a, 9);
	expect_all(c, 3);
}

int suite_captured(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(captured_kernel),
		SCENE(captured_nothing),
		SCENE(scalar_equal_to_address_is_left_alone),
		SCENE(interior_pointer_is_moved),
		SCENE(unaligned_argument_is_moved),
		SCENE(struct_by_value_is_moved),
		SCENE(block_of_arguments_is_moved),
		SCENE(host_function_keeps_its_pointer),
		SCENE(copy_2d_stays_2d),
		SCENE(captured_children_are_moved),
		SCENE(child_depth_is_bounded),
		SCENE(captured_as_aligned_as_the_slot_says),
		SCENE(captured_work_inside_of_nested_recordings),
	};

	return cmocka_run_group_tests_name("captured", tests, NULL, NULL);
}
