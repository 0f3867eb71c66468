/* The calls that describe a one-dimensional copy: which of their arguments have the copy's
 * addresses, size and kind; see graph_copy.h. */
#include "capture/hip/graph_copy.h"

#include "capture/hip/hip_functions.h"
#include "vendor/hip_types.h"

/* Indices into the call's recorded words. */
struct copy_call {
	uint8_t known;
	uint8_t dst, src, bytes;
	uint8_t kind_argument; /* NO_ARGUMENT: the call has none */
	uint8_t kind;	       /* the copy's kind, if kind_argument is NO_ARGUMENT */
};

enum { NO_ARGUMENT = 255 };

#define COPY(call, to, from, size)                                                                 \
	[HIP_##call] = {                                                                           \
		1, ARG_##call##_##to, ARG_##call##_##from, ARG_##call##_##size, ARG_##call##_kind, \
		0}
#define COPY_OF_KIND(call, size, kind)                                                             \
	[HIP_##call] = {1,   ARG_##call##_dst, ARG_##call##_src, ARG_##call##_##size, NO_ARGUMENT, \
			kind}

static const struct copy_call copy_calls[HIP_FUNCTION_COUNT] = {
	COPY(hipMemcpyAsync, dst, src, sizeBytes),
	COPY(hipMemcpyAsync_spt, dst, src, sizeBytes),
	COPY(hipMemcpyWithStream, dst, src, sizeBytes),
	COPY(hipMemcpyFromSymbolAsync, dst, symbol, sizeBytes),
	COPY(hipMemcpyFromSymbolAsync_spt, dst, symbol, sizeBytes),
	COPY(hipMemcpyToSymbolAsync, symbol, src, sizeBytes),
	COPY(hipMemcpyToSymbolAsync_spt, symbol, src, sizeBytes),
	COPY_OF_KIND(hipMemcpyHtoDAsync, sizeBytes, HIP_COPY_HOST_TO_DEVICE),
	COPY_OF_KIND(hipMemcpyDtoHAsync, sizeBytes, HIP_COPY_DEVICE_TO_HOST),
	COPY_OF_KIND(hipMemcpyDtoDAsync, sizeBytes, HIP_COPY_DEVICE_TO_DEVICE),
	COPY_OF_KIND(hipMemcpyPeerAsync, sizeBytes, HIP_COPY_DEVICE_TO_DEVICE),
	COPY(hipGraphAddMemcpyNode1D, dst, src, count),
	COPY(hipGraphAddMemcpyNodeFromSymbol, dst, symbol, count),
	COPY(hipGraphAddMemcpyNodeToSymbol, symbol, src, count),
	COPY(hipGraphMemcpyNodeSetParams1D, dst, src, count),
	COPY(hipGraphMemcpyNodeSetParamsFromSymbol, dst, symbol, count),
	COPY(hipGraphMemcpyNodeSetParamsToSymbol, symbol, src, count),
	COPY(hipGraphExecMemcpyNodeSetParams1D, dst, src, count),
	COPY(hipGraphExecMemcpyNodeSetParamsFromSymbol, dst, symbol, count),
	COPY(hipGraphExecMemcpyNodeSetParamsToSymbol, symbol, src, count),
};

bool graph_copy_of_call(uint32_t function, const uint64_t *args, struct graph_copy *ret_copy)
{
	const struct copy_call *call = &copy_calls[function];

	if (!call->known)
		return false;
	*ret_copy = (struct graph_copy){
		.dst = args[call->dst],
		.src = args[call->src],
		.bytes = args[call->bytes],
		.kind = call->kind_argument == NO_ARGUMENT ? call->kind
							   : (uint32_t)args[call->kind_argument],
	};
	return true;
}
