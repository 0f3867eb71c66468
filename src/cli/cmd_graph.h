/* What `dagtap graph` prints, for its outputs (graph_text.c, graph_json.c). cmd_graph.c fills
 * it. */
#ifndef DAGTAP_CLI_CMD_GRAPH_H
#define DAGTAP_CLI_CMD_GRAPH_H

#include <stdio.h>

#include "analyze/graph_overlap.h"
#include "analyze/graph_sort.h"
#include "cli/cli.h"
#include "cli/filter_options.h"

enum graph_output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_DOT };

struct graph_options {
	const char *path;
	enum graph_output output;
	uint64_t graph;		 /* id, 0 = all */
	const bool *is_left_out; /* by graph; NULL: none is */
	uint32_t limit;
	uint32_t sort; /* enum graph_sort */
	uint32_t top;  /* nodes of all graphs in one table, 0 = tables of the graphs */
	struct filter_options filter_options;
	struct filter filter;
	bool full_names;
	bool csv;
	bool is_advice;
};

/* Nodes in the order in which they are shown. */
struct graph_nodes {
	uint32_t *rows; /* indices into trace.nodes */
	uint32_t count;
};

/* The analyses of all graphs. */
struct graph_facts {
	struct graph_analysis analysis;
	struct graph_overlap *overlaps; /* one per graph */
	/* All nodes, those of each graph together and sorted; with --top the nodes with activities
	 * of all graphs that are wanted, sorted. */
	struct graph_nodes nodes;
	struct selection selection; /* of the filter */
};

/* How many of COUNT nodes are shown where at most LIMIT are, 0 = all. */
static inline uint32_t graph_shown(uint32_t limit, uint32_t count)
{
	return limit && limit < count ? limit : count;
}

/* Whether the user asked for GRAPH. */
static inline bool graph_is_wanted(const struct trace *trace, const struct graph_options *options,
				   uint32_t graph)
{
	if (options->is_left_out && options->is_left_out[graph])
		return false;
	return options->graph == 0 || trace->graphs[graph].id == options->graph;
}

static inline uint32_t graph_pid(const struct trace *trace, uint32_t graph)
{
	return trace->processes[trace->graphs[graph].process].pid;
}

/* Prints the result on stdout. Returns a cli_exit. */
int graph_print_text(const struct trace *trace, const struct graph_options *options,
		     const struct graph_facts *facts);

/* Writes the result to OUT as one JSON object (docs/json.md). Returns 0 or a negative errno. */
int graph_put_json(const struct trace *trace, const struct graph_options *options,
		   const struct graph_facts *facts, FILE *out);

#endif
