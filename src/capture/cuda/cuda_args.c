/* The recorded arguments of CUDA calls; see cuda_args.h. */
#include "capture/cuda/cuda_args.h"

#include <stdbool.h>
#include <string.h>

#include "capture/cuda/cuda_params.h"
#include "capture/cuda/cuda_streams.h"
#include "capture/cuda/cupti.h"
#include "record/record.h"

/* Where the arguments are in a call's parameters. The low bits select a layout. */
enum shape {
	SHAPE_NONE,
	SHAPE_STREAM,
	SHAPE_SYNC_STREAM,
	SHAPE_SYNC_CURRENT, /* waits for the current context */
	SHAPE_SYNC_CONTEXT, /* waits for a context */
	SHAPE_EVENT,
	SHAPE_SYNC_EVENT,
	SHAPE_NEW_EVENT,    /* where to store it */
	SHAPE_EXPORT_EVENT, /* where to store its handle for other processes, event */
	SHAPE_CONTEXT_EVENT,
	SHAPE_EVENT_STREAM,
	SHAPE_EVENT_STREAM_FLAGS,
	SHAPE_STREAM_EVENT_FLAGS,
	SHAPE_ADD_NODE,	      /* graph node, graph, dependencies, their count, event */
	SHAPE_SET_EVENT,      /* graph node, event */
	SHAPE_SET_EXEC_EVENT, /* exec, graph node, event */
	SHAPE_LAUNCH,	      /* a launch with attributes */
	SHAPE_GRAPH_LAUNCH,   /* exec, stream */
	SHAPE_COUNT,
	SHAPE_PER_THREAD = 32, /* a bit: stream 0 is the thread's own default stream */
};

_Static_assert(SHAPE_COUNT <= SHAPE_PER_THREAD, "a bit of its own");

#define NO CUDA_ARGS_MOST /* none */

static const struct layout {
	const char *text;     /* after the name in API_NAME */
	uint8_t first, count; /* index of the first word among the parameters, and how many words */
	uint8_t stream, flags; /* index among these words; NO: none */
	/* The number of the stream's context follows; without a stream, that of the current one. */
	bool has_context;
} layouts[SHAPE_COUNT] = {
	[SHAPE_NONE] = {"", 0, 0, NO, NO, false},
	[SHAPE_STREAM] = {" stream:h", 0, 1, 0, NO, false},
	[SHAPE_SYNC_STREAM] = {" stream:h context:u", 0, 1, 0, NO, true},
	[SHAPE_SYNC_CURRENT] = {" context:u", 0, 0, NO, NO, true},
	[SHAPE_SYNC_CONTEXT] = {" context:u", 0, 0, NO, NO, true},
	[SHAPE_EVENT] = {" event:h", 0, 1, NO, NO, false},
	[SHAPE_SYNC_EVENT] = {" event:h context:u", 0, 1, NO, NO, true},
	[SHAPE_NEW_EVENT] = {" event:o", 0, 1, NO, NO, false},
	[SHAPE_EXPORT_EVENT] = {" event:h", 1, 1, NO, NO, false},
	[SHAPE_CONTEXT_EVENT] = {" event:h", 1, 1, NO, NO, false},
	[SHAPE_EVENT_STREAM] = {" event:h stream:h context:u", 0, 2, 1, NO, true},
	[SHAPE_EVENT_STREAM_FLAGS] = {" event:h stream:h flags:u context:u", 0, 3, 1, 2, true},
	[SHAPE_STREAM_EVENT_FLAGS] = {" stream:h event:h flags:u context:u", 0, 3, 0, 2, true},
	[SHAPE_ADD_NODE] = {" event:h", 4, 1, NO, NO, false},
	[SHAPE_SET_EVENT] = {" event:h", 1, 1, NO, NO, false},
	[SHAPE_SET_EXEC_EVENT] = {" event:h", 2, 1, NO, NO, false},
	[SHAPE_LAUNCH] = {" programmatic:i", 0, 1, NO, NO, false},
	[SHAPE_GRAPH_LAUNCH] = {" stream:h context:u", 1, 1, 0, NO, true},
};

#define ROOM(first, call)	[first + CUPTI_##call - RECORD_CUDA_FUNCTION_FIRST]
#define DRIVER(call)		ROOM(RECORD_CUDA_FUNCTION_DRIVER, call)
#define RUNTIME(call)		ROOM(RECORD_CUDA_FUNCTION_RUNTIME, call)
#define BOTH(room, call, shape) room(call) = shape, room(call##_ptsz) = shape | SHAPE_PER_THREAD

static const uint8_t shapes[RECORD_CUDA_FUNCTION_END - RECORD_CUDA_FUNCTION_FIRST] = {
	BOTH(DRIVER, cuStreamBeginCapture, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginCapture_v2, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginCaptureToGraph, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginRecaptureToGraph, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamEndCapture, SHAPE_STREAM),
	BOTH(DRIVER, cuEventRecord, SHAPE_EVENT_STREAM),
	BOTH(DRIVER, cuEventRecordWithFlags, SHAPE_EVENT_STREAM_FLAGS),
	BOTH(DRIVER, cuStreamWaitEvent, SHAPE_STREAM_EVENT_FLAGS),
	BOTH(DRIVER, cuStreamSynchronize, SHAPE_SYNC_STREAM),
	BOTH(DRIVER, cuStreamQuery, SHAPE_SYNC_STREAM),
	DRIVER(cuCtxSynchronize) = SHAPE_SYNC_CURRENT,
	DRIVER(cuCtxSynchronize_v2) = SHAPE_SYNC_CONTEXT,
	DRIVER(cuEventSynchronize) = SHAPE_SYNC_EVENT,
	DRIVER(cuEventQuery) = SHAPE_SYNC_EVENT,
	DRIVER(cuEventCreate) = SHAPE_NEW_EVENT,
	DRIVER(cuEventDestroy) = SHAPE_EVENT,
	DRIVER(cuEventDestroy_v2) = SHAPE_EVENT,
	DRIVER(cuIpcOpenEventHandle) = SHAPE_NEW_EVENT,
	DRIVER(cuIpcGetEventHandle) = SHAPE_EXPORT_EVENT,
	DRIVER(cuCtxRecordEvent) = SHAPE_CONTEXT_EVENT,
	DRIVER(cuCtxWaitEvent) = SHAPE_CONTEXT_EVENT,
	DRIVER(cuGreenCtxRecordEvent) = SHAPE_CONTEXT_EVENT,
	DRIVER(cuGreenCtxWaitEvent) = SHAPE_CONTEXT_EVENT,
	DRIVER(cuGraphAddEventRecordNode) = SHAPE_ADD_NODE,
	DRIVER(cuGraphEventRecordNodeSetEvent) = SHAPE_SET_EVENT,
	DRIVER(cuGraphExecEventRecordNodeSetEvent) = SHAPE_SET_EXEC_EVENT,
	BOTH(DRIVER, cuLaunchKernelEx, SHAPE_LAUNCH),
	BOTH(DRIVER, cuGraphLaunch, SHAPE_GRAPH_LAUNCH),
	BOTH(RUNTIME, cudaLaunchKernelExC, SHAPE_LAUNCH),
	BOTH(RUNTIME, cudaGraphLaunch, SHAPE_GRAPH_LAUNCH),
	BOTH(RUNTIME, cudaStreamBeginCapture, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamBeginCaptureToGraph, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamBeginRecaptureToGraph, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamEndCapture, SHAPE_STREAM),
	BOTH(RUNTIME, cudaEventRecord, SHAPE_EVENT_STREAM),
	BOTH(RUNTIME, cudaEventRecordWithFlags, SHAPE_EVENT_STREAM_FLAGS),
	BOTH(RUNTIME, cudaStreamWaitEvent, SHAPE_STREAM_EVENT_FLAGS),
	BOTH(RUNTIME, cudaStreamSynchronize, SHAPE_SYNC_STREAM),
	BOTH(RUNTIME, cudaStreamQuery, SHAPE_SYNC_STREAM),
	RUNTIME(cudaDeviceSynchronize) = SHAPE_SYNC_CURRENT,
	RUNTIME(cudaThreadSynchronize) = SHAPE_SYNC_CURRENT,
	RUNTIME(cudaEventSynchronize) = SHAPE_SYNC_EVENT,
	RUNTIME(cudaEventQuery) = SHAPE_SYNC_EVENT,
	RUNTIME(cudaEventCreate) = SHAPE_NEW_EVENT,
	RUNTIME(cudaEventCreateWithFlags) = SHAPE_NEW_EVENT,
	RUNTIME(cudaEventDestroy) = SHAPE_EVENT,
	RUNTIME(cudaIpcOpenEventHandle) = SHAPE_NEW_EVENT,
	RUNTIME(cudaIpcGetEventHandle) = SHAPE_EXPORT_EVENT,
	RUNTIME(cudaExecutionCtxRecordEvent) = SHAPE_CONTEXT_EVENT,
	RUNTIME(cudaExecutionCtxWaitEvent) = SHAPE_CONTEXT_EVENT,
	RUNTIME(cudaGraphAddEventRecordNode) = SHAPE_ADD_NODE,
	RUNTIME(cudaGraphEventRecordNodeSetEvent) = SHAPE_SET_EVENT,
	RUNTIME(cudaGraphExecEventRecordNodeSetEvent) = SHAPE_SET_EXEC_EVENT,
};

static uint8_t shape_of(uint32_t function)
{
	return function >= RECORD_CUDA_FUNCTION_FIRST && function < RECORD_CUDA_FUNCTION_END
		       ? shapes[function - RECORD_CUDA_FUNCTION_FIRST]
		       : SHAPE_NONE;
}

const char *cuda_args_text(uint32_t function)
{
	return layouts[shape_of(function) & ~SHAPE_PER_THREAD].text;
}

/* Returns the number of the context in which the call worked, 0 if it is not known. A stream of a
 * call that failed may not exist. */
static uint64_t context_of(enum shape shape, const struct cuda_args *args, uint64_t begin_ns,
			   const struct cupti_callback_data *call)
{
	void *const *context = call->functionParams;
	uint8_t stream = layouts[shape].stream;
	uint32_t number = 0;

	if (*(const int *)call->functionReturnValue)
		return call->contextUid;
	if (stream < args->count)
		return cuda_streams_use(args->words[stream], begin_ns, call);
	if (shape == SHAPE_SYNC_CONTEXT)
		return cupti.get_context_id(*context, &number) == CUPTI_OK ? number : 0;
	return call->contextUid;
}

/* Reads the words that the layout names. */
static void read_words(uint8_t shape, const struct layout *layout,
		       const struct cupti_callback_data *call, struct cuda_args *args)
{
	const struct cupti_launch_ex_params *launch = call->functionParams;

	args->count = layout->count;
	if ((shape & ~SHAPE_PER_THREAD) == SHAPE_LAUNCH) {
		args->words[0] = cuda_params_is_programmatic(launch->config);
		return;
	}
	memcpy(args->words, (const uint64_t *)call->functionParams + layout->first,
	       args->count * sizeof(args->words[0]));
	if (shape == SHAPE_NEW_EVENT)
		args->words[0] = *(const int *)call->functionReturnValue
					 ? 0
					 : *(const uint64_t *)(uintptr_t)args->words[0];
	if (layout->stream < args->count && !args->words[layout->stream] &&
	    shape & SHAPE_PER_THREAD)
		args->words[layout->stream] = CUDA_STREAM_PER_THREAD;
	/* The flags have 32 bits; padding follows them. */
	if (layout->flags < args->count)
		args->words[layout->flags] = (uint32_t)args->words[layout->flags];
}

struct cuda_args cuda_args_read(uint32_t function, uint64_t begin_ns,
				const struct cupti_callback_data *call)
{
	uint8_t shape = shape_of(function);
	const struct layout *layout = &layouts[shape & ~SHAPE_PER_THREAD];
	struct cuda_args args = {0};

	if (shape == SHAPE_NONE || !call->functionReturnValue ||
	    (!call->functionParams && shape != SHAPE_SYNC_CURRENT))
		return args;
	if (layout->count && call->functionParams)
		read_words(shape, layout, call, &args);
	if (layout->has_context)
		args.words[args.count++] =
			context_of(shape & ~SHAPE_PER_THREAD, &args, begin_ns, call);
	return args;
}
