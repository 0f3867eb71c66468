/* Tables (format/tables/tables.h) through Arrow's C data interface. dagtap/columns.h says what a
 * stream gives; here are its parts.
 *
 * Threading: a stream, and each of the structs below, belongs to one thread at a time. */
#ifndef DAGTAP_FORMAT_ARROW_H
#define DAGTAP_FORMAT_ARROW_H

#include <dagtap/columns.h>

#include "base/strtab.h"
#include "format/tables/tables.h"

/* A column while its batch is filled. */
struct arrow_column {
	const struct table_column *column;
	uint64_t *validity; /* a bit per row; owned */
	void *values;	    /* of a name the int32 index, of a text the int32 offsets; owned */

	/* A name: what `values` has for each number of the column's `text`, plus 1; 0 = not in this
	 * batch yet; ARROW_EMPTY = an empty text. Owned. */
	uint32_t *index_by_number;
	size_t index_room;
	uint32_t *numbers; /* the numbers that this batch has; owned */
	size_t numbers_room;
	uint32_t numbers_count;
	const uint32_t
		*same;	     /* paths of scopes: for each scope the first with that path; or NULL */
	struct strtab names; /* the texts of the batch; number 0, "", is not used */

	char *text; /* a text: the bytes of all rows; owned */
	size_t text_room, text_bytes;
};

#define ARROW_EMPTY UINT32_MAX

/* What each of the threads that fill a batch has of its own. */
struct arrow_worker {
	struct table_reader reader;
	struct table_buffer clean;
};

struct arrow_stream {
	const struct table *table;
	uint64_t row, count; /* the next row, and how many there are */
	struct arrow_column *columns;
	uint32_t columns_count;
	uint32_t *scopes_first;	      /* if a column has paths of scopes: scope_paths_find; owned */
	struct arrow_worker *workers; /* owned, as are the columns */
	unsigned workers_count;
	const char *failure; /* of the last call; "" = none */
};

/* Opens a stream; the contract is that of dagtap_columns_open. */
int arrow_open(const struct trace *trace, const char *table, const char *const *columns,
	       struct ArrowArrayStream *ret_stream, struct dagtap_error *error);

/* Arrow's format of the column's values: of a name that of its texts, "u". Static. */
const char *arrow_format(const struct table_column *column);

/* Makes the schema of STREAM, which the caller releases. Returns 0 or -ENOMEM. */
int arrow_make_schema(const struct arrow_stream *stream, struct ArrowSchema *ret_schema);

/* Makes the next batch of STREAM, which has rows left; the caller releases it. Returns 0 or
 * -ENOMEM. */
int arrow_make_batch(struct arrow_stream *stream, struct ArrowArray *ret_batch);

/* Frees what COLUMN owns. */
void arrow_column_release(struct arrow_column *column);

/* Makes an array of LENGTH values of the BUFFERS_COUNT (1 to 3) buffers, which it takes, also on
 * failure. Returns 0 or -ENOMEM. */
int arrow_make_array(int64_t length, int64_t null_count, void *const *buffers,
		     int64_t buffers_count, struct ArrowArray *ret_array);

/* Makes the dictionary of a column whose batch is complete, in ARRAY. Returns 0 or -ENOMEM. */
int arrow_make_dictionary(const struct arrow_column *column, struct ArrowArray *array);

#endif
