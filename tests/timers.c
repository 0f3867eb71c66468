/* Part of every test program: DAGTAP_TIMERS holds for dagtap's code that is linked into the program
 * itself, too. A traced process reads it when its session starts; here there is none. */
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
