/* Inside trace/: fills the rows of barrier packets from records that come in any order.
 * submissions.c uses it. */
#ifndef DAGTAP_TRACE_BARRIERS_H
#define DAGTAP_TRACE_BARRIERS_H

#include "trace/process_load.h"

struct barriers {
	struct process_load *load;
	uint8_t *is_filled; /* by row */
	/* Some records are of one packet, so one thread reads them. */
	bool has_duplicates;
};

/* barriers_init makes a row for each packet in load->raw.barrier_ids. Returns 0 or -ENOMEM; call
 * barriers_release in both cases. barriers_add fills the row of RECORD; for two records of one
 * packet the earlier submission counts. Returns 0, or -ESTALE if the packet is not in barrier_ids
 * (the file changed); any number of threads may call it if no two records are of one packet, else
 * one. barriers_are_complete: every row was filled. */
int barriers_init(struct barriers *barriers, struct process_load *load);
int barriers_add(struct barriers *barriers, const struct record_barrier *record);
bool barriers_are_complete(const struct barriers *barriers);
void barriers_release(struct barriers *barriers);

#endif
