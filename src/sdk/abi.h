/* Layouts of the profiling interface of ROCm (rocprofiler-sdk 1.x), as far as this library fills or
 * reads them. The names are ours, the sizes and offsets are the interface's; tests/sdk compares
 * them with its headers where these are. */
#ifndef DAGTAP_SDK_ABI_H
#define DAGTAP_SDK_ABI_H

#include <stddef.h>
#include <stdint.h>

#define SDK_VERSION_MAJOR 1
#define SDK_VERSION_MINOR 0
#define SDK_VERSION_PATCH 0
#define SDK_VERSION	  10000
#define SDK_VERSION_TEXT  "1.0.0-dagtap"

/* X(name, text): statuses in the interface's order, from 0. */
#define SDK_STATUSES(X)                                                                            \
	X(SUCCESS, "no error")                                                                     \
	X(ERROR, "error")                                                                          \
	X(ERROR_CONTEXT_NOT_FOUND, "no such context")                                              \
	X(ERROR_BUFFER_NOT_FOUND, "no such buffer")                                                \
	X(ERROR_KIND_NOT_FOUND, "no such kind")                                                    \
	X(ERROR_OPERATION_NOT_FOUND, "no such operation")                                          \
	X(ERROR_THREAD_NOT_FOUND, "no such thread")                                                \
	X(ERROR_AGENT_NOT_FOUND, "no such agent")                                                  \
	X(ERROR_COUNTER_NOT_FOUND, "no such counter")                                              \
	X(ERROR_CONTEXT_ERROR, "error of a context")                                               \
	X(ERROR_CONTEXT_INVALID, "context is not valid")                                           \
	X(ERROR_CONTEXT_NOT_STARTED, "context was not started")                                    \
	X(ERROR_CONTEXT_CONFLICT, "context conflicts with another one")                            \
	X(ERROR_CONTEXT_ID_NOT_ZERO, "context id is not 0")                                        \
	X(ERROR_BUFFER_BUSY, "buffer is busy")                                                     \
	X(ERROR_SERVICE_ALREADY_CONFIGURED, "service is configured already")                       \
	X(ERROR_CONFIGURATION_LOCKED, "only allowed while a tool is initialized")                  \
	X(ERROR_NOT_IMPLEMENTED, "not implemented")                                                \
	X(ERROR_INCOMPATIBLE_ABI, "struct of another version")                                     \
	X(ERROR_INVALID_ARGUMENT, "invalid argument")                                              \
	X(ERROR_METRIC_NOT_VALID_FOR_AGENT, "metric is not one of the agent")                      \
	X(ERROR_FINALIZED, "finalized already")                                                    \
	X(ERROR_HSA_NOT_LOADED, "HSA is not loaded")                                               \
	X(ERROR_DIM_NOT_FOUND, "no such dimension")                                                \
	X(ERROR_PROFILE_COUNTER_NOT_FOUND, "counter is not one of the profile")                    \
	X(ERROR_AST_GENERATION_FAILED, "expression could not be read")                             \
	X(ERROR_AST_NOT_FOUND, "no such expression")                                               \
	X(ERROR_AQL_NO_EVENT_COORD, "no such event coordinate")                                    \
	X(ERROR_INCOMPATIBLE_KERNEL, "driver is too old")                                          \
	X(ERROR_OUT_OF_RESOURCES, "out of resources")                                              \
	X(ERROR_PROFILE_NOT_FOUND, "no such profile")                                              \
	X(ERROR_AGENT_DISPATCH_CONFLICT, "agent and dispatch counting conflict")                   \
	X(INTERNAL_NO_AGENT_CONTEXT, "no context of the agent")                                    \
	X(ERROR_SAMPLE_RATE_EXCEEDED, "sample rate is too high")                                   \
	X(ERROR_NO_PROFILE_QUEUE, "no queue for the profile")                                      \
	X(ERROR_NO_HARDWARE_COUNTERS, "no hardware counters")                                      \
	X(ERROR_AGENT_MISMATCH, "agent is not that of the context")                                \
	X(ERROR_NOT_AVAILABLE, "not available")                                                    \
	X(ERROR_EXCEEDS_HW_LIMIT, "exceeds a limit of the hardware")                               \
	X(ERROR_AGENT_ARCH_NOT_SUPPORTED, "architecture is not supported")                         \
	X(ERROR_PERMISSION_DENIED, "permission denied")

enum sdk_status {
#define X(name, text) SDK_##name,
	SDK_STATUSES(X)
#undef X
		SDK_STATUS_COUNT
};

/* X(name): no kind, and the kinds of calls; the three lists of kinds below begin with them. */
#define SDK_API_KINDS(X)                                                                           \
	X(NONE)                                                                                    \
	X(HSA_CORE_API)                                                                            \
	X(HSA_AMD_EXT_API)                                                                         \
	X(HSA_IMAGE_EXT_API)                                                                       \
	X(HSA_FINALIZE_EXT_API)                                                                    \
	X(HIP_RUNTIME_API)                                                                         \
	X(HIP_COMPILER_API)                                                                        \
	X(MARKER_CORE_API)                                                                         \
	X(MARKER_CONTROL_API)                                                                      \
	X(MARKER_NAME_API)

/* X(name): kinds of callback tracing in the interface's order, from 0. */
#define SDK_CALLBACK_KINDS(X)                                                                      \
	SDK_API_KINDS(X)                                                                           \
	X(CODE_OBJECT)                                                                             \
	X(SCRATCH_MEMORY)                                                                          \
	X(KERNEL_DISPATCH)                                                                         \
	X(MEMORY_COPY)                                                                             \
	X(RCCL_API)                                                                                \
	X(OMPT)                                                                                    \
	X(MEMORY_ALLOCATION)                                                                       \
	X(RUNTIME_INITIALIZATION)                                                                  \
	X(ROCDECODE_API)                                                                           \
	X(ROCJPEG_API)                                                                             \
	X(HIP_STREAM)                                                                              \
	X(MARKER_CORE_RANGE_API)

enum sdk_callback_kind {
#define X(name) SDK_CALLBACK_##name,
	SDK_CALLBACK_KINDS(X)
#undef X
		SDK_CALLBACK_KIND_COUNT
};

/* X(name): kinds of buffer tracing, the same. */
#define SDK_BUFFER_KINDS(X)                                                                        \
	SDK_API_KINDS(X)                                                                           \
	X(MEMORY_COPY)                                                                             \
	X(KERNEL_DISPATCH)                                                                         \
	X(SCRATCH_MEMORY)                                                                          \
	X(CORRELATION_ID_RETIREMENT)                                                               \
	X(RCCL_API)                                                                                \
	X(OMPT)                                                                                    \
	X(MEMORY_ALLOCATION)                                                                       \
	X(RUNTIME_INITIALIZATION)                                                                  \
	X(ROCDECODE_API)                                                                           \
	X(ROCJPEG_API)                                                                             \
	X(HIP_STREAM)                                                                              \
	X(HIP_RUNTIME_API_EXT)                                                                     \
	X(HIP_COMPILER_API_EXT)                                                                    \
	X(ROCDECODE_API_EXT)                                                                       \
	X(KFD_EVENT_PAGE_MIGRATE)                                                                  \
	X(KFD_EVENT_PAGE_FAULT)                                                                    \
	X(KFD_EVENT_QUEUE)                                                                         \
	X(KFD_EVENT_UNMAP_FROM_GPU)                                                                \
	X(KFD_EVENT_DROPPED_EVENTS)                                                                \
	X(KFD_PAGE_MIGRATE)                                                                        \
	X(KFD_PAGE_FAULT)                                                                          \
	X(KFD_QUEUE)                                                                               \
	X(MARKER_CORE_RANGE_API)

enum sdk_buffer_kind {
#define X(name) SDK_BUFFER_##name,
	SDK_BUFFER_KINDS(X)
#undef X
		SDK_BUFFER_KIND_COUNT
};

/* X(name): kinds of requests for external correlation ids, the same. */
#define SDK_REQUEST_KINDS(X)                                                                       \
	SDK_API_KINDS(X)                                                                           \
	X(MEMORY_COPY)                                                                             \
	X(KERNEL_DISPATCH)                                                                         \
	X(SCRATCH_MEMORY)                                                                          \
	X(RCCL_API)                                                                                \
	X(OMPT)                                                                                    \
	X(MEMORY_ALLOCATION)                                                                       \
	X(ROCDECODE_API)                                                                           \
	X(ROCJPEG_API)                                                                             \
	X(MARKER_CORE_RANGE_API)

enum sdk_request_kind {
#define X(name) SDK_REQUEST_##name,
	SDK_REQUEST_KINDS(X)
#undef X
		SDK_REQUEST_KIND_COUNT
};

enum { SDK_CATEGORY_TRACING = 1 };
enum { SDK_LIBRARY_SDK = 1 }; /* among bits for runtimes */
enum { SDK_PHASE_NONE, SDK_PHASE_ENTER, SDK_PHASE_EXIT };
enum { SDK_POLICY_DISCARD = 1, SDK_POLICY_LOSSLESS = 2 };
enum { SDK_CODE_OBJECT_KERNEL_SYMBOL = 2 };
enum { SDK_HIP_STREAM_SET = 3 };
enum { SDK_DISPATCH_ENQUEUE = 1, SDK_DISPATCH_COMPLETE = 2 };
enum { SDK_COPY_NONE, SDK_COPY_H2H, SDK_COPY_H2D, SDK_COPY_D2H, SDK_COPY_D2D };
enum {
	SDK_ALLOCATION_NONE,
	SDK_ALLOCATION_ALLOCATE,
	SDK_ALLOCATION_VMEM_ALLOCATE,
	SDK_ALLOCATION_FREE,
	SDK_ALLOCATION_VMEM_FREE
};
enum { SDK_SCRATCH_NONE, SDK_SCRATCH_ALLOC, SDK_SCRATCH_FREE, SDK_SCRATCH_ASYNC_RECLAIM };
enum { SDK_AGENT_CPU = 1, SDK_AGENT_GPU = 2, SDK_AGENT_VERSION = 1 };

struct sdk_id {
	uint64_t handle;
};

union sdk_user {
	uint64_t value;
	void *ptr;
};

struct sdk_correlation {
	uint64_t internal;
	union sdk_user external;
	uint64_t ancestor;
};

struct sdk_async_correlation {
	uint64_t internal;
	union sdk_user external;
};

struct sdk_record_header {
	uint32_t category;
	uint32_t kind;
	void *payload;
};

/* Passed by value to callbacks of callback tracing. */
struct sdk_callback_record {
	struct sdk_id context;
	uint64_t tid;
	struct sdk_correlation correlation;
	uint32_t kind;
	int32_t operation;
	uint32_t phase;
	void *payload;
};

struct sdk_hip_record {
	uint64_t size;
	uint32_t kind;
	int32_t operation;
	struct sdk_correlation correlation;
	uint64_t start_ns, end_ns;
	uint64_t tid;
};

/* What records of calls and of memory begin with. */
struct sdk_record_head {
	uint64_t size;
	uint32_t kind;
	int32_t operation;
	struct sdk_correlation correlation;
};

struct sdk_allocation_record {
	struct sdk_record_head head;
	uint64_t tid;
	uint64_t start_ns, end_ns;
	struct sdk_id agent; /* 0 of what frees */
	uint64_t address;    /* or handle */
	uint64_t bytes;
};

struct sdk_allocation_data {
	uint64_t size;
	uint64_t start_ns, end_ns; /* 0 at the entry */
	struct sdk_id agent;
	uint64_t address;
	uint64_t bytes;
};

struct sdk_scratch_record {
	struct sdk_record_head head;
	struct sdk_id agent, queue;
	uint64_t tid;
	uint64_t start_ns, end_ns;
	uint32_t flags;
	uint64_t bytes;
};

struct sdk_scratch_data {
	uint64_t size;
	struct sdk_id agent, queue;
	uint32_t flags;
	uint32_t event; /* hsa_amd_tool_event_kind_t */
	uint64_t dispatch, bytes, slots;
};

struct sdk_dispatch_info {
	uint64_t size; /* without the padding */
	struct sdk_id agent, queue;
	uint64_t kernel, dispatch;
	uint32_t private_bytes, group_bytes;
	uint32_t workgroup[3], grid[3];
	uint8_t padding[56];
};

struct sdk_dispatch_record {
	uint64_t size;
	uint32_t kind;
	uint32_t operation;
	struct sdk_async_correlation correlation;
	uint64_t tid;
	uint64_t start_ns, end_ns;
	struct sdk_dispatch_info info;
};

struct sdk_copy_record {
	uint64_t size;
	uint32_t kind;
	uint32_t operation;
	struct sdk_async_correlation correlation;
	uint64_t tid;
	uint64_t start_ns, end_ns;
	struct sdk_id dst_agent, src_agent;
	uint64_t bytes;
	uint64_t dst, src;
};

struct sdk_kernel_symbol {
	uint64_t size;
	uint64_t kernel, code_object;
	const char *name;
	uint64_t object;
	uint32_t kernarg_bytes, kernarg_alignment;
	uint32_t group_bytes, private_bytes;
	uint32_t sgprs, vgprs, accum_vgprs;
	int64_t entry_offset;
	uint64_t address;
};

struct sdk_stream_data {
	uint64_t size;
	struct sdk_id stream;
	uint64_t handle;
};

#define SDK_ARGS_BYTES 88 /* the interface's union of all functions' arguments */

/* Of HIP calls. */
struct sdk_hip_data {
	uint64_t size;
	_Alignas(8) uint8_t args[SDK_ARGS_BYTES]; /* sdk/arguments.h */
	uint64_t result;			  /* a union of 24 bytes */
	uint64_t result_rest[2];
};

#define SDK_RCCL_ARGS_BYTES 152 /* the same for RCCL: ncclCommInitRankConfig's are the largest */

/* Of RCCL calls. */
struct sdk_rccl_data {
	uint64_t size;
	_Alignas(8) uint8_t args[SDK_RCCL_ARGS_BYTES];
	uint64_t result; /* a union of 8 bytes */
};

/* Of roctx's calls: what they take, mostly a message or a name first. */
struct sdk_mark_data {
	uint64_t size;
	uint64_t argument, second; /* a union of 16 bytes */
	uint64_t result;
};

struct sdk_retirement_record {
	uint64_t size;
	uint32_t kind;
	uint64_t timestamp_ns;
	uint64_t internal;
};

struct sdk_agent {
	uint64_t size;
	struct sdk_id id;
	uint32_t type, cpu_cores, simds, mem_banks_count, caches_count, io_links_count;
	uint32_t cpu_core_base, simd_base, max_waves_per_simd, lds_kib, gds_kib, gws_count;
	uint32_t wave_size, xcc_count, cu_count, array_count, shader_banks, arrays_per_engine;
	uint32_t cu_per_array, simd_per_cu, scratch_slots, gfx_version;
	uint16_t vendor, device;
	uint32_t location, domain, drm_minor, sdma_engines, sdma_xgmi_engines, sdma_queues;
	uint32_t cp_queues, max_clock_cpu, max_clock_gpu, sdma_version, version, capability;
	uint32_t cu_per_engine, max_waves_per_cu, family, max_workgroup, max_grid;
	uint64_t local_memory, hive, gpu_id;
	uint32_t max_workgroup_dim[3], max_grid_dim[3];
	const void *mem_banks, *caches, *io_links;
	const char *name, *vendor_name, *product_name, *model_name;
	uint32_t node;
	int32_t logical_node, logical_of_type;
	uint32_t visibility;
	uint8_t uuid[16];
};

struct sdk_client {
	size_t size;
	const char *name;
	uint32_t handle;
};

struct sdk_configuration {
	size_t size;
	int (*initialize)(void (*finalize)(struct sdk_client), void *data);
	void (*finalize)(void *data);
	void *data;
};

typedef struct sdk_configuration *sdk_configure(uint32_t version, const char *version_text,
						uint32_t priority, struct sdk_client *client);
typedef void sdk_buffer_callback(struct sdk_id context, struct sdk_id buffer,
				 struct sdk_record_header **headers, size_t count, void *data,
				 uint64_t dropped);
typedef void sdk_callback(struct sdk_callback_record record, union sdk_user *user, void *data);
typedef int sdk_request(uint64_t tid, struct sdk_id context, int kind, int operation,
			uint64_t internal, union sdk_user *ret_external, void *data);

/* An argument of a call: its number, its place, how many pointers lead to the value, its type and
 * name, the value as a text, and how many pointers were followed for that. Returns 0,
 * or another value to get no further arguments. */
typedef int sdk_args_callback(int kind, int operation, uint32_t number, const void *address,
			      int32_t indirections, const char *type, const char *name,
			      const char *value, int32_t followed, void *data);

_Static_assert(sizeof(struct sdk_callback_record) == 64, "layout");
_Static_assert(offsetof(struct sdk_callback_record, payload) == 56, "layout");
_Static_assert(sizeof(struct sdk_hip_record) == 64, "layout");
_Static_assert(sizeof(struct sdk_hip_data) == 120, "layout");
_Static_assert(sizeof(struct sdk_rccl_data) == 168, "layout");
_Static_assert(offsetof(struct sdk_rccl_data, args) == offsetof(struct sdk_hip_data, args),
	       "arguments of calls are at one place");
_Static_assert(offsetof(struct sdk_mark_data, argument) == offsetof(struct sdk_hip_data, args),
	       "the same");
_Static_assert(sizeof(struct sdk_mark_data) == 32, "layout");
_Static_assert(sizeof(struct sdk_retirement_record) == 32, "layout");
_Static_assert(sizeof(struct sdk_dispatch_info) == 128, "layout");
_Static_assert(sizeof(struct sdk_dispatch_record) == 184, "layout");
_Static_assert(sizeof(struct sdk_copy_record) == 96, "layout");
_Static_assert(sizeof(struct sdk_kernel_symbol) == 88, "layout");
_Static_assert(sizeof(struct sdk_agent) == 312, "layout");

#endif
