/* Which chunk of a ring is next to be used again: those that are sealed, in the order in which they were
 * filled. A writer's are thus let go in their order. */
#ifndef DAGTAP_RECORD_RING_H
#define DAGTAP_RECORD_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/spool.h"

struct ring_entry {
	struct spool_chunk *chunk;
	uint64_t full_ns;
	uint64_t place; /* in the file */
};

struct ring {
	uint64_t chunks_most; /* that are kept; 0: there is no ring */
	uint64_t age_ns;      /* older ones go first; 0: whatever their age */
	struct ring_entry *entries;
	uint64_t capacity; /* a power of two */
	uint64_t first;
	uint64_t count;
};

/* For as many entries as CAPACITY, which the caller never exceeds. 0 or -ENOMEM. */
int ring_init(struct ring *ring, uint64_t bytes, uint64_t age_ns, uint64_t capacity);
void ring_release(struct ring *ring);

static inline bool ring_is_on(const struct ring *ring)
{
	return ring->chunks_most != 0;
}

void ring_add(struct ring *ring, struct spool_chunk *chunk, uint64_t place);

/* Whether the oldest is to be used again rather than that the file grows. */
bool ring_is_due(const struct ring *ring, uint64_t now_ns);

/* The oldest, NULL if there is none. */
const struct ring_entry *ring_oldest(const struct ring *ring);
void ring_take_oldest(struct ring *ring);

/* How many records of each class are in CHUNK, which is sealed. */
void ring_count(const struct spool_chunk *chunk, uint64_t ret_records[SPOOL_CLASS_COUNT]);

/* Counts the chunk at PLACE as let go and takes its label away. A process that is killed in the middle of it
 * has done so, or has not begun. */
void ring_let_go(struct spool_live *live, struct spool_lane *lanes, struct spool_chunk *chunk,
		 uint64_t place);

#endif
