/* Time. The host clock is that of base/clock.h, in ns: it is also HSA_SYSTEM_INFO_TIMESTAMP (1 GHz).
 * The device clock runs at 100 MHz with the configured offset and drift; every tick that a signal
 * carries is a device tick. The truth (exact host ns) is known only here. */
#ifndef SOFTGPU_CLOCK_H
#define SOFTGPU_CLOCK_H

#include <stdint.h>

#define CLOCK_DEVICE_HZ 100000000ull
#define CLOCK_HOST_HZ	1000000000ull

uint64_t clock_host_ns(void);
uint64_t clock_host_to_ticks(uint64_t host_ns); /* exact model; never returns 0 */
uint64_t clock_ticks_to_host(uint64_t ticks); /* inverse, as the driver's two-anchor fit gives it */
void clock_spin_ns(uint64_t ns);	      /* charge the caller; 0 is free */
void clock_exact_sleep(void);		      /* once a thread: no timer slack in its sleeps */
void clock_relax(void); /* one turn of a spin: the CPU goes to others when spinners crowd it */
void clock_sleep_until(uint64_t host_ns); /* precise: sleeps, then spins (with yields) the rest */
/* From when on a wait until HOST_NS is spun, for the scheduler is not that exact. Of a clock that a test holds
 * nothing is. */
uint64_t clock_spin_from(uint64_t host_ns);

#endif
