/*
 * The model of CUPTI: the functions that the tool looks up, and the buffers and callbacks:
 * model_cupti.h.
 */
#include "model_cupti.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DOMAINS = 4, CBIDS = 1024, STREAMS_MOST = 64 };

static struct {
	uint32_t version;
	cupti_callback *callback;
	void *userdata;
	bool is_asked[DOMAINS][CBIDS]; /* by domain and callback */
	bool is_all_asked[DOMAINS];    /* callbacks of any number */
	uint32_t asked_count;	       /* how many of both are true */
	uint64_t kinds;
	cupti_buffer_requested *requested;
	cupti_buffer_completed *completed;
	/* protects the buffer; a spin lock, because some tests replace the mutex functions */
	atomic_flag lock;
	uint8_t *buffer;
	size_t size, used;
	_Atomic size_t dropped; /* since the tool last asked */
	uint64_t (*read_clock)(void);
	_Atomic uint32_t calls[MODEL_CALL_COUNT];
	struct {
		_Atomic bool is_set; /* stored last */
		_Atomic uint32_t nth, result;
	} failures[MODEL_CALL_COUNT];
	pthread_t worker;
} model = {.version = 130001, .lock = ATOMIC_FLAG_INIT};

/*
 * Threads that are held, and threads that wait for that or for a call. The lock is not taken while
 * nothing is held and no thread waits: a fork child may have inherited it in any state.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic uint32_t awaiting; /* threads in model_await */
	struct {
		_Atomic bool is_held;
		uint32_t passing;	/* threads to let through before the first one is held */
		uint32_t came, dropped; /* numbers of threads that were held */
	} places[MODEL_PLACE_COUNT];
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void tell_changed(void)
{
	pthread_mutex_lock(&gate.lock);
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

/*
 * Sequentially consistent, pairs with model_await: either that thread sees this count, or this
 * thread sees it waiting.
 */
static uint32_t result_of(enum model_call call)
{
	uint32_t nth = model.calls[call]++;

	if (gate.awaiting)
		tell_changed();
	return model.failures[call].is_set && nth >= model.failures[call].nth
		       ? model.failures[call].result
		       : CUPTI_OK;
}

void model_fail(enum model_call call, uint32_t nth, uint32_t result)
{
	model.failures[call].nth = nth;
	model.failures[call].result = result;
	model.failures[call].is_set = true;
}

uint32_t model_count(enum model_call call)
{
	return model.calls[call];
}

void model_await(enum model_call call, uint32_t count)
{
	pthread_mutex_lock(&gate.lock);
	gate.awaiting++;
	while (model.calls[call] < count)
		pthread_cond_wait(&gate.changed, &gate.lock);
	gate.awaiting--;
	pthread_mutex_unlock(&gate.lock);
}

/* Holds the calling thread while PLACE is held. */
static void come_to(enum model_place place)
{
	uint32_t number;

	if (!gate.places[place].is_held)
		return;
	pthread_mutex_lock(&gate.lock);
	if (gate.places[place].passing) {
		gate.places[place].passing--;
	} else if (gate.places[place].is_held) {
		number = gate.places[place].came++;
		pthread_cond_broadcast(&gate.changed);
		while (gate.places[place].dropped <= number)
			pthread_cond_wait(&gate.changed, &gate.lock);
	}
	pthread_mutex_unlock(&gate.lock);
}

void model_hold(enum model_place place, uint32_t nth)
{
	pthread_mutex_lock(&gate.lock);
	gate.places[place].passing = nth;
	gate.places[place].is_held = true;
	pthread_mutex_unlock(&gate.lock);
}

/* Call with the lock held. */
static void await_one(enum model_place place)
{
	while (gate.places[place].came == gate.places[place].dropped)
		pthread_cond_wait(&gate.changed, &gate.lock);
}

void model_await_held(enum model_place place)
{
	pthread_mutex_lock(&gate.lock);
	await_one(place);
	pthread_mutex_unlock(&gate.lock);
}

void model_release(enum model_place place)
{
	pthread_mutex_lock(&gate.lock);
	gate.places[place].is_held = false;
	gate.places[place].passing = 0;
	gate.places[place].dropped = gate.places[place].came;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

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
	return result_of(MODEL_GET_VERSION);
}

MODEL_EXPORT(cuptiSubscribe, (void **subscriber, cupti_callback *callback, void *userdata))
{
	uint32_t result = model.callback || getenv("MODEL_SUBSCRIBED") ? CUPTI_MULTIPLE_SUBSCRIBERS
								       : result_of(MODEL_SUBSCRIBE);

	if (result != CUPTI_OK)
		return result;
	*subscriber = &model;
	model.callback = callback;
	model.userdata = userdata;
	return CUPTI_OK;
}

MODEL_EXPORT(cuptiUnsubscribe, (void *subscriber))
{
	model.callback = NULL;
	memset(model.is_asked, 0, sizeof(model.is_asked));
	memset(model.is_all_asked, 0, sizeof(model.is_all_asked));
	model.asked_count = 0;
	return CUPTI_OK;
}

static void ask(bool *asked, bool enable)
{
	if (*asked != enable)
		model.asked_count += enable ? 1 : -1;
	*asked = enable;
}

MODEL_EXPORT(cuptiEnableDomain, (uint32_t enable, void *subscriber, uint32_t domain))
{
	uint32_t result = enable ? result_of(MODEL_ENABLE_DOMAIN) : CUPTI_OK;

	if (result == CUPTI_OK)
		ask(&model.is_all_asked[domain], enable);
	return result;
}

MODEL_EXPORT(cuptiEnableCallback,
	     (uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid))
{
	uint32_t result = enable ? result_of(MODEL_ENABLE_CALLBACK) : CUPTI_OK;

	if (result == CUPTI_OK)
		ask(&model.is_asked[domain][cbid], enable);
	return result;
}

MODEL_EXPORT(cuptiGetTimestamp, (uint64_t * timestamp))
{
	*timestamp = model.read_clock ? model.read_clock() : model_now();
	return result_of(MODEL_GET_TIMESTAMP);
}

MODEL_EXPORT(cuptiActivityRegisterCallbacks,
	     (cupti_buffer_requested * requested, cupti_buffer_completed *completed))
{
	uint32_t result = result_of(MODEL_REGISTER_BUFFERS);

	if (result == CUPTI_OK) {
		model.requested = requested;
		model.completed = completed;
	}
	return result;
}

MODEL_EXPORT(cuptiActivityEnable, (uint32_t kind))
{
	uint32_t result = result_of(MODEL_ENABLE);

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
		if (model.version < CUPTI_WITH_OVERHEAD_CALL)
			return 40;
		return model.version < CUPTI_WITH_OVERHEAD_DATA ? 48 : 56;
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
	uint32_t result = result_of(MODEL_NEXT_RECORD);

	come_to(MODEL_AT_RECORD);
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
	come_to(MODEL_AT_DROPPED);
	*dropped = atomic_exchange(&model.dropped, 0);
	return result_of(MODEL_GET_DROPPED);
}

MODEL_EXPORT(cuptiActivityFlushAll, (uint32_t flag))
{
	uint32_t result = result_of(MODEL_FLUSH_ALL);

	come_to(MODEL_AT_FLUSH);
	/* A forced flush also delivers the current buffer. */
	if (result == CUPTI_OK && flag == CUPTI_FLUSH_FORCED)
		model_deliver(0);
	return result;
}

MODEL_EXPORT(cuptiGetContextId, (void *context, uint32_t *id))
{
	*id = (uint32_t)(uintptr_t)context;
	return *id ? result_of(MODEL_GET_ID) : CUPTI_INVALID_PARAMETER;
}

MODEL_EXPORT(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t is_per_thread, uint32_t *id))
{
	uint32_t result = result_of(MODEL_GET_STREAM_ID);
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
	return result_of(MODEL_GET_ID);
}

MODEL_EXPORT(cuptiGetGraphExecId, (void *exec, uint32_t *id))
{
	*id = (uint32_t)(uintptr_t)exec;
	return result_of(MODEL_GET_ID);
}

MODEL_EXPORT(cuptiGetGraphNodeId, (void *node, uint64_t *id))
{
	*id = (uintptr_t)node;
	return result_of(MODEL_GET_ID);
}

MODEL_EXPORT(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable))
{
	return result_of(MODEL_EVENT_TIMES);
}

MODEL_EXPORT(cuptiGetResultString, (uint32_t result, const char **text))
{
	*text = "MODEL_ERROR";
	return CUPTI_OK;
}

/* ---- the driver's side ---- */

static void call_back(uint32_t domain, uint32_t cbid, const void *data)
{
	if (model.callback && model_is_asked(domain, cbid))
		model.callback(model.userdata, domain, cbid, data);
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

static void lock_buffer(void)
{
	while (atomic_flag_test_and_set_explicit(&model.lock, memory_order_acquire))
		sched_yield();
}

static void unlock_buffer(void)
{
	atomic_flag_clear_explicit(&model.lock, memory_order_release);
}

static bool ask_for_buffer(void)
{
	size_t size = 0, most = 0;
	uint8_t *buffer = NULL;

	come_to(MODEL_AT_REQUEST);
	if (model.requested)
		model.requested(&buffer, &size, &most);
	lock_buffer();
	model.buffer = buffer;
	model.size = size;
	model.used = 0;
	unlock_buffer();
	return buffer;
}

/* Returns false when there is no room. */
static bool copy_record(const void *record, size_t bytes, size_t room, bool *ret_is_full)
{
	bool fits;

	lock_buffer();
	fits = model.buffer && model.used + room <= model.size;
	*ret_is_full = model.buffer && !fits;
	if (fits) {
		memset(model.buffer + model.used, 0xee, room);
		memcpy(model.buffer + model.used, record, bytes);
		model.used += room;
	}
	unlock_buffer();
	return fits;
}

static bool is_wait(uint32_t kind)
{
	return kind == CUPTI_KIND_SYNCHRONIZATION || kind == CUPTI_KIND_CUDA_EVENT;
}

/* Other threads may flush at the same time. */
void model_put(const void *record, size_t bytes)
{
	const struct cupti_activity *activity = record;
	size_t room = model_record_bytes(activity->kind);
	bool is_full;

	if (is_wait(activity->kind) && !(model.kinds >> activity->kind & 1))
		return;
	if (room < bytes)
		bytes = room;
	while (!copy_record(record, bytes, room, &is_full)) {
		if (is_full) {
			model_deliver(0);
		} else if (!ask_for_buffer()) {
			model.dropped++;
			return;
		}
	}
}

void model_drop(size_t count)
{
	model.dropped += count;
}

void model_deliver(size_t cut_bytes)
{
	size_t size, used;
	uint8_t *buffer;

	lock_buffer();
	buffer = model.buffer;
	size = model.size;
	used = model.used;
	model.buffer = NULL;
	unlock_buffer();
	if (!buffer)
		return;
	come_to(MODEL_AT_DELIVERY);
	model.completed(NULL, 0, buffer, size, used - cut_bytes);
}

static void *deliver(void *unused)
{
	model_deliver(0);
	return unused;
}

void model_worker_deliver(void)
{
	if (pthread_create(&model.worker, NULL, deliver, NULL))
		abort();
}

void model_worker_await(void)
{
	pthread_join(model.worker, NULL);
}
