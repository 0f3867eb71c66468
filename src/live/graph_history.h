/* The records of graphs, kept while a recording is followed: which graphs were made executable,
 * their nodes and edges, and updates of nodes. A window with a launch is loaded with all of them,
 * so its activities have their graph nodes, as in the whole recording.
 *
 * Memory: the records, up to a limit. Those beyond it are left out and counted; activities of their
 * graphs then have no node. Cost: loading a window with a launch reads all records that are kept.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_LIVE_GRAPH_HISTORY_H
#define DAGTAP_LIVE_GRAPH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers.h"
#include "record/record.h"

struct graph_record {
	struct record_header *record; /* a copy, owned */
	uint32_t tid;
};

struct graph_history {
	size_t most_bytes; /* set by the owner; 0: nothing is kept */
	struct graph_record *rows;
	uint32_t rows_count;
	size_t bytes;
	uint64_t left_out;    /* records for which there was no room */
	struct numbers execs; /* (whether CUDA's, id) of the executable graphs */
};

/* Whether records of TYPE belong here. */
bool graph_history_has_type(enum record_type type);

/* Keeps a copy of RECORD, which thread TID wrote. Returns 0 or -ENOMEM. */
int graph_history_add(struct graph_history *history, const struct record_header *record,
		      uint32_t tid);

/* Whether the executable graph, IS_CUDA: one of CUDA's, has come, or nothing is kept. */
bool graph_history_has_exec(const struct graph_history *history, bool is_cuda, uint64_t exec_id);

/* Calls TAKE for each record in the order in which they came; TAKE returns 0 or an error, which
 * ends it. Returns 0 or that error. */
int graph_history_selected(const struct graph_history *history,
			   int (*take)(void *context, const struct record_header *record,
				       uint32_t tid),
			   void *context);

/* Frees all memory. */
void graph_history_release(struct graph_history *history);

#endif
