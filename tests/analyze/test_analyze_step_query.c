/* Replays as steps, in traces of damaged files: what a program cannot have done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/step_query.h"
#include "trace/create.h"
#include "trace/load.h"
#include "trace/row_table.h"

#define REPLAYS 3

/* A process with two graphs, "a" and "b" by the kernel of their node, of which each says that the
 * other contains it. Each was replayed three times, with an activity from 100 to 200. */
static int make_trace(void **state)
{
	struct trace *trace;

	assert_int_equal(trace_create(&trace), 0);
	trace_add(trace, processes)->pid = 100;
	for (uint32_t g = 0; g < 2; g++) {
		*trace_add(trace, graphs) = (struct trace_graph){.id = 10 + g, .parent = 1 - g};
		*trace_add(trace, nodes) = (struct trace_node){
			.graph = g,
			.name = strtab_intern_z(trace_strings(trace), g ? "b" : "a"),
			.scope = TRACE_NONE};
		*trace_add(trace, execs) = (struct trace_exec){.graph = g};
	}
	for (uint32_t i = 0; i < 2 * REPLAYS; i++) {
		*trace_add(trace, activities) = (struct trace_activity){.call = i,
									.scope = TRACE_NONE,
									.node = TRACE_NONE,
									.launch = i,
									.start_ns = 100,
									.end_ns = 200};
		*trace_add(trace, calls) = (struct trace_call){.cid = i + 1,
							       .parent = TRACE_NONE,
							       .scope = TRACE_NONE,
							       .launch = i,
							       .activity_first = i,
							       .activity_count = 1};
		*trace_add(trace, launches) = (struct trace_launch){.exec = i / REPLAYS, .call = i};
	}
	assert_int_equal(trace_seal(trace), 0);
	*state = trace;
	return 0;
}

static int close_trace(void **state)
{
	trace_close(*state);
	return 0;
}

static void graphs_that_contain_each_other(void **state)
{
	uint32_t count;

	assert_int_equal(step_query_apply(*state, "graph:a", &count), 0);
	assert_int_equal(count, 2 * REPLAYS);
}

static void activities_that_end_before_they_start(void **state)
{
	struct trace *trace = *state;
	char query[SCOPE_PATTERN_CHARS];

	trace->activities[0].start_ns = INT64_MAX;
	trace->activities[0].end_ns = INT64_MIN;
	trace->activities[1].start_ns = 300;
	assert_int_equal(step_query_choose(trace, query), 0);
	assert_string_equal(query, "graph:11");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(graphs_that_contain_each_other, make_trace,
						close_trace),
		cmocka_unit_test_setup_teardown(activities_that_end_before_they_start, make_trace,
						close_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
