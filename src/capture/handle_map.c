/* A hash table of handles with open addressing, which readers use without a lock; see
 * handle_map.h. */
#include "capture/handle_map.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

/* A slot that has a key keeps one: a chain of probes must not break while a reader follows it.
 * The value 0 means that the handle was removed; the slot may then get another key. */
struct handle_slot {
	_Atomic uint64_t key;
	_Atomic uint64_t value;
};

struct handle_table {
	struct handle_table *outgrown; /* the smaller table before this one; kept for readers */
	/* Of the same size: the table before this one, to be used as the next one. NULL: none. */
	struct handle_table *spare;
	uint64_t mask;
	uint64_t keys; /* slots with a key */
	struct handle_slot slots[];
};

static uint64_t slot_of(const struct handle_table *table, uint64_t handle)
{
	return (handle * 0x9e3779b97f4a7c15u >> 20) & table->mask;
}

static uint64_t look_up(const struct handle_table *table, uint64_t handle)
{
	for (uint64_t i = slot_of(table, handle);; i = (i + 1) & table->mask) {
		/* Pairs with the release of the key in fill. */
		uint64_t key = atomic_load_explicit(&table->slots[i].key, memory_order_acquire);

		if (key == handle)
			return atomic_load_explicit(&table->slots[i].value, memory_order_acquire);
		if (!key)
			return 0;
	}
}

uint64_t handle_map_get(struct handle_map *map, uint64_t handle)
{
	uint64_t reuses, value;

	/* A spare table that is cleared and filled again while this thread reads it may show
	 * anything. Its reuse is counted before the first store to it, so a thread that has read
	 * such a store sees the new count and looks again. */
	do {
		const struct handle_table *table;

		reuses = atomic_load_explicit(&map->reuses, memory_order_acquire);
		/* Pairs with the release of the table in replace. */
		table = atomic_load_explicit(&map->table, memory_order_acquire);
		value = table ? look_up(table, handle) : 0;
	} while (atomic_load_explicit(&map->reuses, memory_order_relaxed) != reuses);
	return value;
}

/* Returns the slot that has HANDLE; otherwise the slot to put it in: one without a value on its
 * chain, or the free slot at the end. */
static struct handle_slot *find_slot(struct handle_table *table, uint64_t handle)
{
	struct handle_slot *reusable = NULL;

	for (uint64_t i = slot_of(table, handle);; i = (i + 1) & table->mask) {
		struct handle_slot *slot = &table->slots[i];
		uint64_t key = atomic_load_explicit(&slot->key, memory_order_relaxed);

		if (key == handle)
			return slot;
		if (!key)
			return reusable ? reusable : slot;
		if (!reusable && !atomic_load_explicit(&slot->value, memory_order_relaxed))
			reusable = slot;
	}
}

static void fill(struct handle_table *table, uint64_t handle, uint64_t value)
{
	struct handle_slot *slot = find_slot(table, handle);

	table->keys += !atomic_load_explicit(&slot->key, memory_order_relaxed);
	/* A reader between the two stores finds the handle without a value: not in the map yet. */
	atomic_store_explicit(&slot->key, handle, memory_order_release);
	atomic_store_explicit(&slot->value, value, memory_order_release);
}

/* Returns the number of handles in TABLE, which may be NULL. */
static uint64_t count_live(const struct handle_table *table)
{
	uint64_t live = 0;

	for (uint64_t i = 0; table && i <= table->mask; i++)
		live += atomic_load_explicit(&table->slots[i].value, memory_order_relaxed) != 0;
	return live;
}

static struct handle_table *create_table(uint64_t slots)
{
	struct handle_table *table = calloc(1, sizeof(*table) + slots * sizeof(*table->slots));

	if (table)
		table->mask = slots - 1;
	return table;
}

static struct handle_table *reuse_table(struct handle_map *map, struct handle_table *table)
{
	atomic_fetch_add_explicit(&map->reuses, 1, memory_order_relaxed);
	/* Release: a reader that sees one of these stores also sees the count that was stored
	 * before. */
	for (uint64_t i = 0; i <= table->mask; i++) {
		atomic_store_explicit(&table->slots[i].value, 0, memory_order_release);
		atomic_store_explicit(&table->slots[i].key, 0, memory_order_release);
	}
	table->keys = 0;
	return table;
}

/* The table is half full of keys: replaces it by a larger one, or by one of the same size when
 * most keys have no value. Returns 0 or -ENOMEM. */
static int replace(struct handle_map *map, struct handle_table *old)
{
	uint64_t slots = old ? old->mask + 1 : FIRST_SLOTS, live = count_live(old);
	struct handle_table *table;

	while (slots < live * 4)
		slots *= 2;
	if (old && slots == old->mask + 1 && old->spare)
		table = reuse_table(map, old->spare);
	else
		table = create_table(slots);
	if (!table)
		return -ENOMEM;
	if (old && slots == old->mask + 1) {
		table->spare = old;
		table->outgrown = old->outgrown;
		old->spare = NULL;
	} else {
		table->outgrown = old;
	}
	for (uint64_t i = 0; old && i <= old->mask; i++) {
		uint64_t value = atomic_load_explicit(&old->slots[i].value, memory_order_relaxed);

		if (value)
			fill(table, old->slots[i].key, value);
	}
	atomic_store_explicit(&map->table, table, memory_order_release);
	return 0;
}

int handle_map_put(struct handle_map *map, uint64_t handle, uint64_t value)
{
	struct handle_table *table;
	int status = 0;

	pthread_mutex_lock(&map->lock);
	table = atomic_load_explicit(&map->table, memory_order_relaxed);
	if (!table || table->keys * 2 > table->mask)
		status = replace(map, table);
	if (!status)
		fill(atomic_load_explicit(&map->table, memory_order_relaxed), handle, value);
	pthread_mutex_unlock(&map->lock);
	return status;
}

uint64_t handle_map_take(struct handle_map *map, uint64_t handle)
{
	struct handle_table *table;
	uint64_t value = 0;

	pthread_mutex_lock(&map->lock);
	table = atomic_load_explicit(&map->table, memory_order_relaxed);
	if (table) {
		struct handle_slot *slot = find_slot(table, handle);

		if (atomic_load_explicit(&slot->key, memory_order_relaxed) == handle)
			value = atomic_exchange_explicit(&slot->value, 0, memory_order_release);
	}
	pthread_mutex_unlock(&map->lock);
	return value;
}

void handle_map_reset(struct handle_map *map)
{
	struct handle_table *table =
		atomic_exchange_explicit(&map->table, NULL, memory_order_relaxed);

	while (table) {
		struct handle_table *outgrown = table->outgrown;

		free(table->spare);
		free(table);
		table = outgrown;
	}
	pthread_mutex_init(&map->lock, NULL);
}
