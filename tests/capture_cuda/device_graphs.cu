/* device_graphs: graphs of every shape that CUPTI tells of in its own way, events that are recorded again, and
 * two recordings in one process. Says what is to be in the trace ("name: number"); needs a GPU. */
#include "device_nodes.cuh"

KERNEL(top_first)
KERNEL(top_last)
KERNEL(outer_first)
KERNEL(outer_last)
KERNEL(inner_first)
KERNEL(inner_last)
KERNEL(second_only)
KERNEL(fork_left)
KERNEL(fork_right)
KERNEL(looped)
KERNEL(alone)

__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
	*left -= 1;
	cudaGraphSetConditional(handle, *left > 0);
}

static int *copy;
static cudaStream_t stream, other;
static int graph_rows; /* kernels, copies and memsets of graphs, but those of conditional nodes */

static cudaGraphNode_t add_child(cudaGraph_t graph, cudaGraph_t child, const cudaGraphNode_t *before)
{
	cudaGraphNode_t node;

	CHECK(cudaGraphAddChildGraphNode(&node, graph, before, 1, child));
	return node;
}

static void replay(cudaGraphExec_t exec, int times, int rows)
{
	for (int i = 0; i < times; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	graph_rows += times * rows;
}

/* Two child graphs, one with a child of its own; then the same graph again, and its clone. */
static void run_children(void)
{
	cudaGraph_t inner, outer, second, graph, clone;
	cudaGraphNode_t node, last;
	cudaGraphExec_t exec;
	cudaMemsetParams memset = {};

	CHECK(cudaGraphCreate(&inner, 0));
	CHECK(cudaGraphCreate(&outer, 0));
	CHECK(cudaGraphCreate(&second, 0));
	CHECK(cudaGraphCreate(&graph, 0));
	node = add_kernel(inner, inner_first, NULL);
	add_kernel(inner, inner_last, &node);
	node = add_kernel(outer, outer_first, NULL);
	node = add_child(outer, inner, &node);
	add_kernel(outer, outer_last, &node);
	add_kernel(second, second_only, NULL);
	node = add_kernel(graph, top_first, NULL);
	node = add_child(graph, outer, &node);
	node = add_child(graph, second, &node);
	CHECK(cudaGraphAddEmptyNode(&last, graph, &node, 1));
	node = add_kernel(graph, top_last, &last);
	memset.dst = copy;
	memset.elementSize = 4;
	memset.width = memset.height = 1;
	CHECK(cudaGraphAddMemsetNode(&last, graph, &node, 1, &memset));
	CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &last, 1, copy, value, 4, cudaMemcpyDeviceToDevice));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	replay(exec, 3, 9);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	replay(exec, 2, 9);
	CHECK(cudaGraphClone(&clone, graph));
	CHECK(cudaGraphInstantiate(&exec, clone, 0));
	replay(exec, 1, 9);
}

/* A captured fork, launched also after an update and after its template is gone. */
static void run_fork(cudaEvent_t forked, cudaEvent_t joined)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	alone<<<1, 1, 0, stream>>>(value);
	CHECK(cudaEventRecord(forked, stream));
	CHECK(cudaStreamWaitEvent(other, forked, 0));
	fork_left<<<1, 1, 0, stream>>>(value);
	fork_right<<<1, 1, 0, other>>>(copy);
	CHECK(cudaEventRecord(joined, other));
	CHECK(cudaStreamWaitEvent(stream, joined, 0));
	CHECK(cudaMemcpyAsync(copy, value, 4, cudaMemcpyDeviceToDevice, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	replay(exec, 4, 4);
	CHECK(cudaGraphExecUpdate(exec, graph, &info));
	replay(exec, 1, 4);
	CHECK(cudaGraphDestroy(graph));
	replay(exec, 1, 4);
}

/* Its body runs five times a launch; the trace need not say which is which, and must not fail. */
static void run_conditional(void)
{
	cudaGraph_t graph;
	cudaGraphConditionalHandle handle;
	cudaGraphNodeParams parameters = {};
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	int five = 5;
	void *arguments[] = {&handle, &copy};

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	parameters.type = cudaGraphNodeTypeConditional;
	parameters.conditional.handle = handle;
	parameters.conditional.type = cudaGraphCondTypeWhile;
	parameters.conditional.size = 1;
	CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &parameters));
	node = add_kernel(parameters.conditional.phGraph_out[0], looped, NULL);
	add_kernel(parameters.conditional.phGraph_out[0], (void *)count_down, arguments, &node);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaMemcpy(copy, &five, 4, cudaMemcpyHostToDevice));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
}

/* Each wait is for the record before it, the second of two among them. */
static void run_events(cudaEvent_t first, cudaEvent_t second)
{
	alone<<<1, 1, 0, stream>>>(value);
	CHECK(cudaEventRecord(first, stream));
	alone<<<1, 1, 0, stream>>>(value);
	CHECK(cudaEventRecord(first, stream));
	CHECK(cudaStreamWaitEvent(other, first, 0));
	alone<<<1, 1, 0, other>>>(value);
	CHECK(cudaEventRecord(second, other));
	CHECK(cudaEventSynchronize(second));
	CHECK(cudaDeviceSynchronize());
}

int main()
{
	cudaEvent_t first, second;

	CHECK(cudaMalloc(&value, 4));
	CHECK(cudaMalloc(&copy, 4));
	CHECK(cudaMemset(value, 0, 4));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
	run_children();
	run_fork(first, second);
	run_events(first, second);
	std::printf("graph_rows: %d\nkernels_alone: 3\n", graph_rows);
	call("dagtap_session_stop");
	run_events(first, second);
	call("dagtap_session_start");
	run_events(first, second);
	run_conditional();
	return 0;
}
