/* The types that HIP's functions take by value, or by a pointer that dagtap follows, for code that
 * must not depend on the headers of one version. The layouts are the same from HIP 5.2 on;
 * tests/capture_hip compares them with the installed headers. Handles are plain pointers here,
 * enums are int. */
#ifndef VENDOR_HIP_TYPES_H
#define VENDOR_HIP_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* hipError_t */
enum {
	HIP_OK = 0,
	HIP_INVALID_VALUE = 1,
	HIP_OUT_OF_MEMORY = 2,
	HIP_NOT_SUPPORTED = 801,
	HIP_CAPTURE_UNMATCHED = 903,
	HIP_CAPTURE_WRONG_THREAD = 908,
	HIP_GRAPH_EXEC_UPDATE_FAILURE = 910,
};

/* Stream values that are not handles. These streams cannot be captured, so the runtime need not be
 * asked. */
#define HIP_STREAM_LEGACY     1
#define HIP_STREAM_PER_THREAD 2

/* hipStreamNonBlocking */
#define HIP_STREAM_NON_BLOCKING 1
#define HIP_EVENT_NO_TIMING	2

struct hip_dim3 {
	uint32_t x, y, z;
};

struct hip_extent {
	size_t width, height, depth;
};

struct hip_pitched {
	void *ptr;
	size_t pitch, xsize, ysize;
};

struct hip_position {
	size_t x, y, z;
};

struct hip_ipc_handle {
	char reserved[64];
};

struct hip_channel {
	int x, y, z, w, f;
};

/* HIP_ARRAY_DESCRIPTOR and HIP_ARRAY3D_DESCRIPTOR */
struct hip_array {
	size_t width, height;
	uint32_t format;
	uint32_t channels;
};

struct hip_array_3d {
	size_t width, height, depth;
	uint32_t format;
	uint32_t channels;
	uint32_t flags;
};

/* hipArray_Format: the formats of one byte and of four; the others have two. */
enum {
	HIP_FORMAT_U8 = 0x01,
	HIP_FORMAT_U32 = 0x03,
	HIP_FORMAT_I8 = 0x08,
	HIP_FORMAT_I32 = 0x0a,
	HIP_FORMAT_FLOAT = 0x20,
};

struct hip_location {
	int type, id;
};

/* The fields of hipLaunchConfig_t and HIP_LAUNCH_CONFIG up to the stream. The two types differ
 * only in the name and width of the size before it. */
struct hip_launch_config {
	struct hip_dim3 grid, block;
	uint64_t shared_bytes;
	void *stream;
};
_Static_assert(offsetof(struct hip_launch_config, stream) == 32, "as in HIP 7.2");

struct hip_kernel_params {
	struct hip_dim3 block;
	void **extra;
	void *function;
	struct hip_dim3 grid;
	void **arguments;
	uint32_t shared_bytes;
};

struct hip_memset_params {
	void *dst;
	uint32_t element_bytes;
	size_t height, pitch;
	uint32_t value;
	size_t width;
};

struct hip_copy_params {
	void *src_array;
	struct hip_position src_position;
	struct hip_pitched src;
	void *dst_array;
	struct hip_position dst_position;
	struct hip_pitched dst;
	struct hip_extent extent;
	int kind;
};

/* hipMemcpyKind */
enum hip_copy_kind {
	HIP_COPY_HOST_TO_HOST,
	HIP_COPY_HOST_TO_DEVICE,
	HIP_COPY_DEVICE_TO_HOST,
	HIP_COPY_DEVICE_TO_DEVICE,
	HIP_COPY_DEFAULT,
};

/* hipHostNodeParams */
struct hip_host_params {
	void (*function)(void *user);
	void *user;
};

/* hipMemAllocNodeParams: HIP 5.5 and later. */
struct hip_alloc_params {
	int allocation_type, handle_types;
	struct hip_location location;
	char reserved[72];
	const void *access;
	size_t access_count;
	size_t bytes;
	void *address;
};

/* hipMemLocationType */
enum { HIP_LOCATION_DEVICE = 1 };

/* hipGraphInstantiateFlags */
enum { HIP_GRAPH_FREE_ON_LAUNCH = 1 };

/* hipGraphInstantiateParams: HIP 6.1 and later. */
struct hip_instantiate_params {
	void *error_node;
	unsigned long long flags;
	int result;
	void *upload_stream;
};

/* hipStreamCaptureMode */
enum { HIP_CAPTURE_MODE_THREAD_LOCAL = 1, HIP_CAPTURE_MODE_RELAXED = 2 };

/* hipStreamUpdateCaptureDependenciesFlags */
enum { HIP_SET_CAPTURE_DEPENDENCIES = 1 };

/* hipLaunchKernel's `extra` */
#define HIP_EXTRA_BUFFER_POINTER ((void *)1)
#define HIP_EXTRA_BUFFER_SIZE	 ((void *)2)
#define HIP_EXTRA_END		 ((void *)3)

enum hip_capture_status { HIP_CAPTURE_NONE, HIP_CAPTURE_ACTIVE, HIP_CAPTURE_INVALIDATED };

/* hipLaunchAttributeID and hipLaunchAttributeValue, as far as they are used. */
enum hip_attribute { HIP_ATTRIBUTE_COOPERATIVE = 2 };
union hip_attribute_value {
	char pad[64];
	int cooperative;
};

#endif
