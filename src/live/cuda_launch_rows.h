/* Inside live: the rows of cuda_launches.h, by executable graph, the waits of the host, and their
 * sums. cuda_launches.c fills them from records.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_LIVE_CUDA_LAUNCH_ROWS_H
#define DAGTAP_LIVE_CUDA_LAUNCH_ROWS_H

#include "live/cuda_launches.h"

#define LAUNCHED_IN_CONTEXT    UINT64_MAX /* stands for all streams of a context */
/* In contexts[1] of struct cuda_launches. */
#define LAUNCHED_OTHER_CONTEXT 1

struct launched_node {
	uint64_t cid; /* of the newest launch in which an activity of it came */
};

struct launched_exec {
	uint64_t id;
	uint64_t named_at; /* cuda_launches.activities when a record last named it */
	uint64_t launches, failed;
	uint64_t open; /* launches whose record came, and whose call has not returned */
	/* Launches below this number have ended, if it is not below `unordered`. */
	uint64_t ended;
	uint64_t ended_came; /* nodes that came of the launch with this number */
	/* The newest launch that has returned: its number + 1, where, and its begin. */
	uint64_t last_count, last_context, last_stream;
	int64_t last_begin_ns;
	int64_t last_end_ns;		      /* when the last call that launched it returned */
	uint64_t unordered;		      /* launches below this number may run in any order */
	uint64_t came[DELIVERY_KIND_COUNT];   /* nodes of launches */
	uint64_t newest_cid;		      /* the largest one of an activity */
	uint64_t newest_kernel;		      /* the first kernel node that came of it */
	uint32_t newest[DELIVERY_KIND_COUNT]; /* nodes that came of that launch */
	uint32_t most[DELIVERY_KIND_COUNT];   /* of the launch of which most came, while newest */
	uint32_t kernels;		      /* nodes that are known to be kernels */
	uint64_t unnamed; /* activities without a correlation id or node, as those of bodies */
	bool has_bodies;  /* a node is known to be conditional */
	bool is_in_use;
	/* Nodes were switched, there was no room for them, launches share a correlation id, or
	 * activities name another id of the exec. */
	bool is_uncompared;
	bool is_gone;
	struct numbers nodes; /* (0, id) of copies and memsets */
	struct launched_node *node_rows;
	uint32_t node_rows_count;
};

struct launched_wait {
	int64_t begin_ns; /* of the newest one that succeeded */
};

/* The row of the exec ID; NULL: it has none. Rows move when one is added. */
struct launched_exec *launched_exec_find(const struct cuda_launches *launches, uint64_t id);

/* Sets *RET_EXEC to the row of ID, which is added if need be, or to NULL if there are too many.
 * Returns 0 or -ENOMEM. */
int launched_exec_get(struct cuda_launches *launches, uint64_t id, struct launched_exec **ret_exec);

/* The number of activities that a launch of EXEC causes, as far as it is known. */
uint64_t launched_exec_nodes(const struct launched_exec *exec);

/* The number of launches of EXEC that certainly ended. */
uint64_t launched_exec_ended(const struct cuda_launches *launches,
			     const struct launched_exec *exec);

/* The host began to wait for STREAM, or LAUNCHED_IN_CONTEXT. Returns 0 or -ENOMEM. */
int launched_wait_note(struct cuda_launches *launches, uint64_t context, uint64_t stream,
		       int64_t begin_ns);

/* EXEC was destroyed by the call CID, 0: not known. */
void launched_exec_gone(struct cuda_launches *launches, struct launched_exec *exec, uint64_t cid);

/* An activity of the call CID has come. Adds destroyed execs to the sums of which all has come and
 * no activity may come any more, and frees their rows. Returns 0 or -ENOMEM. */
int launched_pass(struct cuda_launches *launches, uint64_t cid);

#endif
