/* device_bodies: graphs whose contents come another way than their nodes do: child graphs that are moved or cloned into
 * a node and updated before each launch, bodies of conditional nodes, launches that start before what they follow has
 * ended. Says what is to be in the trace ("name: number"); needs a GPU, and CUDA 12.9 or newer. */
#include <cuda.h>

#include "device_nodes.cuh"

#define DRIVER(call)                                                                               \
	do {                                                                                       \
		CUresult result_ = (call);                                                         \
		if (result_ != CUDA_SUCCESS) {                                                     \
			std::fprintf(stderr, "%s: %d\n", #call, (int)result_);                     \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

KERNEL(plain_first)
KERNEL(plain_last)
KERNEL(moved_first)
KERNEL(moved_last)
KERNEL(cloned_first)
KERNEL(cloned_last)
KERNEL(body_work)
KERNEL(if_work)
KERNEL(case_0)
KERNEL(case_1)
KERNEL(in_child_of_body)
KERNEL(eager)

__global__ void count_down(cudaGraphConditionalHandle loop, cudaGraphConditionalHandle odd, int *left)
{
	*left -= 1;
	cudaGraphSetConditional(loop, *left > 0);
	cudaGraphSetConditional(odd, *left & 1);
}

__global__ void choose(cudaGraphConditionalHandle handle, int which)
{
	cudaGraphSetConditional(handle, which);
}

/* The first lets the second start when it has begun; the second waits for nothing. */
__global__ void early_first(int *value)
{
	cudaTriggerProgrammaticLaunchCompletion();
	for (int i = 0; i < 2000; i++)
		__nanosleep(100);
	if (threadIdx.x == 0)
		*value += 1;
}

__global__ void early_second(int *value)
{
	cudaGridDependencySynchronize();
	if (threadIdx.x == 0)
		*value += 1;
}

static int *copy, *turns_left;
static cudaStream_t stream;
static int rows, body_rows, launches;

static void replay(cudaGraphExec_t exec, int plain, int bodies)
{
	CHECK(cudaGraphLaunch(exec, stream));
	launches++;
	rows += plain;
	body_rows += bodies;
}

static cudaGraph_t two_kernels(void (*first)(int *), void (*last)(int *))
{
	cudaGraph_t graph;
	cudaGraphNode_t node;

	CHECK(cudaGraphCreate(&graph, 0));
	node = add_kernel(graph, first, NULL);
	node = add_kernel(graph, last, &node);
	CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, copy, value, 4, cudaMemcpyDeviceToDevice));
	return graph;
}

/* As XLA does: an empty graph moved into a node and filled behind that, another cloned; both updated before each launch. */
static void run_children(void)
{
	cudaGraph_t graph, moved, cloned, again;
	cudaGraphNode_t first, clone_node, moved_nodes[2];
	cudaGraphExec_t exec;
	CUgraphNodeParams params = {};
	CUgraphNode moved_node;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&moved, 0));
	cloned = two_kernels(cloned_first, cloned_last);
	again = two_kernels(cloned_first, cloned_last);
	first = add_kernel(graph, plain_first, NULL);
	params.type = CU_GRAPH_NODE_TYPE_GRAPH;
	params.graph.graph = moved;
	params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
	moved_nodes[0] = add_kernel(moved, moved_first, NULL);
	moved_nodes[1] = add_kernel(moved, moved_last, &moved_nodes[0]);
	DRIVER(cuGraphAddNode_v2(&moved_node, graph, (CUgraphNode *)&first, NULL, 1, &params));
	CHECK(cudaGraphAddChildGraphNode(&clone_node, graph, (cudaGraphNode_t *)&moved_node, 1, cloned));
	add_kernel(graph, plain_last, &clone_node);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 4; i++) {
		cudaKernelNodeParams parameters = {};
		int *target = i & 1 ? copy : value;
		void *arguments[] = {&target};

		parameters.func = (void *)moved_first;
		parameters.gridDim = parameters.blockDim = dim3(1);
		parameters.kernelParams = arguments;
		CHECK(cudaGraphExecKernelNodeSetParams(exec, moved_nodes[0], &parameters));
		CHECK(cudaGraphExecChildGraphNodeSetParams(exec, clone_node, i & 1 ? again : cloned));
		replay(exec, 7, 0);
	}
	CHECK(cudaStreamSynchronize(stream));
	cudaGraphExecUpdateResultInfo info;
	CHECK(cudaGraphExecUpdate(exec, graph, &info));
	replay(exec, 7, 0);
	CHECK(cudaStreamSynchronize(stream));
}

/* A loop with a copy, an if and a child graph in its body. */
static cudaGraphExec_t make_loop(void)
{
	cudaGraph_t graph, body, inner;
	cudaGraphConditionalHandle loop, odd;
	cudaGraphNodeParams parameters = {}, branch = {};
	cudaGraphNode_t node, first;
	cudaGraphExec_t exec;
	void *arguments[] = {&loop, &odd, &turns_left};

	inner = two_kernels(in_child_of_body, in_child_of_body);
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
	first = add_kernel(graph, plain_first, NULL);
	parameters.type = cudaGraphNodeTypeConditional;
	parameters.conditional.handle = loop;
	parameters.conditional.type = cudaGraphCondTypeWhile;
	parameters.conditional.size = 1;
	CHECK(cudaGraphAddNode(&node, graph, &first, NULL, 1, &parameters));
	add_kernel(graph, plain_last, &node);
	body = parameters.conditional.phGraph_out[0];
	CHECK(cudaGraphConditionalHandleCreate(&odd, body, 0, cudaGraphCondAssignDefault));
	node = add_kernel(body, body_work, NULL);
	CHECK(cudaGraphAddMemcpyNode1D(&node, body, &node, 1, copy + 1, value, 4, cudaMemcpyDeviceToDevice));
	CHECK(cudaGraphAddChildGraphNode(&node, body, &node, 1, inner));
	node = add_kernel(body, (void *)count_down, arguments, &node);
	branch.type = cudaGraphNodeTypeConditional;
	branch.conditional.handle = odd;
	branch.conditional.type = cudaGraphCondTypeIf;
	branch.conditional.size = 1;
	CHECK(cudaGraphAddNode(&node, body, &node, NULL, 1, &branch));
	add_kernel(branch.conditional.phGraph_out[0], if_work, NULL);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void run_loop(void)
{
	cudaGraphExec_t exec = make_loop();

	for (int turns = 1; turns <= 4; turns++) {
		CHECK(cudaMemcpyAsync(turns_left, &turns, 4, cudaMemcpyHostToDevice, stream));
		/* Each turn: body_work, a copy, three of the child, count_down; if_work when what is left is odd. */
		replay(exec, 2, turns * 6 + turns / 2);
	}
	CHECK(cudaStreamSynchronize(stream));
}

static void run_switch(void)
{
	cudaGraph_t graph, inner;
	cudaGraphConditionalHandle handle;
	cudaGraphNodeParams parameters = {};
	cudaGraphNode_t node, chooser;
	cudaGraphExec_t exec;
	int which = 0;
	void *arguments[] = {&handle, &which};
	cudaKernelNodeParams kernel = {};

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
	chooser = add_kernel(graph, (void *)choose, arguments, NULL);
	parameters.type = cudaGraphNodeTypeConditional;
	parameters.conditional.handle = handle;
	parameters.conditional.type = cudaGraphCondTypeSwitch;
	parameters.conditional.size = 2;
	CHECK(cudaGraphAddNode(&node, graph, &chooser, NULL, 1, &parameters));
	inner = two_kernels(in_child_of_body, in_child_of_body);
	CHECK(cudaGraphAddChildGraphNode(&node, parameters.conditional.phGraph_out[0], NULL, 0, inner));
	add_kernel(parameters.conditional.phGraph_out[0], case_0, &node);
	add_kernel(parameters.conditional.phGraph_out[1], case_1, NULL);
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	kernel.func = (void *)choose;
	kernel.gridDim = kernel.blockDim = dim3(1);
	kernel.kernelParams = arguments;
	for (which = 0; which < 3; which++) {
		CHECK(cudaGraphExecKernelNodeSetParams(exec, chooser, &kernel));
		replay(exec, 1, which == 0 ? 4 : which == 1);
	}
	CHECK(cudaStreamSynchronize(stream));
}

static void launch_early(void (*kernel)(int *), bool is_early)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};

	config.gridDim = config.blockDim = dim3(1);
	config.stream = stream;
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.attrs = &attribute;
	config.numAttrs = is_early ? 1 : 0;
	CHECK(cudaLaunchKernelEx(&config, kernel, value));
}

/* Captured and eager: the second of two starts before the first has ended. */
static void run_early(void)
{
	cudaGraph_t graph, inner, outer;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	launch_early(early_first, false);
	launch_early(early_second, true);
	launch_early(eager, false);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		replay(exec, 3, 0);
	CHECK(cudaStreamSynchronize(stream));
	/* The same as a child. */
	inner = graph;
	CHECK(cudaGraphCreate(&outer, 0));
	CHECK(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
	CHECK(cudaGraphInstantiate(&exec, outer, 0));
	replay(exec, 3, 0);
	CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < 3; i++) {
		launch_early(early_first, false);
		launch_early(early_second, true);
		launch_early(eager, false);
	}
	CHECK(cudaStreamSynchronize(stream));
}

int main()
{
	CHECK(cudaMalloc(&value, 64));
	CHECK(cudaMalloc(&copy, 64));
	CHECK(cudaMalloc(&turns_left, 64));
	CHECK(cudaMemset(value, 0, 64));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	run_children();
	run_early();
	run_loop();
	run_switch();
	std::printf("graph_rows: %d\nbody_rows: %d\nlaunches: %d\n", rows, body_rows, launches);
	return 0;
}
