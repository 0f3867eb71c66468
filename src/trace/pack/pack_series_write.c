/* Chooses the method of a series by its estimated size on a sample of the rows, and writes the
 * series. pack_series_read.c reverses it. */
#include <stddef.h>

#include "trace/pack/pack_predict.h"

/* The sample is this number of stretches of consecutive rows. */
#define SAMPLES	     8
#define SAMPLE_ROWS  64
#define SAMPLED_MOST (SAMPLES * SAMPLE_ROWS)

/* Estimated cost of a first in addition to the bits of its difference. */
#define FIRST_BITS 8

/* A dictionary is tried only if every other method needs at least this many bits per row. */
#define DICTIONARY_BITS_LEAST 9

struct sample {
	uint32_t first[SAMPLES];
	uint32_t count;
	uint32_t rows; /* of each stretch */
};

static struct sample make_sample(uint32_t count)
{
	struct sample sample = {.count = 1, .rows = count};

	if (count <= SAMPLED_MOST)
		return sample;
	sample.count = SAMPLES;
	sample.rows = SAMPLE_ROWS;
	/* Skips the first rows: there, few rows have a reference yet. */
	for (uint32_t i = 0; i < SAMPLES; i++)
		sample.first[i] = (uint32_t)((uint64_t)(count - SAMPLE_ROWS) * (i + 1) / SAMPLES);
	return sample;
}

static uint64_t bits_of(uint64_t folded)
{
	return folded ? 65u - (uint64_t)__builtin_clzll(folded) : 0;
}

static uint64_t row_before(const struct pack_series *series, uint32_t i)
{
	return i ? series->values[i - 1] : 0;
}

static inline uint64_t cost_of_rows(const struct pack_series *series,
				    const struct pack_method *method, enum pack_form form,
				    const struct sample *sample)
{
	const uint32_t *rows = pack_rows_of(series, method->reference);
	const uint64_t *values = series->values;
	uint64_t bits = 0;

	for (uint32_t s = 0; s < sample->count; s++) {
		uint32_t end = sample->first[s] + sample->rows;

		for (uint32_t i = sample->first[s]; i < end; i++) {
			uint32_t r = pack_row(rows, method->lag, i);

			if (pack_is_first(r, form))
				bits += FIRST_BITS +
					bits_of(pack_zigzag(values[i] - row_before(series, i)));
			else
				bits += bits_of(
					pack_zigzag(values[i] - pack_predict(series, form, i, r)));
		}
	}
	return bits;
}

static uint64_t cost_of_plain(const struct pack_series *series, const struct sample *sample)
{
	uint64_t bits = 0;

	for (uint32_t s = 0; s < sample->count; s++)
		for (uint32_t i = 0; i < sample->rows; i++)
			bits += bits_of(series->values[sample->first[s] + i]);
	/* Numbers that are ids (of a call, of a kernel) repeat in patterns that zstd compresses, so
	 * the estimate is reduced by a quarter. */
	return bits - bits / 4;
}

static uint64_t cost_of(const struct pack_series *series, const struct pack_method *method,
			const struct sample *sample)
{
	uint64_t bits = 0;

	if (method->reference == PACK_PLAIN)
		return cost_of_plain(series, sample);
#define COST(form) bits = cost_of_rows(series, method, form, sample)
	PACK_FOR_FORM(method->form, COST);
#undef COST
	return bits;
}

/* Estimates the cost from the number of different numbers in the sample. UINT64_MAX: more than half
 * of the rows have a number of their own, or memory ran out. */
static uint64_t cost_of_dictionary(const struct pack_series *series, const struct sample *sample,
				   struct pack_map *numbers)
{
	uint64_t rows = (uint64_t)sample->count * sample->rows;
	uint64_t bits = 0;

	pack_map_clear(numbers);
	for (uint32_t s = 0; s < sample->count; s++) {
		for (uint32_t i = 0; i < sample->rows; i++) {
			uint64_t value = series->values[sample->first[s] + i];
			uint32_t known = numbers->used;

			if (!pack_map_take(numbers, value))
				return UINT64_MAX;
			if (numbers->used > known)
				bits += FIRST_BITS + bits_of(value);
			if (numbers->used > rows / 2)
				return UINT64_MAX;
		}
	}
	return bits + rows * bits_of(numbers->used);
}

static const struct candidate {
	uint8_t reference;
	uint8_t form;
	bool is_lag;	   /* uses the lag of the series; false: a lag of 1 */
	bool is_of_begins; /* needs lengths */
} candidates[] = {
	{PACK_LAG, PACK_SAME, false, false},	  {PACK_KEYED, PACK_SAME, false, false},
	{PACK_TEMPLATE, PACK_SAME, false, false}, {PACK_LAG, PACK_SAME, true, false},
	{PACK_PLAIN, PACK_SAME, false, false},	  {PACK_LAG, PACK_AFTER, false, true},
	{PACK_KEYED, PACK_AFTER, false, true},	  {PACK_LAG, PACK_STEP, false, false},
	{PACK_KEYED, PACK_STEP, false, false},	  {PACK_TEMPLATE, PACK_STEP, false, false},
	{PACK_LAG, PACK_STEP, true, false},	  {PACK_KEYED, PACK_PAUSE, false, true},
	{PACK_TEMPLATE, PACK_PAUSE, false, true}, {PACK_LAG, PACK_PAUSE, true, true},
};

static bool is_possible(const struct candidate *candidate, const struct pack_series *series)
{
	if (candidate->is_of_begins && !series->lengths)
		return false;
	if (candidate->is_lag && (series->lag <= 1 || series->lag >= series->count))
		return false;
	if (candidate->reference == PACK_TEMPLATE)
		return series->refs && pack_refs_template(series->refs);
	return candidate->reference != PACK_KEYED || series->refs;
}

static struct pack_method choose(const struct pack_series *series, struct pack_map *numbers)
{
	struct sample sample = make_sample(series->count);
	struct pack_method best = {PACK_LAG, PACK_SAME, 1};
	uint64_t best_bits = UINT64_MAX;

	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates) && best_bits; i++) {
		const struct candidate *candidate = &candidates[i];
		struct pack_method method = {candidate->reference, candidate->form,
					     candidate->is_lag ? series->lag : 1};
		uint64_t bits;

		if (!is_possible(candidate, series))
			continue;
		bits = cost_of(series, &method, &sample);
		if (bits < best_bits) {
			best = method;
			best_bits = bits;
		}
	}
	if (best_bits >= (uint64_t)sample.count * sample.rows * DICTIONARY_BITS_LEAST &&
	    cost_of_dictionary(series, &sample, numbers) < best_bits)
		best = (struct pack_method){PACK_DICTIONARY, PACK_SAME, 1};
	return best;
}

static inline void fold_rows(const struct pack_series *series, const struct pack_method *method,
			     enum pack_form form, struct pack_series_scratch *scratch)
{
	const uint32_t *rows = pack_rows_of(series, method->reference);
	const uint64_t *values = series->values;

	for (uint32_t i = 0; i < series->count; i++) {
		uint32_t r = pack_row(rows, method->lag, i);

		if (pack_is_first(r, form)) {
			pack_put_varint(&scratch->firsts,
					pack_zigzag(values[i] - row_before(series, i)));
			scratch->folded[i] = 0;
		} else {
			scratch->folded[i] =
				pack_zigzag(values[i] - pack_predict(series, form, i, r));
		}
	}
}

static void fold_dictionary(const struct pack_series *series, struct pack_series_scratch *scratch)
{
	uint64_t last = 0;

	pack_map_clear(&scratch->numbers);
	for (uint32_t i = 0; i < series->count; i++) {
		uint32_t known = scratch->numbers.used;
		struct pack_map_entry *entry = pack_map_take(&scratch->numbers, series->values[i]);

		if (!entry) {
			scratch->firsts.failed = true;
			return;
		}
		scratch->folded[i] = entry->number - 1;
		if (entry->number <= known)
			continue;
		pack_put_varint(&scratch->firsts, pack_zigzag(entry->key - last));
		last = entry->key;
	}
}

/* Puts what is stored of each row into scratch->folded and scratch->firsts. */
static void fold(const struct pack_series *series, const struct pack_method *method,
		 struct pack_series_scratch *scratch)
{
	scratch->firsts.size = 0;
	if (method->reference == PACK_DICTIONARY) {
		fold_dictionary(series, scratch);
		return;
	}
	if (method->reference == PACK_PLAIN) {
		for (uint32_t i = 0; i < series->count; i++)
			scratch->folded[i] = series->values[i];
		return;
	}
#define FOLD(form) fold_rows(series, method, form, scratch)
	PACK_FOR_FORM(method->form, FOLD);
#undef FOLD
}

static void put_planes(struct pack_buffer *out, uint32_t count,
		       const struct pack_series_scratch *scratch)
{
	const uint64_t *folded = scratch->folded;
	uint64_t any = 0;
	uint8_t width = 0;

	for (uint32_t i = 0; i < count; i++)
		any |= folded[i];
	for (; any; any >>= 8)
		width++;
	pack_put_byte(out, width);
	for (unsigned shift = 0; shift < width * 8u; shift += 8) {
		for (uint32_t i = 0; i < count; i++)
			scratch->plane[i] = (uint8_t)(folded[i] >> shift);
		pack_put_blob(out, scratch->plane, count);
	}
}

void pack_series_write(struct pack_buffer *out, const struct pack_series *series,
		       struct pack_series_scratch *scratch)
{
	struct pack_method method = choose(series, &scratch->numbers);

	fold(series, &method, scratch);
	pack_put_byte(out, (uint8_t)(method.reference | method.form << 4));
	if (method.reference == PACK_LAG)
		pack_put_varint(out, method.lag);
	if (method.reference != PACK_PLAIN) {
		pack_put_varint(out, scratch->firsts.size);
		pack_put_blob(out, scratch->firsts.bytes, scratch->firsts.size);
	}
	put_planes(out, series->count, scratch);
	out->failed |= scratch->firsts.failed;
	scratch->firsts.failed = false;
}
