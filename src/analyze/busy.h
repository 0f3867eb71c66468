/* How long each GPU had anything to do: what a gap on one stream has to be seen beside. Asked in the order
 * of time, it takes one walk through the activities and no memory for them. */
#ifndef DAGTAP_ANALYZE_BUSY_H
#define DAGTAP_ANALYZE_BUSY_H

#include "analyze/path.h"
#include "analyze/starts.h"

/* The stretch in which a GPU was busy last, and all before it. */
struct busy_gpu {
	int64_t begin_ns, end_ns;
	int64_t before_ns;
	bool is_begun;
};

struct busy {
	const struct starts *starts;
	uint32_t next, stop;   /* into its order */
	struct busy_gpu *gpus; /* by agent */
};

/* In a window. 0 or -ENOMEM; to be released either way. */
int busy_init(struct busy *busy, const struct starts *starts, const struct path_window *window);
void busy_release(struct busy *busy);

/* Of the time between two moments, neither of which is before the ones that were asked for last. */
int64_t busy_within(struct busy *busy, uint32_t agent, int64_t begin_ns, int64_t end_ns);

#endif
