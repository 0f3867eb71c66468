/* Adds graphs, nodes and launches while another tool's file is read. Such a file does not list
 * them; activities only name their ids. Each function adds a row to the model when its id is first
 * seen.
 *
 * Every function returns the index of the row in its table of TRACE, or -ENOMEM. GRAPHS, NODES and
 * LAUNCHES are the caller's id maps, one for each table; the number of an id equals the index of
 * its row, so nothing else may add rows to these tables. */
#ifndef DAGTAP_FORMAT_READ_GRAPHS_H
#define DAGTAP_FORMAT_READ_GRAPHS_H

#include <stdint.h>

#include "format/numbers.h"
#include "trace/trace_model.h"

/* The graph that the file calls ID in PROCESS. */
int64_t read_graph(struct trace *trace, struct numbers *graphs, uint32_t process, uint64_t id);

/* The node that the file calls ID in GRAPH (an index into trace.graphs). WORK is the index of the
 * activity's work kind, from which a new node takes its type, name, bytes and dimensions. */
int64_t read_graph_node(struct trace *trace, struct numbers *nodes, uint32_t graph, uint64_t id,
			uint32_t work);

/* The launch of EXEC (an index into trace.execs) by the call with correlation id CID. A new launch
 * has the replay number ORDER_NO_REPLAY (format/row_order.h) until the caller or order_graphs sets
 * it. */
int64_t read_graph_launch(struct trace *trace, struct numbers *launches, uint32_t exec,
			  uint64_t cid);

#endif
