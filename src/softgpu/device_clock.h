/* The two clocks. The host clock is the clock of base/clock.h, in ns; it is also
 * HSA_SYSTEM_INFO_TIMESTAMP (1 GHz). The device clock runs at 100 MHz with the configured offset
 * and drift; every tick in a signal is a tick of the device clock. Device times are computed in
 * host ns and converted to ticks, so the exact host times of all work are known (report.h).
 *
 * Threading: any thread may call any function. */
#ifndef SOFTGPU_CLOCK_H
#define SOFTGPU_CLOCK_H

#include <stdint.h>

#define CLOCK_DEVICE_HZ 100000000ull
#define CLOCK_HOST_HZ	1000000000ull

/* Returns the present time of the host clock. A test may hold this clock. */
uint64_t clock_host_ns(void);

/* Converts host ns to device ticks, by the exact linear model. Never returns 0, which in a signal
 * means that no tick was written. */
uint64_t clock_host_to_ticks(uint64_t host_ns);

/* The inverse of clock_host_to_ticks, as the driver's fit through two anchors gives it. A tick that
 * was never written gives a meaningless time. */
uint64_t clock_ticks_to_host(uint64_t ticks);

/* Busy-waits for NS of CLOCK_MONOTONIC, to charge the calling thread a modelled cost. Returns at
 * once for 0. */
void clock_spin_ns(uint64_t ns);

/* Sets the calling thread's timer slack to 1 ns, so that its sleeps end on time. Called once by a
 * thread that waits for modelled times. */
void clock_exact_sleep(void);

/* One iteration of a spin loop: pauses the CPU, or yields it when at least as many threads spin as
 * there are CPUs. */
void clock_relax(void);

/* Waits until the host clock reaches HOST_NS: sleeps until clock_spin_from(HOST_NS), then spins. */
void clock_sleep_until(uint64_t host_ns);

/* Returns the time from which on a wait until HOST_NS should spin instead of sleep, because the
 * scheduler's wake-ups are not exact. While a test holds the clock this is HOST_NS: no wait
 * spins. */
uint64_t clock_spin_from(uint64_t host_ns);

#endif
