/*
 * Applies XLA's tests of its annotation stack (AS-1 to AS-3) to ours: threads that push and threads
 * that do not, in three orders, across an end and a new start. Each case has a process of its own,
 * because a process numbers its threads only once.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "in_child.h"
#include "scope_story.h"

#define THREADS	 6
#define IDS_MOST 8

struct path {
	uint64_t ids[IDS_MOST];
	size_t count;
};

struct actor {
	pthread_t thread;
	bool pushes;
	sem_t go, done;
	struct path first, second;
};

static const char *sequence; /* P: pushes, D: does not push */

static void await_turn(struct actor *actor)
{
	sem_wait(&actor->go);
}

static void end_turn(struct actor *actor)
{
	sem_post(&actor->done);
}

static void take_turn(struct actor *actor)
{
	sem_post(&actor->go);
	sem_wait(&actor->done);
}

static struct path read_path(void)
{
	struct path path;

	path.count = scope_path(path.ids, IDS_MOST);
	return path;
}

static void *act(void *argument)
{
	struct actor *actor = argument;

	await_turn(actor);
	if (actor->pushes) {
		scope_push(RECORD_SCOPE_DAGTAP, "level1");
		scope_push(RECORD_SCOPE_DAGTAP, "level2-1");
		scope_pop(RECORD_SCOPE_DAGTAP);
		scope_push(RECORD_SCOPE_DAGTAP, "level2-2");
	}
	actor->first = read_path();
	end_turn(actor);
	await_turn(actor);
	if (actor->pushes) {
		scope_push(RECORD_SCOPE_DAGTAP, "level1-v2");
		scope_push(RECORD_SCOPE_DAGTAP, "level2-v2");
	}
	actor->second = read_path();
	end_turn(actor);
	return NULL;
}

static void check_path(const struct path *path, uint64_t number)
{
	expect(path->count == 2);
	for (size_t i = 0; i < path->count; i++)
		expect(path->ids[i] >> 48 == number);
}

static void check_actor(const struct actor *actor, uint64_t number)
{
	if (!actor->pushes) {
		expect(actor->first.count == 0 && actor->second.count == 0);
		return;
	}
	check_path(&actor->first, number);
	check_path(&actor->second, number);
	expect(actor->first.ids[0] == ID(number, 1) && actor->first.ids[1] == ID(number, 3));
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			expect(actor->second.ids[i] != actor->first.ids[j]);
}

static void play(void)
{
	static struct actor actors[THREADS];
	uint64_t number = 0;

	expect(session_start());
	for (int i = 0; i < THREADS; i++) {
		actors[i].pushes = sequence[i] == 'P';
		sem_init(&actors[i].go, 0, 0);
		sem_init(&actors[i].done, 0, 0);
		expect(!pthread_create(&actors[i].thread, NULL, act, &actors[i]));
	}
	for (int i = 0; i < THREADS; i++)
		take_turn(&actors[i]);
	session_stop();
	expect(session_start_again());
	for (int i = 0; i < THREADS; i++)
		take_turn(&actors[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(actors[i].thread, NULL);
		number += actors[i].pushes;
		check_actor(&actors[i], number);
	}
}

static void assert_sequence(void **state, const char *wanted)
{
	const struct fixture *fixture = *state;

	sequence = wanted;
	assert_int_equal(in_child(fixture->folder, play), 0);
}

static void as_1_pushing_threads_first(void **state)
{
	assert_sequence(state, "PPPDDD");
}

static void as_2_idle_threads_take_no_number(void **state)
{
	assert_sequence(state, "DDDPPP");
}

static void as_3_interleaved(void **state)
{
	assert_sequence(state, "PDPDPD");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(as_1_pushing_threads_first),
		CASE(as_2_idle_threads_take_no_number),
		CASE(as_3_interleaved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
