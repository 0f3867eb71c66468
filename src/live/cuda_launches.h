/* What a process launched on CUDA beside what CUPTI delivered, counted while a recording is
 * followed.
 *
 * Graphs: the launches of each executable graph times those of its nodes that cause activities,
 * against the nodes of which activities came. Such nodes are as many as came of any one launch, and
 * at least as many as are known to be kernels, unless activities of conditional bodies came. Of a
 * graph that is known to have conditional nodes only the kernels outside of their bodies are
 * certain, and compared. Several copies of one node and launch count once, because a copy may be
 * split. Eager kernels: the capture side's count of calls against the kernels that came without a
 * graph.
 *
 * Not compared, and never missing: launches of graphs whose nodes the program switches on and off,
 * of which no node is known, of which several have one correlation id, whose activities name
 * another graph than the launch does, or of which the reader got no record; activities of
 * conditional bodies and of graphs that were launched before the recording; eager copies and
 * memsets, because a call may cause several or none.
 *
 * A launch has certainly ended if a launch of its graph whose call began after its own had returned
 * has brought an activity, or if the host began to wait for its stream or context after that.
 * Activities that came without a correlation id or graph may be any of those that are absent: of
 * what is absent as many count as not ended.
 *
 * Memory: a row for each executable graph, up to CUDA_LAUNCHES_MOST, and a row for each of its
 * copies and memsets, up to CUDA_LAUNCHES_NODES_MOST in all; a row for each stream that was waited
 * for, up to CUDA_LAUNCHES_WAITS_MOST; a row for each thread. An executable graph that was
 * destroyed is added to the sums when all its activities have come, and CUDA_LAUNCHES_HELD
 * activities since the first one that was launched later; or when there is no room for another one:
 * then nothing is told as missing any more. If there is no room, rows of which no launch came are
 * freed, too. Cost: some look-ups in hash maps for each activity and call.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_LIVE_CUDA_LAUNCHES_H
#define DAGTAP_LIVE_CUDA_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/numbers.h"
#include "record/record.h"

#define CUDA_LAUNCHES_MOST	 16384
#define CUDA_LAUNCHES_NODES_MOST (1u << 19)
#define CUDA_LAUNCHES_WAITS_MOST 16384
/* Activities that may come before one that ended earlier, as GRAPH_HISTORY_HELD. */
#define CUDA_LAUNCHES_HELD	 16384

struct trace;
struct launched_exec;
struct launched_wait;

enum delivery_kind { DELIVERY_KERNELS, DELIVERY_COPIES, DELIVERY_MEMSETS, DELIVERY_KIND_COUNT };

struct deliveries {
	bool is_known;		  /* the process uses CUDA; set by live_compare */
	uint64_t graph_launches;  /* that are compared; without those that failed */
	uint64_t kernel_launches; /* eager */
	/* What these must have caused, and what came of it. */
	uint64_t launched[DELIVERY_KIND_COUNT], delivered[DELIVERY_KIND_COUNT];
	uint64_t absent;	      /* the sum of launched, less that of delivered */
	uint64_t unended;	      /* of absent: of launches that nothing shows to have ended */
	uint64_t uncompared_launches; /* of graphs */
	uint64_t uncompared_activities; /* that came, and are not in delivered */
};

/* An executable graph that was destroyed. */
struct launched_gone {
	uint32_t row;
	uint64_t cid;	     /* of the call that destroyed it */
	uint64_t activities; /* that had come before the first one with a later cid */
};

struct cuda_launches {
	struct launched_exec *rows; /* some are free */
	uint32_t rows_count;
	struct hash_map by_id; /* rows in use */
	uint32_t *free_rows;
	size_t free_count, free_room;
	uint32_t nodes_count;			       /* of all rows */
	struct launched_gone gone[CUDA_LAUNCHES_MOST]; /* a ring */
	/* Of those before gone_passed an activity with a later cid has come. */
	uint64_t gone_first, gone_passed, gone_end;

	struct numbers wait_keys; /* (context, stream) of waits */
	struct launched_wait *waits;
	uint32_t waits_count;
	struct numbers threads; /* (0, tid) of calls */
	uint64_t *last_calls;	/* cids, by thread */
	uint32_t last_calls_count;
	/* By function, from RECORD_CUDA_FUNCTION_FIRST on: enum called. */
	uint8_t called[RECORD_CUDA_FUNCTION_END - RECORD_CUDA_FUNCTION_FIRST];
	int64_t eager_end_ns; /* when the last call that launched a kernel returned; 0: none */
	uint64_t contexts[2]; /* of activities and waits; the second: any other */

	uint64_t activities;	/* that have come */
	uint64_t last_cid;	/* the largest one of an activity */
	uint64_t eager;		/* kernels that came without a graph */
	uint64_t unnamed;	/* kernels and nodes that came without a call or graph */
	uint64_t launches;	/* that have come, and those before them */
	uint64_t failed;	/* launches of graphs that failed */
	uint64_t nodes_most;	/* activities of a launch of any exec, at most */
	bool is_any_switched;	/* a node of an unknown exec was switched */
	bool is_crowded;	/* an exec was added to the sums to make room */
	bool has_folded;	/* an exec was added to the sums */
	uint64_t freed_at;	/* activities when rows without launches were last freed */
	struct deliveries sums; /* of execs that are no more */
};

/* What the capture side has counted up to its last tick (record/witnesses.h). */
struct cuda_launch_witnesses {
	uint64_t graph_launches, launches_failed, kernel_launches;
};

/* Frees all memory. LAUNCHES may be zero, which is empty. */
void cuda_launches_release(struct cuda_launches *launches);

/* Takes a step in the life of a graph. Returns 0 or -ENOMEM. */
int cuda_launches_add_step(struct cuda_launches *launches, const struct record_cuda_graph *step);

/* Takes a launch of a graph. Returns 0 or -ENOMEM. */
int cuda_launches_add_launch(struct cuda_launches *launches,
			     const struct record_graph_launch *launch);

/* Takes a kernel, copy or memset. LAUNCH: the launch with its correlation id, NULL: not
 * known. Returns 0 or -ENOMEM. */
int cuda_launches_add_activity(struct cuda_launches *launches, const struct record_header *record,
			       const struct record_graph_launch *launch);

/* Learns what a function does. A call of one whose name has not come is no wait, and may be a
 * launch. */
void cuda_launches_add_name(struct cuda_launches *launches, const struct record_api_name *name);

/* Takes a call of CUDA by thread TID. LAUNCH: the launch of a graph that it made, or NULL.
 * Returns 0 or -ENOMEM. */
int cuda_launches_add_call(struct cuda_launches *launches, const struct record_api *api,
			   const struct record_graph_launch *launch, uint32_t tid);

/* Learns from WINDOW, which was loaded with the steps of graphs, which nodes are kernels. */
void cuda_launches_learn(struct cuda_launches *launches, const struct trace *window);

/* Compares what was launched so far with what came. Cost: reads all rows. */
void cuda_launches_count(const struct cuda_launches *launches,
			 const struct cuda_launch_witnesses *witnesses, struct deliveries *ret);

#endif
