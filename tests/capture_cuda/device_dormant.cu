/* device_dormant WAY [ROUNDS]: graphs that are built, changed and cloned while nothing is recorded, and replayed in the
 * recording that follows; more are built before each round. WAY is what begins and ends a recording: "session" (libdagtap's
 * functions) or "profiler" (cudaProfilerStart and cudaProfilerStop). Says what is to be in the trace ("name: number"); needs a
 * GPU. */
#include <cstring>
#include <cuda_profiler_api.h>
#include <vector>

#include "device_nodes.cuh"

KERNEL(chain_step)
KERNEL(top_first)
KERNEL(top_last)
KERNEL(outer_first)
KERNEL(outer_last)
KERNEL(inner_first)
KERNEL(inner_last)
KERNEL(other_step)
KERNEL(alone)

struct runnable {
	cudaGraphExec_t exec;
	int rows; /* activities of one launch */
};

static int *copy;
static cudaStream_t stream;
static std::vector<runnable> runnables;

static cudaGraphExec_t keep(cudaGraph_t graph, int rows)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	runnables.push_back({exec, rows});
	return exec;
}

static cudaGraph_t capture_chain(int nodes, void (*kernel)(int *))
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++)
		kernel<<<1, 32, 0, stream>>>(value);
	CHECK(cudaMemcpyAsync(copy, value, sizeof(*value), cudaMemcpyDeviceToDevice, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

/* A chain; the same again with its template gone, one node switched off, and updated. */
static void build_chains(void)
{
	cudaGraph_t graph = capture_chain(5, chain_step), changed = capture_chain(5, other_step);
	cudaGraphExecUpdateResultInfo info;
	cudaGraphNode_t nodes[6];
	size_t count = 6;

	keep(graph, 6);
	CHECK(cudaGraphGetNodes(graph, nodes, &count));
	for (cudaGraphNode_t node : nodes) {
		cudaGraphNodeType type;

		CHECK(cudaGraphNodeGetType(node, &type));
		if (type != cudaGraphNodeTypeKernel)
			continue;
		CHECK(cudaGraphNodeSetEnabled(keep(graph, 5), node, 0));
		break;
	}
	CHECK(cudaGraphExecUpdate(keep(graph, 6), changed, &info));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(changed));
}

/* A child graph with a child of its own; again of the same graph, and of its clone. */
static void build_children(void)
{
	cudaGraph_t inner, outer, graph, clone;
	cudaGraphNode_t node, child;

	CHECK(cudaGraphCreate(&inner, 0));
	CHECK(cudaGraphCreate(&outer, 0));
	CHECK(cudaGraphCreate(&graph, 0));
	node = add_kernel(inner, inner_first, NULL);
	add_kernel(inner, inner_last, &node);
	node = add_kernel(outer, outer_first, NULL);
	CHECK(cudaGraphAddChildGraphNode(&child, outer, &node, 1, inner));
	add_kernel(outer, outer_last, &child);
	node = add_kernel(graph, top_first, NULL);
	CHECK(cudaGraphAddChildGraphNode(&child, graph, &node, 1, outer));
	add_kernel(graph, top_last, &child);
	keep(graph, 6);
	CHECK(cudaGraphDestroy(inner));
	CHECK(cudaGraphDestroy(outer));
	keep(graph, 6);
	CHECK(cudaGraphClone(&clone, graph));
	keep(clone, 6);
	CHECK(cudaGraphDestroy(graph));
}

/* Memory of the graph's own, set and freed in it. */
static void build_memory(void)
{
	cudaGraph_t graph;
	void *data;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaMallocAsync(&data, 1 << 20, stream));
	CHECK(cudaMemsetAsync(data, 1, 1 << 20, stream));
	alone<<<1, 1, 0, stream>>>(value);
	CHECK(cudaFreeAsync(data, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	keep(graph, 2);
	CHECK(cudaGraphDestroy(graph));
}

static void begin(bool is_profiler)
{
	if (is_profiler)
		CHECK(cudaProfilerStart());
	else
		call("dagtap_session_start");
}

static void end(bool is_profiler)
{
	if (is_profiler)
		CHECK(cudaProfilerStop());
	else
		call("dagtap_session_stop");
}

int main(int argc, char **argv)
{
	bool is_profiler = argc > 1 && !std::strcmp(argv[1], "profiler");
	int rounds = argc > 2 ? std::atoi(argv[2]) : 3, rows = 0, launches = 0;

	CHECK(cudaMalloc(&value, sizeof(*value)));
	CHECK(cudaMalloc(&copy, sizeof(*copy)));
	CHECK(cudaStreamCreate(&stream));
	end(is_profiler);
	for (int round = 0; round < rounds; round++) {
		build_chains();
		build_children();
		build_memory();
		for (const runnable &runnable : runnables) /* not recorded */
			CHECK(cudaGraphLaunch(runnable.exec, stream));
		CHECK(cudaStreamSynchronize(stream));
		begin(is_profiler);
		for (int i = 0; i < 3; i++)
			for (const runnable &runnable : runnables) {
				CHECK(cudaGraphLaunch(runnable.exec, stream));
				rows += runnable.rows;
				launches++;
			}
		CHECK(cudaStreamSynchronize(stream));
		end(is_profiler);
	}
	std::printf("graph_rows: %d\ngraph_launches: %d\n", rows, launches);
	return 0;
}
