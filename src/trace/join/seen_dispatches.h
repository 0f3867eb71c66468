/* Inside trace/: a cache of kernels with their dimensions and the work kinds that they are. Most
 * dispatches repeat one that was read before. It grows with the number of different dispatches, up
 * to 4 MiB; beyond that, new ones replace older ones.
 *
 * Threading: each thread has its own. */
#ifndef DAGTAP_TRACE_SEEN_DISPATCHES_H
#define DAGTAP_TRACE_SEEN_DISPATCHES_H

#include "base/hash.h"
#include "record/record.h"

/* In a cache line of its own. */
struct seen_dispatch {
	_Alignas(64) uint32_t kernel;
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint16_t is_used; /* 0: the slot is free */
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint32_t work;
};

/* Zero is an empty cache. */
struct seen_dispatches {
	struct seen_dispatch *slots;
	uint32_t bits; /* there are 1 << bits slots, and a last one behind them */
	uint32_t count;
};

/* Makes the first slots. Returns 0 or -ENOMEM; release the cache in both cases. */
int seen_dispatches_init(struct seen_dispatches *seen);
void seen_dispatches_release(struct seen_dispatches *seen);

/* Keeps WORK as the work kind of RECORD, which was not found. Returns 0 or -ENOMEM. */
int seen_dispatches_add(struct seen_dispatches *seen, const struct record_dispatch *record,
			uint32_t work);

/* Where RECORD is, if it is not in the slot behind. */
static inline struct seen_dispatch *seen_dispatches_slot(const struct seen_dispatches *seen,
							 const struct record_dispatch *record)
{
	uint64_t hash = hash_mix((uint64_t)record->kernel << 32 | record->grid[0],
				 (uint64_t)record->grid[1] << 32 | record->grid[2]);

	return &seen->slots[hash >> (64 - seen->bits)];
}

/* Fetches the slot of RECORD into the CPU's cache. So much is read between two dispatches of a kind
 * that each look-up would wait for memory. */
static inline void seen_dispatches_fetch(const struct seen_dispatches *seen,
					 const struct record_dispatch *record)
{
	__builtin_prefetch(seen_dispatches_slot(seen, record));
}

static inline int seen_dispatch_is(const struct seen_dispatch *slot,
				   const struct record_dispatch *record)
{
	return slot->kernel == record->kernel && slot->grid[0] == record->grid[0] &&
	       slot->grid[1] == record->grid[1] && slot->grid[2] == record->grid[2] &&
	       slot->workgroup[0] == record->workgroup[0] &&
	       slot->workgroup[1] == record->workgroup[1] &&
	       slot->workgroup[2] == record->workgroup[2] &&
	       slot->private_bytes == record->private_bytes &&
	       slot->group_bytes == record->group_bytes && slot->is_used;
}

/* The slot of an equal dispatch, or NULL. */
static inline const struct seen_dispatch *seen_dispatches_find(const struct seen_dispatches *seen,
							       const struct record_dispatch *record)
{
	const struct seen_dispatch *slot = seen_dispatches_slot(seen, record);

	if (seen_dispatch_is(slot, record))
		return slot;
	return seen_dispatch_is(slot + 1, record) ? slot + 1 : NULL;
}

#endif
