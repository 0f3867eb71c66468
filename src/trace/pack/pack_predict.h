/* Inside trace/pack/: how pack_series_write.c and pack_series_read.c predict the number of a row.
 * Both must compute the same predictions, so a change here changes the file format. */
#ifndef DAGTAP_TRACE_PACK_PREDICT_H
#define DAGTAP_TRACE_PACK_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/pack/pack_series.h"

struct pack_method {
	uint8_t reference; /* enum pack_reference */
	uint8_t form;	   /* enum pack_form */
	uint32_t lag;	   /* rows, for PACK_LAG; at least 1 */
};

/* Whether reference ROW (PACK_NO_ROW: none) cannot be used with FORM. The number is then a *first*:
 * it is stored separately, as the difference from the row before. */
static inline bool pack_is_first(uint32_t row, enum pack_form form)
{
	return row == PACK_NO_ROW || (row == 0 && (form == PACK_STEP || form == PACK_PAUSE));
}

/* The reference rows of SERIES by row, or NULL for PACK_LAG, which needs no array. The writer and
 * the reader have made the template references before (pack_refs_template), so this cannot fail. */
static inline const uint32_t *pack_rows_of(const struct pack_series *series,
					   enum pack_reference reference)
{
	if (reference == PACK_KEYED)
		return series->refs->keyed;
	return reference == PACK_TEMPLATE ? pack_refs_template(series->refs) : NULL;
}

/* The reference row of row I, or PACK_NO_ROW. ROWS is what pack_rows_of returned. */
static inline uint32_t pack_row(const uint32_t *rows, uint32_t lag, uint32_t i)
{
	if (rows)
		return rows[i];
	return i >= lag ? i - lag : PACK_NO_ROW;
}

/* The predicted number of row I with reference row R. Row I is not a first; the numbers of row R
 * and of all rows before I are known. */
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

/* Calls LOOP(form) with the form as a constant, so that the compiler makes one loop for each form
 * without a switch inside. */
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
