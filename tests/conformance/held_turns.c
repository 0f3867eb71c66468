/*
 * Preloaded into streams-and-events, for a test of a reader that finds the critical path. The clock
 * stands still, but each call takes 2 us; when the host waits for the end, each kernel in turn
 * takes its HELD_KERNEL_NS. So the host is ahead of the device on any machine. HELD_KERNELS is the
 * number of kernels. The reader compares some times in whole microseconds, so every moment here is
 * one, if the clock begins at one and the kernels take whole microseconds.
 */
#define __HIP_PLATFORM_AMD__
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dagtap/softgpu.h>

#define HALF_A_CALL_NS 1000
#define COPY_NS	       1000 /* as the device is configured */
#define COUNTERS_MOST  64

static uint64_t number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : 0;
}

static uint64_t counter(const char *name)
{
	const char *names[COUNTERS_MOST];
	uint64_t values[COUNTERS_MOST];
	uint32_t count = softgpu_counters(values, names, COUNTERS_MOST);

	for (uint32_t i = 0; i < count && i < COUNTERS_MOST; i++)
		if (!strcmp(names[i], name))
			return values[i];
	return 0;
}

static uint64_t launches;
static uint64_t run_ns;	 /* how long the first kernel has run */
static uint64_t before;	 /* of a counter, read when the host began to wait */
static pthread_t device; /* lets kernels run while the host waits */

static void step(uint64_t ns)
{
	softgpu_clock_step(ns);
	run_ns += ns;
}

/* The device begins the first kernel at once. */
static void after_hipLaunchKernel(void)
{
	if (launches++)
		return;
	softgpu_await("packets_kernel_dispatch", 1);
	run_ns = 0;
}

static void *run_device(void *unused)
{
	uint64_t kernel_ns = number("HELD_KERNEL_NS"), all = number("HELD_KERNELS");

	softgpu_await("signal_sleeps", before + 1);
	for (uint64_t kernel = 1; kernel <= all; kernel++) {
		softgpu_await("packets_kernel_dispatch", kernel);
		softgpu_clock_step(kernel_ns - (kernel == 1 ? run_ns : 0));
	}
	return unused;
}

static void *run_copy(void *unused)
{
	softgpu_await("copies_begun", before + 1);
	softgpu_clock_step(COPY_NS);
	return unused;
}

static void device_start(const char *waits_for, void *(*body)(void *))
{
	before = counter(waits_for);
	if (pthread_create(&device, NULL, body, NULL))
		abort();
}

static void before_hipEventSynchronize(void)
{
	device_start("signal_sleeps", run_device);
}

static void before_hipMemcpy(void)
{
	device_start("copies_begun", run_copy);
}

static void device_end(void)
{
	pthread_join(device, NULL);
}

static void nothing(void)
{
}

/* The tool's wrapper is called before this one, so it sees the time pass. */
#define CALL(name, parameters, arguments, first, last)                                             \
	__attribute__((visibility("default"))) hipError_t name parameters                          \
	{                                                                                          \
		__typeof__(name) *next = (__typeof__(next))(uintptr_t)dlsym(RTLD_NEXT, #name);     \
		hipError_t result;                                                                 \
                                                                                                   \
		first();                                                                           \
		step(HALF_A_CALL_NS);                                                              \
		result = next arguments;                                                           \
		last();                                                                            \
		step(HALF_A_CALL_NS);                                                              \
		return result;                                                                     \
	}

CALL(hipGetDevice, (int *id), (id), nothing, nothing)
CALL(hipGetDeviceProperties, (hipDeviceProp_t * properties, int id), (properties, id), nothing,
     nothing)
CALL(hipMalloc, (void **address, size_t bytes), (address, bytes), nothing, nothing)
CALL(hipFree, (void *address), (address), nothing, nothing)
CALL(hipMemcpy, (void *to, const void *from, size_t bytes, hipMemcpyKind kind),
     (to, from, bytes, kind), before_hipMemcpy, device_end)
CALL(hipStreamCreateWithFlags, (hipStream_t * stream, unsigned flags), (stream, flags), nothing,
     nothing)
CALL(hipStreamDestroy, (hipStream_t stream), (stream), nothing, nothing)
CALL(hipStreamSynchronize, (hipStream_t stream), (stream), nothing, nothing)
CALL(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned flags),
     (stream, event, flags), nothing, nothing)
CALL(hipEventCreateWithFlags, (hipEvent_t * event, unsigned flags), (event, flags), nothing,
     nothing)
CALL(hipEventDestroy, (hipEvent_t event), (event), nothing, nothing)
CALL(hipEventQuery, (hipEvent_t event), (event), nothing, nothing)
CALL(hipEventRecord, (hipEvent_t event, hipStream_t stream), (event, stream), nothing, nothing)
CALL(hipEventSynchronize, (hipEvent_t event), (event), before_hipEventSynchronize, device_end)
CALL(hipDeviceSynchronize, (void), (), nothing, nothing)
CALL(hipLaunchKernel,
     (const void *function, dim3 grid, dim3 block, void **kernarg, size_t shared,
      hipStream_t stream),
     (function, grid, block, kernarg, shared, stream), nothing, after_hipLaunchKernel)
