#include "held.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local bool is_armed;
static atomic_bool is_held, may_go;

void held_arm(void)
{
	is_armed = true;
}

void held_await(void)
{
	while (!atomic_load(&is_held))
		usleep(100);
}

void held_let_go(void)
{
	atomic_store(&may_go, true);
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	if (is_armed) {
		is_armed = false;
		atomic_store(&is_held, true);
		while (!atomic_load(&may_go))
			usleep(100);
	}
	return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2],
			    arguments[3]);
}
