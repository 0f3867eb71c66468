/* Changes of the object map; look-ups are inline in the header. */
#include "capture/hsa/object_map.h"

#include <stdlib.h>

struct object_map object_map;

/* Returns a removed entry of BUCKET, marked as OBJECT_BUSY, or NULL. */
static struct object *take_free(_Atomic(struct object *) *bucket)
{
	struct object *entry = atomic_load_explicit(bucket, memory_order_acquire);

	for (; entry; entry = entry->next) {
		uint64_t key = 0;

		/* The acquire pairs with the release in object_map_remove: what was done to the
		 * entry before comes first. */
		if (!atomic_load_explicit(&entry->key, memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(&entry->key, &key, OBJECT_BUSY,
							    memory_order_acquire,
							    memory_order_relaxed))
			return entry;
	}
	return NULL;
}

/* Adds a new entry, marked as OBJECT_BUSY, at the head of BUCKET. The release pairs with the
 * acquire loads of a bucket's head. */
static struct object *add_new(_Atomic(struct object *) *bucket)
{
	struct object *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	atomic_store_explicit(&entry->key, OBJECT_BUSY, memory_order_relaxed);
	entry->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &entry->next, entry,
						      memory_order_release, memory_order_relaxed))
		;
	return entry;
}

struct object *object_map_put(struct object_map *map, uint64_t key, enum object_kind kind,
			      void *owner, uint64_t word)
{
	_Atomic(struct object *) *bucket = object_map_bucket(map, key);
	struct object *entry = object_map_find(map, key);

	/* A key that is still in the map belonged to an object whose end the tool has not seen. */
	if (entry)
		atomic_store_explicit(&entry->key, OBJECT_BUSY, memory_order_relaxed);
	else
		entry = take_free(bucket);
	if (!entry)
		entry = add_new(bucket);
	if (!entry)
		return NULL;
	entry->kind = kind;
	entry->owner = owner;
	atomic_store_explicit(&entry->is_shared, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->is_dependency, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->borrowed, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->was_borrowed, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->word, word, memory_order_relaxed);
	atomic_store_explicit(&entry->key, key, memory_order_release);
	return entry;
}

void object_map_remove(struct object *entry)
{
	atomic_store_explicit(&entry->word, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->key, 0, memory_order_release);
}

void object_map_visit(struct object_map *map, void (*visit)(struct object *entry))
{
	for (size_t i = 0; i < sizeof(map->buckets) / sizeof(*map->buckets); i++) {
		struct object *entry = atomic_load_explicit(&map->buckets[i], memory_order_acquire);

		for (; entry; entry = entry->next)
			if (atomic_load_explicit(&entry->key, memory_order_acquire) > OBJECT_BUSY)
				visit(entry);
	}
}
