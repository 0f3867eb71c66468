/* Inside analyze/: a table of a summary while it is made, or a piece of one. summary.c shares the
 * pieces among threads and puts them together. */
#ifndef DAGTAP_ANALYZE_SUMMARY_MAKING_H
#define DAGTAP_ANALYZE_SUMMARY_MAKING_H

#include "analyze/spread.h"
#include "analyze/summary_rows.h"

#define MAKING_SEEN 256

/* Zero but for trace, by, parts, paths and times is an empty table. */
struct making {
	const struct trace *trace;
	enum summary_by by;
	const struct summary_parts *parts; /* NULL: each activity is described alone */
	const struct summary_paths *paths; /* by scope: of all scopes */
	struct summary_work_time *times;   /* by work kind; NULL: they are not asked for */
	uint32_t piece;			   /* the piece's number, from 1 on; only with times */

	struct numbers keys;	  /* numbers the keys of rows */
	struct summary_row *rows; /* by number */
	uint32_t rows_count;
	struct spread spread; /* of the rows' durations */

	struct numbers cells; /* numbers pairs of row and part */
	int64_t *cell_ns;
	uint32_t cell_ns_count;

	/* Keys that were seen lately, and the numbers of their rows, + 1; 0: the slot is free. */
	struct {
		uint64_t key;
		uint32_t number;
	} seen[MAKING_SEEN];
};

/* Adds the activities from FIRST to END, by call the calls. 0 or -ENOMEM. */
int making_add(struct making *making, uint32_t first, uint32_t end);

/* Adds the rows of PIECE to MAKING, but for their durations. RET_NUMBERS gets, by row of PIECE, the
 * number of the row in MAKING. 0 or -ENOMEM. */
int making_take(struct making *making, const struct making *piece, uint32_t *ret_numbers);

/* Adds the durations of all parts, those without activities too. 0 or -ENOMEM. */
int making_add_parts(struct making *making);

/* Names and sorts the rows, which go to RET_TABLE. 0, or -ENOMEM with RET_TABLE unchanged. */
int making_finish(struct making *making, struct summary_table *ret_table);

/* Frees all that MAKING holds, also when it was not finished. */
void making_release(struct making *making);

#endif
