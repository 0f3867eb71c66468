/* Moments and percentiles of durations (distribution.h). */
#include "analyze/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tally.h"

#define OUTLIER_DEVIATIONS 3.5
#define MAD_TO_DEVIATION   1.4826 /* of a normal distribution */
#define OUTLIER_PART	   0.05

#define RADIX_BITS   11
#define RADIX_PASSES 6	 /* cover 64 bits */
#define RADIX_FROM   256 /* fewer values are sorted faster by comparing */
#define RADIX_CELLS  (1U << RADIX_BITS)

static int compare_values(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The digit of VALUE that pass PASS sorts by. LEAST makes all values count from 0. */
static uint32_t digit_of(int64_t value, int64_t least, int pass)
{
	return ((uint64_t)value - (uint64_t)least) >> (pass * RADIX_BITS) & (RADIX_CELLS - 1);
}

/* Moves VALUES to SORTED by one digit; values with the same digit keep their order. */
static void radix_pass(const int64_t *values, uint32_t count, int64_t least, int pass,
		       int64_t *sorted)
{
	uint32_t first[RADIX_CELLS + 1] = {0};

	for (uint32_t i = 0; i < count; i++)
		first[digit_of(values[i], least, pass) + 1]++;
	for (uint32_t i = 1; i < RADIX_CELLS; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < count; i++)
		sorted[first[digit_of(values[i], least, pass)]++] = values[i];
}

/* Sorts VALUES. Durations differ in few bits, so that two or three passes by digits are enough.
 * They need memory; without it the values are compared. */
static void sort_values(int64_t *values, uint32_t count)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	int64_t *from = values, *to = NULL;

	if (count >= RADIX_FROM)
		to = malloc((size_t)count * sizeof(*to));
	if (!to) {
		qsort(values, count, sizeof(*values), compare_values);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	for (int pass = 0; pass < RADIX_PASSES; pass++) {
		int64_t *other = from;

		if (((uint64_t)most - (uint64_t)least) >> (pass * RADIX_BITS) == 0)
			break;
		radix_pass(from, count, least, pass, to);
		from = to;
		to = other;
	}
	if (from != values) {
		memcpy(values, from, (size_t)count * sizeof(*values));
		to = from;
	}
	free(to);
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
		sort_values(values, count);
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
