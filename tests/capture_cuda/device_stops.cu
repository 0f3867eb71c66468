/* device_stops SCENE [TIMES]: recordings that stop while the GPU is at work, and graphs whose nodes change. Says what is to be
 * in the trace ("name: number"); needs a GPU.
 *   flight      stops with graphs and kernels under way, again and again, and ends with some
 *   threads     the same while eight threads launch
 *   nodes       nodes switched off and on, parameters set, the exec updated
 *   reset       the device is reset with work under way, and used again
 *   on-device   a graph that a kernel launches
 * Stops come when so many kernels have run, or so many graphs were launched: no time is waited for. */
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "device.cuh"

#define NODES	8
#define THREADS 8
#define REPEATS 5		     /* graphs in a round, and kernels beside them */
#define ROUND	(REPEATS * (NODES + 1)) /* kernels */

static __device__ void spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

/* In memory of the host's; NULL: nobody counts. */
static __device__ void count_one(unsigned *finished)
{
	if (finished && threadIdx.x == 0 && blockIdx.x == 0)
		atomicAdd_system(finished, 1);
}

__global__ void step(long long cycles, unsigned *finished)
{
	spin(cycles);
	count_one(finished);
}

__global__ void alone(long long cycles, unsigned *finished)
{
	spin(cycles);
	count_one(finished);
}

__global__ void launch_it(cudaGraphExec_t exec)
{
	cudaGraphLaunch(exec, cudaStreamGraphFireAndForget);
}

/* A chain of kernels, each of them so many cycles long. */
static cudaGraph_t make_chain(long long cycles, unsigned *finished, cudaGraphNode_t *ret_nodes)
{
	cudaKernelNodeParams parameters = {};
	void *arguments[] = {&cycles, &finished};
	cudaGraph_t graph;

	parameters.func = (void *)step;
	parameters.gridDim = parameters.blockDim = dim3(1);
	parameters.kernelParams = arguments;
	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++)
		CHECK(cudaGraphAddKernelNode(&ret_nodes[i], graph, i ? &ret_nodes[i - 1] : NULL, i ? 1 : 0, &parameters));
	return graph;
}

static cudaGraphExec_t make_exec(long long cycles, unsigned *finished)
{
	cudaGraphNode_t nodes[NODES];
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, make_chain(cycles, finished, nodes), 0));
	return exec;
}

/* Until COUNT has come to N, for as long as the GPU needs. */
static void await_kernels(const unsigned *count, unsigned n)
{
	while (*(const volatile unsigned *)count < n)
		std::this_thread::yield();
}

/* Some 20 ms of work a round, of which the stop sees a part: it comes when so many of its kernels have run. */
static void run_flight(int times)
{
	cudaGraphExec_t exec;
	cudaStream_t stream, other;
	unsigned *finished;

	CHECK(cudaHostAlloc(&finished, sizeof(*finished), cudaHostAllocMapped));
	*finished = 0;
	exec = make_exec(1000000, finished);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < times; i++) {
		for (int k = 0; k < REPEATS; k++) {
			CHECK(cudaGraphLaunch(exec, stream));
			alone<<<1, 1, 0, other>>>(2000000, finished);
		}
		await_kernels(finished, i * ROUND + i % 20 * ROUND / 20);
		call("dagtap_session_stop");
		if (i % 2)
			CHECK(cudaDeviceSynchronize());
		call("dagtap_session_start");
	}
	CHECK(cudaDeviceSynchronize());
	for (int k = 0; k < REPEATS; k++)
		CHECK(cudaGraphLaunch(exec, stream));
}

static std::atomic<bool> is_over;
static std::atomic<unsigned> launched; /* graphs, by all threads */

static void await_launches(unsigned more)
{
	unsigned begin = launched;

	while (launched - begin < more)
		std::this_thread::yield();
}

static void launch_always(int index)
{
	cudaGraphExec_t exec = make_exec(1000 * (index + 1), NULL);
	cudaStream_t stream;
	void *data;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	while (!is_over) {
		for (int i = 0; i < 20; i++) {
			CHECK(cudaGraphLaunch(exec, stream));
			launched++;
			alone<<<1, 1, 0, stream>>>(1000, NULL);
			CHECK(cudaMallocAsync(&data, 4096, stream));
			CHECK(cudaMemsetAsync(data, 0, 4096, stream));
			CHECK(cudaFreeAsync(data, stream));
		}
		CHECK(cudaStreamSynchronize(stream));
	}
}

static void run_threads(int times)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < THREADS; i++)
		threads.emplace_back(launch_always, i);
	for (int i = 0; i < times; i++) {
		await_launches(100 + i * 7919 % 200);
		call("dagtap_session_stop");
		await_launches(i * 6007 % 100);
		call("dagtap_session_start");
	}
	await_launches(2000);
	is_over = true;
	for (std::thread &thread : threads)
		thread.join();
}

static int rows;

static void replay(cudaGraphExec_t exec, cudaStream_t stream, int times, int nodes)
{
	for (int i = 0; i < times; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	rows += times * nodes;
}

static void run_nodes(int times)
{
	cudaGraphNode_t nodes[NODES];
	cudaGraph_t graph = make_chain(1000, NULL, nodes);
	cudaKernelNodeParams parameters = {};
	cudaGraphExecUpdateResultInfo info;
	long long cycles = 3000;
	unsigned *finished = NULL;
	void *arguments[] = {&cycles, &finished};
	cudaGraphExec_t exec;
	cudaStream_t stream;

	parameters.func = (void *)alone;
	parameters.gridDim = dim3(2);
	parameters.blockDim = dim3(32);
	parameters.kernelParams = arguments;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < times; i++) {
		replay(exec, stream, 2, NODES);
		CHECK(cudaGraphNodeSetEnabled(exec, nodes[i % NODES], 0));
		replay(exec, stream, 2, NODES - 1);
		CHECK(cudaGraphNodeSetEnabled(exec, nodes[i % NODES], 1));
		CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[(i + 1) % NODES], &parameters));
		replay(exec, stream, 2, NODES);
		CHECK(cudaGraphExecUpdate(exec, graph, &info));
	}
	replay(exec, stream, 1, NODES);
	std::printf("graph_rows: %d\n", rows);
}

static void run_reset(int times)
{
	for (int i = 0; i < times; i++) {
		cudaGraphExec_t exec = make_exec(200000, NULL);
		cudaStream_t stream;

		CHECK(cudaStreamCreate(&stream));
		for (int k = 0; k < REPEATS; k++) {
			CHECK(cudaGraphLaunch(exec, stream));
			alone<<<1, 1, 0, stream>>>(100000, NULL);
		}
		if (i % 2)
			CHECK(cudaDeviceSynchronize());
		CHECK(cudaDeviceReset());
	}
}

static void run_on_device(int times)
{
	cudaGraphNode_t nodes[NODES], node;
	cudaGraph_t graph = make_chain(1000, NULL, nodes), launching;
	cudaKernelNodeParams parameters = {};
	cudaGraphExec_t inner, outer;
	void *arguments[] = {&inner};
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphInstantiate(&inner, graph, cudaGraphInstantiateFlagDeviceLaunch));
	CHECK(cudaGraphUpload(inner, stream));
	parameters.func = (void *)launch_it;
	parameters.gridDim = parameters.blockDim = dim3(1);
	parameters.kernelParams = arguments;
	CHECK(cudaGraphCreate(&launching, 0));
	CHECK(cudaGraphAddKernelNode(&node, launching, NULL, 0, &parameters));
	CHECK(cudaGraphInstantiate(&outer, launching, 0));
	replay(outer, stream, times, 1);
	std::printf("graph_rows: %d\non_device: %d\n", rows, times * NODES);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int times);
	} scenes[] = {{"flight", run_flight},
		      {"threads", run_threads},
		      {"nodes", run_nodes},
		      {"reset", run_reset},
		      {"on-device", run_on_device}};

	for (const auto &scene : scenes) {
		if (argc < 2 || std::strcmp(argv[1], scene.name))
			continue;
		scene.run(argc > 2 ? std::atoi(argv[2]) : 20);
		std::printf("done: 1\n");
		return 0;
	}
	std::fprintf(stderr, "usage: device_stops flight|threads|nodes|reset|on-device [TIMES]\n");
	return 2;
}
