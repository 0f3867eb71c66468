/* Which symbol cuGetProcAddress means by a name and a version. */
#include <stdio.h>
#include <string.h>

#include "preload/cuda_doors.h"

enum { PER_THREAD_FLAG = 2 }; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

/* Names that mean another symbol from a version on. The last row that fits is taken. Compared with
 * cudaTypedefs.h of CUDA 13.5 (CUDA_KNOWN_VERSION). */
static const struct {
	const char *name;
	int version;
	const char *symbol;
} versions[] = {
	{"cuGraphInstantiate", 11000, "cuGraphInstantiate_v2"},
	{"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
	{"cuGraphExecUpdate", 12000, "cuGraphExecUpdate_v2"},
	{"cuGraphExecKernelNodeSetParams", 12000, "cuGraphExecKernelNodeSetParams_v2"},
	{"cuGraphKernelNodeSetParams", 12000, "cuGraphKernelNodeSetParams_v2"},
	{"cuGraphAddKernelNode", 12000, "cuGraphAddKernelNode_v2"},
	{"cuGraphAddNode", 12030, "cuGraphAddNode_v2"},
	{"cuGraphAddNode", 13040, "cuGraphAddNode_v3"},
	{"cuGraphNodeSetParams", 13040, "cuGraphNodeSetParams_v2"},
	{"cuGraphAddDependencies", 12030, "cuGraphAddDependencies_v2"},
	{"cuGraphRemoveDependencies", 12030, "cuGraphRemoveDependencies_v2"},
	{"cuStreamDestroy", 4000, "cuStreamDestroy_v2"},
	{"cuCtxDestroy", 4000, "cuCtxDestroy_v2"},
	{"cuMemFree", 3020, "cuMemFree_v2"},
	{"cuStreamBeginCapture", 10010, "cuStreamBeginCapture_v2"},
	{"cuDevicePrimaryCtxReset", 11000, "cuDevicePrimaryCtxReset_v2"},
	{"cuDevicePrimaryCtxRelease", 11000, "cuDevicePrimaryCtxRelease_v2"},
	{"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
};

static const char *const per_thread[] = {"cuGraphInstantiateWithParams",
					 "cuGraphLaunch",
					 "cuGraphUpload",
					 "cuStreamBeginCaptureToGraph",
					 "cuStreamBeginRecaptureToGraph",
					 "cuStreamBeginCaptureToCig",
					 "cuStreamEndCaptureToCig",
					 "cuStreamBeginCapture",
					 "cuStreamEndCapture",
					 "cuMemFreeAsync",
					 "cuGraphicsUnmapResources"};

bool cuda_symbol(const char *name, int version, uint64_t flags, char ret_symbol[CUDA_SYMBOL_BYTES])
{
	const char *symbol = name, *suffix = "";

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		if (strcmp(versions[i].name, name) == 0 && version >= versions[i].version)
			symbol = versions[i].symbol;
	for (size_t i = 0; i < sizeof(per_thread) / sizeof(*per_thread); i++)
		if ((flags & PER_THREAD_FLAG) && strcmp(per_thread[i], name) == 0)
			suffix = "_ptsz";
	return snprintf(ret_symbol, CUDA_SYMBOL_BYTES, "%s%s", symbol, suffix) < CUDA_SYMBOL_BYTES;
}
