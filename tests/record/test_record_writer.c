/* What is written to a spool is read from it, in order and with its thread. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "spool_fixture.h"

static void an_empty_spool_is_one(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct spool_reader *reader;

	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	assert_int_equal(spool_reader_info(reader)->pid, getpid());
	assert_int_equal(spool_reader_info(reader)->ppid, getppid());
	assert_true(spool_reader_info(reader)->end_ns >= spool_reader_info(reader)->start_ns);
	assert_non_null(strstr(spool_reader_info(reader)->exe, "record_writer"));
	assert_non_null(strstr(spool_reader_info(reader)->cmdline, "record_writer"));
	assert_int_equal(spool_reader_writer_count(reader), 0);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void records_come_back_in_order(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "orderly");
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t next = 1;

	/* Some 12 chunks, with record sizes that leave chunk ends of different lengths. */
	for (uint64_t i = 1; i <= 5000; i++)
		assert_true(fixture_put(w, i, i % 23));
	spooler_put_writer(spooler, w);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);

	reader = fixture_read(fixture);
	spool_cursor_init(&cursor, reader, 0);
	while (spool_cursor_next(&cursor, &record)) {
		const struct record_api *api = (const struct record_api *)record.header;

		assert_int_equal(record.tid, syscall(SYS_gettid));
		if (record.type != RECORD_API)
			continue;
		assert_int_equal(api->cid, next);
		assert_int_equal(record.header->tag, next);
		next++;
	}
	assert_int_equal(next, 5001);
	assert_true(spool_reader_ledger(reader)->chunks_read > 10);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void text_is_kept_and_cut(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "texts");
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	char text[RECORD_TEXT_MAX + 100];
	int seen = 0;

	memset(text, 'x', sizeof(text));
	for (size_t length = 0; length < sizeof(text); length += 91) {
		struct record_note note = {.ns = length};

		writer_put_text(w, RECORD_NOTE, writer_text_bytes(length), &note, sizeof(note),
				text, length);
	}
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);

	reader = fixture_read(fixture);
	spool_cursor_init(&cursor, reader, 0);
	while (spool_cursor_next(&cursor, &record)) {
		const struct record_note *note = (const struct record_note *)record.header;

		if (record.type != RECORD_NOTE)
			continue;
		assert_int_equal(note->header.tag,
				 note->ns < RECORD_TEXT_MAX ? note->ns : RECORD_TEXT_MAX);
		assert_memory_equal(note->text, text, note->header.tag);
		seen++;
	}
	assert_int_equal(seen, sizeof(text) / 91 + 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void a_record_larger_than_a_chunk_is_counted(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "large");
	struct spool_reader *reader;

	assert_null(writer_reserve(w, RECORD_GRAPH, SPOOL_CHUNK_BYTES));
	assert_true(fixture_put(w, 1, 0));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(
		spool_reader_ledger(reader)->dropped[RECORD_CLASS_GRAPH][RECORD_DROP_OVERSIZE], 1);
	assert_int_equal(fixture_count(reader, RECORD_API), 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- a signal handler that records ---- */

static struct writer *interrupted;
static int refused;

static void record_from_handler(int number)
{
	refused += !fixture_put(interrupted, 99, 0);
}

static void a_handler_inside_a_record_is_refused(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct record_end *end;
	struct spool_reader *reader;

	interrupted = fixture_writer(spooler, "signals");
	refused = 0;
	signal(SIGUSR1, record_from_handler);
	raise(SIGUSR1);
	assert_int_equal(refused, 0);
	end = writer_reserve(interrupted, RECORD_END, sizeof(*end));
	assert_non_null(end);
	raise(SIGUSR1);
	assert_int_equal(refused, 1);
	end->ns = 7;
	writer_commit(interrupted, end, RECORD_END, sizeof(*end), 0);
	signal(SIGUSR1, SIG_DFL);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);

	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), 1);
	assert_int_equal(fixture_count(reader, RECORD_END), 1);
	assert_int_equal(
		spool_reader_ledger(reader)->dropped[RECORD_CLASS_API][RECORD_DROP_REENTERED], 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- threads ---- */

static void *put_one(void *spooler)
{
	struct writer *w = fixture_writer(spooler, "one");

	fixture_put(w, (uint64_t)syscall(SYS_gettid), 1);
	spooler_put_writer(spooler, w);
	return NULL;
}

static void threads_share_a_chunk_one_after_the_other(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(pthread_create(&thread, NULL, put_one, spooler), 0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);

	reader = fixture_read(fixture);
	assert_int_equal(spool_reader_ledger(reader)->chunks_read, 1);
	assert_int_equal(fixture_count(reader, RECORD_THREAD), 20);
	spool_cursor_init(&cursor, reader, 0);
	while (spool_cursor_next(&cursor, &record))
		if (record.type == RECORD_API)
			assert_int_equal(((const struct record_api *)record.header)->cid,
					 record.tid);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void more_threads_than_writers_are_counted(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct spool_reader *reader;
	struct writer *w = NULL;

	for (int i = 0; i < SPOOL_WRITER_COUNT; i++)
		w = fixture_writer(spooler, "many");
	assert_true(fixture_put(w, 1, 0));
	assert_false(fixture_put(fixture_writer(spooler, "late"), 2, 0));
	spooler_put_writer(spooler, w);
	assert_true(fixture_put(fixture_writer(spooler, "again"), 3, 0));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(
		spool_reader_ledger(reader)->dropped[RECORD_CLASS_API][RECORD_DROP_NO_WRITER], 1);
	assert_int_equal(fixture_count(reader, RECORD_API), 2);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- the end ---- */

static void after_the_end_records_are_late(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "late");
	struct spool_reader *reader;

	assert_true(fixture_put(w, 1, 0));
	assert_int_equal(spooler_close(spooler), 0);
	assert_false(fixture_put(w, 2, 0));
	assert_false(fixture_put(fixture_writer(spooler, "later"), 3, 0));
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(spool_reader_ledger(reader)->late[RECORD_CLASS_API], 2);
	assert_int_equal(fixture_count(reader, RECORD_API), 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void a_record_never_finished_leaves_the_spool_open(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "stuck");
	struct spool_reader *reader;

	assert_true(fixture_put(w, 1, 0));
	assert_non_null(writer_reserve(w, RECORD_API, sizeof(struct record_api)));
	assert_int_equal(spooler_close(spooler), -EBUSY);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_false(spool_reader_info(reader)->closed);
	assert_int_equal(fixture_count(reader, RECORD_API), 1);
	assert_int_equal(spool_reader_ledger(reader)->in_flight[RECORD_CLASS_API], 1);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- fork ---- */

/*
 * Returns the status of a child that uses the writer and spooler that it inherited from its parent.
 */
static int run_child(struct spooler *spooler, struct writer *w, bool forget)
{
	int status;
	pid_t pid = forget ? fork() : _Fork();

	if (!pid) {
		if (forget)
			spooler_forget(spooler);
		else if (fixture_put(w, 2, 0) || fixture_put(fixture_writer(spooler, "c"), 3, 0))
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_fork_child_cannot_write_its_parents_spool(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct writer *w = fixture_writer(spooler, "parent");
	struct spool_reader *reader;

	assert_true(fixture_put(w, 1, 0));
	assert_int_equal(run_child(spooler, w, true), 0);
	assert_int_equal(run_child(spooler, w, false), 0);
	assert_true(fixture_put(w, 4, 0));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), 2);
	assert_int_equal(spool_reader_ledger(reader)->attempted[RECORD_CLASS_API], 2);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_empty_spool_is_one),
		CASE(records_come_back_in_order),
		CASE(text_is_kept_and_cut),
		CASE(a_record_larger_than_a_chunk_is_counted),
		CASE(a_handler_inside_a_record_is_refused),
		CASE(threads_share_a_chunk_one_after_the_other),
		CASE(more_threads_than_writers_are_counted),
		CASE(after_the_end_records_are_late),
		CASE(a_record_never_finished_leaves_the_spool_open),
		CASE(a_fork_child_cannot_write_its_parents_spool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
