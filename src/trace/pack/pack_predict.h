/* What pack_series_write.c and pack_series_read.c must agree on, and the loops of both share. */
#ifndef DAGTAP_TRACE_PACK_PREDICT_H
#define DAGTAP_TRACE_PACK_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/pack/pack_series.h"

struct pack_method {
	uint8_t reference; /* enum pack_reference */
	uint8_t form;	   /* enum pack_form */
	uint32_t lag;	   /* of PACK_LAG, at least 1 */
};

/* How often a row is without a reference that the form can use; its number is then a *first*: stored
 * apart, as the difference to the row before. */
static inline bool pack_is_first(uint32_t row, enum pack_form form)
{
	return row == PACK_NO_ROW || (row == 0 && (form == PACK_STEP || form == PACK_PAUSE));
}

static inline const uint32_t *pack_rows_of(const struct pack_series *series,
					   enum pack_reference reference)
{
	if (reference == PACK_KEYED)
		return series->refs->keyed;
	return reference == PACK_TEMPLATE ? pack_refs_template(series->refs) : NULL;
}

static inline uint32_t pack_row(const uint32_t *rows, uint32_t lag, uint32_t i)
{
	if (rows)
		return rows[i];
	return i >= lag ? i - lag : PACK_NO_ROW;
}

/* Row I's number as expected from row R, both before it and not a first. */
static inline uint64_t pack_predict(const struct pack_series *series, enum pack_form form,
				    uint32_t i, uint32_t r)
{
	const uint64_t *values = series->values;
	const uint64_t *lengths = series->lengths;

	switch (form) {
	case PACK_STEP:
		return values[i - 1] + values[r] - values[r - 1];
	case PACK_AFTER:
		return values[r] + lengths[r];
	case PACK_PAUSE:
		return values[i - 1] + lengths[i - 1] + values[r] - values[r - 1] - lengths[r - 1];
	default:
		return values[r];
	}
}

/* Calls LOOP(form) with the form as a constant, so that each gets a loop of its own. */
#define PACK_FOR_FORM(form, LOOP)                                                                  \
	do {                                                                                       \
		switch (form) {                                                                    \
		case PACK_STEP:                                                                    \
			LOOP(PACK_STEP);                                                           \
			break;                                                                     \
		case PACK_AFTER:                                                                   \
			LOOP(PACK_AFTER);                                                          \
			break;                                                                     \
		case PACK_PAUSE:                                                                   \
			LOOP(PACK_PAUSE);                                                          \
			break;                                                                     \
		default:                                                                           \
			LOOP(PACK_SAME);                                                           \
		}                                                                                  \
	} while (0)

#endif
