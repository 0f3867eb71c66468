/* Runs a scene in a child and loads its recording: cuda_scene.h. */
#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "capture/scope.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

/* The traces of the case that runs. */
static struct trace **traces;
static size_t traces_count;

int play_teardown(void **state)
{
	while (traces_count)
		trace_close(traces[--traces_count]);
	free(traces);
	traces = NULL;
	return fixture_teardown(state);
}

void play_start(void)
{
	setenv("DAGTAP_CUPTI", MODEL_CUPTI, 1);
	session_arm();
	expect(InitializeInjection() == 1);
}

void play_start_with_all_calls(void)
{
	setenv("DAGTAP_CALLS", "all", 1);
	play_start();
}

void play_layers(void)
{
	static const char *const layers[] = {"embed", "attend", "project"};

	play_graph(GRAPH);
	for (uint32_t i = 0; i < 3; i++) {
		scope_push(RECORD_SCOPE_DAGTAP, layers[i]);
		play_node(GRAPH, 11 + i, CUDA_NODE_KERNEL);
		scope_pop(RECORD_SCOPE_DAGTAP);
		if (i)
			play_edge(GRAPH, 10 + i, 11 + i);
	}
}

void play_instantiate(void)
{
	play_graph_clone(EXEC_GRAPH, GRAPH);
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(EXEC_GRAPH, 101 + i, 11 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
}

void play_start_with_graph(void)
{
	play_start();
	play_layers();
	play_instantiate();
}

void play_replay(uint32_t correlation, uint32_t exec, uint64_t first, const char *name)
{
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(correlation, exec, first + i, name);
}

struct trace *play_scene(struct fixture *fixture, void (*scene)(void))
{
	struct dagtap_error error;
	struct trace *trace;

	if (traces_count)
		assert_int_equal(fixture_renew(fixture), 0);
	traces = realloc(traces, (traces_count + 1) * sizeof(*traces));
	assert_non_null(traces);
	assert_int_equal(in_child(fixture->folder, scene), 0);
	if (trace_open(fixture->folder, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	traces[traces_count++] = trace;
	return trace;
}

const struct trace_activity *play_find_kernel(const struct trace *trace, const char *name)
{
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_work *work = trace_work_of(trace, &trace->activities[i]);

		if (!strcmp(trace_text(trace, work->name), name))
			return &trace->activities[i];
	}
	fail_msg("no kernel \"%s\"", name);
	return NULL;
}

const struct trace_source *play_source(const struct trace *trace, const char *name)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (!strcmp(trace_text(trace, trace->sources[i].name), name))
			return &trace->sources[i];
	}
	fail_msg("no line \"%s\" in the ledger", name);
	return NULL;
}

const struct trace_event_record *play_producer(const struct trace *trace, uint32_t wait)
{
	assert_true(wait < trace->waits_count);
	assert_int_not_equal(trace->waits[wait].producer, TRACE_NONE);
	return &trace->event_records[trace->waits[wait].producer];
}

bool play_line_says(const struct trace *trace, const char *line, const char *text)
{
	const struct trace_source *source = play_source(trace, line);

	return source->text && strstr(trace_text(trace, source->text), text);
}

void play_assert_closed(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].unexplained)
			fail_msg("%s: %llu unexplained", trace_text(trace, trace->sources[i].name),
				 (unsigned long long)trace->sources[i].unexplained);
	}
	assert_true(ledger_is_closed(trace));
}
