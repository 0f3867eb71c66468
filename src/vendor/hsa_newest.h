/* What the HSA interface has gained since ROCR 7.2, up to AMD's interface version 1.31: types and
 * functions as ROCR declares them in hsa/hsa_ext_amd.h. hsa_tables_2.h has their positions in the
 * extension table; a runtime has a function only if the size in its table reaches that far. If the
 * installed headers have all this, they are used instead. */
#ifndef VENDOR_HSA_NEWEST_H
#define VENDOR_HSA_NEWEST_H

#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>

#if HSA_AMD_INTERFACE_VERSION_MINOR == 0

/* ---- queues ---- */

typedef enum {
	HSA_AMD_QUEUE_INFO_AGENT,
	HSA_AMD_QUEUE_INFO_DOORBELL_ID,
	HSA_QUEUE_INFO_USE_COUNT, /* counted queues: handles that share the hardware queue */
	HSA_QUEUE_INFO_HW_ID,
	HSA_AMD_QUEUE_INFO_ENGINE_TYPE = 13,
	HSA_AMD_QUEUE_INFO_SDMA_ENGINE_ID,
	HSA_AMD_QUEUE_INFO_READ_POINTER,
	HSA_AMD_QUEUE_INFO_WRITE_POINTER,
} hsa_queue_info_attribute_t;

typedef enum {
	HSA_AMD_QUEUE_CREATE_SYSTEM_MEM = 0,
	HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF = 1,
	HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR = 2,
} hsa_amd_queue_create_flag_t;

typedef enum {
	HSA_AMD_QUEUE_ENGINE_COMPUTE,
	HSA_AMD_QUEUE_ENGINE_SDMA,
	HSA_AMD_QUEUE_ENGINE_AIE, /* reserved */
} hsa_amd_queue_engine_t;

#define HSA_AMD_SDMA_ENGINE_ID_ANY	     UINT32_MAX
#define HSA_AMD_QUEUE_CREATE_DESC_VERSION    1
#define HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT UINT32_MAX

typedef struct hsa_amd_compute_queue_params_s {
	const uint32_t *cu_mask;
	hsa_queue_type32_t type;
	uint32_t private_segment_size;
	uint32_t cu_mask_count; /* bits */
	uint32_t reserved[3];
} hsa_amd_compute_queue_params_t;

typedef struct hsa_amd_sdma_queue_params_s {
	uint32_t sdma_engine_id;
	uint32_t reserved[7];
} hsa_amd_sdma_queue_params_t;

typedef struct hsa_amd_queue_create_desc_s {
	uint16_t version;
	uint16_t flags;
	uint8_t engine_type;
	uint8_t reserved_header[3];
	uint32_t queue_size_bytes; /* the size in a copy engine's hsa_queue_t is in bytes, too */
	hsa_amd_queue_priority_t priority;
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *callback_data;
	hsa_queue_t *queue; /* written by the runtime; NULL: it could not create this queue */
	union {
		hsa_amd_compute_queue_params_t compute;
		hsa_amd_sdma_queue_params_t sdma;
		uint8_t reserved[32];
	} engine;
	uint32_t traffic_class;
	uint8_t reserved[20];
} hsa_amd_queue_create_desc_t;

_Static_assert(sizeof(hsa_amd_queue_create_desc_t) == 96, "hsa_amd_queue_create_desc_t");

hsa_status_t hsa_amd_queue_get_info(hsa_queue_t *queue, hsa_queue_info_attribute_t attribute,
				    void *value);
/* If it fails, some queues may have been created all the same: those whose queue is not NULL. */
hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, hsa_amd_queue_create_desc_t *descs,
				  uint32_t num_descs);
/* Returns a new handle for one of a few hardware queues, which exist until the runtime is shut
 * down. */
hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t agent, hsa_queue_type_t type,
					   hsa_amd_queue_priority_t priority,
					   void (*callback)(hsa_status_t status,
							    hsa_queue_t *source, void *data),
					   void *data, uint64_t flags, hsa_queue_t **queue);
hsa_status_t hsa_amd_counted_queue_release(hsa_queue_t *queue);

/* ---- copies ---- */

enum hsa_batch_copy_type {
	HSA_BATCH_COPY_LINEAR,
	HSA_BATCH_COPY_BROADCAST, /* one source, num_entries destinations */
	HSA_BATCH_COPY_SWAP,
	/* Types from 3 on have addresses that only the device knows. */
};

/* The fields that dagtap reads of one operation of hsa_amd_memory_async_batch_copy. */
struct hsa_batch_copy {
	uint16_t version;
	uint16_t type; /* enum hsa_batch_copy_type */
	uint16_t entry_count;
	uint16_t traffic_class;
	hsa_signal_t completion_signal;
	uint64_t src;
	hsa_agent_t src_agent;
	uint64_t dst_agent; /* a handle, or the address of a list if there are several */
	uint64_t dst;	    /* likewise */
	uint64_t bytes;
	uint64_t reserved[9];
};
_Static_assert(sizeof(struct hsa_batch_copy) == 128, "as the runtime has it");

hsa_status_t hsa_amd_memory_async_batch_copy(const struct hsa_batch_copy *copies, uint32_t count,
					     uint32_t num_dep_signals,
					     const hsa_signal_t *dep_signals);

/* ---- functions of which dagtap uses only the positions in the table ---- */

typedef struct hsa_amd_external_semaphore_s {
	uint64_t handle;
} hsa_amd_external_semaphore_t;

typedef struct hsa_fabric_handle_s {
	uint8_t handle[16];
} hsa_fabric_handle_t;

hsa_status_t hsa_amd_agent_preload(hsa_agent_t agent, uint64_t flags);
hsa_status_t hsa_amd_svm_discard_batch_async(void **ptrs, size_t *sizes, uint32_t count,
					     uint32_t num_dep_signals,
					     const hsa_signal_t *dep_signals,
					     hsa_signal_t completion_signal);
hsa_status_t hsa_amd_signal_get_event_id(hsa_signal_t signal, uint32_t *event_id);
hsa_status_t hsa_amd_external_semaphore_handle_open(hsa_agent_t agent, const void *desc,
						    hsa_amd_external_semaphore_t *out_sem);
hsa_status_t hsa_amd_external_semaphore_handle_close(hsa_amd_external_semaphore_t sem);
hsa_status_t hsa_amd_vmem_export_fabric_handle(hsa_fabric_handle_t *fabric_handle, uint64_t handle,
					       uint64_t flags);
hsa_status_t hsa_amd_vmem_import_fabric_handle(hsa_fabric_handle_t fabric_handle, void *handle);
hsa_status_t hsa_amd_queue_signal_external_semaphore(hsa_queue_t *queue,
						     hsa_amd_external_semaphore_t sem,
						     uint64_t value);
hsa_status_t hsa_amd_queue_wait_external_semaphore(hsa_queue_t *queue,
						   hsa_amd_external_semaphore_t sem,
						   uint64_t value);
hsa_status_t hsa_amd_image_create_v2(hsa_agent_t agent, const void *image_descriptor,
				     const hsa_amd_image_descriptor_t *image_layout,
				     const void *image_data,
				     hsa_access_permission_t access_permission,
				     hsa_ext_image_t *image);
hsa_status_t hsa_amd_interop_map_buffer_with_size(uint32_t num_agents, hsa_agent_t *agents,
						  uint64_t interop_handle, uint32_t flags,
						  size_t size_hint, size_t *size, void **ptr,
						  size_t *metadata_size, const void **metadata);

#endif

#endif
