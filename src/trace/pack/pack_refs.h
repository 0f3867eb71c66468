/* Inside the packing of records: which earlier row a row is likely to resemble.
 *
 * Rows have a key: the kernel of a dispatch, the number of an API call; and perhaps a place: the how
 * manyth of its call a dispatch is. A row's *keyed* reference is the last row with the same key. Its
 * *template* reference is the last row that had the same key and place, and the same ones before it:
 * in a replay of a graph, the same node of the replay before. Both follow from keys and places, so
 * none of it is stored. */
#ifndef DAGTAP_TRACE_PACK_REFS_H
#define DAGTAP_TRACE_PACK_REFS_H

#include <stdbool.h>
#include <stdint.h>

#define PACK_NO_ROW UINT32_MAX

/* 64-bit keys, each with a number (by first appearance) and the row it was last seen in. */
struct pack_map {
	struct pack_map_entry *entries;
	uint32_t room; /* a power of two, or 0 */
	uint32_t used;
};

struct pack_map_entry {
	uint64_t key;
	uint32_t number; /* from 1; 0: nothing here */
	uint32_t row;	 /* PACK_NO_ROW: the caller has not set it yet */
};

void pack_map_clear(struct pack_map *map);
void pack_map_release(struct pack_map *map);

/* The key's entry, made when it is new (row is PACK_NO_ROW); NULL: no memory. Valid until the next call. */
struct pack_map_entry *pack_map_take(struct pack_map *map, uint64_t key);

struct pack_refs {
	uint32_t *keyed;    /* earlier row, or PACK_NO_ROW */
	uint32_t *template; /* the same; see pack_refs_template */
	uint32_t *numbers;  /* of the keys */
	uint32_t *places;
	uint32_t count, room;
	bool has_places, has_template;
	struct pack_map keys;
	struct pack_map spots; /* key and place */
	struct pack_map contexts;
};

/* PLACES may be NULL. 0 or -ENOMEM. Memory is kept for the next call. */
int pack_refs_make(struct pack_refs *refs, const uint64_t *keys, const uint64_t *places,
		   uint32_t count);

/* The template references, made when they are first asked for; NULL: no memory. */
const uint32_t *pack_refs_template(struct pack_refs *refs);

void pack_refs_release(struct pack_refs *refs);

#endif
