/*
 * Sessions one after the other in one process: each has its own spool, complete when the session
 * ends; scopes have a new generation; threads of an earlier session join the new one.
 */
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/frame.h"
#include "capture/scope.h"
#include "in_child.h"
#include "scope_story.h"

/* Uses the smallest ready size, with which a start takes some 100 us. */
static int small_setup(void **state)
{
	setenv("DAGTAP_READY", "4M", 1);
	return fixture_setup(state);
}

static void put_some(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		expect(fixture_put(session_writer(), i, 4));
}

/* ---- spools ---- */

static void record_three_times(void)
{
	struct spool_reader *reader;

	expect(session_start());
	put_some(3);
	session_stop();
	expect(!fixture_put(session_writer(), 1, 4));
	expect(session_start_again());
	expect(session_is_on() && session_current_number() == 2);
	put_some(5);
	/* The first spool is complete while the second is written. */
	reader = fixture_open_session(getenv("DAGTAP_SPOOL"), 0);
	expect(reader && spool_reader_info(reader)->closed);
	expect(fixture_count(reader, RECORD_API) == 3 && fixture_count(reader, RECORD_END) == 1);
	spool_reader_close(reader);
	session_stop();
	expect(session_start_again());
	expect(session_start_again());
	put_some(7);
}

static void each_session_has_a_spool(void **state)
{
	const uint64_t expected[] = {3, 5, 7};
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, record_three_times), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct spool_reader *reader = fixture_open_session(fixture->folder, i);

		assert_non_null(reader);
		assert_true(spool_reader_info(reader)->closed);
		assert_int_equal(fixture_count(reader, RECORD_API), expected[i]);
		assert_int_equal(fixture_count(reader, RECORD_END), 1);
		fixture_assert_sound(reader);
		spool_reader_close(reader);
	}
}

static void start_in_vain(void)
{
	const char *folder = getenv("DAGTAP_SPOOL");
	char elsewhere[512];

	snprintf(elsewhere, sizeof(elsewhere), "%s.elsewhere", folder);
	expect(session_start());
	session_stop();
	expect(!rename(folder, elsewhere));
	expect(!session_start_again());
	expect(session_state == SESSION_STOPPED && !session_is_on());
	expect(!rename(elsewhere, folder));
	expect(session_start_again());
	put_some(2);
}

static void a_start_that_fails_may_be_tried_again(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, start_in_vain), 0);
	reader = fixture_open_session(fixture->folder, 1);
	assert_non_null(reader);
	assert_int_equal(fixture_count(reader, RECORD_API), 2);
	spool_reader_close(reader);
}

static void fork_between(void)
{
	int status;
	pid_t pid;

	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "of the first session");
	session_stop();
	pid = fork();
	if (!pid) {
		expect(session_state == SESSION_IDLE && !session_writer());
		expect(scope_current() == 0);
		expect(session_start() && session_current_number() == 1);
		put_some(4);
		session_stop();
		expect(session_start_again());
		exit(0);
	}
	waitpid(pid, &status, 0);
	expect(status == 0);
	expect(session_start_again());
	put_some(1);
}

static void a_fork_child_counts_its_own_sessions(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, fork_between), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 4);
}

/* Returns the number of this process's threads as the kernel counts them. */
static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* does not count . and .. */

	expect(tasks != NULL);
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

static void look_for_threads(void)
{
	int before;

	expect(session_start());
	session_stop();
	/* Sanitizers' runtimes have a thread of their own from the first thread on. */
	before = threads();
	expect(session_start_again());
	for (int i = 0; i < 100; i++) {
		session_stop();
		expect(threads() == before);
		expect(session_start_again());
	}
}

/*
 * A program that forks while the session is stopped has one thread only, so its child may use all
 * of libc.
 */
static void a_stopped_session_has_no_thread(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, look_for_threads), 0);
}

/* ---- capture sources ---- */

static char story[64];

static void part_starts(void)
{
	expect(session_writer() != NULL);
	session_witness(WITNESS_HIP_CALLS, session_current_number());
	strcat(story, "a");
}

static void part_stops(void)
{
	strcat(story, "z");
}

static const struct capture_source part = {.name = "p", .start = part_starts, .stop = part_stops};

static void live_twice_with_a_part(void)
{
	session_add_source(&part);
	expect(session_start());
	session_stop();
	expect(session_start_again());
	session_stop();
	expect(!strcmp(story, "azaz"));
}

static void parts_start_in_every_session(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, live_twice_with_a_part), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct spool_reader *reader = fixture_open_session(fixture->folder, i);

		assert_int_equal(fixture_count(reader, RECORD_WITNESS), 1);
		spool_reader_close(reader);
	}
}

static void call_across(void)
{
	struct frame across = {.cid = 5, .scope = 50}, inner = {.cid = 6};

	expect(session_start());
	across.session = session_current_number();
	frame_push(&across);
	expect(frame_take().cid == 5);
	session_stop();
	expect(session_start_again());
	expect(!frame_is_recorded(&across));
	expect(frame_take().cid == 0 && frame_take().scope == 0);
	inner.session = session_current_number();
	frame_push(&inner);
	expect(frame_take().cid == 6);
	frame_pop(&inner);
	frame_pop(&across);
}

static void a_call_belongs_to_the_session_that_it_began_in(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, call_across), 0);
}

/* ---- scopes ---- */

static void push_over_a_restart(void)
{
	expect(session_start());
	expect(scope_push(RECORD_SCOPE_DAGTAP, "left open") == ID(1, 1));
	expect(scope_push(RECORD_SCOPE_DAGTAP, "closed later") == ID(1, 2));
	session_stop();
	expect(scope_current() == 0);
	expect(scope_push(RECORD_SCOPE_DAGTAP, "between") == 0);
	expect(session_start_again());
	expect(scope_current() == 0 && scope_path(NULL, 0) == 0);
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_DAGTAP);
	expect(scope_push(RECORD_SCOPE_DAGTAP, "new") == ID(1, 3));
	expect(scope_push(RECORD_SCOPE_ROCTX, "inner") == ID(1, 4));
	scope_pop(RECORD_SCOPE_ROCTX);
	scope_pop(RECORD_SCOPE_DAGTAP);
	scope_pop(RECORD_SCOPE_DAGTAP);
}

static void a_session_begins_without_open_scopes(void **state)
{
	const char *const expected[] = {"1:1 0 1 left open\n1:2 1 1 closed later\n",
					"1:3 0 1 new\n1:4 3 2 inner\n-4\n-3\n"};
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, push_over_a_restart), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct spool_reader *reader = fixture_open_session(fixture->folder, i);

		assert_scopes_of(reader, expected[i]);
		spool_reader_close(reader);
	}
}

/* ---- threads ---- */

static pthread_barrier_t turn;

static void *push_twice(void *unused)
{
	expect(scope_push(RECORD_SCOPE_DAGTAP, "first") >> 48 == 2);
	put_some(2);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	put_some(3);
	expect(scope_push(RECORD_SCOPE_DAGTAP, "second") == ID(2, 2));
	return NULL;
}

static void keep_a_thread(void)
{
	pthread_t thread;

	pthread_barrier_init(&turn, NULL, 2);
	expect(session_start());
	scope_push(RECORD_SCOPE_DAGTAP, "main's");
	expect(!pthread_create(&thread, NULL, push_twice, NULL));
	pthread_barrier_wait(&turn);
	session_stop();
	expect(session_start_again());
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
}

static void a_thread_goes_on_in_the_next_session(void **state)
{
	const char *const expected[] = {"1:1 0 1 main's\n2:1 0 1 first\n", "2:2 0 1 second\n"};
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, keep_a_thread), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct spool_reader *reader = fixture_open_session(fixture->folder, i);

		assert_int_equal(fixture_count(reader, RECORD_API), 2 + i);
		assert_scopes_of(reader, expected[i]);
		spool_reader_close(reader);
	}
}

/* Counts the mappings of spools in this process. */
static size_t count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	size_t count = 0;

	expect(maps != NULL);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, SPOOL_SUFFIX) != NULL;
	fclose(maps);
	return count;
}

static void *wait_bound(void *unused)
{
	put_some(1);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	return NULL;
}

static void restart_often(void)
{
	size_t before = 0;
	pthread_t thread;

	pthread_barrier_init(&turn, NULL, 2);
	expect(session_start());
	/*
	 * A thread that never writes again keeps the memory of its session, and of no other
	 * session.
	 */
	expect(!pthread_create(&thread, NULL, wait_bound, NULL));
	pthread_barrier_wait(&turn);
	for (int i = 0; i < 100; i++) {
		/*
		 * Counted while no session is on, because the housekeeping thread maps more windows
		 * at any time.
		 */
		session_stop();
		if (i == 9)
			before = count_mappings();
		if (i == 99)
			expect(count_mappings() == before);
		expect(session_start_again());
		put_some(1);
	}
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
}

static void sessions_that_have_ended_take_no_memory(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, restart_often), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 101);
}

#define WRITERS	 4
#define SESSIONS 60

static _Atomic bool is_over;

static struct load_writer {
	pthread_t thread;
	_Atomic bool is_asked;
	sem_t has_written; /* since the other side asked; the thread then waits */
	sem_t go_on;
} load_writers[WRITERS];

static void answer(struct load_writer *writer)
{
	atomic_store(&writer->is_asked, false);
	sem_post(&writer->has_written);
	sem_wait(&writer->go_on);
}

static void *write_on(void *argument)
{
	struct load_writer *writer = argument;
	uint64_t ids[8];

	for (uint64_t i = 0; !is_over; i++) {
		bool is_asked = atomic_load(&writer->is_asked);

		scope_push(RECORD_SCOPE_DAGTAP, "a");
		scope_push(RECORD_SCOPE_DAGTAP, "b");
		if (fixture_put(session_writer(), i, 4) && is_asked)
			answer(writer);
		expect(scope_path(ids, 8) <= 2);
		scope_pop(RECORD_SCOPE_DAGTAP);
		scope_pop(RECORD_SCOPE_DAGTAP);
	}
	return NULL;
}

static void *write_shortly(void *unused)
{
	fixture_put(session_writer(), 1, 4);
	return NULL;
}

/*
 * Waits until each writer has written in this session. The writers continue while it stops and the
 * next one starts.
 */
static void await_all_writers(void)
{
	for (int i = 0; i < WRITERS; i++)
		atomic_store(&load_writers[i].is_asked, true);
	for (int i = 0; i < WRITERS; i++)
		sem_wait(&load_writers[i].has_written);
	for (int i = 0; i < WRITERS; i++)
		sem_post(&load_writers[i].go_on);
}

static void restart_under_load(void)
{
	pthread_t brief;

	expect(session_start());
	for (int i = 0; i < WRITERS; i++) {
		sem_init(&load_writers[i].has_written, 0, 0);
		sem_init(&load_writers[i].go_on, 0, 0);
		expect(!pthread_create(&load_writers[i].thread, NULL, write_on, &load_writers[i]));
	}
	for (int i = 1; i < SESSIONS; i++) {
		await_all_writers();
		expect(!pthread_create(&brief, NULL, write_shortly, NULL));
		session_stop();
		expect(session_start_again());
		pthread_join(brief, NULL);
	}
	await_all_writers();
	is_over = true;
	for (int i = 0; i < WRITERS; i++)
		pthread_join(load_writers[i].thread, NULL);
}

static void restarts_lose_nothing_that_other_threads_write(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, restart_under_load), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), SESSIONS);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		struct spool_reader *reader = fixture_open_session(fixture->folder, i);

		assert_non_null(reader);
		assert_true(spool_reader_info(reader)->closed);
		fixture_assert_sound(reader);
		assert_true(spool_reader_ledger(reader)->found[RECORD_CLASS_API] >= WRITERS);
		spool_reader_close(reader);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, small_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_session_has_a_spool),
		CASE(a_start_that_fails_may_be_tried_again),
		CASE(a_stopped_session_has_no_thread),
		CASE(a_fork_child_counts_its_own_sessions),
		CASE(parts_start_in_every_session),
		CASE(a_call_belongs_to_the_session_that_it_began_in),
		CASE(a_session_begins_without_open_scopes),
		CASE(a_thread_goes_on_in_the_next_session),
		CASE(sessions_that_have_ended_take_no_memory),
		CASE(restarts_lose_nothing_that_other_threads_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
