/* Prints the result of `dagtap graph` as JSON (docs/json.md). */
#include <stdio.h>

#include "cli/cmd_graph.h"
#include "cli/tally_output.h"
#include "format/words.h"
#include "wire/json.h"

/* The members of a node's object. */
static void json_node(struct json *json, const struct trace *trace, uint32_t node,
		      const struct node_stats *stats)
{
	const struct trace_node *row = &trace->nodes[node];

	json_put_u64(json, "id", row->index);
	json_put_text(json, "type", words_node_type(row->type));
	json_key(json, "kernel");
	if (row->type == RECORD_NODE_KERNEL)
		json_text(json, trace_text(trace, row->name));
	else
		json_null(json);
	json_put_u64(json, "count", stats->duration.count);
	tally_put_json(json, "", &stats->duration);
	json_put_u64(json, "untimed", stats->duration.count - stats->duration.timed);
	json_put_u64(json, "uncertain", stats->uncertain);
	json_put_u64(json, "gaps", stats->gap.count);
	tally_put_json(json, "gap_", &stats->gap);
	if (stats->starts_early)
		json_put_bool(json, "starts_early", true);
	json_put_bool(json, "critical", stats->is_critical);
	json_put_u64(json, "bytes", row->bytes);
	json_key(json, "scope");
	if (row->scope == TRACE_NONE)
		json_null(json);
	else
		json_text(json, trace_text(trace, trace_scope_label(trace, row->scope)));
	if (row->child != TRACE_NONE)
		json_put_u64(json, "child", trace->graphs[row->child].id);
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

static void json_nodes(struct json *json, const struct trace *trace, const struct trace_graph *row,
		       const struct graph_facts *facts)
{
	json_key(json, "nodes");
	json_array_begin(json);
	for (uint32_t i = 0; i < row->node_count; i++) {
		json_row_begin(json);
		json_node(json, trace, row->node_first + i,
			  &facts->analysis.nodes[row->node_first + i]);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_edges(struct json *json, const struct trace *trace, const struct trace_graph *row)
{
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
}

static void json_graph(struct json *json, const struct trace *trace, uint32_t graph,
		       const struct graph_facts *facts)
{
	const struct trace_graph *row = &trace->graphs[graph];
	const struct graph_stats *stats = &facts->analysis.graphs[graph];

	json_object_begin(json);
	json_put_u64(json, "id", row->id);
	json_put_u64(json, "pid", graph_pid(trace, graph));
	json_put_u64(json, "replays", stats->replays);
	json_put_u64(json, "activities", stats->activities);
	json_put_u64(json, "unknown", stats->unknown);
	json_put_u64(json, "spans", stats->span.count);
	tally_put_json(json, "span_", &stats->span);
	json_put_double(json, "critical_path_ns", stats->critical_ns);
	json_put_u64(json, "critical_path_nodes", stats->critical_count);
	json_key(json, "parent");
	if (row->parent == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, trace->graphs[row->parent].id);
	json_nodes(json, trace, row, facts);
	json_edges(json, trace, row);
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

static void json_top(struct json *json, const struct trace *trace,
		     const struct graph_options *options, const struct graph_facts *facts)
{
	json_key(json, "top");
	json_array_begin(json);
	for (uint32_t i = 0; i < graph_shown(options->top, facts->nodes.count); i++) {
		uint32_t node = facts->nodes.rows[i], graph = trace->nodes[node].graph;

		json_row_begin(json);
		json_put_u64(json, "pid", graph_pid(trace, graph));
		json_put_u64(json, "graph", trace->graphs[graph].id);
		json_node(json, trace, node, &facts->analysis.nodes[node]);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_u64(json, "top_count", facts->nodes.count);
}

int graph_put_json(const struct trace *trace, const struct graph_options *options,
		   const struct graph_facts *facts, FILE *out)
{
	uint64_t counts[TRACE_CONFIDENCE_EXACT + 1] = {0};
	struct json json;

	count_confidence(trace, counts);
	json_init(&json, out);
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
		if (graph_is_wanted(trace, options, i))
			json_graph(&json, trace, i, facts);
	}
	json_array_end(&json);
	json_execs(&json, trace);
	if (options->top)
		json_top(&json, trace, options, facts);
	json_object_end(&json);
	return json_finish(&json);
}
