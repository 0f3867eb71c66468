/* The capture source of the steady clock: at the start, at each tick and at the stop of a recording
 * it writes an ANCHOR (RECORD_STEADY_CLOCK) with the time of CLOCK_MONOTONIC_RAW, which no time
 * server slews. `dagtap merge` tells by them how the host clock was slewed. Nothing is written
 * while a test controls the clock (base/clock.h). Cost: eight reads of clocks a tick at most. */
#ifndef DAGTAP_CAPTURE_STEADY_CLOCK_H
#define DAGTAP_CAPTURE_STEADY_CLOCK_H

#include "capture/capture_session.h"

extern const struct capture_source steady_clock_source;

#endif
