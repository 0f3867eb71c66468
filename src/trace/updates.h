/* Inside trace/: which nodes of which graph execs were given other parameters, and what the calls took.
 *
 * The tracer records an update of HIP's where it changes what a node runs (GRAPH_EXEC_UPDATE); one that
 * changes addresses alone shows in its call, whose arguments name exec and node: those calls are noted when
 * they are filled. CUPTI tells of each node (CUDA_UPDATE). */
#ifndef DAGTAP_TRACE_UPDATES_H
#define DAGTAP_TRACE_UPDATES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/model.h"

struct process_load;

/* What an API has to do with updates, worked out once an API. */
struct update_api {
	bool is_update;
	bool is_whole;	/* of all nodes at once */
	bool is_switch; /* turns a node on or off, no more */
	uint8_t exec_word, node_word, on_word;
};

struct update_note {
	uint64_t exec, node; /* handles; node 0: the whole graph */
	uint32_t rank;	     /* of the call */
	bool is_switch, is_on;
};

struct update_notes {
	struct update_note *rows;
	uint32_t count;
};

/* Of HIP's calls. */
struct update_api update_api_of(const struct trace *trace, const struct trace_api *api);

/* While calls are filled. 0 or -ENOMEM. */
int update_note(struct update_notes *notes, const struct update_api *api, uint32_t rank,
		const struct record_api *record);

/* The node that the record of an update of EXEC, a row, is about: index into trace.nodes, or
 * TRACE_NONE. */
uint32_t updates_find_node(struct process_load *load, uint32_t exec,
			   const struct record_graph_node *record);

/* Whether the call gave an exec all of another graph's parameters; when calls are loaded. */
bool updates_is_whole(const struct process_load *load, uint64_t cid);

/* Part of the naming stage, when the updates are sorted by (exec, call): the counts in execs and
 * nodes, and load->switches. 0 or -ENOMEM. */
int updates_count(struct process_load *load);

#endif
