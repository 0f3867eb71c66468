/* Behaviour that only the model device can show: the size of dagpatch's data, the choice of
 * strategy, and drivers with fewer features. */
#include <errno.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

/* Creates a context with OPTIONS and records COUNT kernels in a chain, out = in + in, alternating
 * between two slots. */
static struct dagpatch_recording *chain(struct scene *scene, const struct dagpatch_options *options,
					uint32_t count)
{
	struct dagpatch_recording *recording = scene_create(scene, options);
	uint32_t slots[] = {slot(recording, "even"), slot(recording, "odd")}, node = 0;

	for (uint32_t i = 0; i < count; i++)
		node = add_three(recording, BED_ADD,
				 (uint32_t[]){slots[i % 2], slots[1 - i % 2], slots[1 - i % 2]},
				 i ? AFTER(node) : NULL);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

static void bookkeeping_is_small(void **state)
{
	enum { NODES = 10000 };
	struct scene *scene = *state;
	struct dagpatch_recording *recording = chain(scene, &(struct dagpatch_options){0}, NODES);
	struct dagpatch_stats stats;

	bind(recording, 0, buffer(0));
	bind(recording, 1, buffer(0));
	scene_run(scene);
	stats = stats_of(scene->recording);
	assert_int_equal(stats.node_count, NODES);
	assert_int_equal(stats.relocation_count, 3 * NODES);
	assert_true(stats.node_bytes <= 64 * NODES);
	assert_int_equal(stats.relocation_bytes, 16 * 3 * NODES);
	/* The driver gets 40 bytes and the 28 bytes of the arguments per node. */
	assert_true(stats.parameter_bytes <= 72 * NODES);
}

/* Runs a chain of NODES nodes ROUNDS times, with the two buffers exchanged each time. */
static struct dagpatch_stats run_chain(struct scene *scene, const struct dagpatch_options *options,
				       uint32_t nodes, uint32_t rounds)
{
	struct dagpatch_recording *recording = chain(scene, options, nodes);
	uint32_t *buffers[2] = {buffer(0), buffer(0)};

	for (uint32_t i = 0; i < rounds; i++) {
		bind(recording, 0, buffers[i % 2]);
		bind(recording, 1, buffers[1 - i % 2]);
		scene_run(scene);
	}
	return stats_of(scene->recording);
}

/* Newer releases of HIP need this: after updates of four times the ten nodes, a new graph. */
static void worn_out_graphs_are_instantiated_anew(void **state)
{
	const struct dagpatch_options options = {.strategy = DAGPATCH_SET_PARAMS,
						 .updates_before_instantiate = 4};
	struct dagpatch_stats stats = run_chain(*state, &options, 10, 16);

	assert_int_equal(stats.uses[DAGPATCH_SET_PARAMS], 12);
	assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE], 4);
	assert_int_equal(stats.nodes[DAGPATCH_SET_PARAMS], 120);
}

static void note_strategy(void *user, const struct dagpatch_change *change)
{
	enum dagpatch_strategy *told = user;

	told[change->slot] = change->strategy;
}

/* A new graph has a new table that holds the addresses already, so nothing is bound in it. */
static void worn_out_tables_are_instantiated_anew(void **state)
{
	enum dagpatch_strategy told[2] = {DAGPATCH_AUTO, DAGPATCH_AUTO};
	struct scene *scene = *state;
	struct dagpatch_recording *recording =
		scene_create(scene, &(struct dagpatch_options){.strategy = DAGPATCH_DEVICE_TABLE,
							       .updates_before_instantiate = 1,
							       .observe = note_strategy,
							       .observe_user = told});
	uint32_t *buffers[2] = {buffer(0), buffer(0)};
	uint32_t slots[] = {slot(recording, "table"), slot(recording, "host")};
	struct dagpatch_stats stats;

	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[0], slots[0]}, NULL);
	OK(recording, dagpatch_add_memset(recording,
					  &DAGPATCH_SIZED(memset, .slot = slots[1],
							  .element_bytes = 4, .width = 1),
					  NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	/* Two nodes: the second update of them is the last one before a new graph. */
	for (uint32_t i = 0; i < 4; i++) {
		bind(recording, slots[0], buffers[i % 2]);
		bind(recording, slots[1], buffers[1 - i % 2]);
		OK(recording, dagpatch_apply(recording));
		if (i > 0) {
			assert_int_equal(told[0],
					 i < 3 ? DAGPATCH_DEVICE_TABLE : DAGPATCH_INSTANTIATE);
			assert_int_equal(told[1],
					 i < 3 ? DAGPATCH_SET_PARAMS : DAGPATCH_INSTANTIATE);
		}
	}
	stats = stats_of(scene->recording);
	assert_int_equal(stats.uses[DAGPATCH_DEVICE_TABLE], 2);
	assert_int_equal(stats.uses[DAGPATCH_SET_PARAMS], 2);
	assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE], 2);
}

/* Most nodes change, so the whole-graph update is tried once; after that the cheaper strategy is
 * used. */
static void costs_are_measured(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_stats stats;

	scene_lack(scene, DAGPATCH_MODEL_NO_TABLE);
	stats = run_chain(scene, &(struct dagpatch_options){0}, 200, 20);
	assert_true(stats.uses[DAGPATCH_UPDATE_GRAPH] >= 1);
	assert_true(stats.uses[DAGPATCH_SET_PARAMS] >= 1);
	assert_int_equal(stats.uses[DAGPATCH_UPDATE_GRAPH] + stats.uses[DAGPATCH_SET_PARAMS], 19);
	/* With few nodes it is not worth trying. */
	stats = run_chain(scene, &(struct dagpatch_options){0}, 20, 20);
	assert_int_equal(stats.uses[DAGPATCH_UPDATE_GRAPH], 0);
}

/* Nodes that were set one by one keep their parameters when the rest is updated as a whole. */
static void updates_keep_what_was_set_before(void **state)
{
	enum { FEW = 10, MANY = 100 };
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t slots[2];

	scene_lack(scene, DAGPATCH_MODEL_NO_TABLE);
	recording = scene_create(scene, &(struct dagpatch_options){.verify = 1});
	slots[0] = slot(recording, "few");
	slots[1] = slot(recording, "many");
	for (uint32_t i = 0; i < FEW + MANY; i++) {
		uint32_t to = slots[i >= FEW];

		add_three(recording, BED_ADD, (uint32_t[]){to, to, to}, NULL);
	}
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++)
		bind(recording, slots[i], buffer(0));
	OK(recording, dagpatch_apply(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, slots[i], buffer(0));
		OK(recording, dagpatch_apply(recording));
	}
	assert_int_equal(stats_of(scene->recording).uses[DAGPATCH_SET_PARAMS], 1);
	assert_int_equal(stats_of(scene->recording).uses[DAGPATCH_UPDATE_GRAPH], 1);
}

static void what_a_driver_cannot_is_done_otherwise(void **state)
{
	static const struct {
		uint32_t without;
		enum dagpatch_strategy wanted, used;
	} cases[] = {
		{DAGPATCH_MODEL_NO_UPDATE, DAGPATCH_UPDATE_GRAPH, DAGPATCH_INSTANTIATE},
		{DAGPATCH_MODEL_NO_TABLE, DAGPATCH_DEVICE_TABLE, DAGPATCH_SET_PARAMS},
	};

	for (uint32_t i = 0; i < 2; i++) {
		struct dagpatch_stats stats;

		scene_lack(*state, cases[i].without);
		stats = run_chain(*state, &(struct dagpatch_options){.strategy = cases[i].wanted},
				  4, 2);
		assert_int_equal(stats.uses[cases[i].wanted], 0);
		assert_int_equal(stats.uses[cases[i].used],
				 cases[i].used == DAGPATCH_INSTANTIATE ? 2 : 1);
		assert_int_equal(stats.failures, 0);
	}
}

static int capture_memset(void *user, void *stream, void *const *addresses)
{
	return suite_bed->memset(stream, addresses[0], 7, 4, WORDS) ? -EIO : 0;
}

/* Nodes in children cannot be set one by one here. A whole-graph update would restore the first
 * addresses of the table's nodes. */
static void updates_leave_the_table_alone(void **state)
{
	struct scene *scene = *state;
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(1), *b = buffer(5), *c = buffer(2), *d = buffer(2), slots[2];

	scene_lack(scene, DAGPATCH_MODEL_NO_NESTED_SETS);
	recording =
		scene_create(scene, &(struct dagpatch_options){.strategy = DAGPATCH_DEVICE_TABLE});
	slots[0] = slot(recording, "table");
	slots[1] = slot(recording, "child");
	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[0], slots[0]}, NULL);
	OK(recording, dagpatch_add_captured(recording,
					    &DAGPATCH_SIZED(capture, .record = capture_memset,
							    .slots = &slots[1], .slot_count = 1),
					    NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, c}, 2));
	OK(recording, dagpatch_apply(recording));
	bind(recording, slots[0], b);
	OK(recording, dagpatch_launch(recording, scene->stream));
	bind(recording, slots[1], d);
	scene_run(scene);
	expect_all(a, 1);
	expect_all(b, 20);
	expect_all(d, 7);
}

/* The graph contains the shadow's address, which does not change. */
static void a_moved_shadow_changes_nothing_in_the_graph(void **state)
{
	static const enum dagpatch_strategy strategies[] = {
		DAGPATCH_SET_PARAMS, DAGPATCH_DEVICE_TABLE, DAGPATCH_UPDATE_GRAPH,
		DAGPATCH_INSTANTIATE};
	uint32_t *a = buffer(0), *inputs[2] = {buffer(3), buffer(4)};
	struct scene *scene = *state;

	for (uint32_t i = 0; i < 4; i++) {
		struct dagpatch_recording *recording =
			scene_create(scene, &(struct dagpatch_options){.strategy = strategies[i]});
		uint32_t to = slot(recording, "to"), in;
		struct dagpatch_stats stats;

		OK(recording,
		   dagpatch_slot_add(recording,
				     &DAGPATCH_SIZED(slot, .bytes = WORDS * sizeof(uint32_t),
						     .flags = DAGPATCH_SHADOW_IN),
				     &in));
		add_three(recording, BED_ADD, (uint32_t[]){to, in, in}, NULL);
		OK(recording, dagpatch_finalize(recording));
		bind(recording, to, a);
		for (uint32_t j = 0; j < 2; j++) {
			bind(recording, in, inputs[j]);
			scene_run(scene);
			expect_all(a, j ? 8 : 6);
		}
		stats = stats_of(scene->recording);
		assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE], 1);
		assert_int_equal(stats.uses[DAGPATCH_DEVICE_TABLE], 0);
		assert_int_equal(stats.uses[DAGPATCH_SHADOW], 2);
	}
}

static void contexts_are_checked(void **state)
{
	struct dagpatch_options options = {.size = sizeof(options), .driver = "no such"};
	struct dagpatch_context *context;
	struct dagpatch_error error;

	assert_int_equal(dagpatch_context_create(&options, &context, &error), -EINVAL);
	assert_non_null(strstr(error.message, "\"no such\""));
	options.driver = "cuda";
	options.library = "/nonexistent/libcuda.so";
	assert_int_equal(dagpatch_context_create(&options, &context, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/libcuda.so"));
	options.driver = "hip";
	options.library = "/nonexistent/libamdhip64.so";
	assert_int_equal(dagpatch_context_create(&options, &context, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/libamdhip64.so"));
	options = (struct dagpatch_options){.driver = "model"};
	assert_int_equal(dagpatch_context_create(&options, &context, &error), -EINVAL);
	assert_string_equal(dagpatch_driver_name(0), "cuda");
	assert_string_equal(dagpatch_driver_name(2), "model");
	assert_null(dagpatch_driver_name(3));
	assert_null(dagpatch_driver_name(4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(bookkeeping_is_small),
		SCENE(worn_out_graphs_are_instantiated_anew),
		SCENE(worn_out_tables_are_instantiated_anew),
		SCENE(costs_are_measured),
		SCENE(updates_keep_what_was_set_before),
		SCENE(what_a_driver_cannot_is_done_otherwise),
		SCENE(updates_leave_the_table_alone),
		SCENE(a_moved_shadow_changes_nothing_in_the_graph),
		cmocka_unit_test(contexts_are_checked),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
