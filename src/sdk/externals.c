/* External correlation ids: see externals.h. */
#include "sdk/externals.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/table.h"

#define NONE UINT32_MAX

struct external {
	uint64_t cid; /* 0: a free row */
	uint64_t value;
	uint32_t context;
	int kind;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct external *rows;
static uint32_t rows_count;
static uint32_t *free_rows;
static size_t free_count, free_room;
static struct hash_map map; /* rows by cid; a call has few */

static uint64_t hash_of(uint64_t cid)
{
	return hash_mix(cid, 0);
}

static uint32_t take_row(void)
{
	if (free_count)
		return free_rows[--free_count];
	if (table_reserve((void **)&free_rows, &free_room, rows_count + 1ull, sizeof(*free_rows)) <
		    0 ||
	    !table_add((void **)&rows, &rows_count, sizeof(*rows)))
		return NONE;
	return rows_count - 1;
}

void externals_put(uint32_t context, uint64_t cid, int kind, uint64_t value)
{
	uint32_t row = NONE;
	struct hash_probe probe;

	pthread_mutex_lock(&lock);
	if (hash_map_reserve(&map) == 0)
		row = take_row();
	if (row != NONE) {
		rows[row] = (struct external){cid, value, context, kind};
		probe = hash_map_probe(&map, hash_of(cid));
		while (hash_map_next(&map, &probe))
			;
		hash_map_put(&map, &probe, row);
	}
	pthread_mutex_unlock(&lock);
}

uint64_t externals_find(uint32_t context, uint64_t cid, int kind)
{
	struct hash_probe probe;
	uint64_t value = 0;

	pthread_mutex_lock(&lock);
	if (map.slot_count) {
		probe = hash_map_probe(&map, hash_of(cid));
		while (hash_map_next(&map, &probe)) {
			const struct external *row = &rows[probe.row];

			if (row->cid == cid && row->context == context && row->kind == kind)
				value = row->value;
		}
	}
	pthread_mutex_unlock(&lock);
	return value;
}

/* The number of a row of CID, or NONE. */
static uint32_t find_any(uint64_t cid)
{
	struct hash_probe probe = hash_map_probe(&map, hash_of(cid));

	while (hash_map_next(&map, &probe))
		if (rows[probe.row].cid == cid)
			return probe.row;
	return NONE;
}

/* Called with the lock. */
static void drop(uint32_t row)
{
	hash_map_remove(&map, hash_of(rows[row].cid), row);
	rows[row].cid = 0;
	free_rows[free_count++] = row;
}

void externals_drop(uint64_t cid)
{
	uint32_t row;

	pthread_mutex_lock(&lock);
	while (map.slot_count && (row = find_any(cid)) != NONE)
		drop(row);
	pthread_mutex_unlock(&lock);
}

void externals_drop_until(uint64_t last)
{
	pthread_mutex_lock(&lock);
	for (uint32_t row = 0; row < rows_count; row++)
		if (rows[row].cid && rows[row].cid <= last)
			drop(row);
	pthread_mutex_unlock(&lock);
}

void externals_reset_lock(void)
{
	pthread_mutex_init(&lock, NULL);
}
