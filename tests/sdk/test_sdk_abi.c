/* Compares the layouts of sdk/abi.h with the headers of rocprofiler-sdk. Built where these are
 * installed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "sdk/abi.h"
#include "sdk/mark_ranges.h"

static int failures;

static void compare(const char *what, size_t ours, size_t theirs)
{
	if (ours == theirs)
		return;
	fprintf(stderr, "%s: %zu, in the header %zu\n", what, ours, theirs);
	failures++;
}

#define SIZE(ours, theirs) compare(#ours, sizeof(struct ours), sizeof(theirs))
#define PLACE(ours, field, theirs, other)                                                          \
	compare(#ours "." #field, offsetof(struct ours, field), offsetof(theirs, other))
#define VALUE(ours, theirs) compare(#ours, ours, theirs)

static void compare_records(void)
{
	SIZE(sdk_hip_record, rocprofiler_buffer_tracing_hip_api_record_t);
	PLACE(sdk_hip_record, start_ns, rocprofiler_buffer_tracing_hip_api_record_t,
	      start_timestamp);
	PLACE(sdk_hip_record, tid, rocprofiler_buffer_tracing_hip_api_record_t, thread_id);
	SIZE(sdk_dispatch_record, rocprofiler_buffer_tracing_kernel_dispatch_record_t);
	PLACE(sdk_dispatch_record, tid, rocprofiler_buffer_tracing_kernel_dispatch_record_t,
	      thread_id);
	PLACE(sdk_dispatch_record, start_ns, rocprofiler_buffer_tracing_kernel_dispatch_record_t,
	      start_timestamp);
	PLACE(sdk_dispatch_record, info, rocprofiler_buffer_tracing_kernel_dispatch_record_t,
	      dispatch_info);
	SIZE(sdk_dispatch_info, rocprofiler_kernel_dispatch_info_t);
	PLACE(sdk_dispatch_info, kernel, rocprofiler_kernel_dispatch_info_t, kernel_id);
	PLACE(sdk_dispatch_info, grid, rocprofiler_kernel_dispatch_info_t, grid_size);
	SIZE(sdk_copy_record, rocprofiler_buffer_tracing_memory_copy_record_t);
	PLACE(sdk_copy_record, bytes, rocprofiler_buffer_tracing_memory_copy_record_t, bytes);
	PLACE(sdk_copy_record, src, rocprofiler_buffer_tracing_memory_copy_record_t, src_address);
	SIZE(sdk_allocation_record, rocprofiler_buffer_tracing_memory_allocation_record_t);
	PLACE(sdk_allocation_record, tid, rocprofiler_buffer_tracing_memory_allocation_record_t,
	      thread_id);
	PLACE(sdk_allocation_record, agent, rocprofiler_buffer_tracing_memory_allocation_record_t,
	      agent_id);
	PLACE(sdk_allocation_record, bytes, rocprofiler_buffer_tracing_memory_allocation_record_t,
	      allocation_size);
	SIZE(sdk_scratch_record, rocprofiler_buffer_tracing_scratch_memory_record_t);
	PLACE(sdk_scratch_record, queue, rocprofiler_buffer_tracing_scratch_memory_record_t,
	      queue_id);
	PLACE(sdk_scratch_record, flags, rocprofiler_buffer_tracing_scratch_memory_record_t, flags);
	PLACE(sdk_scratch_record, bytes, rocprofiler_buffer_tracing_scratch_memory_record_t,
	      allocation_size);
}

static void compare_callbacks(void)
{
	SIZE(sdk_callback_record, rocprofiler_callback_tracing_record_t);
	PLACE(sdk_callback_record, payload, rocprofiler_callback_tracing_record_t, payload);
	SIZE(sdk_kernel_symbol,
	     rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t);
	PLACE(sdk_kernel_symbol, name,
	      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_name);
	SIZE(sdk_hip_data, rocprofiler_callback_tracing_hip_api_data_t);
	PLACE(sdk_hip_data, args, rocprofiler_callback_tracing_hip_api_data_t, args);
	PLACE(sdk_hip_data, result, rocprofiler_callback_tracing_hip_api_data_t, retval);
	SIZE(sdk_rccl_data, rocprofiler_callback_tracing_rccl_api_data_t);
	PLACE(sdk_rccl_data, args, rocprofiler_callback_tracing_rccl_api_data_t, args);
	PLACE(sdk_rccl_data, result, rocprofiler_callback_tracing_rccl_api_data_t, retval);
	SIZE(sdk_stream_data, rocprofiler_callback_tracing_hip_stream_data_t);
	SIZE(sdk_allocation_data, rocprofiler_callback_tracing_memory_allocation_data_t);
	PLACE(sdk_allocation_data, address, rocprofiler_callback_tracing_memory_allocation_data_t,
	      address);
	SIZE(sdk_scratch_data, rocprofiler_callback_tracing_scratch_memory_data_t);
	PLACE(sdk_scratch_data, event, rocprofiler_callback_tracing_scratch_memory_data_t,
	      args_kind);
	PLACE(sdk_scratch_data, dispatch, rocprofiler_callback_tracing_scratch_memory_data_t, args);
	SIZE(sdk_record_header, rocprofiler_record_header_t);
	SIZE(sdk_client, rocprofiler_client_id_t);
	SIZE(sdk_configuration, rocprofiler_tool_configure_result_t);
}

static void compare_agents(void)
{
	SIZE(sdk_agent, rocprofiler_agent_v0_t);
	PLACE(sdk_agent, gfx_version, rocprofiler_agent_v0_t, gfx_target_version);
	PLACE(sdk_agent, location, rocprofiler_agent_v0_t, location_id);
	PLACE(sdk_agent, name, rocprofiler_agent_v0_t, name);
	PLACE(sdk_agent, node, rocprofiler_agent_v0_t, node_id);
	PLACE(sdk_agent, uuid, rocprofiler_agent_v0_t, uuid);
}

static void compare_values(void)
{
	VALUE(SDK_ERROR_NOT_IMPLEMENTED, ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED);
	VALUE(SDK_ERROR_NOT_AVAILABLE, ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE);
	VALUE(SDK_CALLBACK_HIP_RUNTIME_API, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
	VALUE(SDK_CALLBACK_RCCL_API, ROCPROFILER_CALLBACK_TRACING_RCCL_API);
	VALUE(SDK_BUFFER_RCCL_API, ROCPROFILER_BUFFER_TRACING_RCCL_API);
	VALUE(SDK_REQUEST_RCCL_API, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_RCCL_API);
	VALUE(SDK_CALLBACK_CODE_OBJECT, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT);
	VALUE(SDK_CALLBACK_HIP_STREAM, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM);
	VALUE(SDK_BUFFER_KERNEL_DISPATCH, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);
	VALUE(SDK_BUFFER_MEMORY_COPY, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY);
	VALUE(SDK_BUFFER_MARKER_CORE_RANGE_API, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API);
	VALUE(SDK_CALLBACK_MARKER_CORE_RANGE_API,
	      ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API);
	VALUE(SDK_RANGE_MARK, ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxMarkA);
	VALUE(SDK_RANGE_THREAD, ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA);
	VALUE(SDK_RANGE_PROCESS, ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA);
	VALUE(SDK_RANGE_THREAD_ID, ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId);
	VALUE(SDK_REQUEST_KERNEL_DISPATCH,
	      ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH);
	VALUE(SDK_REQUEST_MEMORY_COPY, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY);
	VALUE(SDK_REQUEST_KIND_COUNT, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST);
	VALUE(SDK_POLICY_LOSSLESS, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
	VALUE(SDK_CODE_OBJECT_KERNEL_SYMBOL, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
	VALUE(SDK_HIP_STREAM_SET, ROCPROFILER_HIP_STREAM_SET);
	VALUE(SDK_COPY_D2D, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE);
}

int main(void)
{
	compare_records();
	compare_callbacks();
	compare_agents();
	compare_values();
	return failures != 0;
}
