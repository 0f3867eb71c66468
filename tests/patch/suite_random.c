/* Random graphs that are bound and set again and again. The result of each replay must be equal,
 * bit for bit, to that of a fresh recording at the same addresses and to the result computed on
 * the host. Scalars equal addresses of buffers, structs hold several addresses with offsets,
 * children are nested, and copies have every shape. */
#include <inttypes.h>
#include <stdlib.h>

#include "random_world.h"

/* ---- setting parameters ---- */

/* Sets OPERATION, which is NODE of the recording, or an operation inside it, down to captured
 * work. OUTER maps the slots of its block to those of the recording. */
static void set(struct world *world, struct operation *operation, uint32_t node,
		const uint32_t outer[SLOTS])
{
	struct target target = {.scene = world->scene,
				.recording = world->scene->recording,
				.node = &node,
				.is_set = true};
	struct operation here;

	if (operation->kind == CAPTURED || operation->kind == GIVEN)
		return;
	if (operation->kind == CHILD && world_draw(world, 3) > 0) {
		uint32_t index = world_draw(world, operation->inner->count), inner[SLOTS];

		for (uint32_t i = 0; i < SLOTS; i++)
			inner[i] = outer[operation->map[i]];
		set(world, &operation->inner->operations[index],
		    node + 1 + operation->inner->operations[index].node, inner);
		return;
	}
	operation_change(world, operation);
	here = *operation;
	for (uint32_t i = 0; i < 3; i++)
		here.slots[i] = outer[here.slots[i]];
	for (uint32_t i = 0; i < SLOTS; i++)
		here.map[i] = outer[here.map[i]];
	OK(target.recording, operation_record(world, &target, &here, world->is_derived));
}

static void set_some(struct world *world)
{
	static const uint32_t same[SLOTS] = {0, 1, 2, 3, 4, 5};
	uint32_t count = world_draw(world, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct operation *operation =
			&world->top->operations[world_draw(world, world->top->count)];

		set(world, operation, operation->node, same);
	}
}

/* ---- binding and comparing ---- */

static void bind_slots(struct world *world, struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		OK(recording,
		   dagpatch_bind(recording, i, world->buffers[world->bound[i]], BUFFER_WORDS * 4));
}

/* Binds some slots to other buffers, never two slots to the same buffer. */
static void rebind(struct world *world)
{
	uint32_t changes = 1 + world_draw(world, SLOTS);

	for (uint32_t i = 0; i < changes; i++) {
		uint32_t slot_number = world_draw(world, SLOTS), to = world_draw(world, BUFFERS);

		for (uint32_t j = 0; j < SLOTS; j++)
			if (world->bound[j] == to)
				world->bound[j] = world->bound[slot_number];
		world->bound[slot_number] = to;
	}
}

static void write_buffers(struct world *world)
{
	uint32_t before = scene_visit(world->scene);

	for (uint32_t i = 0; i < BUFFERS; i++)
		suite_bed->write(world->buffers[i], world->before[i], BUFFER_WORDS * 4);
	device_back(before);
}

static void expect_buffers(struct world *world, const char *what)
{
	uint32_t before = scene_visit(world->scene);
	uint32_t words[BUFFER_WORDS];

	for (uint32_t i = 0; i < BUFFERS; i++) {
		suite_bed->read(words, world->buffers[i], sizeof(words));
		for (uint32_t j = 0; j < BUFFER_WORDS; j++)
			if (words[j] != world->host[i][j])
				fail_msg("%s, rebind %u: buffer %u, word %u is 0x%x, not 0x%x",
					 what, world->round, i, j, words[j], world->host[i][j]);
	}
	device_back(before);
}

static void run_fresh(struct world *world)
{
	struct dagpatch_recording *fresh;

	OK(NULL, dagpatch_recording_create(world->scene->context, 0, &fresh));
	block_record(world, fresh, world->top, false);
	bind_slots(world, fresh);
	OK(fresh, dagpatch_launch(fresh, world->scene->stream));
	scene_wait(world->scene);
	dagpatch_recording_destroy(fresh);
	expect_buffers(world, "a fresh recording");
}

/* ---- a world ---- */

static void next_graph(struct world *world)
{
	if (world->top)
		block_free(world->top);
	world->is_derived = world_draw(world, 2);
	world->top = block_make(world, world_draw(world, DEPTH + 1), false);
	scene_again(world->scene, world->is_derived ? DAGPATCH_DERIVE_DEPENDENCIES : 0);
	block_record(world, world->scene->recording, world->top, world->is_derived);
	for (uint32_t i = 0; i < SLOTS; i++)
		world->bound[i] = i;
}

struct world *world_create(struct scene *scene, uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t before = scene_visit(scene);

	assert_non_null(world);
	world->state = seed;
	world->scene = scene;
	for (uint32_t i = 0; i < BUFFERS; i++)
		world->buffers[i] = suite_bed->alloc(BUFFER_WORDS * 4);
	for (uint32_t i = 0; i < SLOTS; i++)
		world->elsewhere[i] = suite_bed->alloc(BUFFER_WORDS * 4);
	device_back(before);
	return world;
}

void world_round(struct world *world)
{
	if (world->round++ % WORLD_ROUNDS == 0)
		next_graph(world);
	if (world_draw(world, 3))
		rebind(world);
	set_some(world);
	bind_slots(world, world->scene->recording);
	for (uint32_t i = 0; i < BUFFERS; i++)
		for (uint32_t j = 0; j < BUFFER_WORDS; j++)
			world->before[i][j] = world->host[i][j] = world_draw(world, 1u << 30);
	write_buffers(world);
	block_reckon(world, world->top, world->bound);
	scene_run(world->scene);
	expect_buffers(world, "patched");
	write_buffers(world);
	run_fresh(world);
}

void world_destroy(struct world *world)
{
	uint32_t before = scene_visit(world->scene);

	for (uint32_t i = 0; i < BUFFERS; i++)
		suite_bed->free(world->buffers[i]);
	for (uint32_t i = 0; i < SLOTS; i++)
		suite_bed->free(world->elsewhere[i]);
	device_back(before);
	if (world->top)
		block_free(world->top);
	free(world);
}

static uint64_t random_seed;
static uint32_t random_rebinds;

static void random_graphs(void **state)
{
	struct world *world = world_create(*state, random_seed);

	print_message("seed %" PRIu64 ", %u rebinds\n", random_seed, random_rebinds);
	for (uint32_t i = 0; i < random_rebinds; i++)
		world_round(world);
	world_destroy(world);
}

int suite_random(uint64_t seed, uint32_t rebinds)
{
	const struct CMUnitTest tests[] = {SCENE(random_graphs)};

	random_seed = seed;
	random_rebinds = rebinds;
	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
