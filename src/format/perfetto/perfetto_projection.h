/* The GPU projections of a Perfetto file (perfetto_parts.h): for each process and GPU tracks with
 * its scopes and graph replays, from the first start to the last end of the work that each caused.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_PERFETTO_PROJECTION_H
#define DAGTAP_FORMAT_PERFETTO_PROJECTION_H

#include "format/timeline/projection.h"
#include "format/timeline/timeline.h"

/* A place of the projection is process * (gpus.count + 1) + GPU. */
struct perfetto_projection {
	struct projection projection;
	/* By scope, then by launch: first index into `rows`, of its rows in the projection; those
	 * of the next one follow. */
	uint32_t *first, *rows;
};

/* Projects the timed activities. Returns 0 or -ENOMEM; then nothing is left to release. */
int perfetto_projection_init(struct perfetto_projection *projection,
			     const struct timeline *timeline);

/* Frees the arrays. Accepts a zeroed or released struct. */
void perfetto_projection_release(struct perfetto_projection *projection);

#endif
