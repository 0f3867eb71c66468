/* The graphs of the reference run: the command buffers of one training step, as every GPU has them.
 * Each is a row of nodes that forks into two branches here and there; what a launch submits is
 * what HIP submits: the nodes in level order, a branch on a queue of its own, barriers between. */
#ifndef DAGTAP_BENCH_REFERENCE_GRAPHS_H
#define DAGTAP_BENCH_REFERENCE_GRAPHS_H

#include <stdbool.h>

#include "record/record.h"
#include "reference_gpu.h"

#define REFERENCE_GRAPHS	   5
#define REFERENCE_LAUNCHES	   31 /* a GPU and step */
#define REFERENCE_NODES_MOST	   640
#define REFERENCE_GRAPH_ACTIVITIES 3144 /* of these launches */

/* What a node submits. */
struct reference_node {
	enum record_node_type type;
	bool uploads;	/* a copy from the host */
	bool is_branch; /* the second of a fork's two */
	bool is_join;
	struct reference_work work;
	struct reference_transfer transfer; /* of copies and fills */
};

struct reference_graph {
	struct reference_node nodes[REFERENCE_NODES_MOST];
	uint32_t node_count; /* the first is empty */
};

/* Fills GRAPHS[REFERENCE_GRAPHS]. */
void reference_graphs_make(const struct reference_machine *machine, struct reference_graph *graphs);

/* The graph of the N-th launch of a step. */
uint32_t reference_launch_graph(uint32_t n);

/* Ids and handles of what GPU has of GRAPH. */
uint64_t reference_exec_id(uint32_t gpu, uint32_t graph);
uint64_t reference_exec_handle(uint32_t gpu, uint32_t graph);
uint64_t reference_graph_handle(uint32_t gpu, uint32_t graph);
uint64_t reference_node_handle(uint32_t gpu, uint32_t graph, uint32_t node);
uint64_t reference_function_handle(uint32_t gpu, uint32_t kernel);

/* The template and its exec, as recorded when call CID instantiates it. */
void reference_put_graph(struct spool_stream *stream, const struct reference_graph *graphs,
			 uint32_t gpu, uint32_t graph, uint64_t cid);

void reference_launch(struct reference_machine *machine, const struct reference_graph *graph,
		      uint32_t gpu, struct reference_submitter *by);

#endif
