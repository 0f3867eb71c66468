#include "held.h"

#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local bool is_armed;
static int interrupts_by; /* a signal; 0: it is held instead */
static sem_t is_held, may_go;

__attribute__((constructor)) static void init(void)
{
	sem_init(&is_held, 0, 0);
	sem_init(&may_go, 0, 0);
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
	while (sem_wait(&is_held))
		;
}

void held_let_go(void)
{
	sem_post(&may_go);
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
		while (sem_wait(&may_go))
			;
	}
	return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2],
			    arguments[3]);
}
