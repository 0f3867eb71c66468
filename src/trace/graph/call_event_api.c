/* What functions of HIP and CUDA do with events (see call_events.h). */
#include <string.h>

#include "trace/args.h"
#include "trace/process_load.h"

struct role_name {
	const char *call;
	enum call_event_role role;
	const char *event; /* name of the argument that holds the event; NULL = none */
};

static const struct role_name hip_names[] = {
	{"hipEventCreate", CALL_EVENT_CREATE, "event"},
	{"hipEventCreateWithFlags", CALL_EVENT_CREATE, "event"},
	{"hipEventDestroy", CALL_EVENT_DESTROY, "event"},
	{"hipIpcOpenEventHandle", CALL_EVENT_OPEN, "event"},
	{"hipIpcGetEventHandle", CALL_EVENT_EXPORT, "event"},
	{"hipEventRecord", CALL_EVENT_RECORD, "event"},
	{"hipEventRecord_spt", CALL_EVENT_RECORD, "event"},
	{"hipEventRecordWithFlags", CALL_EVENT_RECORD, "event"},
	{"hipExtLaunchKernel", CALL_EVENT_RECORD_START, "startEvent"},
	{"hipExtModuleLaunchKernel", CALL_EVENT_RECORD_START, "startEvent"},
	{"hipHccModuleLaunchKernel", CALL_EVENT_RECORD_START, "startEvent"},
	{"hipStreamWaitEvent", CALL_EVENT_STREAM_WAIT, "event"},
	{"hipStreamWaitEvent_spt", CALL_EVENT_STREAM_WAIT, "event"},
	{"hipEventSynchronize", CALL_EVENT_WAIT, "event"},
	{"hipStreamSynchronize", CALL_EVENT_WAIT_STREAM, NULL},
	{"hipStreamSynchronize_spt", CALL_EVENT_WAIT_STREAM, NULL},
	{"hipDeviceSynchronize", CALL_EVENT_WAIT_DEVICE, NULL},
	{"hipCtxSynchronize", CALL_EVENT_WAIT_DEVICE, NULL},
	{"hipStreamBeginCapture", CALL_EVENT_CAPTURE_BEGIN, NULL},
	{"hipStreamBeginCapture_spt", CALL_EVENT_CAPTURE_BEGIN, NULL},
	{"hipStreamBeginCaptureToGraph", CALL_EVENT_CAPTURE_BEGIN, NULL},
	{"hipStreamEndCapture", CALL_EVENT_CAPTURE_END, NULL},
	{"hipStreamEndCapture_spt", CALL_EVENT_CAPTURE_END, NULL},
	{"hipStreamDestroy", CALL_EVENT_STREAM_GONE, NULL},
};

/* The beginnings of names without "cu" or "cuda", which stand for functions of both libraries:
 * variants (WithFlags, _ptsz, _v2) have a suffix. cuda_captures.c finds what is captured. */
static const struct role_name cuda_names[] = {
	{"EventCreate", CALL_EVENT_CREATE, "event"},
	{"EventDestroy", CALL_EVENT_DESTROY, "event"},
	{"IpcOpenEventHandle", CALL_EVENT_OPEN, "event"},
	{"IpcGetEventHandle", CALL_EVENT_EXPORT, "event"},
	{"EventRecord", CALL_EVENT_RECORD, "event"},
	{"CtxRecordEvent", CALL_EVENT_RECORD, "event"},
	{"GreenCtxRecordEvent", CALL_EVENT_RECORD, "event"},
	{"ExecutionCtxRecordEvent", CALL_EVENT_RECORD, "event"},
	{"StreamWaitEvent", CALL_EVENT_STREAM_WAIT, "event"},
	{"CtxWaitEvent", CALL_EVENT_STREAM_WAIT, "event"},
	{"GreenCtxWaitEvent", CALL_EVENT_STREAM_WAIT, "event"},
	{"ExecutionCtxWaitEvent", CALL_EVENT_STREAM_WAIT, "event"},
	{"EventSynchronize", CALL_EVENT_WAIT, "event"},
	{"EventQuery", CALL_EVENT_WAIT, "event"}, /* if the event has happened */
	{"StreamSynchronize", CALL_EVENT_WAIT_STREAM, NULL},
	{"StreamQuery", CALL_EVENT_WAIT_STREAM, NULL}, /* if the stream has nothing left to do */
	{"DeviceSynchronize", CALL_EVENT_WAIT_DEVICE, NULL},
	{"CtxSynchronize", CALL_EVENT_WAIT_DEVICE, NULL},
	{"ThreadSynchronize", CALL_EVENT_WAIT_DEVICE, NULL},
};

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static const struct role_name *find_cuda(const char *name)
{
	name += starts_with(name, "cuda") ? strlen("cuda") : strlen("cu");
	for (size_t i = 0; i < COUNT(cuda_names); i++)
		if (starts_with(name, cuda_names[i].call))
			return &cuda_names[i];
	return NULL;
}

/* Returns NULL for a call that does nothing with events. */
static const struct role_name *find_role(const struct process_load *load,
					 const struct trace_api *api)
{
	const char *name = trace_text(load->trace, api->name);

	if (api->domain == RECORD_DOMAIN_CUDA)
		return load->cuda.waits_from_calls && starts_with(name, "cu") ? find_cuda(name)
									      : NULL;
	for (size_t i = 0; api->domain == RECORD_DOMAIN_HIP && i < COUNT(hip_names); i++)
		if (!strcmp(name, hip_names[i].call))
			return &hip_names[i];
	return NULL;
}

struct call_event_api call_event_api_of(const struct process_load *load,
					const struct trace_api *api)
{
	const struct trace *trace = load->trace;
	const struct role_name *row = find_role(load, api);
	struct call_event_api result = {
		.word = ARGS_NO_WORD,
		.stop_word = ARGS_NO_WORD,
		.flags_word = ARGS_NO_WORD,
		.context_word = ARGS_NO_WORD,
	};

	if (!row)
		return result;
	result.role = row->role;
	result.context_word = args_word(trace, api, "context");
	if (row->event)
		result.word = args_word(trace, api, row->event);
	if (row->role == CALL_EVENT_RECORD_START)
		result.stop_word = args_word(trace, api, "stopEvent");
	if (row->role == CALL_EVENT_RECORD || row->role == CALL_EVENT_STREAM_WAIT)
		result.flags_word = args_word(trace, api, "flags");
	return result;
}
