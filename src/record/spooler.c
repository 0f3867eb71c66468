#include "record/spooler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/demand.h"
#include "record/spool_map.h"

#define WINDOW_CHUNKS	  64
#define WINDOW_BYTES	  ((size_t)WINDOW_CHUNKS * SPOOL_CHUNK_BYTES)
#define WINDOWS_MOST	  2048
#define FEW_CHUNKS	  128 /* 8 MiB: some 50 ms at 2 million records a second */
#define SEALED_AT_ONCE	  1024
#define FIRST_CHUNKS	  (SPOOLER_FIRST_BYTES / SPOOL_CHUNK_BYTES)
#define RESERVE_CHUNKS	  (4 * FIRST_CHUNKS)
#define QUIESCE_LIMIT_NS  1000000000u
#define SERVICE_LIMIT_NS  500000000u
#define MAPPED_HEAD_BYTES ((size_t)SPOOL_CHUNK_OFFSET)

/* Several MiB of chunks, mapped together, unmapped when all are sealed. */
struct window {
	struct spool_chunk *chunks;
	uint32_t first_index;
	uint64_t sealed;   /* one bit a chunk */
	uint64_t released; /* of these: no longer in our memory */
	bool bare;	   /* not in memory yet */
};

/* In memory that reads as zero in a fork child, whether or not our fork handler ran: a writer of
 * zeros refuses, and alive = 0 keeps new ones from being made. */
struct writers {
	_Atomic uint32_t alive;
	struct writer nobody;
	struct writer of[SPOOL_LANE_COUNT];
};

struct spooler {
	struct spool_map map;
	struct spool_header *header;
	struct spool_lane *lanes;
	struct writers *writers;
	_Atomic uint32_t closing;
	_Atomic uint32_t winding_down;
	_Atomic uint32_t writers_made;
	_Atomic uint64_t free_writers; /* stack head: (lane index + 1) | pop count << 32 */
	bool expedited;		       /* membarrier is registered */

	uint64_t slot_count; /* a power of two */

	pthread_mutex_t service_lock; /* windows and below: the housekeeping thread, then close */
	struct window windows[WINDOWS_MOST];
	uint32_t window_count;
	struct demand demand;
	uint64_t taken_before;
	bool unsealed_left;

	/* Chunk n is handed out as ticket n; slot n % slot_count holds its address meanwhile. */
	_Atomic(struct spool_chunk *) slots[];
};

/* ---- chunks: one maker, many takers ---- */

struct spool_chunk *spooler_take_chunk(struct spooler *s, uint32_t *ret_index)
{
	struct spool_live *live = &s->header->live;
	uint64_t ticket = atomic_load_explicit(&live->chunks_taken, memory_order_relaxed);
	struct spool_chunk *chunk;

	do {
		/* Pairs with the release in add_window: the slot is filled. */
		if (ticket >= atomic_load_explicit(&live->chunks_ready, memory_order_acquire))
			return NULL;
		/* The slot cannot be filled anew before the ticket is taken, and tickets never
		 * repeat: if the exchange succeeds, this is the chunk. */
		chunk = atomic_load_explicit(&s->slots[ticket & (s->slot_count - 1)],
					     memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&live->chunks_taken, &ticket, ticket + 1,
							memory_order_acq_rel,
							memory_order_relaxed));
	*ret_index = (uint32_t)ticket;
	return chunk;
}

static int add_window(struct spooler *s, enum spool_map_pages pages)
{
	struct spool_live *live = &s->header->live;
	uint64_t ready = atomic_load_explicit(&live->chunks_ready, memory_order_relaxed);
	struct window *window = &s->windows[s->window_count];
	void *memory;
	int err;

	if (s->window_count == WINDOWS_MOST)
		return -EMFILE;
	err = spool_map_extend(&s->map, SPOOL_CHUNK_OFFSET + ready * SPOOL_CHUNK_BYTES,
			       WINDOW_BYTES, pages, &memory);
	if (err)
		return err;
	*window = (struct window){
		.chunks = memory,
		.first_index = (uint32_t)ready,
		.bare = pages == SPOOL_MAP_BARE,
	};
	s->window_count++;
	for (uint64_t i = 0; i < WINDOW_CHUNKS; i++)
		atomic_store_explicit(&s->slots[(ready + i) & (s->slot_count - 1)],
				      &window->chunks[i], memory_order_relaxed);
	atomic_store_explicit(&live->chunks_ready, ready + WINDOW_CHUNKS, memory_order_release);
	return 0;
}

static void seal_chunk(struct spool_chunk *chunk)
{
	chunk->crc = spool_chunk_crc(chunk, chunk->used_bytes);
	atomic_store_explicit(&chunk->state, SPOOL_CHUNK_SEALED, memory_order_release);
}

/* Returns how many were sealed, LIMIT at most. */
static uint32_t seal_window(struct window *window, uint64_t taken, uint32_t limit)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < WINDOW_CHUNKS && window->first_index + i < taken; i++) {
		struct spool_chunk *chunk = &window->chunks[i];

		/* Pairs with the release in finish_chunk. */
		if (window->sealed >> i & 1 ||
		    atomic_load_explicit(&chunk->state, memory_order_acquire) != SPOOL_CHUNK_FULL)
			continue;
		if (count == limit)
			break;
		seal_chunk(chunk);
		window->sealed |= (uint64_t)1 << i;
		count++;
	}
	return count;
}

/* A thread that records little keeps its chunk, and so the window, for long: the rest of it needs no memory. */
static void release_sealed(struct window *window)
{
	uint64_t rest = window->sealed & ~window->released;

	for (uint32_t i = 0; i < WINDOW_CHUNKS && rest >> i; i++)
		if (rest >> i & 1)
			madvise(&window->chunks[i], SPOOL_CHUNK_BYTES, MADV_DONTNEED);
	window->released = window->sealed;
}

static uint32_t seal_full_chunks(struct spooler *s, uint32_t limit)
{
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_acquire);
	uint32_t count = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->window_count; i++) {
		struct window *window = &s->windows[i];

		count += seal_window(window, taken, limit - count);
		if (window->sealed == UINT64_MAX) {
			munmap(window->chunks, WINDOW_BYTES);
			continue;
		}
		/* Not at once: most windows are about to be unmapped as a whole. */
		if (window->first_index + 2 * WINDOW_CHUNKS <= taken)
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

/* What is in memory serves writers best, but makes no difference to those who get nothing: while they
 * are about to run out, windows come as they are. */
static enum spool_map_pages pages_for(const struct spooler *s, uint64_t ready)
{
	uint64_t few = s->demand.most / 4 < FEW_CHUNKS ? s->demand.most / 4 : FEW_CHUNKS;

	return ready < few ? SPOOL_MAP_BARE : SPOOL_MAP_TOUCHED;
}

/* Full chunks that wait for their seal are memory of the program's too: no more of it than twice what may
 * be kept ready. Writers that take chunks as fast as they are made would else keep us making them. */
static bool has_backlog(const struct spooler *s)
{
	return s->window_count > 2 * s->demand.most / WINDOW_CHUNKS;
}

static int keep_ring_ready(struct spooler *s)
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
		err = add_window(s, pages_for(s, ready));
		if (err)
			return err;
	}
	return 0;
}

/* Bare windows whose turn is near are brought into memory. */
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

static int service_locked(struct spooler *s)
{
	uint64_t taken = atomic_load_explicit(&s->header->live.chunks_taken, memory_order_relaxed);
	int done = (int)(taken - s->taken_before);
	int err;

	if (!s->expedited)
		s->expedited =
			!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	/* Room first: writers wait for nothing else. */
	err = keep_ring_ready(s);
	if (done)
		touch_next(s);
	/* As many as were taken and some: what waits to be sealed never grows for long. */
	if (done || s->unsealed_left)
		done += (int)seal_full_chunks(s, (uint32_t)done + SEALED_AT_ONCE);
	s->taken_before = taken;
	return err ? err : done;
}

int spooler_service(struct spooler *s)
{
	int result;

	pthread_mutex_lock(&s->service_lock);
	result = spooler_is_closing(s) ? 0 : service_locked(s);
	pthread_mutex_unlock(&s->service_lock);
	return result;
}

void spooler_wind_down(struct spooler *s)
{
	atomic_store_explicit(&s->winding_down, 1, memory_order_relaxed);
}

/* ---- writers ---- */

static struct writer *pop_free_writer(struct spooler *s)
{
	uint64_t head = atomic_load_explicit(&s->free_writers, memory_order_acquire);
	struct writer *w;
	uint64_t next;

	do {
		if (!(uint32_t)head)
			return NULL;
		w = &s->writers->of[(uint32_t)head - 1];
		/* The count in the high half makes a head that came back differ. */
		next = atomic_load_explicit(&w->next_free, memory_order_relaxed) |
		       (((head >> 32) + 1) << 32);
	} while (!atomic_compare_exchange_weak_explicit(
		&s->free_writers, &head, next, memory_order_acquire, memory_order_acquire));
	return w;
}

static void push_free_writer(struct spooler *s, struct writer *w)
{
	uint64_t head = atomic_load_explicit(&s->free_writers, memory_order_relaxed);
	uint64_t next;

	do {
		atomic_store_explicit(&w->next_free, (uint32_t)head, memory_order_relaxed);
		next = (head >> 32 << 32) | (w->lane_index + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		&s->free_writers, &head, next, memory_order_release, memory_order_relaxed));
}

static void raise_lanes_used(struct spool_live *live, uint64_t used)
{
	uint64_t before = atomic_load_explicit(&live->lanes_used, memory_order_relaxed);

	while (before < used &&
	       !atomic_compare_exchange_weak_explicit(&live->lanes_used, &before, used,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static struct writer *make_writer(struct spooler *s)
{
	uint32_t index = atomic_load_explicit(&s->writers_made, memory_order_relaxed);
	struct writer *w;

	do {
		/* Also once close has set it to the most there is. */
		if (index >= SPOOL_LANE_COUNT)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->writers_made, &index, index + 1, memory_order_relaxed, memory_order_relaxed));
	raise_lanes_used(&s->header->live, index + 1);
	w = &s->writers->of[index];
	w->lane_index = index;
	w->lane = &s->lanes[index];
	w->spooler = s;
	return w;
}

struct writer *spooler_take_writer(struct spooler *s, const struct writer_thread *thread)
{
	struct writer *w;

	if (!atomic_load_explicit(&s->writers->alive, memory_order_relaxed))
		return &s->writers->nobody;
	w = pop_free_writer(s);
	if (!w)
		w = make_writer(s);
	if (!w)
		return &s->writers->nobody;
	w->thread = *thread;
	if (atomic_load_explicit(&w->cursor, memory_order_relaxed))
		writer_put_thread(w); /* a first chunk will start with one anyway */
	return w;
}

void spooler_put_writer(struct spooler *s, struct writer *w)
{
	if (!w || w == &s->writers->nobody || !w->spooler)
		return;
	/* A thread that was torn out of a record (longjmp from a signal handler) ends here too. */
	atomic_store_explicit(&w->use, WRITER_IDLE, memory_order_release);
	push_free_writer(s, w);
}

int spooler_is_closing(const struct spooler *s)
{
	return (int)atomic_load_explicit(&s->closing, memory_order_relaxed);
}

struct spool_live *spooler_live(struct spooler *s)
{
	return &s->header->live;
}

const char *spooler_path(const struct spooler *s)
{
	return s->map.path;
}

uint64_t spooler_session_id(const struct spooler *s)
{
	return s->header->session_id;
}

/* ---- open ---- */

/* The program's file and arguments, as /proc has them; empty where there is no /proc. */
static size_t read_proc(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t filled = 0;
	ssize_t got;

	if (fd < 0)
		return 0;
	while (filled < size && (got = read(fd, buffer + filled, size - filled)) > 0)
		filled += (size_t)got;
	close(fd);
	return filled;
}

static void fill_header(struct spooler *s, uint32_t session)
{
	struct spool_header *header = s->header;

	spool_header_init(header);
	header->pid = (uint32_t)getpid();
	header->ppid = (uint32_t)getppid();
	header->session = session;
	header->start_ns = clock_now_ns();
	header->start_realtime_ns = clock_read_ns(CLOCK_REALTIME);
	if (getrandom(&header->session_id, sizeof(header->session_id), GRND_NONBLOCK) < 0)
		header->session_id = header->start_realtime_ns ^ (uint64_t)header->pid << 48;
	gethostname(header->host, sizeof(header->host) - 1);
	if (readlink("/proc/self/exe", header->exe, sizeof(header->exe) - 1) < 0)
		header->exe[0] = '\0';
	header->cmdline_bytes =
		(uint32_t)read_proc("/proc/self/cmdline", header->cmdline, sizeof(header->cmdline));
	header->fixed_crc = spool_fixed_crc(header);
	atomic_store_explicit(&header->live.state, SPOOL_OPEN, memory_order_release);
}

static uint64_t chunks_for_ring(uint64_t ring_bytes)
{
	if (ring_bytes < SPOOLER_RING_BYTES_LEAST)
		ring_bytes = SPOOLER_RING_BYTES_LEAST;
	if (ring_bytes > SPOOLER_RING_BYTES_MOST)
		ring_bytes = SPOOLER_RING_BYTES_MOST;
	return ring_bytes / SPOOL_CHUNK_BYTES;
}

static uint64_t power_of_two_from(uint64_t least)
{
	uint64_t power = 1;

	while (power < least)
		power <<= 1;
	return power;
}

static size_t spooler_bytes(uint64_t slot_count)
{
	return sizeof(struct spooler) + slot_count * sizeof(((struct spooler *)0)->slots[0]);
}

static void *map_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Mapped and not from malloc: a fork child gives it back without touching a heap whose state it
 * does not know. */
static struct spooler *map_spooler(uint64_t ring_bytes)
{
	uint64_t most = chunks_for_ring(ring_bytes);
	/* A window is added while fewer than that are ready: never more than this. */
	uint64_t slot_count = power_of_two_from(most + WINDOW_CHUNKS);
	struct spooler *s = map_memory(spooler_bytes(slot_count));

	if (!s)
		return NULL;
	demand_init(&s->demand, FIRST_CHUNKS, most, clock_now_ns());
	s->slot_count = slot_count;
	s->map.fd = -1;
	pthread_mutex_init(&s->service_lock, NULL);
	return s;
}

static int map_writers(struct spooler *s)
{
	s->writers = map_memory(sizeof(*s->writers));
	if (!s->writers)
		return -ENOMEM;
	madvise(s->writers, sizeof(*s->writers), MADV_WIPEONFORK);
	s->writers->nobody.spooler = s;
	atomic_store_explicit(&s->writers->nobody.use, WRITER_NOBODY, memory_order_relaxed);
	atomic_store_explicit(&s->writers->alive, 1, memory_order_relaxed);
	return 0;
}

/* Before the first record: programs burst right after their first call, before anybody knows their rate. What
 * is not touched costs disk room alone. Only without room for one window is there no recording. */
static int make_first_ring(struct spooler *s)
{
	uint64_t chunks = s->demand.most < RESERVE_CHUNKS ? s->demand.most : RESERVE_CHUNKS;
	int err = add_window(s, SPOOL_MAP_TOUCHED);

	while (!err && ready_chunks(s) < chunks)
		if (add_window(s, ready_chunks(s) < s->demand.least ? SPOOL_MAP_TOUCHED
								    : SPOOL_MAP_BARE))
			break;
	return err;
}

static int open_file(struct spooler *s, const char *folder, uint32_t session)
{
	void *memory;
	int err = spool_map_create(&s->map, folder);

	if (err)
		return err;
	err = spool_map_extend(&s->map, 0, MAPPED_HEAD_BYTES, SPOOL_MAP_TOUCHED, &memory);
	if (err)
		return err;
	s->header = memory;
	s->lanes = (struct spool_lane *)((char *)memory + SPOOL_HEADER_BYTES);
	fill_header(s, session);
	err = make_first_ring(s);
	if (err)
		return err;
	return spool_map_publish(&s->map);
}

int spooler_open(const char *folder, uint64_t ring_bytes, uint32_t session,
		 struct spooler **ret_spooler)
{
	struct spooler *s = map_spooler(ring_bytes);
	int err;

	if (!s)
		return -ENOMEM;
	err = map_writers(s);
	if (!err)
		err = open_file(s, folder, session);
	if (err) {
		spool_map_discard(&s->map);
		spooler_release(s);
		return err;
	}
	*ret_spooler = s;
	return 0;
}

/* ---- close ---- */

/* All threads of the process have passed a full barrier when this returns. */
static void barrier_everywhere(const struct spooler *s)
{
	const struct timespec long_enough = {.tv_nsec = 2000000};

	if (s->expedited && !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		return;
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		return;
	/* No such call here: give store buffers time to drain. */
	nanosleep(&long_enough, NULL);
}

static bool wait_until_idle(struct spooler *s, uint32_t writer_count, uint64_t deadline_ns)
{
	const struct timespec pause = {.tv_nsec = 50000};

	for (uint32_t i = 0; i < writer_count; i++) {
		/* Pairs with the release in writer_commit: the record is complete. */
		while (atomic_load_explicit(&s->writers->of[i].use, memory_order_acquire) ==
		       WRITER_BUSY) {
			if (clock_now_ns() > deadline_ns)
				return false;
			nanosleep(&pause, NULL);
		}
	}
	return true;
}

/* Makes every writer take the slow way, where it meets `closing`. An owner stores BUSY and then
 * reads its limit; we store the limit and then read BUSY: with a barrier on both sides at least
 * one sees the other. A turn of the chunk that began before `closing` was seen may put a limit
 * back, so that all is done twice. */
static bool quiesce_writers(struct spooler *s, uint32_t writer_count)
{
	uint64_t deadline_ns = clock_now_ns() + QUIESCE_LIMIT_NS;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < writer_count; i++)
			atomic_store_explicit(&s->writers->of[i].limit, NULL, memory_order_relaxed);
		barrier_everywhere(s);
		if (!wait_until_idle(s, writer_count, deadline_ns))
			return false;
	}
	return true;
}

static void seal_current_chunks(struct spooler *s, uint32_t writer_count)
{
	for (uint32_t i = 0; i < writer_count; i++) {
		struct writer *w = &s->writers->of[i];
		unsigned char *cursor = atomic_load_explicit(&w->cursor, memory_order_relaxed);

		if (!w->chunk)
			continue;
		w->chunk->used_bytes = (uint32_t)(cursor - (unsigned char *)w->chunk);
		atomic_store_explicit(&w->chunk->state, SPOOL_CHUNK_FULL, memory_order_release);
		w->chunk = NULL;
	}
}

static void unmap_windows(struct spooler *s)
{
	for (uint32_t i = 0; i < s->window_count; i++)
		munmap(s->windows[i].chunks, WINDOW_BYTES);
	s->window_count = 0;
}

static void finish_file(struct spooler *s, uint32_t writer_count)
{
	struct spool_live *live = &s->header->live;
	uint64_t taken = atomic_load_explicit(&live->chunks_taken, memory_order_relaxed);

	raise_lanes_used(live, writer_count);
	atomic_store_explicit(&live->chunks_ready, taken, memory_order_relaxed);
	live->end_ns = clock_now_ns();
	live->counts_crc = spool_counts_crc(live, s->lanes, writer_count);
	atomic_store_explicit(&live->state, SPOOL_CLOSED, memory_order_release);
	unmap_windows(s);
	spool_map_cut(&s->map, SPOOL_CHUNK_OFFSET + taken * SPOOL_CHUNK_BYTES);
}

int spooler_close(struct spooler *s)
{
	struct timespec deadline = clock_deadline_in(SERVICE_LIMIT_NS);
	uint32_t writer_count;
	bool quiet;

	/* In a child whose fork ran no handlers (_Fork, clone) there is nothing of ours to close. */
	if (!atomic_load_explicit(&s->writers->alive, memory_order_relaxed))
		return 0;
	if (atomic_exchange_explicit(&s->closing, 1, memory_order_seq_cst))
		return 0;
	spooler_wind_down(s);
	writer_count = atomic_exchange_explicit(&s->writers_made, UINT32_MAX, memory_order_seq_cst);
	if (pthread_mutex_timedlock(&s->service_lock, &deadline))
		return -EBUSY;
	quiet = quiesce_writers(s, writer_count);
	if (quiet)
		seal_current_chunks(s, writer_count);
	seal_full_chunks(s, UINT32_MAX);
	if (quiet)
		finish_file(s, writer_count);
	spool_map_close(&s->map);
	pthread_mutex_unlock(&s->service_lock);
	return quiet ? 0 : -EBUSY;
}

void spooler_release(struct spooler *s)
{
	if (!s)
		return;
	spool_map_close(&s->map);
	unmap_windows(s);
	if (s->header)
		munmap(s->header, MAPPED_HEAD_BYTES);
	if (s->writers)
		munmap(s->writers, sizeof(*s->writers));
	pthread_mutex_destroy(&s->service_lock);
	munmap(s, spooler_bytes(s->slot_count));
}

void spooler_forget(struct spooler *s)
{
	if (!s)
		return;
	/* Header and windows were not inherited; the lock may be held by a thread that is no
	 * more. */
	spool_map_close(&s->map);
	munmap(s->writers, sizeof(*s->writers));
	munmap(s, spooler_bytes(s->slot_count));
}
