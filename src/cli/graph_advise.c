/* Prints which nodes are updated between replays, as text or JSON (analyze/advise.h). */
#include "cli/graph_advise.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/advise.h"
#include "cli/cli.h"
#include "cli/human.h"
#include "wire/json.h"

#define NODES_NAMED 8 /* most nodes that a line names */

static bool is_wanted(const struct graph_advise_query *query, const struct graph_advice *row)
{
	return query->graph == 0 ||
	       (row->graph != TRACE_NONE && query->trace->graphs[row->graph].id == query->graph);
}

static uint32_t pid_of(const struct trace *trace, uint32_t process)
{
	return trace->processes[process].pid;
}

/* ---- text ---- */

static void print_nodes(const struct trace *trace, const struct advice *advice,
			const struct graph_advice *row)
{
	uint32_t named = row->changed < NODES_NAMED ? row->changed : NODES_NAMED;

	printf("bind %s (node%s", row->changed == 1 ? "this as a slot" : "these as slots",
	       human_ending(row->changed));
	for (uint32_t i = 0; i < named; i++) {
		const struct trace_node *node = &trace->nodes[advice->nodes[row->first_change + i]];

		printf("%s %u", i ? "," : "", node->index);
		if (node->graph != row->graph)
			printf(" of child graph %" PRIu64, trace->graphs[node->graph].id);
	}
	printf("%s)", named < row->changed ? ", ..." : "");
}

static void print_head(const struct trace *trace, const struct advice *advice,
		       const struct graph_advice *row)
{
	uint32_t rest = row->node_count - row->changed;
	char text[2][HUMAN_CHARS];

	printf("process %u graph %" PRIu64 ": ", pid_of(trace, row->process),
	       trace->graphs[row->graph].id);
	printf("%s of %s node%s change%s between replays, ", human_count(row->changed, text[0]),
	       human_count(row->node_count, text[1]), human_ending(row->node_count),
	       row->changed == 1 ? "s" : "");
	printf("%s of host time in %s update%s", human_ns((double)row->host_ns, text[0]),
	       human_count(row->updates + row->whole_updates, text[1]),
	       human_ending(row->updates + row->whole_updates));
	if (row->replays)
		printf(", %s a replay",
		       human_ns((double)row->host_ns / (double)row->replays, text[0]));
	if (row->changed) {
		fputs(": ", stdout);
		print_nodes(trace, advice, row);
	}
	if (rest && row->others_are_fixed)
		printf("; the other%s fixed", rest == 1 ? " is" : "s are");
	putchar('\n');
}

static void print_unknown(const struct graph_advice *row)
{
	char text[HUMAN_CHARS];

	if (row->whole_updates)
		printf("  unknown: which nodes %s update%s of the whole graph changed\n",
		       human_count(row->whole_updates, text), human_ending(row->whole_updates));
	if (row->unplaced)
		printf("  unknown: which nodes %s of the updates changed\n",
		       human_count(row->unplaced, text));
	if (row->has_losses)
		puts("  unknown: updates among what the recording lost (dagtap check)");
}

static void print_graph(const struct trace *trace, const struct advice *advice,
			const struct graph_advice *row)
{
	char text[2][HUMAN_CHARS];

	if (row->graph != TRACE_NONE) {
		print_head(trace, advice, row);
		print_unknown(row);
		return;
	}
	printf("process %u, graphs that are not recorded: %s of host time in %s update%s; ",
	       pid_of(trace, row->process), human_ns((double)row->host_ns, text[0]),
	       human_count(row->updates + row->whole_updates, text[1]),
	       human_ending(row->updates + row->whole_updates));
	puts("unknown: which nodes they changed");
}

static void print_patch(const struct trace *trace, const struct patch_advice *row)
{
	char text[HUMAN_CHARS];

	printf("process %u dagpatch recording 0x%" PRIx64 ": %s slot%s changed, ",
	       pid_of(trace, row->process), row->recording, human_count(row->slots, text),
	       human_ending(row->slots));
	printf("in %s node%s%s, ", human_count(row->nodes, text), human_ending(row->nodes),
	       row->has_table ? " and those that take addresses from the table" : "");
	printf("%s in all", human_ns((double)row->ns, text));
	printf(" for %s step%s", human_count(row->steps, text), human_ending(row->steps));
	for (int i = 0; i < ADVISE_STRATEGIES && row->strategies[i].name; i++)
		printf("%s %s %s", i ? "," : ", changes by",
		       trace_text(trace, row->strategies[i].name),
		       human_count(row->strategies[i].marks, text));
	putchar('\n');
}

static void print_sets(const struct trace *trace, const struct sets_advice *row)
{
	char text[3][HUMAN_CHARS];

	printf("process %u executable graph %" PRIu64 ": ", pid_of(trace, row->process),
	       row->executable);
	printf("%s of %s launch%s ha%s another set of parameters than the one before; ",
	       human_count(row->changed, text[0]), human_count(row->launches, text[1]),
	       row->launches == 1 ? "" : "es", row->changed == 1 ? "s" : "ve");
	printf("%s of these sets had been there, of %s different ones: ",
	       human_count(row->came_back, text[0]), human_count(row->sets, text[1]));
	printf("\"dagpatch run\" can avoid at most %s of %s calls that set a node, ",
	       human_count(row->calls_back, text[0]), human_count(row->calls, text[1]));
	printf("%s of ", human_ns((double)row->ns_back, text[0]));
	printf("%s\n", human_ns((double)row->ns, text[1]));
}

static void print_text(const struct graph_advise_query *query, const struct advice *advice)
{
	uint32_t shown = 0;
	char text[2][HUMAN_CHARS];

	for (uint32_t i = 0; i < advice->graph_count; i++) {
		if (!is_wanted(query, &advice->graphs[i]))
			continue;
		print_graph(query->trace, advice, &advice->graphs[i]);
		shown++;
	}
	if (!shown)
		puts("no updates of graphs");
	if (advice->unplaced_calls)
		printf("unknown: of which graphs %s more update call%s were, %s of host time\n",
		       human_count(advice->unplaced_calls, text[0]),
		       human_ending(advice->unplaced_calls),
		       human_ns((double)advice->unplaced_ns, text[1]));
	for (uint32_t i = 0; i < advice->patch_count; i++)
		print_patch(query->trace, &advice->patches[i]);
	for (uint32_t i = 0; i < advice->set_count; i++)
		print_sets(query->trace, &advice->sets[i]);
}

/* ---- JSON ---- */

static void json_graph(struct json *json, const struct trace *trace, const struct advice *advice,
		       const struct graph_advice *row)
{
	json_object_begin(json);
	json_put_u64(json, "pid", pid_of(trace, row->process));
	json_key(json, "graph");
	if (row->graph == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, trace->graphs[row->graph].id);
	json_put_u64(json, "replays", row->replays);
	json_put_u64(json, "updates", row->updates);
	json_put_u64(json, "updates_of_unknown_nodes", row->unplaced);
	json_put_u64(json, "whole_updates", row->whole_updates);
	json_put_u64(json, "calls", row->calls);
	json_put_u64(json, "host_ns", row->host_ns);
	json_put_u64(json, "node_count", row->node_count);
	json_key(json, "updated_nodes");
	json_array_begin(json);
	for (uint32_t i = 0; i < row->changed; i++) {
		const struct trace_node *node = &trace->nodes[advice->nodes[row->first_change + i]];

		json_row_begin(json);
		json_put_u64(json, "graph", trace->graphs[node->graph].id);
		json_put_u64(json, "id", node->index);
		json_put_text(json, "name", trace_text(trace, node->name));
		json_put_u64(json, "updates", node->update_count);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_bool(json, "has_losses", row->has_losses);
	json_put_bool(json, "others_are_fixed", row->others_are_fixed);
	json_object_end(json);
}

static void json_patch(struct json *json, const struct trace *trace, const struct patch_advice *row)
{
	json_row_begin(json);
	json_put_u64(json, "pid", pid_of(trace, row->process));
	json_put_u64(json, "recording", row->recording);
	json_put_u64(json, "changes", row->marks);
	json_put_u64(json, "steps", row->steps);
	json_put_u64(json, "ns", row->ns);
	json_put_u64(json, "slots", row->slots);
	json_put_u64(json, "nodes", row->nodes);
	json_put_bool(json, "has_table", row->has_table);
	json_key(json, "strategies");
	json_object_begin(json);
	for (int i = 0; i < ADVISE_STRATEGIES && row->strategies[i].name; i++)
		json_put_u64(json, trace_text(trace, row->strategies[i].name),
			     row->strategies[i].marks);
	json_object_end(json);
	json_object_end(json);
}

static void json_sets(struct json *json, const struct trace *trace, const struct sets_advice *row)
{
	json_row_begin(json);
	json_put_u64(json, "pid", pid_of(trace, row->process));
	json_put_u64(json, "executable", row->executable);
	json_put_u64(json, "launches", row->launches);
	json_put_u64(json, "changed", row->changed);
	json_put_u64(json, "came_back", row->came_back);
	json_put_u64(json, "sets", row->sets);
	json_put_u64(json, "calls", row->calls);
	json_put_u64(json, "calls_avoidable", row->calls_back);
	json_put_u64(json, "ns", row->ns);
	json_put_u64(json, "ns_avoidable", row->ns_back);
	json_object_end(json);
}

static void print_json(const struct graph_advise_query *query, const struct advice *advice)
{
	struct json json;

	json_init(&json, stdout);
	json_object_begin(&json);
	json_put_text(&json, "file", query->path);
	json_key(&json, "graphs");
	json_array_begin(&json);
	for (uint32_t i = 0; i < advice->graph_count; i++) {
		if (is_wanted(query, &advice->graphs[i]))
			json_graph(&json, query->trace, advice, &advice->graphs[i]);
	}
	json_array_end(&json);
	json_put_u64(&json, "unplaced_calls", advice->unplaced_calls);
	json_put_u64(&json, "unplaced_ns", advice->unplaced_ns);
	json_key(&json, "dagpatch");
	json_array_begin(&json);
	for (uint32_t i = 0; i < advice->patch_count; i++)
		json_patch(&json, query->trace, &advice->patches[i]);
	json_array_end(&json);
	json_key(&json, "sets");
	json_array_begin(&json);
	for (uint32_t i = 0; i < advice->set_count; i++)
		json_sets(&json, query->trace, &advice->sets[i]);
	json_array_end(&json);
	json_object_end(&json);
	json_finish(&json);
}

int graph_advise(const struct graph_advise_query *query)
{
	struct advice advice;

	if (advise(query->trace, &advice) < 0)
		return cli_fail("out of memory");
	if (query->is_json)
		print_json(query, &advice);
	else
		print_text(query, &advice);
	advice_release(&advice);
	return cli_finish_stdout();
}
