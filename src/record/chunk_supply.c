/* Makes chunks ready, seals full ones, and reuses the oldest ones of a ring. The functions are
 * declared in spooler_state.h and run under the service lock. chunk_take.c gives the ready chunks
 * to writers. */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/spooler_state.h"

#define FEW_CHUNKS     128  /* 8 MiB: about 50 ms at 2 million records a second */
#define SEALED_AT_ONCE 1024 /* more than were taken: see supply_service */
#define FIRST_CHUNKS   (SPOOLER_FIRST_BYTES / SPOOL_CHUNK_BYTES)
#define RESERVE_CHUNKS (4 * FIRST_CHUNKS)

/* Adds COUNT adjacent chunks to the queue. The first one is at PLACE in the file. All are zero. */
static void make_ready(struct spooler *s, struct spool_chunk *chunks, uint64_t place,
		       uint64_t count)
{
	struct spool_live *live = &s->header->live;
	uint64_t ready = atomic_load_explicit(&live->chunks_ready, memory_order_relaxed);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t slot = (ready + i) & (s->slot_count - 1);

		s->slot_places[slot] = place + i;
		atomic_store_explicit(&s->slots[slot], &chunks[i], memory_order_relaxed);
	}
	atomic_store_explicit(&live->chunks_ready, ready + count, memory_order_release);
}

/* Lets the file grow by a window of ready chunks. */
static int add_window(struct spooler *s, enum spool_map_pages pages)
{
	struct spool_live *live = &s->header->live;
	uint64_t places = atomic_load_explicit(&live->places, memory_order_relaxed);
	struct window *window = &s->windows[s->window_count];
	void *memory;
	int err;

	if (s->window_count == WINDOWS_MOST)
		return -EMFILE;
	/* Dropped records are better than a program without address space. The first
	 * window is always tried: without it there is no recording. */
	if (places && !space_has(&s->space, WINDOW_BYTES))
		return -ENOMEM;
	err = spool_map_extend(&s->map, SPOOL_CHUNK_OFFSET + places * SPOOL_CHUNK_BYTES,
			       WINDOW_BYTES, pages, &memory);
	if (err)
		return err;
	*window = (struct window){
		.chunks = memory,
		.first_index = (uint32_t)places,
		.bare = pages == SPOOL_MAP_BARE,
	};
	s->window_count++;
	atomic_store_explicit(&live->places, places + WINDOW_CHUNKS, memory_order_relaxed);
	make_ready(s, window->chunks, places, WINDOW_CHUNKS);
	return 0;
}

/* The bits of the window's chunks that writers have taken. TAKEN is the number of all tickets
 * taken. Without a ring chunks are taken in the order of their places. */
static uint64_t taken_of(const struct spooler *s, const struct window *window, uint64_t taken)
{
	if (ring_is_on(&s->ring))
		return window->taken;
	if (taken <= window->first_index)
		return 0;
	return taken - window->first_index >= WINDOW_CHUNKS
		       ? UINT64_MAX
		       : ((uint64_t)1 << (taken - window->first_index)) - 1;
}

static struct window *window_of(struct spooler *s, uint64_t place)
{
	return &s->windows[place / WINDOW_CHUNKS];
}

/* Enters newly taken chunks in their windows. With a ring, tickets and places differ, and a slot
 * knows its place only until make_ready fills it again: so this must run before make_ready. */
static void note_taken(struct spooler *s)
{
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_acquire);

	for (; ring_is_on(&s->ring) && s->noted < taken; s->noted++) {
		uint64_t place = s->slot_places[s->noted & (s->slot_count - 1)];

		window_of(s, place)->taken |= (uint64_t)1 << place % WINDOW_CHUNKS;
	}
}

static void seal_chunk(struct spool_chunk *chunk)
{
	chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
	atomic_store_explicit(&chunk->state, SPOOL_CHUNK_SEALED, memory_order_release);
}

/* Seals the window's full chunks, LIMIT at most. Returns how many. */
static uint32_t seal_window(struct spooler *s, struct window *window, uint64_t taken,
			    uint32_t limit)
{
	uint64_t open = taken_of(s, window, taken) & ~window->sealed;
	uint32_t count = 0;

	for (; open; open &= open - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(open);
		struct spool_chunk *chunk = &window->chunks[i];

		/* Pairs with the release in finish_chunk (writer.c). */
		if (atomic_load_explicit(&chunk->state, memory_order_acquire) != SPOOL_CHUNK_FULL)
			continue;
		if (count == limit)
			break;
		seal_chunk(chunk);
		window->sealed |= (uint64_t)1 << i;
		if (ring_is_on(&s->ring) && s->writers->of[chunk->writer].is_ringed)
			ring_add(&s->ring, chunk, window->first_index + i);
		count++;
	}
	return count;
}

/* Gives back the memory of sealed chunks. A thread that records little keeps its chunk, and so the
 * window, for a long time; the window's other chunks then need no memory. */
static void release_sealed(struct window *window)
{
	uint64_t rest = window->sealed & ~window->released;

	for (uint32_t i = 0; i < WINDOW_CHUNKS && rest >> i; i++)
		if (rest >> i & 1)
			madvise(&window->chunks[i], SPOOL_CHUNK_BYTES, MADV_DONTNEED);
	window->released = window->sealed;
}

/* Seals LIMIT full chunks at most, and unmaps windows in which all are sealed. Returns how many. */
static uint32_t seal_full_chunks(struct spooler *s, uint32_t limit)
{
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_acquire);
	bool has_ring = ring_is_on(&s->ring);
	uint32_t count = 0;
	uint32_t kept = 0;

	note_taken(s);
	for (uint32_t i = 0; i < s->window_count; i++) {
		struct window *window = &s->windows[i];

		count += seal_window(s, window, taken, limit - count);
		if (window->sealed == UINT64_MAX && !has_ring) {
			munmap(window->chunks, WINDOW_BYTES);
			continue;
		}
		/* Without a ring only for windows that are two windows behind: most of the later
		 * ones are soon unmapped as a whole. */
		if (has_ring || window->first_index + 2 * WINDOW_CHUNKS <= taken)
			release_sealed(window);
		s->windows[kept++] = *window;
	}
	s->window_count = kept;
	s->unsealed_left = count == limit;
	return count;
}

static uint64_t ready_chunks(const struct spooler *s)
{
	const struct spool_live *live = &s->header->live;

	return atomic_load_explicit(&live->chunks_ready, memory_order_relaxed) -
	       atomic_load_explicit(&live->chunks_taken, memory_order_relaxed);
}

/* Touched pages are best for writers, but take time. When ready chunks are about to run out,
 * untouched windows, which come much faster, keep records from being dropped. */
static enum spool_map_pages pages_for(const struct spooler *s, uint64_t ready)
{
	uint64_t few = s->demand.most / 4 < FEW_CHUNKS ? s->demand.most / 4 : FEW_CHUNKS;

	return ready < few ? SPOOL_MAP_BARE : SPOOL_MAP_TOUCHED;
}

/* Whether too many full chunks wait for their seal: more windows are mapped than twice the bound
 * of ready chunks. These chunks use the program's memory. Without this limit, writers that take
 * chunks as fast as they are made would keep the housekeeper from sealing. */
static bool has_backlog(const struct spooler *s)
{
	return !ring_is_on(&s->ring) && s->window_count > 2 * s->demand.most / WINDOW_CHUNKS;
}

/* Reuses the oldest chunk of the ring: makes it ready again. Returns false when the ring is
 * empty, or the chunk's writer has an older chunk that is not sealed yet: the chunks of a writer
 * go in order. */
static bool use_oldest_again(struct spooler *s)
{
	const struct ring_entry *oldest = ring_oldest(&s->ring);
	struct spool_chunk *chunk;
	struct window *window;
	uint64_t place, bit;

	if (!oldest ||
	    oldest->chunk->sequence !=
		    atomic_load_explicit(&s->counters[oldest->chunk->writer].chunks_reused,
					 memory_order_relaxed))
		return false;
	chunk = oldest->chunk;
	place = oldest->place;
	window = window_of(s, place);
	bit = (uint64_t)1 << place % WINDOW_CHUNKS;
	ring_take_oldest(&s->ring);
	if (window->released & bit)
		spool_map_touch(chunk, SPOOL_CHUNK_BYTES);
	kept_scopes_carry(&s->kept_scopes, chunk);
	ring_reuse(&s->header->live, s->counters, chunk, place);
	memset(chunk, 0, SPOOL_CHUNK_BYTES);
	window->taken &= ~bit;
	window->sealed &= ~bit;
	window->released &= ~bit;
	note_taken(s);
	make_ready(s, chunk, place, 1);
	return true;
}

/* Reuses the oldest chunk if it is due. */
static bool use_due(struct spooler *s)
{
	return ring_is_due(&s->ring, clock_now_ns()) && use_oldest_again(s);
}

/* Makes at least one more chunk ready. READY is how many there are. A ring whose file cannot grow
 * reuses its oldest chunk before it is due. */
static int make_more_ready(struct spooler *s, uint64_t ready)
{
	int err;

	if (use_due(s))
		return 0;
	/* Only sealed chunks can be reused, and only they count towards the ring's size. */
	if (ring_is_on(&s->ring))
		seal_full_chunks(s, UINT32_MAX);
	if (use_due(s))
		return 0;
	err = add_window(s, pages_for(s, ready));
	return err && use_oldest_again(s) ? 0 : err;
}

static int keep_chunks_ready(struct spooler *s)
{
	uint64_t ready = ready_chunks(s);
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_relaxed);
	uint64_t keep = demand_chunks(&s->demand, taken, ready, clock_now_ns());

	for (; ready < keep; ready = ready_chunks(s)) {
		int err;

		if (atomic_load_explicit(&s->winding_down, memory_order_relaxed))
			return 0;
		if (has_backlog(s))
			seal_full_chunks(s, UINT32_MAX);
		err = make_more_ready(s, ready);
		if (err)
			return err;
	}
	return 0;
}

/* Brings bare windows into memory whose chunks are taken soon. */
static void touch_next(struct spooler *s)
{
	for (uint32_t i = 0; i < s->window_count; i++) {
		struct window *window = &s->windows[i];
		uint64_t taken =
			atomic_load_explicit(&s->header->live.chunks_taken, memory_order_relaxed);

		if (window->first_index >= taken + s->demand.least ||
		    atomic_load_explicit(&s->winding_down, memory_order_relaxed))
			return;
		if (window->bare && window->first_index + WINDOW_CHUNKS > taken)
			spool_map_touch(window->chunks, WINDOW_BYTES);
		window->bare = false;
	}
}

int supply_service(struct spooler *s)
{
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_relaxed);
	int done = (int)(taken - s->taken_before);
	int err;

	if (!s->expedited)
		s->expedited =
			!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	/* Ready chunks come first: without them writers drop records. Sealing can wait. */
	err = keep_chunks_ready(s);
	if (done)
		touch_next(s);
	/* Seals more chunks than were taken, so that the backlog shrinks. */
	if (done || s->unsealed_left)
		done += (int)seal_full_chunks(s, (uint32_t)done + SEALED_AT_ONCE);
	s->taken_before = taken;
	return err ? err : done;
}

/* Programs often write many records directly after their first call, when their rate is not known
 * yet. So a reserve of RESERVE_CHUNKS is mapped; its untouched part costs disk room only. A ring
 * has no reserve, because its file is not to be larger than asked for; nor has a process with a
 * limit of address space. The recording fails only if there is no room for the first window. */
int supply_begin(struct spooler *s)
{
	bool has_reserve = !ring_is_on(&s->ring) && !s->space.is_limited;
	uint64_t reserve = has_reserve ? RESERVE_CHUNKS : s->demand.least;
	uint64_t chunks = s->demand.most < reserve ? s->demand.most : reserve;
	int err = add_window(s, SPOOL_MAP_TOUCHED);

	while (!err && ready_chunks(s) < chunks)
		if (add_window(s, ready_chunks(s) < s->demand.least ? SPOOL_MAP_TOUCHED
								    : SPOOL_MAP_BARE))
			break;
	return err;
}

uint32_t supply_seal_all(struct spooler *s)
{
	return seal_full_chunks(s, UINT32_MAX);
}

uint64_t supply_places_in_use(const struct spooler *s)
{
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_relaxed);
	uint32_t i = s->window_count;

	if (!ring_is_on(&s->ring))
		return taken;
	while (i && !s->windows[i - 1].taken)
		i--;
	return i ? s->windows[i - 1].first_index + 64u -
			       (uint32_t)__builtin_clzll(s->windows[i - 1].taken)
		 : 0;
}

void supply_end(struct spooler *s)
{
	for (uint32_t i = 0; i < s->window_count; i++)
		munmap(s->windows[i].chunks, WINDOW_BYTES);
	s->window_count = 0;
}
