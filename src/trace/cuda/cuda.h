/* Inside trace/: what is known of a process's NVIDIA GPUs while its records are loaded.
 *
 * CUPTI brings finished activities, in any order, that name what they belong to by its own ids. Most
 * become rows in the walks that HIP's take (calls.c, submissions.c); here is what only they need. */
#ifndef DAGTAP_TRACE_CUDA_H
#define DAGTAP_TRACE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/clock.h"
#include "trace/cuda/cuda_captures.h"
#include "trace/idset.h"
#include "trace/model.h"

struct process_load;
struct origin_walk;

/* A graph node in the process's life, by the rank of its id. */
struct cuda_node {
	uint64_t id;
	uint64_t scope;
	uint64_t ns;
	uint64_t cid;	   /* of the call that made it */
	uint64_t gone_cid; /* of the call in which it went, if it is gone */
	uint32_t graph;	   /* rank; TRACE_NONE: it is known from activities alone */
	uint32_t original; /* node that it was cloned from, or TRACE_NONE */
	uint32_t next;	   /* of the same graph, in the order in which they were made */
	uint32_t held;	   /* what graphs it holds, in cuda_building; 0 = none */
	uint32_t exec;	   /* that has it in its graph: what PLACE is valid for */
	uint32_t place;	   /* index into trace.nodes */
	uint32_t index;	   /* in the snapshot that is being made */
	uint8_t type;	   /* enum record_node_type */
	uint8_t ran;	   /* the type of what it ran, whatever it was in its life */
	bool is_gone;
	bool is_inlined; /* PLACE by counting: CUPTI tells nothing of it */
};

struct cuda_load {
	struct idset streams;	/* by cuda_stream_key(): the rank is the row, from stream_first */
	struct idset inner_ids; /* calls inside others */
	struct idset node_ids, graph_ids;
	struct idset switched; /* ids of execs of which nodes were switched on or off, 0 = of any */
	uint64_t call_records; /* of CUDA's calls */
	uint64_t *outer;       /* by rank of inner_ids */
	uint32_t stream_first;
	struct clock_fit clock;
	uint32_t clock_hint;
	struct cuda_node *nodes; /* by rank of node_ids */
	struct cuda_captures captures;
	uint32_t exec_entered; /* + 1: whose graph the places of nodes are in */
};

static inline uint64_t cuda_stream_key(uint32_t context, uint32_t stream)
{
	return (uint64_t)context << 32 | stream;
}

/* Of an API record. */
static inline bool cuda_is_call(const struct record_header *header)
{
	return header->tag >= RECORD_CUDA_OP_FIRST && header->tag < RECORD_CUDA_OP_END;
}

/* In the first walk: the ids of records of CUDA, from CUDA_KERNEL on. 0 or -ENOMEM. */
int cuda_learn(struct cuda_load *cuda, const struct record_header *header);
int cuda_finish_sets(struct cuda_load *cuda);

/* A stage: the calls that are inside others, and the clock. */
int cuda_load(struct process_load *load);

/* Sets what each call of CUDA's is expected to bring: a launch that was not captured 1, a graph
 * launch the activities of its nodes, one that failed or was captured 0; TRACE_NONE where it is not
 * known, and of all other calls. When graphs and launches are there. 0 or -ENOMEM. */
int cuda_expect_load(struct process_load *load);

/* Calls that launched a kernel which CUPTI did not bring: no activity names them, and none of them was recorded as a
 * graph's node. */
uint64_t cuda_count_barren(const struct process_load *load);

/* What kind each of CUPTI's streams is, as far as it was told. */
void cuda_tell_streams(struct process_load *load);

/* A stage: event records, waits, memory operations, overhead. */
int cuda_events_load(struct process_load *load);

/* A stage, before the graphs': graphs as they were when their execs were made of them, as the records
 * that a snapshot would have left. */
int cuda_graphs_load(struct process_load *load);

/* A stage, when activities have met their calls: those whose times contradict the order of their
 * stream lose them, with a message each. 0 or -ENOMEM. */
int cuda_impossible_load(struct process_load *load);

/* A stage, between the graphs' and their names: activities of conditional nodes' bodies, which name
 * no call, go to the launch of their exec that was running. 0 or -ENOMEM. */
int cuda_bodies_load(struct process_load *load);

void cuda_load_release(struct cuda_load *cuda);

static inline bool cuda_is_there(const struct cuda_load *cuda)
{
	return cuda->call_records || cuda->streams.count;
}

/* The call that is meant: the outermost one. */
uint64_t cuda_outer_cid(const struct cuda_load *cuda, uint64_t cid);

/* Host ns of CUPTI's, 0 without a clock. */
int64_t cuda_host_ns(struct cuda_load *cuda, uint64_t time);

/* Index into cuda->nodes, TRACE_NONE if nothing has this id. */
static inline uint32_t cuda_node_rank(const struct cuda_load *cuda, uint64_t id)
{
	return id ? idset_find(&cuda->node_ids, id) : TRACE_NONE;
}

/* Rows, TRACE_NONE if there is none. */
uint32_t cuda_find_agent(const struct process_load *load, uint32_t device);
uint32_t cuda_find_stream(struct process_load *load, uint32_t context, uint32_t stream);

/* Fill what the record says of its activity: 0 or -ENOMEM. Until its launch is known a graph's row has
 * its exec's id for a queue, its node's id for an id, and the confidence TRACE_CONFIDENCE_UNKNOWN. */
int cuda_fill_kernel(struct process_load *load, const struct record_cuda_kernel *record,
		     struct trace_activity *ret_row);
int cuda_fill_copy(struct process_load *load, const struct record_cuda_copy *record,
		   struct trace_activity *ret_row);

/* Whether nodes of this exec (a row) were switched on or off, or of one that is not known. */
bool cuda_is_switched(const struct process_load *load, uint32_t exec);

/* Index into trace.nodes of the node with this id of CUPTI's, or TRACE_NONE: not in the exec's graph. */
uint32_t cuda_find_node(struct process_load *load, uint32_t exec, uint64_t id);

/* Which nodes the rows of a launch are. True: all of them were found. */
bool cuda_name_rows(struct process_load *load, uint32_t exec, struct trace_activity *rows,
		    uint32_t count);

/* Afterwards: rows whose launch has no record, and what was kept in their fields. */
void cuda_finish_rows(struct process_load *load);

#endif
