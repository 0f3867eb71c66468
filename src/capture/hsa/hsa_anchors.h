/* Clock anchors: moments that are known in device ticks, in the runtime's system time and on the
 * host clock (CLOCK_MONOTONIC), recorded about four times a second. */
#ifndef CAPTURE_HSA_ANCHORS_H
#define CAPTURE_HSA_ANCHORS_H

#include <stdint.h>

/* Records an anchor for each GPU. The runtime must be open. One thread at a time. */
void hsa_anchors_record(void);

/* What to add to the runtime's system time to get host time, in ns, modulo 2^64. Any thread. */
uint64_t hsa_anchors_host_offset(void);

/* By how many ns this offset may be wrong at the host time NOW_NS: half the width of its
 * measurement, and the drift of the clocks since then. Any thread. */
uint64_t hsa_anchors_host_doubt_ns(uint64_t now_ns);

#endif
