/* Inside trace/: which nodes of HIP's graph execs were switched off (hipGraphNodeSetEnabled), and
 * when. It shows in the calls, whose arguments name exec and node: a launch owes nothing for a node
 * that is off. */
#ifndef DAGTAP_TRACE_SWITCHES_H
#define DAGTAP_TRACE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

struct process_load;

struct switch_row {
	uint32_t exec; /* index into execs */
	uint32_t node; /* index into nodes, TRACE_NONE: it is none of the exec's */
	uint64_t cid;  /* of the call that did it */
	bool is_on;
};

/* By (exec, cid) once switches_sort was called. */
struct switches {
	struct switch_row *rows;
	uint32_t count;
};

/* 0 or -ENOMEM. */
int switches_add(struct switches *switches, const struct switch_row *row);
void switches_sort(struct switches *switches);
void switches_release(struct switches *switches);

/* A walk through the launches of one exec after the other, each exec's by cid. */
struct switch_walk {
	const struct process_load *load;
	bool *is_off; /* by node, from first.nodes */
	uint32_t exec;
	uint32_t next;	 /* row */
	uint64_t off;	 /* activities of nodes that are off now */
	bool is_unknown; /* a node was switched that is none of the exec's */
};

/* 0 or -ENOMEM; to be released either way. */
int switch_walk_init(struct switch_walk *walk, const struct process_load *load);
void switch_walk_release(struct switch_walk *walk);

/* How many activities fewer a launch of EXEC by call CID owes; false: that is not known. */
bool switch_walk_take(struct switch_walk *walk, uint32_t exec, uint64_t cid, uint64_t *ret_off);

#endif
