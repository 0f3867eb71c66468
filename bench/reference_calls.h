/* HIP calls as the wrappers record them: numbers, texts and arguments from the list that the wrappers
 * themselves are made of. */
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
	uint32_t op;
	uint8_t words;
	/* Where among the words; -1 = the call has no such argument. */
	int8_t stream, subject, grid, dst, src, bytes, kind;
	uint64_t args[REFERENCE_CALL_WORDS]; /* what stands in those that nobody sets */
};

/* The text of the API_NAME record of OP, from 1; NULL behind the last. */
const char *reference_api_text(uint32_t op);

/* Fills CALLS[REFERENCE_CALL_COUNT]. 0, or -ENOENT: the list has no such call. */
int reference_calls_make(struct reference_call *calls);

#endif
