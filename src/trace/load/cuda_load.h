/* Inside trace/: loads what CUPTI recorded of a process's NVIDIA GPUs.
 *
 * CUPTI reports finished activities in any order, and identifies streams, graphs and nodes by its
 * own ids. call_rows.c and submissions.c make rows of CUDA's calls and activities together with
 * HIP's; this folder holds what only CUDA needs. All functions run on the loading thread; the
 * stages run once per process, in the order of the list in ingest.c. */
#ifndef DAGTAP_TRACE_CUDA_H
#define DAGTAP_TRACE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idset.h"
#include "record/record.h"
#include "trace/clock_fit.h"
#include "trace/graph/cuda_captures.h"
#include "trace/load/cuda_handles.h"
#include "trace/trace_model.h"

struct process_load;
struct origin_walk;

/* A node of a graph or of an exec that CUPTI has named; the index is the rank of its id.
 * cuda_graphs_load fills the array, with the state after the last step; cuda_naming.c sets exec,
 * place and is_inlined. */
struct cuda_node {
	uint64_t id;	   /* CUPTI's */
	uint64_t scope;	   /* of the call that made it */
	uint64_t ns;	   /* host time at which it was made */
	uint64_t cid;	   /* of the call that made it */
	uint64_t gone_cid; /* of the call that destroyed it; valid if is_gone */
	uint32_t graph;	   /* rank of its graph; TRACE_NONE: only activities name it */
	uint32_t original; /* node that it was cloned from, or TRACE_NONE */
	/* Next node of the same graph in the order of making, or TRACE_NONE. */
	uint32_t next;
	/* First graph that it holds: index + 1 into cuda_building.held, 0 = none. */
	uint32_t held;
	uint32_t exec;	/* row of the exec for which PLACE is valid, or TRACE_NONE */
	uint32_t place; /* index into trace.nodes */
	uint32_t index; /* in the snapshot that is being made; a mark in cuda_unseen_graphs.c */
	uint8_t type;	/* enum record_node_type */
	uint8_t ran;	/* type of the activities that name it, or RECORD_NODE_UNTOLD */
	bool is_gone;
	/* PLACE was found by counting, as CUPTI reports no step of this node */
	bool is_inlined;
};

/* CUDA's part of a process that is being loaded. */
struct cuda_load {
	/* By cuda_stream_key(): the rank is the row, from stream_first. */
	struct idset streams;
	/* Cids of calls that were made inside other calls. */
	struct idset inner_ids;
	struct idset node_ids, graph_ids; /* CUPTI's */
	/* Ids of execs whose nodes were enabled or disabled; 0 = unknown exec. */
	struct idset switched;
	uint64_t devices;      /* a bit for each device below 64 that ran a kernel or copy */
	uint64_t call_records; /* records of CUDA's calls */
	uint64_t nccl_records; /* records of calls of NCCL or RCCL */
	/* By rank of inner_ids: cid of the call around it. */
	uint64_t *outer;
	uint32_t stream_first; /* row of the first of CUDA's streams */
	/* CUPTI's clock to host time; one for all devices */
	struct clock_fit clock;
	uint32_t clock_hint; /* for clock_fit_convert */
	/* CUPTI was not asked for waits and event records: call_events.c finds them */
	bool waits_from_calls;
	struct cuda_handles handles;
	struct cuda_node *nodes; /* by rank of node_ids */
	struct cuda_captures captures;
	/* Row + 1 of the exec for which nodes have their places; 0 = none. */
	uint32_t exec_entered;
};

/* Key of a stream, which CUPTI numbers within its context; also of an event. */
static inline uint64_t cuda_stream_key(uint32_t context, uint32_t stream)
{
	return (uint64_t)context << 32 | stream;
}

/* Whether an API record is of a CUDA call. */
static inline bool cuda_is_call(const struct record_header *header)
{
	return header->tag >= RECORD_CUDA_FUNCTION_FIRST && header->tag < RECORD_CUDA_FUNCTION_END;
}

static inline bool cuda_is_nccl_call(const struct record_header *header)
{
	return header->tag >= RECORD_RCCL_FUNCTION_FIRST &&
	       header->tag < RECORD_CUDA_FUNCTION_FIRST;
}

/* Called for each record in the first walk: adds the ids of a CUDA record (types from CUDA_KERNEL
 * on) to the sets. 0 or -ENOMEM. */
int cuda_learn(struct cuda_load *cuda, const struct record_header *header);

/* Moves what FROM, a struct of another thread of the first walk, has learned to CUDA. 0 or
 * -ENOMEM. */
int cuda_merge(struct cuda_load *cuda, struct cuda_load *from);

/* Called once after the first walk; ranks are valid from then on. 0 or -ENOMEM. */
int cuda_finish_sets(struct cuda_load *cuda);

/* A stage, before the streams: learns which calls are inside others, which streams handles stand
 * for and where waits are known from, and fits CUPTI's clock. 0 or -ENOMEM. */
int cuda_load(struct process_load *load);

/* A stage, after graphs and launches: sets activities_expected of each CUDA call. A kernel launch
 * that was not captured is expected to bring 1 activity, a graph launch one for each node that
 * brings any, a launch that failed or was captured 0. TRACE_NONE: not known, as for all other
 * calls. 0 or -ENOMEM. */
int cuda_expect_load(struct process_load *load);

/* Counts the calls that launched a kernel of which CUPTI brought no activity. Captured launches are
 * not among them. Call after cuda_expect_load. */
uint64_t cuda_count_untimed(const struct process_load *load);

/* Sets the kind of each of CUDA's stream rows, as far as records tell it. streams_load calls it
 * once the rows exist. */
void cuda_tell_streams(struct process_load *load);

/* A stage, after the graphs: makes rows of event records, waits and overhead. 0 or -ENOMEM. */
int cuda_events_load(struct process_load *load);

/* A stage, after graph_records_load and before graphs_load: from the steps of graphs' lives, adds
 * graphs as they were when execs were made of them to the input of graphs. 0 or -ENOMEM. */
int cuda_graphs_load(struct process_load *load);

/* A stage, after join_load: removes the times of activities that contradict the order of their
 * stream, and adds messages that name the longest of them. 0 or -ENOMEM. */
int cuda_impossible_load(struct process_load *load);

/* A stage, after graphs_load and before naming_load: activities of conditional nodes' bodies name
 * no call; each is given to the launch of its exec that was running. Moves activities within the
 * table. 0 or -ENOMEM. */
int cuda_bodies_load(struct process_load *load);

void cuda_load_release(struct cuda_load *cuda); /* frees what the struct owns */

/* Whether the process used CUDA. Valid after the first walk. */
static inline bool cuda_is_there(const struct cuda_load *cuda)
{
	return cuda->call_records || cuda->streams.count;
}

/* The cid of the outermost call around the call CID, which has the row in trace.calls; CID itself
 * if it is inside no other. */
uint64_t cuda_outer_cid(const struct cuda_load *cuda, uint64_t cid);

/* The row of the outermost call around the call CID; TRACE_NONE: it has no row. */
uint32_t cuda_find_call(const struct process_load *load, uint64_t cid);

/* Converts a time stamp of CUPTI to host ns. 0: TIME is 0, or there are too few anchors for a
 * clock. */
int64_t cuda_host_ns(struct cuda_load *cuda, uint64_t time);

/* Index into cuda->nodes of the node with CUPTI's ID, or TRACE_NONE. */
static inline uint32_t cuda_node_rank(const struct cuda_load *cuda, uint64_t id)
{
	return id ? idset_find(&cuda->node_ids, id) : TRACE_NONE;
}

/* The row of a device, by CUPTI's number, and of a stream, by CUPTI's numbers. TRACE_NONE: there is
 * no such row. cuda_find_stream also notes context and stream in the row it finds. */
uint32_t cuda_find_agent(const struct process_load *load, uint32_t device);
uint32_t cuda_find_stream(struct process_load *load, uint32_t context, uint32_t stream);

/* Fill an activity row from its record. 0 or -ENOMEM. Until cuda_finish_rows, the row of a graph
 * node has the id of its exec in queue, the id of its node in id, and TRACE_CONFIDENCE_UNKNOWN. */
int cuda_fill_kernel(struct process_load *load, const struct record_cuda_kernel *record,
		     struct trace_activity *ret_row);
int cuda_fill_copy(struct process_load *load, const struct record_cuda_copy *record,
		   struct trace_activity *ret_row);

/* Whether nodes of EXEC (a row, or TRACE_NONE) were enabled or disabled, or nodes of an exec that
 * the records do not name. */
bool cuda_is_switched(const struct process_load *load, uint32_t exec);

/* Index into trace.nodes of the node with CUPTI's ID in the graph of EXEC, a row; TRACE_NONE: the
 * graph has no such node. Call after graphs_load. Fast while calls ask for the same exec as
 * before. */
uint32_t cuda_find_node(struct process_load *load, uint32_t exec, uint64_t id);

/* Sets node and confidence of COUNT rows of one launch of EXEC. True: CUPTI's ids name the nodes of
 * all of them; false: some nodes are unknown, or are known by counting or by time only. */
bool cuda_name_rows(struct process_load *load, uint32_t exec, struct trace_activity *rows,
		    uint32_t count);

/* Call once, after all launches: names rows whose launch has no record, and resets the queue field
 * of all CUDA rows. */
void cuda_finish_rows(struct process_load *load);

#endif
