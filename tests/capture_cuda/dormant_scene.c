/* Graphs that are made while nothing is recorded: see dormant_scene.h. */
#include "dormant_scene.h"

#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/scope.h"

uint32_t dormant_launches;

void dormant_start(void)
{
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	session_arm();
	switch_configure();
	play_start();
	expect(!session_is_on());
}

void dormant_record(uint32_t count)
{
	scope_push_nvtx(0, "step", NULL, 0);
	expect(session_is_on());
	for (uint32_t i = 0; i < count; i++) {
		play_launch(++dormant_launches, EXEC);
		play_replay(dormant_launches, EXEC, 101, "kernel");
	}
	scope_pop_nvtx(0);
	expect(!session_is_on());
}

void dormant_exec_gone(uint32_t id)
{
	struct cupti_graph_data data = {.graphExec = (void *)(uintptr_t)id};

	model_resource(CUPTI_GRAPHEXEC_DESTROY_STARTING, &data);
}

void dormant_graph_gone(uint32_t id)
{
	struct cupti_graph_data data = {.graph = (void *)(uintptr_t)id};

	model_resource(CUPTI_GRAPH_DESTROY_STARTING, &data);
}

void dormant_assert_known(const struct trace *trace, uint32_t count)
{
	assert_int_equal(trace->activities_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		const struct trace_graph *graph;

		assert_int_equal(row->confidence, TRACE_CONFIDENCE_EXACT);
		assert_int_not_equal(row->node, TRACE_NONE);
		graph = &trace->graphs[trace->nodes[row->node].graph];
		assert_int_equal(graph->node_count, 3);
		assert_int_equal(graph->edge_count, 2);
	}
	play_assert_closed(trace);
}
