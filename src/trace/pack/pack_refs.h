/* Inside trace/pack/: finds for each row the earlier row that it probably resembles.
 *
 * Rows have a key, such as the kernel of a dispatch or the API number of a call. They may have a
 * place, such as the ordinal of a dispatch within its call. The *keyed* reference of a row is the
 * last row with the same key. The *template* reference of a row is the last row with the same key
 * and place whose preceding rows also had the same keys and places; in a replay of a graph, it is
 * the row of the same node in the replay before. Writer and reader compute both from keys and
 * places, so no reference is stored. */
#ifndef DAGTAP_TRACE_PACK_REFS_H
#define DAGTAP_TRACE_PACK_REFS_H

#include <stdbool.h>
#include <stdint.h>

#define PACK_NO_ROW UINT32_MAX

/* A hash map of 64-bit keys. Each key has a number, in the order of first appearance, and a row
 * that the caller sets. Starts zeroed. */
struct pack_map {
	struct pack_map_entry *entries;
	uint32_t room; /* entries allocated: a power of two, or 0 */
	uint32_t used; /* keys in the map */
};

struct pack_map_entry {
	uint64_t key;
	uint32_t number; /* from 1; 0: the entry is free */
	uint32_t row;	 /* PACK_NO_ROW until the caller sets it */
};

void pack_map_clear(struct pack_map *map);   /* removes all keys; may keep the memory */
void pack_map_release(struct pack_map *map); /* frees the memory and zeroes the struct */

/* Returns the entry of KEY; a new key gets an entry whose row is PACK_NO_ROW. The entry is valid
 * until the next call. NULL: out of memory. */
struct pack_map_entry *pack_map_take(struct pack_map *map, uint64_t key);

/* The references of one group of rows for one key. Starts zeroed. */
struct pack_refs {
	uint32_t *keyed;    /* by row: earlier row, or PACK_NO_ROW */
	uint32_t *template; /* by row: the same; call pack_refs_template to read it */
	uint32_t *numbers;  /* by row: number of its key */
	uint32_t *places;   /* by row; valid if has_places */
	uint32_t count, room;
	bool has_places, has_template;
	struct pack_map keys;
	struct pack_map spots;	  /* number of the key and place, combined */
	struct pack_map contexts; /* hash of the last eight spots */
};

/* Fills REFS for COUNT rows from KEYS and PLACES (NULL: no places); places are cut to 32 bits.
 * Keeps no pointer to either. 0 or -ENOMEM. The memory of an earlier call is used again. */
int pack_refs_make(struct pack_refs *refs, const uint64_t *keys, const uint64_t *places,
		   uint32_t count);

/* The template references by row, owned by REFS; a row without one has its keyed reference here.
 * The context that must match is the row and the seven rows before it. The first call after
 * pack_refs_make computes the array. NULL: out of memory. */
const uint32_t *pack_refs_template(struct pack_refs *refs);

/* Frees the memory of REFS; a zeroed struct is fine. */
void pack_refs_release(struct pack_refs *refs);

#endif
