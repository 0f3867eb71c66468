/*
 * Linked into every test program: applies DAGTAP_TIMERS to the dagtap code in the program itself. A
 * traced process reads the variable when its session starts; a test program has no session.
 */
#include <stdlib.h>

#include "base/timer.h"

/* NULL in a program without timers. */
#pragma weak timer_configure

__attribute__((constructor)) static void take_limits(void)
{
	const char *timers = getenv("DAGTAP_TIMERS");

	if (timers && timer_configure)
		timer_configure(timers);
}
