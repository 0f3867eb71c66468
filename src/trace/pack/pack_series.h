/* Inside trace/pack/: writes and reads one field of all rows of a group, as a series of numbers.
 *
 * Each number is predicted from earlier rows. The series stores the differences from the
 * predictions, zigzag-folded and split into byte planes (all low bytes, then all second bytes, and
 * so on), each a blob. The writer estimates the size of the differences of each possible method on
 * a sample and stores the method with the series. */
#ifndef DAGTAP_TRACE_PACK_SERIES_H
#define DAGTAP_TRACE_PACK_SERIES_H

#include <stdint.h>

#include "trace/pack/pack_buffer.h"
#include "trace/pack/pack_refs.h"

/* The row from which a number is predicted. The values are part of the file format. */
enum pack_reference {
	PACK_PLAIN,	 /* none: the numbers themselves are stored */
	PACK_LAG,	 /* the row a fixed number of rows before */
	PACK_KEYED,	 /* the keyed reference (pack_refs.h) */
	PACK_TEMPLATE,	 /* the template reference (pack_refs.h) */
	PACK_DICTIONARY, /* none: indices into a list of the different numbers are stored */
	PACK_REFERENCE_COUNT
};

/* The prediction for row i with reference row r. If the series has lengths, its numbers are begins,
 * and the end of a row is number + length. The values are part of the file format. */
enum pack_form {
	PACK_SAME,  /* value[r] */
	PACK_STEP,  /* value[i - 1] + (value[r] - value[r - 1]) */
	PACK_AFTER, /* end[r] */
	PACK_PAUSE, /* end[i - 1] + (value[r] - end[r - 1]) */
	PACK_FORM_COUNT
};

/* Borrows its arrays. */
struct pack_series {
	uint64_t *values;	 /* by row; pack_series_read fills them */
	const uint64_t *lengths; /* by row; NULL: the numbers are not begins */
	struct pack_refs *refs;	 /* NULL: the rows have no key */
	uint32_t count;		 /* rows, at least 1 */
	/* For the writer: a period of the rows to try; 0 or 1: none. */
	uint32_t lag;
};

/* Working memory for series, used again for each series. Starts zeroed. */
struct pack_series_scratch {
	uint64_t *folded;	   /* by row: the stored difference */
	uint64_t *dictionary;	   /* the different numbers of a series, by index */
	uint8_t *plane;		   /* by row: one byte of each difference */
	uint32_t room;		   /* rows for which the three arrays have room */
	struct pack_map numbers;   /* for the writer: number to dictionary index */
	struct pack_buffer firsts; /* the encoded firsts of a series (pack_predict.h) */
	/* The reader failed because memory ran out; the caller clears it. */
	bool no_memory;
};

/* Makes room for series of COUNT rows. 0 or -ENOMEM. The contents of the arrays are lost. */
int pack_series_reserve(struct pack_series_scratch *scratch, uint32_t count);
void pack_series_release(struct pack_series_scratch *scratch);

/* Appends SERIES to OUT. Failures set OUT->failed. SCRATCH must have room for the rows. */
void pack_series_write(struct pack_buffer *out, const struct pack_series *series,
		       struct pack_series_scratch *scratch);

/* Reads a series. True: series->values is filled, or IN->failed is set. False: all numbers are 0
 * and series->values is unchanged, so that the caller may skip them. SCRATCH must have room for the
 * rows. If memory ran out, scratch->no_memory is set as well. */
bool pack_series_read(struct pack_cursor *in, const struct pack_series *series,
		      struct pack_series_scratch *scratch);

#endif
