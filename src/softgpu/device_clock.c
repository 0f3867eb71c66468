/* Conversions between the two clocks, and waits. The device clock is an exact linear function of
 * the host clock. */
#include "softgpu/device_clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "base/clock.h"
#include "softgpu/config.h"

#define HOST_NS_PER_TICK   (1000000000.0L / CLOCK_DEVICE_HZ)
/* The last part of a wait is spun, because the scheduler may wake a thread up that late. */
#define SPIN_BEFORE_END_NS 60000u
/* Pause instructions of one clock_relax. */
#define PAUSES_A_TURN	   4

uint64_t clock_host_ns(void)
{
	return clock_now_ns();
}

/* A long double has 64 bits of mantissa, which hold any ns of CLOCK_MONOTONIC exactly. */
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
	end = clock_read_ns(CLOCK_MONOTONIC) + ns;
	while (clock_read_ns(CLOCK_MONOTONIC) < end)
		;
}

void clock_exact_sleep(void)
{
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

static _Atomic int spinners; /* threads inside clock_relax */
static int cpus;
static pthread_once_t cpus_once = PTHREAD_ONCE_INIT;

static void count_cpus(void)
{
	cpus = get_nprocs();
}

/* A yield gives a whole time slice to other programs on a busy machine, so that milliseconds would
 * appear in modelled microseconds. Without a yield, spinning threads starve the program on a
 * machine with few CPUs. So a thread yields only when at least as many threads spin as there are
 * CPUs. */
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

uint64_t clock_spin_from(uint64_t host_ns)
{
	return clock_is_held() ? host_ns : host_ns - SPIN_BEFORE_END_NS;
}

void clock_sleep_until(uint64_t host_ns)
{
	uint64_t now;

	while ((now = clock_host_ns()) < host_ns) {
		uint64_t spin_from = clock_spin_from(host_ns);
		struct timespec until = clock_timespec(clock_wake_ns(spin_from));

		if (now < spin_from)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		else
			clock_relax();
	}
}
