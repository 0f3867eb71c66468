/* The queue of a ring's sealed chunks, and the crash-safe accounting of a chunk that is reused. */
#include "record/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "record/writer.h"

int ring_init(struct ring *ring, uint64_t bytes, uint64_t age_ns, uint64_t capacity)
{
	void *memory;

	*ring = (struct ring){.capacity = 1};
	if (!bytes)
		return 0;
	while (ring->capacity < capacity)
		ring->capacity <<= 1;
	memory = mmap(NULL, ring->capacity * sizeof(*ring->entries), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	ring->entries = memory;
	ring->age_ns = age_ns;
	ring->chunks_most = bytes / SPOOL_CHUNK_BYTES;
	return 0;
}

void ring_release(struct ring *ring)
{
	if (ring->entries)
		munmap(ring->entries, ring->capacity * sizeof(*ring->entries));
	ring->entries = NULL;
}

/* The N-th oldest entry, or the free place behind the last one. */
static struct ring_entry *entry_at(const struct ring *ring, uint64_t n)
{
	return &ring->entries[(ring->first + n) & (ring->capacity - 1)];
}

static bool was_full_before(const struct spool_chunk *chunk, const struct ring_entry *entry)
{
	if (chunk->full_ns != entry->full_ns)
		return chunk->full_ns < entry->full_ns;
	return chunk->index < entry->chunk->index;
}

/* Insertion from the end. Chunks are sealed nearly in the order in which they became full, so few
 * entries move. */
void ring_add(struct ring *ring, struct spool_chunk *chunk, uint64_t place)
{
	uint64_t at = ring->count++;

	for (; at && was_full_before(chunk, entry_at(ring, at - 1)); at--)
		*entry_at(ring, at) = *entry_at(ring, at - 1);
	*entry_at(ring, at) = (struct ring_entry){chunk, chunk->full_ns, place};
}

bool ring_is_due(const struct ring *ring, uint64_t now_ns)
{
	if (!ring->count)
		return false;
	if (ring->count >= ring->chunks_most)
		return true;
	return ring->age_ns && entry_at(ring, 0)->full_ns + ring->age_ns < now_ns;
}

const struct ring_entry *ring_oldest(const struct ring *ring)
{
	return ring->count ? entry_at(ring, 0) : NULL;
}

void ring_take_oldest(struct ring *ring)
{
	ring->first++;
	ring->count--;
}

void ring_count(const struct spool_chunk *chunk, uint64_t ret_records[SPOOL_CLASS_COUNT])
{
	const unsigned char *end = (const unsigned char *)chunk + chunk->used_bytes;
	const struct record_header *header;

	memset(ret_records, 0, SPOOL_CLASS_COUNT * sizeof(*ret_records));
	for (const unsigned char *at = chunk->records; at < end; at += header->words * 8u) {
		header = (const struct record_header *)at;
		ret_records[record_class_of(header->type)]++;
	}
}

/* All stores are releases, so that a reader which sees one of them sees all earlier ones. Pairs
 * with the acquires in settle_writer (live_cut.c). */
static void store(_Atomic uint64_t *field, uint64_t value)
{
	atomic_store_explicit(field, value, memory_order_release);
}

void ring_reuse(struct spool_live *live, struct spool_writer *writers, struct spool_chunk *chunk,
		uint64_t place)
{
	struct spool_reuse *intent = &live->reuse;
	struct spool_writer *writer = &writers[chunk->writer];

	/* The intent holds the final values and is published first. Then the writer is brought to
	 * them, the chunk loses its label, and the intent is removed. */
	ring_count(chunk, intent->records);
	for (int class = 0; class < SPOOL_CLASS_COUNT; class ++)
		intent->records[class] += atomic_load_explicit(
			&writer->counts.dropped[class][RECORD_DROP_RING], memory_order_relaxed);
	intent->place = place;
	intent->chunks = atomic_load_explicit(&writer->chunks_reused, memory_order_relaxed) + 1;
	store(&intent->writer, chunk->writer + 1u);
	for (int class = 0; class < SPOOL_CLASS_COUNT; class ++)
		store(&writer->counts.dropped[class][RECORD_DROP_RING], intent->records[class]);
	store(&writer->chunks_reused, intent->chunks);
	atomic_store_explicit(&chunk->magic, 0, memory_order_release);
	store(&intent->writer, 0);
}
