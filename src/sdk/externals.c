/* External correlation ids: see externals.h. */
#include "sdk/externals.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/table.h"

#define NONE  UINT32_MAX
#define ENTRY (-1) /* a kind beside those of requests: externals_entry */

/* The values of the activities of one kind of a call. */
struct external {
	uint64_t cid;	  /* 0: a free row */
	uint64_t value;	  /* of all, while `values` is NULL */
	uint64_t *values; /* COUNT values; owned. NULL: they are equal */
	size_t room;
	uint32_t count;
	uint32_t context;
	int kind;
	uint64_t recordings; /* that had been given out when it was made */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct external *rows;
static uint32_t rows_count;
static uint32_t *free_rows;
static size_t free_count, free_room;
static struct hash_map map;	 /* rows by cid; a call has few */
static _Atomic uint32_t entries; /* rows of ENTRY */
static uint64_t recordings;	 /* that have been given out */

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

/* The row of these activities, or NULL. Room must have been reserved in the map. */
static struct external *find(uint32_t context, uint64_t cid, int kind)
{
	struct hash_probe probe = hash_map_probe(&map, hash_of(cid));

	while (hash_map_next(&map, &probe)) {
		struct external *row = &rows[probe.row];

		if (row->cid == cid && row->context == context && row->kind == kind)
			return row;
	}
	return NULL;
}

static void make(uint32_t context, uint64_t cid, int kind, uint64_t value)
{
	uint32_t row = take_row();
	struct hash_probe probe;

	if (row == NONE)
		return;
	rows[row] = (struct external){
		.cid = cid,
		.value = value,
		.count = 1,
		.context = context,
		.kind = kind,
		.recordings = recordings,
	};
	probe = hash_map_probe(&map, hash_of(cid));
	while (hash_map_next(&map, &probe))
		;
	hash_map_put(&map, &probe, row);
}

/* Adds VALUE. Equal values need no array: a launch of a graph has thousands of kernels, and tools
 * mostly answer the same for all. */
static void append(struct external *row, uint64_t value)
{
	bool is_first = !row->values;

	if (is_first && value == row->value) {
		row->count++;
		return;
	}
	if (table_reserve((void **)&row->values, &row->room, row->count + 1ull,
			  sizeof(*row->values)) < 0 ||
	    !row->values)
		return;
	for (uint32_t i = 0; is_first && i < row->count; i++)
		row->values[i] = row->value;
	row->values[row->count++] = value;
}

void externals_add(uint32_t context, uint64_t cid, int kind, uint64_t value)
{
	struct external *row;

	pthread_mutex_lock(&lock);
	if (hash_map_reserve(&map) == 0) {
		row = find(context, cid, kind);
		if (row)
			append(row, value);
		else
			make(context, cid, kind, value);
	}
	pthread_mutex_unlock(&lock);
}

uint64_t externals_find(uint32_t context, uint64_t cid, int kind, uint32_t index)
{
	const struct external *row;
	uint64_t value = 0;

	pthread_mutex_lock(&lock);
	row = map.slot_count ? find(context, cid, kind) : NULL;
	if (row && row->values)
		value = row->values[index < row->count ? index : row->count - 1];
	else if (row)
		value = row->value;
	pthread_mutex_unlock(&lock);
	return value;
}

void externals_add_entry(uint32_t context, uint64_t cid, enum externals_entry entry)
{
	atomic_fetch_add(&entries, 1);
	externals_add(context, cid, ENTRY, entry);
}

enum externals_entry externals_find_entry(uint32_t context, uint64_t cid)
{
	return atomic_load(&entries) ? (enum externals_entry)externals_find(context, cid, ENTRY, 0)
				     : EXTERNALS_ENTRY_UNKNOWN;
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
	if (rows[row].kind == ENTRY)
		atomic_fetch_sub(&entries, 1);
	hash_map_remove(&map, hash_of(rows[row].cid), row);
	free(rows[row].values);
	rows[row] = (struct external){0};
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

void externals_end_recording(void)
{
	pthread_mutex_lock(&lock);
	for (uint32_t row = 0; row < rows_count; row++)
		if (rows[row].cid && rows[row].recordings < recordings)
			drop(row);
	recordings++;
	pthread_mutex_unlock(&lock);
}

void externals_reset_lock(void)
{
	pthread_mutex_init(&lock, NULL);
}
