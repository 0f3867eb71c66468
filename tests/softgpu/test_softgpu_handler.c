/* Async handlers: they run once or repeatedly, on one thread, and may call any function. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "aql.h"

#define MANY 5000

static struct machine machine;

static int open_machine(void **state)
{
	machine_open("gfx906", &machine);
	return 0;
}

struct calls {
	_Atomic int count;
	_Atomic int64_t last_value;
	int stay_for;	   /* the number of calls that return true */
	hsa_signal_t done; /* decremented by each call */
	hsa_signal_t own;  /* destroyed by the callback unless 0 */
	hsa_signal_t next; /* the callback registers a handler on it unless 0 */
	_Atomic(pthread_t) thread;
};

static bool on_change(hsa_signal_value_t value, void *argument)
{
	struct calls *calls = argument;
	int count = atomic_fetch_add(&calls->count, 1) + 1;
	bool stays = count <= calls->stay_for;
	hsa_signal_t next = calls->next;

	atomic_store(&calls->last_value, value);
	atomic_store(&calls->thread, pthread_self());
	if (calls->own.handle)
		hsa_signal_destroy(calls->own);
	calls->next.handle = 0;
	calls->own.handle = 0;
	if (next.handle)
		hsa_amd_signal_async_handler(next, HSA_SIGNAL_CONDITION_EQ, 0, on_change, calls);
	/* The callback must not access the waiting case's data after this. */
	hsa_signal_subtract_screlease(calls->done, 1);
	return stays;
}

static void arm(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value,
		struct calls *calls)
{
	assert_int_equal(hsa_amd_signal_async_handler(signal, condition, value, on_change, calls),
			 HSA_STATUS_SUCCESS);
}

static void arguments_are_checked(void **state)
{
	hsa_signal_t signal = aql_signal(1);

	assert_int_equal(
		hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, NULL, NULL),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_signal_async_handler((hsa_signal_t){0}, HSA_SIGNAL_CONDITION_LT, 1,
						      on_change, NULL),
			 HSA_STATUS_ERROR_INVALID_SIGNAL);
	assert_int_equal(hsa_amd_async_function(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_destroy(signal);
}

static void a_false_return_ends_it(void **state)
{
	hsa_signal_t signal = aql_signal(1);
	struct calls calls = {.done = aql_signal(1)};

	arm(signal, HSA_SIGNAL_CONDITION_LT, 1, &calls);
	hsa_signal_store_relaxed(signal, 5);
	assert_int_equal(atomic_load(&calls.count), 0);
	hsa_signal_store_relaxed(signal, -2);
	aql_wait(calls.done);
	assert_int_equal(atomic_load(&calls.last_value), -2);
	hsa_signal_store_relaxed(signal, -3);
	/* A handler that is registered later runs later on the same thread. When it has run, a
	 * second call of the first one would have run too. */
	calls.done = aql_signal(1);
	calls.stay_for = 0;
	arm(signal, HSA_SIGNAL_CONDITION_EQ, -3, &calls);
	aql_wait(calls.done);
	assert_int_equal(atomic_load(&calls.count), 2);
	hsa_signal_destroy(signal);
}

static void a_true_return_keeps_it_armed(void **state)
{
	hsa_signal_t signal = aql_signal(1);
	struct calls calls = {.done = aql_signal(3), .stay_for = 2};

	/* The condition holds when the handler is registered, and continues to hold. */
	hsa_signal_store_relaxed(signal, 0);
	arm(signal, HSA_SIGNAL_CONDITION_EQ, 0, &calls);
	aql_wait(calls.done);
	assert_int_equal(atomic_load(&calls.count), 3);
	hsa_signal_destroy(signal);
}

static void a_callback_may_destroy_its_signal_and_arm_another(void **state)
{
	hsa_signal_t second = aql_signal(0);
	struct calls calls = {.done = aql_signal(2), .own = aql_signal(1), .next = second};
	hsa_signal_t first = calls.own;
	uint64_t errors = aql_counter("signal_errors");

	arm(first, HSA_SIGNAL_CONDITION_EQ, 0, &calls);
	hsa_signal_subtract_relaxed(first, 1);
	aql_wait(calls.done);
	assert_int_equal(atomic_load(&calls.count), 2);
	assert_int_equal(aql_counter("signal_errors"), errors);
	assert_int_equal(hsa_signal_destroy(first), HSA_STATUS_ERROR_INVALID_SIGNAL);
	hsa_signal_destroy(second);
}

static void several_handlers_hang_on_one_signal(void **state)
{
	hsa_signal_t signal = aql_signal(9);
	hsa_signal_t done = aql_signal(2);
	struct calls low = {.done = done}, high = {.done = done};
	struct calls other = {.done = aql_signal(1)};

	arm(signal, HSA_SIGNAL_CONDITION_LT, 5, &low);
	arm(signal, HSA_SIGNAL_CONDITION_EQ, 77, &other);
	arm(signal, HSA_SIGNAL_CONDITION_LT, 6, &high);
	hsa_signal_store_relaxed(signal, 4);
	aql_wait(done);
	assert_int_equal(atomic_load(&low.count), 1);
	assert_int_equal(atomic_load(&high.count), 1);
	assert_int_equal(atomic_load(&other.count), 0);
	assert_true(pthread_equal(atomic_load(&low.thread), atomic_load(&high.thread)));
	assert_false(pthread_equal(atomic_load(&low.thread), pthread_self()));
	hsa_signal_store_relaxed(signal, 77);
	aql_wait(other.done);
	assert_int_equal(atomic_load(&low.count), 1);
}

static void thousands_are_served(void **state)
{
	struct calls calls = {.done = aql_signal(MANY)};
	hsa_signal_t *signals = calloc(MANY, sizeof(*signals));

	for (int i = 0; i < MANY; i++) {
		signals[i] = aql_signal(1);
		arm(signals[i], HSA_SIGNAL_CONDITION_LT, 1, &calls);
	}
	for (int i = MANY - 1; i >= 0; i--)
		hsa_signal_store_screlease(signals[i], 0);
	aql_wait(calls.done);
	assert_int_equal(atomic_load(&calls.count), MANY);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(hsa_signal_destroy(signals[i]), HSA_STATUS_SUCCESS);
	free(signals);
}

static void lower(void *argument)
{
	hsa_signal_subtract_screlease(*(hsa_signal_t *)argument, 1);
}

static void async_functions_run(void **state)
{
	hsa_signal_t done = aql_signal(3);

	for (int i = 0; i < 3; i++)
		assert_int_equal(hsa_amd_async_function(lower, &done), HSA_STATUS_SUCCESS);
	aql_wait(done);
	hsa_signal_destroy(done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(a_false_return_ends_it),
		cmocka_unit_test(a_true_return_keeps_it_armed),
		cmocka_unit_test(a_callback_may_destroy_its_signal_and_arm_another),
		cmocka_unit_test(several_handlers_hang_on_one_signal),
		cmocka_unit_test(thousands_are_served),
		cmocka_unit_test(async_functions_run),
	};

	return cmocka_run_group_tests(tests, open_machine, NULL);
}
