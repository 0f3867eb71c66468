/* Finds steps (step_query.h). */
#include "analyze/step_query.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_groups.h"
#include "analyze/scope_instances.h"
#include "analyze/tally.h"
#include "base/numbers.h"
#include "base/sort.h"
#include "trace/row_table.h"
#include "trace/steps.h"

#define OF_EACH_KIND (STEP_CANDIDATES / 2)
#define STEPS_LEAST  3 /* fewer are not shown as the steps of a program */

bool step_query_is_about_graphs(const char *query)
{
	return strncmp(query, STEP_QUERY_GRAPH, strlen(STEP_QUERY_GRAPH)) == 0 &&
	       query[strlen(STEP_QUERY_GRAPH)];
}

/* What QUERY, which is about graphs, says of them: a number, "*" or a name. */
static const char *graph_text(const char *query)
{
	return query + strlen(STEP_QUERY_GRAPH);
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* ---- steps that are there ---- */

static bool find_in_text(const char *text, uint64_t *ret_number)
{
	static const char *const words[] = {"step", "profilerstep", "train", "iteration"};
	char *end;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t at = strlen(words[i]);
		uint64_t number;

		if (strncasecmp(text, words[i], at) != 0)
			continue;
		at += strspn(text + at, " #_:=-");
		if (!isdigit((unsigned char)text[at]))
			continue;
		number = strtoull(text + at, &end, 10);
		if (*end)
			return false;
		*ret_number = number;
		return true;
	}
	return false;
}

bool step_number_find(const struct trace *trace, const struct trace_scope *scope,
		      uint64_t *ret_number)
{
	for (uint32_t i = 0; i < scope->attribute_count; i++) {
		const struct trace_scope_attribute *row =
			&trace->scope_attributes[scope->attribute_first + i];

		if (row->kind != RECORD_ATTRIBUTE_INT64 ||
		    strcmp(trace_text(trace, row->key), RECORD_STEP_KEY) != 0)
			continue;
		*ret_number = (uint64_t)row->value.int64;
		return row->value.int64 >= 0;
	}
	return find_in_text(trace_text(trace, scope->text), ret_number);
}

bool step_exists(const struct trace *trace)
{
	uint64_t number;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (scope_is_interval(&trace->scopes[i]) &&
		    step_number_find(trace, &trace->scopes[i], &number))
			return true;
	}
	return false;
}

/* ---- making steps ---- */

static int make_of_scopes(struct trace *trace, const char *pattern, uint32_t *ret_count)
{
	bool *is_meant = table_zeroed(trace->scopes_count, sizeof(*is_meant));
	struct scope_instances instances = {0};
	int err = -ENOMEM;

	for (uint32_t i = 0; i < trace->scopes_count && is_meant; i++)
		is_meant[i] = scope_is_interval(&trace->scopes[i]) &&
			      scope_matches(trace, &trace->scopes[i], pattern);
	if (is_meant)
		err = scope_instances_find(trace, is_meant, &instances);
	if (err == 0)
		err = trace_make_steps(trace, instances.scopes, instances.count);
	if (err == 0)
		*ret_count = instances.count;
	scope_instances_release(&instances);
	free(is_meant);
	return err;
}

static bool node_matches(const struct trace *trace, const struct trace_node *node, const char *name)
{
	return text_matches(trace_text(trace, node->name), name) ||
	       (node->scope != TRACE_NONE &&
		scope_matches(trace, &trace->scopes[node->scope], name));
}

/* Marks the graphs that TEXT means, by index. */
static void mark_graphs(const struct trace *trace, const char *text, bool *is_meant)
{
	for (uint32_t i = 0; i < trace->graphs_count && is_number(text); i++)
		is_meant[i] = trace->graphs[i].id == strtoull(text, NULL, 10);
	if (is_number(text))
		return;
	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		uint32_t graph = trace->nodes[i].graph;

		if (is_meant[graph] || !node_matches(trace, &trace->nodes[i], text))
			continue;
		/* Of child graphs, those that contain them are launched. In a damaged file the
		 * parents may form a cycle. */
		for (; graph != TRACE_NONE && !is_meant[graph]; graph = trace->graphs[graph].parent)
			is_meant[graph] = true;
	}
}

/* Whether LAUNCH, whose call is in the trace, is of a graph that TEXT means. */
static bool is_of_graph(const struct trace *trace, const struct trace_launch *launch,
			const char *text, const bool *is_meant)
{
	uint32_t graph = trace->execs[launch->exec].graph;

	if (launch->call == TRACE_NONE)
		return false;
	return strcmp(text, "*") == 0 || (graph != TRACE_NONE && is_meant[graph]);
}

/* Orders the launches of the graphs that TEXT means by the begin of their calls. Both ORDER and
 * LAUNCHES have room for all. Returns their number or -ENOMEM. */
static int64_t order_launches(const struct trace *trace, const char *text, const bool *is_meant,
			      struct sort_row *order, uint32_t *launches)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->launches_count; i++) {
		const struct trace_launch *row = &trace->launches[i];

		if (is_of_graph(trace, row, text, is_meant))
			/* The sign bit is inverted, so that negative times come first. */
			order[count++] = (struct sort_row){
				(uint64_t)trace->calls[row->call].begin_ns ^ (uint64_t)INT64_MIN,
				i};
	}
	if (sort_rows(order, count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		launches[i] = order[i].index;
	return count;
}

static int make_of_launches(struct trace *trace, const char *text, uint32_t *ret_count)
{
	struct sort_row *order = table_alloc(trace->launches_count, sizeof(*order));
	uint32_t *launches = table_alloc(trace->launches_count, sizeof(*launches));
	bool *is_meant = table_zeroed(trace->graphs_count, sizeof(*is_meant));
	int64_t count = -ENOMEM;
	int err;

	if (order && launches && is_meant) {
		mark_graphs(trace, text, is_meant);
		count = order_launches(trace, text, is_meant, order, launches);
	}
	err = count < 0 ? (int)count : trace_add_steps(trace, launches, (uint32_t)count);
	if (err == 0)
		*ret_count = (uint32_t)count;
	free(order);
	free(launches);
	free(is_meant);
	return err;
}

int step_query_apply(struct trace *trace, const char *query, uint32_t *ret_count)
{
	if (step_query_is_about_graphs(query))
		return make_of_launches(trace, graph_text(query), ret_count);
	return make_of_scopes(trace, query, ret_count);
}

const char *step_query_pattern(const char *query, char *buffer)
{
	if (!step_query_is_about_graphs(query))
		return query;
	/* The step of a launch has the number of its graph, also where a name chose the graph. */
	snprintf(buffer, STEP_PATTERN_CHARS, "graph %.20s step *",
		 is_number(graph_text(query)) ? graph_text(query) : "*");
	return buffer;
}

/* ---- candidates ---- */

static int find_scopes(const struct trace *trace, struct step_candidate *candidates)
{
	struct scope_groups groups;
	int count = 0;

	if (scope_groups_make(trace, &groups) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < groups.count && count < OF_EACH_KIND; i++) {
		struct step_candidate *row = &candidates[count];

		if (groups.rows[i].projection.count < 2)
			continue;
		scope_group_pattern(groups.rows[i].name, row->query);
		row->count = groups.rows[i].projection.count;
		count++;
	}
	scope_groups_release(&groups);
	return count;
}

/* Adds the graph to the candidates, which are ordered by count. */
static int add_graph(struct step_candidate *candidates, int count, uint64_t graph, uint32_t replays)
{
	int at = count;

	while (at > 0 && candidates[at - 1].count < replays)
		at--;
	if (at == OF_EACH_KIND)
		return count;
	count += count < OF_EACH_KIND;
	memmove(&candidates[at + 1], &candidates[at],
		(size_t)(count - 1 - at) * sizeof(*candidates));
	candidates[at].count = replays;
	snprintf(candidates[at].query, sizeof(candidates[at].query), STEP_QUERY_GRAPH "%" PRIu64,
		 graph);
	return count;
}

/* The replays of all graphs with one id: processes may have the same ids. */
struct graph_count {
	uint64_t id;
	uint32_t replays;
};

/* Counts the launch. Returns 0 or -ENOMEM. */
static int count_launch(const struct trace *trace, const struct trace_launch *launch,
			struct numbers *numbers, struct graph_count **counts, uint32_t *count)
{
	uint32_t graph = trace->execs[launch->exec].graph;
	int64_t number;
	void *added;

	if (graph == TRACE_NONE || launch->call == TRACE_NONE)
		return 0;
	number = numbers_row(numbers, 0, trace->graphs[graph].id, (void **)counts, count,
			     sizeof(**counts), &added);
	if (number < 0)
		return -ENOMEM;
	(*counts)[number].id = trace->graphs[graph].id;
	(*counts)[number].replays++;
	return 0;
}

static int find_graphs(const struct trace *trace, struct step_candidate *candidates)
{
	struct numbers numbers = {0};
	struct graph_count *counts = NULL;
	uint32_t graphs = 0;
	int err = 0, count = 0;

	for (uint32_t i = 0; i < trace->launches_count && err == 0; i++)
		err = count_launch(trace, &trace->launches[i], &numbers, &counts, &graphs);
	for (uint32_t i = 0; i < graphs; i++) {
		if (counts[i].replays >= 2)
			count = add_graph(candidates, count, counts[i].id, counts[i].replays);
	}
	numbers_release(&numbers);
	free(counts);
	return err < 0 ? err : count;
}

int step_candidates_find(const struct trace *trace, struct step_candidate *candidates)
{
	int scopes = find_scopes(trace, candidates);
	int graphs = scopes < 0 ? scopes : find_graphs(trace, candidates + scopes);

	return graphs < 0 ? graphs : scopes + graphs;
}

/* ---- the choice ---- */

/* Adds up, by graph, the launches and the time of their activities. */
static void sum_graphs(const struct trace *trace, uint64_t *ns, uint32_t *replays)
{
	for (uint32_t i = 0; i < trace->launches_count; i++) {
		uint32_t graph = trace->execs[trace->launches[i].exec].graph;

		if (graph != TRACE_NONE && trace->launches[i].call != TRACE_NONE)
			replays[graph]++;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t graph;
		int64_t span_ns;

		if (row->launch == TRACE_NONE || row->untimed)
			continue;
		graph = trace->execs[trace->launches[row->launch].exec].graph;
		span_ns = tally_span(row->start_ns, row->end_ns);
		if (graph != TRACE_NONE && span_ns > 0)
			ns[graph] += (uint64_t)span_ns;
	}
}

static int choose_graph(const struct trace *trace, char *query)
{
	uint64_t *ns = table_zeroed(trace->graphs_count, sizeof(*ns)), most = 0;
	uint32_t *replays = table_zeroed(trace->graphs_count, sizeof(*replays));
	int err = ns && replays ? 0 : -ENOMEM;

	if (err == 0)
		sum_graphs(trace, ns, replays);
	for (uint32_t i = 0; i < trace->graphs_count && err == 0; i++) {
		if (replays[i] < STEPS_LEAST || ns[i] <= most)
			continue;
		most = ns[i];
		snprintf(query, SCOPE_PATTERN_CHARS, STEP_QUERY_GRAPH "%" PRIu64,
			 trace->graphs[i].id);
	}
	free(ns);
	free(replays);
	return err;
}

int step_query_choose(const struct trace *trace, char *query)
{
	struct scope_groups groups;
	int err = scope_groups_make(trace, &groups);

	*query = '\0';
	if (err < 0)
		return err;
	for (uint32_t i = 0; i < groups.count && !*query; i++) {
		if (groups.rows[i].projection.count >= STEPS_LEAST)
			scope_group_pattern(groups.rows[i].name, query);
	}
	scope_groups_release(&groups);
	return *query ? 0 : choose_graph(trace, query);
}
