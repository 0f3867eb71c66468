/* Calls in the wrong order or with wrong arguments return clear errors and change nothing. */
#include <errno.h>
#include <pthread.h>

#include <dagpatch/model.h>

#include "suite.h"

static void calls_in_the_wrong_state(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *empty;
	uint32_t *a = buffer(1), to, number;

	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_CREATED);
	to = slot(recording, "words");
	add_three(recording, BED_ADD, (uint32_t[]){to, to, to}, NULL);
	scene_failed(recording, dagpatch_bind(recording, to, a, WORDS * 4), -EINVAL,
		     "not finalized");
	scene_failed(recording, dagpatch_launch(recording, scene->stream), -EINVAL,
		     "being recorded");
	OK(NULL, dagpatch_recording_create(scene->context, 0, &empty));
	scene_failed(empty, dagpatch_bind_all(empty, NULL, 0), -EINVAL, "not finalized");
	dagpatch_recording_destroy(empty);
	assert_null(dagpatch_recording_exec(recording));
	OK(recording, dagpatch_finalize(recording));
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	scene_failed(recording, dagpatch_finalize(recording), -EINVAL, "is finalized");
	scene_failed(recording, dagpatch_add_empty(recording, NULL, NULL), -EINVAL, "is finalized");
	scene_failed(recording,
		     dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = 4), &number),
		     -EINVAL, "is finalized");
	scene_failed(recording, dagpatch_launch(recording, scene->stream), -ENXIO,
		     "slot 0 (words) has no address");
	bind(recording, to, a);
	scene_run(scene);
	expect_all(a, 2);
}

static void bad_bindings(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *a = buffer(1), *b = buffer(2);
	uint32_t first = slot(recording, "first"), second = slot(recording, "second");

	add_three(recording, BED_ADD, (uint32_t[]){first, second, second}, NULL);
	OK(recording, dagpatch_finalize(recording));
	scene_failed(recording, dagpatch_bind(recording, 2, a, WORDS * 4), -EINVAL, "no slot 2");
	scene_failed(recording, dagpatch_bind(recording, first, NULL, WORDS * 4), -EINVAL, "NULL");
	scene_failed(recording, dagpatch_bind(recording, first, a, WORDS * 4 - 1), -EINVAL,
		     "needs 256 bytes, 255 are there");
	scene_failed(recording, dagpatch_bind(recording, first, a + 1, WORDS * 4), -EINVAL,
		     "aligned");
	scene_failed(recording, dagpatch_bind_all(recording, (const void *[]){a}, 1), -EINVAL,
		     "1 addresses for 2");
	/* Neither of the two is bound then. */
	scene_failed(recording, dagpatch_bind_all(recording, (const void *[]){a, a + 1}, 2),
		     -EINVAL, "aligned");
	scene_failed(recording, dagpatch_launch(recording, scene->stream), -ENXIO, "slot 0");
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, b}, 2));
	scene_run(scene);
	expect_all(a, 4);
	/* A slot that is bound elsewhere and back has not changed; a dropped binding is no
	 * change either. */
	bind(recording, first, b);
	bind(recording, first, a);
	bind(recording, second, a);
	OK(recording, dagpatch_revert(recording));
	buffer_set(a, 0);
	scene_run(scene);
	expect_all(a, 4);
}

static int add_with(struct dagpatch_recording *recording, const struct dagpatch_argument *arguments,
		    uint32_t count)
{
	return dagpatch_add_kernel(recording,
				   &DAGPATCH_SIZED(kernel,
						   .function = suite_bed->function(BED_MARK),
						   .grid = {1, 1, 1}, .block = {1, 1, 1},
						   .argument_count = count, .arguments = arguments),
				   NULL, NULL);
}

static void bad_nodes(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t to = slot(recording, "words"), value = 1;
	struct dagpatch_pointer beyond = {.slot = to, .offset = WORDS * 4 + 1}, none = {.slot = 9},
				late = {.byte = 1, .slot = to};
	struct dagpatch_argument arguments[2] = {dagpatch_address(&beyond),
						 dagpatch_value(&value, 4)};
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	scene_failed(recording, add_with(recording, arguments, 2), -EINVAL, "not inside slot 0");
	arguments[0] = dagpatch_address(&none);
	scene_failed(recording, add_with(recording, arguments, 2), -EINVAL, "no slot 9");
	arguments[0] = dagpatch_address(&late);
	scene_failed(recording, add_with(recording, arguments, 2), -EINVAL, "byte 1");
	scene_failed(recording,
		     dagpatch_add_memset(recording,
					 &DAGPATCH_SIZED(memset, .slot = to, .value = 256,
							 .element_bytes = 1, .width = 1),
					 NULL, NULL),
		     -EINVAL, "does not fit");
	scene_failed(recording,
		     dagpatch_add_memset(
			     recording,
			     &DAGPATCH_SIZED(memset, .slot = to, .element_bytes = 3, .width = 1),
			     NULL, NULL),
		     -EINVAL, "1, 2 or 4");
	scene_failed(recording,
		     dagpatch_add_copy(recording,
				       &DAGPATCH_SIZED(copy, .dst = {.slot = to},
						       .src = {.slot = to, .offset = 8},
						       .width_bytes = WORDS * 4),
				       NULL, NULL),
		     -EINVAL, "not inside");
	scene_failed(recording,
		     dagpatch_add_copy(recording,
				       &DAGPATCH_SIZED(copy,
						       .dst = {.slot = to, .pitch = UINT64_MAX / 2},
						       .src = {.slot = to}, .width_bytes = 1,
						       .height = UINT64_MAX / 2),
				       NULL, NULL),
		     -EINVAL, "2^50");
	scene_failed(recording, dagpatch_add_empty(recording, AFTER(0), NULL), -EINVAL,
		     "cannot wait for node 0");
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.node_count, 0);
	assert_int_equal(stats.relocation_count, 0);
	assert_int_equal(stats.parameter_bytes, 0);
}

/* A struct as a newer header would define it. */
struct newer_slot {
	struct dagpatch_slot slot;
	uint64_t newer;
};

static void structs_of_other_headers(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct newer_slot newer = {{.size = sizeof(newer), .name = "newer", .bytes = 64}, 0};
	struct dagpatch_slot slot = {.name = "unset", .bytes = 64};
	uint32_t number;

	scene_failed(recording, dagpatch_slot_add(recording, NULL, &number), -EINVAL,
		     "no struct dagpatch_slot");
	scene_failed(recording, dagpatch_slot_add(recording, &slot, &number), -EINVAL,
		     "size is not sizeof(struct dagpatch_slot)");
	slot.size = 5000;
	scene_failed(recording, dagpatch_slot_add(recording, &slot, &number), -EINVAL,
		     "size is not sizeof(struct dagpatch_slot)");
	/* Members that an older header lacks are 0, whatever bytes follow the struct. */
	slot = DAGPATCH_SIZED(slot, .name = "older", .bytes = 64, .flags = UINT32_MAX);
	slot.size = offsetof(struct dagpatch_slot, flags);
	OK(recording, dagpatch_slot_add(recording, &slot, &number));
	OK(recording, dagpatch_slot_add(recording, &newer.slot, &number));
	newer.newer = 1;
	scene_failed(recording, dagpatch_slot_add(recording, &newer.slot, &number), -E2BIG,
		     "fields that this library, version 100, does not know");
	assert_int_equal(dagpatch_version(), DAGPATCH_VERSION);
}

/* Arguments are compared with the kernel's parameters on drivers that know these. */
static void arguments_are_checked(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_pointer pointer = {.slot = slot(recording, "words")};
	uint64_t value = 1;
	struct dagpatch_argument arguments[2] = {dagpatch_address(&pointer),
						 dagpatch_value(&value, 8)};

	if (!(dagpatch_context_capabilities(scene->context) & DAGPATCH_HAS_LAYOUTS))
		skip();
	scene_failed(recording, add_with(recording, arguments, 2), -EINVAL,
		     "argument 1 has 8 bytes, the kernel takes 4");
	scene_failed(recording, add_with(recording, arguments, 1), -EINVAL,
		     "1 arguments for a kernel that takes 2");
}

static void nested_recordings_are_checked(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording, *nested;
	uint32_t outer = slot(recording, "outer"), inner;
	struct dagpatch_mapping mapping = {outer, 0};
	struct dagpatch_child child = {
		.size = sizeof(child), .mappings = &mapping, .mapping_count = 1};

	OK(NULL, dagpatch_recording_create(scene->context, DAGPATCH_NESTED, &nested));
	child.nested = nested;
	inner = slot(nested, NULL);
	add_three(nested, BED_ADD, (uint32_t[]){inner, inner, inner}, NULL);
	scene_failed(recording, dagpatch_add_child(recording, &child, NULL, NULL), -EINVAL,
		     "finalized");
	OK(nested, dagpatch_finalize(nested));
	scene_failed(nested, dagpatch_bind(nested, inner, &mapping, WORDS * 4), -EINVAL, "nested");
	scene_failed(nested, dagpatch_launch(nested, scene->stream), -EINVAL, "nested");
	mapping.offset = 256;
	scene_failed(recording, dagpatch_add_child(recording, &child, NULL, NULL), -EINVAL,
		     "not inside");
	child.mapping_count = 0;
	mapping.offset = 0;
	scene_failed(recording, dagpatch_add_child(recording, &child, NULL, NULL), -EINVAL,
		     "0 mappings");
	dagpatch_recording_destroy(nested);
}

/* verify reports what it cannot read instead of success. */
static void verify_says_what_it_cannot_read(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	bool is_read = suite_bed->reads_execs && suite_strategy != DAGPATCH_DEVICE_TABLE;
	uint32_t *a = buffer(1), *b = buffer(2);
	uint32_t to = slot(recording, "to"), from = slot(recording, "from");

	add_three(recording, BED_ADD, (uint32_t[]){to, from, from}, NULL);
	OK(recording, dagpatch_add_empty(recording, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	bind(recording, from, b);
	for (uint32_t i = 0; i < 2; i++) {
		scene_run(scene);
		assert_int_equal(dagpatch_verify(recording), is_read ? 0 : DAGPATCH_CANNOT_TELL);
		OK(recording, dagpatch_recording_stats(recording, &stats));
		assert_int_equal(stats.unread_nodes, is_read ? 0 : 1);
		assert_int_equal(stats.failures, 0);
		bind(recording, to, b);
	}
}

struct seen {
	struct dagpatch_change changes[8];
	uint32_t count;
};

static void see(void *user, const struct dagpatch_change *change)
{
	struct seen *seen = user;

	if (seen->count < 8)
		seen->changes[seen->count++] = *change;
}

static void observer_is_reported(void **state)
{
	struct scene *scene = *state;
	struct seen seen = {0};
	struct dagpatch_options options = {
		.size = sizeof(options),
		.driver = suite_bed->driver,
		.strategy = suite_strategy,
		/* The choice would depend on how long calls take. */
		.table_from_nodes = 64,
		.observe = see,
		.observe_user = &seen,
	};
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(1), *b = buffer(2), slots[2];
	enum dagpatch_strategy expected = expected_strategy();

	OK(NULL, dagpatch_context_create(&options, &context, NULL));
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "first");
	slots[1] = slot(recording, "second");
	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[1], slots[1]}, NULL);
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], a);
	bind(recording, slots[1], a);
	OK(recording, dagpatch_launch(recording, scene->stream));
	assert_int_equal(seen.count, 0);
	bind(recording, slots[1], b);
	OK(recording, dagpatch_launch(recording, scene->stream));
	assert_int_equal(seen.count, expected == DAGPATCH_DEVICE_TABLE ? 1 : 2);
	assert_int_equal(seen.changes[0].strategy, expected);
	assert_int_equal(seen.changes[0].slot, slots[1]);
	assert_int_equal(seen.changes[0].old_address, (uintptr_t)a);
	assert_int_equal(seen.changes[0].new_address, (uintptr_t)b);
	assert_int_equal(seen.changes[0].node,
			 expected == DAGPATCH_DEVICE_TABLE ? DAGPATCH_NONE : 0);
	suite_bed->stream_synchronize(scene->stream);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
}

/* A replay that is already launched must never use addresses that are bound later. */
static void replays_in_flight_keep_their_addresses(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	uint32_t *flag = suite_bed->alloc_host(256), *buffers[16];
	uint32_t to = slot(recording, "to"), one = 1, held = slot(recording, "flag"), node;
	struct dagpatch_pointer pointers[2] = {{.slot = held}, {.slot = to}};
	struct dagpatch_argument hold = dagpatch_address(&pointers[0]);
	struct dagpatch_argument mark[2] = {dagpatch_address(&pointers[1]),
					    dagpatch_value(&one, 4)};

	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_HOLD),
					       .grid = {1, 1, 1}, .block = {1, 1, 1},
					       .argument_count = 1, .arguments = &hold),
			       NULL, &node));
	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_MARK),
					       .grid = {1, 1, 1}, .block = {1, 1, 1},
					       .argument_count = 2, .arguments = mark),
			       AFTER(node), NULL));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind(recording, held, flag, 256));
	for (uint32_t i = 0; i < 16; i++) {
		buffers[i] = buffer(0);
		bind(recording, to, buffers[i]);
		for (uint32_t j = 0; j <= i % 3; j++)
			OK(recording, dagpatch_launch(recording, scene->stream));
	}
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	suite_bed->stream_synchronize(scene->stream);
	for (uint32_t i = 0; i < 16; i++)
		expect_first(buffers[i], i % 3 + 1);
	suite_bed->free_host(flag);
}

/* A replay keeps its addresses when its recording is evicted or destroyed. Neither call waits
 * for the replay. */
static void replays_in_flight_outlive_their_recordings(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording = scene->recording;
	const struct dagpatch_slot copied = DAGPATCH_SIZED(
		slot, .bytes = WORDS * 4, .flags = DAGPATCH_SHADOW_IN | DAGPATCH_SHADOW_OUT);
	uint32_t *flag = suite_bed->alloc_host(256), *to = buffer(0), *in = buffer(3);
	uint32_t slots[3], held = slot(recording, "flag"), node;
	struct dagpatch_pointer pointer = {.slot = held};
	struct dagpatch_argument hold = dagpatch_address(&pointer);

	*flag = 0;
	OK(recording, dagpatch_slot_add(recording, &copied, &slots[0]));
	slots[1] = slots[2] = slot(recording, "in");
	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_HOLD),
					       .grid = {1, 1, 1}, .block = {1, 1, 1},
					       .argument_count = 1, .arguments = &hold),
			       NULL, &node));
	add_three(recording, BED_ADD, slots, AFTER(node));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){flag, to, in}, 3));
	OK(recording, dagpatch_launch(recording, scene->stream));
	OK(recording, dagpatch_evict(recording));
	OK(recording, dagpatch_launch(recording, scene->stream));
	dagpatch_recording_destroy(recording);
	scene->recording = NULL;
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	suite_bed->stream_synchronize(scene->stream);
	expect_all(to, 6);
	suite_bed->free_host(flag);
}

/* ---- shadows in the per-thread streams of two threads ---- */

enum { TURNS = 8 };

struct turns {
	struct scene *scene;
	pthread_barrier_t barrier;
	uint32_t *flag, *in[TURNS], *out[TURNS];
};

struct turn_taker {
	struct turns *turns;
	pthread_t thread;
	uint32_t number; /* the thread launches in its turns, every other one */
};

static void *take_turns(void *user)
{
	const struct turn_taker *taker = user;
	struct turns *turns = taker->turns;
	struct dagpatch_recording *recording = turns->scene->recording;

	if (suite_bed->device_set)
		suite_bed->device_set(turns->scene->device);
	for (uint32_t i = 0; i < TURNS; i++) {
		if (i % 2 == taker->number) {
			bind(recording, 1, turns->out[i]);
			bind(recording, 2, turns->in[i]);
			OK(recording, dagpatch_launch(recording, suite_bed->per_thread_stream));
		}
		pthread_barrier_wait(&turns->barrier);
	}
	if (taker->number == 0)
		__atomic_store_n(turns->flag, 1, __ATOMIC_RELEASE);
	suite_bed->stream_synchronize(suite_bed->per_thread_stream);
	return NULL;
}

static void record_held_copy(struct turns *turns)
{
	struct dagpatch_recording *recording = turns->scene->recording;
	struct dagpatch_slot copied =
		DAGPATCH_SIZED(slot, .bytes = WORDS * 4, .flags = DAGPATCH_SHADOW_OUT);
	struct dagpatch_pointer pointer = {.slot = slot(recording, "flag")};
	struct dagpatch_argument hold = dagpatch_address(&pointer);
	uint32_t slots[3], node;

	OK(recording, dagpatch_slot_add(recording, &copied, &slots[0]));
	copied.flags = DAGPATCH_SHADOW_IN;
	OK(recording, dagpatch_slot_add(recording, &copied, &slots[1]));
	slots[2] = slots[1];
	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_HOLD),
					       .grid = {1, 1, 1}, .block = {1, 1, 1},
					       .argument_count = 1, .arguments = &hold),
			       NULL, &node));
	add_three(recording, BED_ADD, slots, AFTER(node));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind(recording, pointer.slot, turns->flag, 256));
}

/* The per-thread handle is another stream on each thread. The first replay holds the shadows until
 * all launches have been made; no later launch may write to them before. */
static void shadows_in_the_streams_of_two_threads(void **state)
{
	struct turns turns = {.scene = *state};
	struct turn_taker takers[2];

	if (!suite_bed->per_thread_stream)
		skip();
	turns.flag = suite_bed->alloc_host(256);
	*turns.flag = 0;
	for (uint32_t i = 0; i < TURNS; i++) {
		turns.in[i] = buffer(i + 1);
		turns.out[i] = buffer(0);
	}
	record_held_copy(&turns);
	pthread_barrier_init(&turns.barrier, NULL, 2);
	threads_begin();
	for (uint32_t i = 0; i < 2; i++) {
		takers[i] = (struct turn_taker){.turns = &turns, .number = i};
		assert_int_equal(pthread_create(&takers[i].thread, NULL, take_turns, &takers[i]),
				 0);
	}
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(takers[i].thread, NULL);
	threads_end();
	pthread_barrier_destroy(&turns.barrier);
	for (uint32_t i = 0; i < TURNS; i++)
		expect_all(turns.out[i], 2 * (i + 1));
	suite_bed->free_host(turns.flag);
}

int suite_states(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(calls_in_the_wrong_state),
		SCENE(bad_bindings),
		SCENE(bad_nodes),
		SCENE(structs_of_other_headers),
		SCENE(arguments_are_checked),
		SCENE(nested_recordings_are_checked),
		SCENE(verify_says_what_it_cannot_read),
		SCENE(observer_is_reported),
		SCENE(replays_in_flight_keep_their_addresses),
		SCENE(replays_in_flight_outlive_their_recordings),
		SCENE(shadows_in_the_streams_of_two_threads),
	};

	return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}
