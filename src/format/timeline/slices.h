/* Writes the rows of a list in the order of time, on tracks that can show only proper nesting.
 *
 * Perfetto's tracks are stacks: a slice must end before the slice around it ends. A row that
 * overlaps otherwise goes to a further track of its list, so that no time is changed and no row is
 * lost. The layout is that of track.h; but the rows of all tracks come in one order of time, and
 * their ends are told as well.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_TIMELINE_SLICES_H
#define DAGTAP_FORMAT_TIMELINE_SLICES_H

#include "format/timeline/track_rows.h"

struct slice {
	uint32_t list;	   /* index into rows.lists */
	uint32_t subtrack; /* number of the track among those of its list, from 0 */
	uint32_t row;
	/* the row that mostly comes ROWS_AHEAD rows later, or ROWS_NONE: for prefetching */
	uint32_t ahead;
	struct rows_time time;
};

/* The functions of a writer. */
struct slices_output {
	bool flat; /* no nesting: rows that overlap at all are on different tracks */
	/* Called before the first slice of a track, with this slice. */
	void (*begin_track)(void *context, const struct slice *first);
	/* Called for each row, in the order of time. */
	void (*begin_slice)(void *context, const struct slice *slice);
	/* Called when the innermost open slice of a track ends; may be NULL. The begins and ends of
	 * a track come in nesting order; those of different tracks are not in order of time. */
	void (*end_slice)(void *context, uint32_t list, uint32_t subtrack, int64_t ns);
	void *context;
};

/* Sorts list LIST of ROWS and calls the functions of OUTPUT for its rows. Returns 0, or -ENOMEM
 * after some calls were made. */
int slices_put(const struct rows *rows, size_t list, const struct slices_output *output);

#endif
