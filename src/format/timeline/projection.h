/* GPU projections: for each scope and each place, the time from the first start to the last end of
 * the activities that the scope, and the scopes inside it, caused there. A place is what the writer
 * shows a scope on: a stream, or a GPU.
 *
 * A caller that wants it has graph launches too, each inside the scope of its call. What is
 * projected is therefore numbered: scopes by their index, then launches.
 *
 * Threading: a struct projection belongs to one thread. */
#ifndef DAGTAP_FORMAT_TIMELINE_PROJECTION_H
#define DAGTAP_FORMAT_TIMELINE_PROJECTION_H

#include "base/hash_map.h"
#include "format/timeline/track_rows.h"
#include "trace/trace_model.h"

struct projected {
	uint32_t what; /* index into scopes, or scopes_count plus an index into launches */
	uint32_t place;
	/* 1 + index of the row of what is around it, at the same place; 0 = none */
	uint32_t parent;
	int64_t begin_ns, end_ns;
};

struct projection {
	const struct trace *trace; /* borrowed */
	struct projected *rows;	   /* owned */
	uint32_t count;
	struct hash_map map; /* of `rows`, by what and place */
	uint32_t *last;	     /* by place: 1 + index of the row that was last looked up */
	uint32_t places;
};

/* An empty projection onto PLACES places. Returns 0 or -ENOMEM; then nothing is left to release. */
int projection_init(struct projection *projection, const struct trace *trace, uint32_t places);

/* Adds the TIME of an activity that WHAT caused at PLACE. Returns 0 or -ENOMEM. Cost: a comparison
 * if the last activity of the place had the same cause, else a hash lookup. */
int projection_add(struct projection *projection, uint32_t what, uint32_t place,
		   struct rows_time time);

/* Adds what is around the rows, after all activities have been added. Returns 0 or -ENOMEM. */
int projection_finish(struct projection *projection);

/* Frees the memory. Accepts a zeroed or released struct. */
void projection_release(struct projection *projection);

static inline bool projected_is_scope(const struct projection *projection,
				      const struct projected *row)
{
	return row->what < projection->trace->scopes_count;
}

/* The launch that ROW is about; it is about no scope. */
static inline const struct trace_launch *projected_launch(const struct projection *projection,
							  const struct projected *row)
{
	return &projection->trace->launches[row->what - projection->trace->scopes_count];
}

/* The time of row ROW of projection.rows; a rows_time_of. */
static inline struct rows_time projected_time(const void *table, uint32_t row)
{
	const struct projected *projected = (const struct projected *)table + row;

	return (struct rows_time){projected->begin_ns, projected->end_ns};
}

#endif
