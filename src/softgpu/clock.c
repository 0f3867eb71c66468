/* The device clock is an exact linear function of the host clock. */
#include "softgpu/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "softgpu/config.h"

#define HOST_NS_PER_TICK   (1000000000.0L / CLOCK_DEVICE_HZ)
/* The scheduler's wake-up is not trusted with the last of a wait. */
#define SPIN_BEFORE_END_NS 60000u
#define PAUSES_A_TURN	   4

uint64_t clock_host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Long double: 64 bits of mantissa hold any ns of CLOCK_MONOTONIC exactly. */
static long double ns_per_tick(void)
{
	return HOST_NS_PER_TICK / (1.0L + (long double)config_get()->clock_drift_ppm * 1e-6L);
}

uint64_t clock_host_to_ticks(uint64_t host_ns)
{
	long double ticks = (long double)host_ns / ns_per_tick() +
			    (long double)config_get()->clock_offset_ticks;

	return ticks < 1.0L ? 1 : (uint64_t)ticks;
}

uint64_t clock_ticks_to_host(uint64_t ticks)
{
	long double ns = ((long double)ticks - (long double)config_get()->clock_offset_ticks) *
			 ns_per_tick();

	return ns < 0.0L ? (uint64_t)(int64_t)ns : (uint64_t)ns;
}

void clock_spin_ns(uint64_t ns)
{
	uint64_t end;

	if (!ns)
		return;
	end = clock_host_ns() + ns;
	while (clock_host_ns() < end)
		;
}

void clock_exact_sleep(void)
{
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

static _Atomic int spinners;
static int cpus;
static pthread_once_t cpus_once = PTHREAD_ONCE_INIT;

static void count_cpus(void)
{
	cpus = get_nprocs();
}

/* Yielding hands a whole time slice to whatever else runs on a busy machine, which would show as
 * milliseconds in a modelled microsecond; not yielding starves the program on a small one. */
void clock_relax(void)
{
	pthread_once(&cpus_once, count_cpus);
	if (atomic_fetch_add_explicit(&spinners, 1, memory_order_relaxed) + 1 >= cpus) {
		sched_yield();
	} else {
		for (int i = 0; i < PAUSES_A_TURN; i++)
			__builtin_ia32_pause();
	}
	atomic_fetch_sub_explicit(&spinners, 1, memory_order_relaxed);
}

void clock_sleep_until(uint64_t host_ns)
{
	uint64_t now = clock_host_ns();

	if (now + SPIN_BEFORE_END_NS < host_ns) {
		uint64_t wake = host_ns - SPIN_BEFORE_END_NS;
		struct timespec until = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	while (clock_host_ns() < host_ns)
		clock_relax();
}
