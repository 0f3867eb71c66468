/* Growing and emptying a hash index (see hash_map.h). */
#include "base/hash_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define SLOTS_FIRST 64u
#define SLOTS_MOST  (1u << 31)

int hash_map_grow(struct hash_map *map)
{
	uint32_t slot_count = map->slot_count ? map->slot_count * 2 : SLOTS_FIRST;
	struct hash_slot *slots = NULL;

	if (map->slot_count < SLOTS_MOST)
		slots = table_zeroed(slot_count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->slot_count; i++) {
		uint32_t at = map->slots[i].hash & (slot_count - 1);

		if (!map->slots[i].row)
			continue;
		while (slots[at].row)
			at = (at + 1) & (slot_count - 1);
		slots[at] = map->slots[i];
	}
	free(map->slots);
	map->slots = slots;
	map->slot_count = slot_count;
	return 0;
}

/* Fills the free slot AT from the slots behind it, so that every row can still be reached from the
 * slot that its hash names. */
static void close_gap(struct hash_map *map, uint32_t at)
{
	uint32_t mask = map->slot_count - 1;

	for (uint32_t next = (at + 1) & mask; map->slots[next].row; next = (next + 1) & mask) {
		uint32_t home = map->slots[next].hash & mask;

		/* The row may not move to a slot before its home. */
		if (((next - home) & mask) < ((next - at) & mask))
			continue;
		map->slots[at] = map->slots[next];
		at = next;
	}
	map->slots[at] = (struct hash_slot){0};
}

bool hash_map_remove(struct hash_map *map, uint64_t hash, uint32_t row)
{
	uint32_t upper = (uint32_t)(hash >> 32), mask = map->slot_count - 1;

	if (!map->slot_count)
		return false;
	for (uint32_t at = upper & mask; map->slots[at].row; at = (at + 1) & mask) {
		if (map->slots[at].hash != upper || map->slots[at].row != row + 1)
			continue;
		close_gap(map, at);
		map->count--;
		return true;
	}
	return false;
}

void hash_map_clear(struct hash_map *map)
{
	if (map->count)
		memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
	map->count = 0;
}

void hash_map_release(struct hash_map *map)
{
	free(map->slots);
	*map = (struct hash_map){0};
}
