/* Signals: creation and destruction, values, waits, events, and requests that are refused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>
#include <hsa/amd_hsa_signal.h>

#include "aql.h"
#include "vendor/hsa_newer.h"

#define EVENT_LIMIT 32

static struct machine machine;

static int open_machine(void **state)
{
	machine_open("gfx906,event_limit=32,signal_ns=100000,doorbell_ns=100000", &machine);
	return 0;
}

static void creation_checks_its_arguments(void **state)
{
	hsa_agent_t twice[2] = {machine.cpu, machine.cpu};
	hsa_agent_t unknown = {12345};
	hsa_signal_t signal;

	assert_int_equal(hsa_signal_create(1, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_signal_create(1, 1, NULL, &signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_signal_create(1, 2, twice, &signal),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_signal_create(1, 1, &unknown, &signal),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(hsa_amd_signal_create(1, 0, NULL, 0x80, &signal),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void every_operation_does_its_arithmetic(void **state)
{
	hsa_signal_t signal = aql_signal(10);

	hsa_signal_add_relaxed(signal, 5);
	assert_int_equal(hsa_signal_load_relaxed(signal), 15);
	hsa_signal_subtract_scacq_screl(signal, 3);
	assert_int_equal(hsa_signal_load_scacquire(signal), 12);
	hsa_signal_and_screlease(signal, 6);
	assert_int_equal(hsa_signal_load_relaxed(signal), 4);
	hsa_signal_or_scacquire(signal, 3);
	assert_int_equal(hsa_signal_load_relaxed(signal), 7);
	hsa_signal_xor_relaxed(signal, 5);
	assert_int_equal(hsa_signal_load_relaxed(signal), 2);
	assert_int_equal(hsa_signal_exchange_scacquire(signal, 9), 2);
	assert_int_equal(hsa_signal_cas_scacq_screl(signal, 9, -1), 9);
	assert_int_equal(hsa_signal_cas_relaxed(signal, 9, 100), -1);
	assert_int_equal(hsa_signal_load_relaxed(signal), -1);
	hsa_signal_store_relaxed(signal, 3);
	hsa_signal_silent_store_screlease(signal, 8);
	assert_int_equal(hsa_signal_load_relaxed(signal), 8);
	assert_int_equal(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

static void destroyed_and_unknown_signals_are_counted(void **state)
{
	hsa_signal_t signal = aql_signal(7);
	uint64_t before;

	assert_int_equal(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
	before = aql_counter("signal_errors");
	hsa_signal_subtract_screlease(signal, 1);
	assert_int_equal(((amd_signal_t *)signal.handle)->value, 7);
	assert_int_equal(hsa_signal_destroy(signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
	hsa_signal_store_relaxed((hsa_signal_t){0x1234}, 1);
	assert_int_equal(hsa_signal_load_relaxed((hsa_signal_t){signal.handle + 8}), 0);
	assert_int_equal(hsa_signal_wait_relaxed((hsa_signal_t){0}, HSA_SIGNAL_CONDITION_EQ, 1,
						 UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
			 0);
	assert_int_equal(hsa_signal_destroy((hsa_signal_t){0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_true(aql_counter("signal_errors") >= before + 5);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Timeouts count the waiting thread's time, because the device's clock stands still. */
static void wait_gives_up_at_its_timeout(void **state)
{
	hsa_signal_t signal = aql_signal(5);
	uint64_t begin = now_ns();

	softgpu_clock_hold();
	assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 2000000,
						   HSA_WAIT_STATE_BLOCKED),
			 5);
	softgpu_clock_release();
	assert_true(now_ns() - begin >= 2000000);
	assert_int_equal(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 5, 0,
						   HSA_WAIT_STATE_ACTIVE),
			 5);
	hsa_signal_destroy(signal);
}

/* The configured costs of calls are spent on the calling thread. */
static void costs_are_charged_to_the_caller(void **state)
{
	uint64_t begin = now_ns();
	hsa_signal_t signal = aql_signal(1);
	hsa_queue_t *queue;

	assert_true(now_ns() - begin >= 100000);
	hsa_signal_destroy(signal);
	assert_int_equal(hsa_queue_create(machine.gpu[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0,
					  0, &queue),
			 HSA_STATUS_SUCCESS);
	begin = now_ns();
	hsa_signal_store_screlease(queue->doorbell_signal, 0);
	assert_true(now_ns() - begin >= 100000);
	hsa_queue_destroy(queue);
}

struct later {
	hsa_signal_t signal;
	hsa_signal_value_t value;
	uint64_t sleeps; /* the count of sleeping waits before */
};

static void *store_later(void *argument)
{
	const struct later *later = argument;

	softgpu_await("signal_sleeps", later->sleeps + 1);
	hsa_signal_store_screlease(later->signal, later->value);
	return NULL;
}

static void waiters_are_woken_by_a_store(void **state)
{
	struct later later = {aql_signal(1), 0, aql_counter("signal_sleeps")};
	pthread_t thread;

	pthread_create(&thread, NULL, store_later, &later);
	aql_wait(later.signal);
	pthread_join(thread, NULL);
	hsa_signal_destroy(later.signal);
}

static void wait_any_says_which(void **state)
{
	hsa_signal_t signals[3] = {aql_signal(1), aql_signal(1), aql_signal(1)};
	hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ,
						HSA_SIGNAL_CONDITION_GTE};
	hsa_signal_value_t wanted[3] = {0, 3, 9};
	struct later later = {signals[1], 3, aql_counter("signal_sleeps")};
	hsa_signal_value_t seen = 0;
	pthread_t thread;

	assert_int_equal(hsa_amd_signal_wait_any(3, signals, conditions, wanted, 1000000,
						 HSA_WAIT_STATE_BLOCKED, &seen),
			 UINT32_MAX);
	pthread_create(&thread, NULL, store_later, &later);
	assert_int_equal(hsa_amd_signal_wait_any(3, signals, conditions, wanted, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED, &seen),
			 1);
	assert_int_equal(seen, 3);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++)
		hsa_signal_destroy(signals[i]);
}

static void wait_all_wants_each(void **state)
{
	hsa_signal_t signals[3] = {aql_signal(0), aql_signal(1), aql_signal(9)};
	hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ,
						HSA_SIGNAL_CONDITION_GTE};
	hsa_signal_value_t wanted[3] = {0, 3, 9};
	hsa_signal_value_t seen[3] = {7, 7, 7};
	struct later later = {signals[1], 3, aql_counter("signal_sleeps")};
	pthread_t thread;

	assert_int_equal(hsa_amd_signal_wait_all(3, signals, conditions, wanted, 1000000,
						 HSA_WAIT_STATE_BLOCKED, NULL),
			 UINT32_MAX);
	pthread_create(&thread, NULL, store_later, &later);
	assert_int_equal(hsa_amd_signal_wait_all(3, signals, conditions, wanted, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED, seen),
			 0);
	assert_int_equal(seen[0], 0);
	assert_int_equal(seen[1], 3);
	assert_int_equal(seen[2], 9);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++)
		hsa_signal_destroy(signals[i]);
}

/* Signals beyond the limit of events are made without an event. */
static void past_the_limit_there_is_no_event(void **state)
{
	hsa_signal_t signals[EVENT_LIMIT + 4];
	uint64_t without = aql_counter("signals_without_event");
	unsigned int with_event = 0;

	for (int i = 0; i < EVENT_LIMIT + 4; i++) {
		signals[i] = aql_signal(1);
		with_event += ((amd_signal_t *)signals[i].handle)->event_id != 0;
	}
	assert_int_equal(with_event, EVENT_LIMIT);
	assert_int_equal(aql_counter("signals_without_event"), without + 4);
	for (int i = 0; i < EVENT_LIMIT + 4; i++)
		hsa_signal_destroy(signals[i]);
	/* Destroyed signals release their events. */
	signals[0] = aql_signal(1);
	assert_int_not_equal(((amd_signal_t *)signals[0].handle)->event_id, 0);
	hsa_signal_destroy(signals[0]);
}

static bool never_called(hsa_signal_value_t value, void *argument)
{
	return false;
}

static void assert_is_memory_signal(hsa_signal_t signal)
{
	volatile hsa_signal_value_t *value;

	assert_int_equal(((amd_signal_t *)signal.handle)->event_id, 0);
	assert_int_equal(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1,
						      never_called, NULL),
			 HSA_STATUS_ERROR_INVALID_SIGNAL);
	assert_int_equal(hsa_amd_signal_value_pointer(signal, &value), HSA_STATUS_SUCCESS);
	*value = 41;
	hsa_signal_add_relaxed(signal, 1);
	assert_int_equal(*value, 42);
	hsa_signal_destroy(signal);
}

/* A signal in memory has no event, so it cannot have a handler. */
static void memory_signals_refuse_handlers(void **state)
{
	uint64_t refused = aql_counter("handlers_refused");
	volatile hsa_signal_value_t *value;
	hsa_signal_t signal;

	assert_int_equal(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal),
			 0);
	assert_is_memory_signal(signal);
	assert_int_equal(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal), 0);
	assert_is_memory_signal(signal);
	assert_int_equal(hsa_signal_create(1, 1, &machine.gpu[0], &signal), 0);
	assert_is_memory_signal(signal);
	assert_int_equal(aql_counter("handlers_refused"), refused + 3);
	assert_int_equal(hsa_signal_create(1, 1, &machine.cpu, &signal), 0);
	assert_int_equal(hsa_amd_signal_value_pointer(signal, &value),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_signal_destroy(signal);
}

static uint64_t sleeps_before;

static void *write_later(void *argument)
{
	softgpu_await("signal_sleeps", sleeps_before + 1);
	__atomic_store_n((hsa_signal_value_t *)argument, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* A store to a signal's value without a call must end a wait. */
static void writes_behind_the_back_end_a_wait(void **state)
{
	volatile hsa_signal_value_t *value;
	hsa_signal_t signal;
	pthread_t thread;

	assert_int_equal(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal),
			 0);
	hsa_amd_signal_value_pointer(signal, &value);
	sleeps_before = aql_counter("signal_sleeps");
	pthread_create(&thread, NULL, write_later, (void *)value);
	aql_wait(signal);
	pthread_join(thread, NULL);
	hsa_signal_destroy(signal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creation_checks_its_arguments),
		cmocka_unit_test(every_operation_does_its_arithmetic),
		cmocka_unit_test(destroyed_and_unknown_signals_are_counted),
		cmocka_unit_test(wait_gives_up_at_its_timeout),
		cmocka_unit_test(costs_are_charged_to_the_caller),
		cmocka_unit_test(waiters_are_woken_by_a_store),
		cmocka_unit_test(wait_any_says_which),
		cmocka_unit_test(wait_all_wants_each),
		cmocka_unit_test(past_the_limit_there_is_no_event),
		cmocka_unit_test(memory_signals_refuse_handlers),
		cmocka_unit_test(writes_behind_the_back_end_a_wait),
	};

	return cmocka_run_group_tests(tests, open_machine, NULL);
}
