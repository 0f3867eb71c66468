/* replay NODES REPLAYS: a CUDA graph of NODES tiny kernels, captured from a stream, replayed.
 * replay --seconds SECONDS NODES RATE: replayed for so long, RATE kernels a second; 0: as fast as it goes.
 * replay --eager COUNT: as many launches one by one. Prints the seconds from first to last. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

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

struct plan {
	int nodes, times; /* times 0: until SECONDS are over */
	double seconds, rate;
	bool is_eager;
};

static bool parse(int argc, char **argv, plan *ret_plan)
{
	*ret_plan = {1, 0, 0, 0, false};
	if (argc == 3 && !std::strcmp(argv[1], "--eager")) {
		ret_plan->is_eager = true;
		ret_plan->times = std::atoi(argv[2]);
	} else if (argc == 5 && !std::strcmp(argv[1], "--seconds")) {
		ret_plan->seconds = std::atof(argv[2]);
		ret_plan->nodes = std::atoi(argv[3]);
		ret_plan->rate = std::atof(argv[4]);
	} else if (argc == 3) {
		ret_plan->nodes = std::atoi(argv[1]);
		ret_plan->times = std::atoi(argv[2]);
	}
	return ret_plan->nodes > 0 && (ret_plan->times > 0 || ret_plan->seconds > 0);
}

using seconds_since = std::chrono::duration<double>;
using steady = std::chrono::steady_clock;

/* With a time to fill the GPU is never far behind, and the program not ahead of its rate. */
static void keep_pace(const plan &plan, cudaStream_t stream, steady::time_point start, int done)
{
	CHECK(cudaStreamSynchronize(stream));
	if (plan.rate > 0)
		std::this_thread::sleep_until(
			start + std::chrono::duration_cast<steady::duration>(
					seconds_since(double(done) * plan.nodes / plan.rate)));
}

/* How often it ran. */
static int work(const plan &plan, cudaGraphExec_t exec, cudaStream_t stream, int *value)
{
	auto start = steady::now();
	int done = 0;

	while (plan.times ? done < plan.times
			  : seconds_since(steady::now() - start).count() < plan.seconds) {
		if (plan.is_eager)
			add_one<<<1, 32, 0, stream>>>(value);
		else
			CHECK(cudaGraphLaunch(exec, stream));
		if (++done % 20 == 0 && !plan.times)
			keep_pace(plan, stream, start, done);
	}
	CHECK(cudaStreamSynchronize(stream));
	return done;
}

int main(int argc, char **argv)
{
	plan plan;
	cudaGraphExec_t exec = nullptr;
	cudaStream_t stream;
	int *value, result, done;

	if (!parse(argc, argv, &plan)) {
		std::fprintf(stderr, "usage: replay NODES REPLAYS | replay --eager COUNT | replay "
				     "--seconds SECONDS NODES RATE\n");
		return 2;
	}
	std::printf("pid: %d\n", static_cast<int>(getpid()));
	std::fflush(stdout);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&value, sizeof(*value)));
	CHECK(cudaMemset(value, 0, sizeof(*value)));
	if (!plan.is_eager)
		exec = make_graph(stream, value, plan.nodes);
	CHECK(cudaDeviceSynchronize());
	auto start = steady::now();
	done = work(plan, exec, stream, value);
	seconds_since took = steady::now() - start;
	CHECK(cudaMemcpy(&result, value, sizeof(result), cudaMemcpyDeviceToHost));
	if (result != plan.nodes * done) {
		std::fprintf(stderr, "wrong: %d, not %d\n", result, plan.nodes * done);
		return 1;
	}
	seconds_since now = std::chrono::system_clock::now().time_since_epoch();
	std::printf("kernels: %d\nlaunches: %d\nseconds: %.6f\ndone: %.6f\n", result, done,
		    took.count(), now.count());
	return 0;
}
