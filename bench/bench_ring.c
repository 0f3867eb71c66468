/*
 * Measures what one record costs the thread that writes it: a 64-byte API record with one clock
 * read, through a session's writer into a spool on disk. The floors are a bare clock read and a
 * bare store of 64 bytes. A batch fits into the prepared chunks; the housekeeping thread prepares
 * new ones between batches.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "record/spooler.h"
#include "record/writer.h"

#define BATCHES		101
#define BATCH_RECORDS	20000
#define RECORD_BYTES	(sizeof(struct record_api) + sizeof(uint64_t))
#define THREADS		2
#define FLOOR_BYTES	((size_t)BATCH_RECORDS * 64)
#define BATCH_NS(since) ((double)(clock_now_ns() - (since)) / BATCH_RECORDS)

_Static_assert(RECORD_BYTES == 64, "the floor stores as much as the record");

static void put_record(struct writer *w, uint64_t cid)
{
	struct record_api *record = writer_reserve(w, RECORD_API, RECORD_BYTES);

	if (!record)
		return;
	record->cid = cid;
	record->parent = 0;
	record->scope = 0;
	record->begin_ns = cid;
	record->end_ns = clock_now_ns();
	record->result = 0;
	record->activities = 1;
	record->args[0] = cid;
	writer_commit(w, record, RECORD_API, RECORD_BYTES, 7);
}

static double time_records(struct writer *w)
{
	uint64_t since = clock_now_ns();

	for (uint64_t i = 0; i < BATCH_RECORDS; i++)
		put_record(w, i);
	return BATCH_NS(since);
}

static double time_clock(void)
{
	uint64_t since = clock_now_ns();

	for (uint64_t i = 0; i < BATCH_RECORDS; i++)
		clock_now_ns();
	return BATCH_NS(since);
}

static double time_stores(uint64_t *memory)
{
	uint64_t since = clock_now_ns();

	for (uint64_t i = 0; i < BATCH_RECORDS; i++, memory += 8) {
		for (int word = 0; word < 8; word++)
			memory[word] = i;
		/* Keeps the compiler from merging the stores of different records. */
		__asm__ volatile("" ::: "memory");
	}
	return BATCH_NS(since);
}

/* ---- several threads at once ---- */

struct crowd {
	struct spooler *spooler;
	pthread_barrier_t barrier;
	double values[THREADS][BATCHES];
};

struct member {
	struct crowd *crowd;
	int index;
};

static struct writer *take_writer(struct spooler *spooler)
{
	struct writer_thread thread = {.tid = (uint32_t)syscall(SYS_gettid), .name = "bench"};

	return spooler_take_writer(spooler, &thread);
}

static void *write_in_crowd(void *argument)
{
	struct member *member = argument;
	struct crowd *crowd = member->crowd;
	struct writer *w = take_writer(crowd->spooler);

	for (int i = 0; i < BATCHES; i++) {
		if (!member->index)
			spooler_service(crowd->spooler);
		pthread_barrier_wait(&crowd->barrier);
		crowd->values[member->index][i] = time_records(w);
		pthread_barrier_wait(&crowd->barrier);
	}
	spooler_put_writer(crowd->spooler, w);
	return NULL;
}

static int measure_crowd(struct spooler *spooler, double *ret_ns)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	struct member members[THREADS];
	pthread_t threads[THREADS];

	if (!crowd)
		return -ENOMEM;
	crowd->spooler = spooler;
	pthread_barrier_init(&crowd->barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		members[i] = (struct member){crowd, i};
		if (pthread_create(&threads[i], NULL, write_in_crowd, &members[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	*ret_ns = bench_median(&crowd->values[0][0], (size_t)THREADS * BATCHES);
	pthread_barrier_destroy(&crowd->barrier);
	free(crowd);
	return 0;
}

/* ---- one thread ---- */

static int measure_alone(struct spooler *spooler, struct bench_result *result)
{
	double records[BATCHES];
	double clocks[BATCHES];
	double stores[BATCHES];
	uint64_t *memory = aligned_alloc(4096, FLOOR_BYTES);
	struct writer *w = take_writer(spooler);
	double record_ns;
	double clock_ns;

	if (!memory)
		return -ENOMEM;
	memset(memory, 1, FLOOR_BYTES);
	for (int i = 0; i < BATCHES; i++) {
		spooler_service(spooler);
		clocks[i] = time_clock();
		records[i] = time_records(w);
		stores[i] = time_stores(memory);
	}
	free(memory);
	/* A dropped record costs less than a written one, so a run with drops is invalid. */
	if (atomic_load(&w->counters->counts.dropped[RECORD_CLASS_API][RECORD_DROP_FULL]))
		return -ENOSPC;
	spooler_put_writer(spooler, w);
	record_ns = bench_median(records, BATCHES);
	clock_ns = bench_median(clocks, BATCHES);
	bench_add(result, "record", "ns", record_ns,
		  "one record of 64 bytes, one clock read in it");
	bench_add(result, "clock", "ns", clock_ns, "floor: the clock read alone");
	bench_add(result, "store", "ns", bench_median(stores, BATCHES),
		  "floor: storing 64 bytes alone");
	bench_add(result, "over_clock", "ns", record_ns - clock_ns,
		  "record less clock read; at most 10 is the goal");
	return 0;
}

static int measure(const char *folder, struct bench_result *result)
{
	struct spooler *spooler;
	double crowd_ns;
	const struct spooler_options options = {.folder = folder,
						.ready_bytes = SPOOLER_READY_BYTES_DEFAULT};
	int err = spooler_open(&options, &spooler);

	if (err)
		return err;
	err = measure_alone(spooler, result);
	if (!err)
		err = measure_crowd(spooler, &crowd_ns);
	if (!err)
		bench_add(result, "record_2_threads", "ns", crowd_ns,
			  "the same, two threads at once");
	spooler_close(spooler);
	unlink(spooler_path(spooler));
	spooler_release(spooler);
	return err;
}

static int run_ring(struct bench_result *ret_result)
{
	const char *base = getenv("TMPDIR");
	char folder[256];
	int err;

	snprintf(folder, sizeof(folder), "%s/dagtap-bench-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder))
		return -errno;
	err = measure(folder, ret_result);
	rmdir(folder);
	return err;
}

const struct bench bench_ring = {
	.name = "ring",
	.help = "what a record costs the thread that writes it",
	.run = run_ring,
};
