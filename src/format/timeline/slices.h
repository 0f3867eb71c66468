/* Lays out slices on tracks that can show only proper nesting.
 *
 * Perfetto's tracks are stacks: a slice must end before the slice around it ends. A slice that
 * overlaps otherwise goes to a further track of the same group, so that no time is changed and no
 * slice is dropped. `subtrack` is the number of the track in its group, from 0. The Kineto writer
 * uses the same layout for waits. Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_TIMELINE_SLICES_H
#define DAGTAP_FORMAT_TIMELINE_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	/* each group has tracks of its own; for calls the group is the thread */
	uint32_t group;
	uint32_t index; /* the caller's row; not interpreted */
	int64_t begin_ns;
	int64_t end_ns; /* if it is before begin_ns, begin_ns is used instead */
};

struct slices_output {
	bool flat; /* no nesting: slices that overlap at all are on different tracks */
	/* Called when a slice begins, in the order of (group, begin). */
	void (*begin)(void *context, const struct slice *slice, uint32_t subtrack);
	/* Called when the innermost open slice of a track ends. The begins and ends of a track
	 * come in nesting order; those of different tracks are not in order of time. */
	void (*end)(void *context, uint32_t group, uint32_t subtrack, int64_t ns);
	void *context;
};

/* Sorts SLICES in place and calls the functions of OUTPUT for each of them. Returns 0, or -ENOMEM
 * after some calls were made. */
int slices_put(struct slice *slices, size_t count, const struct slices_output *output);

#endif
