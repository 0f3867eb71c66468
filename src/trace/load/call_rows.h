/* Inside trace/: makes rows of calls (call_rows.c) from the records that rows.c reads. */
#ifndef DAGTAP_TRACE_CALL_ROWS_H
#define DAGTAP_TRACE_CALL_ROWS_H

#include "trace/process_load.h"

struct call_rows;

/* Appends the rows of all calls, which call_rows_read fills. Returns 0 or -ENOMEM. The caller
 * releases *RET_ROWS. */
int call_rows_create(struct process_load *load, struct call_rows **ret_rows);

/* The threads that may read API records at the same time, as of workers_run: 1 if records have
 * equal ids, because which of them counts may depend on their order. */
unsigned call_rows_threads(const struct call_rows *rows);

/* Fills the row of RECORD, which the thread TID wrote; WORKER and PART as of origin_share. Returns
 * 0, -ENOMEM, -E2BIG, or -ESTALE if the file changed. */
int call_rows_read(struct call_rows *rows, unsigned worker, uint32_t part,
		   const struct record_api *record, uint32_t tid);

/* Ends a part that was read. Returns 0, -ENOMEM or -E2BIG. */
int call_rows_end_part(struct call_rows *rows, uint32_t part);

/* Once all parts are read: puts together what is in the order of the file. Errors as above. */
int call_rows_finish(struct call_rows *rows);

/* ROWS may be NULL. */
void call_rows_release(struct call_rows *rows);

#endif
