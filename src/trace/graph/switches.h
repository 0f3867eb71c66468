/* Inside trace/: which nodes of HIP's executable graphs were switched off (hipGraphNodeSetEnabled),
 * and when. The calls tell: their arguments name the executable graph and the node. A launch causes
 * nothing for a node that is off. updates.c adds the rows; the walk is used by naming.c and
 * ledger_graphs.c. */
#ifndef DAGTAP_TRACE_SWITCHES_H
#define DAGTAP_TRACE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

struct process_load;

/* One call that switched a node. */
struct switch_row {
	uint32_t exec; /* index into execs */
	uint32_t node; /* index into nodes; TRACE_NONE: not found in the exec's graph */
	uint64_t cid;  /* correlation id of the call */
	bool is_on;
};

/* Ordered by (exec, cid) once switches_sort was called. Zero is empty. */
struct switches {
	struct switch_row *rows;
	uint32_t count;
};

/* Appends a copy of ROW. Returns 0 or -ENOMEM. */
int switches_add(struct switches *switches, const struct switch_row *row);
void switches_sort(struct switches *switches);
void switches_release(struct switches *switches);

/* A walk through launches, to know which nodes were off at each: one executable graph after the
 * other, the launches of each in the order of their correlation ids. switches_sort must have been
 * called. */
struct switch_walk {
	const struct process_load *load;
	bool *is_off;	 /* by node, from first.nodes */
	uint32_t exec;	 /* that is being walked; TRACE_NONE = none yet */
	uint32_t next;	 /* next row of the switches */
	uint64_t off;	 /* least number of activities of the nodes that are off now */
	bool is_unknown; /* a node was switched that is not found in the exec's graph */
};

/* All nodes are on. Returns 0 or -ENOMEM; call switch_walk_release in both cases. */
int switch_walk_init(struct switch_walk *walk, const struct process_load *load);
void switch_walk_release(struct switch_walk *walk);

/* Sets *RET_OFF to the number of activities that the launch of EXEC by call CID does not cause
 * because nodes are off. Returns false if that is not known. */
bool switch_walk_take(struct switch_walk *walk, uint32_t exec, uint64_t cid, uint64_t *ret_off);

#endif
