/* Which HIP calls have which hooks; see hooks.h. */
#include "capture/hip/hooks.h"

#include "capture/capture_switch.h"
#include "capture/hip/function.h"
#include "capture/hip/graph_exec.h"
#include "capture/hip/graph_node.h"
#include "capture/hip/memory_calls.h"
#include "capture/hip/stream_capture.h"
#include "vendor/hip_types.h"

/* For launches whose first argument is the function. */
static void function_launched(struct hip_call *call, int result, const uint64_t *args)
{
	function_use(args[0]);
}

static void configured_kernel_launched(struct hip_call *call, int result, const uint64_t *args)
{
	function_use(args[ARG_hipLaunchKernelExC_fPtr]);
}
_Static_assert(ARG_hipLaunchKernelExC_fPtr == ARG_hipDrvLaunchKernelEx_f, "one hook for both");

static void module_function_asked(struct hip_call *call, const uint64_t *args)
{
	call->saved = (const void *)args[ARG_hipModuleGetFunction_kname];
}

static void module_function_given(struct hip_call *call, int err, const uint64_t *args)
{
	uint64_t handle = args[ARG_hipModuleGetFunction_function];

	if (err == HIP_OK && handle && call->saved) {
		function_learn(handle, call->saved);
		function_use(handle);
	}
}

/* Whatever HIP answers: it does not support the calls any more. The hook comes after the call, so
 * that the call that stops the recording is in it, and the one that starts it is not. */
static void profiler_started(struct hip_call *call, int result, const uint64_t *args)
{
	switch_profiler_start("hipProfilerStart");
}

static void profiler_stopped(struct hip_call *call, int result, const uint64_t *args)
{
	switch_profiler_stop("hipProfilerStop");
}

#define AFTER(call, hook)  [HIP_##call] = {.after = hook}
#define FOLLOW(call, hook) [HIP_##call] = {.after = hook, .is_followed = true}
#define FOLLOW_ALL(call, hook)                                                                     \
	[HIP_##call] = {.after = hook, .is_followed = true, .is_for_all = true}

const struct hip_hook hip_hooks[HIP_FUNCTION_COUNT] = {
	AFTER(hipLaunchKernel, function_launched),
	AFTER(hipLaunchKernel_spt, function_launched),
	AFTER(hipExtLaunchKernel, function_launched),
	AFTER(hipLaunchByPtr, function_launched),
	AFTER(hipLaunchCooperativeKernel, function_launched),
	AFTER(hipLaunchCooperativeKernel_spt, function_launched),
	AFTER(hipModuleLaunchKernel, function_launched),
	AFTER(hipExtModuleLaunchKernel, function_launched),
	AFTER(hipHccModuleLaunchKernel, function_launched),
	AFTER(hipModuleLaunchCooperativeKernel, function_launched),
	AFTER(hipLaunchKernelExC, configured_kernel_launched),
	AFTER(hipDrvLaunchKernelEx, configured_kernel_launched),
	[HIP_hipModuleGetFunction] = {module_function_asked, module_function_given, true},

	AFTER(hipMalloc, memory_allocated),
	AFTER(hipExtMallocWithFlags, memory_allocated),
	AFTER(hipMallocAsync, memory_allocated),
	AFTER(hipMallocFromPoolAsync, memory_allocated),
	AFTER(hipMallocManaged, memory_allocated),
	AFTER(hipHostMalloc, memory_allocated),
	AFTER(hipHostAlloc, memory_allocated),
	AFTER(hipMallocHost, memory_allocated),
	AFTER(hipMemAllocHost, memory_allocated),
	AFTER(hipMemCreate, memory_allocated),
	AFTER(hipMallocPitch, memory_pitch_allocated),
	AFTER(hipMemAllocPitch, memory_pitch_allocated),
	AFTER(hipMalloc3D, memory_3d_allocated),
	AFTER(hipMallocArray, memory_array_allocated),
	AFTER(hipMalloc3DArray, memory_array_allocated),
	AFTER(hipArrayCreate, memory_array_allocated),
	AFTER(hipArray3DCreate, memory_array_allocated),
	AFTER(hipFree, memory_released),
	AFTER(hipFreeAsync, memory_released),
	AFTER(hipHostFree, memory_released),
	AFTER(hipFreeHost, memory_released),
	AFTER(hipFreeArray, memory_released),
	AFTER(hipArrayDestroy, memory_released),
	AFTER(hipMemRelease, memory_released),
	AFTER(hipDeviceReset, memory_device_reset),

	FOLLOW(hipProfilerStart, profiler_started),
	FOLLOW(hipProfilerStop, profiler_stopped),

	FOLLOW_ALL(hipStreamBeginCapture, stream_capture_begun),
	FOLLOW_ALL(hipStreamBeginCapture_spt, stream_capture_begun),
	FOLLOW_ALL(hipStreamBeginCaptureToGraph, stream_capture_begun),
	FOLLOW_ALL(hipStreamEndCapture, stream_capture_ended),
	FOLLOW_ALL(hipStreamEndCapture_spt, stream_capture_ended),
	FOLLOW_ALL(hipStreamDestroy, stream_capture_stream_gone),

	FOLLOW(hipGraphCreate, graph_node_graph_created),
	FOLLOW(hipGraphClone, graph_node_graph_cloned),
	[HIP_hipGraphDestroy] = {.before = graph_node_graph_going, .is_followed = true},
	FOLLOW(hipGraphDestroyNode, graph_node_gone),
	FOLLOW(hipGraphAddChildGraphNode, graph_node_child_added),
	FOLLOW(hipGraphAddEmptyNode, graph_node_added),
	FOLLOW(hipGraphAddEventRecordNode, graph_node_added),
	FOLLOW(hipGraphAddEventWaitNode, graph_node_added),
	FOLLOW(hipGraphAddHostNode, graph_node_added),
	FOLLOW(hipGraphAddKernelNode, graph_node_added),
	FOLLOW(hipGraphAddMemcpyNode, graph_node_added),
	FOLLOW(hipGraphAddMemcpyNode1D, graph_node_added),
	FOLLOW(hipGraphAddMemcpyNodeFromSymbol, graph_node_added),
	FOLLOW(hipGraphAddMemcpyNodeToSymbol, graph_node_added),
	FOLLOW(hipGraphAddMemsetNode, graph_node_added),
	FOLLOW(hipDrvGraphAddMemcpyNode, graph_node_added),
	FOLLOW(hipDrvGraphAddMemsetNode, graph_node_added),
	FOLLOW(hipGraphAddExternalSemaphoresSignalNode, graph_node_added),
	FOLLOW(hipGraphAddExternalSemaphoresWaitNode, graph_node_added),
	FOLLOW(hipGraphAddMemAllocNode, graph_node_added),
	FOLLOW(hipGraphAddMemFreeNode, graph_node_added),
	FOLLOW(hipGraphAddNode, graph_node_added),
	FOLLOW(hipGraphAddBatchMemOpNode, graph_node_added),
	FOLLOW(hipDrvGraphAddMemFreeNode, graph_node_added),
	FOLLOW(hipGraphMemcpyNodeSetParams1D, graph_node_params_set),
	FOLLOW(hipGraphMemcpyNodeSetParamsFromSymbol, graph_node_params_set),
	FOLLOW(hipGraphMemcpyNodeSetParamsToSymbol, graph_node_params_set),

	FOLLOW(hipGraphInstantiate, graph_exec_instantiated),
	FOLLOW(hipGraphInstantiateWithFlags, graph_exec_instantiated),
	FOLLOW(hipGraphInstantiateWithParams, graph_exec_instantiated),
	[HIP_hipGraphLaunch] = {.before = graph_exec_launching},
	[HIP_hipGraphLaunch_spt] = {.before = graph_exec_launching},
	FOLLOW(hipGraphExecChildGraphNodeSetParams, graph_exec_child_set),
	FOLLOW(hipGraphExecEventRecordNodeSetEvent, graph_exec_params_set),
	FOLLOW(hipGraphExecEventWaitNodeSetEvent, graph_exec_params_set),
	FOLLOW(hipGraphExecHostNodeSetParams, graph_exec_params_set),
	FOLLOW(hipGraphExecKernelNodeSetParams, graph_exec_params_set),
	FOLLOW(hipGraphExecMemcpyNodeSetParams, graph_exec_params_set),
	FOLLOW(hipGraphExecMemcpyNodeSetParams1D, graph_exec_params_set),
	FOLLOW(hipGraphExecMemcpyNodeSetParamsFromSymbol, graph_exec_params_set),
	FOLLOW(hipGraphExecMemcpyNodeSetParamsToSymbol, graph_exec_params_set),
	FOLLOW(hipGraphExecMemsetNodeSetParams, graph_exec_params_set),
	FOLLOW(hipGraphExecUpdate, graph_exec_updated),
	FOLLOW(hipGraphNodeSetEnabled, graph_exec_node_switched),
	[HIP_hipGraphExecDestroy] = {graph_exec_going, graph_exec_gone, true},
};
