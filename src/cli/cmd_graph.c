/* dagtap graph: shows graphs, their nodes and their replays. graph_text.c and graph_json.c print
 * the result, and print_dot prints Graphviz. */
#include "cli/cmd_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "cli/answers.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/graph_advise.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/kernel_names.h"
#include "cli/terminal.h"
#include "trace/load.h"

static int take_output(const struct cli_command *self, enum graph_output output,
		       struct graph_options *options)
{
	if (options->output != OUTPUT_TEXT && options->output != output)
		return cli_usage(self, "--json or --dot, not both");
	options->output = output;
	return CLI_OK;
}

static int take_json(const struct cli_command *self, const char *value, void *values)
{
	return take_output(self, OUTPUT_JSON, values);
}

static int take_dot(const struct cli_command *self, const char *value, void *values)
{
	return take_output(self, OUTPUT_DOT, values);
}

static struct option_choice sort_choice(size_t index)
{
	static const char *const words[] = {
#define X(name, word) word,
		GRAPH_SORTS(X)
#undef X
	};

	return (struct option_choice){.name = index < GRAPH_SORT_COUNT ? words[index] : NULL};
}

static const struct cli_option options_of_graph[] = {
	{"graph", .argument = "ID", .help = "this graph alone", .kind = OPTION_NUMBER,
	 OPTION_IN(graph_options, graph)},
	{"limit", .argument = "N", .help = "nodes to show of each graph, 0 = all (default 30)",
	 .kind = OPTION_NUMBER, OPTION_IN(graph_options, limit)},
	{"sort", .argument = "BY", .help = "order of the nodes, largest first:",
	 .kind = OPTION_CHOICE, OPTION_IN(graph_options, sort), .choice = sort_choice},
	{"top", .argument = "N",
	 .help = "the first N nodes of all graphs in one table, by mean unless --sort is given",
	 .kind = OPTION_NUMBER, OPTION_IN(graph_options, top)},
	FILTER_OPTIONS(graph_options, filter_options),
	KERNEL_NAMES_OPTION(graph_options, full_names),
	{"csv", .help = "print the table as CSV: numbers without units, times in ns",
	 OPTION_IN(graph_options, csv)},
	{"json", .help = "print JSON (docs/json.md)", .kind = OPTION_HANDLER, .take = take_json},
	{"dot", .help = "print Graphviz", .kind = OPTION_HANDLER, .take = take_dot},
	{"advise", .help = "instead: which nodes are updated between replays",
	 OPTION_IN(graph_options, is_advice)},
	THREADS_OPTION,
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct graph_options *options)
{
	int err = options_parse_file(self, argc, argv, options, &options->path);

	if (err == CLI_OK && options->is_advice && options->output == OUTPUT_DOT)
		err = cli_usage(self, "--advise has no --dot");
	if (err == CLI_OK)
		err = filter_options_read(self, &options->filter_options, &options->filter);
	if (err == CLI_OK && options->is_advice && filter_is_given(&options->filter))
		err = cli_usage(self, "--advise is about whole graphs, without a filter");
	if (err == CLI_OK && options->csv && (options->output != OUTPUT_TEXT || options->is_advice))
		err = cli_usage(self, "--csv goes with neither --json, --dot nor --advise");
	if (options->csv && !options->top)
		options->top = UINT32_MAX;
	else if (options->top && options->sort == GRAPH_SORT_NODE)
		options->sort = GRAPH_SORT_MEAN;
	if (options->limit == ROWS_DEFAULT)
		options->limit = options->csv ? 0 : 30;
	return err;
}

static bool has_wanted(const struct trace *trace, const struct graph_options *options)
{
	for (uint32_t i = 0; i < trace->graphs_count; i++) {
		if (graph_is_wanted(trace, options, i))
			return true;
	}
	return options->graph == 0;
}

/* ---- the nodes in their order ---- */

/* Sorts the nodes of each graph. */
static void sort_each(const struct trace *trace, const struct graph_options *options,
		      struct graph_facts *facts)
{
	facts->nodes.count = trace->nodes_count;
	for (uint32_t i = 0; i < trace->nodes_count; i++)
		facts->nodes.rows[i] = i;
	for (uint32_t i = 0; i < trace->graphs_count; i++)
		graph_sort_nodes(&facts->analysis, (enum graph_sort)options->sort,
				 facts->nodes.rows + trace->graphs[i].node_first,
				 trace->graphs[i].node_count);
}

/* Sorts the nodes of all graphs. */
static void sort_all(const struct trace *trace, const struct graph_options *options,
		     struct graph_facts *facts)
{
	struct graph_nodes *nodes = &facts->nodes;

	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		if (facts->analysis.nodes[i].duration.count &&
		    graph_is_wanted(trace, options, trace->nodes[i].graph))
			nodes->rows[nodes->count++] = i;
	}
	graph_sort_nodes(&facts->analysis, (enum graph_sort)options->sort, nodes->rows,
			 nodes->count);
}

/* Makes all of FACTS. 0 or -ENOMEM; the caller releases FACTS in both cases. */
static int find(const struct trace *trace, const struct graph_options *options,
		struct graph_facts *facts)
{
	int err = graph_analysis_make(trace, facts->selection.activities, &facts->analysis);

	if (err == 0)
		err = graph_overlap_make(trace, &facts->analysis, &facts->overlaps);
	if (err < 0)
		return err;
	facts->nodes.rows = table_alloc(trace->nodes_count, sizeof(*facts->nodes.rows));
	if (!facts->nodes.rows)
		return -ENOMEM;
	if (options->top)
		sort_all(trace, options, facts);
	else
		sort_each(trace, options, facts);
	return 0;
}

static void release(struct graph_facts *facts)
{
	selection_release(&facts->selection);
	free(facts->nodes.rows);
	free(facts->overlaps);
	graph_analysis_release(&facts->analysis);
}

/* Prints text for a quoted Graphviz label. */
static void print_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
}

/* Prints dotted lines between nodes that could have run at the same time but did not. */
static void dot_pairs(const struct graph_overlap *overlap)
{
	for (uint32_t i = 0; i < overlap->kept; i++)
		printf("\t\tn%u -> n%u [style=dotted, dir=none, constraint=false];\n",
		       overlap->pairs[i].a, overlap->pairs[i].b);
}

static void dot_node(const struct trace *trace, uint32_t node, const struct node_stats *stats)
{
	char text[HUMAN_CHARS];

	printf("\t\tn%u [label=\"%u: ", node, trace->nodes[node].index);
	print_quoted(trace_text(trace, trace->nodes[node].name));
	if (stats->duration.timed)
		printf("\\n%s", human_ns(tally_mean(&stats->duration), text));
	if (stats->gap.timed)
		printf("\\ngap %s", human_ns(tally_mean(&stats->gap), text));
	printf("\"%s];\n", stats->is_critical ? ", penwidth=3" : "");
}

static void dot_edge(const struct trace_edge *edge)
{
	printf("\t\tn%u -> n%u%s;\n", edge->from, edge->to,
	       edge->type == RECORD_EDGE_PROGRAMMATIC ? " [style=dashed, label=\"programmatic\"]"
						      : "");
}

static void print_dot(const struct trace *trace, const struct graph_options *options,
		      const struct graph_facts *facts)
{
	puts("digraph dagtap {\n\tnode [shape=box];");
	for (uint32_t g = 0; g < trace->graphs_count; g++) {
		const struct trace_graph *graph = &trace->graphs[g];

		if (!graph_is_wanted(trace, options, g))
			continue;
		printf("\tsubgraph cluster_%u {\n\t\tlabel=\"process %u graph %" PRIu64 ", %" PRIu64
		       " replays\";\n",
		       g, graph_pid(trace, g), graph->id, facts->analysis.graphs[g].replays);
		for (uint32_t i = graph->node_first; i < graph->node_first + graph->node_count; i++)
			dot_node(trace, i, &facts->analysis.nodes[i]);
		for (uint32_t i = graph->edge_first; i < graph->edge_first + graph->edge_count; i++)
			dot_edge(&trace->edges[i]);
		dot_pairs(&facts->overlaps[g]);
		puts("\t}");
	}
	puts("}");
}

int graph_write_json(const struct trace *trace, const char *path, const bool *is_left_out,
		     FILE *out)
{
	struct graph_options options = {.path = path, .is_left_out = is_left_out};
	struct graph_facts facts = {0};
	int err = trace->graphs_count ? find(trace, &options, &facts) : -ENODATA;

	if (err == 0)
		err = graph_put_json(trace, &options, &facts, out);
	release(&facts);
	return err;
}

static int print(const struct trace *trace, const struct graph_options *options)
{
	struct graph_facts facts = {0};
	int err = CLI_OK;

	if (options->output == OUTPUT_TEXT && !options->csv)
		terminal_wrap_lines();
	if (options->is_advice)
		return graph_advise(&(struct graph_advise_query){
			.trace = trace,
			.path = options->path,
			.graph = options->graph,
			.is_json = options->output == OUTPUT_JSON,
		});
	if (filter_is_given(&options->filter))
		err = filter_options_select(&options->filter, options->path, trace,
					    &facts.selection);
	if (err != CLI_OK)
		return err;
	if (find(trace, options, &facts) < 0)
		err = cli_fail("out of memory");
	else if (options->output == OUTPUT_JSON)
		graph_put_json(trace, options, &facts, stdout);
	else if (options->output == OUTPUT_DOT)
		print_dot(trace, options, &facts);
	else
		err = graph_print_text(trace, options, &facts);
	release(&facts);
	return err == CLI_OK ? cli_finish_stdout() : err;
}

static int graph(const struct cli_command *self, int argc, char **argv)
{
	struct graph_options options = {.limit = ROWS_DEFAULT};
	struct trace *trace;
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	if (cli_open_trace(options.path, CLI_PARTS_ALL, &trace) < 0)
		return CLI_FAILED;
	kernel_names_use((const struct trace *const *)&trace, 1, options.full_names || options.csv);
	if (has_wanted(trace, &options))
		err = print(trace, &options);
	else
		err = cli_fail("%s: no graph %" PRIu64 "; without --graph all are shown",
			       options.path, options.graph);
	if (err == CLI_OK)
		err = cli_tell_damage(trace, options.path);
	kernel_names_release();
	trace_close(trace);
	return err;
}

const struct cli_command cmd_graph = {
	.name = "graph",
	.operands = "FILE",
	.help = "graphs, their nodes, replays, the critical path of a replay",
	.options = options_of_graph,
	.run = graph,
};
