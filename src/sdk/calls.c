/* Callbacks around calls of HIP and RCCL: see calls.h. */
#include "sdk/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/numbers.h"
#include "record/record.h"
#include "sdk/allocations.h"
#include "sdk/arguments.h"
#include "sdk/externals.h"
#include "sdk/injected.h"
#include "sdk/inside.h"
#include "sdk/marks.h"
#include "sdk/names.h"
#include "sdk/pushed.h"
#include "sdk/requests.h"
#include "sdk/sdk_contexts.h"

#define HIP_FUNCTIONS  1024 /* more than HIP has */
#define RCCL_FUNCTIONS 256  /* more than RCCL and NCCL have */
#define DEPTH	       8    /* calls inside of each other that a thread remembers */

enum { UNKNOWN = 0, NONE = -1 }; /* function_operations holds operation + 1 */

/* What a function number stands for: learned from the first call, with the lock. */
struct function {
	_Atomic int operation; /* + 1; UNKNOWN, or NONE: none of the interface */
	bool has_stream;       /* of HIP_STREAM */
	struct sdk_arguments arguments;
};

/* The calls of a vendor's interface, and what this one calls their kind. */
struct api {
	enum sdk_callback_kind callback;
	enum sdk_buffer_kind buffer;
	enum sdk_request_kind request;
	uint32_t first, count; /* numbers of functions */
	struct function *functions;
	int (*find)(const char *name); /* an operation */
	const char *const *parameters; /* by operation */
	size_t args_bytes;
	bool has_streams; /* the kind HIP_STREAM is told of them */
};

static struct function hip_functions[HIP_FUNCTIONS], rccl_functions[RCCL_FUNCTIONS];
static const struct api apis[] = {
	{SDK_CALLBACK_HIP_RUNTIME_API, SDK_BUFFER_HIP_RUNTIME_API, SDK_REQUEST_HIP_RUNTIME_API, 0,
	 HIP_FUNCTIONS, hip_functions, sdk_hip_operation_find, sdk_hip_parameters, SDK_ARGS_BYTES,
	 true},
	{SDK_CALLBACK_RCCL_API, SDK_BUFFER_RCCL_API, SDK_REQUEST_RCCL_API,
	 RECORD_RCCL_FUNCTION_FIRST, RCCL_FUNCTIONS, rccl_functions, sdk_rccl_operation_find,
	 sdk_rccl_parameters, SDK_RCCL_ARGS_BYTES, false},
};
static pthread_mutex_t learn_lock = PTHREAD_MUTEX_INITIALIZER;

/* What the tool has put into a call at its entry, by context and kind, and its arguments. */
struct entered {
	uint64_t cid;
	const struct api *api;
	int operation;
	bool is_returning;	     /* the tool is told of its return */
	bool is_counted;	     /* in under_way */
	uint64_t started;	     /* contexts that were started at its entry: bits */
	uint64_t callbacks, streams; /* contexts that were told: bits */
	union sdk_user call_users[SDK_CONTEXTS], stream_users[SDK_CONTEXTS];
	uint64_t externals[SDK_CONTEXTS];
	uint32_t changes[SDK_CONTEXTS]; /* sdk_context's, before it was looked at */
	union {
		struct sdk_hip_data hip;
		struct sdk_rccl_data rccl;
	} data;
};

static _Thread_local struct entered entered[DEPTH];
static _Thread_local unsigned depth;

/* Calls that have not returned, and of which a context that was started at their entry gets
 * records. A context without records may be started as long as the process runs. */
static _Atomic int64_t under_way;

/* Its destructor forgets the calls of a thread that ends inside of them. */
static pthread_key_t thread_ends;
static pthread_once_t thread_ends_once = PTHREAD_ONCE_INIT;
static bool has_thread_ends; /* the key could be made */

static pthread_mutex_t observe_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_observed; /* calls have been observed */
static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;
static struct numbers streams; /* by handle; the null stream is not in it */

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

static void learn(const struct api *api, struct function *function, const char *text)
{
	const char *space = strchr(text, ' ');
	size_t bytes = space ? (size_t)(space - text) : strlen(text);
	char name[128];
	int operation = -1;

	if (bytes < sizeof(name)) {
		memcpy(name, text, bytes);
		name[bytes] = '\0';
		operation = api->find(name);
	}
	pthread_mutex_lock(&learn_lock);
	if (atomic_load(&function->operation) == UNKNOWN) {
		function->has_stream = api->has_streams && strstr(text, "tream:h");
		if (operation >= 0)
			arguments_learn(api->parameters[operation], api->args_bytes,
					&function->arguments);
		atomic_store(&function->operation, operation < 0 ? NONE : operation + 1);
	}
	pthread_mutex_unlock(&learn_lock);
}

/* The API of CALL, or NULL if the interface does not have it. */
static const struct api *api_of(const struct inject_call *call)
{
	for (size_t i = 0; i < sizeof(apis) / sizeof(*apis); i++)
		if (call->function - apis[i].first < apis[i].count)
			return &apis[i];
	return NULL;
}

/* The function of CALL, or NULL if the interface does not have it. */
static const struct function *function_of(const struct api *api, const struct inject_call *call)
{
	struct function *function = &api->functions[call->function - api->first];

	if (atomic_load_explicit(&function->operation, memory_order_acquire) == UNKNOWN)
		learn(api, function, call->text);
	return atomic_load_explicit(&function->operation, memory_order_acquire) == NONE ? NULL
											: function;
}

/* Whether context NUMBER gets a record or callbacks of the call of PLACE. */
static bool wants_call(uint32_t number, const struct entered *place)
{
	const struct sdk_context *context = &sdk_contexts[number];

	return sdk_operations_have(&context->callbacks[place->api->callback].operations,
				   place->operation) ||
	       sdk_operations_have(&context->buffers[place->api->buffer].operations,
				   place->operation);
}

/* Calls the service of context NUMBER for KIND, if it is for OPERATION. Returns whether it was. */
static bool tell(uint32_t number, enum sdk_callback_kind kind, int operation, int phase,
		 const struct inject_call *call, struct entered *place, void *payload)
{
	const struct sdk_context *context = &sdk_contexts[number];
	const struct sdk_callback_service *service = &context->callbacks[kind];
	const struct sdk_callback_record record = {
		.context = sdk_context_id(context),
		.tid = requests_tid(),
		.correlation = {.internal = call->cid,
				.external.value = place->externals[number],
				.ancestor = call->parent},
		.kind = kind,
		.operation = operation,
		.phase = (uint32_t)phase,
		.payload = payload,
	};

	if (!sdk_operations_have(&service->operations, operation))
		return false;
	service->callback(record,
			  kind == SDK_CALLBACK_HIP_STREAM ? &place->stream_users[number]
							  : &place->call_users[number],
			  service->data);
	return true;
}

static void uncount_call(struct entered *place)
{
	if (place->is_counted)
		atomic_fetch_sub(&under_way, 1);
	place->is_counted = false;
}

static void forget_innermost(void)
{
	uncount_call(&entered[--depth]);
}

static void forget_calls(void *unused)
{
	(void)unused;
	while (depth)
		forget_innermost();
}

static void make_thread_ends(void)
{
	has_thread_ends = pthread_key_create(&thread_ends, forget_calls) == 0;
}

/* The innermost call is under way until it is forgotten. */
static void count_call(struct entered *place)
{
	pthread_once(&thread_ends_once, make_thread_ends);
	if (has_thread_ends)
		pthread_setspecific(thread_ends, entered);
	place->is_counted = true;
	atomic_fetch_add(&under_way, 1);
}

/* The same for the call itself. */
static bool tell_call(uint32_t number, int phase, const struct inject_call *call,
		      struct entered *place)
{
	return tell(number, place->api->callback, place->operation, phase, call, place,
		    &place->data);
}

/* Begins a call in context NUMBER. STREAM is NULL without one. */
static void enter_context(uint32_t number, const struct inject_call *call, struct entered *place,
			  struct sdk_stream_data *stream)
{
	place->started |= 1ull << number;
	place->stream_users[number].value = place->call_users[number].value = 0;
	place->externals[number] = wants_call(number, place)
					   ? requests_external(number, (int)place->api->request,
							       place->operation, call->cid)
					   : pushed_last(number, requests_tid());
	if (stream && tell(number, SDK_CALLBACK_HIP_STREAM, SDK_HIP_STREAM_SET, SDK_PHASE_ENTER,
			   call, place, stream))
		place->streams |= 1ull << number;
}

/* Fills PLACE for a call that enters. */
static void begin_place(const struct api *api, const struct function *function,
			const struct inject_call *call, struct entered *place)
{
	place->cid = call->cid;
	place->api = api;
	place->is_returning = place->is_counted = false;
	place->operation = atomic_load_explicit(&function->operation, memory_order_relaxed) - 1;
	place->started = place->callbacks = place->streams = 0;
	memset(&place->data, 0, sizeof(place->data));
	place->data.hip.size = api->callback == SDK_CALLBACK_RCCL_API ? sizeof(place->data.rccl)
								      : sizeof(place->data.hip);
	arguments_fill(&function->arguments, call->args, place->data.hip.args);
}

/* The tool makes a call inside of its callback at the return of another one inside of PARENT, or it
 * has jumped out of that callback: which of both is not known. */
static void forget_returning(uint64_t parent)
{
	while (depth && entered[depth - 1].is_returning && entered[depth - 1].cid > parent)
		forget_innermost();
}

/* The thread is in no callback, and inside of calls up to PARENT: a tool has jumped out of the
 * others at their entry. Where PARENT is 0, they may also belong to an earlier recording. Then they
 * get no record, but the tool is told of their returns. */
static void forget_jumped(uint64_t parent)
{
	unsigned kept = depth;

	for (; kept && entered[kept - 1].cid > parent; kept--)
		uncount_call(&entered[kept - 1]);
	if (parent || depth >= DEPTH)
		depth = kept;
}

static void enter(const struct inject_call *call, bool is_in_callback)
{
	const struct api *api = api_of(call);
	const struct function *function = api ? function_of(api, call) : NULL;
	struct sdk_stream_data stream = {sizeof(stream), {0}, (uintptr_t)call->stream};
	struct entered *place;

	forget_returning(call->parent);
	if (!is_in_callback)
		forget_jumped(call->parent);
	if (!function || depth >= DEPTH)
		return;
	place = &entered[depth];
	begin_place(api, function, call, place);
	depth++;
	if (function->has_stream)
		stream.stream.handle = stream_id(call->stream);
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		place->changes[i] = atomic_load(&sdk_contexts[i].changes);
		if (atomic_load_explicit(&sdk_contexts[i].is_started, memory_order_acquire))
			enter_context(i, call, place, function->has_stream ? &stream : NULL);
	}
	if (place->started & sdk_contexts_recorded())
		count_call(place);
	for (uint32_t i = 0; i < SDK_CONTEXTS && place->started >> i; i++)
		if (place->started >> i & 1 && tell_call(i, SDK_PHASE_ENTER, call, place))
			place->callbacks |= 1ull << i;
}

_Static_assert((int)SDK_REQUEST_KERNEL_DISPATCH == (int)SDK_BUFFER_KERNEL_DISPATCH &&
		       (int)SDK_REQUEST_MEMORY_COPY == (int)SDK_BUFFER_MEMORY_COPY,
	       "a kind of activities has one number");

/* Keeps the external ids of COUNT activities of a call in context NUMBER, for each of which the
 * tool is asked if it wants to be. Any number of them has the id that was pushed. */
static void keep_activities(uint32_t number, int kind, const struct inject_call *call,
			    uint32_t count)
{
	int operation = kind == SDK_REQUEST_KERNEL_DISPATCH ? SDK_DISPATCH_ENQUEUE : SDK_COPY_NONE;

	if (!count || !sdk_contexts[number].buffers[kind].operations.is_on)
		return;
	if (requests_ask(number, kind)) {
		for (uint32_t i = 0; i < count; i++)
			externals_add(number, call->cid, kind,
				      requests_external(number, kind, operation, call->cid));
	} else if (pushed_last(number, requests_tid())) {
		externals_add(number, call->cid, kind, pushed_last(number, requests_tid()));
	}
}

/* Keeps the external ids of a call, which its record and its activities get later. */
static void keep_externals(const struct inject_call *call, struct entered *place)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && place->started >> i; i++) {
		if (!(place->started >> i & 1))
			continue;
		/* The tool may have pushed another one at the entry. */
		if (!requests_ask(i, (int)place->api->request))
			place->externals[i] = pushed_last(i, requests_tid());
		if (place->externals[i] &&
		    sdk_contexts[i].buffers[place->api->buffer].operations.is_on)
			externals_add(i, call->cid, (int)place->api->request, place->externals[i]);
		/* Kernels whose packets another thread submits later get one together. */
		keep_activities(i, SDK_REQUEST_KERNEL_DISPATCH, call,
				call->dispatches + (call->unknown > 0));
		keep_activities(i, SDK_REQUEST_MEMORY_COPY, call, call->copies);
	}
}

static void set_result(const struct inject_call *call, struct entered *place)
{
	if (place->api->callback == SDK_CALLBACK_RCCL_API)
		place->data.rccl.result = call->value;
	else
		place->data.hip.result = call->value;
}

/* Of contexts that were started or stopped since the entry, keeps whether they were told of it. */
static void keep_entry(const struct inject_call *call, const struct entered *place)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++)
		if (place->changes[i] % 2 ||
		    place->changes[i] != atomic_load(&sdk_contexts[i].changes))
			externals_add_entry(i, call->cid,
					    place->started >> i & 1 ? EXTERNALS_TOLD
								    : EXTERNALS_NOT_TOLD);
}

/* PLACE is a copy: a call that the tool makes meanwhile takes the place of this one. */
static void tell_return(const struct inject_call *call, struct entered place)
{
	struct sdk_stream_data stream = {sizeof(stream), {0}, (uintptr_t)call->stream};

	stream.stream.handle = place.streams ? stream_id(call->stream) : 0;
	for (uint32_t i = 0; i < SDK_CONTEXTS && place.callbacks >> i; i++)
		if (place.callbacks >> i & 1)
			tell_call(i, SDK_PHASE_EXIT, call, &place);
	for (uint32_t i = 0; i < SDK_CONTEXTS && place.streams >> i; i++)
		if (place.streams >> i & 1)
			tell(i, SDK_CALLBACK_HIP_STREAM, SDK_HIP_STREAM_SET, SDK_PHASE_EXIT, call,
			     &place, &stream);
}

static void leave(const struct inject_call *call)
{
	struct entered *place;

	while (depth && entered[depth - 1].cid > call->cid)
		forget_innermost(); /* left by a longjmp */
	if (!depth || entered[depth - 1].cid != call->cid)
		return;
	place = &entered[depth - 1];
	set_result(call, place);
	keep_externals(call, place);
	keep_entry(call, place);
	place->is_returning = true;
	if (place->callbacks || place->streams)
		tell_return(call, *place);
	/* Its record is written soon, so it is under way until now. */
	while (depth && entered[depth - 1].cid >= call->cid)
		forget_innermost();
}

INSIDE_ON_STACK void sdk_calls_enter(const struct inject_call *call)
{
	struct inside place;

	enter(call, inside_enter(&place, INSIDE_CALL));
	inside_leave(&place);
}

INSIDE_ON_STACK static void observe_return(const struct inject_call *call)
{
	struct inside place;

	inside_enter(&place, INSIDE_CALL);
	leave(call);
	inside_leave(&place);
}

/* A flush inside of these would wait for the call or the packet that they belong to. */
INSIDE_ON_STACK static void observe_memory(const struct inject_memory *memory)
{
	struct inside place;

	inside_enter(&place, INSIDE_CALL);
	allocations_observe(memory);
	inside_leave(&place);
}

INSIDE_ON_STACK static void observe_scratch(const struct inject_scratch *scratch)
{
	struct inside place;

	inside_enter(&place, INSIDE_CALL);
	allocations_observe_scratch(scratch);
	inside_leave(&place);
}

bool sdk_calls_in_callback(void)
{
	return inside_is(INSIDE_CALL);
}

bool sdk_calls_are_under_way(void)
{
	return atomic_load(&under_way) > 0;
}

void sdk_calls_observe(void)
{
	static const struct inject_observer observer = {
		.enter = sdk_calls_enter,
		.leave = observe_return,
		.mark = marks_observe,
		.memory = observe_memory,
		.scratch = observe_scratch,
	};

	pthread_mutex_lock(&observe_lock);
	is_observed = true;
	injected_find()->observe(&observer);
	pthread_mutex_unlock(&observe_lock);
}

void sdk_calls_await(const struct inject_observer *observer)
{
	pthread_mutex_lock(&observe_lock);
	if (!is_observed)
		injected_find()->observe(observer);
	pthread_mutex_unlock(&observe_lock);
}

void sdk_calls_forget(void)
{
	injected_find()->observe(NULL);
	pthread_mutex_init(&observe_lock, NULL);
	pthread_mutex_init(&stream_lock, NULL);
	pthread_mutex_init(&learn_lock, NULL);
	requests_forget_thread();
	depth = 0;
	atomic_store(&under_way, 0);
}
