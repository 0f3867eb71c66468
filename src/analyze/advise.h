/* Which nodes of graphs were given other parameters between replays, what that took the host, and what
 * dagpatch marked: which nodes are worth a slot.
 *
 * A trace tells that a node's parameters were set, not which of them differed. */
#ifndef DAGTAP_ANALYZE_ADVISE_H
#define DAGTAP_ANALYZE_ADVISE_H

#include "trace/model.h"

/* A graph that is child of none, and its children: all its execs together. */
struct graph_advice {
	uint32_t process;
	uint32_t graph; /* TRACE_NONE: all execs of the process whose graph is not recorded */
	uint64_t replays;
	uint64_t updates;	/* of nodes */
	uint64_t unplaced;	/* of those, of nodes that are not known */
	uint64_t whole_updates; /* which nodes these changed is not known */
	uint64_t calls;
	uint64_t host_ns;      /* of the calls */
	uint32_t node_count;   /* the children's too, child nodes themselves not */
	uint32_t changed;      /* of them */
	uint32_t first_change; /* index into advice.nodes */
	bool has_losses;       /* records are missing: updates may be among them */
	bool others_are_fixed; /* nothing above is unknown */
};

#define ADVISE_STRATEGIES 8

/* What dagpatch marked of one recording of its own. */
struct patch_advice {
	uint32_t process;
	uint64_t recording;
	uint64_t marks;
	uint64_t steps; /* each may have several marks */
	uint64_t ns;	/* of the steps */
	uint32_t slots, nodes;
	bool has_table; /* and so nodes that the marks do not name */
	struct {
		trace_string name;
		uint64_t marks;
	} strategies[ADVISE_STRATEGIES]; /* name 0 ends */
};

struct advice {
	struct graph_advice *graphs; /* that were updated; by (process, graph) */
	uint32_t graph_count;
	uint32_t *nodes; /* that were updated: indices into trace.nodes */
	struct patch_advice *patches;
	uint32_t patch_count;
	uint64_t unplaced_calls; /* by name they update an exec, but not one that is in the trace */
	uint64_t unplaced_ns;
};

/* 0 or -ENOMEM. */
int advise(const struct trace *trace, struct advice *ret_advice);
void advice_release(struct advice *advice);

#endif
