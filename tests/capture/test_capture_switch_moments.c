/*
 * What stands in the way of the switch: a lock that another thread holds, a thread that cannot be
 * made, and a signal handler that has interrupted the switch itself. The test holds and interrupts
 * threads at the calls that the linker redirects here.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/timer.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/guest_thread.h"
#include "capture/owner_lock.h"
#include "capture/scope.h"
#include "capture/switch_policy.h"
#include "held_clock.h"
#include "in_child.h"
#ifdef __x86_64__
#include "step.h"
#endif

static int small_setup(void **state)
{
	setenv("DAGTAP_READY", "4M", 1);
	return fixture_setup(state);
}

static void arm(void)
{
	session_arm();
	switch_configure();
	expect(switch_is_armed());
}

static void await_recording(bool is_on)
{
	const struct timespec pause = {.tv_nsec = 100000};

	while (session_is_on() != is_on)
		nanosleep(&pause, NULL);
}

static struct clock_page *page;

static void await(sem_t *event)
{
	while (sem_wait(event))
		;
}

/* ---- a signal handler starts the recording while the status is read ---- */

static bool starts_within_status;

struct spooler *__real_recording_spooler(void);
struct spooler *__wrap_recording_spooler(void);
struct spooler *__wrap_recording_spooler(void)
{
	if (starts_within_status) {
		starts_within_status = false;
		expect(!switch_start("a handler"));
	}
	return __real_recording_spooler();
}

static void start_within_status(void)
{
	struct switch_status status;

	setenv("DAGTAP_WAIT", "1", 1);
	arm();
	starts_within_status = true;
	expect(switch_read_status(&status));
	expect(session_is_on());
}

static void a_start_within_the_status_is_carried_out(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, start_within_status), 0);
}

/* ---- another thread holds the lock of the events ---- */

static sem_t lock_is_wanted, lock_is_taken, lock_was_missed;
static _Atomic bool holds_lock; /* in switch_policy_enter, which is called with the lock */

struct switch_instance __real_switch_policy_enter(struct switch_policy *policy);
struct switch_instance __wrap_switch_policy_enter(struct switch_policy *policy);
struct switch_instance __wrap_switch_policy_enter(struct switch_policy *policy)
{
	if (atomic_load(&holds_lock)) {
		sem_post(&lock_is_taken);
		await(&lock_was_missed);
	}
	return __real_switch_policy_enter(policy);
}

static void *hold_lock(void *unused)
{
	await(&lock_is_wanted);
	atomic_store(&holds_lock, true);
	scope_push(RECORD_SCOPE_DAGTAP, "step");
	scope_pop(RECORD_SCOPE_DAGTAP);
	return unused;
}

static void (*time_body)(void);
static _Thread_local bool keeps_time;

/* The thread that keeps time finds the lock taken when it looks for the first time. */
static void keep_time_late(void)
{
	keeps_time = true;
	sem_post(&lock_is_wanted);
	await(&lock_is_taken);
	time_body();
}

static _Atomic int threads_refused; /* so many more */

int __real_guest_thread_start(struct guest_thread *thread);
int __wrap_guest_thread_start(struct guest_thread *thread);
static int start_unstepped(struct guest_thread *thread)
{
#ifdef __x86_64__
	bool were_on = traps_pause();
	int err = __real_guest_thread_start(thread);

	traps_resume(were_on);
	return err;
#else
	return __real_guest_thread_start(thread);
#endif
}

int __wrap_guest_thread_start(struct guest_thread *thread)
{
	if (strcmp(thread->name, "dagtap-switch") != 0)
		return start_unstepped(thread);
	if (atomic_load(&threads_refused) && atomic_fetch_sub(&threads_refused, 1))
		return -EAGAIN;
	if (time_body) {
		time_body = thread->body;
		thread->body = keep_time_late;
	}
	return __real_guest_thread_start(thread);
}

bool __real_owner_lock_take(struct owner_lock *lock, struct timer_limit limit);
bool __wrap_owner_lock_take(struct owner_lock *lock, struct timer_limit limit);
bool __wrap_owner_lock_take(struct owner_lock *lock, struct timer_limit limit)
{
	bool is_taken = __real_owner_lock_take(lock, limit);

	if (keeps_time && !is_taken && atomic_exchange(&holds_lock, false))
		sem_post(&lock_was_missed);
	return is_taken;
}

static void hold_the_lock_beyond_the_limit(void)
{
	pthread_t thread;

	page = held_clock();
	setenv("DAGTAP_TIMERS", "limits=never,session_change=0", 1);
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_DELAY", "2", 1);
	time_body = keep_time_late;
	arm();
	sem_init(&lock_is_wanted, 0, 0);
	sem_init(&lock_is_taken, 0, 0);
	sem_init(&lock_was_missed, 0, 0);
	expect(!pthread_create(&thread, NULL, hold_lock, NULL));
	expect(!session_start());
	pthread_join(thread, NULL);
	scope_push(RECORD_SCOPE_DAGTAP, "step");
	expect(!session_is_on());
	/* The thread that has missed the lock looks again some time after it has read the clock,
	 * which may be before this step or after it. */
	while (!session_is_on()) {
		clock_step(page, 2000000000);
		sched_yield();
	}
}

static void a_held_lock_does_not_end_the_time_thread(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, hold_the_lock_beyond_the_limit), 0);
}

/* ---- no thread can be made ---- */

static void refuse_the_first_thread(void)
{
	page = held_clock();
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_DELAY", "2", 1);
	threads_refused = 1;
	arm();
	expect(!session_start());
	expect(!threads_refused);
	scope_push(RECORD_SCOPE_DAGTAP, "step"); /* the event that makes the thread */
	clock_step(page, 2000000000);
	await_recording(true);
}

static void a_thread_that_was_refused_is_made_with_the_next_event(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, refuse_the_first_thread), 0);
}

/* ---- a signal handler in the switch ---- */

#ifdef __x86_64__
static void start(void)
{
	switch_start("test");
}

static void stop(void)
{
	switch_stop("test");
}

/* A stop that comes before the start that it interrupts does not end the recording. From the first
 * instruction on at which it comes later, it does. */
static void stop_at_each_instruction(void)
{
	bool has_ended = false;

	setenv("DAGTAP_TIMERS", "limits=never", 1);
	setenv("DAGTAP_WAIT", "1", 1);
	arm();
	expect(!session_start());
	for (uint32_t n = 1;; n++) {
		start();
		expect(session_is_on());
		if (!interrupt_at(n, start, stop))
			break;
		expect(!has_ended || !session_is_on());
		has_ended = !session_is_on();
	}
	expect(has_ended);
}

static void a_handler_may_stop_what_it_interrupts(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, stop_at_each_instruction), 0);
}

static uint32_t instruction;

static void start_twice(void)
{
	setenv("DAGTAP_TIMERS", "limits=never", 1);
	setenv("DAGTAP_WAIT", "1", 1);
	arm();
	expect(!session_start());
	_exit(!interrupt_at(instruction, start, start) ? 2 : session_is_on() ? 0 : 1);
}

/* A start has many thousand instructions: ever larger steps, from a random one. */
static void a_handler_may_start_what_it_interrupts(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t seed = test_seed();
	int status = 0;

	for (instruction = 1; !status; instruction += 1 + instruction / 16) {
		instruction += (uint32_t)(fixture_random(&seed) % (1 + instruction / 16));
		status = in_child(fixture->folder, start_twice);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
}
#endif

#define CASE(name) cmocka_unit_test_setup_teardown(name, small_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_start_within_the_status_is_carried_out),
		CASE(a_held_lock_does_not_end_the_time_thread),
		CASE(a_thread_that_was_refused_is_made_with_the_next_event),
#ifdef __x86_64__
		CASE(a_handler_may_stop_what_it_interrupts),
		CASE(a_handler_may_start_what_it_interrupts),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
