/* Which work waited for which: by a graph's edges within each launch of it, and by a stream's waits for
 * events. Stream order is not among them: the tracks show it. */
#ifndef DAGTAP_FORMAT_PERFETTO_ARROWS_H
#define DAGTAP_FORMAT_PERFETTO_ARROWS_H

#include "trace/model.h"

struct perfetto_arrow {
	uint32_t from, to; /* activities */
};

struct perfetto_arrows {
	struct perfetto_arrow *rows; /* by (to, as they were found) */
	uint32_t count;
	uint32_t *first_to;		  /* by activity: its rows, up to those of the next */
	uint32_t *first_from, *from_rows; /* the same for those that begin at it: numbers of rows */
};

/* 0 or -ENOMEM. */
int perfetto_arrows_init(struct perfetto_arrows *arrows, const struct trace *trace);
void perfetto_arrows_release(struct perfetto_arrows *arrows);

#endif
