/*
 * The model of CUPTI: the functions that the tool looks up, and the callbacks: model_cupti.h. Held
 * threads and failures are in model_cupti_gate.c, buffers in model_cupti_buffers.c.
 */
#include "model_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model_cupti_inner.h"

enum { DOMAINS = 4, CBIDS = 1024, STREAMS_MOST = 64 };

static struct {
	uint32_t version;
	cupti_callback *_Atomic callback;
	void *userdata;
	/* Atomic, because other threads play while a recording begins. */
	_Atomic bool is_asked[DOMAINS][CBIDS]; /* by domain and callback */
	_Atomic bool is_all_asked[DOMAINS];    /* callbacks of any number */
	_Atomic uint32_t asked_count;	       /* how many of both are true */
	uint64_t kinds;
	uint64_t (*read_clock)(void);
} model = {.version = 130001};

void model_set_clock(uint64_t (*read_ns)(void))
{
	model.read_clock = read_ns;
}

void model_set_version(uint32_t version)
{
	model.version = version;
}

bool model_is_subscribed(void)
{
	return model.callback;
}

/* Some tests step through this, instruction by instruction. */
bool model_is_enabled(void)
{
	return model.asked_count || model.kinds;
}

bool model_is_kind_enabled(uint32_t kind)
{
	return model.kinds >> kind & 1;
}

bool model_is_asked(uint32_t domain, uint32_t cbid)
{
	return model.is_all_asked[domain] || (cbid < CBIDS && model.is_asked[domain][cbid]);
}

static _Atomic uint64_t last_ns;

uint64_t model_now(void)
{
	struct timespec now;
	uint64_t ns, before = atomic_load(&last_ns);

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + MODEL_CLOCK_AHEAD_NS;
	if (ns <= before)
		ns = before + 1;
	atomic_store(&last_ns, ns);
	return ns;
}

uint64_t model_pass(uint64_t duration_ns)
{
	uint64_t begin = model_now();

	atomic_fetch_add(&last_ns, duration_ns);
	return begin;
}

/* ---- contexts and streams ---- */

static __thread uint32_t current_context = 1;
static __thread uint32_t own_stream; /* the thread's default stream, 0 = not used yet */

static struct {
	pthread_mutex_t lock;
	struct model_stream live[STREAMS_MOST];
	uint32_t count, last;
} streams = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = MODEL_NULL_STREAM};

void model_set_context(uint32_t context)
{
	current_context = context;
}

/* Call with the lock held. Returns NULL for a stream that no model_make_stream made. */
static struct model_stream *find_stream(uint64_t handle)
{
	for (uint32_t i = 0; i < streams.count; i++)
		if (streams.live[i].handle == handle)
			return &streams.live[i];
	return NULL;
}

struct model_stream model_find_stream(uint64_t handle)
{
	struct model_stream stream = {handle, current_context, (uint32_t)handle};
	struct model_stream *made;

	pthread_mutex_lock(&streams.lock);
	made = find_stream(handle);
	if (made)
		stream = *made;
	else if (handle <= CUDA_STREAM_LEGACY)
		stream.number = MODEL_NULL_STREAM;
	else if (handle == CUDA_STREAM_PER_THREAD)
		stream.number = own_stream = own_stream ? own_stream : ++streams.last;
	pthread_mutex_unlock(&streams.lock);
	return stream;
}

/* ---- CUPTI's side ---- */

#define MODEL_EXPORT(name, parameters)                                                             \
	uint32_t name parameters;                                                                  \
	uint32_t name parameters

MODEL_EXPORT(cuptiGetVersion, (uint32_t * version))
{
	*version = model.version;
	return model_result_of(MODEL_GET_VERSION);
}

MODEL_EXPORT(cuptiSubscribe, (void **subscriber, cupti_callback *callback, void *userdata))
{
	uint32_t result = model.callback || getenv("MODEL_SUBSCRIBED")
				  ? CUPTI_MULTIPLE_SUBSCRIBERS
				  : model_result_of(MODEL_SUBSCRIBE);

	if (result != CUPTI_OK)
		return result;
	*subscriber = &model;
	model.userdata = userdata;
	model.callback = callback;
	return CUPTI_OK;
}

MODEL_EXPORT(cuptiUnsubscribe, (void *subscriber))
{
	model.callback = NULL;
	for (uint32_t domain = 0; domain < DOMAINS; domain++) {
		model.is_all_asked[domain] = false;
		for (uint32_t cbid = 0; cbid < CBIDS; cbid++)
			model.is_asked[domain][cbid] = false;
	}
	model.asked_count = 0;
	return CUPTI_OK;
}

static void ask(_Atomic bool *asked, bool enable)
{
	if (*asked != enable)
		model.asked_count += enable ? 1 : -1;
	*asked = enable;
}

MODEL_EXPORT(cuptiEnableDomain, (uint32_t enable, void *subscriber, uint32_t domain))
{
	uint32_t result = enable ? model_result_of(MODEL_ENABLE_DOMAIN) : CUPTI_OK;

	if (result == CUPTI_OK)
		ask(&model.is_all_asked[domain], enable);
	return result;
}

MODEL_EXPORT(cuptiEnableCallback,
	     (uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid))
{
	uint32_t result = enable ? model_result_of(MODEL_ENABLE_CALLBACK) : CUPTI_OK;

	if (result == CUPTI_OK)
		ask(&model.is_asked[domain][cbid], enable);
	return result;
}

MODEL_EXPORT(cuptiGetTimestamp, (uint64_t * timestamp))
{
	*timestamp = model.read_clock ? model.read_clock() : model_now();
	return model_result_of(MODEL_GET_TIMESTAMP);
}

MODEL_EXPORT(cuptiActivityRegisterCallbacks,
	     (cupti_buffer_requested * requested, cupti_buffer_completed *completed))
{
	uint32_t result = model_result_of(MODEL_REGISTER_BUFFERS);

	if (result == CUPTI_OK)
		model_buffers_register(requested, completed);
	return result;
}

MODEL_EXPORT(cuptiActivityEnable, (uint32_t kind))
{
	uint32_t result = model_result_of(MODEL_ENABLE);

	if (result == CUPTI_OK)
		model.kinds |= 1ull << kind;
	return result;
}

/* When the process ends, CUPTI would access contexts that no longer exist. */
MODEL_EXPORT(cuptiActivityDisable, (uint32_t kind))
{
	if (getenv("MODEL_DISABLE_CRASHES"))
		abort();
	model.kinds &= ~(1ull << kind);
	return CUPTI_OK;
}

size_t model_record_bytes(uint32_t kind)
{
	bool is_new = model.version >= CUPTI_WITH_EVENT_ORDER;

	switch (kind) {
	case CUPTI_KIND_MEMCPY:
		return is_new ? 96 : 88;
	case CUPTI_KIND_MEMSET:
		return 88;
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		return is_new ? 216 : 208;
	case CUPTI_KIND_DEVICE:
		return 184;
	case CUPTI_KIND_OVERHEAD:
		if (model.version < 21) /* CUDA 12.3 */
			return 40;
		return model.version < 22 ? 48 : 56; /* CUDA 12.4 */
	case CUPTI_KIND_STREAM:
		return 24;
	case CUPTI_KIND_MEMCPY2:
		return 96;
	case CUPTI_KIND_CUDA_EVENT:
		return is_new ? 56 : 24;
	case CUPTI_KIND_SYNCHRONIZATION:
		return is_new ? 56 : 40;
	case CUPTI_KIND_MEMORY2:
		return 128;
	case 51: /* CUPTI_ACTIVITY_KIND_GRAPH_TRACE, which the tool has not enabled either */
		return 48;
	case 52: /* JIT: a kind that the tool has not enabled */
		return 72;
	default:
		return 0;
	}
}

MODEL_EXPORT(cuptiActivityGetNextRecord,
	     (uint8_t * buffer, size_t valid_bytes, struct cupti_activity **record))
{
	uint8_t *next = buffer;
	size_t bytes;
	uint32_t result = model_result_of(MODEL_NEXT_RECORD);

	model_come_to(MODEL_AT_RECORD);
	if (result != CUPTI_OK)
		return result;
	if (*record)
		next = (uint8_t *)*record + model_record_bytes((*record)->kind);
	if (next >= buffer + valid_bytes)
		return CUPTI_MAX_LIMIT_REACHED;
	bytes = model_record_bytes(((struct cupti_activity *)next)->kind);
	if (!bytes || next + bytes > buffer + valid_bytes)
		return CUPTI_INVALID_KIND;
	*record = (struct cupti_activity *)next;
	return CUPTI_OK;
}

MODEL_EXPORT(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))
{
	model_come_to(MODEL_AT_DROPPED);
	*dropped = model_buffers_take_dropped();
	return model_result_of(MODEL_GET_DROPPED);
}

MODEL_EXPORT(cuptiActivityFlushAll, (uint32_t flag))
{
	uint32_t result = model_result_of(MODEL_FLUSH_ALL);

	model_come_to(MODEL_AT_FLUSH);
	/* A forced flush also delivers the current buffer. */
	if (result == CUPTI_OK && flag == CUPTI_FLUSH_FORCED)
		model_deliver(0);
	return result;
}

MODEL_EXPORT(cuptiGetContextId, (void *context, uint32_t *id))
{
	*id = (uint32_t)(uintptr_t)context;
	return *id ? model_result_of(MODEL_GET_ID) : CUPTI_INVALID_PARAMETER;
}

MODEL_EXPORT(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t is_per_thread, uint32_t *id))
{
	uint32_t result = model_result_of(MODEL_GET_STREAM_ID);
	struct model_stream found = model_find_stream(
		!stream && is_per_thread ? CUDA_STREAM_PER_THREAD : (uintptr_t)stream);

	if (result == CUPTI_OK && context && (uint32_t)(uintptr_t)context != found.context)
		result = CUPTI_INVALID_STREAM;
	*id = found.number;
	return result;
}

MODEL_EXPORT(cuptiGetGraphId, (void *graph, uint32_t *id))
{
	*id = (uint32_t)(uintptr_t)graph;
	return model_result_of(MODEL_GET_ID);
}

MODEL_EXPORT(cuptiGetGraphExecId, (void *exec, uint32_t *id))
{
	*id = (uint32_t)(uintptr_t)exec;
	return model_result_of(MODEL_GET_ID);
}

MODEL_EXPORT(cuptiGetGraphNodeId, (void *node, uint64_t *id))
{
	*id = (uintptr_t)node;
	return model_result_of(MODEL_GET_ID);
}

MODEL_EXPORT(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable))
{
	return model_result_of(MODEL_EVENT_TIMES);
}

MODEL_EXPORT(cuptiGetResultString, (uint32_t result, const char **text))
{
	*text = "MODEL_ERROR";
	return CUPTI_OK;
}

/* ---- the driver's side ---- */

static void call_back(uint32_t domain, uint32_t cbid, const void *data)
{
	cupti_callback *callback = model.callback;

	if (callback && model_is_asked(domain, cbid))
		callback(model.userdata, domain, cbid, data);
}

static struct cupti_callback_data data_of(struct model_open *call)
{
	return (struct cupti_callback_data){
		.context = (void *)(uintptr_t)current_context,
		.contextUid = current_context,
		.functionName = call->name,
		.functionParams = call->params,
		.correlationData = &call->data,
		.correlationId = call->correlation,
	};
}

void model_enter(struct model_open *call, uint32_t domain, uint32_t cbid, uint32_t correlation,
		 const char *name, const void *params)
{
	struct cupti_callback_data data;

	*call = (struct model_open){domain, cbid, correlation, name, params, 0};
	data = data_of(call);
	data.callbackSite = CUPTI_ENTER;
	call_back(domain, cbid, &data);
}

void model_leave(struct model_open *call, int result)
{
	struct cupti_callback_data data = data_of(call);

	data.callbackSite = CUPTI_EXIT;
	data.functionReturnValue = &result;
	call_back(call->domain, call->cbid, &data);
}

void model_call(uint32_t domain, uint32_t cbid, uint32_t correlation, const char *name)
{
	struct model_open call;

	model_enter(&call, domain, cbid, correlation, name, NULL);
	model_leave(&call, 0);
}

static void tell_stream(enum cupti_resource step, const struct model_stream *stream)
{
	struct cupti_resource_data data = {
		.context = (void *)(uintptr_t)stream->context,
		.stream = (void *)(uintptr_t)stream->handle,
	};

	call_back(CUPTI_DOMAIN_RESOURCE, step, &data);
}

struct model_stream model_make_stream(uint64_t handle)
{
	struct model_stream stream = {.handle = handle, .context = current_context};

	pthread_mutex_lock(&streams.lock);
	stream.number = ++streams.last;
	streams.live[streams.count++] = stream;
	pthread_mutex_unlock(&streams.lock);
	tell_stream(CUPTI_STREAM_CREATED, &stream);
	return stream;
}

void model_destroy_stream(uint64_t handle)
{
	struct model_stream stream = model_find_stream(handle);

	tell_stream(CUPTI_STREAM_DESTROY_STARTING, &stream);
	pthread_mutex_lock(&streams.lock);
	*find_stream(handle) = streams.live[streams.count - 1];
	streams.count--;
	pthread_mutex_unlock(&streams.lock);
}

void model_resource(enum cupti_resource step, const void *descriptor)
{
	struct cupti_resource_data data = {
		.resourceDescriptor = (void *)(uintptr_t)descriptor,
	};

	call_back(CUPTI_DOMAIN_RESOURCE, step, &data);
}
