/* Prints the result of `dagtap graph` as text. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli_columns.h"
#include "cli/cmd_graph.h"
#include "cli/human.h"
#include "cli/kernel_names.h"
#include "cli/tally_output.h"

static void put_node(struct columns *columns, const struct trace *trace, uint32_t node,
		     const struct node_stats *stats)
{
	columns_put(columns, "%u", trace->nodes[node].index);
	columns_put_count(columns, stats->duration.count);
	if (stats->gap.timed)
		columns_put_ns(columns, tally_mean(&stats->gap));
	else
		columns_put_none(columns, COLUMN_NS);
	tally_put_cells(columns, &stats->duration);
	columns_put(columns, "%s", stats->is_critical ? "*" : "");
	columns_put(columns, "%s%s%s",
		    kernel_names_text(trace_text(trace, trace->nodes[node].name)),
		    stats->starts_early ? " (starts early)" : "",
		    stats->uncertain ? " (not exact)" : "");
}

static void print_parallel(const struct trace *trace, const struct graph_stats *stats,
			   const struct graph_overlap *overlap)
{
	char text[HUMAN_CHARS];

	if (stats->span.timed && stats->critical_ns > 0)
		printf("  %.2f nodes at once, %.2f if edges alone held them up; gaps on the "
		       "critical path %s\n",
		       graph_parallelism(stats), graph_parallelism_possible(stats),
		       human_ns(stats->critical_gap_ns, text));
	if (overlap->count)
		printf("  %s pair%s of nodes never ran side by side, though no edges lead from one "
		       "to the other and both fit:\n",
		       human_count(overlap->count, text), overlap->count == 1 ? "" : "s");
	for (uint32_t i = 0; i < overlap->kept; i++) {
		const struct graph_pair *pair = &overlap->pairs[i];

		printf("    %u and %u, up to %s a replay\n", trace->nodes[pair->a].index,
		       trace->nodes[pair->b].index, human_ns(pair->saving_ns, text));
	}
}

static int print_graph(const struct trace *trace, const struct graph_options *options,
		       const struct graph_facts *facts, uint32_t graph)
{
	static const char *const heads[] = {"node",	 "count",   "gap",  "?mean",
					    "?median",	 "?stddev", "?min", "?max",
					    "?critical", "<what",   NULL};
	const struct trace_graph *row = &trace->graphs[graph];
	const struct graph_stats *stats = &facts->analysis.graphs[graph];
	const uint32_t *nodes = facts->nodes.rows + row->node_first;
	uint32_t limit = graph_shown(options->limit, row->node_count), shown = 0;
	struct columns columns;
	char text[HUMAN_CHARS];

	printf("process %u graph %" PRIu64 ": %s node%s", graph_pid(trace, graph), row->id,
	       human_count(row->node_count, text), human_ending(row->node_count));
	printf(", %s edge%s", human_count(row->edge_count, text), human_ending(row->edge_count));
	printf(", %s replay%s", human_count(stats->replays, text), human_ending(stats->replays));
	if (stats->span.timed)
		printf(", %s each", human_ns(tally_mean(&stats->span), text));
	if (stats->critical_count)
		printf(", critical path %s", human_ns(stats->critical_ns, text));
	if (stats->critical_count)
		printf(" over %" PRIu64 " node%s", stats->critical_count,
		       human_ending(stats->critical_count));
	if (stats->unknown)
		printf(", %" PRIu64 " activities of no known node", stats->unknown);
	putchar('\n');
	print_parallel(trace, stats, &facts->overlaps[graph]);
	columns_init(&columns, heads);
	for (uint32_t i = 0; i < row->node_count; i++) {
		const struct node_stats *node = &facts->analysis.nodes[nodes[i]];

		if (facts->selection.activities && node->duration.count == 0)
			continue;
		if (shown++ < limit)
			put_node(&columns, trace, nodes[i], node);
	}
	if (columns_print(&columns) < 0)
		return cli_fail("out of memory");
	if (limit < shown)
		printf("... %u more (--limit 0 shows all)\n", shown - limit);
	putchar('\n');
	return CLI_OK;
}

/* The first nodes of all graphs in one table. */
static int print_top(const struct trace *trace, const struct graph_options *options,
		     const struct graph_facts *facts)
{
	static const char *const heads[] = {"graph",	 "node",      "count", "gap",
					    TALLY_HEADS, "?critical", "<what", NULL};
	uint32_t shown = graph_shown(options->top, facts->nodes.count);
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = options->csv;
	for (uint32_t i = 0; i < shown; i++) {
		uint32_t node = facts->nodes.rows[i];

		columns_put(&columns, "%" PRIu64, trace->graphs[trace->nodes[node].graph].id);
		put_node(&columns, trace, node, &facts->analysis.nodes[node]);
	}
	if (columns_print(&columns) < 0)
		return cli_fail("out of memory");
	if (shown < facts->nodes.count && !options->csv)
		printf("... %u more\n", facts->nodes.count - shown);
	return CLI_OK;
}

int graph_print_text(const struct trace *trace, const struct graph_options *options,
		     const struct graph_facts *facts)
{
	char count_text[HUMAN_CHARS];
	int err = CLI_OK;

	if (trace->graphs_count == 0 && trace->launches_count)
		printf("no graphs: of %s graph launch%s the file does not say of which graph\n",
		       human_count(trace->launches_count, count_text),
		       trace->launches_count == 1 ? "" : "es");
	else if (trace->graphs_count == 0)
		puts("no graphs");
	else if (options->top)
		return print_top(trace, options, facts);
	for (uint32_t i = 0; i < trace->graphs_count && err == CLI_OK; i++) {
		if (graph_is_wanted(trace, options, i) &&
		    (!facts->selection.activities || facts->analysis.graphs[i].activities))
			err = print_graph(trace, options, facts, i);
	}
	return err;
}
