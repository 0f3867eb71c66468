/*
 * HIP calls as the wrappers record them. Numbers, texts and arguments come from the list that the
 * wrappers are generated from.
 */
#ifndef DAGTAP_BENCH_REFERENCE_CALLS_H
#define DAGTAP_BENCH_REFERENCE_CALLS_H

#include <stdint.h>

#define REFERENCE_CALLS(X)                                                                         \
	X(hipSetDevice)                                                                            \
	X(hipGetDevice)                                                                            \
	X(hipGetLastError)                                                                         \
	X(hipPeekAtLastError)                                                                      \
	X(hipGetDeviceCount)                                                                       \
	X(hipStreamCreateWithFlags)                                                                \
	X(hipModuleLoadData)                                                                       \
	X(hipModuleGetFunction)                                                                    \
	X(hipGraphCreate)                                                                          \
	X(hipGraphAddKernelNode)                                                                   \
	X(hipGraphAddMemsetNode)                                                                   \
	X(hipGraphAddMemcpyNode1D)                                                                 \
	X(hipGraphAddEmptyNode)                                                                    \
	X(hipGraphInstantiate)                                                                     \
	X(hipGraphLaunch)                                                                          \
	X(hipModuleLaunchKernel)                                                                   \
	X(hipExtModuleLaunchKernel)                                                                \
	X(hipMemcpyAsync)                                                                          \
	X(hipMemcpyHtoDAsync)                                                                      \
	X(hipMemcpyDtoHAsync)                                                                      \
	X(hipMemcpyDtoDAsync)                                                                      \
	X(hipMemcpyPeerAsync)                                                                      \
	X(hipMemsetAsync)                                                                          \
	X(hipEventCreateWithFlags)                                                                 \
	X(hipEventRecord)                                                                          \
	X(hipEventQuery)                                                                           \
	X(hipEventDestroy)                                                                         \
	X(hipStreamWaitEvent)                                                                      \
	X(hipStreamQuery)                                                                          \
	X(hipStreamIsCapturing)                                                                    \
	X(hipStreamSynchronize)                                                                    \
	X(hipPointerGetAttributes)                                                                 \
	X(hipFuncGetAttribute)                                                                     \
	X(hipDeviceGetAttribute)                                                                   \
	X(hipLaunchHostFunc)

enum reference_call_id {
#define X(name) CALL_##name,
	REFERENCE_CALLS(X)
#undef X
		REFERENCE_CALL_COUNT
};

#define REFERENCE_CALL_WORDS 16

struct reference_call {
	uint32_t function;
	uint8_t words;
	/* Indices of these arguments among the words; -1: the call has no such argument. */
	int8_t stream, subject, grid, dst, src, bytes, kind;
	uint64_t args[REFERENCE_CALL_WORDS]; /* values of the arguments that nothing sets */
};

/* Returns the text of the API_NAME record of FUNCTION (from 1); NULL after the last one. */
const char *reference_api_text(uint32_t function);

/* Fills CALLS[REFERENCE_CALL_COUNT]. Returns 0, or -ENOENT when the list lacks one of the calls. */
int reference_calls_make(struct reference_call *calls);

#endif
