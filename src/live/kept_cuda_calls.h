/* The newest calls of CUDA and NCCL, kept while a recording is followed, because CUPTI reports
 * their activities later: API records, CUDA_INNER records and launches of graphs, by correlation
 * id. A window has those that its activities name, so a call may be in several windows.
 *
 * Memory: CUDA_CALLS_MOST records, some 100 bytes each; the oldest is forgotten first. Cost: a copy
 * and a look-up in a hash map for each record.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_LIVE_KEPT_CUDA_CALLS_H
#define DAGTAP_LIVE_KEPT_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "live/definitions.h"
#include "record/record.h"

/* CUPTI's buffers hold some 5,000 kernels each, and a few of them are under way. */
#define CUDA_CALLS_MOST 65536

struct cuda_call {
	struct record_header *record; /* a copy, owned */
	uint64_t cid;
	uint32_t tid;
	uint32_t window; /* the last window that it was selected for */
};

struct cuda_calls {
	struct cuda_call *rows; /* a ring; `count` were added in all */
	uint32_t rows_count;
	uint64_t count;
	struct hash_map by_cid;
	size_t bytes; /* of the records */
};

/* The correlation id that RECORD, an API, CUDA_INNER or GRAPH_LAUNCH record, a kernel or a copy of
 * CUDA, has. */
uint64_t cuda_calls_cid(const struct record_header *record);

/* Keeps a copy of RECORD, which thread TID wrote; it uses its scope in DEFINITIONS until it is
 * forgotten. Returns 0 or -ENOMEM. */
int cuda_calls_add(struct cuda_calls *calls, struct definitions *definitions,
		   const struct record_header *record, uint32_t tid);

/* The launch of a graph with the correlation id CID, or by the call around that; NULL: it is not
 * among the newest. Valid until the next record is added. */
const struct record_graph_launch *cuda_calls_find_launch(const struct cuda_calls *calls,
							 uint64_t cid);

/* Selects the call CID, and those around it, for the window that DEFINITIONS makes, with what they
 * refer to. CID may be unknown. */
void cuda_calls_select(struct cuda_calls *calls, struct definitions *definitions, uint64_t cid);

/* Calls TAKE for each record that was selected for WINDOW; TAKE returns 0 or an error, which ends
 * it. Returns 0 or that error. */
int cuda_calls_selected(const struct cuda_calls *calls, uint32_t window,
			int (*take)(void *context, const struct record_header *record,
				    uint32_t tid),
			void *context);

/* Frees all memory. */
void cuda_calls_release(struct cuda_calls *calls);

#endif
