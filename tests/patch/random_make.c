/* Random graphs (random_world.h): drawing their operations. */
#include <stdlib.h>

#include "random_world.h"

uint32_t world_draw(struct world *world, uint32_t limit)
{
	world->state = world->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((world->state >> 33) % limit);
}

static uint64_t any_scalar(struct world *world)
{
	if (world_draw(world, 2))
		return (uintptr_t)world->buffers[world_draw(world, BUFFERS)] +
		       4 * world_draw(world, 3);
	return world_draw(world, 1000);
}

static void make_copy(struct world *world, struct operation *operation)
{
	static const uint32_t most[3][3] = {{256, 1, 1}, {32, 8, 1}, {16, 4, 4}};
	const uint32_t *limit = most[world_draw(world, 3)];

	for (uint32_t i = 0; i < 3; i++)
		operation->extent[i] = 1 + world_draw(world, limit[i]);
	if (limit[1] > 1 && operation->extent[1] == 1)
		operation->extent[1] = 2;
	if (limit[2] > 1 && operation->extent[2] == 1)
		operation->extent[2] = 2;
	if (operation->slots[0] == operation->slots[1] &&
	    operation->quarters[0] == operation->quarters[1])
		operation->quarters[1] = (operation->quarters[0] + 1) % 4;
}

static void make_memset(struct world *world, struct operation *operation)
{
	operation->extent[0] = 1u << world_draw(world, 3);
	operation->extent[1] = 1 + world_draw(world, QUARTER * 4 / operation->extent[0]);
}

static void operation_place(struct world *world, struct operation *operation)
{
	for (uint32_t i = 0; i < 3; i++) {
		operation->slots[i] = world_draw(world, SLOTS);
		operation->quarters[i] = world_draw(world, 4);
	}
}

static void make_map(struct world *world, struct operation *operation)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		operation->map[i] = i;
	for (uint32_t i = SLOTS - 1; i > 0; i--) {
		uint32_t j = world_draw(world, i + 1), kept = operation->map[i];

		operation->map[i] = operation->map[j];
		operation->map[j] = kept;
	}
}

struct block *block_make(struct world *world, uint32_t depth, bool is_captured);

static void make_operation(struct world *world, struct operation *operation, uint32_t depth,
			   bool is_captured)
{
	uint32_t kinds = is_captured ? CHILD : depth > 0 ? KINDS : CHILD;

	operation->kind = world_draw(world, kinds);
	if (is_captured && operation->kind == COPY && suite_bed->no_captured_copies)
		operation->kind = MEMSET;
	/* The test itself captures GIVEN and ADOPTED operations. dagpatch cannot keep these
	 * graph calls apart from those of other threads. */
	if (operation->kind > CAPTURED && world->scene->is_shared && suite_bed->graph_calls_race)
		operation->kind = CAPTURED;
	operation_place(world, operation);
	operation->scalar = any_scalar(world);
	operation->blocks = 1u << world_draw(world, 3);
	make_map(world, operation);
	if (operation->kind == COPY)
		make_copy(world, operation);
	if (operation->kind == MEMSET)
		make_memset(world, operation);
	if (operation->kind >= CHILD)
		operation->inner = block_make(world, depth - 1, operation->kind > CHILD);
}

struct block *block_make(struct world *world, uint32_t depth, bool is_captured)
{
	struct block *block = calloc(1, sizeof(*block));

	assert_non_null(block);
	block->count = 1 + world_draw(world, MOST_OPERATIONS);
	for (uint32_t i = 0; i < block->count; i++)
		make_operation(world, &block->operations[i], depth, is_captured);
	/* Some graphs have the maximum depth. */
	if (depth > 0 && !is_captured && !block->operations[0].inner) {
		block->operations[0].kind = CHILD;
		block->operations[0].inner = block_make(world, depth - 1, false);
	}
	return block;
}

void block_free(struct block *block)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->operations[i].inner)
			block_free(block->operations[i].inner);
	free(block);
}

void operation_change(struct world *world, struct operation *operation)
{
	operation->scalar = any_scalar(world);
	operation->blocks = 1u << world_draw(world, 3);
	for (uint32_t i = 0; operation->inner && i < operation->inner->count; i++)
		operation_change(world, &operation->inner->operations[i]);
	if (world->is_derived) {
		if (operation->kind == ADD || operation->kind == MUL)
			operation->kind = world_draw(world, 2) ? ADD : MUL;
		return;
	}
	operation_place(world, operation);
	make_map(world, operation);
	if (operation->kind < COPY)
		operation->kind = world_draw(world, COPY);
	if (operation->kind == COPY)
		make_copy(world, operation);
	if (operation->kind == MEMSET)
		make_memset(world, operation);
}
