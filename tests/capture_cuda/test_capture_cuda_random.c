/*
 * Random records and steps of graphs, many of which CUDA would never bring: every one is accounted
 * for, and what is made of them is consistent.
 */
#include "cuda_scene.h"

#include "../launched.h"
#include "capture/capture_session.h"

enum { SEEDS = 24, STEPS = 1500, STEP_NS = 1000, NAMES = 5 };

static const char *const names[NAMES] = {"a", "b", "c", "", NULL};

static uint64_t state, seed;
static uint64_t made_ns; /* a clock of its own, so that a seed always makes the same records */

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 8;
}

/* Returns at most MOST, now and then far more. */
static uint64_t any(uint64_t most)
{
	uint64_t value = next();

	return next() % 32 ? value % (most + 1) : value;
}

/* Returns mostly small numbers, which occur several times; large ones refer to nothing. */
static uint64_t few(void)
{
	return any(15);
}

static uint64_t any_time(void)
{
	switch (next() % 8) {
	case 0:
		return 0;
	case 1:
		return next();
	default:
		return made_ns + next() % 65536;
	}
}

static void put_any_kernel(void)
{
	struct cupti_kernel kernel = play_kernel((uint32_t)few(), names[next() % NAMES]);

	kernel.start = any_time();
	kernel.end = any_time();
	kernel.gridX = (int32_t)any(99);
	kernel.blockX = (int32_t)any(99);
	kernel.deviceId = (uint32_t)few();
	kernel.contextId = (uint32_t)few();
	kernel.streamId = (uint32_t)few();
	kernel.graphId = (uint32_t)few();
	kernel.graphNodeId = few();
	PLAY_PUT(kernel);
}

static void put_any_copy(void)
{
	struct cupti_memcpy copy = play_copy((uint32_t)few(), any(4096));
	struct cupti_memset fill = play_fill((uint32_t)few(), any(4096));

	copy.copyKind = (uint8_t)any(20);
	copy.start = any_time();
	copy.graphId = (uint32_t)few();
	copy.graphNodeId = few();
	PLAY_PUT(copy);
	fill.end = any_time();
	fill.graphNodeId = few();
	PLAY_PUT(fill);
}

static void put_any_wait(void)
{
	struct cupti_cuda_event event = {
		.kind = CUPTI_KIND_CUDA_EVENT,
		.correlationId = (uint32_t)few(),
		.contextId = (uint32_t)few(),
		.streamId = (uint32_t)few(),
		.eventId = (uint32_t)few(),
		.deviceId = (uint32_t)few(),
		.deviceTimestamp = any_time(),
		.cudaEventSyncId = few(),
	};
	struct cupti_synchronization sync = {
		.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = (uint32_t)any(6),
		.start = any_time(),
		.end = any_time(),
		.correlationId = (uint32_t)few(),
		.contextId = (uint32_t)few(),
		.streamId = (uint32_t)few(),
		.cudaEventId = (uint32_t)few(),
		.cudaEventSyncId = few(),
	};

	PLAY_PUT(event);
	PLAY_PUT(sync);
}

static void take_any_step(void)
{
	static const enum cupti_resource steps[] = {
		CUPTI_GRAPH_CREATED,
		CUPTI_GRAPH_CLONED,
		CUPTI_GRAPH_DESTROY_STARTING,
		CUPTI_GRAPHNODE_CREATED,
		CUPTI_GRAPHNODE_CLONED,
		CUPTI_GRAPHNODE_DESTROY_STARTING,
		CUPTI_GRAPHNODE_DEPENDENCY_CREATED,
		CUPTI_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
		CUPTI_GRAPHEXEC_CREATED,
		CUPTI_GRAPHEXEC_DESTROY_STARTING,
		CUPTI_GRAPH_NODE_UPDATED,
	};
	struct cupti_graph_data data = {
		.graph = (void *)few(),
		.originalGraph = (void *)few(),
		.node = (void *)few(),
		.originalNode = (void *)few(),
		.nodeType = (uint32_t)any(16),
		.dependency = (void *)few(),
		.graphExec = (void *)few(),
	};

	model_resource(steps[next() % (sizeof(steps) / sizeof(*steps))], &data);
}

/* With steps of graphs inside the call, as in calls that make or update graphs. */
static void make_any_call(uint32_t correlation)
{
	struct model_open call;

	if (next() % 4 == 0) {
		play_launch_with(correlation, (uint32_t)few(), (int)(next() & 1));
		return;
	}
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, (uint32_t)(next() % 500), correlation,
		    "cudaSomething", NULL);
	for (uint64_t i = next() % 4; i-- > 0;)
		take_any_step();
	model_leave(&call, (int)(next() & 1));
}

static void anything(void)
{
	uint32_t correlation = 0;

	state = 0x9e3779b97f4a7c15u * (seed + 1);
	play_start();
	play_device(0, "first");
	made_ns = model_now();
	for (uint32_t i = 0; i < STEPS; i++, made_ns += STEP_NS) {
		switch (next() % 5) {
		case 0:
			make_any_call(++correlation);
			break;
		case 1:
			take_any_step();
			break;
		case 2:
			put_any_copy();
			break;
		case 3:
			put_any_wait();
			break;
		default:
			put_any_kernel();
			break;
		}
	}
	session_stop();
}

static void assert_accounted_for(const struct trace *trace)
{
	const struct trace_source *source = play_source(trace, "cuda");
	uint64_t rows = trace->activities_count + trace->event_records_count;

	assert_int_equal(source->received, source->expected);
	assert_int_equal(source->joined + source->orphan_activities, trace->activities_count);
	/* Waits in a capture would become edges; there are no captures here. */
	assert_int_equal(rows + trace->waits_count, source->received);
	assert_int_equal(play_source(trace, "cuda.call")->unexplained, 0);
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_true(row->end_ns >= row->start_ns);
		assert_true(row->node == TRACE_NONE || row->node < trace->nodes_count);
	}
}

static void whatever_comes_is_accounted_for(void **fixture)
{
	/* Different seeds of the test use different seeds here. */
	uint64_t first = (test_seed() - 1) * SEEDS;

	for (seed = first; seed != first + SEEDS; seed++) {
		struct trace *trace = play_scene(*fixture, anything);

		assert_accounted_for(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(whatever_comes_is_accounted_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
