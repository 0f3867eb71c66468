/* Inside the packing of records: one field of all rows of a type, as a series of numbers.
 *
 * Each number is predicted from earlier rows; what is stored are the differences, cut into planes of
 * bytes. How it is predicted is chosen for each series by what its differences cost. */
#ifndef DAGTAP_TRACE_PACK_SERIES_H
#define DAGTAP_TRACE_PACK_SERIES_H

#include <stdint.h>

#include "trace/pack/pack_buffer.h"
#include "trace/pack/pack_refs.h"

/* Where the prediction comes from. */
enum pack_reference {
	PACK_PLAIN,	 /* nowhere: the numbers themselves */
	PACK_LAG,	 /* the row so many rows before */
	PACK_KEYED,	 /* pack_refs.h */
	PACK_TEMPLATE,	 /* pack_refs.h */
	PACK_DICTIONARY, /* the numbers' places in a list of all that occur */
	PACK_REFERENCE_COUNT
};

/* What is expected of row i, whose reference is row r. With lengths, a number is the begin of
 * something that ends at number + length. */
enum pack_form {
	PACK_SAME,  /* r's number */
	PACK_STEP,  /* the number of i - 1, and what r added to that of r - 1 */
	PACK_AFTER, /* the end of r */
	PACK_PAUSE, /* the end of i - 1, and what r added to that of r - 1 */
	PACK_FORM_COUNT
};

struct pack_series {
	uint64_t *values;
	const uint64_t *lengths; /* NULL: none */
	struct pack_refs *refs;	 /* NULL: the rows have no key */
	uint32_t count;
	uint32_t lag; /* of a period that the writer believes in; 0 or 1: none */
};

/* Reused from series to series; one block at a time. */
struct pack_series_scratch {
	uint64_t *folded;
	uint64_t *dictionary;
	uint8_t *plane;
	uint32_t room;
	struct pack_map numbers;
	struct pack_buffer firsts;
	bool no_memory; /* what has failed so far, failed for want of it */
};

int pack_series_reserve(struct pack_series_scratch *scratch, uint32_t count); /* 0, -ENOMEM */
void pack_series_release(struct pack_series_scratch *scratch);

/* Failures show in OUT->failed. SCRATCH has room for the series' rows. */
void pack_series_write(struct pack_buffer *out, const struct pack_series *series,
		       struct pack_series_scratch *scratch);

/* Fills series->values and returns true; or false: all are 0, and it has not filled them. Failures show in
 * IN->failed. */
bool pack_series_read(struct pack_cursor *in, const struct pack_series *series,
		      struct pack_series_scratch *scratch);

#endif
