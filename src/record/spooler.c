/* Opens and closes the spool file. spooler_writers.c hands out writers, chunk_supply.c makes the
 * chunks ready, chunk_take.c gives them to writers. */
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
#include "base/timer.h"
#include "record/spooler_state.h"

#define MAPPED_HEAD_BYTES ((size_t)SPOOL_CHUNK_OFFSET)

int spooler_service(struct spooler *s)
{
	int err;

	pthread_mutex_lock(&s->service_lock);
	err = spooler_is_closing(s) ? 0 : supply_service(s);
	pthread_mutex_unlock(&s->service_lock);
	return err;
}

void spooler_wind_down(struct spooler *s)
{
	atomic_store_explicit(&s->winding_down, 1, memory_order_relaxed);
}

const char *spooler_path(const struct spooler *s)
{
	return s->map.path;
}

/* ---- open ---- */

/* Reads a file of /proc into BUFFER. Returns how many bytes; 0 where there is no /proc. */
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

static void fill_header(struct spooler *s, const struct spooler_options *options)
{
	struct spool_header *header = s->header;

	spool_header_init(header);
	header->pid = (uint32_t)getpid();
	header->ppid = (uint32_t)getppid();
	header->session = options->session;
	header->ring_bytes = s->ring.chunks_most * SPOOL_CHUNK_BYTES;
	header->ring_ns = s->ring.age_ns;
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

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static uint64_t ring_bytes_of(const struct spooler_options *options)
{
	return options->ring_bytes ? at_least(options->ring_bytes, SPOOLER_RING_BYTES_LEAST) : 0;
}

/* The bound of ready chunks. */
static uint64_t ready_most(const struct spooler_options *options, const struct space *space)
{
	uint64_t bytes = options->ready_bytes;

	if (!bytes && options->ring_bytes)
		bytes = at_least(ring_bytes_of(options) / 4, SPOOLER_RING_READY_BYTES);
	else if (!bytes)
		bytes = SPOOLER_READY_BYTES_DEFAULT;
	bytes = space_ready_most(space, bytes);
	bytes = at_most(at_least(bytes, SPOOLER_READY_BYTES_LEAST), SPOOLER_READY_BYTES_MOST);
	return bytes / SPOOL_CHUNK_BYTES;
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
	return sizeof(struct spooler) +
	       slot_count * (sizeof(((struct spooler *)0)->slots[0]) + sizeof(uint64_t));
}

static void *map_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Mapped instead of allocated: a fork child can free it without the heap, whose state in the
 * child is not known. */
static struct spooler *map_spooler(const struct spooler_options *options, const struct space *space)
{
	uint64_t most = ready_most(options, space);
	/* A window is added only while fewer than MOST are ready, so all ready chunks fit. */
	uint64_t slot_count = power_of_two_from(most + WINDOW_CHUNKS);
	uint64_t ring_bytes = ring_bytes_of(options);
	/* The file grows only while the ring has fewer sealed chunks than its size. At most the
	 * chunks that are then ready or open may be sealed before one is reused. */
	uint64_t sealed_most = ring_bytes / SPOOL_CHUNK_BYTES + slot_count + SPOOL_WRITER_COUNT;
	struct spooler *s = map_memory(spooler_bytes(slot_count));

	if (!s)
		return NULL;
	demand_init(&s->demand, SPOOLER_FIRST_BYTES / SPOOL_CHUNK_BYTES, most, clock_now_ns());
	s->space = *space;
	s->slot_count = slot_count;
	s->slot_places = (uint64_t *)&s->slots[slot_count];
	s->map.fd = -1;
	pthread_mutex_init(&s->service_lock, NULL);
	if (ring_init(&s->ring, ring_bytes, options->ring_ns, sealed_most)) {
		munmap(s, spooler_bytes(slot_count));
		return NULL;
	}
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

/* Makes the writer of kept scopes, number 0. It may take the last ready chunks. */
static void make_kept_scopes(struct spooler *s)
{
	if (!ring_is_on(&s->ring))
		return;
	s->kept_scopes.writer = writers_take(s, 1);
	s->kept_scopes.writer->is_ringed = true;
	s->kept_scopes.writer->leaves_ready = 0;
}

/* Creates the file, maps its head, makes the first chunks ready, and gives the file its name
 * last. */
static int open_file(struct spooler *s, const struct spooler_options *options)
{
	void *memory;
	int err = spool_map_create(&s->map, options->folder);

	if (err)
		return err;
	err = spool_map_extend(&s->map, 0, MAPPED_HEAD_BYTES, SPOOL_MAP_TOUCHED, &memory);
	if (err)
		return err;
	s->header = memory;
	s->counters = (struct spool_writer *)((char *)memory + SPOOL_HEADER_BYTES);
	fill_header(s, options);
	err = supply_begin(s);
	if (err)
		return err;
	make_kept_scopes(s);
	return spool_map_publish(&s->map);
}

int spooler_open(const struct spooler_options *options, struct spooler **ret_spooler)
{
	struct space space;
	struct spooler *s;
	int err;

	space_init(&space);
	s = map_spooler(options, &space);
	if (!s)
		return -ENOMEM;
	err = map_writers(s);
	if (!err)
		err = open_file(s, options);
	if (err) {
		spool_map_discard(&s->map);
		spooler_release(s);
		return err;
	}
	*ret_spooler = s;
	return 0;
}

/* ---- close ---- */

/* When this returns, every thread of the process has executed a full memory barrier. */
static void barrier_everywhere(const struct spooler *s)
{
	const struct timespec long_enough = {.tv_nsec = 2000000};

	if (s->expedited && !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		return;
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		return;
	/* The kernel has no membarrier: 2 ms are enough for store buffers to drain. */
	nanosleep(&long_enough, NULL);
}

/* Sleeps for a moment. Returns false, without sleeping, when the limit is over. */
static bool pause_before(struct timer_limit limit)
{
	const struct timespec pause = {.tv_nsec = 50000};

	if (timer_is_over(limit))
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Whether the writer may still store a record. A thread that keeps trying is busy most of the
 * time; its has_ended tells that it stores nothing any more. */
static bool writer_may_write(const struct writer *w)
{
	return atomic_load_explicit(&w->use, memory_order_acquire) == WRITER_BUSY &&
	       !atomic_load_explicit(&w->has_ended, memory_order_acquire);
}

/* Whether the caller's own thread owns W. Then spooler_close runs in a signal handler that
 * interrupted a record, and must not wait for it. */
static bool writer_is_mine(const struct writer *w)
{
	return atomic_load_explicit(&w->owner, memory_order_relaxed) ==
	       (uint32_t)syscall(SYS_gettid);
}

/* Waits until no writer and no refusal is in progress. Returns false if one stays in progress. */
static bool wait_until_idle(struct spooler *s, uint32_t writer_count, struct timer_limit limit)
{
	uint64_t refusing;

	for (uint32_t i = 0; i < writer_count; i++) {
		const struct writer *w = &s->writers->of[i];

		/* Pairs with the release of IDLE in writer_commit: the record is
		 * complete. */
		while (writer_may_write(w))
			if (writer_is_mine(w) || !pause_before(limit))
				return false;
		if (atomic_load_explicit(&w->use, memory_order_acquire) == WRITER_TORN)
			return false;
	}
	while ((refusing = atomic_load_explicit(&s->writers->refusing, memory_order_seq_cst)))
		if (refusing == spooler_refusal_of_mine() || !pause_before(limit))
			return false;
	return true;
}

/* Makes every writer enter writer_reserve_slowly, where it sees `closing`. An owner stores BUSY
 * and then loads its limit; we store the limit and then load BUSY. With a barrier on both sides
 * at least one sees the other's store. A turn_chunk that began before `closing` was set may store
 * a new limit, so everything is done twice. */
static bool quiesce_writers(struct spooler *s, uint32_t writer_count)
{
	struct timer_limit limit = timer_start(TIMER_SPOOL_QUIESCE);

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < writer_count; i++)
			atomic_store_explicit(&s->writers->of[i].limit, NULL, memory_order_relaxed);
		barrier_everywhere(s);
		if (!wait_until_idle(s, writer_count, limit))
			return false;
	}
	return true;
}

/* Marks the writers' current chunks as full; supply_seal_all then seals them. */
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

/* Sets the final counts and their checksum, marks the file closed, and cuts off unused chunks. */
static void finish_file(struct spooler *s, uint32_t writer_count)
{
	struct spool_live *live = &s->header->live;
	uint64_t taken = atomic_load_explicit(&live->chunks_taken, memory_order_relaxed);
	uint64_t places = supply_places_in_use(s);

	writers_raise_used(live, writer_count);
	atomic_store_explicit(&live->chunks_ready, taken, memory_order_relaxed);
	atomic_store_explicit(&live->places, places, memory_order_relaxed);
	live->end_ns = clock_now_ns();
	live->counts_crc = spool_counts_crc(live, s->counters, writer_count);
	atomic_store_explicit(&live->state, SPOOL_CLOSED, memory_order_release);
	supply_end(s);
	spool_map_cut(&s->map, SPOOL_CHUNK_OFFSET + places * SPOOL_CHUNK_BYTES);
}

int spooler_close(struct spooler *s)
{
	struct timer_limit limit = timer_start(TIMER_SPOOL_SERVICE);
	uint32_t writer_count;
	bool quiet;

	/* A fork child in which no fork handler ran (_Fork, clone): the file is the
	 * parent's. */
	if (!atomic_load_explicit(&s->writers->alive, memory_order_relaxed))
		return 0;
	if (atomic_exchange_explicit(&s->closing, 1, memory_order_seq_cst))
		return 0;
	spooler_wind_down(s);
	writer_count = atomic_exchange_explicit(&s->writers_made, UINT32_MAX, memory_order_seq_cst);
	if (!timer_lock(&s->service_lock, limit))
		return -EBUSY;
	quiet = quiesce_writers(s, writer_count);
	if (quiet)
		seal_current_chunks(s, writer_count);
	supply_seal_all(s);
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
	supply_end(s);
	if (s->header)
		munmap(s->header, MAPPED_HEAD_BYTES);
	if (s->writers)
		munmap(s->writers, sizeof(*s->writers));
	pthread_mutex_destroy(&s->service_lock);
	ring_release(&s->ring);
	munmap(s, spooler_bytes(s->slot_count));
}

void spooler_forget(struct spooler *s)
{
	if (!s)
		return;
	/* The child did not inherit header and windows. It must not destroy the lock,
	 * which may be held by a thread that does not exist here. */
	spool_map_close(&s->map);
	munmap(s->writers, sizeof(*s->writers));
	ring_release(&s->ring);
	munmap(s, spooler_bytes(s->slot_count));
}
