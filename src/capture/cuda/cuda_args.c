/* The recorded arguments of CUDA calls; see cuda_args.h. */
#include "capture/cuda/cuda_args.h"

#include <string.h>

#include "capture/cuda/cuda_params.h"
#include "record/record.h"
#include "vendor/cupti_types.h"

#define STREAM_PER_THREAD 2 /* CU_STREAM_PER_THREAD, cudaStreamPerThread */

/* Where the arguments are in a call's parameters. The low bits select a layout. */
enum shape {
	SHAPE_NONE,
	SHAPE_STREAM,
	SHAPE_EVENT_STREAM,
	SHAPE_EVENT_STREAM_FLAGS,
	SHAPE_STREAM_EVENT_FLAGS,
	SHAPE_ADD_NODE,	      /* graph node, graph, dependencies, their count, event */
	SHAPE_SET_EVENT,      /* graph node, event */
	SHAPE_SET_EXEC_EVENT, /* exec, graph node, event */
	SHAPE_LAUNCH,	      /* a launch with attributes */
	SHAPE_COUNT,
	SHAPE_PER_THREAD = 16, /* a bit: stream 0 is the thread's own default stream */
};

_Static_assert(SHAPE_COUNT <= SHAPE_PER_THREAD, "a bit of its own");

static const struct layout {
	const char *text;     /* after the name in API_NAME */
	uint8_t first, count; /* index of the first word among the parameters, and how many words */
	uint8_t stream, flags; /* index among these words; CUDA_ARGS_MOST: none */
} layouts[SHAPE_COUNT] = {
	[SHAPE_NONE] = {"", 0, 0, CUDA_ARGS_MOST, CUDA_ARGS_MOST},
	[SHAPE_STREAM] = {" stream:h", 0, 1, 0, CUDA_ARGS_MOST},
	[SHAPE_EVENT_STREAM] = {" event:h stream:h", 0, 2, 1, CUDA_ARGS_MOST},
	[SHAPE_EVENT_STREAM_FLAGS] = {" event:h stream:h flags:u", 0, 3, 1, 2},
	[SHAPE_STREAM_EVENT_FLAGS] = {" stream:h event:h flags:u", 0, 3, 0, 2},
	[SHAPE_ADD_NODE] = {" event:h", 4, 1, CUDA_ARGS_MOST, CUDA_ARGS_MOST},
	[SHAPE_SET_EVENT] = {" event:h", 1, 1, CUDA_ARGS_MOST, CUDA_ARGS_MOST},
	[SHAPE_SET_EXEC_EVENT] = {" event:h", 2, 1, CUDA_ARGS_MOST, CUDA_ARGS_MOST},
	[SHAPE_LAUNCH] = {" programmatic:i", 0, 1, CUDA_ARGS_MOST, CUDA_ARGS_MOST},
};

#define DRIVER(call)		[RECORD_CUDA_FUNCTION_DRIVER + CUPTI_##call - RECORD_CUDA_FUNCTION_FIRST]
#define RUNTIME(call)		[RECORD_CUDA_FUNCTION_RUNTIME + CUPTI_##call - RECORD_CUDA_FUNCTION_FIRST]
#define BOTH(room, call, shape) room(call) = shape, room(call##_ptsz) = shape | SHAPE_PER_THREAD

static const uint8_t shapes[RECORD_CUDA_FUNCTION_END - RECORD_CUDA_FUNCTION_FIRST] = {
	BOTH(DRIVER, cuStreamBeginCapture, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginCapture_v2, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginCaptureToGraph, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamEndCapture, SHAPE_STREAM),
	BOTH(DRIVER, cuEventRecord, SHAPE_EVENT_STREAM),
	BOTH(DRIVER, cuEventRecordWithFlags, SHAPE_EVENT_STREAM_FLAGS),
	BOTH(DRIVER, cuStreamWaitEvent, SHAPE_STREAM_EVENT_FLAGS),
	DRIVER(cuGraphAddEventRecordNode) = SHAPE_ADD_NODE,
	DRIVER(cuGraphEventRecordNodeSetEvent) = SHAPE_SET_EVENT,
	DRIVER(cuGraphExecEventRecordNodeSetEvent) = SHAPE_SET_EXEC_EVENT,
	BOTH(DRIVER, cuLaunchKernelEx, SHAPE_LAUNCH),
	BOTH(RUNTIME, cudaLaunchKernelExC, SHAPE_LAUNCH),
	BOTH(RUNTIME, cudaStreamBeginCapture, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamBeginCaptureToGraph, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamEndCapture, SHAPE_STREAM),
	BOTH(RUNTIME, cudaEventRecord, SHAPE_EVENT_STREAM),
	BOTH(RUNTIME, cudaEventRecordWithFlags, SHAPE_EVENT_STREAM_FLAGS),
	BOTH(RUNTIME, cudaStreamWaitEvent, SHAPE_STREAM_EVENT_FLAGS),
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

struct cuda_args cuda_args_read(uint32_t function, const void *parameters)
{
	uint8_t shape = shape_of(function);
	const struct layout *layout = &layouts[shape & ~SHAPE_PER_THREAD];
	struct cuda_args args = {0};

	if (!parameters || shape == SHAPE_NONE)
		return args;
	args.count = layout->count;
	if ((shape & ~SHAPE_PER_THREAD) == SHAPE_LAUNCH) {
		const struct cupti_launch_ex_params *launch = parameters;

		args.words[0] = cuda_params_is_programmatic(launch->config);
		return args;
	}
	memcpy(args.words, (const uint64_t *)parameters + layout->first,
	       args.count * sizeof(args.words[0]));
	if (layout->stream < args.count && !args.words[layout->stream] && shape & SHAPE_PER_THREAD)
		args.words[layout->stream] = STREAM_PER_THREAD;
	/* The flags have 32 bits; padding follows them. */
	if (layout->flags < args.count)
		args.words[layout->flags] = (uint32_t)args.words[layout->flags];
	return args;
}
