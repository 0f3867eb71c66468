/* The clock of the interface. Any thread. */
#ifndef DAGTAP_SDK_TIME_H
#define DAGTAP_SDK_TIME_H

#include <stdint.h>

/* The interface's time of a host time in ns: CLOCK_BOOTTIME. The difference of the two clocks is
 * read once. */
uint64_t sdk_time_of(uint64_t host_ns);

#endif
