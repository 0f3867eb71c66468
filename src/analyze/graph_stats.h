/* Replays of graphs: what each node took, how long it waited after its predecessors, and the
 * longest way through a replay. */
#ifndef DAGTAP_ANALYZE_GRAPH_STATS_H
#define DAGTAP_ANALYZE_GRAPH_STATS_H

#include "analyze/tally.h"
#include "trace/model.h"

struct node_stats {
	struct tally duration; /* one per activity */
	struct tally gap;      /* start less the end of the last predecessor, in the same replay */
	uint64_t uncertain;    /* activities named with less than exact confidence */
	bool is_critical;      /* on the critical path of its graph */
	bool starts_early;     /* by a programmatic edge: a gap may be negative */
	double path_ns;	       /* mean time from the graph's start to this node's end, by edges */
};

struct graph_stats {
	uint64_t replays;	 /* launches of it, or of the graph that it is a child of */
	struct tally span;	 /* first start to last end of a replay */
	uint64_t activities;	 /* named or not */
	uint64_t unknown;	 /* of a launch of this graph, node not known */
	double critical_ns;	 /* longest path over edges, nodes at their mean times */
	uint64_t critical_count; /* nodes on it */
	double critical_gap_ns;	 /* their mean waits after their predecessors */
	int64_t work_ns;	 /* of all timed activities of its launches, child graphs' too */
};

struct graph_analysis {
	struct graph_stats *graphs; /* by index into trace.graphs */
	struct node_stats *nodes;   /* by index into trace.nodes */
};

/* How many nodes ran at once over the time of a replay, and how many would if only edges held them up;
 * 0: not known. */
double graph_parallelism(const struct graph_stats *stats);
double graph_parallelism_possible(const struct graph_stats *stats);

/* 0 or -ENOMEM. */
int graph_analysis_make(const struct trace *trace, struct graph_analysis *ret_analysis);
void graph_analysis_release(struct graph_analysis *analysis);

#endif
