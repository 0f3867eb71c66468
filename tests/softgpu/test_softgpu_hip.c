/* The unmodified HIP runtime on the software GPU: the kinds of memory, copies and launches that
 * the examples do not use. Each case checks data that a host kernel or a copy has moved. */
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hsa/hsa.h>

#include "example.h"

#define COUNT 1000
#define BYTES (COUNT * sizeof(int))
#define MIB   ((size_t)1 << 20)

#define OK(call) assert_int_equal((call), hipSuccess)

static const struct example_kernel add = {"test_add"};
static const char source[] =
	"extern \"C\" __global__ void test_add(int *p, int n, int v)\n"
	"{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += v; }\n";

/* The kernel's host version, which the software GPU finds by its name. */
__attribute__((visibility("default"))) void
softgpu_kernel_test_add(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

void softgpu_kernel_test_add(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	struct {
		int *p;
		int n;
		int v;
	} arguments;

	memcpy(&arguments, kernarg, sizeof(arguments));
	for (int i = 0; i < arguments.n; i++)
		arguments.p[i] += arguments.v;
}

static void launch_add(int *p, int v, hipStream_t stream)
{
	int n = COUNT;
	void *arguments[] = {&p, &n, &v};

	example_launch(&add, 4, 256, arguments, stream);
}

static int *allocate(size_t bytes)
{
	void *device = NULL;

	OK(hipMalloc(&device, bytes));
	OK(hipMemset(device, 0, bytes));
	return device;
}

static int first_word(const int *device)
{
	int word = -1;

	OK(hipMemcpy(&word, device, sizeof(word), hipMemcpyDeviceToHost));
	return word;
}

static void managed_memory(void **state)
{
	int *managed;

	OK(hipMallocManaged((void **)&managed, BYTES, hipMemAttachGlobal));
	managed[COUNT - 1] = 40;
	launch_add(managed, 2, NULL);
	OK(hipDeviceSynchronize());
	assert_int_equal(managed[COUNT - 1], 42);
	OK(hipFree(managed));
}

static void registered_memory(void **state)
{
	int *host = calloc(COUNT, sizeof(*host));
	void *device;

	OK(hipHostRegister(host, BYTES, 0));
	OK(hipHostGetDevicePointer(&device, host, 0));
	/* The device address differs from the host address, as on hardware; hipHostUnregister
	 * aborts if they are equal. */
	assert_ptr_not_equal(device, host);
	launch_add(device, 7, NULL);
	OK(hipDeviceSynchronize());
	assert_int_equal(host[COUNT - 1], 7);
	OK(hipHostUnregister(host));
	free(host);
}

static void host_memory(void **state)
{
	int *host;

	OK(hipHostMalloc((void **)&host, BYTES, 0));
	host[0] = 1;
	launch_add(host, 5, NULL);
	OK(hipDeviceSynchronize());
	assert_int_equal(host[0], 6);
	OK(hipHostFree(host));
}

static void large_pageable_copies(void **state)
{
	const size_t bytes = 32 * MIB;
	char *from = malloc(bytes);
	char *to = calloc(1, bytes);
	int *first = allocate(bytes);
	int *second = allocate(bytes);

	for (size_t i = 0; i < bytes; i++)
		from[i] = (char)(i * 7 + (i >> 12));
	OK(hipMemcpy(first, from, bytes, hipMemcpyHostToDevice));
	OK(hipMemcpy(second, first, bytes, hipMemcpyDeviceToDevice));
	OK(hipMemcpy(to, second, bytes, hipMemcpyDeviceToHost));
	assert_memory_equal(from, to, bytes);
	OK(hipFree(first));
	OK(hipFree(second));
	free(from);
	free(to);
}

static void pitched_memory(void **state)
{
	enum { WIDTH = 100, ROWS = 50 };
	char from[WIDTH * ROWS];
	char to[WIDTH * ROWS] = {0};
	size_t pitch[2];
	void *device[2];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * 3);
	for (int i = 0; i < 2; i++)
		OK(hipMallocPitch(&device[i], &pitch[i], WIDTH, ROWS));
	OK(hipMemset2D(device[1], pitch[1], 9, WIDTH, ROWS));
	OK(hipMemcpy2D(device[0], pitch[0], from, WIDTH, WIDTH, ROWS, hipMemcpyHostToDevice));
	/* Copy all rows but the last one, so that the fill shows as well. */
	OK(hipMemcpy2D(device[1], pitch[1], device[0], pitch[0], WIDTH, ROWS - 1,
		       hipMemcpyDeviceToDevice));
	OK(hipMemcpy2D(to, WIDTH, device[1], pitch[1], WIDTH, ROWS, hipMemcpyDeviceToHost));
	assert_memory_equal(from, to, WIDTH * (ROWS - 1));
	assert_int_equal(to[sizeof(to) - 1], 9);
	OK(hipFree(device[0]));
	OK(hipFree(device[1]));
}

static void three_dimensions(void **state)
{
	const hipExtent extent = {64, 8, 4};
	hipMemcpy3DParms in = {.extent = extent, .kind = hipMemcpyHostToDevice};
	hipMemcpy3DParms out = {.extent = extent, .kind = hipMemcpyDeviceToHost};
	char from[64 * 8 * 4];
	char to[64 * 8 * 4] = {0};
	hipPitchedPtr device;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * 5);
	OK(hipMalloc3D(&device, extent));
	in.srcPtr = (hipPitchedPtr){from, 64, 64, 8};
	in.dstPtr = device;
	out.srcPtr = device;
	out.dstPtr = (hipPitchedPtr){to, 64, 64, 8};
	OK(hipMemcpy3D(&in));
	OK(hipMemcpy3D(&out));
	assert_memory_equal(from, to, sizeof(from));
	OK(hipFree(device.ptr));
}

static void out_of_memory(void **state)
{
	void *blocks[8];
	int count = 0;

	/* The machine has 1 GiB, part of which is in use. */
	while (count < 8 && hipMalloc(&blocks[count], 256 * MIB) == hipSuccess)
		count++;
	assert_int_equal(count, 3);
	assert_int_equal(hipGetLastError(), hipErrorOutOfMemory);
	while (count > 0)
		OK(hipFree(blocks[--count]));
	OK(hipMalloc(&blocks[0], 256 * MIB));
	OK(hipFree(blocks[0]));
}

static void cooperative_launch(void **state)
{
	int *device = allocate(BYTES);
	int n = COUNT;
	int v = 8;
	void *arguments[] = {&device, &n, &v};

	OK(hipLaunchCooperativeKernel(&add, (dim3){4, 1, 1}, (dim3){256, 1, 1}, arguments, 0,
				      NULL));
	OK(hipDeviceSynchronize());
	assert_int_equal(first_word(device), 8);
	OK(hipFree(device));
}

static void stream_values(void **state)
{
	hipStream_t writer;
	hipStream_t waiter;
	uint64_t *value;

	OK(hipExtMallocWithFlags((void **)&value, sizeof(*value), hipMallocSignalMemory));
	OK(hipStreamCreateWithFlags(&writer, hipStreamNonBlocking));
	OK(hipStreamCreateWithPriority(&waiter, hipStreamNonBlocking, -1));
	OK(hipStreamWaitValue64(waiter, value, 7, hipStreamWaitValueEq, ~0ull));
	OK(hipStreamWriteValue64(writer, value, 7, 0));
	OK(hipStreamSynchronize(waiter));
	OK(hipStreamSynchronize(writer));
	OK(hipStreamDestroy(writer));
	OK(hipStreamDestroy(waiter));
	OK(hipFree(value));
}

static void copies_to_and_from_arrays(void **state)
{
	enum { WIDTH = 64, ROWS = 16, COLUMN = 5, LINE = 3, PART = 20 };
	const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindSigned};
	const size_t row = WIDTH * sizeof(int);
	int from[WIDTH * ROWS];
	int to[WIDTH * ROWS] = {0};
	int part[PART] = {0};
	hipArray *array;

	for (int i = 0; i < WIDTH * ROWS; i++)
		from[i] = i * 11;
	OK(hipMallocArray(&array, &format, WIDTH, ROWS, 0));
	OK(hipMemcpy2DToArray(array, 0, 0, from, row, row, ROWS, hipMemcpyHostToDevice));
	OK(hipMemcpy2DFromArray(to, row, array, 0, 0, row, ROWS, hipMemcpyDeviceToHost));
	assert_memory_equal(from, to, sizeof(from));
	OK(hipMemcpy2DFromArray(part, sizeof(part), array, COLUMN * sizeof(int), LINE, sizeof(part),
				1, hipMemcpyDeviceToHost));
	assert_memory_equal(part, from + LINE * WIDTH + COLUMN, sizeof(part));
	OK(hipFreeArray(array));
}

static void copies_between_peers(void **state)
{
	int *here = allocate(BYTES);
	int devices = 0;

	OK(hipGetDeviceCount(&devices));
	assert_true(devices > 1);
	launch_add(here, 11, NULL);
	/* HIP 5.2.3 orders a peer copy only after work of the current device. */
	OK(hipDeviceSynchronize());
	for (int i = 1; i < devices; i++) {
		int can_access = 0;
		int *there;

		OK(hipDeviceCanAccessPeer(&can_access, 0, i));
		assert_int_equal(can_access, 1);
		OK(hipSetDevice(i));
		there = allocate(BYTES);
		OK(hipMemcpyPeer(there, i, here, 0, BYTES));
		launch_add(there, i, NULL);
		assert_int_equal(first_word(there), 11 + i);
		OK(hipFree(there));
	}
	OK(hipSetDevice(0));
	OK(hipFree(here));
}

/* HIP 5.2.3 computes a count of 2^61 - 1 words of 8 bytes for one byte at an odd multiple of 4.
 * The kernel faults, as on hardware, and HIP aborts the program with a message. */
static void a_fill_that_wraps_aborts(void **state)
{
	char *const arguments[] = {"softgpu_hip", "wrap", NULL};
	int status;
	pid_t child;

	assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static int fill_that_wraps(void)
{
	const struct rlimit no_core = {0, 0};
	char *device;

	setrlimit(RLIMIT_CORE, &no_core);
	if (hipMalloc((void **)&device, 64) != hipSuccess)
		return EXIT_FAILURE;
	return hipMemset(device + 4, 7, 1) == hipSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* This case must be the last one, and the stream is not destroyed: after a hipFreeAsync, HIP
 * 5.2.3 loops forever in any hipStreamDestroy (an iterator that is never advanced), whatever the
 * device. */
static void memory_in_stream_order(void **state)
{
	static hipStream_t stream;
	int *device;
	int word = 0;

	OK(hipStreamCreate(&stream));
	OK(hipMallocAsync((void **)&device, BYTES, stream));
	OK(hipMemsetAsync(device, 0, BYTES, stream));
	launch_add(device, 3, stream);
	OK(hipMemcpyAsync(&word, device, sizeof(word), hipMemcpyDeviceToHost, stream));
	OK(hipFreeAsync(device, stream));
	OK(hipStreamSynchronize(stream));
	assert_int_equal(word, 3);
}

static int open_device(void **state)
{
	example_register(source, &add, 1);
	return 0;
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(managed_memory),
		cmocka_unit_test(registered_memory),
		cmocka_unit_test(host_memory),
		cmocka_unit_test(large_pageable_copies),
		cmocka_unit_test(pitched_memory),
		cmocka_unit_test(three_dimensions),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(cooperative_launch),
		cmocka_unit_test(stream_values),
		cmocka_unit_test(copies_to_and_from_arrays),
		cmocka_unit_test(copies_between_peers),
		cmocka_unit_test(a_fill_that_wraps_aborts),
		cmocka_unit_test(memory_in_stream_order),
	};

	if (argument_count > 1 && !strcmp(arguments[1], "wrap"))
		return fill_that_wraps();
	return cmocka_run_group_tests_name("HIP", tests, open_device, NULL);
}
