/* The sealed chunks of a ring recording, in the order in which they became full, and the steps by
 * which the oldest one is given up for reuse. So the chunks of one writer are reused in their
 * order.
 *
 * Threading: only the thread that holds the spooler's service lock (the housekeeper, then
 * spooler_close) calls these functions. */
#ifndef DAGTAP_RECORD_RING_H
#define DAGTAP_RECORD_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/spool.h"

struct ring_entry {
	struct spool_chunk *chunk; /* mapped */
	uint64_t full_ns;	   /* the chunk's */
	uint64_t place;		   /* number of its place in the file */
};

struct ring {
	uint64_t chunks_most; /* sealed chunks to keep; 0: there is no ring */
	uint64_t age_ns;      /* chunks that were full for longer are due; 0: no limit of age */
	struct ring_entry *entries; /* a circular array, sorted by full_ns */
	uint64_t capacity;	    /* a power of two */
	uint64_t first;		    /* index of the oldest, modulo capacity */
	uint64_t count;
};

/* Makes a ring of BYTES with room for CAPACITY entries at least; the caller never adds more.
 * BYTES 0: there is no ring, and nothing is allocated. Returns 0 or -ENOMEM. */
int ring_init(struct ring *ring, uint64_t bytes, uint64_t age_ns, uint64_t capacity);

/* Frees the entries. The ring may be zeroed, or released before. */
void ring_release(struct ring *ring);

/* Whether this is a ring recording. */
static inline bool ring_is_on(const struct ring *ring)
{
	return ring->chunks_most != 0;
}

/* Adds CHUNK, which is sealed and lies at PLACE in the file. */
void ring_add(struct ring *ring, struct spool_chunk *chunk, uint64_t place);

/* Whether the oldest chunk is to be reused now, instead of letting the file grow: the ring has its
 * size, or the chunk has its age. */
bool ring_is_due(const struct ring *ring, uint64_t now_ns);

/* The oldest entry, or NULL. Valid until the ring changes. */
const struct ring_entry *ring_oldest(const struct ring *ring);

/* Removes the oldest entry, which must exist. */
void ring_take_oldest(struct ring *ring);

/* Counts the records of CHUNK, which is sealed, by class. */
void ring_count(const struct spool_chunk *chunk, uint64_t ret_records[SPOOL_CLASS_COUNT]);

/* Counts the records of the sealed CHUNK at PLACE as dropped by the ring, in its writer's counters,
 * and removes the chunk's label. A process that is killed at any store within this function has
 * done all of it for a reader, or nothing (struct spool_reuse). */
void ring_reuse(struct spool_live *live, struct spool_writer *writers, struct spool_chunk *chunk,
		uint64_t place);

#endif
