#include "capture/cuda/cuda_args.h"

#include <string.h>

#include "capture/cuda/cuda_params.h"
#include "record/record.h"
#include "vendor/cupti_types.h"

#define STREAM_PER_THREAD 2

/* What a call's parameters begin with; the low bits pick a text. */
enum shape {
	SHAPE_NONE,
	SHAPE_STREAM,
	SHAPE_EVENT_STREAM,
	SHAPE_STREAM_EVENT,
	SHAPE_LAUNCH, /* with attributes */
	SHAPE_TEXTS,
	SHAPE_PER_THREAD = 8, /* stream 0 is the thread's own */
};

static const char *const texts[SHAPE_TEXTS] = {"", " stream:h", " event:h stream:h",
					       " stream:h event:h", " programmatic:i"};

#define DRIVER(call)		[RECORD_CUDA_OP_DRIVER + CUPTI_##call - RECORD_CUDA_OP_FIRST]
#define RUNTIME(call)		[RECORD_CUDA_OP_RUNTIME + CUPTI_##call - RECORD_CUDA_OP_FIRST]
#define BOTH(room, call, shape) room(call) = shape, room(call##_ptsz) = shape | SHAPE_PER_THREAD

static const uint8_t shapes[RECORD_CUDA_OP_END - RECORD_CUDA_OP_FIRST] = {
	BOTH(DRIVER, cuStreamBeginCapture, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginCapture_v2, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamBeginCaptureToGraph, SHAPE_STREAM),
	BOTH(DRIVER, cuStreamEndCapture, SHAPE_STREAM),
	BOTH(DRIVER, cuEventRecord, SHAPE_EVENT_STREAM),
	BOTH(DRIVER, cuEventRecordWithFlags, SHAPE_EVENT_STREAM),
	BOTH(DRIVER, cuStreamWaitEvent, SHAPE_STREAM_EVENT),
	BOTH(DRIVER, cuLaunchKernelEx, SHAPE_LAUNCH),
	BOTH(RUNTIME, cudaLaunchKernelExC, SHAPE_LAUNCH),
	BOTH(RUNTIME, cudaStreamBeginCapture, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamBeginCaptureToGraph, SHAPE_STREAM),
	BOTH(RUNTIME, cudaStreamEndCapture, SHAPE_STREAM),
	BOTH(RUNTIME, cudaEventRecord, SHAPE_EVENT_STREAM),
	BOTH(RUNTIME, cudaEventRecordWithFlags, SHAPE_EVENT_STREAM),
	BOTH(RUNTIME, cudaStreamWaitEvent, SHAPE_STREAM_EVENT),
};

static uint8_t shape_of(uint32_t op)
{
	return op >= RECORD_CUDA_OP_FIRST && op < RECORD_CUDA_OP_END
		       ? shapes[op - RECORD_CUDA_OP_FIRST]
		       : SHAPE_NONE;
}

const char *cuda_args_text(uint32_t op)
{
	return texts[shape_of(op) & ~SHAPE_PER_THREAD];
}

struct cuda_args cuda_args_read(uint32_t op, const void *parameters)
{
	uint8_t shape = shape_of(op);
	struct cuda_args args = {0};
	uint64_t *stream;

	if (!parameters || shape == SHAPE_NONE)
		return args;
	if ((shape & ~SHAPE_PER_THREAD) == SHAPE_LAUNCH) {
		const struct cupti_launch_ex_params *launch = parameters;

		args.count = 1;
		args.words[0] = cuda_params_is_programmatic(launch->config);
		return args;
	}
	args.count = (shape & ~SHAPE_PER_THREAD) == SHAPE_STREAM ? 1 : 2;
	memcpy(args.words, parameters, args.count * sizeof(args.words[0]));
	stream = &args.words[(shape & ~SHAPE_PER_THREAD) == SHAPE_EVENT_STREAM];
	if (!*stream && shape & SHAPE_PER_THREAD)
		*stream = STREAM_PER_THREAD;
	return args;
}
