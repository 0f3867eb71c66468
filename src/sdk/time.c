/* The clock of the interface: see time.h. */
#include "sdk/time.h"

#include <pthread.h>

#include "base/clock.h"

static pthread_once_t offset_once = PTHREAD_ONCE_INIT;
static uint64_t boot_offset_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */

/* The two differ by the time for which the machine was suspended. */
static void read_offset(void)
{
	uint64_t before = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t offset = clock_read_ns(CLOCK_BOOTTIME) - before;

	boot_offset_ns = offset < 1000000 ? 0 : offset;
}

uint64_t sdk_time_of(uint64_t host_ns)
{
	pthread_once(&offset_once, read_offset);
	return host_ns + boot_offset_ns;
}
