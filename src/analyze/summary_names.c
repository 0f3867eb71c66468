/* Names and keys of a summary's rows (summary_rows.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/summary_rows.h"

#define PATH_DEPTH_MAX 256 /* nested scopes of a path that are shown */

/* Bit of the key of activities whose node is not known; the lower bits are the graph. */
#define NO_NODE (UINT64_C(1) << 32)

const char *summary_direction_text(enum trace_copy_direction direction)
{
	static const char *const texts[] = {
		[TRACE_COPY_UNKNOWN] = "copy",	       [TRACE_H2H] = "copy host to host",
		[TRACE_H2D] = "copy host to device",   [TRACE_D2H] = "copy device to host",
		[TRACE_D2D] = "copy device to device", [TRACE_P2P] = "copy device to peer",
	};

	return texts[direction];
}

uint64_t summary_graph_key(const struct trace *trace, uint32_t launch)
{
	uint32_t graph = trace->execs[trace->launches[launch].exec].graph;

	return graph == TRACE_NONE ? SUMMARY_NO_KEY - 1 : graph;
}

uint64_t summary_node_key(const struct trace *trace, const struct trace_activity *row)
{
	if (row->node != TRACE_NONE)
		return row->node;
	return NO_NODE | (uint32_t)summary_graph_key(trace, row->launch);
}

/* Numbers the path of a scope: scopes with the same text below the same path have the same path.
 * The parent of a scope may come after it in the array if another thread opened it, so the function
 * goes up to the first scope that has a number. */
static int number_path(struct summary_paths *paths, const struct trace *trace, uint32_t scope)
{
	uint32_t chain[PATH_DEPTH_MAX];
	uint32_t depth = 0, parent;

	while (scope != TRACE_NONE && paths->of_scope[scope] == TRACE_NONE &&
	       depth < PATH_DEPTH_MAX) {
		chain[depth++] = scope;
		scope = trace->scopes[scope].parent;
	}
	parent = scope == TRACE_NONE ? TRACE_NONE : paths->of_scope[scope];
	while (depth) {
		uint32_t at = chain[--depth];

		parent = numbers_get(&paths->numbers, parent, trace_scope_label(trace, at));
		if (parent == NUMBERS_NONE)
			return -ENOMEM;
		paths->of_scope[at] = parent;
	}
	return 0;
}

int summary_paths_make(const struct trace *trace, struct summary_paths *paths)
{
	uint32_t count = trace->scopes_count;

	paths->of_scope = malloc(((size_t)count + 1) * sizeof(*paths->of_scope));
	if (!paths->of_scope)
		return -ENOMEM;
	memset(paths->of_scope, 0xff, ((size_t)count + 1) * sizeof(*paths->of_scope));
	for (uint32_t i = 0; i < count; i++) {
		if (number_path(paths, trace, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

void summary_paths_release(struct summary_paths *paths)
{
	free(paths->of_scope);
	numbers_release(&paths->numbers);
}

static char *path_text(const struct trace *trace, const struct summary_paths *paths, uint32_t path)
{
	uint32_t chain[PATH_DEPTH_MAX];
	uint32_t depth = 0;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	while (path != TRACE_NONE && depth < PATH_DEPTH_MAX) {
		chain[depth++] = path;
		path = (uint32_t)paths->numbers.pairs[path].high;
	}
	while (depth) {
		trace_string part = (uint32_t)paths->numbers.pairs[chain[--depth]].low;

		fprintf(out, "%s%s", trace_text(trace, part), depth ? "/" : "");
	}
	return fclose(out) == 0 ? text : NULL;
}

static char *stream_text(const struct trace *trace, uint32_t stream)
{
	const struct trace_stream *row = &trace->streams[stream];
	const struct trace_process *process = &trace->processes[row->process];
	char gpu[32] = "GPU ?", *text;

	if (row->agent != TRACE_NONE)
		snprintf(gpu, sizeof(gpu), "GPU %u", trace->agents[row->agent].gpu_ordinal);
	if (asprintf(&text, "process %u %s stream %u%s", process->pid, gpu, row->ordinal,
		     row->ordinal ? "" : " (null)") < 0)
		return NULL;
	return text;
}

static char *graph_text(const struct trace *trace, uint64_t graph)
{
	char *text;

	if (graph == SUMMARY_NO_KEY - 1)
		return strdup("(graph not recorded)");
	if (asprintf(&text, "process %u graph %" PRIu64,
		     trace->processes[trace->graphs[graph].process].pid,
		     trace->graphs[graph].id) < 0)
		return NULL;
	return text;
}

/* The name of a node's row. It has no pid, so that recordings of a program that makes the same
 * graphs have the same names, and `dagtap diff` matches them. */
static char *node_text(const struct trace *trace, uint64_t key)
{
	const struct trace_node *node = key < NO_NODE ? &trace->nodes[key] : NULL;
	uint32_t graph = node ? node->graph : (uint32_t)key;
	char process[32] = "", *text;
	int length;

	if (graph == (uint32_t)(SUMMARY_NO_KEY - 1))
		return strdup("(graph not recorded)");
	if (trace->processes_count > 1)
		snprintf(process, sizeof(process), "process %u ", trace->graphs[graph].process + 1);
	if (node)
		length = asprintf(&text, "%sgraph %" PRIu64 " node %u: %s", process,
				  trace->graphs[graph].id, node->index,
				  trace_text(trace, node->name));
	else
		length = asprintf(&text, "%sgraph %" PRIu64 " (node not known)", process,
				  trace->graphs[graph].id);
	return length < 0 ? NULL : text;
}

char *summary_row_name(const struct trace *trace, enum summary_by by, uint64_t key,
		       const struct summary_paths *paths)
{
	switch (by) {
	case SUMMARY_BY_KERNEL:
		return strdup(key ? trace_text(trace, (uint32_t)key) : "(unknown kernel)");
	case SUMMARY_BY_COPY:
		return strdup(key == UINT32_MAX ? "memset" : summary_direction_text(key));
	case SUMMARY_BY_STREAM:
		return key == TRACE_NONE ? strdup("(no stream known)")
					 : stream_text(trace, (uint32_t)key);
	case SUMMARY_BY_GRAPH:
		return graph_text(trace, key);
	case SUMMARY_BY_NODE:
		return node_text(trace, key);
	case SUMMARY_BY_SCOPE:
		return key == TRACE_NONE ? strdup("(no scope)")
					 : path_text(trace, paths, (uint32_t)key);
	case SUMMARY_BY_API:
		return strdup(trace_text(trace, (uint32_t)key));
	}
	return NULL;
}
