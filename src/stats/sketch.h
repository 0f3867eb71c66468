/* A quantile sketch of durations: DDSketch (Masson, Rim, Lee: "DDSketch", VLDB 2019), with integer
 * counts in logarithmic buckets.
 *
 * Bucket I holds the values in (gamma^(I-1), gamma^I], gamma = (1 + SKETCH_ERROR) / (1 -
 * SKETCH_ERROR). A quantile is the middle of its bucket: it differs from the exact one by at most
 * SKETCH_ERROR of that. Count, sum, least and largest value are exact. Two sketches merge by adding
 * their buckets, and the result is that of all values in one sketch.
 *
 * Memory: 8 bytes for each bucket between the least and the largest value, at most
 * SKETCH_BUCKETS_MOST of them, which span a factor of 7.8 * 10^8. If values are further apart, the
 * lowest buckets are collapsed into one: `collapsed` counts their values. The error bound does not
 * hold for quantiles among them, which sketch_is_bounded tells.
 *
 * Threading: one thread at a time. Cost of a value: a logarithm. */
#ifndef DAGTAP_STATS_SKETCH_H
#define DAGTAP_STATS_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKETCH_ERROR	    0.01
#define SKETCH_BUCKETS_MOST 1024
/* The bucket of the largest 64-bit value is 2218. */
#define SKETCH_BUCKET_LAST  2219

/* Zero is an empty sketch. */
struct sketch {
	uint64_t count; /* values, zeros included */
	uint64_t sum;	/* stays at UINT64_MAX if it does not fit */
	uint64_t least, largest;
	uint64_t zeros;	    /* values of 0, which have no bucket */
	uint64_t collapsed; /* values in the lowest bucket that belong to a lower one */
	uint64_t *buckets;  /* owned; counts of the buckets from `first` on */
	int32_t first;
	uint32_t bucket_count;
};

/* Adds a value. Returns 0, or -ENOMEM with the sketch unchanged. */
int sketch_add(struct sketch *sketch, uint64_t value);

/* Adds COUNT values of bucket INDEX (0 to SKETCH_BUCKET_LAST) without their sum and bounds, for a
 * reader that has those. Returns 0, -EINVAL for another index or too many values, or -ENOMEM. */
int sketch_add_bucket(struct sketch *sketch, int32_t index, uint64_t count);

/* Adds all values of FROM. Returns 0, or -ENOMEM with the sketch unchanged. */
int sketch_merge(struct sketch *sketch, const struct sketch *from);

/* The value of which the share QUANTILE (0 to 1) of all values is at most as large: that with the
 * rank floor(QUANTILE * (count - 1)) from 0. 0 if there are none. */
double sketch_quantile(const struct sketch *sketch, double quantile);

/* Whether the error bound holds for this quantile. */
bool sketch_is_bounded(const struct sketch *sketch, double quantile);

/* Makes the sketch empty; keeps nothing. */
void sketch_release(struct sketch *sketch);

#endif
