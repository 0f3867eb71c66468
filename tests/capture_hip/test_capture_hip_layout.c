/* Compares dagtap's copies of HIP's struct layouts and constants with the installed headers. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vendor/hip_types.h"

#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs) &&                                    \
			       _Alignof(struct ours) == _Alignof(theirs),                          \
		       #theirs)
#define SAME_FIELD(ours, field, theirs, their_field)                                               \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) &&            \
			       sizeof(((struct ours *)0)->field) ==                                \
				       sizeof(((theirs *)0)->their_field),                         \
		       #their_field)

SAME_SIZE(hip_dim3, dim3);
SAME_SIZE(hip_extent, hipExtent);
SAME_SIZE(hip_pitched, hipPitchedPtr);
SAME_SIZE(hip_channel, hipChannelFormatDesc);
SAME_SIZE(hip_array, HIP_ARRAY_DESCRIPTOR);
SAME_FIELD(hip_array, format, HIP_ARRAY_DESCRIPTOR, Format);
SAME_FIELD(hip_array, channels, HIP_ARRAY_DESCRIPTOR, NumChannels);
SAME_SIZE(hip_array_3d, HIP_ARRAY3D_DESCRIPTOR);
SAME_FIELD(hip_array_3d, format, HIP_ARRAY3D_DESCRIPTOR, Format);
SAME_FIELD(hip_array_3d, channels, HIP_ARRAY3D_DESCRIPTOR, NumChannels);
_Static_assert((int)HIP_FORMAT_U8 == (int)HIP_AD_FORMAT_UNSIGNED_INT8,
	       "HIP_AD_FORMAT_UNSIGNED_INT8");
_Static_assert((int)HIP_FORMAT_U32 == (int)HIP_AD_FORMAT_UNSIGNED_INT32,
	       "HIP_AD_FORMAT_UNSIGNED_INT32");
_Static_assert((int)HIP_FORMAT_I8 == (int)HIP_AD_FORMAT_SIGNED_INT8, "HIP_AD_FORMAT_SIGNED_INT8");
_Static_assert((int)HIP_FORMAT_I32 == (int)HIP_AD_FORMAT_SIGNED_INT32,
	       "HIP_AD_FORMAT_SIGNED_INT32");
_Static_assert((int)HIP_FORMAT_FLOAT == (int)HIP_AD_FORMAT_FLOAT, "HIP_AD_FORMAT_FLOAT");
_Static_assert(sizeof(struct hip_ipc_handle) == sizeof(hipIpcMemHandle_t), "hipIpcMemHandle_t");
_Static_assert(sizeof(struct hip_ipc_handle) == sizeof(hipIpcEventHandle_t), "hipIpcEventHandle_t");

SAME_SIZE(hip_kernel_params, hipKernelNodeParams);
SAME_FIELD(hip_kernel_params, block, hipKernelNodeParams, blockDim);
SAME_FIELD(hip_kernel_params, function, hipKernelNodeParams, func);
SAME_FIELD(hip_kernel_params, grid, hipKernelNodeParams, gridDim);
SAME_FIELD(hip_kernel_params, arguments, hipKernelNodeParams, kernelParams);
SAME_FIELD(hip_kernel_params, shared_bytes, hipKernelNodeParams, sharedMemBytes);

SAME_SIZE(hip_memset_params, hipMemsetParams);
SAME_FIELD(hip_memset_params, dst, hipMemsetParams, dst);
SAME_FIELD(hip_memset_params, element_bytes, hipMemsetParams, elementSize);
SAME_FIELD(hip_memset_params, height, hipMemsetParams, height);
SAME_FIELD(hip_memset_params, pitch, hipMemsetParams, pitch);
SAME_FIELD(hip_memset_params, value, hipMemsetParams, value);
SAME_FIELD(hip_memset_params, width, hipMemsetParams, width);

SAME_SIZE(hip_copy_params, hipMemcpy3DParms);
SAME_FIELD(hip_copy_params, src_array, hipMemcpy3DParms, srcArray);
SAME_FIELD(hip_copy_params, src, hipMemcpy3DParms, srcPtr);
SAME_FIELD(hip_copy_params, dst_array, hipMemcpy3DParms, dstArray);
SAME_FIELD(hip_copy_params, dst, hipMemcpy3DParms, dstPtr);
SAME_FIELD(hip_copy_params, extent, hipMemcpy3DParms, extent);
SAME_FIELD(hip_copy_params, kind, hipMemcpy3DParms, kind);

/* What newer releases have: tests/rocm compiles this file with their headers. */
#if HIP_VERSION_MAJOR >= 6
SAME_SIZE(hip_alloc_params, hipMemAllocNodeParams);
SAME_FIELD(hip_alloc_params, location, hipMemAllocNodeParams, poolProps.location);
SAME_FIELD(hip_alloc_params, bytes, hipMemAllocNodeParams, bytesize);
SAME_FIELD(hip_alloc_params, address, hipMemAllocNodeParams, dptr);
SAME_SIZE(hip_instantiate_params, hipGraphInstantiateParams);
SAME_FIELD(hip_instantiate_params, flags, hipGraphInstantiateParams, flags);
_Static_assert((int)HIP_LOCATION_DEVICE == (int)hipMemLocationTypeDevice, "hipMemLocationType");
_Static_assert((int)HIP_GRAPH_FREE_ON_LAUNCH == (int)hipGraphInstantiateFlagAutoFreeOnLaunch,
	       "hipGraphInstantiateFlags");
#endif

static void numbers(void **state)
{
	assert_int_equal(HIP_OK, hipSuccess);
	assert_int_equal(HIP_NOT_SUPPORTED, hipErrorNotSupported);
	assert_int_equal(HIP_CAPTURE_UNMATCHED, hipErrorStreamCaptureUnmatched);
	assert_int_equal(HIP_CAPTURE_WRONG_THREAD, hipErrorStreamCaptureWrongThread);
	assert_int_equal(HIP_CAPTURE_ACTIVE, hipStreamCaptureStatusActive);
	assert_int_equal(HIP_COPY_HOST_TO_DEVICE, hipMemcpyHostToDevice);
	assert_int_equal(HIP_COPY_DEVICE_TO_HOST, hipMemcpyDeviceToHost);
	assert_int_equal(HIP_COPY_DEVICE_TO_DEVICE, hipMemcpyDeviceToDevice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
