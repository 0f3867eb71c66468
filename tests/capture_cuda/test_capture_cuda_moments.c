/*
 * A recording starts, or stops and starts again, before each instruction that the tool executes in
 * a call. Each recording must account for what it has.
 */
#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "step.h"

enum { THE_GRAPH = 5, THE_EXEC = 20, THE_NODE = 11 };

static uint32_t last_call;

/* Work that is submitted while CUPTI does not record has no record. */
static void put_kernel(const char *name, uint32_t exec, uint64_t node)
{
	if (model_is_enabled())
		play_graph_kernel(last_call, exec, node, name);
}

static void call(void)
{
	struct model_open open;

	model_enter(&open, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, ++last_call, "cudaLaunchKernel",
		    NULL);
	put_kernel("kernel", 0, 0);
	model_leave(&open, 0);
}

static void launch(void)
{
	const struct cupti_graph_launch_params params = {.graphExec = (void *)THE_EXEC};
	struct model_open open;

	model_enter(&open, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, ++last_call,
		    "cudaGraphLaunch", &params);
	put_kernel("node", THE_EXEC, THE_NODE);
	model_leave(&open, 0);
}

static void fail_to_launch(void)
{
	play_launch_with(++last_call, THE_EXEC, 999);
}

/* A call is named when it first occurs; this happens before the call that is tested. */
static void go_on(void)
{
	call();
	launch();
	fail_to_launch();
}

static void begin(void)
{
	const struct cupti_graph_data node = {.graph = (void *)THE_GRAPH, .node = (void *)THE_NODE};
	struct model_open open;

	play_graph(THE_GRAPH);
	model_enter(&open, CUPTI_DOMAIN_RUNTIME, 289, ++last_call, "cudaGraphAddKernelNode", NULL);
	model_resource(CUPTI_GRAPHNODE_CREATED, &node);
	model_leave(&open, 0);
	play_exec(THE_EXEC, THE_GRAPH);
	go_on();
}

static void stop(void)
{
	session_stop();
}

static void start(void)
{
	expect(session_start_again());
}

static void restart(void)
{
	stop();
	start();
}

static struct moment {
	void (*what)(void);
	void (*meanwhile)(void);
	bool is_off_before;
} moment;

static void at_each_instruction(void)
{
	bool was_held = true;

	setenv("DAGTAP_READY", "4M", 1);
	play_start();
	for (uint32_t n = 1; was_held; n++) {
		if (!session_is_on() && !moment.is_off_before)
			start();
		if (session_is_on())
			begin();
		if (moment.is_off_before)
			stop();
		was_held = step_until(n, moment.what, moment.meanwhile);
		if (session_is_on())
			go_on();
	}
	stop();
}

static void assert_all_closed(void **state, const struct moment *what)
{
	struct trace *trace;

	moment = *what;
	trace = play_scene(*state, at_each_instruction);
	assert_in_range(trace->processes_count, 10, 5000);
	play_assert_closed(trace);
}

static void it_starts_again_within_a_call(void **state)
{
	assert_all_closed(state, &(struct moment){call, restart, false});
}

static void it_starts_within_a_call(void **state)
{
	assert_all_closed(state, &(struct moment){call, start, true});
}

static void it_starts_again_within_a_launch(void **state)
{
	assert_all_closed(state, &(struct moment){launch, restart, false});
}

static void it_starts_again_within_a_launch_that_fails(void **state)
{
	assert_all_closed(state, &(struct moment){fail_to_launch, restart, false});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(it_starts_again_within_a_call),
		PLAY_CASE(it_starts_within_a_call),
		PLAY_CASE(it_starts_again_within_a_launch),
		PLAY_CASE(it_starts_again_within_a_launch_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
