/* How a set of durations is distributed: moments, percentiles, and what lies far outside. */
#ifndef DAGTAP_ANALYZE_DISTRIBUTION_H
#define DAGTAP_ANALYZE_DISTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

/* All values are in ns. Zeroed: of no durations. */
struct distribution {
	uint32_t count;
	int64_t total, min, max;
	double mean;
	double stddev; /* of a sample: the divisor is count - 1; 0 for one duration */
	/* Percentiles, interpolated linearly between the two nearest durations, as pandas does. */
	double p50, p90, p99;
	double mad; /* median of the distances from p50 */
};

/* Describes COUNT durations and sorts them; the caller keeps VALUES. Cost: one sort; of
 * many durations by digits, which takes as much memory as VALUES. */
void distribution_make(int64_t *values, uint32_t count, struct distribution *ret_distribution);

/* Whether VALUE lies far outside: more than 3.5 robust standard deviations (1.4826 times the median
 * distance) and more than 5 % away from the median. Below DISTRIBUTION_OUTLIERS_FROM durations
 * nothing is an outlier. */
#define DISTRIBUTION_OUTLIERS_FROM 5
bool distribution_is_outlier(const struct distribution *distribution, int64_t value);

#endif
