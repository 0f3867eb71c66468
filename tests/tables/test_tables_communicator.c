/*
 * Communicators are created, count their operations and are destroyed; their handles are used
 * again.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/rccl/communicator.h"

enum { ROOM = 1024, THREADS = 4, ROUNDS = 20000 };

static int empty(void **state)
{
	communicator_forget_all();
	return 0;
}

static uint64_t handle(uint64_t number)
{
	return 0x7f0000000000 + number * 0x140;
}

static void counts_go_on(void **state)
{
	struct communicator *communicator = communicator_use(handle(1));

	assert_non_null(communicator);
	assert_int_equal(communicator->rank_and_1, 0);
	communicator->collectives = 5;
	communicator->rank_and_1 = 3;
	assert_ptr_equal(communicator_use(handle(1)), communicator);
	assert_ptr_not_equal(communicator_use(handle(2)), communicator);
}

static void a_handle_used_again_starts_anew(void **state)
{
	struct communicator *communicator = communicator_use(handle(1));

	communicator->collectives = 5;
	communicator->rank_and_1 = 3;
	communicator_forget(handle(1));
	communicator_forget(handle(1));
	communicator_forget(handle(9));
	communicator = communicator_use(handle(1));
	assert_int_equal(communicator->collectives, 0);
	assert_int_equal(communicator->rank_and_1, 0);
}

/* Ranks of different processes, here different handles, agree on the ids. */
static void ids_are_equal_on_all_ranks(void **state)
{
	uint64_t world = communicator_id("unique", 6), first, second;

	communicator_made(handle(1), world, 0, 4);
	communicator_made(handle(2), world, 1, 4);
	assert_int_equal(communicator_use(handle(2))->rank_and_1, 2);
	assert_int_equal(communicator_use(handle(2))->ranks, 4);
	first = communicator_split(handle(1), 0);
	assert_int_equal(communicator_split(handle(2), 0), first);
	second = communicator_split(handle(1), 0);
	assert_int_equal(communicator_split(handle(2), 1) == second, 0);
	assert_int_equal(first == second, 0);
	assert_int_equal(first == world, 0);
	assert_int_equal(communicator_id("", 0), 0xcbf29ce484222325u);
	assert_int_equal(communicator_id("a", 1), 0xaf63dc4c8601ec8cu);
}

static void what_is_made_of_the_unknown_is_unknown(void **state)
{
	communicator_use(handle(1));
	assert_int_equal(communicator_split(handle(1), 0), 0);
	assert_int_equal(communicator_split(0, 0), 0);
}

static void a_new_one_counts_anew(void **state)
{
	communicator_use(handle(1))->collectives = 5;
	communicator_use(handle(1))->transfers = 7;
	communicator_made(handle(1), 9, 3, 4);
	assert_int_equal(communicator_use(handle(1))->collectives, 0);
	assert_int_equal(communicator_use(handle(1))->transfers, 0);
	assert_int_equal(communicator_use(handle(1))->id, 9);
}

static void no_handle_is_no_communicator(void **state)
{
	assert_null(communicator_use(0));
	communicator_forget(0);
}

static void room_is_given_back(void **state)
{
	for (uint64_t i = 0; i < ROOM; i++)
		assert_non_null(communicator_use(handle(i)));
	assert_null(communicator_use(handle(ROOM)));
	assert_non_null(communicator_use(handle(ROOM - 1)));
	communicator_forget(handle(7));
	assert_non_null(communicator_use(handle(ROOM)));
	assert_null(communicator_use(handle(7)));
	for (uint64_t round = 1; round < 10; round++)
		for (uint64_t i = 0; i < ROOM; i++) {
			communicator_forget(handle(ROOM * (round - 1) + i));
			communicator_forget(handle(ROOM * round));
			assert_non_null(communicator_use(handle(ROOM * round + i)));
		}
}

/*
 * Uses one communicator that all threads share, and one of the thread's own that it creates and
 * destroys.
 */
static void *use(void *argument)
{
	uint64_t own = handle(100 + (uintptr_t)argument);
	uintptr_t failed = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct communicator *shared = communicator_use(handle(1));
		struct communicator *mine = communicator_use(own);

		if (!shared || !mine || atomic_load(&mine->collectives) != 0)
			failed++;
		if (shared)
			atomic_fetch_add(&shared->collectives, 1);
		if (mine)
			atomic_fetch_add(&mine->collectives, 1);
		communicator_forget(own);
	}
	return (void *)failed;
}

static void threads_share_them(void **state)
{
	pthread_t threads[THREADS];
	void *failed;

	assert_non_null(communicator_use(handle(1)));
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, (void *)i), 0);
	for (uintptr_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(communicator_use(handle(1))->collectives, THREADS * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(counts_go_on, empty),
		cmocka_unit_test_setup(a_handle_used_again_starts_anew, empty),
		cmocka_unit_test_setup(ids_are_equal_on_all_ranks, empty),
		cmocka_unit_test_setup(what_is_made_of_the_unknown_is_unknown, empty),
		cmocka_unit_test_setup(a_new_one_counts_anew, empty),
		cmocka_unit_test_setup(no_handle_is_no_communicator, empty),
		cmocka_unit_test_setup(room_is_given_back, empty),
		cmocka_unit_test_setup(threads_share_them, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
