/* Clock fits (see clock_fit.h): which anchors are used, and the arithmetic of the conversion. */
#include "trace/clock_fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Anchors whose read took this many times as long as the best are left out: they were interrupted.
 * Reads of up to 200 ns are always good. */
#define WORST_OF_BEST  8
#define ALWAYS_GOOD_NS 200

#define NS_PER_SECOND 1000000000

/* A larger value is not a time. Differences of smaller ones cannot overflow. */
#define TIME_LIMIT (INT64_MAX / 4)

static int by_tick(const void *left, const void *right)
{
	const struct clock_anchor *a = left, *b = right;

	if (a->tick != b->tick)
		return a->tick < b->tick ? -1 : 1;
	return (a->uncertainty_ns > b->uncertainty_ns) - (a->uncertainty_ns < b->uncertainty_ns);
}

static uint64_t good_enough_ns(const struct clock_anchor *anchors, uint32_t count)
{
	uint64_t best = UINT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		if (anchors[i].uncertainty_ns < best)
			best = anchors[i].uncertainty_ns;
	}
	if (best > UINT64_MAX / WORST_OF_BEST)
		return best;
	return best * WORST_OF_BEST > ALWAYS_GOOD_NS ? best * WORST_OF_BEST : ALWAYS_GOOD_NS;
}

/* Keeps the good anchors that ascend in both clocks; returns how many. */
static uint32_t keep_good(struct clock_anchor *anchors, uint32_t count)
{
	uint64_t limit = good_enough_ns(anchors, count);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (anchors[i].uncertainty_ns > limit || anchors[i].tick == 0)
			continue;
		if (anchors[i].host_ns < 0 || anchors[i].host_ns > TIME_LIMIT)
			continue;
		if (kept && (anchors[i].tick <= anchors[kept - 1].tick ||
			     anchors[i].host_ns <= anchors[kept - 1].host_ns))
			continue;
		anchors[kept++] = anchors[i];
	}
	return kept;
}

/* Removes anchors that are too near to the one before or to the last. The first and the last
 * stay. */
static uint32_t keep_apart(struct clock_anchor *anchors, uint32_t count)
{
	uint32_t kept = 1;

	if (count < 3)
		return count;
	for (uint32_t i = 1; i + 1 < count; i++) {
		if (anchors[i].host_ns - anchors[kept - 1].host_ns >= CLOCK_FIT_PIECE_NS &&
		    anchors[count - 1].host_ns - anchors[i].host_ns >= CLOCK_FIT_PIECE_NS)
			anchors[kept++] = anchors[i];
	}
	anchors[kept++] = anchors[count - 1];
	return kept;
}

/* on_line for the usual case, in which the product fits into 64 bits: takes a fraction of the
 * time. */
static bool along_fast(const struct clock_anchor *from, const struct clock_anchor *to,
		       uint64_t tick, int64_t *ret_ns)
{
	int64_t ticks, product, span = (int64_t)(to->tick - from->tick);

	if (tick < from->tick || span <= 0 || __builtin_sub_overflow(tick, from->tick, &ticks) ||
	    __builtin_mul_overflow(ticks, to->host_ns - from->host_ns, &product) ||
	    __builtin_add_overflow(product, span / 2, &product))
		return false;
	return !__builtin_add_overflow(product / span, from->host_ns, ret_ns) &&
	       *ret_ns <= TIME_LIMIT;
}

/* Host ns of TICK on the line through FROM on which SPAN ticks take SPAN_NS. */
static int64_t on_line(const struct clock_anchor *from, uint64_t span, int64_t span_ns,
		       uint64_t tick)
{
	__int128 product = ((__int128)tick - (__int128)from->tick) * span_ns;

	/* Round to nearest, so that results are not biased. */
	product += product < 0 ? -(__int128)(span / 2) : (__int128)(span / 2);
	product = product / (__int128)span + from->host_ns;
	if (product > TIME_LIMIT)
		return TIME_LIMIT;
	return product < -TIME_LIMIT ? -TIME_LIMIT : (int64_t)product;
}

static int64_t along(const struct clock_anchor *from, const struct clock_anchor *to, uint64_t tick)
{
	int64_t ns;

	if (along_fast(from, to, tick, &ns))
		return ns;
	return on_line(from, to->tick - from->tick, to->host_ns - from->host_ns, tick);
}

static double largest_residual(const struct clock_fit *fit)
{
	double largest = 0;

	for (uint32_t i = 1; i + 1 < fit->count; i++) {
		int64_t expected =
			along(&fit->anchors[i - 1], &fit->anchors[i + 1], fit->anchors[i].tick);
		double residual = fabs((double)(fit->anchors[i].host_ns - expected));

		if (residual > largest)
			largest = residual;
	}
	return largest;
}

int clock_fit_init(struct clock_fit *fit, const struct clock_anchor *anchors, uint32_t count,
		   uint64_t tick_hz)
{
	*fit = (struct clock_fit){.tick_hz = tick_hz};
	if (count == 0)
		return -ENODATA;
	fit->anchors = calloc(count, sizeof(*fit->anchors));
	if (!fit->anchors)
		return -ENOMEM;
	memcpy(fit->anchors, anchors, count * sizeof(*anchors));
	qsort(fit->anchors, count, sizeof(*fit->anchors), by_tick);
	fit->count = keep_apart(fit->anchors, keep_good(fit->anchors, count));
	/* Too short to measure a slope: the nominal rate is more exact. */
	if (fit->count == 2 && tick_hz &&
	    fit->anchors[1].host_ns - fit->anchors[0].host_ns < CLOCK_FIT_PIECE_NS)
		fit->count = 1;
	if (fit->count == 0 || (fit->count == 1 && tick_hz == 0)) {
		clock_fit_release(fit);
		return -ENODATA;
	}
	fit->residual_ns = largest_residual(fit);
	return 0;
}

void clock_fit_release(struct clock_fit *fit)
{
	free(fit->anchors);
	*fit = (struct clock_fit){0};
}

static uint32_t piece_of(const struct clock_fit *fit, uint64_t tick)
{
	uint32_t low = 0, high = fit->count - 1;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (fit->anchors[middle].tick <= tick)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t clock_fit_convert(const struct clock_fit *fit, uint64_t tick, uint32_t *hint)
{
	if (fit->count == 1)
		return on_line(&fit->anchors[0], fit->tick_hz, NS_PER_SECOND, tick);
	if (*hint + 1 >= fit->count || tick < fit->anchors[*hint].tick ||
	    tick >= fit->anchors[*hint + 1].tick)
		*hint = piece_of(fit, tick);
	return along(&fit->anchors[*hint], &fit->anchors[*hint + 1], tick);
}
