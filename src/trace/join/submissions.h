/* Inside trace/: makes rows of activities and barrier packets (submissions.c) from the records that
 * rows.c reads. */
#ifndef DAGTAP_TRACE_SUBMISSIONS_H
#define DAGTAP_TRACE_SUBMISSIONS_H

#include "trace/pack/origin.h"
#include "trace/process_load.h"

/* The types of records that are read. Barrier packets need not be, without the ledger. */
#define SUBMISSION_TYPES                                                                           \
	(ORIGIN_TYPE(RECORD_DISPATCH) | ORIGIN_TYPE(RECORD_COPY) |                                 \
	 ORIGIN_TYPE(RECORD_CUDA_KERNEL) | ORIGIN_TYPE(RECORD_CUDA_COPY))

struct submission_rows;

/* Appends rows for all activities, which submission_rows_read fills; load->call_notes must have
 * their places. Returns 0 or -ENOMEM. The caller releases *RET_ROWS. */
int submission_rows_create(struct process_load *load, struct submission_rows **ret_rows);

/* The threads that may read submissions at the same time, as of workers_run. */
unsigned submission_rows_threads(const struct process_load *load);

/* Begins and ends part PART of the file on the thread NUMBER. Returns 0, or -ESTALE if the part has
 * other records than in the first walk. */
void submission_rows_begin_part(struct submission_rows *rows, unsigned number, uint32_t part);
int submission_rows_end_part(struct submission_rows *rows, unsigned number);

/* Fetches what RECORD, which will be read soon, needs into the CPU's cache. */
void submission_rows_expect(struct submission_rows *rows, unsigned number,
			    const struct record_dispatch *record);

/* Makes a row of the record, if it is of SUBMISSION_TYPES or a barrier packet. Returns 0, -ENOMEM,
 * or -ESTALE if the file changed. */
int submission_rows_read(struct submission_rows *rows, unsigned number,
			 const struct record_header *header);

/* Once all records are read, those of completions too: brings the rows into their final order, and
 * gives them their completions. Errors as above. */
int submission_rows_finish(struct submission_rows *rows);

/* ROWS may be NULL. */
void submission_rows_release(struct submission_rows *rows);

#endif
