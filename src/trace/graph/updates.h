/* Inside trace/: which nodes of which executable graphs were given other parameters, and how long
 * the calls took.
 *
 * HIP: the capture side writes a record (GRAPH_EXEC_UPDATE) for an update that changes what a node
 * runs. An update that changes addresses alone shows only in its call, whose arguments name the
 * executable graph and the node; such calls are noted while the rows of calls are filled. CUDA:
 * CUPTI reports each node that was updated (CUDA_UPDATE). */
#ifndef DAGTAP_TRACE_UPDATES_H
#define DAGTAP_TRACE_UPDATES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/trace_model.h"

struct input_update;
struct process_load;

/* What an API does with updates. Computed once per API. */
struct update_api {
	bool is_update;
	bool is_whole;	/* updates all nodes at once (hipGraphExecUpdate) */
	bool is_switch; /* only switches a node on or off (hipGraphNodeSetEnabled) */
	/* words of the arguments that hold the executable graph, the node, and whether it is on */
	uint8_t exec_word, node_word, on_word;
};

/* A successful call of HIP that updated or switched nodes. */
struct update_note {
	uint64_t exec, node; /* handles; node 0: all nodes */
	uint32_t rank;	     /* of the call: its row, from first.calls */
	bool is_switch, is_on;
};

/* The notes of a process. process_load owns the rows. */
struct update_notes {
	struct update_note *rows;
	uint32_t count;
};

/* What API does with updates; all zero for calls of other interfaces than HIP. */
struct update_api update_api_of(const struct trace *trace, const struct trace_api *api);

/* Notes the call of RECORD and API, which has row RANK from first.calls, if it succeeded. Call for
 * each call whose API is_update. Returns 0 or -ENOMEM. */
int update_note(struct update_notes *notes, const struct update_api *api, uint32_t rank,
		const struct record_api *record);

/* The node that UPDATE, an update of EXEC (index into trace.execs), is about: index into
 * trace.nodes, or TRACE_NONE. Call after graphs_load. */
uint32_t updates_find_node(struct process_load *load, uint32_t exec,
			   const struct input_update *update);

/* True if the call with correlation id CID replaced the parameters of all nodes of an executable
 * graph. Call after calls_load. */
bool updates_is_whole(const struct process_load *load, uint64_t cid);

/* Part of naming_load, which has sorted the updates by (exec, call): fills the counts of updates in
 * execs and nodes, and load->switches. Returns 0 or -ENOMEM. */
int updates_count(struct process_load *load);

#endif
