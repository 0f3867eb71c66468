/* Random graphs (random_world.h): their results, computed on the host. */
#include <string.h>

#include "random_world.h"

static void reckon_copy(const struct operation *operation, uint8_t *dst, const uint8_t *src)
{
	uint32_t pitch = operation->extent[2] > 1 ? 16 : 32;

	for (uint32_t z = 0; z < operation->extent[2]; z++)
		for (uint32_t y = 0; y < operation->extent[1]; y++)
			memmove(dst + (z * 4 + y) * pitch, src + (z * 4 + y) * pitch,
				operation->extent[0]);
}

static void reckon_fold(uint32_t *out, const uint32_t *in, uint64_t scalar)
{
	for (uint32_t i = 0; i < QUARTER / 2; i++) {
		uint64_t to, from;

		memcpy(&to, out + 2 * i, sizeof(to));
		memcpy(&from, in + 2 * i, sizeof(from));
		to = to * 31 + from + scalar;
		memcpy(out + 2 * i, &to, sizeof(to));
	}
}

static void reckon(const struct operation *operation, uint32_t *const words[3])
{
	uint32_t scalar = operation->kind == PACKED ? (uint8_t)operation->scalar
						    : (uint32_t)operation->scalar;

	for (uint32_t i = 0; i < QUARTER; i++) {
		if (operation->kind == ADD)
			words[0][i] = words[1][i] + words[2][i];
		else if (operation->kind == MUL)
			words[0][i] = words[1][i] * words[2][i];
		else if (operation->kind == STRUCT || operation->kind == PACKED)
			words[0][i] = words[1][i] + scalar;
	}
	if (operation->kind == FOLD)
		reckon_fold(words[0], words[1], operation->scalar);
	if (operation->kind == MARK)
		words[0][0] += scalar;
	if (operation->kind == COPY)
		reckon_copy(operation, (uint8_t *)words[0], (const uint8_t *)words[1]);
	for (uint32_t i = 0; operation->kind == MEMSET && i < operation->extent[1]; i++)
		memcpy((uint8_t *)words[0] + i * operation->extent[0], &operation->scalar,
		       operation->extent[0]);
}

void block_reckon(struct world *world, const struct block *block, const uint32_t *bound)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const struct operation *operation = &block->operations[i];
		uint32_t *words[3], inner[SLOTS];

		for (uint32_t j = 0; j < 3; j++)
			words[j] = world->host[bound[operation->slots[j]]] +
				   operation->quarters[j] * QUARTER;
		for (uint32_t j = 0; j < SLOTS; j++)
			inner[j] = bound[operation->map[j]];
		if (operation->inner)
			block_reckon(world, operation->inner, inner);
		else
			reckon(operation, words);
	}
}
