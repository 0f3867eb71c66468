/* The life of a session: start, sources, threads, and every way to end. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/frame.h"
#include "in_child.h"

/* ---- start and end ---- */

static void use_without_folder(void)
{
	session_arm();
	expect(!session_start());
	expect(session_state == SESSION_OFF);
	expect(!session_writer());
}

static void without_a_folder_nothing_happens(void **state)
{
	assert_int_equal(in_child(NULL, use_without_folder), 0);
}

static void use_missing_folder(void)
{
	session_arm();
	expect(!session_start());
	expect(!session_start());
	session_note("nobody hears this");
	session_stop();
}

static void a_missing_folder_turns_the_tool_off(void **state)
{
	assert_int_equal(in_child("/nowhere/at/all", use_missing_folder), 0);
}

static void use_without_room(void)
{
	const struct rlimit little = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &little);
	expect(!session_start());
}

static void use_without_descriptors(void)
{
	struct rlimit usual, none;

	getrlimit(RLIMIT_NOFILE, &usual);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = usual.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	expect(!session_start());
	setrlimit(RLIMIT_NOFILE, &usual);
}

static void assert_word_is_left(const struct fixture *fixture, int error)
{
	struct dirent *entry;
	int pid, code, words = 0;
	DIR *folder;

	folder = opendir(fixture->folder);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		if (sscanf(entry->d_name, "%d.%d" SPOOL_LOST_SUFFIX, &pid, &code) != 2)
			continue;
		assert_int_equal(code, error);
		words++;
	}
	closedir(folder);
	assert_int_equal(words, 1);
	assert_int_equal(fixture_files(fixture, NULL, 0), 1);
}

static void without_room_word_is_left(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, use_without_room), 0);
	assert_word_is_left(fixture, EFBIG);
}

static void without_descriptors_word_is_left(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, use_without_descriptors), 0);
	assert_word_is_left(fixture, EMFILE);
}

static void never_use(void)
{
	session_arm();
	expect(!session_is_on());
}

static void who_never_starts_leaves_no_file(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, never_use), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 0);
}

static void put_some(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		expect(fixture_put(session_writer(), i, 4));
}

static void start_and_exit(void)
{
	expect(session_start());
	expect(session_is_on());
	expect(session_start());
	session_note("hello");
	session_device_count("dispatches", 12);
	session_source("hip", RECORD_SOURCE_PARTIAL, "because");
	put_some(10);
}

static void exit_closes_the_spool(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, start_and_exit), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	assert_int_equal(fixture_count(reader, RECORD_API), 10);
	assert_int_equal(fixture_count(reader, RECORD_NOTE), 1);
	assert_int_equal(fixture_count(reader, RECORD_WITNESS), 1);
	assert_int_equal(fixture_count(reader, RECORD_SOURCE), 1);
	assert_int_equal(fixture_count(reader, RECORD_END), 1);
	spool_reader_close(reader);
}

static void stop_and_go_on(void)
{
	expect(session_start());
	put_some(3);
	session_stop();
	expect(session_state == SESSION_STOPPED);
	expect(!session_start());
	session_stop();
	expect(!fixture_put(session_writer(), 1, 4));
	session_end();
	expect(session_state == SESSION_OFF);
	expect(!session_start_again());
}

static void what_is_used_does_not_start_it_again(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, stop_and_go_on), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	assert_int_equal(fixture_count(reader, RECORD_API), 3);
	assert_int_equal(spool_reader_ledger(reader)->late[RECORD_CLASS_API], 1);
	spool_reader_close(reader);
}

static void leave_by_underscore_exit(void)
{
	start_and_exit();
	_exit(0);
}

static void leave_by_abort(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	start_and_exit();
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void leave_by_kill(void)
{
	start_and_exit();
	raise(SIGKILL);
}

static void hard_ends_leave_what_was_written(void **state)
{
	void (*const ways[])(void) = {leave_by_underscore_exit, leave_by_abort, leave_by_kill};
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct spool_reader *reader;
		char path[2 * TEST_PATH_BYTES];

		in_child(fixture->folder, ways[i]);
		reader = fixture_read(fixture);
		assert_false(spool_reader_info(reader)->closed);
		fixture_assert_sound(reader);
		assert_int_equal(fixture_count(reader, RECORD_API), 10);
		spool_reader_close(reader);
		fixture_files(fixture, path, sizeof(path));
		unlink(path);
	}
}

/* ---- threads ---- */

static void *start_in_thread(void *unused)
{
	expect(session_start());
	put_some(5);
	return NULL;
}

static pthread_barrier_t all_are_there;

static void *start_with_all(void *unused)
{
	pthread_barrier_wait(&all_are_there);
	return start_in_thread(unused);
}

static void start_in_many_threads(void)
{
	pthread_t threads[16];

	pthread_barrier_init(&all_are_there, NULL, 16);
	for (int i = 0; i < 16; i++)
		expect(!pthread_create(&threads[i], NULL, start_with_all, NULL));
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

static void many_threads_start_one_session(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, start_in_many_threads), 0);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), 16 * 5);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void churn_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 10000; i++) {
		expect(!pthread_create(&thread, NULL, start_in_thread, NULL));
		pthread_join(thread, NULL);
	}
}

static void threads_that_end_give_their_writer_back(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, churn_threads), 0);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_API), 50000);
	assert_true(spool_reader_writer_count(reader) <= 3);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- capture sources ---- */

static char story[64];
static sem_t ticked;

static void tell(char letter)
{
	story[strlen(story)] = letter;
}

static void a_starts(void)
{
	expect(session_writer() != NULL);
	expect(!session_start());
	tell('a');
}

static void a_stops(void)
{
	session_note("a");
	tell('A');
}

static void b_starts(void)
{
	tell('b');
}

static void b_ticks(void)
{
	if (!strchr(story, '.'))
		tell('.');
	sem_post(&ticked);
}

static void b_stops(void)
{
	tell('B');
}

static const struct capture_source part_a = {.name = "a", .start = a_starts, .stop = a_stops};
static const struct capture_source part_b = {
	.name = "b", .start = b_starts, .tick = b_ticks, .stop = b_stops};

static void live_with_parts(void)
{
	sem_init(&ticked, 0, 0);
	session_add_source(&part_a);
	session_add_source(&part_a);
	expect(session_start());
	expect(!strcmp(story, "a"));
	session_add_source(&part_b);
	sem_wait(&ticked);
	session_stop();
	expect(!strcmp(story, "ab.BA"));
}

static void parts_start_tick_and_stop_in_turn(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, live_with_parts), 0);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_NOTE), 1);
	spool_reader_close(reader);
}

static void c_ticks(void)
{
	sem_post(&ticked);
	for (;;)
		pause();
}

static void c_stops(void)
{
	tell('C');
}

static const struct capture_source part_c = {.name = "c", .tick = c_ticks, .stop = c_stops};

static void stop_during_a_tick(void)
{
	setenv("DAGTAP_TIMERS", "limits=never,part_hook=0,thread_end=0", 1);
	sem_init(&ticked, 0, 0);
	session_add_source(&part_c);
	expect(session_start());
	sem_wait(&ticked);
	session_stop();
	expect(!strcmp(story, ""));
	_exit(0);
}

static void a_tick_that_does_not_end_is_reported(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, stop_during_a_tick), 0);
	reader = fixture_read(fixture);
	assert_int_equal(fixture_count(reader, RECORD_NOTE), 1);
	assert_int_equal(fixture_count(reader, RECORD_WITNESS), 1);
	spool_reader_close(reader);
}

/* ---- frames ---- */

static void what_is_submitted_belongs_to_the_innermost_call(void **state)
{
	struct frame outer = {.cid = 5, .scope = 50};
	struct frame inner = {.cid = 6, .scope = 60};

	assert_int_equal(frame_take().cid, 0);
	frame_push(&outer);
	assert_int_equal(frame_take().ordinal, 0);
	frame_push(&inner);
	assert_int_equal(frame_take().cid, 6);
	assert_int_equal(frame_take().ordinal, 1);
	assert_int_equal(frame_take().scope, 60);
	frame_pop(&inner);
	assert_int_equal(frame_take().ordinal, 1);
	assert_int_equal(frame_take().tid, gettid());
	assert_int_equal(outer.activities, 3);
	assert_int_equal(inner.activities, 3);
	frame_pop(&outer);
	assert_int_equal(frame_take().cid, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_a_folder_nothing_happens),
		CASE(a_missing_folder_turns_the_tool_off),
		CASE(without_room_word_is_left),
		CASE(without_descriptors_word_is_left),
		CASE(who_never_starts_leaves_no_file),
		CASE(exit_closes_the_spool),
		CASE(what_is_used_does_not_start_it_again),
		CASE(hard_ends_leave_what_was_written),
		CASE(many_threads_start_one_session),
		CASE(threads_that_end_give_their_writer_back),
		CASE(parts_start_tick_and_stop_in_turn),
		CASE(a_tick_that_does_not_end_is_reported),
		CASE(what_is_submitted_belongs_to_the_innermost_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
