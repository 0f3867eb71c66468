/*
 * The graphs of the reference run: the command buffers of one training step, the same for every
 * GPU. A graph is a row of nodes that forks into two branches at some places. A launch submits what
 * HIP submits: the nodes in level order, a branch on its own queue, with barrier packets between.
 */
#ifndef DAGTAP_BENCH_REFERENCE_GRAPHS_H
#define DAGTAP_BENCH_REFERENCE_GRAPHS_H

#include <stdbool.h>

#include "record/record.h"
#include "reference_gpu.h"

#define REFERENCE_GRAPHS	   5
#define REFERENCE_LAUNCHES	   31 /* of one GPU in one step */
#define REFERENCE_NODES_MOST	   640
#define REFERENCE_GRAPH_ACTIVITIES 3144 /* activities of all these launches */

/* The work that a node submits. */
struct reference_node {
	enum record_node_type type;
	bool uploads;	/* a copy from the host */
	bool is_branch; /* the second of a fork's two branches */
	bool is_join;
	struct reference_work work;
	struct reference_transfer transfer; /* for copies and fills */
};

struct reference_graph {
	struct reference_node nodes[REFERENCE_NODES_MOST];
	uint32_t node_count; /* node 0 submits nothing */
};

/* Fills GRAPHS[REFERENCE_GRAPHS]. */
void reference_graphs_make(const struct reference_machine *machine, struct reference_graph *graphs);

/* Returns the graph of the N-th launch of a step. */
uint32_t reference_launch_graph(uint32_t n);

/* Ids and handles of GPU's instance of GRAPH. */
uint64_t reference_exec_id(uint32_t gpu, uint32_t graph);
uint64_t reference_exec_handle(uint32_t gpu, uint32_t graph);
uint64_t reference_graph_handle(uint32_t gpu, uint32_t graph);
uint64_t reference_node_handle(uint32_t gpu, uint32_t graph, uint32_t node);
uint64_t reference_function_handle(uint32_t gpu, uint32_t kernel);

/*
 * Records the graph and its executable graph, as they are recorded when call CID instantiates it.
 */
void reference_put_graph(struct spool_stream *stream, const struct reference_graph *graphs,
			 uint32_t gpu, uint32_t graph, uint64_t cid);

/* Submits the graph's work to GPU for the call BY, and advances BY's time. */
void reference_launch(struct reference_machine *machine, const struct reference_graph *graph,
		      uint32_t gpu, struct reference_submitter *by);

#endif
