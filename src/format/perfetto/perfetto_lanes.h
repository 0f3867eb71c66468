/* Slices on tracks that can only show proper nesting.
 *
 * Perfetto's CPU tracks are stacks: a slice must end before the one around it does. Slices that
 * overlap otherwise go to a further lane of their own, so that no time has to be changed and none
 * is lost. */
#ifndef DAGTAP_FORMAT_PERFETTO_LANES_H
#define DAGTAP_FORMAT_PERFETTO_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	uint32_t group; /* thread: lanes are laid out for each group alone */
	uint32_t index; /* the caller's row */
	int64_t begin_ns;
	int64_t end_ns; /* taken for begin_ns when it is before it */
};

struct lanes_output {
	bool flat; /* no nesting at all: what overlaps is on different lanes */
	void (*begin)(void *context, const struct slice *slice, uint32_t lane);
	/* In every lane the ends and begins come in an order that nests. */
	void (*end)(void *context, uint32_t group, uint32_t lane, int64_t ns);
	void *context;
};

/* Sorts SLICES and puts them out. 0 or -ENOMEM. */
int lanes_put(struct slice *slices, size_t count, const struct lanes_output *output);

#endif
