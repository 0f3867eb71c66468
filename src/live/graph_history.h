/* The records of graphs, kept while a recording is followed: which graphs were made executable,
 * their nodes and edges, and updates of nodes. A window with a launch is loaded with all of them,
 * so its activities have their graph nodes, as in the whole recording.
 *
 * Memory: the records, up to a limit. When they take a quarter of it, each time that an eighth of
 * it has come, what no later record needs is forgotten: an executable graph that was destroyed, its
 * graph with the child graphs, and updates of a node that later ones replaced. Records beyond the
 * limit are left out and counted; activities of their graphs then have no node. Cost: loading a
 * window with a launch reads all records that are kept.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_LIVE_GRAPH_HISTORY_H
#define DAGTAP_LIVE_GRAPH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers.h"
#include "record/record.h"

/* Activities of CUDA that may come before one that ended earlier: CUPTI returns full buffers, some
 * 5,000 kernels each, and has a few of them. */
#define GRAPH_HISTORY_HELD 16384

struct trace;

struct graph_record {
	struct record_header *record; /* a copy, owned */
	uint64_t activities;	      /* of CUDA, that had come before it */
	uint32_t tid;
};

struct graph_history {
	size_t most_bytes; /* set by the owner; 0: nothing is kept */
	struct graph_record *rows;
	uint32_t rows_count;
	size_t bytes;
	size_t fresh_bytes;   /* that came since the last eviction, left out ones included */
	uint64_t left_out;    /* records for which there was no room */
	uint64_t activities;  /* of CUDA, that have come; counted by the owner */
	struct numbers execs; /* (whether CUDA's, id) of the executable graphs */
};

/* An executable graph that a record names which was not given out yet. */
struct graph_pending {
	uint64_t exec;
	uint64_t cid; /* of its oldest launch; of CUDA: not used */
};

struct graph_pendings {
	struct numbers execs; /* (whether CUDA's, id) of rows */
	struct graph_pending *rows;
	uint32_t rows_count;
};

/* Whether records of TYPE belong here. */
bool graph_history_has_type(enum record_type type);

/* Keeps a copy of RECORD, which thread TID wrote. Returns 0 or -ENOMEM. */
int graph_history_add(struct graph_history *history, const struct record_header *record,
		      uint32_t tid);

/* Whether the executable graph, IS_CUDA: one of CUDA's, has come, or nothing is kept. */
bool graph_history_has_exec(const struct graph_history *history, bool is_cuda, uint64_t exec_id);

typedef bool graph_exec_test(const void *context, bool is_cuda, uint64_t exec_id);

/* Forgets that the executable graphs have come for which IS_FORGOTTEN is true. Those stay whose
 * records were left out. For the two evictions. Returns 0, or -ENOMEM with all of them kept. */
int graph_history_forget_execs(struct graph_history *history, graph_exec_test *is_forgotten,
			       const void *context);

/* Whether it is time for graph_history_evict, or, if the process uses CUDA,
 * graph_history_evict_cuda. */
bool graph_history_is_due(const struct graph_history *history);

/* Forgets what is dead of HIP's graphs: what was destroyed or replaced before BEFORE_NS, host time,
 * and is not among PENDINGS. Returns 0 or -ENOMEM. Cost: some look-ups in hash maps for each
 * record. */
int graph_history_evict(struct graph_history *history, const struct graph_pendings *pendings,
			uint64_t before_ns);

/* The same for CUDA's graphs. Those that were cloned from each other or made in one call are
 * forgotten together, when all of them are destroyed and GRAPH_HISTORY_HELD activities have come
 * since. WINDOW is a trace that was loaded with the records as they are now: graphs that stay keep
 * the ids that they have there. */
int graph_history_evict_cuda(struct graph_history *history, const struct graph_pendings *pendings,
			     uint64_t before_ns, const struct trace *window);

/* Calls TAKE for each record in the order in which they came; TAKE returns 0 or an error, which
 * ends it. Returns 0 or that error. */
int graph_history_selected(const struct graph_history *history,
			   int (*take)(void *context, const struct record_header *record,
				       uint32_t tid),
			   void *context);

/* Frees all memory. */
void graph_history_release(struct graph_history *history);

#endif
