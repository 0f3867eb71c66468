/* Calls and records as CUPTI reports them, played on the model: cuda_play.h. */
#include "cuda_play.h"

#include <dlfcn.h>
#include <stdlib.h>

#define DEVICE_SYNCHRONIZE 165 /* cudaDeviceSynchronize */
#define PLAYED_NS	   100 /* duration of each activity */

void play_load_tool(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) =
		library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (initialize)
		initialize();
}

void play_call(uint32_t correlation)
{
	model_call(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, correlation, "cudaLaunchKernel");
}

struct cupti_kernel play_kernel(uint32_t correlation, const char *name)
{
	uint64_t now = model_pass(PLAYED_NS);

	return (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.registersPerThread = 32,
		.start = now,
		.end = now + PLAYED_NS,
		.deviceId = DEVICE,
		.contextId = CONTEXT,
		.streamId = STREAM,
		.gridX = 10,
		.gridY = 2,
		.gridZ = 1,
		.blockX = 64,
		.blockY = 1,
		.blockZ = 1,
		.staticSharedMemory = 1024,
		.dynamicSharedMemory = 512,
		.localMemoryPerThread = 16,
		.correlationId = correlation,
		.name = name,
		.clusterX = 1,
		.clusterY = 1,
		.clusterZ = 1,
	};
}

struct cupti_memcpy play_copy(uint32_t correlation, uint64_t bytes)
{
	uint64_t now = model_pass(PLAYED_NS);

	return (struct cupti_memcpy){
		.kind = CUPTI_KIND_MEMCPY,
		.copyKind = CUPTI_COPY_H2D,
		.bytes = bytes,
		.start = now,
		.end = now + PLAYED_NS,
		.deviceId = DEVICE,
		.contextId = CONTEXT,
		.streamId = STREAM,
		.correlationId = correlation,
	};
}

struct cupti_memset play_fill(uint32_t correlation, uint64_t bytes)
{
	uint64_t now = model_pass(PLAYED_NS);

	return (struct cupti_memset){
		.kind = CUPTI_KIND_MEMSET,
		.value = 0xff,
		.bytes = bytes,
		.start = now,
		.end = now + PLAYED_NS,
		.deviceId = DEVICE,
		.contextId = CONTEXT,
		.streamId = STREAM,
		.correlationId = correlation,
	};
}

void play_device(uint32_t device, const char *name)
{
	struct cupti_device record = {
		.kind = CUPTI_KIND_DEVICE,
		.globalMemoryBandwidth = 4800000000,
		.globalMemorySize = 1ull << 37,
		.numThreadsPerWarp = 32,
		.coreClockRate = 1980000,
		.numMultiprocessors = 132,
		.computeCapabilityMajor = 9,
		.id = device,
		.uuid = {0xab, 0xcd},
		.name = name,
	};

	PLAY_PUT(record);
}

void play_wait(uint32_t correlation, enum record_cuda_sync_type type, uint32_t stream,
	       uint32_t event, uint64_t order)
{
	struct cupti_synchronization sync = {
		.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = type,
		.start = model_now(),
		.end = model_now(),
		.correlationId = correlation,
		.contextId = CONTEXT,
		.streamId = stream,
		.cudaEventId = event,
		.cudaEventSyncId = order,
	};

	PLAY_PUT(sync);
}

void play_device_wait(uint32_t correlation)
{
	model_call(CUPTI_DOMAIN_RUNTIME, DEVICE_SYNCHRONIZE, correlation, "cudaDeviceSynchronize");
	play_wait(correlation, RECORD_CUDA_SYNC_CONTEXT, RECORD_CUDA_NONE, RECORD_CUDA_NONE, 0);
}

void play_record(uint32_t event, uint32_t correlation, uint32_t stream, uint64_t order)
{
	struct cupti_cuda_event record = {
		.kind = CUPTI_KIND_CUDA_EVENT,
		.correlationId = correlation,
		.contextId = CONTEXT,
		.streamId = stream,
		.eventId = event,
		.deviceId = DEVICE,
		.deviceTimestamp = model_now(),
		.cudaEventSyncId = order,
	};

	PLAY_PUT(record);
}

void play_stream(uint32_t context, uint32_t stream, enum record_cuda_stream_kind kind)
{
	struct cupti_stream record = {
		.kind = CUPTI_KIND_STREAM,
		.contextId = context,
		.streamId = stream,
		.flag = kind,
	};

	PLAY_PUT(record);
}

void play_call_with(uint32_t cbid, uint32_t correlation, const char *name, uint64_t first,
		    uint64_t second)
{
	const uint64_t parameters[] = {first, second, 0};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, cbid, correlation, name, parameters);
	model_leave(&call, 0);
}

static void *handle(uint64_t id)
{
	return (void *)(uintptr_t)id;
}

void play_graph(uint32_t graph)
{
	struct cupti_graph_data data = {.graph = handle(graph)};

	model_resource(CUPTI_GRAPH_CREATED, &data);
}

void play_graph_clone(uint32_t graph, uint32_t original)
{
	struct cupti_graph_data data = {.graph = handle(graph), .originalGraph = handle(original)};

	model_resource(CUPTI_GRAPH_CLONED, &data);
}

/* Only the call says a kernel node's type; CUPTI does not. */
void play_node(uint32_t graph, uint64_t node, enum cuda_node_type type)
{
	static uint32_t correlation = 1u << 20;
	struct cupti_graph_data data = {
		.graph = handle(graph), .node = handle(node), .nodeType = type};
	struct model_open call;

	if (type == CUDA_NODE_KERNEL)
		model_enter(&call, CUPTI_DOMAIN_RUNTIME, 289, ++correlation,
			    "cudaGraphAddKernelNode", NULL);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	if (type == CUDA_NODE_KERNEL)
		model_leave(&call, 0);
}

void play_node_clone(uint32_t graph, uint64_t node, uint64_t original, enum cuda_node_type type)
{
	struct cupti_graph_data data = {
		.graph = handle(graph), .node = handle(node), .nodeType = type};

	/* CUPTI reports the creation first, then which node it is a clone of (H200, CUDA 13.0). */
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	data.originalNode = handle(original);
	model_resource(CUPTI_GRAPHNODE_CLONED, &data);
}

void play_edge(uint32_t graph, uint64_t from, uint64_t to)
{
	struct cupti_graph_data data = {
		.graph = handle(graph), .node = handle(to), .dependency = handle(from)};

	model_resource(CUPTI_GRAPHNODE_DEPENDENCY_CREATED, &data);
}

void play_exec(uint32_t exec, uint32_t graph)
{
	struct cupti_graph_data data = {.graph = handle(graph), .graphExec = handle(exec)};

	model_resource(CUPTI_GRAPHEXEC_CREATED, &data);
}

static void begin_node(uint32_t graph, uint64_t node, uint32_t type)
{
	struct cupti_graph_data data = {
		.graph = handle(graph), .node = handle(node), .nodeType = type};

	model_resource(CUPTI_GRAPHNODE_CREATE_STARTING, &data);
}

/* CUPTI reports the type by itself first (H200, CUDA 13.0). */
static void end_node(uint32_t graph, uint64_t node, uint64_t dependency)
{
	struct cupti_graph_data data = {.graph = handle(graph), .node = handle(node)};

	if (dependency)
		play_edge(graph, dependency, node);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
}

static uint32_t next_correlation(void)
{
	static uint32_t correlation = 1u << 21;

	return ++correlation;
}

void play_enter(struct model_open *call, uint32_t cbid, const char *name)
{
	model_enter(call, CUPTI_DOMAIN_DRIVER, cbid, next_correlation(), name, NULL);
}

void play_new_node(uint32_t graph, uint64_t node, uint32_t type, uint64_t dependency)
{
	begin_node(graph, node, type);
	end_node(graph, node, dependency);
}

void play_add_node(uint32_t graph, uint64_t node, const struct cuda_node_params *params,
		   uint64_t dependency, struct cuda_edge_data data)
{
	cuda_node made = handle(node), before = handle(dependency);
	const struct cupti_add_node_v2_params call_params = {
		.node = &made,
		.graph = handle(graph),
		.dependencies = &before,
		.data = &data,
		.count = dependency != 0,
		.parameters = params,
	};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphAddNode_v2, next_correlation(),
		    "cuGraphAddNode_v2", &call_params);
	begin_node(graph, node, params->type);
	if (params->type == CUDA_NODE_CONDITIONAL) {
		for (uint32_t i = 0; i < params->u.conditional.size; i++)
			play_graph((uint32_t)(uintptr_t)params->u.conditional.phGraph_out[i]);
	}
	end_node(graph, node, dependency);
	model_leave(&call, 0);
}

void play_add_kernel(uint32_t graph, uint64_t node, uint64_t dependency)
{
	const struct cuda_node_params params = {.type = CUDA_NODE_KERNEL};

	play_add_node(graph, node, &params, dependency, (struct cuda_edge_data){0});
}

void play_add_copy(uint32_t graph, uint64_t node, uint64_t dependency)
{
	const struct cuda_node_params params = {.type = CUDA_NODE_MEMCPY};

	play_add_node(graph, node, &params, dependency, (struct cuda_edge_data){0});
}

void play_move_child(uint32_t graph, uint64_t node, uint32_t child, uint64_t dependency)
{
	const struct cuda_node_params params = {
		.type = CUDA_NODE_GRAPH,
		.u.child = {.graph = handle(child), .ownership = CUDA_CHILD_MOVE},
	};

	play_add_node(graph, node, &params, dependency, (struct cuda_edge_data){0});
}

void play_add_conditional(uint32_t graph, uint64_t node, const uint32_t *bodies, uint32_t count,
			  uint64_t dependency)
{
	cuda_graph made[4] = {0};
	const struct cuda_node_params params = {
		.type = CUDA_NODE_CONDITIONAL,
		.u.conditional = {.type = CUDA_CONDITIONAL_WHILE,
				  .size = count,
				  .phGraph_out = made},
	};

	for (uint32_t i = 0; i < count && i < sizeof(made) / sizeof(*made); i++)
		made[i] = handle(bodies[i]);
	play_add_node(graph, node, &params, dependency, (struct cuda_edge_data){0});
}

void play_clone_child(uint32_t graph, uint64_t node, uint32_t child, uint32_t clone, uint64_t first,
		      uint32_t count, uint64_t dependency)
{
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_DRIVER, 525, next_correlation(), "cuGraphAddChildGraphNode",
		    NULL);
	begin_node(graph, node, CUDA_NODE_GRAPH);
	play_graph(clone);
	for (uint32_t i = 0; i < count; i++) {
		struct cupti_graph_data data = {.graph = handle(clone), .node = handle(first + i)};

		begin_node(clone, first + i, CUDA_NODE_KERNEL);
		model_resource(CUPTI_GRAPHNODE_CREATED, &data);
		data.originalGraph = handle(child);
		data.originalNode = handle((uint64_t)child << 32 | i);
		model_resource(CUPTI_GRAPHNODE_CLONED, &data);
	}
	end_node(graph, node, dependency);
	model_leave(&call, 0);
}

void play_launch_with(uint32_t correlation, uint32_t exec, int result)
{
	const struct cupti_graph_launch_params params = {.graphExec = handle(exec)};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, correlation,
		    "cudaGraphLaunch", &params);
	model_leave(&call, result);
}

void play_launch(uint32_t correlation, uint32_t exec)
{
	play_launch_with(correlation, exec, 0);
}

void play_graph_kernel(uint32_t correlation, uint32_t exec, uint64_t node, const char *name)
{
	struct cupti_kernel kernel = play_kernel(correlation, name);

	kernel.graphId = exec;
	kernel.graphNodeId = node;
	PLAY_PUT(kernel);
}
