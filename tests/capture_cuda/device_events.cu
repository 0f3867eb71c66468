/* Events that nodes of graphs record, on a machine with an NVIDIA GPU (device.sh). A line for each wait of a stream
 * says what it is for: "call", or replay and node. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

#define CHECK(call) check((call), #call)

static void check(cudaError_t error, const char *call)
{
	if (error == cudaSuccess)
		return;
	printf("%s: %s\n", call, cudaGetErrorString(error));
	exit(1);
}

__global__ void spin(long clocks)
{
	for (long begin = clock64(); clock64() - begin < clocks;)
		;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *before)
{
	static long clocks = 1000000;
	void *arguments[] = {&clocks};
	cudaKernelNodeParams parameters = {};
	cudaGraphNode_t node;

	parameters.func = (void *)spin;
	parameters.gridDim = parameters.blockDim = 1;
	parameters.kernelParams = arguments;
	CHECK(cudaGraphAddKernelNode(&node, graph, before, before != NULL, &parameters));
	return node;
}

static void wait_by(cudaStream_t stream, cudaEvent_t event, const char *what)
{
	CHECK(cudaStreamWaitEvent(stream, event, 0));
	printf("wait: %s\n", what);
}

static cudaGraphExec_t capture(cudaStream_t stream, cudaEvent_t event)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	spin<<<1, 1, 0, stream>>>(1000000);
	CHECK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

int main(void)
{
	cudaStream_t first, second;
	cudaEvent_t e, f, h;
	cudaGraph_t graph;
	cudaGraphExec_t exec, captured;
	cudaGraphNode_t kernel, node, other;

	CHECK(cudaStreamCreate(&first));
	CHECK(cudaStreamCreate(&second));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaEventCreate(&f));
	CHECK(cudaEventCreate(&h));
	CHECK(cudaGraphCreate(&graph, 0));
	kernel = add_kernel(graph, NULL);
	CHECK(cudaGraphAddEventRecordNode(&node, graph, &kernel, 1, e));
	CHECK(cudaGraphAddEventRecordNode(&other, graph, &kernel, 1, f));
	add_kernel(graph, &node);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaEventRecord(e, second));
	wait_by(first, e, "call");
	CHECK(cudaGraphLaunch(exec, first));
	wait_by(second, e, "0 1");
	wait_by(second, f, "0 2");
	CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, node, h));
	CHECK(cudaGraphLaunch(exec, first));
	wait_by(second, h, "1 1");
	wait_by(second, e, "0 1");
	CHECK(cudaEventRecord(h, second));
	wait_by(first, h, "call");
	captured = capture(first, e);
	wait_by(second, e, "0 1");
	CHECK(cudaGraphLaunch(captured, first));
	wait_by(second, e, "0 1");
	CHECK(cudaDeviceSynchronize());
	return 0;
}
