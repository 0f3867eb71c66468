/* Graphs, their nodes and launches as the work in another tool's file names them: a row at the first sight of
 * its id. Returns its place, or -ENOMEM. */
#ifndef DAGTAP_FORMAT_READ_GRAPHS_H
#define DAGTAP_FORMAT_READ_GRAPHS_H

#include <stdint.h>

#include "format/numbers.h"
#include "trace/model.h"

/* By (process, id). */
int64_t read_graph(struct trace *trace, struct numbers *graphs, uint32_t process, uint64_t id);

/* By (graph, id); OP says what the node does. */
int64_t read_graph_node(struct trace *trace, struct numbers *nodes, uint32_t graph, uint64_t id,
			uint32_t op);

/* By (exec, correlation id). */
int64_t read_graph_launch(struct trace *trace, struct numbers *launches, uint32_t exec,
			  uint64_t cid);

#endif
