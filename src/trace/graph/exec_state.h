/* Inside trace/: what an executable graph launches, item by item, as it was at a launch: the nodes
 * of its graph, with the updates of the exec before the launch. Used by naming.c. */
#ifndef DAGTAP_TRACE_EXEC_STATE_H
#define DAGTAP_TRACE_EXEC_STATE_H

#include "base/sort.h"
#include "trace/process_load.h"

/* An exec as it was at a launch. One thread uses it. */
struct exec_state {
	uint32_t exec; /* index into trace.execs; TRACE_NONE = none yet */
	const struct expect_graph *expect;
	struct node_signature *signatures; /* by item; updates change them */
	/* items by node; NULL = not made, because no update came yet */
	struct sort_row *by_node;
	struct sort_row *by_hash; /* items by the hash of their signature; NULL = not made */
	uint32_t next_update;	  /* index into the updates of load->graph_input */
};

/* Makes STATE that of EXEC before its first launch; releases what it held of another exec. Start
 * with a zeroed state whose exec is TRACE_NONE. Returns 0 or -ENOMEM. */
int exec_state_enter(struct exec_state *state, const struct process_load *load, uint32_t exec);

/* Applies the updates of the exec by calls before CID. Returns 0 or -ENOMEM. */
int exec_state_update(struct exec_state *state, const struct process_load *load, uint64_t cid);

/* Sets *RET_ITEM to the one item whose kernel and dimensions are those of SIGNATURE, or to
 * TRACE_NONE if none or several have them. Returns 0 or -ENOMEM. */
int exec_state_find(struct exec_state *state, const struct node_signature *signature,
		    uint32_t *ret_item);

/* Frees what STATE holds. */
void exec_state_release(struct exec_state *state);

#endif
