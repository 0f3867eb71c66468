/* A hash index: finds rows of an array of the caller's by their hash. The map keeps the hash and
 * the index of each row, and the caller compares the rows, so rows may be of any type and keys of
 * any size. Open addressing, at most half full; 8 bytes for each slot.
 *
 * To find a row, or to add it if there is none:
 *
 *	struct hash_probe probe;
 *
 *	if (hash_map_reserve(&map) < 0)
 *		return -ENOMEM;
 *	probe = hash_map_probe(&map, hash);
 *	while (hash_map_next(&map, &probe)) {
 *		if (is_equal(&rows[probe.row], ...))
 *			return probe.row;
 *	}
 *	hash_map_put(&map, &probe, row_count);
 *
 * Threading: one thread at a time; any number may look up while nobody adds. */
#ifndef DAGTAP_BASE_HASH_MAP_H
#define DAGTAP_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* A slot is free if `row` is 0. */
struct hash_slot {
	uint32_t hash;
	uint32_t row; /* index + 1 */
};

/* Zero is an empty map. */
struct hash_map {
	struct hash_slot *slots;
	uint32_t slot_count; /* a power of two, or 0 */
	uint32_t count;	     /* number of rows in the map */
};

/* The state of one lookup. */
struct hash_probe {
	uint32_t hash;
	uint32_t at;  /* the next slot; once hash_map_next has returned false, the free one */
	uint32_t row; /* the candidate */
};

/* The slow path of hash_map_reserve. */
int hash_map_grow(struct hash_map *map);

/* Makes room for one more row. Returns 0, or -ENOMEM also at 2^30 rows; the map is then as
 * before. */
static inline int hash_map_reserve(struct hash_map *map)
{
	return map->count < map->slot_count / 2 ? 0 : hash_map_grow(map);
}

/* Begins a lookup of HASH, of which the upper 32 bits are used. Room must have been reserved once
 * at least. */
static inline struct hash_probe hash_map_probe(const struct hash_map *map, uint64_t hash)
{
	uint32_t upper = (uint32_t)(hash >> 32);

	return (struct hash_probe){.hash = upper, .at = upper & (map->slot_count - 1)};
}

/* Moves to the next row with this hash, PROBE->row. False: there is no more. */
static inline bool hash_map_next(const struct hash_map *map, struct hash_probe *probe)
{
	for (; map->slots[probe->at].row; probe->at = (probe->at + 1) & (map->slot_count - 1)) {
		const struct hash_slot *slot = &map->slots[probe->at];

		if (slot->hash != probe->hash)
			continue;
		probe->row = slot->row - 1;
		probe->at = (probe->at + 1) & (map->slot_count - 1);
		return true;
	}
	return false;
}

/* Adds ROW, at most 2^32 - 2, with the hash of PROBE, for which hash_map_next has returned false.
 * Room must be reserved before the probe. */
static inline void hash_map_put(struct hash_map *map, const struct hash_probe *probe, uint32_t row)
{
	map->slots[probe->at] = (struct hash_slot){probe->hash, row + 1};
	map->count++;
}

/* Removes ROW, which was put with HASH. Rows behind it move up, so no lookup may be under way.
 * Returns false if the map has no such row. */
bool hash_map_remove(struct hash_map *map, uint64_t hash, uint32_t row);

/* Removes all rows; keeps the memory. */
void hash_map_clear(struct hash_map *map);

/* Frees the memory and makes the map empty. */
void hash_map_release(struct hash_map *map);

#endif
