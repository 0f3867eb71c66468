/* Compares the copies of HIP's and HSA's structs that only dagpatch uses with the installed
 * headers. tests/capture_hip/test_capture_hip_layout.c checks the others. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vendor/hip_types.h"
#include "vendor/hsa_loader.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define SAME_FIELD(ours, field, theirs, their_field)                                               \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) &&            \
			       sizeof(((struct ours *)0)->field) ==                                \
				       sizeof(((theirs *)0)->their_field),                         \
		       #their_field)
#define SEGMENT hsa_ven_amd_loader_segment_descriptor_t
#define TABLE	hsa_ven_amd_loader_1_00_pfn_t

SAME_SIZE(hip_host_params, hipHostNodeParams);
SAME_FIELD(hip_host_params, function, hipHostNodeParams, fn);
SAME_FIELD(hip_host_params, user, hipHostNodeParams, userData);

SAME_SIZE(hsa_loader_segment, SEGMENT);
SAME_FIELD(hsa_loader_segment, agent, SEGMENT, agent);
SAME_FIELD(hsa_loader_segment, executable, SEGMENT, executable);
SAME_FIELD(hsa_loader_segment, storage_type, SEGMENT, code_object_storage_type);
SAME_FIELD(hsa_loader_segment, storage, SEGMENT, code_object_storage_base);
SAME_FIELD(hsa_loader_segment, storage_bytes, SEGMENT, code_object_storage_size);
SAME_FIELD(hsa_loader_segment, storage_offset, SEGMENT, code_object_storage_offset);
SAME_FIELD(hsa_loader_segment, segment, SEGMENT, segment_base);
SAME_FIELD(hsa_loader_segment, segment_bytes, SEGMENT, segment_size);
SAME_SIZE(hsa_loader_table, TABLE);
SAME_FIELD(hsa_loader_table, query_segment_descriptors, TABLE,
	   hsa_ven_amd_loader_query_segment_descriptors);

static void numbers(void **state)
{
	assert_int_equal(HIP_OUT_OF_MEMORY, hipErrorOutOfMemory);
	assert_int_equal(HIP_GRAPH_EXEC_UPDATE_FAILURE, hipErrorGraphExecUpdateFailure);
	assert_int_equal(HIP_CAPTURE_MODE_THREAD_LOCAL, hipStreamCaptureModeThreadLocal);
	assert_ptr_equal(HIP_EXTRA_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_POINTER);
	assert_ptr_equal(HIP_EXTRA_BUFFER_SIZE, HIP_LAUNCH_PARAM_BUFFER_SIZE);
	assert_ptr_equal(HIP_EXTRA_END, HIP_LAUNCH_PARAM_END);
	assert_int_equal(HSA_LOADER_EXTENSION, HSA_EXTENSION_AMD_LOADER);
	assert_int_equal(HSA_LOADER_STORAGE_MEMORY,
			 HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
