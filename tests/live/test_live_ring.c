/* Following a ring recording: what is read, and what the ring drops before it is read. The order of
 * chunks is that of other recordings, too. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/follower.h"
#include "record/chunk_take.h"
#include "spool_fixture.h"

#define RING_BYTES    SPOOLER_RING_BYTES_LEAST
#define RING_RECORDS  (RING_BYTES / sizeof(struct record_api))
#define TOTAL	      (6 * RING_RECORDS)
#define SERVICE_EVERY 500
#define CHUNKS	      4

struct following {
	struct spooler *spooler;
	struct writer *writer;
	struct follower follower;
	uint64_t next; /* a cid of the next record is at least this */
	uint64_t count;
};

static void begin_with(struct following *following, const struct fixture *fixture,
		       uint64_t ring_bytes)
{
	const struct spooler_options options = {
		.folder = fixture->folder,
		.ready_bytes = SPOOLER_READY_BYTES_LEAST,
		.ring_bytes = ring_bytes,
	};
	char path[2 * TEST_PATH_BYTES];
	int fd;

	*following = (struct following){0};
	assert_int_equal(spooler_open(&options, &following->spooler), 0);
	following->writer = fixture_writer(following->spooler, "busy");
	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	if (ring_bytes)
		assert_int_equal(follower_open(&following->follower, fd, path, false, NULL),
				 -EOPNOTSUPP);
	assert_int_equal(follower_open(&following->follower, fd, path, true, NULL), 0);
	close(fd);
}

static void begin(struct following *following, const struct fixture *fixture)
{
	begin_with(following, fixture, RING_BYTES);
}

static int take(void *context, const struct record_header *record, uint32_t tid)
{
	struct following *following = context;
	const struct record_api *api = (const void *)record;

	if (record->type != RECORD_API)
		return 0;
	assert_true(tid);
	assert_true(api->cid >= following->next);
	following->next = api->cid + 1;
	following->count++;
	return 0;
}

/* Writes all records and reads after every POLL_EVERY of them; then closes the spool and reads the
 * rest. */
static void write_and_follow(struct following *following, uint64_t poll_every)
{
	for (uint64_t i = 0; i < TOTAL; i++) {
		assert_true(fixture_put(following->writer, i, 0));
		if (i % SERVICE_EVERY == 0)
			assert_true(spooler_service(following->spooler) >= 0);
		if (i % poll_every == 0)
			while (follower_read(&following->follower, RING_BYTES, take, following) > 0)
				;
	}
	assert_int_equal(spooler_close(following->spooler), 0);
	spooler_release(following->spooler);
	while (follower_read(&following->follower, RING_BYTES, take, following) > 0)
		;
	assert_true(follower_is_closed(&following->follower));
}

static void a_follower_that_keeps_up_reads_each_record_once(void **state)
{
	struct following following;
	struct follower_counts counts;

	begin(&following, *state);
	write_and_follow(&following, RING_RECORDS / 8);
	follower_count(&following.follower, &counts);
	assert_int_equal(following.count, TOTAL);
	assert_int_equal(counts.read[RECORD_CLASS_API], TOTAL);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		assert_int_equal(counts.lost[class], 0);
	assert_int_equal(counts.lost_chunks, 0);
	follower_close(&following.follower);
}

static void what_the_ring_drops_before_it_is_read_is_counted(void **state)
{
	struct following following;
	struct follower_counts counts;

	begin(&following, *state);
	write_and_follow(&following, 3 * RING_RECORDS);
	follower_count(&following.follower, &counts);
	assert_true(following.count < TOTAL);
	assert_int_equal(counts.lost[RECORD_CLASS_API], TOTAL - following.count);
	assert_int_equal(following.next, TOTAL);
	follower_close(&following.follower);
}

static void what_is_written_after_a_count_can_be_left_out_of_what_is_lost(void **state)
{
	struct following following;
	struct follower_counts before, counts;

	begin(&following, *state);
	for (uint64_t i = 0; i < TOTAL; i++) {
		assert_true(fixture_put(following.writer, i, 0));
		if (i % SERVICE_EVERY == 0)
			assert_true(spooler_service(following.spooler) >= 0);
	}
	follower_count(&following.follower, &before);
	follower_mark(&following.follower);
	while (!follower_is_past_mark(&following.follower))
		assert_true(follower_read(&following.follower, RING_BYTES, take, &following) >= 0);
	assert_true(fixture_put(following.writer, TOTAL, 0));
	follower_count(&following.follower, &counts);
	assert_true(following.count && following.count < TOTAL);
	assert_int_equal(counts.lost[RECORD_CLASS_API], TOTAL + 1 - following.count);
	follower_counts_limit(&counts, &before);
	assert_int_equal(counts.lost[RECORD_CLASS_API], TOTAL - following.count);
	/* More was read than had been written. */
	follower_count(&following.follower, &counts);
	before.lost[RECORD_CLASS_API] = 1;
	follower_counts_limit(&counts, &before);
	assert_int_equal(counts.lost[RECORD_CLASS_API], 0);
	assert_int_equal(spooler_close(following.spooler), 0);
	spooler_release(following.spooler);
	follower_close(&following.follower);
}

/* The follower reads while another thread writes, reuses and clears chunks. */
static void *write_all(void *context)
{
	struct following *following = context;
	struct keeper keeper;

	keeper_start(&keeper, following->spooler);
	for (uint64_t i = 0; i < TOTAL; i++)
		while (!keeper_put(&keeper, following->writer, i, 0))
			;
	keeper_stop(&keeper);
	assert_int_equal(spooler_close(following->spooler), 0);
	return NULL;
}

static void each_record_is_read_or_lost_while_the_ring_turns(void **state)
{
	struct following following;
	struct follower_counts counts;
	pthread_t thread;

	begin(&following, *state);
	assert_int_equal(pthread_create(&thread, NULL, write_all, &following), 0);
	while (!follower_is_closed(&following.follower))
		assert_true(follower_read(&following.follower, RING_BYTES / 4, take, &following) >=
			    0);
	pthread_join(thread, NULL);
	spooler_release(following.spooler);
	while (follower_read(&following.follower, RING_BYTES, take, &following) > 0)
		;
	follower_count(&following.follower, &counts);
	assert_int_equal(following.count + counts.lost[RECORD_CLASS_API], TOTAL);
	assert_int_equal(following.follower.damage, 0);
	follower_close(&following.follower);
}

/* Writes until CHUNKS chunks are taken, the last of them for one record. Returns how many records
 * the earlier ones hold. */
static uint64_t fill_chunks(struct following *following)
{
	const struct spool_live *live = spooler_live(following->spooler);
	uint64_t records = 0;

	while (atomic_load(&live->chunks_taken) < CHUNKS)
		assert_true(fixture_put(following->writer, records++, 0));
	assert_true(records > 1);
	return records - 1;
}

static void read_all(struct following *following)
{
	while (follower_read(&following->follower, RING_BYTES, take, following) > 0)
		;
}

static void end(struct following *following)
{
	assert_int_equal(spooler_close(following->spooler), 0);
	spooler_release(following->spooler);
	follower_close(&following->follower);
}

/* A reader that has loaded chunks_taken, and is then interrupted while the writer takes the next
 * chunk, meets a label that is later than the number. It must leave that chunk, because it may have
 * looked at the place of an earlier one before that got its label. */
static void read_before_the_last_chunk(struct following *following, uint64_t ring_bytes,
				       const struct fixture *fixture)
{
	struct spool_live *live;
	uint64_t earlier;

	begin_with(following, fixture, ring_bytes);
	live = spooler_live(following->spooler);
	earlier = fill_chunks(following);
	atomic_store(&live->chunks_taken, CHUNKS - 1);
	read_all(following);
	assert_int_equal(following->count, earlier);
	atomic_store(&live->chunks_taken, CHUNKS);
	read_all(following);
	assert_int_equal(following->count, earlier + 1);
	assert_int_equal(following->follower.damage, 0);
	end(following);
}

static void chunks_that_are_taken_during_a_scan_wait_for_the_next_one(void **state)
{
	struct following following;

	read_before_the_last_chunk(&following, RING_BYTES, *state);
	assert_int_equal(fixture_renew(*state), 0);
	read_before_the_last_chunk(&following, 0, *state);
}

static void set_magic(const struct fixture *fixture, uint64_t place, uint32_t magic)
{
	char path[2 * TEST_PATH_BYTES];
	off_t offset = (off_t)(SPOOL_CHUNK_OFFSET + place * SPOOL_CHUNK_BYTES +
			       offsetof(struct spool_chunk, magic));
	int fd;

	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, &magic, sizeof(magic), offset), sizeof(magic));
	close(fd);
}

/* A writer that is stopped between the ticket and the label, for any number of reads. */
static void a_late_label_is_found_after_the_end(void **state)
{
	struct following following;
	uint64_t earlier;

	begin(&following, *state);
	earlier = fill_chunks(&following);
	set_magic(*state, CHUNKS - 1, 0);
	for (int i = 0; i < 3; i++)
		read_all(&following);
	assert_int_equal(following.count, earlier);
	set_magic(*state, CHUNKS - 1, SPOOL_CHUNK_MAGIC);
	follower_note_death(&following.follower);
	read_all(&following);
	assert_int_equal(following.count, earlier + 1);
	end(&following);
}

/* Dies with complete records, and one that is not. */
static void write_and_die(const struct fixture *fixture)
{
	struct following following;

	begin(&following, fixture);
	for (uint64_t i = 0; i < RING_RECORDS / 8; i++)
		assert_true(fixture_put(following.writer, i, 0));
	writer_reserve(following.writer, RECORD_API, sizeof(struct record_api));
	raise(SIGKILL);
}

static void a_record_that_a_killed_writer_did_not_complete_is_not_lost(void **state)
{
	struct following following = {0};
	struct follower_counts counts;
	char path[2 * TEST_PATH_BYTES];
	pid_t pid = fork();
	int fd;

	if (!pid)
		write_and_die(*state);
	fixture_await_killed(pid);
	assert_int_equal(fixture_files(*state, path, sizeof(path)), 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(follower_open(&following.follower, fd, path, true, NULL), 0);
	close(fd);
	follower_note_death(&following.follower);
	read_all(&following);
	assert_int_equal(following.count, RING_RECORDS / 8);
	follower_count(&following.follower, &counts);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		assert_int_equal(counts.lost[class], 0);
	follower_close(&following.follower);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_follower_that_keeps_up_reads_each_record_once),
		CASE(what_the_ring_drops_before_it_is_read_is_counted),
		CASE(what_is_written_after_a_count_can_be_left_out_of_what_is_lost),
		CASE(each_record_is_read_or_lost_while_the_ring_turns),
		CASE(chunks_that_are_taken_during_a_scan_wait_for_the_next_one),
		CASE(a_late_label_is_found_after_the_end),
		CASE(a_record_that_a_killed_writer_did_not_complete_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
