/* Which calls mean more than their own record. */
#include "capture/hip/function.h"
#include "capture/hip/graph_exec.h"
#include "capture/hip/graph_node.h"
#include "capture/hip/stream_capture.h"
#include "capture/hip/wrap.h"

/* Launches have the function as their first argument. */
static void function_launched(struct hip_call *call, int result, const uint64_t *args)
{
	function_use(args[0]);
}

static void module_function_asked(struct hip_call *call, const uint64_t *args)
{
	call->saved = (const void *)args[ARG_hipModuleGetFunction_kname];
}

static void module_function_given(struct hip_call *call, int result, const uint64_t *args)
{
	uint64_t handle = args[ARG_hipModuleGetFunction_function];

	if (result == HIP_OK && handle && call->saved) {
		function_learn(handle, call->saved);
		function_use(handle);
	}
}

#define AFTER(call, hook) [HIP_##call] = {.after = hook}

const struct hip_hook hip_hooks[HIP_OP_COUNT] = {
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
	[HIP_hipModuleGetFunction] = {module_function_asked, module_function_given},

	AFTER(hipStreamBeginCapture, stream_capture_begun),
	AFTER(hipStreamBeginCapture_spt, stream_capture_begun),
	AFTER(hipStreamBeginCaptureToGraph, stream_capture_begun),
	AFTER(hipStreamEndCapture, stream_capture_ended),
	AFTER(hipStreamEndCapture_spt, stream_capture_ended),
	AFTER(hipStreamDestroy, stream_capture_stream_gone),

	AFTER(hipGraphCreate, graph_node_graph_created),
	AFTER(hipGraphClone, graph_node_graph_cloned),
	[HIP_hipGraphDestroy] = {.before = graph_node_graph_going},
	AFTER(hipGraphDestroyNode, graph_node_gone),
	AFTER(hipGraphAddChildGraphNode, graph_node_child_added),
	AFTER(hipGraphAddEmptyNode, graph_node_added),
	AFTER(hipGraphAddEventRecordNode, graph_node_added),
	AFTER(hipGraphAddEventWaitNode, graph_node_added),
	AFTER(hipGraphAddHostNode, graph_node_added),
	AFTER(hipGraphAddKernelNode, graph_node_added),
	AFTER(hipGraphAddMemcpyNode, graph_node_added),
	AFTER(hipGraphAddMemcpyNode1D, graph_node_added),
	AFTER(hipGraphAddMemcpyNodeFromSymbol, graph_node_added),
	AFTER(hipGraphAddMemcpyNodeToSymbol, graph_node_added),
	AFTER(hipGraphAddMemsetNode, graph_node_added),
	AFTER(hipDrvGraphAddMemcpyNode, graph_node_added),
	AFTER(hipDrvGraphAddMemsetNode, graph_node_added),
	AFTER(hipGraphAddExternalSemaphoresSignalNode, graph_node_added),
	AFTER(hipGraphAddExternalSemaphoresWaitNode, graph_node_added),
	AFTER(hipGraphAddMemAllocNode, graph_node_added),
	AFTER(hipGraphAddMemFreeNode, graph_node_added),
	AFTER(hipGraphAddNode, graph_node_added),
	AFTER(hipGraphMemcpyNodeSetParams1D, graph_node_params_set),
	AFTER(hipGraphMemcpyNodeSetParamsFromSymbol, graph_node_params_set),
	AFTER(hipGraphMemcpyNodeSetParamsToSymbol, graph_node_params_set),

	AFTER(hipGraphInstantiate, graph_exec_instantiated),
	AFTER(hipGraphInstantiateWithFlags, graph_exec_instantiated),
	AFTER(hipGraphInstantiateWithParams, graph_exec_instantiated),
	[HIP_hipGraphLaunch] = {.before = graph_exec_launching},
	[HIP_hipGraphLaunch_spt] = {.before = graph_exec_launching},
	AFTER(hipGraphExecChildGraphNodeSetParams, graph_exec_child_set),
	AFTER(hipGraphExecEventRecordNodeSetEvent, graph_exec_params_set),
	AFTER(hipGraphExecEventWaitNodeSetEvent, graph_exec_params_set),
	AFTER(hipGraphExecHostNodeSetParams, graph_exec_params_set),
	AFTER(hipGraphExecKernelNodeSetParams, graph_exec_params_set),
	AFTER(hipGraphExecMemcpyNodeSetParams, graph_exec_params_set),
	AFTER(hipGraphExecMemcpyNodeSetParams1D, graph_exec_params_set),
	AFTER(hipGraphExecMemcpyNodeSetParamsFromSymbol, graph_exec_params_set),
	AFTER(hipGraphExecMemcpyNodeSetParamsToSymbol, graph_exec_params_set),
	AFTER(hipGraphExecMemsetNodeSetParams, graph_exec_params_set),
	AFTER(hipGraphExecUpdate, graph_exec_updated),
	[HIP_hipGraphExecDestroy] = {graph_exec_going, graph_exec_gone},
};
