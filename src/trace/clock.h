/* From an agent's ticks to host ns: through the anchors, moments read on both clocks.
 *
 * Between two anchors time runs straight; before the first and after the last it goes on as in
 * the neighbouring piece. The result is monotone and never clamped. Anchors that contradict the
 * others (time running backwards, a read that was held up) are left out, not averaged in. */
#ifndef DAGTAP_TRACE_CLOCK_H
#define DAGTAP_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clock_anchor {
	uint64_t tick;
	int64_t host_ns;
	uint64_t uncertainty_ns;
};

struct clock_fit {
	struct clock_anchor *anchors; /* ascending in both clocks */
	uint32_t count;
	uint64_t tick_hz;   /* nominal, 0 = unknown: used when there is one anchor alone */
	double residual_ns; /* largest distance of an inner anchor from the line of its neighbours */
};

/* Takes COUNT anchors in any order. 0, -ENOMEM, or -ENODATA when they cannot carry a fit (then
 * the fit is empty). */
int clock_fit_init(struct clock_fit *fit, const struct clock_anchor *anchors, uint32_t count,
		   uint64_t tick_hz);
void clock_fit_release(struct clock_fit *fit);

static inline bool clock_fit_is_usable(const struct clock_fit *fit)
{
	return fit->count != 0;
}

/* TICK is not 0: a zero tick is no time. HINT is the caller's memory of the last piece, start with
 * 0. */
int64_t clock_fit_convert(const struct clock_fit *fit, uint64_t tick, uint32_t *hint);

#endif
