/* Captured work is recorded at two sets of addresses. Sets that cannot tell which slot an
 * address belongs to must be refused; all other sets must be accepted. */
#include <errno.h>
#include <stdlib.h>

#include "suite.h"

/* c = a + b */
static int record_add(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_ADD, 2, WORDS / 2,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[2], &count})
		       ? -EIO
		       : 0;
}

static void add_slots(struct dagpatch_recording *recording, uint32_t slots[3])
{
	static const char *const names[] = {"c", "a", "b"};

	for (uint32_t i = 0; i < 3; i++)
		slots[i] = slot(recording, names[i]);
}

/* One set: the addresses of the three slots. */
struct set {
	uint32_t *of[3];
};

static int add_at(struct dagpatch_recording *recording, const struct set *first,
		  const struct set *second)
{
	uint32_t slots[3];

	add_slots(recording, slots);
	return dagpatch_add_captured(
		recording,
		&DAGPATCH_SIZED(capture, .record = record_add, .slots = slots, .slot_count = 3,
				.addresses = {(void *const *)first->of, (void *const *)second->of}),
		NULL, NULL);
}

static void *capture_at(const struct set *set)
{
	void *stream = suite_bed->stream_create(), *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(record_add(NULL, stream, (void *const *)set->of), 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	return graph;
}

static int adopt_at(struct dagpatch_recording *recording, const struct set *first,
		    const struct set *second)
{
	void *graphs[2] = {capture_at(first), capture_at(second)};
	uint32_t slots[3];
	int rc;

	add_slots(recording, slots);
	rc = dagpatch_adopt(recording, &DAGPATCH_SIZED(adoption, .graph = graphs[0],
						       .addresses = {(void *const *)first->of,
								     (void *const *)second->of},
						       .other_graph = graphs[1]));
	suite_bed->graph_destroy(graphs[0]);
	suite_bed->graph_destroy(graphs[1]);
	return rc;
}

static void refused(struct scene *scene, const struct set *first, const struct set *second,
		    const char *text)
{
	scene_again(scene, 0);
	scene_failed(scene->recording, add_at(scene->recording, first, second), -EINVAL, text);
	scene_again(scene, 0);
	scene_failed(scene->recording, adopt_at(scene->recording, first, second), -EINVAL, text);
	scene_again(scene, 0);
}

/* Moves each slot alone and checks that only its own address moves. */
static void expect_told(struct scene *scene)
{
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *buffers[4] = {buffer(0), buffer(1), buffer(2), buffer(5)};

	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 3; i++)
		bind(recording, i, buffers[i]);
	scene_run(scene);
	expect_all(buffers[0], 3);
	bind(recording, 1, buffers[3]);
	scene_run(scene);
	expect_all(buffers[0], 7);
	bind(recording, 2, buffers[1]);
	scene_run(scene);
	expect_all(buffers[0], 6);
	bind(recording, 0, buffers[2]);
	scene_run(scene);
	expect_all(buffers[2], 6);
	scene_again(scene, 0);
}

static void told(struct scene *scene, const struct set *first, const struct set *second)
{
	scene_again(scene, 0);
	OK(scene->recording, add_at(scene->recording, first, second));
	expect_told(scene);
	OK(scene->recording, adopt_at(scene->recording, first, second));
	expect_told(scene);
}

static uint32_t *block;

/* The buffer that begins at half-buffer HALF of a block of 16 buffers. */
static uint32_t *at(uint32_t half)
{
	return block + half * (WORDS / 2);
}

static int block_setup(void **state)
{
	block = device_memory(16 * WORDS * sizeof(*block));
	return scene_setup(state);
}

/* A slot with the same address in both sets cannot be recognised. */
static void a_slot_that_did_not_move_is_refused(void **state)
{
	struct scene *scene = *state;

	refused(scene, &(struct set){{at(0), at(4), at(8)}}, &(struct set){{at(12), at(4), at(16)}},
		"slot 1 (a)");
	refused(scene, &(struct set){{at(0), at(4), at(8)}}, &(struct set){{at(0), at(4), at(8)}},
		"slot 0 (c)");
}

static void a_slot_without_an_address_is_refused(void **state)
{
	struct scene *scene = *state;

	refused(scene, &(struct set){{at(0), at(4), NULL}}, &(struct set){{at(12), at(16), at(20)}},
		"slot 2 (b)");
	refused(scene, &(struct set){{at(0), at(4), at(8)}}, &(struct set){{at(12), NULL, at(20)}},
		"slot 1 (a)");
}

/* The two slots moved by the same distance and overlap, so an address could belong to either. */
static void slots_that_overlap_and_move_alike_are_refused(void **state)
{
	struct scene *scene = *state;

	refused(scene, &(struct set){{at(0), at(4), at(4)}},
		&(struct set){{at(12), at(20), at(20)}}, "slot 2 (b)");
	refused(scene, &(struct set){{at(4), at(0), at(5)}},
		&(struct set){{at(24), at(12), at(25)}}, "slot 2 (b)");
	refused(scene, &(struct set){{at(5), at(0), at(4)}},
		&(struct set){{at(25), at(12), at(24)}}, "slot 0 (c)");
}

/* The two slots overlap but moved by different distances, which identifies each of them. */
static void slots_that_overlap_and_move_apart_are_reported(void **state)
{
	struct scene *scene = *state;

	told(scene, &(struct set){{at(0), at(4), at(4)}}, &(struct set){{at(12), at(20), at(24)}});
	told(scene, &(struct set){{at(0), at(4), at(5)}}, &(struct set){{at(14), at(20), at(20)}});
}

/* The second address of one slot is the first address of another; two slots exchange places; a
 * slot overlaps its old place. */
static void slots_that_come_after_each_other_are_reported(void **state)
{
	struct scene *scene = *state;

	told(scene, &(struct set){{at(0), at(4), at(8)}}, &(struct set){{at(4), at(8), at(12)}});
	told(scene, &(struct set){{at(0), at(4), at(8)}}, &(struct set){{at(12), at(8), at(4)}});
	told(scene, &(struct set){{at(0), at(4), at(8)}}, &(struct set){{at(1), at(5), at(9)}});
}

/* Adjacent slots that all moved by the same distance: an address at the end of one is the start
 * of the next. */
static void slots_that_touch_are_reported(void **state)
{
	struct scene *scene = *state;

	told(scene, &(struct set){{at(0), at(2), at(4)}}, &(struct set){{at(8), at(10), at(12)}});
}

/* Passes the distance between two slots as a number. It is not an address, and it is wrong when
 * one of the slots moves. */
static int record_distance(void *user, void *stream, void *const *addresses)
{
	const uint32_t *pair = user;
	uint32_t distance =
		(uint32_t)((uintptr_t)addresses[pair[1]] - (uintptr_t)addresses[pair[0]]);

	return suite_bed->launch(stream, BED_MARK, 1, 1,
				 (void *[]){(void *)&addresses[0], &distance})
		       ? -EIO
		       : 0;
}

static void a_distance_of_slots_is_noticed(void **state)
{
	enum { SLOTS = 6 };
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t slots[SLOTS], pair[2];

	for (uint32_t i = 0; i < SLOTS; i++)
		slots[i] = slot(recording, NULL);
	for (pair[0] = 0; pair[0] < SLOTS; pair[0]++)
		for (pair[1] = 0; pair[1] < pair[0]; pair[1]++)
			scene_failed(recording,
				     dagpatch_add_captured(
					     recording,
					     &DAGPATCH_SIZED(capture, .record = record_distance,
							     .user = pair, .slots = slots,
							     .slot_count = SLOTS),
					     NULL, NULL),
				     -EILSEQ, "no slot explains");
}

int suite_addresses(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_slot_that_did_not_move_is_refused, block_setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(a_slot_without_an_address_is_refused, block_setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(slots_that_overlap_and_move_alike_are_refused,
						block_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(slots_that_overlap_and_move_apart_are_reported,
						block_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(slots_that_come_after_each_other_are_reported,
						block_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(slots_that_touch_are_reported, block_setup,
						scene_teardown),
		SCENE(a_distance_of_slots_is_noticed),
	};

	return cmocka_run_group_tests_name("addresses", tests, NULL, NULL);
}
