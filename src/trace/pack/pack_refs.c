/* The hash map and the references of pack_refs.h. */
#include "trace/pack/pack_refs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 64

/* A context is a hash of the last eight keys (with places, if rows have them): each step shifts it
 * left by 8 bits, so a key has no influence after eight steps. The factor is part of the file
 * format, because a collision of contexts changes the template references. */
#define CONTEXT_FACTOR 0x9e3779b97f4a7c15u

void pack_map_clear(struct pack_map *map)
{
	/* Frees a table that is much too large now, so that one large block does not make the
	 * clearing slow for the many small blocks after it. */
	if (map->room > ROOM_LEAST && map->used < map->room / 16) {
		free(map->entries);
		*map = (struct pack_map){0};
	}
	if (map->used)
		memset(map->entries, 0, map->room * sizeof(*map->entries));
	map->used = 0;
}

void pack_map_release(struct pack_map *map)
{
	free(map->entries);
	*map = (struct pack_map){0};
}

static struct pack_map_entry *find_place(const struct pack_map *map, uint64_t key)
{
	uint64_t mixed = key * 0xd6e8feb86659fd93u;
	uint32_t mask = map->room - 1;
	uint32_t at = (uint32_t)(mixed >> 32) & mask;

	while (map->entries[at].number && map->entries[at].key != key)
		at = (at + 1) & mask;
	return &map->entries[at];
}

static int grow(struct pack_map *map)
{
	struct pack_map wider = {.room = map->room ? map->room * 4 : ROOM_LEAST, .used = map->used};

	wider.entries = calloc(wider.room, sizeof(*wider.entries));
	if (!wider.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->room; i++) {
		if (map->entries[i].number)
			*find_place(&wider, map->entries[i].key) = map->entries[i];
	}
	free(map->entries);
	*map = wider;
	return 0;
}

struct pack_map_entry *pack_map_take(struct pack_map *map, uint64_t key)
{
	struct pack_map_entry *entry;

	if (map->used >= map->room / 2 && grow(map) < 0)
		return NULL;
	entry = find_place(map, key);
	if (!entry->number)
		*entry = (struct pack_map_entry){key, ++map->used, PACK_NO_ROW};
	return entry;
}

static void free_rows(struct pack_refs *refs)
{
	free(refs->keyed);
	free(refs->template);
	free(refs->numbers);
	free(refs->places);
}

static int reserve(struct pack_refs *refs, uint32_t count)
{
	if (count <= refs->room)
		return 0;
	free_rows(refs);
	refs->keyed = malloc(count * sizeof(*refs->keyed));
	refs->template = malloc(count * sizeof(*refs->template));
	refs->numbers = malloc(count * sizeof(*refs->numbers));
	refs->places = malloc(count * sizeof(*refs->places));
	refs->room = 0;
	if (!refs->keyed || !refs->template || !refs->numbers || !refs->places)
		return -ENOMEM;
	refs->room = count;
	return 0;
}

int pack_refs_make(struct pack_refs *refs, const uint64_t *keys, const uint64_t *places,
		   uint32_t count)
{
	struct pack_map_entry *entry = NULL;

	if (reserve(refs, count) < 0)
		return -ENOMEM;
	refs->count = count;
	refs->has_template = false;
	refs->has_places = places;
	pack_map_clear(&refs->keys);
	for (uint32_t i = 0; i < count; i++) {
		if (!entry || entry->key != keys[i])
			entry = pack_map_take(&refs->keys, keys[i]);
		if (!entry)
			return -ENOMEM;
		refs->keyed[i] = entry->row;
		refs->numbers[i] = entry->number;
		if (places)
			refs->places[i] = (uint32_t)places[i];
		entry->row = i;
	}
	return 0;
}

/* The number of the row's key, or of its key and place if rows have places. 0: out of memory. */
static uint32_t find_spot(struct pack_refs *refs, uint32_t row)
{
	const struct pack_map_entry *spot;

	if (!refs->has_places)
		return refs->numbers[row];
	spot = pack_map_take(&refs->spots, (uint64_t)refs->numbers[row] << 32 | refs->places[row]);
	return spot ? spot->number : 0;
}

const uint32_t *pack_refs_template(struct pack_refs *refs)
{
	uint64_t context = 0;

	if (refs->has_template)
		return refs->template;
	pack_map_clear(&refs->spots);
	pack_map_clear(&refs->contexts);
	for (uint32_t i = 0; i < refs->count; i++) {
		uint32_t spot = find_spot(refs, i);
		struct pack_map_entry *entry;

		context = context << 8 ^ spot * CONTEXT_FACTOR;
		entry = spot ? pack_map_take(&refs->contexts, context) : NULL;
		if (!entry)
			return NULL;
		refs->template[i] = entry->row == PACK_NO_ROW ? refs->keyed[i] : entry->row;
		entry->row = i;
	}
	refs->has_template = true;
	return refs->template;
}

void pack_refs_release(struct pack_refs *refs)
{
	free_rows(refs);
	pack_map_release(&refs->keys);
	pack_map_release(&refs->spots);
	pack_map_release(&refs->contexts);
	*refs = (struct pack_refs){0};
}
