/*
 * A spool is read while its process writes it. Each reading ends at a cut, at which all counters
 * agree and no effect is without its cause.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "spool_fixture.h"

#define QUEUES 2
#define READS  60
/* Dispatches of each queue for each reading. Each reading takes time for all that is there, so the
 * time grows with the square; the moments at which a thread is met do not become more. */
#ifdef __SANITIZE_THREAD__
#define BURST 1000
#else
#define BURST 4000
#endif
#define BURSTS_PER_ASK 8 /* before each request for chunks */
#define INDICES	       ((READS + 1) * BURST)
#define IDLE_WRITERS   400
#define RING_BYTES     ((uint64_t)4 << 20)
#define NAME_EVERY     64 /* dispatches that use the same name */
#define KERNELS	       (INDICES / NAME_EVERY + 1)

struct play {
	struct spooler *spooler;
	struct keeper keeper;
	sem_t bursts[QUEUES]; /* posted for each burst that a queue's thread may begin */
	_Atomic uint64_t submitted[QUEUES];
	_Atomic bool is_over;
};

struct submitter {
	struct play *play;
	uint32_t queue;
};

static bool put(struct play *play, struct writer *w, enum record_type type, uint32_t tag,
		const void *record, size_t bytes)
{
	void *at = writer_reserve(w, type, bytes);

	if (!at) {
		keeper_await(&play->keeper);
		return false;
	}
	memcpy((char *)at + 8, (const char *)record + 8, bytes - 8);
	writer_commit(w, at, type, bytes, tag);
	return true;
}

/* Writes a name, then the dispatches that use it; publishes each once it is written. */
static void *submit(void *argument)
{
	const struct submitter *submitter = argument;
	struct play *play = submitter->play;
	struct writer *w = fixture_writer(play->spooler, "submit");
	uint32_t queue = submitter->queue;

	for (uint64_t i = 0; i < INDICES; i++) {
		const struct record_dispatch dispatch = {.packet_index = i,
							 .kernel = (uint32_t)(i / NAME_EVERY)};
		const struct record_kernel_gone name = {.ns = i};

		if (i % BURST == 0)
			while (sem_wait(&play->bursts[queue]))
				;
		if (atomic_load(&play->is_over))
			break;
		while (i % NAME_EVERY == 0 &&
		       !put(play, w, RECORD_KERNEL_GONE,
			    (uint32_t)(queue * KERNELS + i / NAME_EVERY), &name, sizeof(name)))
			;
		while (!put(play, w, RECORD_DISPATCH, queue, &dispatch, sizeof(dispatch)))
			;
		atomic_store(&play->submitted[queue], i + 1);
		if (i % (BURST / BURSTS_PER_ASK) == 0)
			keeper_ask(&play->keeper);
	}
	return NULL;
}

/* One thread records the completions of both queues' dispatches. */
static void *complete(void *argument)
{
	struct play *play = argument;
	struct writer *w = fixture_writer(play->spooler, "complete");
	uint64_t done[QUEUES] = {0};

	while (!atomic_load(&play->is_over))
		for (uint32_t queue = 0; queue < QUEUES; queue++)
			while (done[queue] < atomic_load(&play->submitted[queue])) {
				const struct record_dispatch_done record = {.packet_index =
										    done[queue]};

				done[queue] += put(play, w, RECORD_DISPATCH_DONE, queue, &record,
						   sizeof(record));
			}
	return NULL;
}

/* What one reading found, by queue. */
struct found {
	bool dispatched[QUEUES][INDICES];
	bool done[QUEUES][INDICES];
	bool named[QUEUES][KERNELS];
	uint32_t kernels[QUEUES][INDICES];
	uint64_t count;
};

static void note(struct found *found, const struct spool_record *record)
{
	const struct record_dispatch *dispatch = (const void *)record->header;
	uint32_t tag = record->header->tag;

	found->count++;
	if (record->type == RECORD_DISPATCH) {
		found->dispatched[tag][dispatch->packet_index] = true;
		found->kernels[tag][dispatch->packet_index] = dispatch->kernel;
	} else if (record->type == RECORD_DISPATCH_DONE) {
		found->done[tag][((const struct record_dispatch_done *)dispatch)->packet_index] =
			true;
	} else if (record->type == RECORD_KERNEL_GONE) {
		found->named[tag / KERNELS][tag % KERNELS] = true;
	}
}

/* A ring has reused the first records. */
static void expect_causes(const struct found *found, bool is_ring)
{
	for (int queue = 0; queue < QUEUES; queue++) {
		bool begun = !is_ring, over = false;

		for (uint64_t i = 0; i < INDICES; i++) {
			begun |= found->dispatched[queue][i];
			over |= begun && !found->dispatched[queue][i];
			/* The kept records are the first ones of each writer, without a gap. */
			assert_false(over && found->dispatched[queue][i]);
			assert_false(begun && found->done[queue][i] &&
				     !found->dispatched[queue][i]);
			assert_false(found->dispatched[queue][i] &&
				     !found->named[queue][found->kernels[queue][i]]);
		}
	}
}

static uint64_t read_while_it_grows(const struct fixture *fixture, bool is_ring)
{
	struct spool_reader *reader = fixture_read(fixture);
	struct found *found = calloc(1, sizeof(*found));
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t count;

	assert_non_null(found);
	assert_false(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record))
			note(found, &record);
	}
	expect_causes(found, is_ring);
	count = found->count;
	free(found);
	spool_reader_close(reader);
	return count;
}

static void start_play(struct play *play, const struct fixture *fixture, uint64_t ring_bytes)
{
	const struct spooler_options options = {.folder = fixture->folder,
						.ready_bytes = SPOOLER_READY_BYTES_LEAST,
						.ring_bytes = ring_bytes};

	*play = (struct play){0};
	assert_int_equal(spooler_open(&options, &play->spooler), 0);
	keeper_start(&play->keeper, play->spooler);
	/*
	 * Lanes of idle writers are counted between those that are written, which lengthens the
	 * time between the readings of the counters.
	 */
	for (int i = 0; i < IDLE_WRITERS; i++)
		assert_non_null(fixture_writer(play->spooler, "idle"));
	for (int queue = 0; queue < QUEUES; queue++)
		sem_init(&play->bursts[queue], 0, 0);
}

static void end_play(struct play *play)
{
	keeper_stop(&play->keeper);
	assert_int_equal(spooler_close(play->spooler), 0);
	spooler_release(play->spooler);
	for (int queue = 0; queue < QUEUES; queue++)
		sem_destroy(&play->bursts[queue]);
}

static void reads_a_cut_each_time(const struct fixture *fixture, uint64_t ring_bytes)
{
	struct submitter submitters[QUEUES];
	pthread_t threads[QUEUES + 1];
	uint64_t count = 0;
	struct play play;

	start_play(&play, fixture, ring_bytes);
	for (uint32_t queue = 0; queue < QUEUES; queue++) {
		submitters[queue] = (struct submitter){&play, queue};
		assert_int_equal(pthread_create(&threads[queue], NULL, submit, &submitters[queue]),
				 0);
	}
	assert_int_equal(pthread_create(&threads[QUEUES], NULL, complete, &play), 0);
	for (int i = 0; i < READS; i++) {
		uint64_t now;

		for (int queue = 0; queue < QUEUES; queue++)
			sem_post(&play.bursts[queue]);
		now = read_while_it_grows(fixture, ring_bytes != 0);
		assert_true(ring_bytes || now >= count);
		count = now;
	}
	atomic_store(&play.is_over, true);
	for (int queue = 0; queue < QUEUES; queue++)
		sem_post(&play.bursts[queue]);
	for (int i = 0; i <= QUEUES; i++)
		pthread_join(threads[i], NULL);
	end_play(&play);
}

static void a_growing_file_is_read_up_to_a_cut(void **state)
{
	reads_a_cut_each_time(*state, 0);
}

static void a_ring_is_read_up_to_a_cut(void **state)
{
	reads_a_cut_each_time(*state, RING_BYTES);
}

/*
 * Closing cuts the file behind the last chunk; a reader that opened it earlier must not read a page
 * beyond that.
 */
static void a_file_that_is_closed_meanwhile_stays_readable(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "early");
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t count = 0;

	for (uint64_t i = 0; i < 100; i++)
		assert_true(fixture_put(w, i, 3));
	reader = fixture_read(fixture);
	for (uint64_t i = 100; i < 200; i++)
		assert_true(fixture_put(w, i, 3));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	spool_cursor_init(&cursor, reader, 0);
	while (spool_cursor_next(&cursor, &record))
		count += record.type == RECORD_API;
	assert_int_equal(count, 100);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_growing_file_is_read_up_to_a_cut, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_ring_is_read_up_to_a_cut, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_closed_meanwhile_stays_readable,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
