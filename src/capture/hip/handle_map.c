#include "capture/hip/handle_map.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

/* A slot is never emptied once it has a key: a chain of probes must not break under a reader. Its
 * value 0 means that the handle is gone, and the slot may then take another key. */
struct handle_slot {
	_Atomic uint64_t key;
	_Atomic uint64_t value;
};

struct handle_table {
	struct handle_table *outgrown; /* smaller; kept for readers */
	struct handle_table *spare;    /* of the same size; the one before this, to be the next */
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
		/* Pairs with the release in fill. */
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

	/* A table that is filled anew while we are in it may show anything. Its reuse was counted
	 * before its first store, so having seen one of these we see the count. */
	do {
		const struct handle_table *table;

		reuses = atomic_load_explicit(&map->reuses, memory_order_acquire);
		/* Pairs with the release in replace. */
		table = atomic_load_explicit(&map->table, memory_order_acquire);
		value = table ? look_up(table, handle) : 0;
	} while (atomic_load_explicit(&map->reuses, memory_order_relaxed) != reuses);
	return value;
}

/* The slot that has HANDLE, else the one to put it in: a free one on its chain, or a new one. */
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
	/* Between the two stores a reader finds the handle without a value: not there yet. */
	atomic_store_explicit(&slot->key, handle, memory_order_release);
	atomic_store_explicit(&slot->value, value, memory_order_release);
}

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
	/* Release: whoever sees one of these stores sees the count before it. */
	for (uint64_t i = 0; i <= table->mask; i++) {
		atomic_store_explicit(&table->slots[i].value, 0, memory_order_release);
		atomic_store_explicit(&table->slots[i].key, 0, memory_order_release);
	}
	table->keys = 0;
	return table;
}

/* The table is half full of keys: a larger one, or if most of them are gone, one of its size. */
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
