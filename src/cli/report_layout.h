/* The rows of a recording, laid out for a report (report_timeline.h): on tracks, as the exported
 * formats lay them out (format/timeline). Each track is walked once: a row adds its time to the
 * bins of its track, and itself to the windows that it overlaps.
 *
 * Threading: the main thread. */
#ifndef DAGTAP_CLI_REPORT_LAYOUT_H
#define DAGTAP_CLI_REPORT_LAYOUT_H

#include "cli/report_timeline.h"
#include "format/timeline/timeline.h"

/* What fills a bin. The kinds of activities come first, as in enum trace_activity_kind. */
enum report_bin_kind { BIN_KERNEL, BIN_COPY, BIN_MEMSET, BIN_CALL, BIN_SCOPE, BIN_KIND_COUNT };

enum report_track_kind { TRACK_OF_STREAM, TRACK_OF_THREAD, TRACK_OF_RANGES };

struct report_track {
	enum report_track_kind kind;
	uint32_t process;
	uint32_t gpu;	 /* number of the GPU; gpus.host: none */
	uint32_t place;	 /* row of streams or of threads, or TRACE_NONE */
	unsigned number; /* among the tracks of the same place, from 1 */
	uint32_t rows_count;
	int64_t *bins[BIN_KIND_COUNT]; /* owned; NULL: no such row */
};

enum report_table { ROW_ACTIVITY, ROW_CALL, ROW_SCOPE };

struct report_row {
	uint32_t track;
	uint32_t row; /* of its table */
	enum report_table table;
};

/* The rows of a window. */
struct report_window_rows {
	struct report_row *rows;
	uint32_t rows_count;
};

struct report_layout {
	const struct trace *trace;
	const struct report_windows *windows;
	struct timeline timeline;
	struct report_track *tracks;
	uint32_t tracks_count;
	uint32_t bins_count;
	int64_t bin_ns;
	struct report_window_rows *window_rows; /* by window */
	int error;				/* the first one */
};

/* Lays out the rows of TRACE, which must stay, as WINDOWS must. Returns 0 or -ENOMEM; the caller
 * releases RET_LAYOUT in both cases. */
int report_layout_make(const struct trace *trace, const struct report_windows *windows,
		       struct report_layout *ret_layout);

/* Frees everything of LAYOUT, which may be zero. */
void report_layout_release(struct report_layout *layout);

#endif
