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
