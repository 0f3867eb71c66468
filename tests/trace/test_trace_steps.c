/* Graph launches as steps: a trace of two processes, whose scopes move to make place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/create.h"
#include "trace/load.h"
#include "trace/row_table.h"
#include "trace/steps.h"

/* Each process has the scopes "main" and, in it, "capture"; a graph, 10 + its index, with one node
 * that was recorded in "capture"; a launch in "main" [100, 200) with an inner call and an activity
 * of each; and a call before it with an activity and an
 * allocation. */
enum { BEFORE, LAUNCH, INNER, CALLS };
enum { MAIN, CAPTURE, SCOPES };

static void add_scope(struct trace *trace, uint32_t process, uint64_t id, uint32_t parent,
		      const char *text)
{
	struct trace_scope *row = trace_add(trace, scopes);

	*row = (struct trace_scope){.process = process, .id = id, .parent = parent, .end_ns = 1000};
	row->text = row->name = strtab_intern_z(trace_strings(trace), text);
}

static void add_call(struct trace *trace, uint32_t process, uint32_t parent, uint32_t launch)
{
	uint32_t scope = process * SCOPES + MAIN, call = trace->calls_count;

	*trace_add(trace, activities) = (struct trace_activity){
		.process = process, .call = call, .scope = scope, .node = TRACE_NONE};
	*trace_add(trace, calls) = (struct trace_call){.process = process,
						       .cid = call % CALLS + 1,
						       .parent = parent,
						       .scope = scope,
						       .launch = launch,
						       .activity_first = call,
						       .activity_count = 1,
						       .thread = 7,
						       .begin_ns = 100,
						       .end_ns = 200};
}

static struct trace *make_trace(void)
{
	struct trace *trace;

	assert_int_equal(trace_create(&trace), 0);
	for (uint32_t p = 0; p < 2; p++) {
		trace_add(trace, processes)->pid = 100 + p;
		add_scope(trace, p, 5, TRACE_NONE, "main");
		add_scope(trace, p, 8, p * SCOPES + MAIN, "capture");
		*trace_add(trace, graphs) = (struct trace_graph){.process = p, .id = 10 + p};
		*trace_add(trace, nodes) =
			(struct trace_node){.graph = p, .scope = p * SCOPES + CAPTURE};
		*trace_add(trace, execs) = (struct trace_exec){.process = p, .graph = p};
		add_call(trace, p, TRACE_NONE, TRACE_NONE);
		add_call(trace, p, TRACE_NONE, p);
		add_call(trace, p, p * CALLS + LAUNCH, TRACE_NONE);
		*trace_add(trace, memory_operations) =
			(struct trace_memory_operation){.process = p, .scope = p * SCOPES + MAIN};
		*trace_add(trace, launches) =
			(struct trace_launch){.process = p, .exec = p, .call = p * CALLS + LAUNCH};
	}
	assert_int_equal(trace_seal(trace), 0);
	return trace;
}

static const char *scope_text(const struct trace *trace, uint32_t scope)
{
	return trace_text(trace, trace->scopes[scope].text);
}

static void expect_process(const struct trace *trace, uint32_t process, const char *step,
			   int64_t number)
{
	const struct trace_call *calls = &trace->calls[(size_t)process * CALLS];
	const struct trace_activity *activities = &trace->activities[(size_t)process * CALLS];
	const struct trace_scope *row = &trace->scopes[calls[LAUNCH].scope];
	const struct trace_scope_attribute *attribute =
		&trace->scope_attributes[row->attribute_first];

	assert_string_equal(trace_text(trace, row->text), step);
	assert_memory_equal(trace_text(trace, row->name), step, strlen(step) - strlen(" 0"));
	assert_int_equal(row->kind, RECORD_SCOPE_STEP);
	assert_int_equal(row->process, process);
	assert_int_equal(row->id, 9);
	assert_int_equal(row->thread, 7);
	assert_int_equal(row->begin_ns, 100);
	assert_int_equal(row->end_ns, 200);
	assert_string_equal(scope_text(trace, row->parent), "main");
	assert_int_equal(row->attribute_count, 1);
	assert_string_equal(trace_text(trace, attribute->key), "step_num");
	assert_int_equal(attribute->value.int64, number);
	assert_int_equal(calls[INNER].scope, calls[LAUNCH].scope);
	assert_int_equal(activities[LAUNCH].scope, calls[LAUNCH].scope);
	assert_int_equal(activities[INNER].scope, calls[LAUNCH].scope);
	assert_string_equal(scope_text(trace, calls[BEFORE].scope), "main");
	assert_int_equal(trace->scopes[calls[BEFORE].scope].process, process);
	assert_int_equal(activities[BEFORE].scope, calls[BEFORE].scope);
	assert_string_equal(scope_text(trace, trace->nodes[process].scope), "capture");
	assert_int_equal(trace->scopes[trace->nodes[process].scope].process, process);
	assert_int_equal(trace->memory_operations[process].scope, calls[BEFORE].scope);
}

static void launches_of_two_processes(void **state)
{
	struct trace *trace = make_trace();

	assert_int_equal(trace_add_steps(trace, (const uint32_t[]){1, 0}, 2), 0);
	assert_int_equal(trace->scopes_count, 6);
	for (uint32_t i = 1; i < trace->scopes_count; i++)
		assert_true(trace->scopes[i - 1].process < trace->scopes[i].process ||
			    (trace->scopes[i - 1].process == trace->scopes[i].process &&
			     trace->scopes[i - 1].id < trace->scopes[i].id));
	expect_process(trace, 0, "graph 10 step 1", 1);
	expect_process(trace, 1, "graph 11 step 0", 0);
	trace_close(trace);
}

static void launch_of_a_graph_that_is_not_known(void **state)
{
	struct trace *trace = make_trace();

	trace->execs[1].graph = TRACE_NONE;
	assert_int_equal(trace_add_steps(trace, (const uint32_t[]){1}, 1), 0);
	assert_int_equal(trace->scopes_count, 5);
	expect_process(trace, 1, "graph * step 0", 0);
	assert_string_equal(scope_text(trace, trace->calls[LAUNCH].scope), "main");
	trace_close(trace);
}

static void no_launch(void **state)
{
	struct trace *trace = make_trace();

	assert_int_equal(trace_add_steps(trace, NULL, 0), 0);
	assert_int_equal(trace->scopes_count, 4);
	assert_string_equal(scope_text(trace, trace->calls[CALLS + LAUNCH].scope), "main");
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_of_two_processes),
		cmocka_unit_test(launch_of_a_graph_that_is_not_known),
		cmocka_unit_test(no_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
