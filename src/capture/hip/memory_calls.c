/* Writes the MEMORY records of HIP's calls; see memory_calls.h. */
#include "capture/hip/memory_calls.h"

#include <stddef.h>

#include "capture/capture_session.h"
#include "capture/hip/hip_device.h"
#include "capture/hip/hip_functions.h"
#include "capture/hsa/hsa_memory.h"
#include "vendor/hip_types.h"

/* Weak: tests of capture/hip alone do not link capture/hsa. */
#pragma weak hsa_memory_agent

/* By function: the kind of memory that it allocates or releases; 0: neither. */
static const uint8_t kinds[HIP_FUNCTION_COUNT] = {
#define KIND(function, kind) [HIP_##function] = RECORD_MEMORY_KIND_##kind
	KIND(hipMalloc, DEVICE),      KIND(hipExtMallocWithFlags, DEVICE),
	KIND(hipMallocAsync, DEVICE), KIND(hipMallocFromPoolAsync, DEVICE),
	KIND(hipMallocPitch, DEVICE), KIND(hipMemAllocPitch, DEVICE),
	KIND(hipMalloc3D, DEVICE),    KIND(hipMemCreate, DEVICE),
	KIND(hipFree, DEVICE),	      KIND(hipFreeAsync, DEVICE),
	KIND(hipMemRelease, DEVICE),  KIND(hipMallocManaged, MANAGED),
	KIND(hipHostMalloc, HOST),    KIND(hipHostAlloc, HOST),
	KIND(hipMallocHost, HOST),    KIND(hipMemAllocHost, HOST),
	KIND(hipHostFree, HOST),      KIND(hipFreeHost, HOST),
	KIND(hipMallocArray, ARRAY),  KIND(hipMalloc3DArray, ARRAY),
	KIND(hipArrayCreate, ARRAY),  KIND(hipArray3DCreate, ARRAY),
	KIND(hipFreeArray, ARRAY),    KIND(hipArrayDestroy, ARRAY),
#undef KIND
};

static uint8_t kind_of(uint32_t function)
{
	return function < HIP_FUNCTION_COUNT ? kinds[function] : 0;
}

/* Whether CALL is a part of another allocation or release, or has become a node of a graph. The
 * call's own frame is no longer on the stack. */
static bool is_no_operation(const struct hip_call *call)
{
	return (frame_top && kind_of(frame_top->function)) || call->is_node;
}

/* ---- allocations ---- */

static void put(const struct hip_call *call, enum record_memory_type type,
		struct record_memory *record)
{
	record->cid = call->frame.cid;
	record->scope = call->frame.scope;
	writer_put(session_writer(), RECORD_MEMORY, type, record, sizeof(*record));
}

static void put_allocation(const struct hip_call *call, int result, uint64_t address,
			   uint64_t bytes)
{
	struct record_memory record = {
		.ns = session_now_ns(),
		.bytes = bytes,
		.kind = kind_of(call->frame.function),
		.result = result,
	};
	bool has_failed = result != HIP_OK;

	/* An allocation of nothing succeeds without an address. */
	if (is_no_operation(call) || (!has_failed && !address))
		return;
	if (!has_failed) {
		record.address = address;
		/* An array's handle is no address of its memory, which is the current device's. */
		if (record.kind == RECORD_MEMORY_KIND_ARRAY)
			record.agent = device_current_agent();
		else if (hsa_memory_agent)
			record.agent = hsa_memory_agent((const void *)(uintptr_t)address);
	}
	put(call, has_failed ? RECORD_MEMORY_FAIL : RECORD_MEMORY_ALLOCATE, &record);
}

void memory_allocated(struct hip_call *call, int result, const uint64_t *args)
{
	put_allocation(call, result, args[0], args[1]);
}

void memory_pitch_allocated(struct hip_call *call, int result, const uint64_t *args)
{
	uint64_t row_bytes =
		result == HIP_OK ? args[ARG_hipMallocPitch_pitch] : args[ARG_hipMallocPitch_width];

	put_allocation(call, result, args[0], row_bytes * args[ARG_hipMallocPitch_height]);
}
_Static_assert(ARG_hipMallocPitch_pitch == ARG_hipMemAllocPitch_pitch &&
		       ARG_hipMallocPitch_height == ARG_hipMemAllocPitch_height,
	       "one hook for both");

void memory_3d_allocated(struct hip_call *call, int result, const uint64_t *args)
{
	const struct hip_pitched *box =
		(const void *)(uintptr_t)args[ARG_hipMalloc3D_pitchedDevPtr];
	bool has_failed = result != HIP_OK;
	uint64_t row_bytes = has_failed ? args[ARG_hipMalloc3D_extent_width] : box->pitch;

	put_allocation(call, result, has_failed ? 0 : (uintptr_t)box->ptr,
		       row_bytes * args[ARG_hipMalloc3D_extent_height] *
			       args[ARG_hipMalloc3D_extent_depth]);
}

/* ---- arrays ---- */

/* Bytes of WIDTH x HEIGHT x DEPTH elements; a height or depth of 0 is none, and counts as 1. */
static uint64_t array_bytes(uint64_t element, uint64_t width, uint64_t height, uint64_t depth)
{
	return element * width * (height ? height : 1) * (depth ? depth : 1);
}

static uint64_t channel_bytes(uint64_t described)
{
	const struct hip_channel *channel = (const void *)(uintptr_t)described;

	return channel ? (uint64_t)(channel->x + channel->y + channel->z + channel->w) / 8 : 0;
}

static uint64_t format_bytes(uint32_t format, uint32_t channels)
{
	switch (format) {
	case HIP_FORMAT_U8:
	case HIP_FORMAT_I8:
		return channels;
	case HIP_FORMAT_U32:
	case HIP_FORMAT_I32:
	case HIP_FORMAT_FLOAT:
		return 4 * (uint64_t)channels;
	default:
		return 2 * (uint64_t)channels;
	}
}

static uint64_t described_bytes(uint32_t function, const uint64_t *args)
{
	const void *described = (const void *)(uintptr_t)args[1];
	const struct hip_array *array = described;
	const struct hip_array_3d *array_3d = described;

	switch (function) {
	case HIP_hipMallocArray:
		return array_bytes(channel_bytes(args[ARG_hipMallocArray_desc]),
				   args[ARG_hipMallocArray_width], args[ARG_hipMallocArray_height],
				   0);
	case HIP_hipMalloc3DArray:
		return array_bytes(channel_bytes(args[ARG_hipMalloc3DArray_desc]),
				   args[ARG_hipMalloc3DArray_extent_width],
				   args[ARG_hipMalloc3DArray_extent_height],
				   args[ARG_hipMalloc3DArray_extent_depth]);
	case HIP_hipArrayCreate:
		return array_bytes(format_bytes(array->format, array->channels), array->width,
				   array->height, 0);
	default:
		return array_bytes(format_bytes(array_3d->format, array_3d->channels),
				   array_3d->width, array_3d->height, array_3d->depth);
	}
}

void memory_array_allocated(struct hip_call *call, int result, const uint64_t *args)
{
	/* The arguments of a call that failed may point nowhere. */
	put_allocation(call, result, args[0],
		       result == HIP_OK ? described_bytes(call->frame.function, args) : 0);
}

/* ---- releases ---- */

void memory_released(struct hip_call *call, int result, const uint64_t *args)
{
	struct record_memory record = {.ns = call->frame.begin_ns, .address = args[0]};

	if (result == HIP_OK && args[0] && !is_no_operation(call))
		put(call, RECORD_MEMORY_RELEASE, &record);
}

void memory_device_reset(struct hip_call *call, int result, const uint64_t *args)
{
	struct record_memory record = {.ns = call->frame.begin_ns};

	(void)args;
	if (result != HIP_OK)
		return;
	record.agent = device_current_agent();
	record.bytes = device_is_only() ? RECORD_MEMORY_RESET_ALL : 0;
	put(call, RECORD_MEMORY_RESET, &record);
}
