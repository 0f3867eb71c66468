/* Welch's t-test: whether the means of two samples differ by more than their spread explains. The
 * variances need not be equal. */
#ifndef DAGTAP_ANALYZE_WELCH_H
#define DAGTAP_ANALYZE_WELCH_H

#include <stdint.h>

struct welch_sample {
	uint64_t count;
	double mean;
	double stddev; /* the divisor is count - 1 */
};

/* The probability (two-sided) of means at least so different if the samples were drawn from
 * distributions with one mean. NAN: a sample has fewer than two values. */
double welch_probability(const struct welch_sample *a, const struct welch_sample *b);

#endif
