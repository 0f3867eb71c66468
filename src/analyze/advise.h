/* Finds graph nodes that are worth a slot of dagpatch: nodes whose parameters were changed between
 * replays, the host time of these changes, and the changes that dagpatch marked.
 *
 * A trace tells that the parameters of a node were set, not which of them differed. */
#ifndef DAGTAP_ANALYZE_ADVISE_H
#define DAGTAP_ANALYZE_ADVISE_H

#include "trace/trace_model.h"

/* A top graph (it is no child) with its child graphs; sums over all its execs. */
struct graph_advice {
	uint32_t process;
	uint32_t graph; /* TRACE_NONE: all execs of the process whose graph is not recorded */
	uint64_t replays;
	uint64_t updates;	/* of single nodes */
	uint64_t unplaced;	/* updates of nodes that are not known, part of updates */
	uint64_t whole_updates; /* updates of whole execs; the changed nodes are not known */
	uint64_t calls;		/* that made these updates */
	uint64_t host_ns;	/* duration of the calls */
	/* With nodes of child graphs, without child nodes that were not updated. */
	uint32_t node_count;
	uint32_t changed;      /* nodes that were updated */
	uint32_t first_change; /* index into advice.nodes of the first of these */
	bool has_losses;       /* records of the process are missing, and may be of updates */
	bool others_are_fixed; /* the nodes that are not listed certainly did not change */
};

#define ADVISE_STRATEGIES 8

/* The marks of one dagpatch recording (scopes named "dagpatch" with attributes). */
struct patch_advice {
	uint32_t process;
	uint64_t recording; /* attribute of the marks: the recording's address in the process */
	uint64_t marks;
	uint64_t steps;	       /* applies; a step has one or more marks */
	uint64_t ns;	       /* host time of the steps */
	uint32_t slots, nodes; /* different ones in the marks */
	bool has_table;	       /* some marks name no node, because the strategy is a table */
	struct {
		trace_string name;
		uint64_t marks;
	} strategies[ADVISE_STRATEGIES]; /* name 0 ends the list */
};

/* What libdagpatch-preload.so has counted of one executable graph while nothing was virtual
 * (DAGPATCH_PRELOAD=advise). A set is all that the nodes were set to; a call is one that sets a
 * node. */
struct sets_advice {
	uint32_t process;
	uint64_t executable; /* its number in the process */
	uint64_t launches;
	uint64_t changed;	      /* launches with another set than the launch before */
	uint64_t came_back;	      /* of these: with a set that had been launched before */
	uint64_t sets;		      /* different ones */
	uint64_t calls, ns;	      /* and their time in the driver */
	uint64_t calls_back, ns_back; /* of these: for sets that had been launched before */
};

struct advice {
	struct graph_advice *graphs; /* that were updated; by (process, graph) */
	uint32_t graph_count;
	uint32_t *nodes; /* that were updated: indices into trace.nodes, graph after graph */
	struct patch_advice *patches;
	uint32_t patch_count;
	struct sets_advice *sets;
	uint32_t set_count;
	/* Calls that by name update an exec, but no exec in the trace. */
	uint64_t unplaced_calls;
	uint64_t unplaced_ns; /* host time of these calls */
};

/* Fills RET_ADVICE, which the caller releases. 0, or -ENOMEM with RET_ADVICE released. Walks calls
 * and scopes once. */
int advise(const struct trace *trace, struct advice *ret_advice);
void advice_release(struct advice *advice);

#endif
