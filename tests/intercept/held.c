/* Stops threads inside the injected library by replacing prctl and nanosleep (held.h). */
#include "held.h"

#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local bool is_armed;
static int interrupts_by; /* signal to raise instead of stopping; 0: the thread stops */
static sem_t is_held, may_go;
static _Atomic bool holds_monitor;
static sem_t monitor_is_held, monitor_may_go;

__attribute__((constructor)) static void init(void)
{
	sem_init(&is_held, 0, 0);
	sem_init(&may_go, 0, 0);
	sem_init(&monitor_is_held, 0, 0);
	sem_init(&monitor_may_go, 0, 0);
}

static void await(sem_t *fact)
{
	while (sem_wait(fact))
		;
}

void held_arm(void)
{
	is_armed = true;
}

void held_interrupt(int number)
{
	interrupts_by = number;
}

void held_await(void)
{
	await(&is_held);
}

void held_release(void)
{
	sem_post(&may_go);
}

void held_monitor(void)
{
	atomic_store(&holds_monitor, true);
	await(&monitor_is_held);
}

void held_monitor_release(void)
{
	sem_post(&monitor_may_go);
}

static bool is_monitor(void)
{
	char name[16] = "";

	syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
	return !strcmp(name, "dagtap-monitor");
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	if (is_armed && interrupts_by) {
		is_armed = false;
		raise(interrupts_by);
	} else if (is_armed) {
		is_armed = false;
		sem_post(&is_held);
		await(&may_go);
	}
	return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2],
			    arguments[3]);
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *time,
						     struct timespec *ret_left)
{
	if (is_armed && interrupts_by) {
		is_armed = false;
		raise(interrupts_by);
	} else if (is_armed) {
		sem_post(&is_held);
	} else if (atomic_load(&holds_monitor) && is_monitor() &&
		   atomic_exchange(&holds_monitor, false)) {
		sem_post(&monitor_is_held);
		await(&monitor_may_go);
	}
	return (int)syscall(SYS_nanosleep, time, ret_left);
}
