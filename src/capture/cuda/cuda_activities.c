/* Writes CUPTI's activity records; see cuda_activities.h. */
#include "capture/cuda/cuda_activities.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_cid.h"
#include "capture/cuda/cuda_names.h"
#include "capture/cuda/cupti.h"

#define OBJECT_THREAD 2 /* CUpti_ActivityObjectKind */
#define DEVICES_MOST  64

/* Filled by the one thread that reads records. is_known is set last, with release; it pairs with
 * the acquire in cuda_devices_record. */
static struct known_device {
	struct record_agent agent; /* valid once is_known is set */
	_Atomic bool is_known;
} devices[DEVICES_MOST];

_Atomic uint64_t cuda_delivered[CUDA_DELIVERED_COUNT];

/* Values that do not fit become UINT16_MAX. */
static uint16_t narrow(int64_t value)
{
	return value < 0 || value > UINT16_MAX ? UINT16_MAX : (uint16_t)value;
}

static void record_kernel(const struct cupti_kernel *kernel)
{
	uint32_t name = cuda_names_id(kernel->name);
	struct writer *writer = session_writer();
	struct record_cuda_kernel *record =
		writer_reserve(writer, RECORD_CUDA_KERNEL, sizeof(*record));

	if (!record)
		return;
	record->cid = cuda_cid_work(kernel->correlationId);
	record->start = kernel->start;
	record->end = kernel->end;
	record->node = kernel->graphNodeId;
	record->graph = kernel->graphId;
	record->device = kernel->deviceId;
	record->context = kernel->contextId;
	record->stream = kernel->streamId;
	record->grid[0] = (uint32_t)kernel->gridX;
	record->grid[1] = (uint32_t)kernel->gridY;
	record->grid[2] = (uint32_t)kernel->gridZ;
	record->static_bytes = (uint32_t)kernel->staticSharedMemory;
	record->dynamic_bytes = (uint32_t)kernel->dynamicSharedMemory;
	record->local_bytes = kernel->localMemoryPerThread;
	record->block[0] = narrow(kernel->blockX);
	record->block[1] = narrow(kernel->blockY);
	record->block[2] = narrow(kernel->blockZ);
	record->registers = kernel->registersPerThread;
	record->cluster[0] = narrow(kernel->clusterX);
	record->cluster[1] = narrow(kernel->clusterY);
	record->cluster[2] = narrow(kernel->clusterZ);
	writer_commit(writer, record, RECORD_CUDA_KERNEL, sizeof(*record), name);
}

/* The fields that CUPTI's copy, peer copy and memset records share, at different places in each. */
#define COPIED_FROM(activity)                                                                      \
	.cid = cuda_cid_work((activity)->correlationId), .start = (activity)->start,               \
	.end = (activity)->end, .node = (activity)->graphNodeId, .graph = (activity)->graphId,     \
	.device = (activity)->deviceId, .context = (activity)->contextId,                          \
	.stream = (activity)->streamId, .bytes = (activity)->bytes

static void record_memcpy(const struct cupti_memcpy *copy)
{
	struct record_cuda_copy record = {
		COPIED_FROM(copy),	     .direction = copy->copyKind,
		.src_memory = copy->srcKind, .dst_memory = copy->dstKind,
		.flags = copy->flags,
	};

	writer_put(session_writer(), RECORD_CUDA_COPY, RECORD_CUDA_COPY_MEMCPY, &record,
		   sizeof(record));
}

static void record_peer(const struct cupti_memcpy_peer *copy)
{
	struct record_cuda_copy record = {
		COPIED_FROM(copy),
		.src_device = copy->srcDeviceId,
		.dst_device = copy->dstDeviceId,
		.direction = copy->copyKind,
		.src_memory = copy->srcKind,
		.dst_memory = copy->dstKind,
		.flags = copy->flags,
	};

	writer_put(session_writer(), RECORD_CUDA_COPY, RECORD_CUDA_COPY_PEER, &record,
		   sizeof(record));
}

static void record_memset(const struct cupti_memset *fill)
{
	struct record_cuda_copy record = {
		COPIED_FROM(fill),
		.value = fill->value,
		.dst_memory = (uint8_t)fill->memoryKind,
		.flags = (uint8_t)fill->flags,
	};

	writer_put(session_writer(), RECORD_CUDA_COPY, RECORD_CUDA_COPY_MEMSET, &record,
		   sizeof(record));
}

static void record_sync(const struct cupti_synchronization *sync)
{
	bool is_ordered = cupti.version >= CUPTI_WITH_EVENT_ORDER &&
			  sync->cudaEventSyncId != UINT32_MAX &&
			  sync->cudaEventSyncId != UINT64_MAX;
	struct record_cuda_sync record = {
		.cid = cuda_cid(sync->correlationId),
		.start = sync->start,
		.end = sync->end,
		.order = is_ordered ? sync->cudaEventSyncId : 0,
		.context = sync->contextId,
		.stream = sync->streamId,
		.event = sync->cudaEventId,
		.result = cupti.version >= CUPTI_WITH_EVENT_ORDER ? (int32_t)sync->returnValue : 0,
	};

	writer_put(session_writer(), RECORD_CUDA_SYNC, sync->type, &record, sizeof(record));
}

static void record_event(const struct cupti_cuda_event *event)
{
	struct record_cuda_event record = {
		.cid = cuda_cid(event->correlationId),
		.device = RECORD_CUDA_NONE,
		.context = event->contextId,
		.stream = event->streamId,
	};

	if (cupti.version >= CUPTI_WITH_EVENT_ORDER) {
		record.time = event->deviceTimestamp;
		record.order = event->cudaEventSyncId;
		record.device = event->deviceId;
	}
	writer_put(session_writer(), RECORD_CUDA_EVENT, event->eventId, &record, sizeof(record));
}

static void record_stream(const struct cupti_stream *stream)
{
	struct record_cuda_stream record = {
		.cid = cuda_cid(stream->correlationId),
		.context = stream->contextId,
		.kind = stream->flag,
		.priority = stream->priority,
	};

	writer_put(session_writer(), RECORD_CUDA_STREAM, stream->streamId, &record, sizeof(record));
}

static void record_memory(const struct cupti_memory *memory)
{
	struct record_cuda_memory record = {
		.cid = cuda_cid(memory->correlationId),
		.time = memory->timestamp,
		.address = memory->address,
		.bytes = memory->bytes,
		.device = memory->deviceId,
		.context = memory->contextId,
		.stream = memory->streamId,
		.memory = memory->memoryKind,
	};

	writer_put(session_writer(), RECORD_CUDA_MEMORY, memory->memoryOperationType, &record,
		   sizeof(record));
}

static void record_overhead(const struct cupti_overhead *overhead)
{
	bool has_call = cupti.version >= CUPTI_WITH_OVERHEAD_CALL;
	struct record_cuda_overhead record = {
		.cid = has_call ? cuda_cid(overhead->correlationId) : 0,
		.start = overhead->start,
		.end = overhead->end,
		.tid = overhead->objectKind == OBJECT_THREAD ? overhead->objectId[1] : 0,
	};

	writer_put(session_writer(), RECORD_CUDA_OVERHEAD, overhead->overheadKind, &record,
		   sizeof(record));
	if (cupti.version >= CUPTI_WITH_OVERHEAD_DATA &&
	    overhead->overheadKind == CUPTI_OVERHEAD_COMMAND_BUFFER_FULL)
		free(overhead->overheadData);
}

/* Writes the uuid as hexadecimal digits, which fill the field and are not terminated. */
static void put_uuid(char ret_text[32], const uint8_t uuid[16])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 16; i++) {
		ret_text[2 * i] = digits[uuid[i] >> 4];
		ret_text[2 * i + 1] = digits[uuid[i] & 15];
	}
}

static void write_device(uint32_t device, const struct record_agent *agent)
{
	writer_put(session_writer(), RECORD_AGENT, RECORD_CUDA_AGENT_FIRST + device, agent,
		   sizeof(*agent));
}

void cuda_devices_record(void)
{
	for (uint32_t i = 0; i < DEVICES_MOST; i++) {
		if (atomic_load_explicit(&devices[i].is_known, memory_order_acquire))
			write_device(i, &devices[i].agent);
	}
}

static void keep_device(uint32_t device, const struct record_agent *agent)
{
	if (device >= DEVICES_MOST ||
	    atomic_load_explicit(&devices[device].is_known, memory_order_relaxed))
		return;
	devices[device].agent = *agent;
	atomic_store_explicit(&devices[device].is_known, true, memory_order_release);
}

static void record_device(const struct cupti_device *device)
{
	struct record_agent record = {
		.handle = RECORD_CUDA_AGENT_FIRST + device->id,
		.tick_hz = 1000000000,
		.is_gpu = 1,
		.gpu_ordinal = device->id,
		.memory_bytes = device->globalMemorySize,
		.compute_units = device->numMultiprocessors,
		.wave_size = device->numThreadsPerWarp,
		.memory_bytes_per_s = device->globalMemoryBandwidth * 1000,
		.clock_khz = device->coreClockRate,
	};

	snprintf(record.name, sizeof(record.name), "sm_%u%u", device->computeCapabilityMajor,
		 device->computeCapabilityMinor);
	if (device->name)
		memcpy(record.product, device->name, strnlen(device->name, sizeof(record.product)));
	/* An instance of a partitioned GPU (MIG) has the id of its GPU, and a uuid of its own. */
	put_uuid(record.uuid, device->isMigEnabled ? device->migUuid : device->uuid);
	write_device(device->id, &record);
	keep_device(device->id, &record);
}

static void count(enum cuda_delivered what)
{
	/* Only one thread at a time stores, so this needs no atomic addition. */
	atomic_store_explicit(&cuda_delivered[what],
			      atomic_load_explicit(&cuda_delivered[what], memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

bool cuda_activity_is_skippable(const struct cupti_activity *activity)
{
	switch (activity->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
	case CUPTI_KIND_MEMCPY:
	case CUPTI_KIND_MEMCPY2:
	case CUPTI_KIND_MEMSET:
	case CUPTI_KIND_SYNCHRONIZATION:
	case CUPTI_KIND_CUDA_EVENT:
	case CUPTI_KIND_MEMORY2:
		return true;
	default:
		return false;
	}
}

void cuda_activity_record(const struct cupti_activity *activity)
{
	const void *at = activity;

	switch (activity->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		count(CUDA_DELIVERED_KERNELS);
		return record_kernel(at);
	case CUPTI_KIND_MEMCPY:
		count(CUDA_DELIVERED_COPIES);
		return record_memcpy(at);
	case CUPTI_KIND_MEMCPY2:
		count(CUDA_DELIVERED_COPIES);
		return record_peer(at);
	case CUPTI_KIND_MEMSET:
		count(CUDA_DELIVERED_COPIES);
		return record_memset(at);
	case CUPTI_KIND_SYNCHRONIZATION:
		count(CUDA_DELIVERED_OTHERS);
		return record_sync(at);
	case CUPTI_KIND_CUDA_EVENT:
		count(CUDA_DELIVERED_OTHERS);
		return record_event(at);
	case CUPTI_KIND_MEMORY2:
		count(CUDA_DELIVERED_OTHERS);
		return record_memory(at);
	case CUPTI_KIND_OVERHEAD:
		count(CUDA_DELIVERED_OTHERS);
		return record_overhead(at);
	case CUPTI_KIND_DEVICE:
		return record_device(at);
	case CUPTI_KIND_STREAM:
		return record_stream(at);
	default:
		count(CUDA_DELIVERED_OF_UNKNOWN_KINDS);
	}
}
