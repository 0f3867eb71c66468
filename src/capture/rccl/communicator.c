/* A table of communicators with open addressing, without locks; see communicator.h. */
#include "capture/rccl/communicator.h"

#include <string.h>

enum { PLACES = 1024 };

/* Values of handle. A search begins at the handle's own place and ends at a place that was never
 * used. */
#define NEVER_USED 0
#define FREE	   1 /* never a communicator's handle, since those are aligned */

static struct communicator places[PLACES];

static struct communicator *place_at(uint64_t handle, uint32_t step)
{
	uint64_t hash = handle * 0x9e3779b97f4a7c15ull;

	return &places[((hash >> 32) + step) % PLACES];
}

/* Returns HANDLE's place, or NULL, and sets RET_FREE to the first free place on the way. */
static struct communicator *find(uint64_t handle, struct communicator **ret_free)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct communicator *place = place_at(handle, i);
		uint64_t there = atomic_load_explicit(&place->handle, memory_order_acquire);

		if (there == handle)
			return place;
		if (there <= FREE && !*ret_free)
			*ret_free = place;
		if (there == NEVER_USED)
			break;
	}
	return NULL;
}

struct communicator *communicator_use(uint64_t handle)
{
	while (handle > FREE) {
		struct communicator *empty = NULL, *place = find(handle, &empty);
		uint64_t there;

		if (place || !empty)
			return place;
		there = atomic_load_explicit(&empty->handle, memory_order_relaxed);
		/* A free place was reset before it was freed. When another thread has taken it
		 * meanwhile, maybe for the same handle, look again. */
		if (there <= FREE && atomic_compare_exchange_strong_explicit(
					     &empty->handle, &there, handle, memory_order_acq_rel,
					     memory_order_relaxed))
			return empty;
	}
	return NULL;
}

static void reset(struct communicator *place)
{
	atomic_store_explicit(&place->collectives, 0, memory_order_relaxed);
	atomic_store_explicit(&place->transfers, 0, memory_order_relaxed);
	atomic_store_explicit(&place->splits, 0, memory_order_relaxed);
	atomic_store_explicit(&place->id, 0, memory_order_relaxed);
	atomic_store_explicit(&place->ranks, 0, memory_order_relaxed);
	atomic_store_explicit(&place->rank_and_1, 0, memory_order_relaxed);
}

void communicator_forget(uint64_t handle)
{
	struct communicator *empty = NULL, *place = handle > FREE ? find(handle, &empty) : NULL;

	if (!place)
		return;
	reset(place);
	atomic_store_explicit(&place->handle, FREE, memory_order_release);
}

void communicator_forget_all(void)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		reset(&places[i]);
		atomic_store_explicit(&places[i].handle, NEVER_USED, memory_order_relaxed);
	}
}

void communicator_made(uint64_t handle, uint64_t id, int32_t rank, int32_t ranks)
{
	struct communicator *place = communicator_use(handle);

	if (!place)
		return;
	reset(place);
	atomic_store_explicit(&place->id, id, memory_order_relaxed);
	atomic_store_explicit(&place->ranks, ranks, memory_order_relaxed);
	atomic_store_explicit(&place->rank_and_1, rank + 1, memory_order_release);
}

uint64_t communicator_id(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t id = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		id = (id ^ at[i]) * 0x100000001b3u;
	return id ? id : 1;
}

uint64_t communicator_split(uint64_t handle, int32_t color)
{
	struct communicator *parent = communicator_use(handle);
	uint64_t of[3] = {0, 0, (uint64_t)color}; /* the parent's id, number of the split, color */
	uint8_t bytes[sizeof(of)];

	if (!parent)
		return 0;
	of[0] = atomic_load_explicit(&parent->id, memory_order_relaxed);
	of[1] = atomic_fetch_add_explicit(&parent->splits, 1, memory_order_relaxed);
	memcpy(bytes, of, sizeof(of));
	return of[0] ? communicator_id(bytes, sizeof(bytes)) : 0;
}
