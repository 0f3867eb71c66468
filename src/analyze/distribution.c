/* Moments and percentiles of durations (distribution.h). */
#include "analyze/distribution.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/tally.h"

#define OUTLIER_DEVIATIONS 3.5
#define MAD_TO_DEVIATION   1.4826 /* of a normal distribution */
#define OUTLIER_PART	   0.05

static int compare_values(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* VALUES are sorted, and there is one at least. */
static double percentile(const int64_t *values, uint32_t count, double part)
{
	double at = part * (double)(count - 1);
	uint32_t below = (uint32_t)at;

	if (below + 1 >= count)
		return (double)values[count - 1];
	return (double)values[below] +
	       (at - below) * ((double)values[below + 1] - (double)values[below]);
}

/* The median of the distances from MEDIAN. VALUES are sorted. */
static double median_distance(const int64_t *values, uint32_t count, double median)
{
	uint32_t low = 0, high, half = count / 2;
	double last = 0, before = 0;

	/* The sorted values below the median and those above it are two lists of distances in
	 * ascending order, from the middle outwards. Merges them up to the middle distance. */
	while (low < count && (double)values[low] < median)
		low++;
	high = low;
	for (uint32_t taken = 0; taken <= half; taken++) {
		double down = low > 0 ? median - (double)values[low - 1] : INFINITY;
		double up = high < count ? (double)values[high] - median : INFINITY;

		before = last;
		last = down < up ? down : up;
		if (down < up)
			low--;
		else
			high++;
	}
	return count % 2 ? last : (before + last) / 2;
}

void distribution_make(int64_t *values, uint32_t count, struct distribution *ret_distribution)
{
	struct distribution made = {.count = count};
	double squares = 0;

	if (count) {
		qsort(values, count, sizeof(*values), compare_values);
		made.min = values[0];
		made.max = values[count - 1];
		made.p50 = percentile(values, count, 0.5);
		made.p90 = percentile(values, count, 0.9);
		made.p99 = percentile(values, count, 0.99);
		made.mad = median_distance(values, count, made.p50);
		for (uint32_t i = 0; i < count; i++) {
			made.total = tally_sum(made.total, values[i]);
			made.mean += ((double)values[i] - made.mean) / (i + 1);
		}
		for (uint32_t i = 0; i < count; i++)
			squares +=
				((double)values[i] - made.mean) * ((double)values[i] - made.mean);
		if (count > 1)
			made.stddev = sqrt(squares / (count - 1));
	}
	*ret_distribution = made;
}

bool distribution_is_outlier(const struct distribution *distribution, int64_t value)
{
	double distance = fabs((double)value - distribution->p50);

	return distribution->count >= DISTRIBUTION_OUTLIERS_FROM &&
	       distance > OUTLIER_DEVIATIONS * MAD_TO_DEVIATION * distribution->mad &&
	       distance > OUTLIER_PART * fabs(distribution->p50);
}
