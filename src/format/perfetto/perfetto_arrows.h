/* The arrows of a Perfetto file: which activity waited for which. They come from a graph's edges,
 * within each launch of it, and from streams' waits for events. Stream order gives no arrows,
 * because the tracks show it. */
#ifndef DAGTAP_FORMAT_PERFETTO_ARROWS_H
#define DAGTAP_FORMAT_PERFETTO_ARROWS_H

#include "trace/trace_model.h"

struct perfetto_arrow {
	uint32_t from, to; /* indices into trace.activities; TO waited for FROM */
};

struct perfetto_arrows {
	/* by `to`; of equal ones in the order in which they were found */
	struct perfetto_arrow *rows;
	uint32_t count;
	/* by activity: first row in which it is `to`; its rows end where those of the next
	 * activity begin */
	uint32_t *first_to;
	/* the same for `from`: from_rows holds indices into rows */
	uint32_t *first_from, *from_rows;
};

/* Finds all arrows of TRACE. Returns 0 or -ENOMEM; then nothing is left to release. Memory: 8
 * bytes an activity and 12 an arrow; more while it searches. */
int perfetto_arrows_init(struct perfetto_arrows *arrows, const struct trace *trace);

/* Frees the arrays. Accepts a zeroed or released struct. */
void perfetto_arrows_release(struct perfetto_arrows *arrows);

#endif
