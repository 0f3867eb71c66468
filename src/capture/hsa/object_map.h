/* From a handle or address to what the tool knows about it: signals, doorbells, queues, kernels.
 *
 * Look-ups are lock-free and wait-free but for the length of a chain. Entries are never unlinked or
 * freed: a removed one keeps its place with key 0 and is taken again by the next insertion into
 * its bucket. So a stale pointer to an entry is always safe to look at, and memory is bounded by
 * the largest number of handles that were alive at once. */
#ifndef CAPTURE_HSA_OBJECT_MAP_H
#define CAPTURE_HSA_OBJECT_MAP_H

#include <stdatomic.h>
#include <stdint.h>

enum object_kind {
	OBJECT_SIGNAL = 1,
	OBJECT_DOORBELL,
	OBJECT_PASSED_DOORBELL, /* of a proxy, or of a queue made too late to be recorded */
	OBJECT_QUEUE,
	OBJECT_KERNEL,
};

/* Of a signal: whether its times could be another packet's. */
enum object_sharing {
	OBJECT_NOT_SHARED,
	OBJECT_SHARED,	   /* until the application stores to it */
	OBJECT_SHARED_EVER /* with other processes */
};

struct object {
	_Atomic uint64_t key; /* 0 = free, OBJECT_BUSY = being filled */
	struct object *next;  /* set before the entry can be found, constant afterwards */
	uint32_t kind;
	/* Signals, see watch.h: */
	_Atomic uint32_t is_shared;	/* enum object_sharing */
	_Atomic uint32_t is_dependency; /* a packet or copy on the device has waited for it */
	_Atomic uint32_t lent;		/* completions that are passed on to it by us */
	_Atomic uint32_t was_lent;	/* since its value was last stored */
	_Atomic uint32_t is_busy;	/* a spin lock: its tick words are changed */
	_Atomic uint64_t word; /* signals: the slot that watches it; kernels: the kernel id */
	void *owner;	       /* doorbells and queues: the gate */
};

#define OBJECT_BUSY	1u
#define OBJECT_MAP_BITS 14

struct object_map {
	_Atomic(struct object *) buckets[1u << OBJECT_MAP_BITS];
};

static inline _Atomic(struct object *) *object_map_bucket(struct object_map *map, uint64_t key)
{
	return &map->buckets[(key * 0x9E3779B97F4A7C15ull) >> (64 - OBJECT_MAP_BITS)];
}

/* The live entry of KEY, or NULL. */
static inline struct object *object_map_find(struct object_map *map, uint64_t key)
{
	struct object *entry =
		atomic_load_explicit(object_map_bucket(map, key), memory_order_acquire);

	/* The acquire pairs with the release that made the key visible in object_map_put. */
	while (entry && atomic_load_explicit(&entry->key, memory_order_acquire) != key)
		entry = entry->next;
	return entry;
}

/* Adds KEY (larger than OBJECT_BUSY); an entry that is there already is filled anew. Returns NULL
 * when there is no memory. Not for the hot path: may allocate. */
struct object *object_map_put(struct object_map *map, uint64_t key, enum object_kind kind,
			      void *owner, uint64_t word);

void object_map_remove(struct object *entry);

/* Calls VISIT for all live entries; those that come or go meanwhile may be among them or not. */
void object_map_visit(struct object_map *map, void (*visit)(struct object *entry));

/* Signals, doorbells and queues: addresses of live objects, so they never collide. */
extern struct object_map object_map;

#endif
