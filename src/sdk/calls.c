/* Callbacks around HIP's calls: see calls.h. */
#include "sdk/calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/numbers.h"
#include "sdk/contexts.h"
#include "sdk/externals.h"
#include "sdk/names.h"

#define FUNCTIONS 1024 /* more than HIP has */
#define DEPTH	  8    /* calls inside of each other that a thread remembers */

enum { UNKNOWN = 0, NONE = -1 }; /* function_operations holds operation + 1 */

/* What a function number stands for: learned from the first call. */
struct function {
	_Atomic int operation; /* + 1; UNKNOWN, or NONE: none of the interface */
	_Atomic bool has_stream;
};

static struct function functions[FUNCTIONS];

/* What the tool has put into a call at its entry, by context and kind. */
struct entered {
	uint64_t cid;
	uint32_t callbacks, streams; /* contexts that were told: bits */
	union sdk_user call_users[SDK_CONTEXTS], stream_users[SDK_CONTEXTS];
};

static _Thread_local struct entered entered[DEPTH];
static _Thread_local unsigned depth;
static _Thread_local uint64_t own_tid;
static _Thread_local unsigned observing; /* enter and leave that the thread is in */

static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;
static struct numbers streams; /* by handle; the null stream is not in it */

const struct inject_table *sdk_calls_find(void)
{
	const struct inject_table *table = dlsym(RTLD_DEFAULT, INJECT_SYMBOL);

	return table && table->bytes >= offsetof(struct inject_table, observe) + sizeof(void *)
		       ? table
		       : NULL;
}

/* Numbers of streams from 1, in the order of first use; 0 is the null stream. */
static uint64_t stream_id(const void *handle)
{
	uint32_t number;

	if (!handle)
		return 0;
	pthread_mutex_lock(&stream_lock);
	number = numbers_get(&streams, (uint64_t)(uintptr_t)handle, 0);
	pthread_mutex_unlock(&stream_lock);
	return number == NUMBERS_NONE ? 0 : number + 1ull;
}

static void learn(struct function *function, const char *text)
{
	const char *space = strchr(text, ' ');
	size_t bytes = space ? (size_t)(space - text) : strlen(text);
	char name[128];
	int operation = -1;

	if (bytes < sizeof(name)) {
		memcpy(name, text, bytes);
		name[bytes] = '\0';
		operation = sdk_hip_operation_find(name);
	}
	atomic_store_explicit(&function->has_stream, strstr(text, "tream:h") != NULL,
			      memory_order_relaxed);
	atomic_store_explicit(&function->operation, operation < 0 ? NONE : operation + 1,
			      memory_order_release);
}

/* The function of CALL, or NULL if the interface does not have it. */
static const struct function *function_of(const struct inject_call *call)
{
	struct function *function = &functions[call->function % FUNCTIONS];

	if (call->function >= FUNCTIONS)
		return NULL;
	if (atomic_load_explicit(&function->operation, memory_order_acquire) == UNKNOWN)
		learn(function, call->text);
	return atomic_load_explicit(&function->operation, memory_order_acquire) == NONE ? NULL
											: function;
}

static uint64_t tid(void)
{
	if (!own_tid)
		own_tid = (uint64_t)syscall(SYS_gettid);
	return own_tid;
}

/* Calls one service of context NUMBER, if it is for OPERATION. Returns whether it was. */
static bool tell(uint32_t number, int kind, int operation, int phase,
		 const struct inject_call *call, void *payload, union sdk_user *user)
{
	const struct sdk_context *context = &sdk_contexts[number];
	const struct sdk_callback_service *service = &context->callbacks[kind];
	const struct sdk_callback_record record = {
		.context = sdk_context_id(context),
		.tid = tid(),
		.correlation = {.internal = call->cid, .ancestor = call->parent},
		.kind = (uint32_t)kind,
		.operation = operation,
		.phase = (uint32_t)phase,
		.payload = payload,
	};

	if (!sdk_operations_have(&service->operations, operation))
		return false;
	service->callback(record, user, service->data);
	return true;
}

static void enter(const struct inject_call *call)
{
	const struct function *function = function_of(call);
	struct sdk_stream_data stream = {sizeof(stream), {0}, (uintptr_t)call->stream};
	struct sdk_hip_data data = {.size = sizeof(data)};
	struct entered *place = &entered[depth % DEPTH];

	if (!function || depth >= DEPTH)
		return;
	place->cid = call->cid;
	place->callbacks = place->streams = 0;
	depth++;
	if (atomic_load_explicit(&function->has_stream, memory_order_relaxed))
		stream.stream.handle = stream_id(call->stream);
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		if (!atomic_load_explicit(&sdk_contexts[i].is_started, memory_order_acquire))
			continue;
		place->stream_users[i].value = place->call_users[i].value = 0;
		if (atomic_load_explicit(&function->has_stream, memory_order_relaxed) &&
		    tell(i, SDK_CALLBACK_HIP_STREAM, SDK_HIP_STREAM_SET, SDK_PHASE_ENTER, call,
			 &stream, &place->stream_users[i]))
			place->streams |= 1u << i;
	}
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		if (atomic_load_explicit(&sdk_contexts[i].is_started, memory_order_acquire) &&
		    tell(i, SDK_CALLBACK_HIP_RUNTIME_API, function->operation - 1, SDK_PHASE_ENTER,
			 call, &data, &place->call_users[i]))
			place->callbacks |= 1u << i;
	}
}

/* Asks the tools for the external ids of the activities of a call. */
static void request(const struct inject_call *call)
{
	static const int kinds[] = {SDK_REQUEST_KERNEL_DISPATCH, SDK_REQUEST_MEMORY_COPY};

	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		const struct sdk_request_service *service = &sdk_contexts[i].request;

		if (!service->is_on || !atomic_load(&sdk_contexts[i].is_started))
			continue;
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			union sdk_user external = {0};

			if (service->kinds >> kinds[k] & 1 &&
			    service->callback(tid(), sdk_context_id(&sdk_contexts[i]), kinds[k],
					      SDK_DISPATCH_ENQUEUE, call->cid, &external,
					      service->data) == 0)
				externals_put(i, call->cid, kinds[k], external.value);
		}
	}
}

static void leave(const struct inject_call *call)
{
	struct sdk_stream_data stream = {sizeof(stream), {0}, (uintptr_t)call->stream};
	struct sdk_hip_data data = {.size = sizeof(data), .result = (uint64_t)call->result};
	struct entered *place;

	while (depth && entered[depth - 1].cid > call->cid)
		depth--; /* left by a longjmp */
	if (!depth || entered[depth - 1].cid != call->cid)
		return;
	place = &entered[--depth];
	if (call->activities)
		request(call);
	stream.stream.handle = place->streams ? stream_id(call->stream) : 0;
	for (uint32_t i = 0; i < SDK_CONTEXTS && place->callbacks >> i; i++)
		if (place->callbacks >> i & 1)
			tell(i, SDK_CALLBACK_HIP_RUNTIME_API, function_of(call)->operation - 1,
			     SDK_PHASE_EXIT, call, &data, &place->call_users[i]);
	for (uint32_t i = 0; i < SDK_CONTEXTS && place->streams >> i; i++)
		if (place->streams >> i & 1)
			tell(i, SDK_CALLBACK_HIP_STREAM, SDK_HIP_STREAM_SET, SDK_PHASE_EXIT, call,
			     &stream, &place->stream_users[i]);
}

static void observe_entry(const struct inject_call *call)
{
	observing++;
	enter(call);
	observing--;
}

static void observe_return(const struct inject_call *call)
{
	observing++;
	leave(call);
	observing--;
}

bool sdk_calls_in_callback(void)
{
	return observing > 0;
}

void sdk_calls_observe(void)
{
	static const struct inject_observer observer = {observe_entry, observe_return};

	sdk_calls_find()->observe(&observer);
}

void sdk_calls_forget(void)
{
	sdk_calls_find()->observe(NULL);
	pthread_mutex_init(&stream_lock, NULL);
	own_tid = 0;
	depth = 0;
}
