/* dagpatch's own kernels. scripts/gen-cuda-kernels.sh compiles this file to cuda_kernels.ptx.
 *
 * dagpatch_update gives device-updatable nodes the addresses that the host has bound. It runs
 * before these nodes, in their graph or in the stream before it (cuda_table.c decides). The host
 * writes each changed slot once into a log and, for each run, the position that the log had
 * reached when the run was launched. Runs execute one after the other in the order of their
 * launches, so the number of a run is a count that is kept here, and no run reads an entry that
 * was written for a later one. If nothing has changed, the end of the log is where it was. */
#include <cuda_device_runtime_api.h>

#include "cuda_kernels.h"

/* A single block: blocks that read the same line of host memory get it one after the other, at 0.9
 * us each (H200). */
#define THREADS UPDATER_THREADS
#define EARLY	32 /* entries that are read before it is known whether they are valid */

/* One entry for each thread; starts[i] is the number of relocations that the entries before the
 * i-th have. */
struct batch {
	unsigned long long address[THREADS];
	unsigned int first[THREADS];
	unsigned int starts[THREADS + 1];
};

/* The host writes while this kernel runs, so a word must not come from a cache or be read twice. */
static __device__ unsigned long long read_host(const unsigned long long *word)
{
	return *(const volatile unsigned long long *)word;
}

static __device__ struct updater_entry read_entry(const struct updater_plan *plan,
						  unsigned long long at)
{
	const struct updater_entry *entry = &plan->log[at & (plan->log_count - 1)];
	struct updater_entry read = {read_host(&entry->address), read_host(&entry->slot)};

	return read;
}

/* Sums over all lower threads, so that relocations are divided evenly among threads, whichever
 * slot they belong to. */
static __device__ void sum_counts(struct batch *batch, unsigned int count)
{
	unsigned int sum = count;

	for (unsigned int step = 1; step < blockDim.x; step *= 2) {
		batch->starts[threadIdx.x + 1] = sum;
		__syncthreads();
		if (threadIdx.x >= step)
			sum += batch->starts[threadIdx.x + 1 - step];
		__syncthreads();
	}
	batch->starts[threadIdx.x + 1] = sum;
	if (threadIdx.x == 0)
		batch->starts[0] = 0;
	__syncthreads();
}

static __device__ unsigned int find_entry(const struct batch *batch, unsigned int item)
{
	unsigned int low = 0;
	unsigned int high = blockDim.x;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (batch->starts[middle] <= item)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static __device__ void relocate(const struct updater_plan *plan, unsigned int number,
				unsigned long long address)
{
	const struct updater_relocation *relocation = &plan->relocations[number];
	unsigned long long value = address + relocation->addend;
	cudaError_t error = cudaGraphKernelNodeSetParam((cudaGraphDeviceNode_t)relocation->node,
							relocation->offset, &value, sizeof(value));

	if (error != cudaSuccess)
		*(volatile unsigned long long *)&plan->progress->error = error;
}

/* Applies the first COUNT entries; each thread has one. */
static __device__ void apply_entries(const struct updater_plan *plan, struct batch *batch,
				     struct updater_entry entry, unsigned int count)
{
	unsigned int relocations = 0;

	if (threadIdx.x < count) {
		batch->address[threadIdx.x] = entry.address;
		batch->first[threadIdx.x] = plan->first[entry.slot];
		relocations = plan->first[entry.slot + 1] - plan->first[entry.slot];
	}
	sum_counts(batch, relocations);
	for (unsigned int item = threadIdx.x; item < batch->starts[blockDim.x];
	     item += blockDim.x) {
		unsigned int from = find_entry(batch, item);

		relocate(plan, batch->first[from] + item - batch->starts[from],
			 batch->address[from]);
	}
	__syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS) dagpatch_update(struct updater_plan plan)
{
	__shared__ struct batch batch;
	__shared__ unsigned long long shared_end;
	unsigned long long run = plan.state->runs;
	unsigned long long begin = plan.state->applied;
	struct updater_entry entry = {0, 0};
	unsigned long long end;

	/* Reads the first entries while the end is being read, which takes as long. Entries that
	 * are not before the end are not used. */
	if (threadIdx.x < EARLY)
		entry = read_entry(&plan, begin + threadIdx.x);
	if (threadIdx.x == 0)
		shared_end = max(begin, read_host(&plan.ends[run & (plan.end_count - 1)]));
	__syncthreads();
	end = shared_end;
	for (unsigned long long at = begin; at < end; at += blockDim.x) {
		unsigned int count = (unsigned int)min(end - at, (unsigned long long)blockDim.x);

		if (threadIdx.x < count && (at != begin || threadIdx.x >= EARLY))
			entry = read_entry(&plan, at + threadIdx.x);
		apply_entries(&plan, &batch, entry, count);
	}
	if (threadIdx.x != 0)
		return;
	/* All threads have used what they have read, so the host may overwrite it. */
	plan.state->runs = run + 1;
	plan.state->applied = end;
	*(volatile unsigned long long *)&plan.progress->runs = run + 1;
}

/* Runs before a conditional node and at the end of a loop's body. */
extern "C" __global__ void dagpatch_condition(struct condition condition)
{
	const void *predicate = (const void *)condition.predicate;
	int value = condition.is_byte ? *(const unsigned char *)predicate != 0
				      : *(const int *)predicate;

	if (condition.condition == CONDITION_CASE) {
		if (condition.is_byte)
			value = !value;
		if (value < 0 || value >= (int)condition.bodies)
			value = (int)condition.bodies - 1;
	} else {
		value = value != 0;
	}
	cudaGraphSetConditional(condition.handle, value);
}

/* For the measurement in cuda_costs.c. */
extern "C" __global__ void dagpatch_nothing(unsigned long long address)
{
}
