/* replay NODES REPLAYS: a CUDA graph of NODES tiny kernels, captured from a stream, replayed.
 * replay --eager COUNT: as many launches one by one. Prints the seconds from first to last. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));       \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

__global__ void add_one(int *value)
{
	if (threadIdx.x == 0)
		*value += 1;
}

static cudaGraphExec_t make_graph(cudaStream_t stream, int *value, int nodes)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++)
		add_one<<<1, 32, 0, stream>>>(value);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	bool is_eager = argc == 3 && !std::strcmp(argv[1], "--eager");
	int nodes = argc == 3 && !is_eager ? std::atoi(argv[1]) : 1;
	int times = argc == 3 ? std::atoi(argv[2]) : 0;
	cudaGraphExec_t exec = nullptr;
	cudaStream_t stream;
	int *value, result;

	if (nodes < 1 || times < 1) {
		std::fprintf(stderr, "usage: replay NODES REPLAYS | replay --eager COUNT\n");
		return 2;
	}
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&value, sizeof(*value)));
	CHECK(cudaMemset(value, 0, sizeof(*value)));
	if (!is_eager)
		exec = make_graph(stream, value, nodes);
	CHECK(cudaDeviceSynchronize());
	auto start = std::chrono::steady_clock::now();
	for (int i = 0; i < times; i++) {
		if (is_eager)
			add_one<<<1, 32, 0, stream>>>(value);
		else
			CHECK(cudaGraphLaunch(exec, stream));
	}
	CHECK(cudaStreamSynchronize(stream));
	std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
	CHECK(cudaMemcpy(&result, value, sizeof(result), cudaMemcpyDeviceToHost));
	if (result != nodes * times) {
		std::fprintf(stderr, "wrong: %d, not %d\n", result, nodes * times);
		return 1;
	}
	std::printf("kernels: %d\nseconds: %.6f\n", result, took.count());
	return 0;
}
