/* Converts an agent's ticks to host ns by its anchors: moments that were read on both clocks.
 *
 * Between two anchors, time is linear; before the first and after the last anchor, the neighbouring
 * piece is extended. The result is monotone and is not clamped, except to +-INT64_MAX / 4. Anchors
 * that contradict the others (time that runs backwards, a read that was interrupted) are left out,
 * not averaged in.
 *
 * Threading: a fit does not change after clock_fit_init. Any number of threads may convert, each
 * with its own HINT. */
#ifndef DAGTAP_TRACE_CLOCK_FIT_H
#define DAGTAP_TRACE_CLOCK_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* Shortest time between two anchors: the slope between nearer ones is made of their reading error.
 * 200 ns over 10 ms are 20 ppm. Of anchors that are nearer to each other, and of those nearer to
 * the last one, only some are used. */
#define CLOCK_FIT_PIECE_NS 10000000

/* A moment on both clocks; the read may be wrong by up to uncertainty_ns. */
struct clock_anchor {
	uint64_t tick;
	int64_t host_ns;
	uint64_t uncertainty_ns;
};

/* A fit. Without anchors it is empty and not usable. */
struct clock_fit {
	struct clock_anchor *anchors; /* owned; ascending in both clocks */
	uint32_t count;
	uint64_t tick_hz; /* nominal rate, used when there is only one anchor; 0 = unknown */
	/* Largest distance of an inner anchor from the line of its neighbours, ns. */
	double residual_ns;
};

/* Copies COUNT anchors, which may be in any order. Returns 0, -ENOMEM, or -ENODATA if they do not
 * suffice for a fit; FIT is then empty. Release FIT in every case. */
int clock_fit_init(struct clock_fit *fit, const struct clock_anchor *anchors, uint32_t count,
		   uint64_t tick_hz);
void clock_fit_release(struct clock_fit *fit);

/* True if clock_fit_convert may be called. */
static inline bool clock_fit_is_usable(const struct clock_fit *fit)
{
	return fit->count != 0;
}

/* Host ns of TICK. FIT must be usable and TICK not 0: a zero tick is no time. *HINT is the caller's
 * cache of the last piece; start with 0. It saves a bisection while ticks are near to the last
 * one. */
int64_t clock_fit_convert(const struct clock_fit *fit, uint64_t tick, uint32_t *hint);

#endif
