/* The functions by which a tool is configured, makes contexts, services and buffers, and starts and
 * stops them. */
#include "sdk/sdk_contexts.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "sdk/buffers.h"
#include "sdk/found_tool.h"
#include "sdk/injected.h"
#include "sdk/other_sdk.h"
#include "sdk/pushed.h"
#include "sdk/sdk_export.h"
#include "sdk/source.h"
#include "sdk/table_doors.h"
#include "sdk/time.h"

enum { IDLE, CONFIGURING, CONFIGURED };

static _Atomic int state;
static _Atomic int finalized;	 /* as rocprofiler_is_finalized gives it */
static _Atomic uint64_t exit_ns; /* when flushes end, since finalize has begun; 0: it has not */
static struct sdk_configuration *configuration;
static pid_t
	configured_pid; /* a child of fork has its parent's tool, and nothing of it runs there */
static struct sdk_client client = {sizeof(client), NULL, 1};
static uint64_t callback_threads;

/* Whether the tool's initialize runs: contexts and services may be made only then. */
static bool is_configuring(void)
{
	return atomic_load(&state) == CONFIGURING;
}

/* ---- registration ---- */

static void stop_all(void)
{
	for (uint64_t i = 1; i <= SDK_CONTEXTS; i++)
		rocprofiler_stop_context((struct sdk_id){i});
}

/* The limit of a flush that begins now. From finalize on there is one for all: a kernel that hangs
 * must not hold up the end of the process. */
static struct timer_limit flush_limit(void)
{
	uint64_t end_ns = atomic_load(&exit_ns);

	return end_ns ? (struct timer_limit){end_ns} : timer_start(TIMER_SDK_FLUSH);
}

/* Calls the tool's finalize once, with all that was collected delivered. */
static void finalize(void)
{
	int expected = 0;

	if (!configuration || getpid() != configured_pid ||
	    !atomic_compare_exchange_strong(&finalized, &expected, -1))
		return;
	other_sdk_note(true);
	stop_all();
	injected_end(NULL);
	atomic_store(&exit_ns, timer_start(TIMER_SDK_EXIT).end_ns);
	sdk_source_flush(flush_limit());
	if (configuration->finalize)
		configuration->finalize(configuration->data);
	atomic_store(&finalized, 1);
}

static void finalize_client(struct sdk_client unused)
{
	(void)unused;
	finalize();
}

static void drop_services(void)
{
	stop_all();
	memset(sdk_contexts, 0, sizeof(sdk_contexts));
}

SDK_EXPORT int rocprofiler_force_configure(sdk_configure *configure)
{
	const char *timers = getenv("DAGTAP_TIMERS"), *clock = getenv("DAGTAP_CLOCK");
	int expected = IDLE;

	if (!configure)
		return SDK_ERROR_INVALID_ARGUMENT;
	if (other_sdk_find(NULL, 0) || !injected_load())
		return SDK_ERROR_NOT_AVAILABLE;
	if (!atomic_compare_exchange_strong(&state, &expected, CONFIGURING))
		return SDK_ERROR_CONFIGURATION_LOCKED;
	if (timers)
		timer_configure(timers);
	/* The injected library has the same one. */
	if (clock)
		clock_take_page(clock);
	configured_pid = getpid();
	if (injected_own_symbol(INJECT_SYMBOL)) {
		table_doors_open();
		table_doors_take_tables();
	}
	configure = found_tool_of(configure, __builtin_return_address(0));
	configuration = configure(SDK_VERSION, SDK_VERSION_TEXT, 0, &client);
	if (configuration && configuration->initialize &&
	    configuration->initialize(finalize_client, configuration->data) != 0) {
		drop_services();
		configuration = NULL;
	}
	atomic_store(&state, CONFIGURED);
	if (configuration)
		atexit(finalize);
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_is_initialized(int *ret_status)
{
	int now = atomic_load(&state);

	*ret_status = now == CONFIGURED ? 1 : now == CONFIGURING ? -1 : 0;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_is_finalized(int *ret_status)
{
	*ret_status = atomic_load(&finalized);
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_get_version(uint32_t *ret_major, uint32_t *ret_minor,
				       uint32_t *ret_patch)
{
	if (ret_major)
		*ret_major = SDK_VERSION_MAJOR;
	if (ret_minor)
		*ret_minor = SDK_VERSION_MINOR;
	if (ret_patch)
		*ret_patch = SDK_VERSION_PATCH;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_get_version_triplet(uint32_t *ret_version)
{
	return rocprofiler_get_version(&ret_version[0], &ret_version[1], &ret_version[2]);
}

SDK_EXPORT int rocprofiler_get_timestamp(uint64_t *ret_ns)
{
	*ret_ns = sdk_time_of(clock_now_ns());
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_get_thread_id(uint64_t *ret_tid)
{
	*ret_tid = (uint64_t)syscall(SYS_gettid);
	return SDK_SUCCESS;
}

/* ---- contexts ---- */

SDK_EXPORT int rocprofiler_create_context(struct sdk_id *ret_context)
{
	if (!is_configuring())
		return SDK_ERROR_CONFIGURATION_LOCKED;
	for (uint64_t i = 0; i < SDK_CONTEXTS; i++) {
		if (sdk_contexts[i].is_used)
			continue;
		sdk_contexts[i].is_used = true;
		ret_context->handle = i + 1;
		return SDK_SUCCESS;
	}
	return SDK_ERROR_OUT_OF_RESOURCES;
}

SDK_EXPORT int rocprofiler_start_context(struct sdk_id id)
{
	struct sdk_context *context = sdk_context_find(id);
	uint32_t spans;

	if (!context)
		return SDK_ERROR_CONTEXT_NOT_FOUND;
	if (sdk_context_is_full(context, &spans) && sdk_source_flush(flush_limit()) == 0)
		sdk_context_flushed(context, spans);
	if (!sdk_context_start(context))
		return SDK_SUCCESS;
	if (sdk_source_start() < 0)
		return SDK_ERROR_OUT_OF_RESOURCES;
	if (sdk_contexts_want_records() && getpid() == configured_pid) {
		table_doors_take_tables();
		injected_begin();
	}
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_stop_context(struct sdk_id id)
{
	struct sdk_context *context = sdk_context_find(id);

	if (!context)
		return SDK_ERROR_CONTEXT_NOT_FOUND;
	if (sdk_context_stop(context))
		sdk_source_wake();
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_context_is_active(struct sdk_id id, int *ret_active)
{
	struct sdk_context *context = sdk_context_find(id);

	*ret_active = context && atomic_load(&context->is_started);
	return context ? SDK_SUCCESS : SDK_ERROR_CONTEXT_NOT_FOUND;
}

SDK_EXPORT int rocprofiler_context_is_valid(struct sdk_id id, int *ret_valid)
{
	*ret_valid = sdk_context_find(id) != NULL;
	return *ret_valid ? SDK_SUCCESS : SDK_ERROR_CONTEXT_NOT_FOUND;
}

/* ---- services ---- */

/* Returns SDK_SUCCESS and sets OPERATIONS to the LIST of COUNT ones; all if LIST is NULL. */
static int set_operations(struct sdk_operations *operations, const int *list, size_t count)
{
	if (operations->is_on)
		return SDK_ERROR_SERVICE_ALREADY_CONFIGURED;
	for (size_t i = 0; list && i < count; i++) {
		if (list[i] < 0 || list[i] >= SDK_OPERATIONS)
			return SDK_ERROR_OPERATION_NOT_FOUND;
		operations->bits[list[i] / 64] |= 1ull << list[i] % 64;
	}
	operations->is_all = !list || !count;
	operations->is_on = true;
	return SDK_SUCCESS;
}

/* The answer for a service of context ID, before its kind is looked at. */
static int check_service(struct sdk_id id)
{
	if (!is_configuring())
		return SDK_ERROR_CONFIGURATION_LOCKED;
	return sdk_context_find(id) ? SDK_SUCCESS : SDK_ERROR_CONTEXT_NOT_FOUND;
}

SDK_EXPORT int rocprofiler_configure_callback_tracing_service(struct sdk_id id, int kind,
							      const int *operations, size_t count,
							      sdk_callback *callback, void *data)
{
	struct sdk_callback_service *service;
	int status = check_service(id);

	if (status != SDK_SUCCESS)
		return status;
	if (kind <= SDK_CALLBACK_NONE || kind >= SDK_CALLBACK_KIND_COUNT)
		return SDK_ERROR_KIND_NOT_FOUND;
	if (!callback)
		return SDK_ERROR_INVALID_ARGUMENT;
	if (kind != SDK_CALLBACK_HIP_RUNTIME_API && kind != SDK_CALLBACK_HIP_STREAM &&
	    kind != SDK_CALLBACK_CODE_OBJECT && kind != SDK_CALLBACK_MARKER_CORE_API &&
	    kind != SDK_CALLBACK_MEMORY_ALLOCATION && kind != SDK_CALLBACK_SCRATCH_MEMORY &&
	    kind != SDK_CALLBACK_RCCL_API && kind != SDK_CALLBACK_MARKER_CONTROL_API &&
	    kind != SDK_CALLBACK_MARKER_NAME_API && kind != SDK_CALLBACK_MARKER_CORE_RANGE_API)
		return SDK_ERROR_NOT_IMPLEMENTED;
	service = &sdk_context_find(id)->callbacks[kind];
	status = set_operations(&service->operations, operations, count);
	if (status == SDK_SUCCESS) {
		service->callback = callback;
		service->data = data;
	}
	return status;
}

SDK_EXPORT int rocprofiler_configure_buffer_tracing_service(struct sdk_id id, int kind,
							    const int *operations, size_t count,
							    struct sdk_id buffer)
{
	struct sdk_buffer_service *service;
	int status = check_service(id);

	if (status != SDK_SUCCESS)
		return status;
	if (kind <= SDK_BUFFER_NONE || kind >= SDK_BUFFER_KIND_COUNT)
		return SDK_ERROR_KIND_NOT_FOUND;
	if (!sdk_buffer_find(buffer.handle))
		return SDK_ERROR_BUFFER_NOT_FOUND;
	if (kind != SDK_BUFFER_HIP_RUNTIME_API && kind != SDK_BUFFER_RCCL_API &&
	    kind != SDK_BUFFER_KERNEL_DISPATCH && kind != SDK_BUFFER_MEMORY_COPY &&
	    kind != SDK_BUFFER_MARKER_CORE_API && kind != SDK_BUFFER_CORRELATION_ID_RETIREMENT &&
	    kind != SDK_BUFFER_MEMORY_ALLOCATION && kind != SDK_BUFFER_SCRATCH_MEMORY &&
	    kind != SDK_BUFFER_MARKER_CONTROL_API && kind != SDK_BUFFER_MARKER_NAME_API &&
	    kind != SDK_BUFFER_MARKER_CORE_RANGE_API)
		return SDK_ERROR_NOT_IMPLEMENTED;
	service = &sdk_context_find(id)->buffers[kind];
	status = set_operations(&service->operations, operations, count);
	if (status == SDK_SUCCESS)
		service->buffer = (uint32_t)buffer.handle;
	return status;
}

SDK_EXPORT int rocprofiler_configure_external_correlation_id_request_service(
	struct sdk_id id, const int *kinds, size_t count, sdk_request *callback, void *data)
{
	struct sdk_request_service *service;
	int status = check_service(id);
	uint32_t wanted = 0;

	if (status != SDK_SUCCESS)
		return status;
	if (!callback || (kinds && !count))
		return SDK_ERROR_INVALID_ARGUMENT;
	service = &sdk_context_find(id)->request;
	if (service->is_on)
		return SDK_ERROR_SERVICE_ALREADY_CONFIGURED;
	for (size_t i = 0; kinds && i < count; i++) {
		if (kinds[i] <= SDK_REQUEST_NONE || kinds[i] >= SDK_REQUEST_KIND_COUNT)
			return SDK_ERROR_KIND_NOT_FOUND;
		wanted |= 1u << kinds[i];
	}
	service->kinds = kinds ? wanted : UINT32_MAX;
	service->callback = callback;
	service->data = data;
	service->is_on = true;
	return SDK_SUCCESS;
}

/* ---- external correlation ids ---- */

/* The answer for the ids of thread TID in context ID. */
static int check_thread(struct sdk_id id, uint64_t tid)
{
	if (!sdk_context_find(id))
		return SDK_ERROR_CONTEXT_NOT_FOUND;
	return tid && tid <= INT_MAX && syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) == 0
		       ? SDK_SUCCESS
		       : SDK_ERROR_INVALID_ARGUMENT;
}

SDK_EXPORT int rocprofiler_push_external_correlation_id(struct sdk_id id, uint64_t tid,
							union sdk_user value)
{
	int status = check_thread(id, tid);

	if (status != SDK_SUCCESS)
		return status;
	return pushed_push((uint32_t)id.handle - 1, tid, value.value) < 0
		       ? SDK_ERROR_OUT_OF_RESOURCES
		       : SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_pop_external_correlation_id(struct sdk_id id, uint64_t tid,
						       union sdk_user *ret_value)
{
	int status = check_thread(id, tid);
	uint64_t value;

	if (status != SDK_SUCCESS)
		return status;
	value = pushed_pop((uint32_t)id.handle - 1, tid);
	if (ret_value)
		ret_value->value = value;
	return SDK_SUCCESS;
}

/* ---- buffers ---- */

SDK_EXPORT int rocprofiler_create_buffer(struct sdk_id context, size_t size, size_t watermark,
					 int policy, sdk_buffer_callback *callback, void *data,
					 struct sdk_id *ret_buffer)
{
	const struct sdk_buffer like = {
		.context = context,
		.size = size,
		.watermark = watermark,
		.policy = policy,
		.callback = callback,
		.data = data,
	};
	int status = check_service(context);
	uint32_t number;

	if (status != SDK_SUCCESS)
		return status;
	if (!callback || (policy != SDK_POLICY_DISCARD && policy != SDK_POLICY_LOSSLESS))
		return SDK_ERROR_INVALID_ARGUMENT;
	number = sdk_buffer_make(&like);
	if (!number)
		return SDK_ERROR_OUT_OF_RESOURCES;
	ret_buffer->handle = number;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_destroy_buffer(struct sdk_id id)
{
	if (!sdk_buffer_find(id.handle))
		return SDK_ERROR_BUFFER_NOT_FOUND;
	return sdk_source_destroy(id.handle) < 0 ? SDK_ERROR_BUFFER_BUSY : SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_flush_buffer(struct sdk_id id)
{
	if (!sdk_buffer_find(id.handle))
		return SDK_ERROR_BUFFER_NOT_FOUND;
	return sdk_source_flush(flush_limit()) < 0 ? SDK_ERROR_BUFFER_BUSY : SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_create_callback_thread(struct sdk_id *ret_thread)
{
	if (!is_configuring())
		return SDK_ERROR_CONFIGURATION_LOCKED;
	ret_thread->handle = ++callback_threads;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_assign_callback_thread(struct sdk_id buffer, struct sdk_id thread)
{
	if (!sdk_buffer_find(buffer.handle))
		return SDK_ERROR_BUFFER_NOT_FOUND;
	return thread.handle && thread.handle <= callback_threads ? SDK_SUCCESS
								  : SDK_ERROR_THREAD_NOT_FOUND;
}
