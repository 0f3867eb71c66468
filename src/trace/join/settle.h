/* Inside trace/: brings the activities that submissions.c has placed into their final order. */
#ifndef DAGTAP_TRACE_SETTLE_H
#define DAGTAP_TRACE_SETTLE_H

#include "trace/process_load.h"

/* Until a row has its final place, two of its fields hold what settle needs: the rank of its id,
 * and of which kind its completion is. */
#define FIELD_RANK    launch
#define FIELD_IS_COPY node
#define NO_COMPLETION 2 /* CUPTI's activities come finished */

/* Sorts the activities of each call, which are all there; gives them their completions, and numbers
 * the work kinds in the order of the activities that use them. Rows keep the old numbers until
 * join_load, which visits each row anyway, gives them the new ones of load->work_numbering. THREADS
 * as of workers_run: 1 if ids are equal, because the first row in order has the completion. Returns
 * 0 or -ENOMEM. */
int settle(struct process_load *load, unsigned threads);

#endif
