/* Selects the activities and calls that the user asks for. Commands that show some of a trace use
 * this one filter. */
#ifndef DAGTAP_ANALYZE_FILTER_H
#define DAGTAP_ANALYZE_FILTER_H

#include <stdbool.h>

#include "analyze/held_memory.h"
#include "trace/trace_model.h"

#define FILTER_ANY UINT32_MAX /* as stream and device */

/* A moment: in host ns, or in ns since the first call or activity of the trace. */
struct filter_time {
	bool is_given, is_relative;
	int64_t ns;
};

/* TIME in host ns, of a trace that begins at BEGIN_NS (path_bounds). OTHERWISE: TIME is not
 * given. */
int64_t filter_moment(const struct filter_time *time, int64_t begin_ns, int64_t otherwise);

/* What is wanted. An activity must satisfy all conditions. Initialise it with FILTER_ALL. */
struct filter {
	const char *kernel; /* kernels whose name is this or matches it as fnmatch() does */
	const char *scope;  /* what is in a scope that matches, or in one inside it */
	/* What overlaps [from, to); of a trace's activities only timed ones. */
	struct filter_time from, to;
	uint32_t stream; /* ordinal */
	uint32_t device; /* GPU ordinal */
};

#define FILTER_ALL ((struct filter){.stream = FILTER_ANY, .device = FILTER_ANY})

/* By index, whether the row is selected. */
struct selection {
	bool *activities, *calls;
	uint32_t activities_count, calls_count; /* that are selected */
};

/* Whether FILTER selects less than everything. */
bool filter_is_given(const struct filter *filter);

/* Selects rows of TRACE. A call is selected with an activity that it caused; if neither kernel,
 * stream nor device is given, also where it satisfies the other conditions itself. An activity is
 * in the scopes of its launch and in that of its graph node. The caller releases RET_SELECTION. 0,
 * or -ENOMEM with RET_SELECTION unchanged. */
int filter_select(const struct trace *trace, const struct filter *filter,
		  struct selection *ret_selection);
/* Marks in IS_SELECTED, by block, the allocations that FILTER, which has no kernel, selects: whose
 * life overlaps its time, and which were made in its scope, on its stream, and of its device's
 * memory. Sets *RET_COUNT to their number. 0 or -ENOMEM. */
int filter_select_blocks(const struct trace *trace, const struct filter *filter,
			 const struct memory_blocks *blocks, bool *is_selected,
			 uint32_t *ret_count);

/* Frees what SELECTION owns and empties it. */
void selection_release(struct selection *selection);

#endif
