/* device_threads THREADS: so many threads, each of which launches kernels alone and a graph on a
 * stream of its own; all live until all have launched. Says what is to be in the trace
 * ("name: number"); needs a GPU. */
#include <pthread.h>
#include <thread>
#include <vector>

#include "device.cuh"

#define LAUNCHES 50
#define REPLAYS	 5
#define NODES	 4

__global__ void alone(void)
{
}

__global__ void step(void)
{
}

static cudaGraphExec_t make_exec(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES; i++)
		step<<<1, 32, 0, stream>>>();
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

static void launch(pthread_barrier_t *all)
{
	cudaStream_t stream;
	cudaGraphExec_t exec;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	exec = make_exec(stream);
	pthread_barrier_wait(all);
	for (int i = 0; i < LAUNCHES; i++)
		alone<<<1, 32, 0, stream>>>();
	for (int i = 0; i < REPLAYS; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	pthread_barrier_wait(all);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? std::atoi(argv[1]) : 8;
	std::vector<std::thread> threads;
	pthread_barrier_t all;

	if (count < 1) {
		std::fprintf(stderr, "usage: device_threads THREADS\n");
		return 2;
	}
	CHECK(cudaFree(0));
	pthread_barrier_init(&all, NULL, count);
	for (int i = 0; i < count; i++)
		threads.emplace_back(launch, &all);
	for (std::thread &thread : threads)
		thread.join();
	CHECK(cudaDeviceSynchronize());
	pthread_barrier_destroy(&all);
	std::printf("alone: %d\nstep: %d\n", count * LAUNCHES, count * REPLAYS * NODES);
	return 0;
}
