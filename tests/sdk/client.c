/* A profiler for a HIP program, to be preloaded: configures librocprofiler-sdk.so.1 as XLA does,
 * and writes a line for every record and callback to the file that CLIENT_OUT names. It flushes at
 * the end of the process, in its finalize, which it asks for in exit() with CLIENT_ENDS: while the
 * recording goes on. With CLIENT_WAITS it waits until the library finds it,
 * with CLIENT_REFUSED it expects to be refused. With CLIENT_TOGGLES a thread of its own stops and
 * starts the collecting context as often, while the program runs.
 * With CLIENT_KERNELS it only asks for the names of kernels. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/inject.h"
#include "sdk/abi.h"
#include "sdk/functions.h"

static FILE *out;
static struct sdk_id collecting, always, buffer;
static int told;		       /* how often of threads */
static void (*end)(struct sdk_client); /* NULL: at the library's time */

static void say(const char *format, ...)
{
	va_list args;

	flockfile(out);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
	funlockfile(out);
}

static void expect(const char *what, int status, int expected)
{
	if (status == expected)
		return;
	fprintf(stderr, "client: %s: %s, expected %s\n", what,
		rocprofiler_get_status_name((unsigned)status),
		rocprofiler_get_status_name((unsigned)expected));
	_Exit(3);
}

static const char *name_of(int kind, int operation)
{
	const char *name = NULL;

	expect("the name of an operation",
	       rocprofiler_query_buffer_tracing_kind_operation_name(kind, operation, &name, NULL),
	       SDK_SUCCESS);
	return name;
}

static void take_records(struct sdk_id context, struct sdk_id from,
			 struct sdk_record_header **headers, size_t count, void *data,
			 uint64_t dropped)
{
	expect("the buffer of the callback", from.handle == buffer.handle && data == &buffer, true);
	for (size_t i = 0; i < count; i++) {
		const struct sdk_hip_record *call = headers[i]->payload;
		const struct sdk_dispatch_record *dispatch = headers[i]->payload;
		const struct sdk_copy_record *copy = headers[i]->payload;
		const struct sdk_allocation_record *allocation = headers[i]->payload;
		const struct sdk_scratch_record *scratch = headers[i]->payload;

		switch (headers[i]->kind) {
		case SDK_BUFFER_HIP_RUNTIME_API:
			say("call %lu external %lu op %d %lu %lu", call->correlation.internal,
			    call->correlation.external.value, call->operation, call->start_ns,
			    call->end_ns);
			break;
		case SDK_BUFFER_RCCL_API:
			say("collective %lu %s tid %lu ancestor %lu %lu %lu external %lu",
			    call->correlation.internal,
			    name_of(SDK_BUFFER_RCCL_API, call->operation), call->tid,
			    call->correlation.ancestor, call->start_ns, call->end_ns,
			    call->correlation.external.value);
			break;
		case SDK_BUFFER_MARKER_CORE_API:
			say("mark %lu external %lu op %d %lu %lu", call->correlation.internal,
			    call->correlation.external.value, call->operation, call->start_ns,
			    call->end_ns);
			break;
		case SDK_BUFFER_MARKER_CORE_RANGE_API:
			say("range %lu %s", call->correlation.internal,
			    name_of(SDK_BUFFER_MARKER_CORE_RANGE_API, call->operation));
			break;
		case SDK_BUFFER_MARKER_CONTROL_API:
		case SDK_BUFFER_MARKER_NAME_API:
			say("control %lu %s", call->correlation.internal,
			    name_of((int)headers[i]->kind, call->operation));
			break;
		case SDK_BUFFER_MEMORY_ALLOCATION:
			say("allocation %lu external %lu op %d %lu %lu address %lx bytes %lu agent "
			    "%lu",
			    allocation->head.correlation.internal,
			    allocation->head.correlation.external.value, allocation->head.operation,
			    allocation->start_ns, allocation->end_ns, allocation->address,
			    allocation->bytes, allocation->agent.handle);
			break;
		case SDK_BUFFER_SCRATCH_MEMORY:
			say("scratch %lu external %lu op %d %lu %lu agent %lu queue %lu flags %u "
			    "bytes %lu",
			    scratch->head.correlation.internal,
			    scratch->head.correlation.external.value, scratch->head.operation,
			    scratch->start_ns, scratch->end_ns, scratch->agent.handle,
			    scratch->queue.handle, scratch->flags, scratch->bytes);
			break;
		case SDK_BUFFER_CORRELATION_ID_RETIREMENT:
			say("retired %lu",
			    ((const struct sdk_retirement_record *)headers[i]->payload)->internal);
			break;
		case SDK_BUFFER_KERNEL_DISPATCH:
			say("dispatch %lu external %lu kernel %lu %lu %lu agent %lu grid %u,%u,%u "
			    "group %u,%u,%u",
			    dispatch->correlation.internal, dispatch->correlation.external.value,
			    dispatch->info.kernel, dispatch->start_ns, dispatch->end_ns,
			    dispatch->info.agent.handle, dispatch->info.grid[0],
			    dispatch->info.grid[1], dispatch->info.grid[2],
			    dispatch->info.workgroup[0], dispatch->info.workgroup[1],
			    dispatch->info.workgroup[2]);
			break;
		case SDK_BUFFER_MEMORY_COPY:
			say("copy %lu external %lu %lu %lu bytes %lu op %u",
			    copy->correlation.internal, copy->correlation.external.value,
			    copy->start_ns, copy->end_ns, copy->bytes, copy->operation);
			break;
		}
	}
	say("delivered %zu dropped %lu", count, dropped);
}

static void take_kernel(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_kernel_symbol *symbol = record.payload;

	say("kernel %lu %s", symbol->kernel, symbol->name);
}

/* The id that this client pushes at the entry of a call. */
static uint64_t pushed_for(uint64_t internal)
{
	return internal * 5 + 2;
}

/* What a recording has of an ncclUniqueId (FNV-1a). */
static uint64_t hash_of_id(const uint8_t *id)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (int i = 0; i < 128; i++)
		hash = (hash ^ id[i]) * 0x100000001b3u;
	return hash;
}

static int take_argument(int kind, int operation, uint32_t number, const void *address,
			 int32_t indirections, const char *type, const char *name,
			 const char *value, int32_t followed, void *data)
{
	char *line = data;
	size_t used = strlen(line);

	if (!strcmp(type, "ncclUniqueId"))
		snprintf(line + used, 2048 - used, " %s=%lu", name, hash_of_id(address));
	else
		snprintf(line + used, 2048 - used, " %s=%s", name, value);
	return 0;
}

static void say_arguments(const struct sdk_callback_record *record)
{
	char line[2048] = "";

	expect("arguments",
	       rocprofiler_iterate_callback_tracing_kind_operation_args(*record, take_argument, 1,
									line),
	       SDK_SUCCESS);
	say("arguments %lu%s", record->correlation.internal, line);
}

static void enter_call(const struct sdk_callback_record *record, union sdk_user *user)
{
	union sdk_user external = {.value = pushed_for(record->correlation.internal)};

	user->value = record->correlation.internal * 3;
	expect("a push",
	       rocprofiler_push_external_correlation_id(collecting, record->tid, external),
	       SDK_SUCCESS);
}

/* A number or a text. */
static void say_result(const struct sdk_callback_record *record)
{
	uint64_t result = ((const struct sdk_rccl_data *)record->payload)->result;
	const char *name = name_of(SDK_BUFFER_RCCL_API, record->operation);

	if (!strcmp(name, "ncclGetErrorString") || !strcmp(name, "ncclGetLastError"))
		say("result %lu %s", record->correlation.internal, (const char *)(uintptr_t)result);
	else
		say("result %lu %ld", record->correlation.internal, (long)result);
}

static void leave_call(const struct sdk_callback_record *record, const union sdk_user *user)
{
	const struct sdk_hip_data *data = record->payload; /* or RCCL's, which begins the same */
	bool is_hip = record->kind == SDK_CALLBACK_HIP_RUNTIME_API;
	uint64_t internal = record->correlation.internal;
	union sdk_user external;

	expect("the value of a call", user->value == internal * 3, true);
	expect("the external id of a call",
	       record->correlation.external.value == pushed_for(internal), true);
	expect("a pop", rocprofiler_pop_external_correlation_id(collecting, record->tid, &external),
	       SDK_SUCCESS);
	expect("what was pushed", external.value == pushed_for(internal), true);
	expect("the size of a call's data", (int)data->size,
	       is_hip ? sizeof(*data) : sizeof(struct sdk_rccl_data));
	if (!is_hip)
		say_result(record);
	say_arguments(record);
}

/* Each call is told at its entry and at its return, on one thread, with one value of ours. */
static void take_call(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	bool is_hip = record.kind == SDK_CALLBACK_HIP_RUNTIME_API;
	const char *phase = record.phase == SDK_PHASE_ENTER ? "enter" : "exit";

	if (record.phase == SDK_PHASE_ENTER)
		enter_call(&record, user);
	else
		leave_call(&record, user);
	/* What it would wait for goes on after the callback. */
	expect("a flush inside a callback", rocprofiler_flush_buffer(buffer),
	       SDK_ERROR_BUFFER_BUSY);
	if (is_hip)
		say("%s %lu op %d tid %lu ancestor %lu", phase, record.correlation.internal,
		    record.operation, record.tid, record.correlation.ancestor);
	else
		say("collective_%s %lu %s tid %lu ancestor %lu", phase, record.correlation.internal,
		    name_of(SDK_BUFFER_RCCL_API, record.operation), record.tid,
		    record.correlation.ancestor);
}

/* Calls of roctx other than marks and ranges, and ranges as a whole, with their arguments. */
static void take_control(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_mark_data *mark = record.payload;
	bool is_range = record.kind == SDK_CALLBACK_MARKER_CORE_RANGE_API;
	int kind = is_range ? SDK_BUFFER_MARKER_CORE_RANGE_API : (int)record.kind;
	char line[2048] = "";

	expect("the size of a mark's data", (int)mark->size, sizeof(*mark));
	expect("arguments of roctx",
	       rocprofiler_iterate_callback_tracing_kind_operation_args(record, take_argument, 1,
									line),
	       SDK_SUCCESS);
	say("%s_%s %lu %s%s returns %lu", is_range ? "range" : "control",
	    record.phase == SDK_PHASE_ENTER ? "enter" : "exit", record.correlation.internal,
	    name_of(kind, record.operation), line, mark->result);
}

/* The message is there at the entry and at the return. */
static void take_mark(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_mark_data *mark = record.payload;
	bool has_message = record.operation <= INJECT_START && record.operation != INJECT_POP;

	if (record.phase == SDK_PHASE_ENTER)
		user->value = record.correlation.internal * 3;
	else
		expect("the value of a mark", user->value == record.correlation.internal * 3, true);
	say("%s %lu op %d %s", record.phase == SDK_PHASE_ENTER ? "begin" : "end",
	    record.correlation.internal, record.operation,
	    has_message ? (const char *)(uintptr_t)mark->argument : "-");
}

/* Times, and the address of what is allocated, are known at the return. */
static void take_allocation(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_allocation_data *allocation = record.payload;
	bool is_free = record.operation == SDK_ALLOCATION_FREE ||
		       record.operation == SDK_ALLOCATION_VMEM_FREE;

	expect("the size of an allocation's data", (int)allocation->size, sizeof(*allocation));
	expect("a flush inside a callback of memory", rocprofiler_flush_buffer(buffer),
	       SDK_ERROR_BUFFER_BUSY);
	if (record.phase == SDK_PHASE_ENTER) {
		expect("times at the entry", !allocation->start_ns && !allocation->end_ns, true);
		expect("no address at the entry", is_free || !allocation->address, true);
		user->value = record.correlation.internal * 7;
		return;
	}
	expect("the value of an allocation", user->value == record.correlation.internal * 7, true);
	say("allocated %lu external %lu op %d %lu %lu address %lx bytes %lu agent %lu",
	    record.correlation.internal, record.correlation.external.value, record.operation,
	    allocation->start_ns, allocation->end_ns, allocation->address, allocation->bytes,
	    allocation->agent.handle);
}

static void take_scratch(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_scratch_data *scratch = record.payload;

	expect("the size of the data of scratch", (int)scratch->size, sizeof(*scratch));
	expect("a flush inside a callback of scratch", rocprofiler_flush_buffer(buffer),
	       SDK_ERROR_BUFFER_BUSY);
	if (record.phase == SDK_PHASE_ENTER)
		user->value = record.correlation.internal * 9;
	else
		expect("the value of scratch", user->value == record.correlation.internal * 9,
		       true);
	say("scratched %lu op %d event %u queue %lu flags %u dispatch %lu bytes %lu slots %lu",
	    record.correlation.internal, record.operation, scratch->event, scratch->queue.handle,
	    scratch->flags, scratch->dispatch, scratch->bytes, scratch->slots);
}

/* A number of its own for each request of a call. */
static int answer_request(uint64_t tid, struct sdk_id context, int kind, int operation,
			  uint64_t internal, union sdk_user *ret_external, void *data)
{
	static _Thread_local uint64_t asked_for, asked;

	expect("the kind of a request", kind, SDK_REQUEST_KERNEL_DISPATCH);
	asked = asked_for == internal ? asked + 1 : 0;
	asked_for = internal;
	ret_external->value = internal * 100000 + asked;
	say("request %lu", internal);
	return 0;
}

static void configure_collecting(void)
{
	static const int kinds[] = {SDK_BUFFER_HIP_RUNTIME_API,
				    SDK_BUFFER_KERNEL_DISPATCH,
				    SDK_BUFFER_MEMORY_COPY,
				    SDK_BUFFER_MARKER_CORE_API,
				    SDK_BUFFER_MEMORY_ALLOCATION,
				    SDK_BUFFER_SCRATCH_MEMORY,
				    SDK_BUFFER_RCCL_API,
				    SDK_BUFFER_MARKER_CONTROL_API,
				    SDK_BUFFER_MARKER_NAME_API,
				    SDK_BUFFER_CORRELATION_ID_RETIREMENT,
				    SDK_BUFFER_MARKER_CORE_RANGE_API};
	static const int requests[] = {SDK_REQUEST_KERNEL_DISPATCH};
	struct sdk_id thread;

	expect("context", rocprofiler_create_context(&collecting), SDK_SUCCESS);
	expect("buffer",
	       rocprofiler_create_buffer(collecting, 8192, 4096, SDK_POLICY_LOSSLESS, take_records,
					 &buffer, &buffer),
	       SDK_SUCCESS);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		expect("buffer tracing",
		       rocprofiler_configure_buffer_tracing_service(collecting, kinds[i], NULL, 0,
								    buffer),
		       SDK_SUCCESS);
	expect("a kind twice",
	       rocprofiler_configure_buffer_tracing_service(collecting, kinds[0], NULL, 0, buffer),
	       SDK_ERROR_SERVICE_ALREADY_CONFIGURED);
	expect("a kind that is not there",
	       rocprofiler_configure_buffer_tracing_service(collecting, SDK_BUFFER_OMPT, NULL, 0,
							    buffer),
	       SDK_ERROR_NOT_IMPLEMENTED);
	expect("callback tracing",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_HIP_RUNTIME_API, NULL, 0, take_call, NULL),
	       SDK_SUCCESS);
	expect("callback tracing of RCCL",
	       rocprofiler_configure_callback_tracing_service(collecting, SDK_CALLBACK_RCCL_API,
							      NULL, 0, take_call, NULL),
	       SDK_SUCCESS);
	expect("marks",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_MARKER_CORE_API, NULL, 0, take_mark, NULL),
	       SDK_SUCCESS);
	expect("pauses",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_MARKER_CONTROL_API, NULL, 0, take_control, NULL),
	       SDK_SUCCESS);
	expect("ranges",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_MARKER_CORE_RANGE_API, NULL, 0, take_control, NULL),
	       SDK_SUCCESS);
	expect("names",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_MARKER_NAME_API, NULL, 0, take_control, NULL),
	       SDK_SUCCESS);
	expect("allocations",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_MEMORY_ALLOCATION, NULL, 0, take_allocation, NULL),
	       SDK_SUCCESS);
	expect("scratch memory",
	       rocprofiler_configure_callback_tracing_service(
		       collecting, SDK_CALLBACK_SCRATCH_MEMORY, NULL, 0, take_scratch, NULL),
	       SDK_SUCCESS);
	expect("requests",
	       rocprofiler_configure_external_correlation_id_request_service(
		       collecting, requests, 1, answer_request, NULL),
	       SDK_SUCCESS);
	expect("a push for a thread that is not there",
	       rocprofiler_push_external_correlation_id(collecting, 1, (union sdk_user){1}),
	       SDK_ERROR_INVALID_ARGUMENT);
	expect("thread", rocprofiler_create_callback_thread(&thread), SDK_SUCCESS);
	expect("assignment", rocprofiler_assign_callback_thread(buffer, thread), SDK_SUCCESS);
}

static int initialize(void (*finalize)(struct sdk_client), void *data)
{
	static const int symbols[] = {SDK_CODE_OBJECT_KERNEL_SYMBOL};
	int is_active = 1;

	say("process %d", (int)getpid());
	end = getenv("CLIENT_ENDS") ? finalize : NULL;
	expect("context", rocprofiler_create_context(&always), SDK_SUCCESS);
	expect("code objects",
	       rocprofiler_configure_callback_tracing_service(always, SDK_CALLBACK_CODE_OBJECT,
							      symbols, 1, take_kernel, NULL),
	       SDK_SUCCESS);
	expect("start", rocprofiler_start_context(always), SDK_SUCCESS);
	configure_collecting();
	expect("activity", rocprofiler_context_is_active(collecting, &is_active), SDK_SUCCESS);
	expect("not active", is_active, 0);
	if (!getenv("CLIENT_KERNELS"))
		expect("start", rocprofiler_start_context(collecting), SDK_SUCCESS);
	return 0;
}

/* For a program that looks for it. */
void sdk_client_flush(void);
__attribute__((visibility("default"))) void sdk_client_flush(void)
{
	expect("a flush that the program asks for", rocprofiler_flush_buffer(buffer), SDK_SUCCESS);
}

static void finish(void *data)
{
	expect("a thread, before and after", told, 2);
	say("flushed %s", rocprofiler_get_status_name((unsigned)rocprofiler_flush_buffer(buffer)));
	say("finished");
	fclose(out);
}

__attribute__((visibility("default"))) void exit(int status)
{
	void (*own)(int status) __attribute__((noreturn));

	*(void **)&own = dlsym(RTLD_NEXT, "exit");
	if (end)
		end((struct sdk_client){sizeof(struct sdk_client), "client", 1});
	own(status);
}

/* The library makes one thread. */
static void take_thread(int library, void *data)
{
	expect("the library of a thread", library, SDK_LIBRARY_SDK);
	++*(int *)data;
}

static struct sdk_configuration *configure(uint32_t version, const char *text, uint32_t priority,
					   struct sdk_client *client)
{
	static struct sdk_configuration configuration = {sizeof(configuration), initialize, finish,
							 NULL};

	expect("version", (int)version, SDK_VERSION);
	expect("threads",
	       rocprofiler_at_internal_thread_create(take_thread, take_thread, 15, &told),
	       SDK_SUCCESS);
	client->name = "client";
	return &configuration;
}

/* ---- a thread that stops and starts ---- */

static pthread_t toggler;
static _Atomic bool is_ending;

static void *toggle(void *count)
{
	unsigned seed = 1;

	/* At least once, also if the program ends before this thread runs. */
	for (uintptr_t i = 0; i < (uintptr_t)count && (i == 0 || !is_ending); i++) {
		expect("stop", rocprofiler_stop_context(collecting), SDK_SUCCESS);
		if (rand_r(&seed) % 4 == 0)
			expect("flush", rocprofiler_flush_buffer(buffer), SDK_SUCCESS);
		for (int yields = rand_r(&seed) % 64; yields; yields--)
			sched_yield();
		expect("start", rocprofiler_start_context(collecting), SDK_SUCCESS);
		for (int yields = rand_r(&seed) % 512; yields; yields--)
			sched_yield();
		say("toggled");
	}
	return NULL;
}

/* Before the library's handler, which was registered earlier. */
static void end_toggling(void)
{
	is_ending = true;
	pthread_join(toggler, NULL);
}

static void begin_toggling(const char *count)
{
	if (pthread_create(&toggler, NULL, toggle, (void *)(uintptr_t)atoi(count)) != 0)
		_Exit(3);
	atexit(end_toggling);
}

/* Where the library finds the client itself. */
struct sdk_configuration *rocprofiler_configure(uint32_t version, const char *text,
						uint32_t priority, struct sdk_client *client);
__attribute__((visibility("default"))) struct sdk_configuration *
rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
		      struct sdk_client *client)
{
	return out ? configure(version, text, priority, client) : NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CLIENT_OUT");

	if (!path)
		return;
	out = fopen(path, "we");
	unsetenv("CLIENT_OUT");
	if (!out)
		_Exit(3);
	/* What is written is there however the process ends. */
	setvbuf(out, NULL, _IOLBF, 0);
	if (getenv("CLIENT_WAITS"))
		return;
	if (getenv("CLIENT_REFUSED")) {
		expect("configuration beside another SDK",
		       rocprofiler_force_configure(rocprofiler_configure), SDK_ERROR_NOT_AVAILABLE);
		return;
	}
	expect("a context outside of the configuration", rocprofiler_create_context(&always),
	       SDK_ERROR_CONFIGURATION_LOCKED);
	expect("configuration", rocprofiler_force_configure(rocprofiler_configure), SDK_SUCCESS);
	expect("a second configuration", rocprofiler_force_configure(rocprofiler_configure),
	       SDK_ERROR_CONFIGURATION_LOCKED);
	if (getenv("CLIENT_TOGGLES"))
		begin_toggling(getenv("CLIENT_TOGGLES"));
}
