/* dagtap graph: shows graphs, their nodes and their replays, as text, JSON or Graphviz. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/graph_overlap.h"
#include "analyze/graph_stats.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/command_options.h"
#include "cli/graph_advise.h"
#include "cli/help.h"
#include "cli/human.h"
#include "format/words.h"
#include "trace/load.h"
#include "wire/json.h"

enum graph_output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_DOT };

struct graph_options {
	const char *path;
	enum graph_output output;
	uint64_t graph; /* id, 0 = all */
	uint32_t limit;
	bool is_advice;
};

/* The analyses of all graphs. */
struct graph_facts {
	struct graph_analysis analysis;
	struct graph_overlap *overlaps; /* one per graph */
};

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

static const struct cli_option options_of_graph[] = {
	{"graph", .argument = "ID", .help = "this graph alone", .kind = OPTION_NUMBER,
	 OPTION_IN(graph_options, graph)},
	{"limit", .argument = "N", .help = "nodes to show of each graph, 0 = all (default 30)",
	 .kind = OPTION_NUMBER, OPTION_IN(graph_options, limit)},
	{"json", .help = "print JSON (docs/json.md)", .kind = OPTION_HANDLER, .take = take_json},
	{"dot", .help = "print Graphviz", .kind = OPTION_HANDLER, .take = take_dot},
	{"advise", .help = "instead: which nodes are updated between replays",
	 OPTION_IN(graph_options, is_advice)},
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct graph_options *options)
{
	int err = options_parse_file(self, argc, argv, options, &options->path);

	if (err == CLI_OK && options->is_advice && options->output == OUTPUT_DOT)
		err = cli_usage(self, "--advise has no --dot");
	return err;
}

static bool is_wanted(const struct trace *trace, const struct graph_options *options,
		      uint32_t graph)
{
	return options->graph == 0 || trace->graphs[graph].id == options->graph;
}

static bool has_wanted(const struct trace *trace, const struct graph_options *options)
{
	for (uint32_t i = 0; i < trace->graphs_count; i++) {
		if (is_wanted(trace, options, i))
			return true;
	}
	return options->graph == 0;
}

static uint32_t graph_pid(const struct trace *trace, uint32_t graph)
{
	return trace->processes[trace->graphs[graph].process].pid;
}

static void json_tally(struct json *json, const struct tally *tally, const char *const keys[4])
{
	json_put_u64(json, keys[0], tally->count);
	json_put_double(json, keys[1], tally_mean(tally));
	json_put_i64(json, keys[2], tally->min_ns);
	json_put_i64(json, keys[3], tally->max_ns);
}

static void json_node(struct json *json, const struct trace *trace, uint32_t node,
		      const struct node_stats *stats)
{
	static const char *const keys[4] = {"count", "mean_ns", "min_ns", "max_ns"};
	static const char *const gap_keys[4] = {"gaps", "gap_mean_ns", "gap_min_ns", "gap_max_ns"};
	const struct trace_node *row = &trace->nodes[node];

	json_row_begin(json);
	json_put_u64(json, "id", row->index);
	json_put_text(json, "type", words_node_type(row->type));
	json_key(json, "kernel");
	if (row->type == RECORD_NODE_KERNEL)
		json_text(json, trace_text(trace, row->name));
	else
		json_null(json);
	json_tally(json, &stats->duration, keys);
	json_put_u64(json, "untimed", stats->duration.count - stats->duration.timed);
	json_put_u64(json, "uncertain", stats->uncertain);
	json_tally(json, &stats->gap, gap_keys);
	if (stats->starts_early)
		json_put_bool(json, "starts_early", true);
	json_put_bool(json, "critical", stats->is_critical);
	json_put_u64(json, "bytes", row->bytes);
	json_key(json, "scope");
	if (row->scope == TRACE_NONE)
		json_null(json);
	else
		json_text(json, trace_text(trace, trace->scopes[row->scope].text));
	if (row->child != TRACE_NONE)
		json_put_u64(json, "child", trace->graphs[row->child].id);
	json_object_end(json);
}

/* How parallel the graph's replays were and could have been, and which pairs of nodes could have
 * run at the same time but never did. */
static void json_parallel(struct json *json, const struct trace *trace, uint32_t graph,
			  const struct graph_facts *facts)
{
	const struct graph_stats *stats = &facts->analysis.graphs[graph];
	const struct graph_overlap *overlap = &facts->overlaps[graph];

	json_put_double(json, "critical_path_gap_ns", stats->critical_gap_ns);
	json_put_i64(json, "work_ns", stats->work_ns);
	json_put_double(json, "parallelism", graph_parallelism(stats));
	json_put_double(json, "parallelism_possible", graph_parallelism_possible(stats));
	json_key(json, "never_overlapped_count");
	if (overlap->is_known)
		json_u64(json, overlap->count);
	else
		json_null(json);
	json_key(json, "never_overlapped");
	json_array_begin(json);
	for (uint32_t i = 0; i < overlap->kept; i++) {
		json_row_begin(json);
		json_put_u64(json, "a", trace->nodes[overlap->pairs[i].a].index);
		json_put_u64(json, "b", trace->nodes[overlap->pairs[i].b].index);
		json_put_double(json, "saving_ns", overlap->pairs[i].saving_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_graph(struct json *json, const struct trace *trace, uint32_t graph,
		       const struct graph_facts *facts)
{
	static const char *const span_keys[4] = {"spans", "span_mean_ns", "span_min_ns",
						 "span_max_ns"};
	const struct trace_graph *row = &trace->graphs[graph];
	const struct graph_stats *stats = &facts->analysis.graphs[graph];

	json_object_begin(json);
	json_put_u64(json, "id", row->id);
	json_put_u64(json, "pid", graph_pid(trace, graph));
	json_put_u64(json, "replays", stats->replays);
	json_put_u64(json, "activities", stats->activities);
	json_put_u64(json, "unknown", stats->unknown);
	json_tally(json, &stats->span, span_keys);
	json_put_double(json, "critical_path_ns", stats->critical_ns);
	json_put_u64(json, "critical_path_nodes", stats->critical_count);
	json_key(json, "parent");
	if (row->parent == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, trace->graphs[row->parent].id);
	json_key(json, "nodes");
	json_array_begin(json);
	for (uint32_t i = 0; i < row->node_count; i++)
		json_node(json, trace, row->node_first + i,
			  &facts->analysis.nodes[row->node_first + i]);
	json_array_end(json);
	json_key(json, "edges");
	json_array_begin(json);
	for (uint32_t i = 0; i < row->edge_count; i++) {
		const struct trace_edge *edge = &trace->edges[row->edge_first + i];

		json_row_begin(json);
		json_put_u64(json, "from", edge->from - row->node_first);
		json_put_u64(json, "to", edge->to - row->node_first);
		if (edge->type == RECORD_EDGE_PROGRAMMATIC)
			json_put_text(json, "type", "programmatic");
		json_object_end(json);
	}
	json_array_end(json);
	json_parallel(json, trace, graph, facts);
	json_object_end(json);
}

/* The activities of conditional nodes' bodies in the replays of EXEC. *NEXT is the exec's first
 * launch; the function moves it behind the last one. */
static void json_bodies(struct json *json, const struct trace *trace, uint32_t exec, uint32_t *next)
{
	uint32_t least = UINT32_MAX, most = 0;
	uint64_t total = 0;

	for (; *next < trace->launches_count && trace->launches[*next].exec == exec; ++*next) {
		uint32_t count = trace->launches[*next].body_count;

		total += count;
		least = count < least ? count : least;
		most = count > most ? count : most;
	}
	if (!total)
		return;
	json_put_u64(json, "body_activities", total);
	json_put_u64(json, "body_activities_min", least);
	json_put_u64(json, "body_activities_max", most);
}

static void json_execs(struct json *json, const struct trace *trace)
{
	uint32_t launch = 0;

	json_key(json, "execs");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->execs_count; i++) {
		const struct trace_exec *exec = &trace->execs[i];

		json_row_begin(json);
		json_put_u64(json, "id", exec->id);
		json_put_u64(json, "pid", trace->processes[exec->process].pid);
		json_key(json, "graph");
		if (exec->graph == TRACE_NONE)
			json_null(json);
		else
			json_u64(json, trace->graphs[exec->graph].id);
		json_put_u64(json, "launches", exec->launch_count);
		json_put_u64(json, "updates", exec->update_count);
		json_bodies(json, trace, i, &launch);
		json_object_end(json);
	}
	json_array_end(json);
}

static void count_confidence(const struct trace *trace, uint64_t counts[TRACE_CONFIDENCE_EXACT + 1])
{
	for (uint32_t i = 0; i < trace->activities_count; i++)
		counts[trace->activities[i].confidence]++;
}

static void print_json(const struct trace *trace, const struct graph_options *options,
		       const struct graph_facts *facts)
{
	uint64_t counts[TRACE_CONFIDENCE_EXACT + 1] = {0};
	struct json json;

	count_confidence(trace, counts);
	json_init(&json, stdout);
	json_object_begin(&json);
	json_put_text(&json, "file", options->path);
	json_key(&json, "confidence");
	json_object_begin(&json);
	for (int i = TRACE_CONFIDENCE_UNKNOWN; i <= TRACE_CONFIDENCE_EXACT; i++)
		json_put_u64(&json, words_confidence((enum trace_confidence)i), counts[i]);
	json_object_end(&json);
	json_key(&json, "graphs");
	json_array_begin(&json);
	for (uint32_t i = 0; i < trace->graphs_count; i++) {
		if (is_wanted(trace, options, i))
			json_graph(&json, trace, i, facts);
	}
	json_array_end(&json);
	json_execs(&json, trace);
	json_object_end(&json);
	json_finish(&json);
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

static void print_dot(const struct trace *trace, const struct graph_options *options,
		      const struct graph_facts *facts)
{
	char text[HUMAN_CHARS];

	puts("digraph dagtap {\n\tnode [shape=box];");
	for (uint32_t g = 0; g < trace->graphs_count; g++) {
		const struct trace_graph *graph = &trace->graphs[g];

		if (!is_wanted(trace, options, g))
			continue;
		printf("\tsubgraph cluster_%u {\n\t\tlabel=\"process %u graph %" PRIu64 ", %" PRIu64
		       " replays\";\n",
		       g, graph_pid(trace, g), graph->id, facts->analysis.graphs[g].replays);
		for (uint32_t i = graph->node_first; i < graph->node_first + graph->node_count;
		     i++) {
			const struct node_stats *stats = &facts->analysis.nodes[i];

			printf("\t\tn%u [label=\"%u: ", i, trace->nodes[i].index);
			print_quoted(trace_text(trace, trace->nodes[i].name));
			if (stats->duration.timed)
				printf("\\n%s", human_ns(tally_mean(&stats->duration), text));
			if (stats->gap.timed)
				printf("\\ngap %s", human_ns(tally_mean(&stats->gap), text));
			printf("\"%s];\n", stats->is_critical ? ", penwidth=3" : "");
		}
		for (uint32_t i = graph->edge_first; i < graph->edge_first + graph->edge_count; i++)
			printf("\t\tn%u -> n%u%s;\n", trace->edges[i].from, trace->edges[i].to,
			       trace->edges[i].type == RECORD_EDGE_PROGRAMMATIC
				       ? " [style=dashed, label=\"programmatic\"]"
				       : "");
		dot_pairs(&facts->overlaps[g]);
		puts("\t}");
	}
	puts("}");
}

static void put_node(struct columns *columns, const struct trace *trace, uint32_t node,
		     const struct node_stats *stats)
{
	const struct tally *duration = &stats->duration;
	char text[HUMAN_CHARS];

	columns_put(columns, "%u", trace->nodes[node].index);
	columns_put(columns, "%s", human_count(duration->count, text));
	columns_put(columns, "%s", duration->timed ? human_ns(tally_mean(duration), text) : "-");
	columns_put(columns, "%s",
		    duration->timed ? human_ns((double)duration->min_ns, text) : "-");
	columns_put(columns, "%s",
		    duration->timed ? human_ns((double)duration->max_ns, text) : "-");
	columns_put(columns, "%s%s",
		    stats->gap.timed ? human_ns(tally_mean(&stats->gap), text) : "-",
		    stats->starts_early ? " early" : "");
	columns_put(columns, "%s", stats->is_critical ? "*" : "");
	columns_put(columns, "%s%s", trace_text(trace, trace->nodes[node].name),
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
	static const char *const heads[] = {"node", "count",	"mean",	 "min", "max",
					    "gap",  "critical", "<what", NULL};
	const struct trace_graph *row = &trace->graphs[graph];
	const struct graph_stats *stats = &facts->analysis.graphs[graph];
	uint32_t limit = options->limit && options->limit < row->node_count ? options->limit
									    : row->node_count;
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
	for (uint32_t i = 0; i < limit; i++)
		put_node(&columns, trace, row->node_first + i,
			 &facts->analysis.nodes[row->node_first + i]);
	if (columns_print(&columns) < 0)
		return cli_fail("out of memory");
	if (limit < row->node_count)
		printf("... %u more (--limit 0 shows all)\n", row->node_count - limit);
	putchar('\n');
	return CLI_OK;
}

static int print_text(const struct trace *trace, const struct graph_options *options,
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
	for (uint32_t i = 0; i < trace->graphs_count && err == CLI_OK; i++) {
		if (is_wanted(trace, options, i))
			err = print_graph(trace, options, facts, i);
	}
	return err;
}

static int print(const struct trace *trace, const struct graph_options *options)
{
	struct graph_facts facts;
	int err = CLI_OK;

	if (options->is_advice)
		return graph_advise(&(struct graph_advise_query){
			.trace = trace,
			.path = options->path,
			.graph = options->graph,
			.is_json = options->output == OUTPUT_JSON,
		});
	if (graph_analysis_make(trace, &facts.analysis) < 0)
		return cli_fail("out of memory");
	if (graph_overlap_make(trace, &facts.analysis, &facts.overlaps) < 0) {
		graph_analysis_release(&facts.analysis);
		return cli_fail("out of memory");
	}
	if (options->output == OUTPUT_JSON)
		print_json(trace, options, &facts);
	else if (options->output == OUTPUT_DOT)
		print_dot(trace, options, &facts);
	else
		err = print_text(trace, options, &facts);
	free(facts.overlaps);
	graph_analysis_release(&facts.analysis);
	return err == CLI_OK ? cli_finish_stdout() : err;
}

static int graph(const struct cli_command *self, int argc, char **argv)
{
	struct graph_options options = {.limit = 30};
	struct trace *trace;
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	if (cli_open_trace(options.path, true, &trace) < 0)
		return CLI_FAILED;
	if (has_wanted(trace, &options))
		err = print(trace, &options);
	else
		err = cli_fail("%s: no graph %" PRIu64 "; without --graph all are shown",
			       options.path, options.graph);
	if (err == CLI_OK)
		err = cli_tell_damage(trace, options.path);
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
