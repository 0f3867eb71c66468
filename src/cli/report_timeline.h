/* The timeline of a report (docs/json.md): of each track the exact time that it was busy, in equal
 * bins over the whole recording; and each row of some windows, with the dependencies between them.
 *
 * Threading: the main thread. */
#ifndef DAGTAP_CLI_REPORT_TIMELINE_H
#define DAGTAP_CLI_REPORT_TIMELINE_H

#include <stdio.h>

#include "analyze/dependencies.h"
#include "analyze/scope_stats.h"

/* An interval of which all rows are written. */
struct report_window {
	char why[96]; /* for people */
	int64_t begin_ns, end_ns;
	bool is_cut; /* it ends earlier than it should, because of rows_most */
};

struct report_windows {
	struct report_window *rows;
	uint32_t count;
	int64_t begin_ns, end_ns; /* of the whole recording; begin == end: nothing has times */
	uint64_t rows_count;	  /* of the whole recording: what a timeline can show */
};

/* Chooses the windows, whose rows together are ROWS_MOST at most, or one each. If the whole
 * recording has no more, it is the one window. Else these: the begin and the end of the GPUs' work,
 * the longest gap in it, and, if STEPS is not NULL, of these the median instance and the longest
 * outlier. Returns 0, -ENOMEM, or -EOVERFLOW: times of a damaged file are
 * too far apart. The caller frees ret_windows->rows. Walks activities, calls and scopes a few
 * times. */
int report_windows_choose(const struct dependencies *deps, const struct scope_stats *steps,
			  uint32_t rows_most, struct report_windows *ret_windows);

/* Writes the timeline as one JSON object, a newline behind it. Returns 0 or a negative errno. */
int report_timeline_write(const struct dependencies *deps, const struct report_windows *windows,
			  FILE *out);

#endif
