/* A hash map from a handle or an address to what the tool knows of it: signals, doorbells, queues,
 * kernels.
 *
 * Look-ups are lock-free and need no retry; they cost the length of a bucket's chain. Entries are
 * never unlinked or freed: a removed entry keeps its place with key 0 and is taken again by the
 * next insertion into its bucket. So a stale pointer to an entry is always safe to read, and memory
 * is bounded by the largest number of handles that were alive at once.
 *
 * Memory order: object_map_put stores `key` with release after the other fields; look-ups load it
 * with acquire. A bucket's head is stored with release and loaded with acquire, for `next`. */
#ifndef CAPTURE_HSA_OBJECT_MAP_H
#define CAPTURE_HSA_OBJECT_MAP_H

#include <stdatomic.h>
#include <stdint.h>

enum object_kind {
	OBJECT_SIGNAL = 1,
	OBJECT_DOORBELL, /* of a queue whose gate answers doorbells */
	/* Of an intercept queue, or of a queue made too late to be recorded: stores to it are
	 * passed to the runtime. */
	OBJECT_PASSED_DOORBELL,
	OBJECT_QUEUE,
	OBJECT_KERNEL,
};

/* Whether the ticks in a signal could be another packet's than expected. */
enum object_sharing {
	OBJECT_NOT_SHARED,
	OBJECT_SHARED,	   /* until the application stores to it */
	OBJECT_SHARED_EVER /* with other processes */
};

struct object {
	_Atomic uint64_t key; /* 0: free; OBJECT_BUSY: being filled */
	struct object *next;  /* in its bucket; constant from when the entry can be found */
	uint32_t kind;	      /* enum object_kind */
	/* Signals only, see app_signal.h: */
	_Atomic uint32_t is_shared;	/* enum object_sharing */
	_Atomic uint32_t is_dependency; /* a packet or copy on the device has waited for it */
	_Atomic uint32_t borrowed; /* borrowed completions that are still to be passed on to it */
	_Atomic uint32_t was_borrowed; /* there were some since the application last stored to it */
	_Atomic uint32_t is_busy;      /* a spin lock: 1 while a thread writes its tick words */
	/* Signals: the slot_reference of the use that watches it, 0: none. Kernels: the kernel
	 * id. */
	_Atomic uint64_t word;
	void *owner; /* doorbells and queues: the gate, or NULL; not owned */
};

#define OBJECT_BUSY	1u
#define OBJECT_MAP_BITS 14

/* All zero is an empty map. */
struct object_map {
	_Atomic(struct object *) buckets[1u << OBJECT_MAP_BITS];
};

static inline _Atomic(struct object *) *object_map_bucket(struct object_map *map, uint64_t key)
{
	return &map->buckets[(key * 0x9E3779B97F4A7C15ull) >> (64 - OBJECT_MAP_BITS)];
}

/* Returns the live entry of KEY, or NULL. Any thread, also in a signal handler. */
static inline struct object *object_map_find(struct object_map *map, uint64_t key)
{
	struct object *entry =
		atomic_load_explicit(object_map_bucket(map, key), memory_order_acquire);

	/* Pairs with the release store of the key in object_map_put. */
	while (entry && atomic_load_explicit(&entry->key, memory_order_acquire) != key)
		entry = entry->next;
	return entry;
}

/* Adds KEY, which is larger than OBJECT_BUSY. An entry that KEY has already is filled anew. Returns
 * NULL when there is no memory. May allocate, so not for the hot path. Any thread; not two for the
 * same key at once. */
struct object *object_map_put(struct object_map *map, uint64_t key, enum object_kind kind,
			      void *owner, uint64_t word);

/* Removes ENTRY: it is no longer found, and may be taken by another key. */
void object_map_remove(struct object *entry);

/* Calls VISIT for each live entry. Entries that are added or removed meanwhile may be left out. */
void object_map_visit(struct object_map *map, void (*visit)(struct object *entry));

/* Signals, doorbells and queues in one map: their keys are addresses of live objects, so no two are
 * equal. Kernels have a map of their own, hsa_kernel_map. */
extern struct object_map object_map;

#endif
