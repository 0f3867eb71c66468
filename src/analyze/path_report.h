/* Sums up the critical paths of windows: time by kind, by kernel and by wait, and the paths
 * themselves, shortened for reading. */
#ifndef DAGTAP_ANALYZE_PATH_REPORT_H
#define DAGTAP_ANALYZE_PATH_REPORT_H

#include "analyze/path_window.h"
#include "base/numbers.h"

/* Activities on paths that have the same name (kernels) or direction (copies). */
struct path_work {
	uint32_t activity; /* one of them */
	uint8_t kind;	   /* PATH_KERNEL, PATH_COPY, PATH_MEMSET */
	bool is_collective;
	uint64_t count;
	int64_t total_ns; /* on the paths */
	/* How much shorter the paths would be if these activities took no time, and each waiter
	 * waited for its second latest source instead. */
	int64_t slack_ns;
};

/* Waits of the same kind on paths: work of one stream, or a call, waited for work of another
 * stream. */
struct path_wait {
	/* Activity that was waited for. It, ACTIVITY, CALL and VIA are of one of the waits. */
	uint32_t from;
	uint32_t activity; /* that waited, or TRACE_NONE */
	uint32_t call;	   /* that waited, or TRACE_NONE */
	uint32_t via;	   /* index into trace.waits, or TRACE_NONE */
	uint8_t cause;	   /* enum dependency_kind */
	uint64_t count;
	int64_t total_ns; /* sum of path_step.lead_ns, where it is known */
};

/* An activity and the gap before it, or time of the host. Equal consecutive segments are merged. */
struct path_segment {
	int64_t begin_ns, end_ns; /* with the gap before the first activity */
	int64_t gap_ns;		  /* sum of the gaps */
	uint64_t count;		  /* steps that were merged */
	uint32_t window;	  /* index into the windows */
	uint32_t activity;	  /* of the first step, or TRACE_NONE */
	uint32_t call;		  /* of the last step, or TRACE_NONE */
	uint32_t from, via;	  /* of the first step (struct path_step) */
	uint8_t kind, gap_kind;	  /* enum path_kind */
	uint8_t cause;		  /* enum dependency_kind, of the first step */
};

/* The part of the paths that is of one process. */
struct path_process {
	int64_t total_ns;
	uint64_t last;	    /* collectives for which other ranks on the paths waited for it */
	int64_t held_up_ns; /* by which it began these later than the last rank but one */
};

struct path_report {
	const struct dependencies *deps;
	int64_t total_ns; /* of all paths */
	int64_t kind_ns[PATH_KIND_COUNT];
	/* Part of kind_ns, for gaps: the GPU of the activity after the gap ran other work. */
	int64_t busy_ns[PATH_KIND_COUNT];
	int64_t collective_ns; /* part of kind_ns[PATH_KERNEL]: collective kernels */
	uint64_t steps;
	struct path_work *works; /* longest first, after path_report_finish */
	uint32_t works_count;
	struct path_wait *waits; /* longest first, after path_report_finish */
	uint32_t waits_count;
	struct path_segment *segments; /* in the order of added windows, then of time */
	uint32_t segments_count;
	struct path_process *processes; /* by process, after the first path_report_add */
	uint32_t processes_count;
	struct numbers work_keys, wait_keys; /* number of a key: index into works, waits */
};

/* Starts an empty report. Borrows DEPS. */
void path_report_init(struct path_report *report, const struct dependencies *deps);

/* Adds PATH, which is that of window AT. 0 or -ENOMEM. */
int path_report_add(struct path_report *report, const struct path_windows *windows, uint32_t at,
		    const struct path *path);

/* Sorts works and waits. Call it once, after the last path_report_add. */
void path_report_finish(struct path_report *report);
void path_report_release(struct path_report *report);

#endif
