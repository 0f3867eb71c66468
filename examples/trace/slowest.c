/*
 * slowest FILE [COUNT]: shows how to read a trace with libdagtap-trace. Prints the longest kernels
 * of a trace: when they ran, how long, in which scopes, and for which graph node.
 */
#include <dagtap/trace.h>

#include <stdio.h>
#include <stdlib.h>

struct entry {
	int64_t ns;
	uint32_t activity;
};

static int by_time(const void *left, const void *right)
{
	const struct entry *a = (const struct entry *)left, *b = (const struct entry *)right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->activity < b->activity ? -1 : a->activity > b->activity;
}

static void print_scopes(const struct dagtap_trace *trace, uint32_t index)
{
	struct dagtap_trace_scope scope;
	const char *separator = "   under ";

	while (dagtap_trace_get_scope(trace, index, &scope) == 0) {
		printf("%s%s", separator, scope.name);
		separator = " < ";
		index = scope.parent;
	}
}

static void print_activity(const struct dagtap_trace *trace,
			   const struct dagtap_trace_activity *activity)
{
	struct dagtap_trace_launch launch;
	struct dagtap_trace_graph graph;
	struct dagtap_trace_node node;

	printf("%12lld ns  %s", (long long)(activity->end_ns - activity->start_ns), activity->name);
	if (dagtap_trace_get_node(trace, activity->node, &node) == 0 &&
	    dagtap_trace_get_graph(trace, node.graph, &graph) == 0)
		printf("   graph %llu node %lu", (unsigned long long)graph.id,
		       (unsigned long)node.index);
	if (dagtap_trace_get_launch(trace, activity->launch, &launch) == 0)
		printf(" replay %llu", (unsigned long long)launch.replay);
	print_scopes(trace, activity->scope);
	putchar('\n');
}

static void print_longest(const struct dagtap_trace *trace, struct entry *entries, uint32_t wanted)
{
	uint32_t total = dagtap_trace_count(trace, DAGTAP_TRACE_ACTIVITY), count = 0;
	struct dagtap_trace_activity activity;

	for (uint32_t i = 0; i < total; i++) {
		dagtap_trace_get_activity(trace, i, &activity);
		if (activity.kind != DAGTAP_TRACE_KERNEL || !activity.is_timed)
			continue;
		entries[count].ns = activity.end_ns - activity.start_ns;
		entries[count++].activity = i;
	}
	qsort(entries, count, sizeof(*entries), by_time);
	for (uint32_t i = 0; i < count && i < wanted; i++) {
		dagtap_trace_get_activity(trace, entries[i].activity, &activity);
		print_activity(trace, &activity);
	}
}

int main(int argc, char **argv)
{
	uint32_t wanted = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10;
	struct dagtap_trace *trace;
	struct dagtap_error error;
	struct entry *entries;

	if (argc < 2) {
		fprintf(stderr, "usage: slowest FILE [COUNT]\n");
		return 2;
	}
	if (dagtap_trace_open(argv[1], &trace, &error) < 0) {
		fprintf(stderr, "slowest: %s\n", error.message);
		return 1;
	}
	entries = (struct entry *)calloc(dagtap_trace_count(trace, DAGTAP_TRACE_ACTIVITY) + 1,
					 sizeof(*entries));
	if (entries)
		print_longest(trace, entries, wanted);
	free(entries);
	if (!dagtap_trace_is_accounted_for(trace))
		fprintf(stderr, "slowest: %s is not complete: dagtap check says why\n", argv[1]);
	dagtap_trace_close(trace);
	return entries ? 0 : 1;
}
