/* Statistics of graph replays: the duration of each node, its wait after its predecessors, and the
 * critical path of each graph (its longest path along edges). */
#ifndef DAGTAP_ANALYZE_GRAPH_STATS_H
#define DAGTAP_ANALYZE_GRAPH_STATS_H

#include "analyze/tally.h"
#include "trace/trace_model.h"

struct node_stats {
	struct tally duration; /* of its activities */
	/* Its start minus the end of its last predecessor in the same replay. */
	struct tally gap;
	uint64_t uncertain; /* activities whose node is not known exactly */
	bool is_critical;   /* the node is on the critical path of its graph */
	bool starts_early;  /* it has a programmatic edge, so a gap may be negative */
	double path_ns;	    /* length of the longest path of edges that ends with this node */
};

struct graph_stats {
	uint64_t replays;    /* launches of it, or of the top graph that contains it */
	struct tally span;   /* of replays, from first start to last end */
	uint64_t activities; /* of its launches, with or without a known node */
	uint64_t unknown;    /* activities whose node is not known, part of activities */
	/* Length of the critical path; nodes count their mean durations. */
	double critical_ns;
	uint64_t critical_count; /* nodes on the critical path */
	double critical_gap_ns;	 /* sum of their mean gaps */
	/* Of all timed activities of its launches, with child graphs. */
	int64_t work_ns;
};

struct graph_analysis {
	struct graph_stats *graphs; /* by index into trace.graphs */
	struct node_stats *nodes;   /* by index into trace.nodes */
};

/* The mean number of nodes that ran at the same time during replays, and that number if a replay
 * took only as long as the critical path. 0: not known. */
double graph_parallelism(const struct graph_stats *stats);
double graph_parallelism_possible(const struct graph_stats *stats);

/* Makes the statistics of all graphs of TRACE, of the activities that IS_SELECTED, by activity,
 * marks; NULL: of all. A gap is that before a selected activity, whatever ran before it. The caller
 * releases RET_ANALYSIS. 0 or -ENOMEM. */
int graph_analysis_make(const struct trace *trace, const bool *is_selected,
			struct graph_analysis *ret_analysis);
void graph_analysis_release(struct graph_analysis *analysis);

#endif
