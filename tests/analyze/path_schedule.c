/* Writes the records of hand-made programs: path_schedule.h. */
#include "path_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define AGENT  0x2800 /* a GPU whose ticks are the host's ns */
#define QUEUE  2
#define GRAPH  7
#define EXEC   31
#define DEVICE RECORD_CUDA_AGENT_FIRST

enum work {
	CALL_STREAM_CREATE = 100,
	CALL_RECORD,
	CALL_WAIT,
	CALL_EVENT_SYNC,
	CALL_STREAM_SYNC,
	CALL_DEVICE_SYNC,
	WORK_COPY,
	CALL_BLOCKING_COPY,
	CALL_KERNEL,
	CALL_GRAPH_LAUNCH,
	CALL_EVENT_CREATE,
	CALL_EXT_KERNEL,
	CALL_CUDA = RECORD_CUDA_FUNCTION_RUNTIME
};

static uint64_t at(int64_t ns)
{
	return (uint64_t)(BASE_NS + ns);
}

static void put_text(struct schedule *schedule, enum record_type type, uint32_t tag,
		     const void *fixed, size_t fixed_bytes, const char *text)
{
	char record[256] = {0};

	memcpy(record, fixed, fixed_bytes);
	memcpy(record + fixed_bytes, text, strlen(text));
	scene_put(&schedule->scene, 0, type, tag, record, fixed_bytes + strlen(text));
}

static void put_api(struct schedule *schedule, uint32_t work, const char *text)
{
	struct record_api_name record = {
		.domain = work >= CALL_CUDA ? RECORD_DOMAIN_CUDA : RECORD_DOMAIN_HIP,
		.text_bytes = strlen(text),
	};

	put_text(schedule, RECORD_API_NAME, work, &record, sizeof(record), text);
}

static void put_machine(struct schedule *schedule)
{
	struct record_agent gpu = {.handle = AGENT, .tick_hz = 1000000000, .is_gpu = 1};
	struct record_queue queue = {
		.handle = 0x4000, .agent = AGENT, .size = 4096, .mode = RECORD_QUEUE_HARVEST};
	uint32_t index = schedule->is_cuda ? RECORD_CUDA_AGENT_FIRST : 2;
	uint32_t clock = schedule->is_cuda ? RECORD_CUDA_CLOCK : 2;

	if (schedule->is_cuda)
		gpu.handle = RECORD_CUDA_AGENT_FIRST;
	scene_put(&schedule->scene, 0, RECORD_AGENT, index, &gpu, sizeof(gpu));
	if (!schedule->is_cuda)
		scene_put(&schedule->scene, 0, RECORD_QUEUE, QUEUE, &queue, sizeof(queue));
	for (uint64_t ns = 1000; ns <= 10000000; ns *= 10) {
		struct record_anchor anchor = {
			.tick = ns, .host_ns = ns, .system_ns = ns, .uncertainty_ns = 1};

		scene_put(&schedule->scene, 0, RECORD_ANCHOR, clock, &anchor, sizeof(anchor));
	}
}

static void put_call(struct schedule *schedule, uint64_t cid, uint32_t work, uint32_t activities,
		     struct span span, const uint64_t args[5])
{
	struct {
		struct record_api api;
		uint64_t args[5];
	} record = {.api = {.cid = cid,
			    .scope = schedule->scope,
			    .begin_ns = at(span.begin),
			    .end_ns = at(span.end),
			    .activities = activities}};

	if (args)
		memcpy(record.args, args, sizeof(record.args));
	scene_put(&schedule->scene, 0, RECORD_API, work, &record, sizeof(record));
}

#define ARGS(...) ((const uint64_t[5]){__VA_ARGS__})

void schedule_init(struct schedule *schedule, bool is_cuda)
{
	*schedule = (struct schedule){.is_cuda = is_cuda, .kernels = 10};
	scene_init(&schedule->scene, 1);
	put_machine(schedule);
	if (is_cuda) {
		put_api(schedule, CALL_CUDA, "cudaCall");
		return;
	}
	put_api(schedule, CALL_STREAM_CREATE, "hipStreamCreateWithFlags stream:o flags:u");
	put_api(schedule, CALL_EVENT_CREATE, "hipEventCreate event:o");
	put_api(schedule, CALL_RECORD, "hipEventRecord event:h stream:h");
	put_api(schedule, CALL_WAIT, "hipStreamWaitEvent stream:h event:h flags:u");
	put_api(schedule, CALL_EVENT_SYNC, "hipEventSynchronize event:h");
	put_api(schedule, CALL_STREAM_SYNC, "hipStreamSynchronize stream:h");
	put_api(schedule, CALL_DEVICE_SYNC, "hipDeviceSynchronize");
	put_api(schedule, WORK_COPY, "hipMemcpyAsync dst:p src:p sizeBytes:s kind:e stream:h");
	put_api(schedule, CALL_BLOCKING_COPY, "hipMemcpy dst:p src:p sizeBytes:s kind:e");
	put_api(schedule, CALL_KERNEL, "hipLaunchKernel function:h stream:h");
	put_api(schedule, CALL_EXT_KERNEL,
		"hipExtLaunchKernel function:h stream:h startEvent:h stopEvent:h");
	put_api(schedule, CALL_GRAPH_LAUNCH, "hipGraphLaunch graphExec:h stream:h");
	for (uint64_t event = EVENT_1; event <= EVENT_3; event++)
		put_call(schedule, scene_reserve_cid(&schedule->scene), CALL_EVENT_CREATE, 0,
			 (struct span){-900, -899}, ARGS(event));
}

void schedule_stream(struct schedule *schedule, uint64_t stream, uint32_t flags)
{
	put_call(schedule, scene_reserve_cid(&schedule->scene), CALL_STREAM_CREATE, 0,
		 (struct span){-800, -799}, ARGS(stream, flags));
}

/* ---- work ---- */

static uint32_t name_kernel(struct schedule *schedule, const char *name)
{
	struct record_kernel kernel = {.kernel_object = 0x10000 + schedule->kernels * 64ull,
				       .agent = AGENT,
				       .name_bytes = (uint32_t)strlen(name)};
	struct record_function function = {.handle = 0x500 + schedule->kernels};

	put_text(schedule, RECORD_KERNEL, schedule->kernels, &kernel, sizeof(kernel), name);
	put_text(schedule, RECORD_FUNCTION, (uint32_t)strlen(name), &function, sizeof(function),
		 name);
	return schedule->kernels++;
}

static void dispatch(struct schedule *schedule, uint64_t cid, uint32_t ordinal, uint32_t kernel,
		     int64_t submit, struct span run)
{
	struct record_dispatch record = {
		.packet_index = schedule->scene.next_packet++,
		.cid = cid,
		.scope = schedule->scope,
		.ns = at(submit),
		.kernel = kernel,
		.ordinal = ordinal,
		.grid = {1, 1, 1},
		.workgroup = {1, 1, 1},
		.packet_header = schedule->is_in_order ? 1 << 8 : 0,
		.tid = 10,
	};
	struct record_dispatch_done done = {
		.packet_index = record.packet_index,
		.start_tick = at(run.begin),
		.end_tick = at(run.end),
	};

	scene_put(&schedule->scene, 0, RECORD_DISPATCH, QUEUE, &record, sizeof(record));
	scene_put(&schedule->scene, 1, RECORD_DISPATCH_DONE, QUEUE, &done, sizeof(done));
}

void schedule_streams(struct schedule *schedule, uint32_t count, uint32_t flags)
{
	for (uint32_t i = 0; i < count; i++)
		schedule_stream(schedule, STREAM_1 + i, flags);
}

void schedule_kernel(struct schedule *schedule, uint64_t stream, const char *name, struct span call,
		     int64_t submit, struct span run)
{
	uint64_t cid = scene_reserve_cid(&schedule->scene);
	uint32_t kernel = name_kernel(schedule, name);

	if (schedule->is_cuda) {
		struct record_cuda_kernel record = {
			.cid = cid,
			.start = at(run.begin),
			.end = at(run.end),
			.context = 1,
			.stream = (uint32_t)stream,
			.grid = {1, 1, 1},
			.block = {1, 1, 1},
		};

		put_call(schedule, cid, CALL_CUDA, 1, call, NULL);
		scene_put(&schedule->scene, 1, RECORD_CUDA_KERNEL, kernel, &record, sizeof(record));
		return;
	}
	put_call(schedule, cid, CALL_KERNEL, 1, call, ARGS(0x500 + kernel, stream));
	dispatch(schedule, cid, 0, kernel, submit, run);
}

void schedule_ext_kernel(struct schedule *schedule, uint64_t stream, const char *name,
			 struct span call, int64_t submit, struct span run)
{
	uint64_t cid = scene_reserve_cid(&schedule->scene);
	uint32_t kernel = name_kernel(schedule, name);

	put_call(schedule, cid, CALL_EXT_KERNEL, 1, call,
		 ARGS(0x500 + kernel, stream, EVENT_1, EVENT_2));
	dispatch(schedule, cid, 0, kernel, submit, run);
}

void schedule_copy(struct schedule *schedule, uint64_t stream, bool blocking, struct span call,
		   int64_t submit, struct span run)
{
	uint64_t cid = scene_reserve_cid(&schedule->scene);
	struct record_copy record = {
		.copy_id = ++schedule->copies,
		.cid = cid,
		.ns = at(submit),
		.bytes = 64,
		.dst_agent = blocking ? SCENE_AGENT_CPU : AGENT,
		.src_agent = blocking ? AGENT : SCENE_AGENT_CPU,
		.tid = 10,
	};
	struct record_copy_done done = {
		.copy_id = record.copy_id,
		.start = at(run.begin),
		.end = at(run.end),
	};

	put_call(schedule, cid, blocking ? CALL_BLOCKING_COPY : WORK_COPY, 1, call,
		 ARGS(1, 2, 64, blocking ? 2 : 1, stream));
	scene_put(&schedule->scene, 0, RECORD_COPY, RECORD_COPY_LINEAR, &record, sizeof(record));
	scene_put(&schedule->scene, 1, RECORD_COPY_DONE, RECORD_UNTIMED_NO, &done, sizeof(done));
}

/* ---- events and waits ---- */

static void put_sync(struct schedule *schedule, uint64_t cid, enum record_cuda_sync_type type,
		     uint64_t stream, uint64_t event)
{
	struct record_cuda_sync record = {
		.cid = cid,
		.start = at(0),
		.end = at(1),
		.context = 1,
		.stream = (uint32_t)stream,
		.event = (uint32_t)event,
	};

	scene_put(&schedule->scene, 0, RECORD_CUDA_SYNC, type, &record, sizeof(record));
}

void schedule_record(struct schedule *schedule, uint64_t event, uint64_t stream, struct span call)
{
	uint64_t cid = scene_reserve_cid(&schedule->scene);
	struct record_cuda_event record = {.cid = cid, .context = 1, .stream = (uint32_t)stream};

	if (!schedule->is_cuda) {
		put_call(schedule, cid, CALL_RECORD, 0, call, ARGS(event, stream));
		return;
	}
	put_call(schedule, cid, CALL_CUDA, 0, call, NULL);
	scene_put(&schedule->scene, 0, RECORD_CUDA_EVENT, (uint32_t)event, &record, sizeof(record));
}

void schedule_wait(struct schedule *schedule, uint64_t stream, uint64_t event, struct span call)
{
	uint64_t cid = scene_reserve_cid(&schedule->scene);

	put_call(schedule, cid, schedule->is_cuda ? CALL_CUDA : CALL_WAIT, 0, call,
		 ARGS(stream, event));
	if (schedule->is_cuda)
		put_sync(schedule, cid, RECORD_CUDA_SYNC_STREAM_WAIT, stream, event);
}

void schedule_event_sync(struct schedule *schedule, uint64_t event, struct span call)
{
	put_call(schedule, scene_reserve_cid(&schedule->scene), CALL_EVENT_SYNC, 0, call,
		 ARGS(event));
}

void schedule_stream_sync(struct schedule *schedule, uint64_t stream, struct span call)
{
	put_call(schedule, scene_reserve_cid(&schedule->scene), CALL_STREAM_SYNC, 0, call,
		 ARGS(stream));
}

void schedule_device_sync(struct schedule *schedule, struct span call)
{
	put_call(schedule, scene_reserve_cid(&schedule->scene), CALL_DEVICE_SYNC, 0, call, NULL);
}

/* ---- graphs and scopes ---- */

static struct record_graph_node make_node(struct schedule *schedule, const char *name)
{
	struct record_graph_node node = {.graph_id = GRAPH, .ns = schedule->scene.ns};

	if (name[0] == '!' || name[0] == '?') {
		node.type = name[0] == '!' ? RECORD_NODE_EVENT_RECORD : RECORD_NODE_EVENT_WAIT;
		node.event = EVENT_1 + (uint64_t)(name[1] - '1');
		return node;
	}
	node.type = RECORD_NODE_KERNEL;
	node.function = 0x500 + name_kernel(schedule, name);
	for (int axis = 0; axis < 3; axis++)
		node.grid[axis] = node.block[axis] = 1;
	return node;
}

void schedule_graph(struct schedule *schedule, const char *const *names, const uint32_t (*edges)[2],
		    uint32_t edge_count)
{
	struct record_graph graph = {.graph_id = GRAPH, .edge_count = edge_count};
	struct record_graph_exec exec = {.exec_id = EXEC, .graph_id = GRAPH};

	while (names[graph.node_count])
		graph.node_count++;
	scene_put(&schedule->scene, 0, RECORD_GRAPH, 0, &graph, sizeof(graph));
	for (uint32_t i = 0; i < graph.node_count; i++) {
		struct record_graph_node node = make_node(schedule, names[i]);

		scene_put(&schedule->scene, 0, RECORD_GRAPH_NODE, i, &node, sizeof(node));
	}
	for (uint32_t i = 0; i < edge_count; i++) {
		struct record_graph_edge edge = {
			.graph_id = GRAPH, .from = edges[i][0], .to = edges[i][1]};

		scene_put(&schedule->scene, 0, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	}
	scene_put(&schedule->scene, 0, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
}

void schedule_launch(struct schedule *schedule, uint64_t stream, uint32_t activities,
		     struct span call)
{
	struct record_graph_launch record = {
		.exec_id = EXEC, .replay = RECORD_REPLAY_UNCOUNTED, .stream = stream};

	schedule->launch = record.cid = scene_reserve_cid(&schedule->scene);
	schedule->launched = 0;
	scene_put(&schedule->scene, 0, RECORD_GRAPH_LAUNCH, 0, &record, sizeof(record));
	put_call(schedule, record.cid, CALL_GRAPH_LAUNCH, activities, call, ARGS(EXEC, stream));
}

void schedule_node(struct schedule *schedule, const char *name, int64_t submit, struct span run)
{
	dispatch(schedule, schedule->launch, schedule->launched++, name_kernel(schedule, name),
		 submit, run);
}

void schedule_scope(struct schedule *schedule, uint64_t id, const char *text, struct span span)
{
	struct record_scope scope = {
		.id = id,
		.parent = schedule->scope,
		.ns = at(span.begin),
		.text_bytes = strlen(text),
	};
	struct record_scope_end end = {.id = id, .ns = at(span.end)};

	put_text(schedule, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &scope, sizeof(scope), text);
	scene_put(&schedule->scene, 0, RECORD_SCOPE_END, 0, &end, sizeof(end));
}

/* ---- results ---- */

struct trace *schedule_load(struct schedule *schedule)
{
	struct trace *trace;

	scene_close(&schedule->scene);
	trace = scene_load(&schedule->scene);
	scene_release(&schedule->scene);
	return trace;
}
