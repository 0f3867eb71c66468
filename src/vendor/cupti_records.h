/* CUPTI's activity records, as far as they are read: 8-byte aligned, each begins with its kind.
 *
 * CUPTI appends new fields to its records, so each layout here is the beginning of a record. Not
 * all accepted versions of CUPTI have all fields: the CUPTI_WITH_ constants of
 * vendor/cupti_types.h are the first versions that have a field. */
#ifndef DAGTAP_VENDOR_CUPTI_RECORDS_H
#define DAGTAP_VENDOR_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_RECORD struct __attribute__((packed, aligned(8)))

CUPTI_RECORD cupti_activity
{
	uint32_t kind;
};

CUPTI_RECORD cupti_kernel
{
	uint32_t kind;
	uint8_t cacheConfig;
	uint8_t sharedMemoryConfig;
	uint16_t registersPerThread;
	uint32_t partitionedGlobalCacheRequested;
	uint32_t partitionedGlobalCacheExecuted;
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t deviceId;
	uint32_t contextId;
	uint32_t streamId;
	int32_t gridX, gridY, gridZ;
	int32_t blockX, blockY, blockZ;
	int32_t staticSharedMemory;
	int32_t dynamicSharedMemory;
	uint32_t localMemoryPerThread;
	uint32_t localMemoryTotal;
	uint32_t correlationId;
	int64_t gridId;
	const char *name;
	void *reserved0;
	uint64_t queued;
	uint64_t submitted;
	uint8_t launchType;
	uint8_t isSharedMemoryCarveoutRequested;
	uint8_t sharedMemoryCarveoutRequested;
	uint8_t padding;
	uint32_t sharedMemoryExecuted;
	uint64_t graphNodeId;
	uint32_t shmemLimitConfig;
	uint32_t graphId;
	void *pAccessPolicyWindow;
	uint32_t channelID;
	uint32_t channelType;
	uint32_t clusterX, clusterY, clusterZ;
};

CUPTI_RECORD cupti_memcpy
{
	uint32_t kind;
	uint8_t copyKind;
	uint8_t srcKind;
	uint8_t dstKind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t deviceId;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t correlationId;
	uint32_t runtimeCorrelationId;
	uint32_t pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId;
};

CUPTI_RECORD cupti_memcpy_peer
{
	uint32_t kind;
	uint8_t copyKind;
	uint8_t srcKind;
	uint8_t dstKind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t deviceId;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t srcDeviceId;
	uint32_t srcContextId;
	uint32_t dstDeviceId;
	uint32_t dstContextId;
	uint32_t correlationId;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId;
};

CUPTI_RECORD cupti_memset
{
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t deviceId;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t correlationId;
	uint16_t flags;
	uint16_t memoryKind;
	uint32_t pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId;
};

CUPTI_RECORD cupti_memory
{
	uint32_t kind;
	uint32_t memoryOperationType; /* 1 allocation, 2 release */
	uint32_t memoryKind;
	uint32_t correlationId;
	uint64_t address;
	uint64_t bytes;
	uint64_t timestamp;
	uint64_t PC;
	uint32_t processId;
	uint32_t deviceId;
	uint32_t contextId;
	uint32_t streamId;
};

/* The kind of overhead that has overheadData. */
#define CUPTI_OVERHEAD_COMMAND_BUFFER_FULL (6u << 16)

/* Fields from correlationId on need CUPTI_WITH_OVERHEAD_CALL; overheadData needs
 * CUPTI_WITH_OVERHEAD_DATA. */
CUPTI_RECORD cupti_overhead
{
	uint32_t kind;
	uint32_t overheadKind;
	uint32_t objectKind;
	uint32_t objectId[3]; /* process and thread, or device, context and stream */
	uint64_t start;
	uint64_t end;
	uint32_t correlationId;
	uint32_t reserved0;
	void *overheadData; /* allocated with malloc; the tracer frees it */
};

CUPTI_RECORD cupti_stream
{
	uint32_t kind;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t priority;
	uint32_t flag; /* enum record_cuda_stream_kind */
	uint32_t correlationId;
};

/* Fields from deviceId on need CUPTI_WITH_EVENT_ORDER. */
CUPTI_RECORD cupti_cuda_event
{
	uint32_t kind;
	uint32_t correlationId;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t eventId;
	uint32_t pad;
	uint32_t deviceId;
	uint32_t pad2;
	void *reserved0;
	uint64_t deviceTimestamp;
	uint64_t cudaEventSyncId;
};

/* Fields from cudaEventSyncId on need CUPTI_WITH_EVENT_ORDER. */
CUPTI_RECORD cupti_synchronization
{
	uint32_t kind;
	uint32_t type;
	uint64_t start;
	uint64_t end;
	uint32_t correlationId;
	uint32_t contextId;
	uint32_t streamId;
	uint32_t cudaEventId;
	uint64_t cudaEventSyncId;
	uint32_t returnValue;
};

CUPTI_RECORD cupti_device
{
	uint32_t kind;
	uint32_t flags;
	uint64_t globalMemoryBandwidth;
	uint64_t globalMemorySize;
	uint32_t constantMemorySize;
	uint32_t l2CacheSize;
	uint32_t numThreadsPerWarp;
	uint32_t coreClockRate;
	uint32_t numMemcpyEngines;
	uint32_t numMultiprocessors;
	uint32_t limits[14];
	uint32_t computeCapabilityMajor;
	uint32_t computeCapabilityMinor;
	uint32_t id;
	uint32_t eccEnabled;
	uint8_t uuid[16];
	const char *name;
	uint8_t isCudaVisible;
	uint8_t isMigEnabled;
	uint8_t reserved[6];
	uint32_t gpuInstanceId;
	uint32_t computeInstanceId;
	uint8_t migUuid[16];
};

#endif
