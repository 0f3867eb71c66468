/* Count, sum, minimum and maximum of durations. Sums and differences saturate: a trace with extreme
 * times gives a wrong number, but no undefined behaviour. */
#ifndef DAGTAP_ANALYZE_TALLY_H
#define DAGTAP_ANALYZE_TALLY_H

#include <stdint.h>

struct tally {
	uint64_t count; /* timed and untimed */
	uint64_t timed;
	int64_t total_ns, min_ns, max_ns; /* of timed ones; 0 if there are none */
	/* Of the timed ones, as in distribution.h; 0 until spread_finish (spread.h) sets them. */
	double median_ns, stddev_ns;
};

/* A + B and END_NS - BEGIN_NS, saturated to the range of int64_t. */
static inline int64_t tally_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline int64_t tally_span(int64_t begin_ns, int64_t end_ns)
{
	int64_t span;

	if (__builtin_sub_overflow(end_ns, begin_ns, &span))
		return end_ns < begin_ns ? INT64_MIN : INT64_MAX;
	return span;
}

static inline void tally_add(struct tally *tally, int64_t ns)
{
	tally->count++;
	if (tally->timed == 0 || ns < tally->min_ns)
		tally->min_ns = ns;
	if (tally->timed == 0 || ns > tally->max_ns)
		tally->max_ns = ns;
	tally->timed++;
	tally->total_ns = tally_sum(tally->total_ns, ns);
}

static inline void tally_add_untimed(struct tally *tally)
{
	tally->count++;
}

/* Adds what FROM counts to TALLY. */
static inline void tally_merge(struct tally *tally, const struct tally *from)
{
	tally->count += from->count;
	if (from->timed == 0)
		return;
	if (tally->timed == 0 || from->min_ns < tally->min_ns)
		tally->min_ns = from->min_ns;
	if (tally->timed == 0 || from->max_ns > tally->max_ns)
		tally->max_ns = from->max_ns;
	tally->timed += from->timed;
	tally->total_ns = tally_sum(tally->total_ns, from->total_ns);
}

/* Mean in ns of the timed ones; 0 if there are none. */
static inline double tally_mean(const struct tally *tally)
{
	return tally->timed ? (double)tally->total_ns / (double)tally->timed : 0;
}

#endif
