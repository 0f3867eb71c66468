/* Buckets, their room, and quantiles: see sketch.h. */
#include "stats/sketch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAMMA ((1 + SKETCH_ERROR) / (1 - SKETCH_ERROR))

static uint64_t add(uint64_t left, uint64_t right)
{
	uint64_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

static int32_t index_of(uint64_t value)
{
	return (int32_t)ceil(log((double)value) / log(GAMMA));
}

static double value_of(int32_t index)
{
	return 2 * pow(GAMMA, index) / (GAMMA + 1);
}

/* The buckets [FIRST, END) that SKETCH has and those that are to be there. */
struct span {
	int32_t first, end;
};

/* The span that holds both, without the lowest buckets if they are too many. */
static struct span span_with(const struct sketch *sketch, struct span more)
{
	struct span span = more;

	if (sketch->bucket_count) {
		int32_t end = sketch->first + (int32_t)sketch->bucket_count;

		if (sketch->first < span.first)
			span.first = sketch->first;
		if (end > span.end)
			span.end = end;
	}
	if (span.end - span.first > SKETCH_BUCKETS_MOST)
		span.first = span.end - SKETCH_BUCKETS_MOST;
	return span;
}

/* The bucket of SPAN that counts values of bucket INDEX. */
static uint32_t place_in(struct span span, int32_t index)
{
	return index < span.first ? 0 : (uint32_t)(index - span.first);
}

/* Makes buckets for SPAN, which includes those that are there except collapsed ones. */
static int set_span(struct sketch *sketch, struct span span)
{
	uint32_t count = (uint32_t)(span.end - span.first);
	uint64_t *buckets;

	if (sketch->first == span.first && sketch->bucket_count == count)
		return 0;
	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < sketch->bucket_count; i++) {
		int32_t index = sketch->first + (int32_t)i;

		buckets[place_in(span, index)] += sketch->buckets[i];
		/* The values that were collapsed before are in bucket 0. */
		if (index < span.first)
			sketch->collapsed +=
				i ? sketch->buckets[i] : sketch->buckets[0] - sketch->collapsed;
	}
	free(sketch->buckets);
	sketch->buckets = buckets;
	sketch->first = span.first;
	sketch->bucket_count = count;
	return 0;
}

/* Counts in the buckets alone. */
static int count_in(struct sketch *sketch, int32_t index, uint64_t count)
{
	struct span span = span_with(sketch, (struct span){index, index + 1});
	int err = set_span(sketch, span);

	if (err < 0)
		return err;
	sketch->buckets[place_in(span, index)] += count;
	if (index < span.first)
		sketch->collapsed += count;
	return 0;
}

int sketch_add(struct sketch *sketch, uint64_t value)
{
	int err = value ? count_in(sketch, index_of(value), 1) : 0;

	if (err < 0)
		return err;
	sketch->zeros += !value;
	if (!sketch->count || value < sketch->least)
		sketch->least = value;
	if (value > sketch->largest)
		sketch->largest = value;
	sketch->sum = add(sketch->sum, value);
	sketch->count++;
	return 0;
}

int sketch_add_bucket(struct sketch *sketch, int32_t index, uint64_t count)
{
	int err;

	if (index < 0 || index > SKETCH_BUCKET_LAST || count > UINT64_MAX - sketch->count)
		return -EINVAL;
	err = count_in(sketch, index, count);
	if (err == 0)
		sketch->count += count;
	return err;
}

int sketch_merge(struct sketch *sketch, const struct sketch *from)
{
	struct span all;
	int err;

	if (!from->count)
		return 0;
	if (from->bucket_count) {
		all = span_with(sketch, (struct span){from->first,
						      from->first + (int32_t)from->bucket_count});
		err = set_span(sketch, all);
		if (err < 0)
			return err;
		for (uint32_t i = 0; i < from->bucket_count; i++) {
			int32_t index = from->first + (int32_t)i;

			sketch->buckets[place_in(all, index)] += from->buckets[i];
			if (index < all.first)
				sketch->collapsed +=
					i ? from->buckets[i] : from->buckets[0] - from->collapsed;
		}
		sketch->collapsed += from->collapsed;
	}
	if (!sketch->count || from->least < sketch->least)
		sketch->least = from->least;
	if (from->largest > sketch->largest)
		sketch->largest = from->largest;
	sketch->zeros += from->zeros;
	sketch->sum = add(sketch->sum, from->sum);
	sketch->count += from->count;
	return 0;
}

/* The rank of a quantile among the values, from 0. */
static uint64_t rank_of(const struct sketch *sketch, double quantile)
{
	return sketch->count ? (uint64_t)(quantile * (double)(sketch->count - 1)) : 0;
}

double sketch_quantile(const struct sketch *sketch, double quantile)
{
	uint64_t rank = rank_of(sketch, quantile), below = sketch->zeros;
	double value = 0;

	if (rank < below)
		return 0;
	for (uint32_t i = 0; i < sketch->bucket_count && below <= rank; i++) {
		below += sketch->buckets[i];
		if (sketch->buckets[i])
			value = value_of(sketch->first + (int32_t)i);
	}
	if (value < (double)sketch->least)
		return (double)sketch->least;
	return value > (double)sketch->largest ? (double)sketch->largest : value;
}

bool sketch_is_bounded(const struct sketch *sketch, double quantile)
{
	uint64_t rank = rank_of(sketch, quantile);

	return rank < sketch->zeros || rank >= sketch->zeros + sketch->collapsed;
}

void sketch_release(struct sketch *sketch)
{
	free(sketch->buckets);
	*sketch = (struct sketch){0};
}
