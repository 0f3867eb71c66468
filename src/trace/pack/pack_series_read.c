/* Reads series that pack_series_write.c wrote. The input may be damaged: every value is checked. */
#include <string.h>

#include "trace/pack/pack_predict.h"

#define FIRST_BYTES_MOST 10 /* a first is a 64-bit varint */

static struct pack_method take_method(struct pack_cursor *in, const struct pack_series *series,
				      struct pack_series_scratch *scratch)
{
	uint8_t byte = pack_take_byte(in);
	struct pack_method method = {byte & 15, byte >> 4, 1};

	if (method.reference == PACK_LAG)
		method.lag = (uint32_t)pack_take_size(in, UINT32_MAX - 1);
	if (method.reference >= PACK_REFERENCE_COUNT || method.form >= PACK_FORM_COUNT ||
	    method.lag == 0)
		in->failed = true;
	if ((method.form == PACK_AFTER || method.form == PACK_PAUSE) && !series->lengths)
		in->failed = true;
	if ((method.reference == PACK_KEYED || method.reference == PACK_TEMPLATE) && !series->refs)
		in->failed = true;
	if (!in->failed && method.reference == PACK_TEMPLATE && !pack_refs_template(series->refs)) {
		scratch->no_memory = true;
		in->failed = true;
	}
	return method;
}

/* Returns a cursor over the firsts: in the block itself, or in scratch->firsts if they must be
 * unpacked. */
static struct pack_cursor take_firsts(struct pack_cursor *in, uint32_t count,
				      struct pack_series_scratch *scratch)
{
	size_t size = pack_take_size(in, (size_t)count * FIRST_BYTES_MOST);
	const uint8_t *bytes;

	scratch->firsts.size = 0;
	if (size == 0)
		return (struct pack_cursor){0};
	if (!pack_buffer_extend(&scratch->firsts, size)) {
		scratch->firsts.failed = false;
		scratch->no_memory = true;
		in->failed = true;
		return (struct pack_cursor){0};
	}
	bytes = pack_take_blob(in, size, scratch->firsts.bytes);
	return (struct pack_cursor){.at = bytes, .end = bytes ? bytes + size : NULL};
}

/* Reads the byte planes into scratch->folded. Returns the number of planes. If it is 0, all
 * differences are 0 and scratch->folded is not filled. */
static uint8_t take_planes(struct pack_cursor *in, uint32_t count,
			   struct pack_series_scratch *scratch)
{
	uint64_t *folded = scratch->folded;
	uint8_t width = pack_take_byte(in);

	if (width > 8)
		in->failed = true;
	for (unsigned shift = 0; shift < width * 8u && !in->failed; shift += 8) {
		const uint8_t *plane = pack_take_blob(in, count, scratch->plane);

		if (!plane)
			return 0;
		if (shift == 0) {
			for (uint32_t i = 0; i < count; i++)
				folded[i] = plane[i];
		} else {
			for (uint32_t i = 0; i < count; i++)
				folded[i] |= (uint64_t)plane[i] << shift;
		}
	}
	return width;
}

static inline void unfold_rows(const struct pack_series *series, const struct pack_method *method,
			       enum pack_form form, const uint64_t *folded,
			       struct pack_cursor *firsts)
{
	const uint32_t *rows = pack_rows_of(series, method->reference);
	uint64_t *values = series->values;

	for (uint32_t i = 0; i < series->count; i++) {
		uint32_t r = pack_row(rows, method->lag, i);

		if (pack_is_first(r, form))
			values[i] =
				(i ? values[i - 1] : 0) + pack_unzigzag(pack_take_varint(firsts));
		else
			values[i] = pack_predict(series, form, i, r) + pack_unzigzag(folded[i]);
	}
}

/* PACK_SAME and PACK_STEP with lag 1 are the frequent methods. They keep the value of the row
 * before in a register instead of loading what was just stored. */
static void unfold_same(const struct pack_series *series, const uint64_t *folded,
			struct pack_cursor *firsts)
{
	uint64_t value = pack_unzigzag(pack_take_varint(firsts));

	series->values[0] = value;
	for (uint32_t i = 1; i < series->count; i++) {
		value += pack_unzigzag(folded[i]);
		series->values[i] = value;
	}
}

static void unfold_steps(const struct pack_series *series, const uint64_t *folded,
			 struct pack_cursor *firsts)
{
	uint64_t value = pack_unzigzag(pack_take_varint(firsts));
	uint64_t step = series->count > 1 ? pack_unzigzag(pack_take_varint(firsts)) : 0;

	series->values[0] = value;
	for (uint32_t i = 1; i < series->count; i++) {
		step += pack_unzigzag(i > 1 ? folded[i] : 0);
		value += step;
		series->values[i] = value;
	}
}

static void unfold_dictionary(const struct pack_series *series, struct pack_series_scratch *scratch,
			      struct pack_cursor *firsts)
{
	uint64_t *dictionary = scratch->dictionary;
	uint32_t known = 0;

	for (uint32_t i = 0; i < series->count; i++) {
		uint64_t number = scratch->folded[i];

		if (number > known) {
			firsts->failed = true;
			return;
		}
		if (number == known) {
			dictionary[known] = (known ? dictionary[known - 1] : 0) +
					    pack_unzigzag(pack_take_varint(firsts));
			known++;
		}
		series->values[i] = dictionary[number];
	}
}

static void unfold(const struct pack_series *series, const struct pack_method *method,
		   struct pack_series_scratch *scratch, struct pack_cursor *firsts)
{
	if (method->reference == PACK_PLAIN) {
		memcpy(series->values, scratch->folded, series->count * sizeof(*series->values));
		return;
	}
	if (method->reference == PACK_DICTIONARY) {
		unfold_dictionary(series, scratch, firsts);
		return;
	}
	if (method->reference == PACK_LAG && method->lag == 1 && method->form == PACK_SAME) {
		unfold_same(series, scratch->folded, firsts);
		return;
	}
	if (method->reference == PACK_LAG && method->lag == 1 && method->form == PACK_STEP) {
		unfold_steps(series, scratch->folded, firsts);
		return;
	}
#define UNFOLD(form) unfold_rows(series, method, form, scratch->folded, firsts)
	PACK_FOR_FORM(method->form, UNFOLD);
#undef UNFOLD
}

/* Whether a series without byte planes has only zeros, as most fields of most blocks have. */
static bool is_all_zero(const struct pack_method *method, const struct pack_cursor *firsts)
{
	if (method->reference == PACK_PLAIN)
		return true;
	return method->reference == PACK_LAG && method->lag == 1 && method->form == PACK_SAME &&
	       firsts->at && firsts->end - firsts->at == 1 && *firsts->at == 0;
}

bool pack_series_read(struct pack_cursor *in, const struct pack_series *series,
		      struct pack_series_scratch *scratch)
{
	struct pack_method method = take_method(in, series, scratch);
	struct pack_cursor firsts = {0};
	uint8_t width;

	if (in->failed)
		return true;
	if (method.reference != PACK_PLAIN)
		firsts = take_firsts(in, series->count, scratch);
	width = take_planes(in, series->count, scratch);
	if (in->failed)
		return true;
	if (width == 0 && is_all_zero(&method, &firsts))
		return false;
	if (width == 0)
		memset(scratch->folded, 0, series->count * sizeof(*scratch->folded));
	unfold(series, &method, scratch, &firsts);
	in->failed |= firsts.failed || firsts.at != firsts.end;
	return true;
}
