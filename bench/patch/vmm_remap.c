/* Measures the other solution than patching a graph: to keep the addresses and to remap the memory
 * below them. N pages of one reservation change between two sets of allocations, by cuMemUnmap,
 * cuMemMap and cuMemSetAccess. Prints the host's time, medians. Linked with libcuda alone:
 *
 *     cc -O2 -I CUDA/include vmm_remap.c -L CUDA/lib64/stubs -lcuda -o vmm_remap
 *
 * The GPU is idle meanwhile: a mapping that a replay in flight uses must not be changed. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGES_MOST 512
#define ROUNDS	   101

enum step { STEP_UNMAP, STEP_MAP, STEP_ACCESS, STEP_ALL, STEPS };

struct remap {
	CUdeviceptr base;
	size_t page_bytes;
	int pages;
	CUmemGenericAllocationHandle sets[2][PAGES_MOST];
	CUmemAccessDesc access;
};

static void check(CUresult code, const char *call)
{
	const char *text = "?";

	if (code == CUDA_SUCCESS)
		return;
	cuGetErrorString(code, &text);
	fprintf(stderr, "vmm_remap: %s: %s\n", call, text);
	exit(1);
}

#define CHECK(call) check(call, #call)

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void map(const struct remap *remap, int set)
{
	for (int i = 0; i < remap->pages; i++)
		CHECK(cuMemMap(remap->base + (size_t)i * remap->page_bytes, remap->page_bytes, 0,
			       remap->sets[set][i], 0));
}

static void allow(const struct remap *remap)
{
	CHECK(cuMemSetAccess(remap->base, remap->page_bytes * (size_t)remap->pages, &remap->access,
			     1));
}

/* Maps the pages of SET in place of the others. Fills the times of the steps. */
static void change(const struct remap *remap, int set, double ret_us[STEPS])
{
	double times[4];

	times[0] = now_us();
	CHECK(cuMemUnmap(remap->base, remap->page_bytes * (size_t)remap->pages));
	times[1] = now_us();
	map(remap, set);
	times[2] = now_us();
	allow(remap);
	times[3] = now_us();
	for (int i = 0; i < STEP_ALL; i++)
		ret_us[i] = times[i + 1] - times[i];
	ret_us[STEP_ALL] = times[3] - times[0];
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each set's memory must hold what was written while it was mapped. */
static void fill(const struct remap *remap, unsigned value)
{
	CHECK(cuMemsetD32(remap->base, value, remap->page_bytes * (size_t)remap->pages / 4));
	CHECK(cuCtxSynchronize());
}

static void check_value(const struct remap *remap, unsigned value)
{
	for (int i = 0; i < remap->pages; i++) {
		unsigned word = 0;

		CHECK(cuMemcpyDtoH(&word, remap->base + (size_t)i * remap->page_bytes,
				   sizeof(word)));
		if (word == value)
			continue;
		fprintf(stderr, "vmm_remap: page %d holds %u, not %u\n", i, word, value);
		exit(1);
	}
}

static void measure(struct remap *remap, const CUmemAllocationProp *prop)
{
	static double times[STEPS][ROUNDS];
	size_t bytes = remap->page_bytes * (size_t)remap->pages;
	double us[STEPS];

	CHECK(cuMemAddressReserve(&remap->base, bytes, 0, 0, 0));
	for (int set = 0; set < 2; set++)
		for (int i = 0; i < remap->pages; i++)
			CHECK(cuMemCreate(&remap->sets[set][i], remap->page_bytes, prop, 0));
	map(remap, 0);
	allow(remap);
	fill(remap, 1);
	change(remap, 1, us);
	fill(remap, 2);
	for (int round = 0; round < ROUNDS; round++) {
		change(remap, round & 1, us);
		for (int i = 0; i < STEPS; i++)
			times[i][round] = us[i];
		check_value(remap, (unsigned)(round & 1) + 1);
	}
	printf("| %d | %zu |", remap->pages, remap->page_bytes >> 20);
	for (int i = 0; i < STEPS; i++) {
		qsort(times[i], ROUNDS, sizeof(double), compare);
		printf(" %.1f |", times[i][ROUNDS / 2]);
	}
	printf(" %.1f to %.1f |\n", times[STEP_ALL][ROUNDS / 20],
	       times[STEP_ALL][ROUNDS - 1 - ROUNDS / 20]);
	CHECK(cuMemUnmap(remap->base, bytes));
	for (int set = 0; set < 2; set++)
		for (int i = 0; i < remap->pages; i++)
			CHECK(cuMemRelease(remap->sets[set][i]));
	CHECK(cuMemAddressFree(remap->base, bytes));
}

int main(void)
{
	static const struct {
		int pages;
		size_t mib;
	} sizes[] = {{1, 2},  {8, 2},  {32, 2},	 {128, 2}, {512, 2},
		     {1, 32}, {8, 32}, {32, 32}, {128, 32}};
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
	struct remap remap = {.access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
					 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
	CUdevice device;
	CUcontext context;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	printf("| pages | MiB each | unmap, us | map | set access | all | 5 %% to 95 %% |\n");
	printf("|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		remap.pages = sizes[i].pages;
		remap.page_bytes = sizes[i].mib << 20;
		measure(&remap, &prop);
	}
	return 0;
}
