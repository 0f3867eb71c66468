/* What the paths of some windows come to: time by kind, by kernel, by whom was waited for, and the paths
 * themselves, shortened to be read. */
#ifndef DAGTAP_ANALYZE_PATH_REPORT_H
#define DAGTAP_ANALYZE_PATH_REPORT_H

#include "analyze/groups.h"
#include "analyze/path_window.h"

/* Work of one name. */
struct path_work {
	uint32_t activity; /* one of them */
	uint8_t kind;	   /* PATH_KERNEL, PATH_COPY, PATH_MEMSET */
	bool is_collective;
	uint64_t count;
	int64_t total_ns;
	int64_t slack_ns; /* by so much the path would be shorter if none of them took time, and each
			     time what was over next were waited for instead */
};

/* One stream's work, or a call, waited for another stream's. */
struct path_wait {
	uint32_t from;	   /* activity waited for: one of them */
	uint32_t activity; /* that waited, or TRACE_NONE */
	uint32_t call;	   /* that waited, or TRACE_NONE */
	uint32_t via;	   /* a wait, or TRACE_NONE */
	uint8_t cause;	   /* enum dependency_kind */
	uint64_t count;
	int64_t total_ns; /* by so much what was waited for was later than all else */
};

/* Work and the gap before it; or time of the host. Equal ones after each other are one. */
struct path_segment {
	int64_t begin_ns, end_ns;
	int64_t gap_ns; /* of it */
	uint64_t count;
	uint32_t window;   /* index into the windows */
	uint32_t activity; /* the first, or TRACE_NONE */
	uint32_t call;	   /* the last, or TRACE_NONE */
	uint32_t from, via;
	uint8_t kind, gap_kind; /* enum path_kind */
	uint8_t cause;		/* enum dependency_kind, of the first */
};

struct path_report {
	const struct dependencies *deps;
	int64_t total_ns;
	int64_t kind_ns[PATH_KIND_COUNT];
	/* Of it, of gaps: while the GPU of the work that came after had other work. */
	int64_t busy_ns[PATH_KIND_COUNT];
	int64_t collective_ns; /* of the kernels' */
	uint64_t steps;
	struct path_work *works; /* longest first */
	uint32_t works_count;
	struct path_wait *waits; /* longest first */
	uint32_t waits_count;
	struct path_segment *segments; /* by window, in the order of time */
	uint32_t segments_count;
	struct groups work_keys, wait_keys;
};

void path_report_init(struct path_report *report, const struct dependencies *deps);

/* Adds the path of window AT. 0 or -ENOMEM. */
int path_report_add(struct path_report *report, const struct path_windows *windows, uint32_t at,
		    const struct path *path);

/* Sorts the tables; nothing is to be added afterwards. */
void path_report_finish(struct path_report *report);
void path_report_release(struct path_report *report);

#endif
