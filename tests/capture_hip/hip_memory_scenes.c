/* The scenes of hip_scenes.c that allocate and release memory. */
#include <stdio.h>
#include <stdlib.h>

#include "hip_scenes.h"
#include "kernels.h"

int allocations(void)
{
	struct hipChannelFormatDesc format = hipCreateChannelDesc(
		32, 0, 0, 0, hipChannelFormatKindFloat); /* elements of four bytes */
	hipPitchedPtr box;
	hipStream_t stream;
	hipArray_t array;
	size_t pitch;
	void *memory;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipMalloc(&memory, 1000));
	say_pointer("freed", memory);
	HIP_CHECK(hipFree(memory));
	HIP_CHECK(hipFree(NULL));
	HIP_CHECK(hipMallocManaged(&memory, 3000, hipMemAttachGlobal));
	say_pointer("memory", memory);
	HIP_CHECK(hipHostMalloc(&memory, 4000, 0));
	say_pointer("memory", memory);
	HIP_CHECK(hipMallocPitch(&memory, &pitch, 100, 7));
	say_pointer("memory", memory);
	say("pitch", pitch);
	HIP_CHECK(hipMalloc3D(&box, make_hipExtent(100, 3, 5)));
	say_pointer("memory", box.ptr);
	say("pitch", box.pitch);
	HIP_CHECK(hipMallocAsync(&memory, 2000, stream));
	say_pointer("memory", memory);
	HIP_CHECK(hipFreeAsync(memory, stream));
	if (hipMallocArray(&array, &format, 16, 8, 0) == hipSuccess) {
		say_pointer("memory", array);
		HIP_CHECK(hipFreeArray(array));
	}
	if (hipMalloc(&memory, (size_t)1 << 50) != hipErrorOutOfMemory)
		return 1;
	return hipFree((void *)&format) == hipSuccess;
}

int captured_memory(void)
{
	hipStream_t stream;
	hipGraph_t graph;
	void *memory;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	HIP_CHECK(hipMallocAsync(&memory, 2000, stream));
	say_pointer("memory", memory);
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	return 0;
}

static void say_whether_it_is_left(const char *kind, void *memory)
{
	hipPointerAttribute_t attributes;

	printf("%s %d\n", kind, hipPointerGetAttributes(&attributes, memory) == hipSuccess);
}

int device_reset(void)
{
	struct hipChannelFormatDesc format =
		hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	void *device[2], *host, *managed, *after;
	int count;
	hipArray_t array;

	HIP_CHECK(hipGetDeviceCount(&count));
	if (count > 2)
		return 1;
	for (int i = 0; i < count; i++) {
		HIP_CHECK(hipSetDevice(i));
		HIP_CHECK(hipMalloc(&device[i], 1000 + (size_t)i));
		HIP_CHECK(hipMallocArray(&array, &format, 16, 8 + (size_t)i, 0));
	}
	HIP_CHECK(hipHostMalloc(&host, 3000, 0));
	HIP_CHECK(hipMallocManaged(&managed, 4000, hipMemAttachGlobal));
	HIP_CHECK(hipDeviceReset());
	for (int i = 0; i < count; i++)
		say_whether_it_is_left("device", device[i]);
	say_whether_it_is_left("host", host);
	say_whether_it_is_left("managed", managed);
	HIP_CHECK(hipMalloc(&after, 5000));
	return 0;
}

enum { HELD_MOST = 24, STEPS = 600 };

struct held {
	void *memory;
	hipError_t (*release)(void *memory);
	hipStream_t stream; /* with it, it is released in the stream's order */
};

static void hold(struct held *held, hipStream_t stream)
{
	size_t bytes = 256 * (size_t)(1 + rand() % 8);

	*held = (struct held){.release = hipFree};
	switch (rand() % 3) {
	case 0:
		HIP_CHECK(hipMalloc(&held->memory, bytes));
		break;
	case 1:
		HIP_CHECK(hipHostMalloc(&held->memory, bytes, 0));
		held->release = hipHostFree;
		break;
	default:
		HIP_CHECK(hipMallocAsync(&held->memory, bytes, stream));
		held->stream = stream;
	}
}

int held_memory(void)
{
	struct held all[HELD_MOST] = {{0}};
	hipStream_t streams[2];
	char scope[32];

	for (int i = 0; i < 2; i++)
		HIP_CHECK(hipStreamCreate(&streams[i]));
	for (int i = 0; i < STEPS; i++) {
		struct held *held = &all[rand() % HELD_MOST];

		snprintf(scope, sizeof(scope), "layer %d", rand() % 5);
		if (roctxRangePushA)
			roctxRangePushA(scope);
		if (!held->memory) {
			hold(held, streams[rand() % 2]);
		} else {
			HIP_CHECK(held->stream ? hipFreeAsync(held->memory, held->stream)
					       : held->release(held->memory));
			held->memory = NULL;
		}
		if (roctxRangePop)
			roctxRangePop();
	}
	return 0;
}
