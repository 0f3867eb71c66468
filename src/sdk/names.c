/* Names of statuses, kinds and operations, and the functions that ask for them. */
#include "sdk/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sdk/sdk_contexts.h"
#include "sdk/sdk_export.h"

struct name_list {
	const char *const *names;
	int count;
};

static const char *const stream_operations[] = {"HIP_STREAM_NONE", "HIP_STREAM_CREATE",
						"HIP_STREAM_DESTROY", "HIP_STREAM_SET"};
static const char *const code_object_operations[] = {"CODE_OBJECT_NONE", "CODE_OBJECT_LOAD",
						     "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER",
						     "CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER"};
static const char *const dispatch_operations[] = {"KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
						  "KERNEL_DISPATCH_COMPLETE"};
static const char *const mark_operations[] = {"roctxMarkA",	"roctxRangePushA",
					      "roctxRangePop",	"roctxRangeStartA",
					      "roctxRangeStop", "roctxGetThreadId"};
static const char *const range_operations[] = {"roctxMarkA", "roctxThreadRangeA",
					       "roctxProcessRangeA", "roctxGetThreadId"};
static const char *const control_operations[] = {"roctxProfilerPause", "roctxProfilerResume"};
static const char *const naming_operations[] = {"roctxNameOsThread", "roctxNameHsaAgent",
						"roctxNameHipDevice", "roctxNameHipStream"};
static const char *const copy_operations[] = {
	"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
	"MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};

static const char *const allocation_operations[] = {
	"MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_VMEM_ALLOCATE",
	"MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE"};
static const char *const scratch_operations[] = {"SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
						 "SCRATCH_MEMORY_FREE",
						 "SCRATCH_MEMORY_ASYNC_RECLAIM"};

#define LIST(names)                                                                                \
	{                                                                                          \
		names, (int)(sizeof(names) / sizeof(*(names)))                                     \
	}

static const char *const callback_kinds[] = {
#define X(name) #name,
	SDK_CALLBACK_KINDS(X)
#undef X
};

static const char *const buffer_kinds[] = {
#define X(name) #name,
	SDK_BUFFER_KINDS(X)
#undef X
};

static const char *const request_kinds[] = {
#define X(name) #name,
	SDK_REQUEST_KINDS(X)
#undef X
};

static struct name_list callback_operations(int kind)
{
	switch (kind) {
	case SDK_CALLBACK_HIP_RUNTIME_API:
		return (struct name_list){sdk_hip_operations, sdk_hip_operation_count};
	case SDK_CALLBACK_MARKER_CORE_API:
		return (struct name_list)LIST(mark_operations);
	case SDK_CALLBACK_MARKER_CORE_RANGE_API:
		return (struct name_list)LIST(range_operations);
	case SDK_CALLBACK_MARKER_CONTROL_API:
		return (struct name_list)LIST(control_operations);
	case SDK_CALLBACK_MARKER_NAME_API:
		return (struct name_list)LIST(naming_operations);
	case SDK_CALLBACK_RCCL_API:
		return (struct name_list){sdk_rccl_operations, sdk_rccl_operation_count};
	case SDK_CALLBACK_HIP_STREAM:
		return (struct name_list)LIST(stream_operations);
	case SDK_CALLBACK_CODE_OBJECT:
		return (struct name_list)LIST(code_object_operations);
	case SDK_CALLBACK_MEMORY_ALLOCATION:
		return (struct name_list)LIST(allocation_operations);
	case SDK_CALLBACK_SCRATCH_MEMORY:
		return (struct name_list)LIST(scratch_operations);
	default:
		return (struct name_list){0};
	}
}

static struct name_list buffer_operations(int kind)
{
	switch (kind) {
	case SDK_BUFFER_HIP_RUNTIME_API:
		return (struct name_list){sdk_hip_operations, sdk_hip_operation_count};
	case SDK_BUFFER_MARKER_CORE_API:
		return (struct name_list)LIST(mark_operations);
	case SDK_BUFFER_MARKER_CORE_RANGE_API:
		return (struct name_list)LIST(range_operations);
	case SDK_BUFFER_MARKER_CONTROL_API:
		return (struct name_list)LIST(control_operations);
	case SDK_BUFFER_MARKER_NAME_API:
		return (struct name_list)LIST(naming_operations);
	case SDK_BUFFER_RCCL_API:
		return (struct name_list){sdk_rccl_operations, sdk_rccl_operation_count};
	case SDK_BUFFER_KERNEL_DISPATCH:
		return (struct name_list)LIST(dispatch_operations);
	case SDK_BUFFER_MEMORY_COPY:
		return (struct name_list)LIST(copy_operations);
	case SDK_BUFFER_MEMORY_ALLOCATION:
		return (struct name_list)LIST(allocation_operations);
	case SDK_BUFFER_SCRATCH_MEMORY:
		return (struct name_list)LIST(scratch_operations);
	default:
		return (struct name_list){0};
	}
}

/* Functions to which the interface gives another name: a function of HIP 5, and one whose name has
 * the number of its version. */
static const struct {
	const char *name, *operation;
} aliases[] = {
	{"hipGetDeviceProperties", "hipGetDevicePropertiesR0000"},
	{"hipChooseDeviceR0600", "hipChooseDevice"},
};

const char *const *sdk_mark_parameters(int kind, int *ret_count)
{
	static const char *const core[] = {"message:text", "message:text", "",
					   "message:text", "id:u64",	   "tid:ptr"};
	static const char *const ranges[] = {"message:text", "message:text", "message:text",
					     "tid:ptr"};
	static const char *const control[] = {"tid:u64", "tid:u64"};
	static const char *const naming[] = {"name:text", "name:text agent:ptr",
					     "name:text device_id:i32", "name:text stream:stream"};

	*ret_count = callback_operations(kind).count;
	switch (kind) {
	case SDK_CALLBACK_MARKER_CORE_API:
		return core;
	case SDK_CALLBACK_MARKER_CORE_RANGE_API:
		return ranges;
	case SDK_CALLBACK_MARKER_CONTROL_API:
		return control;
	case SDK_CALLBACK_MARKER_NAME_API:
		return naming;
	default:
		return NULL;
	}
}

static int find(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* HIP's operations by the hash of their names: number + 1, or 0. Each record of a call is looked
 * up. */
#define HIP_SLOTS 2048

_Static_assert(SDK_OPERATIONS < HIP_SLOTS / 2, "room for HIP's operations");

static uint16_t hip_slots[HIP_SLOTS];
static pthread_once_t hip_slots_once = PTHREAD_ONCE_INIT;

/* The slot that has NAME, or the free one where it belongs. */
static uint16_t *hip_slot(const char *name)
{
	size_t slot = hash_bytes(name, strlen(name)) % HIP_SLOTS;

	while (hip_slots[slot] && strcmp(sdk_hip_operations[hip_slots[slot] - 1], name) != 0)
		slot = (slot + 1) % HIP_SLOTS;
	return &hip_slots[slot];
}

static void fill_hip_slots(void)
{
	for (int i = 0; i < sdk_hip_operation_count; i++)
		*hip_slot(sdk_hip_operations[i]) = (uint16_t)(i + 1);
}

int sdk_hip_operation_find(const char *name)
{
	pthread_once(&hip_slots_once, fill_hip_slots);
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(aliases[i].name, name))
			name = aliases[i].operation;
	return *hip_slot(name) - 1;
}

int sdk_rccl_operation_find(const char *name)
{
	return find(sdk_rccl_operations, sdk_rccl_operation_count, name);
}

static int answer(struct name_list list, int number, enum sdk_status unknown, const char **ret_name,
		  uint64_t *ret_length)
{
	if (number < 0 || number >= list.count)
		return unknown;
	if (ret_name)
		*ret_name = list.names[number];
	if (ret_length)
		*ret_length = strlen(list.names[number]);
	return SDK_SUCCESS;
}

/* Kind 0 is given out, too, as by ROCm's library. */
static int iterate_kinds(int count, int (*callback)(int kind, void *data), void *data)
{
	for (int kind = 0; kind < count; kind++)
		if (callback(kind, data))
			break;
	return SDK_SUCCESS;
}

static int iterate_operations(struct name_list list, int kind,
			      int (*callback)(int kind, int operation, void *data), void *data)
{
	for (int operation = 0; operation < list.count; operation++)
		if (callback(kind, operation, data))
			break;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_iterate_callback_tracing_kinds(int (*callback)(int kind, void *data),
							  void *data)
{
	return iterate_kinds(SDK_CALLBACK_KIND_COUNT, callback, data);
}

SDK_EXPORT int rocprofiler_iterate_buffer_tracing_kinds(int (*callback)(int kind, void *data),
							void *data)
{
	return iterate_kinds(SDK_BUFFER_KIND_COUNT, callback, data);
}

SDK_EXPORT int rocprofiler_iterate_callback_tracing_kind_operations(
	int kind, int (*callback)(int kind, int operation, void *data), void *data)
{
	if (kind < 0 || kind >= SDK_CALLBACK_KIND_COUNT)
		return SDK_ERROR_KIND_NOT_FOUND;
	return iterate_operations(callback_operations(kind), kind, callback, data);
}

SDK_EXPORT int rocprofiler_iterate_buffer_tracing_kind_operations(
	int kind, int (*callback)(int kind, int operation, void *data), void *data)
{
	if (kind < 0 || kind >= SDK_BUFFER_KIND_COUNT)
		return SDK_ERROR_KIND_NOT_FOUND;
	return iterate_operations(buffer_operations(kind), kind, callback, data);
}

SDK_EXPORT int rocprofiler_query_callback_tracing_kind_name(int kind, const char **ret_name,
							    uint64_t *ret_length)
{
	return answer((struct name_list)LIST(callback_kinds), kind, SDK_ERROR_KIND_NOT_FOUND,
		      ret_name, ret_length);
}

SDK_EXPORT int rocprofiler_query_buffer_tracing_kind_name(int kind, const char **ret_name,
							  uint64_t *ret_length)
{
	return answer((struct name_list)LIST(buffer_kinds), kind, SDK_ERROR_KIND_NOT_FOUND,
		      ret_name, ret_length);
}

SDK_EXPORT int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int operation,
								      const char **ret_name,
								      uint64_t *ret_length)
{
	if (kind < 0 || kind >= SDK_CALLBACK_KIND_COUNT)
		return SDK_ERROR_KIND_NOT_FOUND;
	return answer(callback_operations(kind), operation, SDK_ERROR_OPERATION_NOT_FOUND, ret_name,
		      ret_length);
}

SDK_EXPORT int rocprofiler_query_buffer_tracing_kind_operation_name(int kind, int operation,
								    const char **ret_name,
								    uint64_t *ret_length)
{
	if (kind < 0 || kind >= SDK_BUFFER_KIND_COUNT)
		return SDK_ERROR_KIND_NOT_FOUND;
	return answer(buffer_operations(kind), operation, SDK_ERROR_OPERATION_NOT_FOUND, ret_name,
		      ret_length);
}

SDK_EXPORT int rocprofiler_query_external_correlation_id_request_kind_name(int kind,
									   const char **ret_name,
									   uint64_t *ret_length)
{
	return answer((struct name_list)LIST(request_kinds), kind, SDK_ERROR_KIND_NOT_FOUND,
		      ret_name, ret_length);
}

static const struct {
	const char *name, *text;
} statuses[] = {
#define X(name, text) {"ROCPROFILER_STATUS_" #name, text},
	SDK_STATUSES(X)
#undef X
};

SDK_EXPORT const char *rocprofiler_get_status_name(unsigned int status)
{
	return status < SDK_STATUS_COUNT ? statuses[status].name : NULL;
}

SDK_EXPORT const char *rocprofiler_get_status_string(unsigned int status)
{
	return status < SDK_STATUS_COUNT ? statuses[status].text : NULL;
}
