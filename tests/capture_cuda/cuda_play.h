/* Building blocks of the CUDA test scenes: calls and activity records as CUPTI reports them. */
#ifndef TESTS_CUDA_PLAY_H
#define TESTS_CUDA_PLAY_H

#include "model_cupti.h"
#include "record/record.h"

#define LAUNCH_KERNEL 211 /* cudaLaunchKernel */
#define DRIVER_LAUNCH 307 /* cuLaunchKernel */

#define DEVICE	0
#define CONTEXT 1
#define STREAM	7

/*
 * Loads the tool as CUDA's driver does at the first use. Without a tool the program runs as usual.
 */
void play_load_tool(void);

/* Makes one call of the CUDA runtime with this correlation id. */
void play_call(uint32_t correlation);

/*
 * Makes a record of work of that call, which takes 100 ns from now. The caller may change fields
 * before it puts the record.
 */
struct cupti_kernel play_kernel(uint32_t correlation, const char *name);
struct cupti_memcpy play_copy(uint32_t correlation, uint64_t bytes);
struct cupti_memset play_fill(uint32_t correlation, uint64_t bytes);
void play_device(uint32_t device, const char *name);

/* Makes a call in which the host waits for all streams of the context. */
void play_device_wait(uint32_t correlation);

enum { EVENT = 3, OTHER_EVENT, OTHER_STREAM = 21 };

/*
 * Put what CUPTI reports of the call CORRELATION: a record of an event in a stream of CONTEXT, and
 * a wait for it. ORDER is CUPTI's number of the event's record.
 */
void play_record(uint32_t event, uint32_t correlation, uint32_t stream, uint64_t order);
void play_wait(uint32_t correlation, enum record_cuda_sync_type type, uint32_t stream,
	       uint32_t event, uint64_t order);
/* Puts a record that says what kind of stream a context's stream is. */
void play_stream(uint32_t context, uint32_t stream, enum record_cuda_stream_kind kind);
/* Makes one call of the CUDA runtime whose first two parameters are FIRST and SECOND. */
void play_call_with(uint32_t cbid, uint32_t correlation, const char *name, uint64_t first,
		    uint64_t second);

#define PLAY_PUT(record) model_put(&(record), sizeof(record))

/* Play the creation of graphs, nodes, edges and executable graphs. A handle is its object's id. */
void play_graph(uint32_t graph);
void play_graph_clone(uint32_t graph, uint32_t original);
void play_node(uint32_t graph, uint64_t node, enum cuda_node_type type);
void play_node_clone(uint32_t graph, uint64_t node, uint64_t original, enum cuda_node_type type);
void play_edge(uint32_t graph, uint64_t from, uint64_t to);
void play_exec(uint32_t exec, uint32_t graph);

/*
 * Adds a node as cuGraphAddNode does, with parameters of any kind, after DEPENDENCY (0 = none) over
 * an edge with DATA. For a conditional node, params->u.conditional.phGraph_out already names the
 * body graphs, which are created within the call.
 */
void play_add_node(uint32_t graph, uint64_t node, const struct cuda_node_params *params,
		   uint64_t dependency, struct cuda_edge_data data);
void play_add_kernel(uint32_t graph, uint64_t node, uint64_t dependency);
void play_add_copy(uint32_t graph, uint64_t node, uint64_t dependency);
void play_move_child(uint32_t graph, uint64_t node, uint32_t child, uint64_t dependency);
void play_add_conditional(uint32_t graph, uint64_t node, const uint32_t *bodies, uint32_t count,
			  uint64_t dependency);

/* Enters the driver's call CBID, without parameters; model_leave leaves it. */
void play_enter(struct model_open *call, uint32_t cbid, const char *name);
/* Adds a node within the call that the caller has entered. DEPENDENCY 0: none. */
void play_new_node(uint32_t graph, uint64_t node, uint32_t type, uint64_t dependency);

/*
 * Adds a child graph node: the driver clones CHILD into CLONE, whose COUNT nodes have ids from
 * FIRST.
 */
void play_clone_child(uint32_t graph, uint64_t node, uint32_t child, uint32_t clone, uint64_t first,
		      uint32_t count, uint64_t dependency);
/*
 * Play a launch of EXEC and, after it, the record of a kernel of one of its nodes. RESULT is the
 * launch's CUresult.
 */
void play_launch(uint32_t correlation, uint32_t exec);
void play_launch_with(uint32_t correlation, uint32_t exec, int result);
void play_graph_kernel(uint32_t correlation, uint32_t exec, uint64_t node, const char *name);

#endif
