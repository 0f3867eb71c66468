/* What the HSA interface has gained since ROCR 5.2.3, whose headers the tree is built with: types
 * and functions as ROCR 7.2 declares them, and its dispatch tables. The core table and the
 * finalizer's table are the same; the extension table of major version 2 has new functions in its
 * middle, too. If the installed headers have all this, they are used instead. */
#ifndef VENDOR_HSA_NEWER_H
#define VENDOR_HSA_NEWER_H

#include "vendor/hsa_newest.h"
#include "vendor/hsa_scratch_events.h"
#include "vendor/hsa_tables.h"
#include "vendor/hsa_tables_2.h"

#if HSA_AMD_INTERFACE_VERSION_MINOR == 0

#define HSA_ACCESS_PERMISSION_NONE 0

/* hsa_system_info_t */
#define HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED	      0x204
#define HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED 0x205

/* hsa_amd_agent_info_t */
#define HSA_AMD_AGENT_INFO_MEMORY_AVAIL		 0xA015
#define HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY	 0xA016
#define HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID	 0xA107
#define HSA_AMD_AGENT_INFO_UCODE_VERSION	 0xA108
#define HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION	 0xA109
#define HSA_AMD_AGENT_INFO_NUM_SDMA_ENG		 0xA10A
#define HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG	 0xA10B
#define HSA_AMD_AGENT_INFO_IOMMU_SUPPORT	 0xA110
#define HSA_AMD_AGENT_INFO_NUM_XCC		 0xA111
#define HSA_AMD_AGENT_INFO_DRIVER_UID		 0xA112
#define HSA_AMD_AGENT_INFO_NEAREST_CPU		 0xA113
#define HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES	 0xA114
#define HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX	 0xA116
#define HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT 0xA117
#define HSA_AMD_AGENT_INFO_CLOCK_COUNTERS	 0xA118

/* hsa_amd_memory_pool_info_t */
#define HSA_AMD_MEMORY_POOL_INFO_LOCATION		   17
#define HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE 18

/* hsa_amd_pointer_type_t */
#define HSA_EXT_POINTER_TYPE_RESERVED_ADDR 5
#define HSA_EXT_POINTER_TYPE_HSA_VMEM	   6

typedef struct hsa_amd_clock_counters_s {
	uint64_t gpu_clock_counter;
	uint64_t cpu_clock_counter;
	uint64_t system_clock_counter;
	uint64_t system_clock_frequency;
} hsa_amd_clock_counters_t;

typedef struct hsa_amd_vmem_alloc_handle_s {
	uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;

typedef struct hsa_amd_memory_access_desc_s {
	hsa_access_permission_t permissions;
	hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;

typedef struct hsa_amd_ais_file_handle_s {
	union {
		void *handle;
		int fd;
		uint8_t pad[8];
	};
} hsa_amd_ais_file_handle_t;

typedef struct hsa_ext_sampler_descriptor_v2_s {
	hsa_ext_sampler_coordinate_mode32_t coordinate_mode;
	hsa_ext_sampler_filter_mode32_t filter_mode;
	hsa_ext_sampler_addressing_mode32_t address_modes[3];
} hsa_ext_sampler_descriptor_v2_t;

typedef enum { MEMORY_TYPE_NONE, MEMORY_TYPE_PINNED } hsa_amd_memory_type_t;

hsa_status_t hsa_amd_memory_async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
						 hsa_agent_t src_agent, size_t size,
						 uint32_t num_dep_signals,
						 const hsa_signal_t *dep_signals,
						 hsa_signal_t completion_signal, uint32_t engine_id,
						 bool force_copy_on_sdma);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent,
					       uint32_t *engine_ids_mask);
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent, hsa_agent_t src_agent,
						      uint32_t *recommended_ids_mask);
hsa_status_t hsa_amd_spm_acquire(hsa_agent_t preferred_agent);
hsa_status_t hsa_amd_spm_release(hsa_agent_t preferred_agent);
hsa_status_t hsa_amd_spm_set_dest_buffer(hsa_agent_t preferred_agent, size_t size_in_bytes,
					 uint32_t *timeout, uint32_t *size_copied, void *dest,
					 bool *is_data_loss);
hsa_status_t hsa_amd_portable_export_dmabuf(const void *ptr, size_t size, int *dmabuf,
					    uint64_t *offset);
hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void *ptr, size_t size, int *dmabuf,
					       uint64_t *offset, uint64_t flags);
hsa_status_t hsa_amd_portable_close_dmabuf(int dmabuf);
hsa_status_t hsa_amd_vmem_address_reserve(void **va, size_t size, uint64_t address, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_reserve_align(void **va, size_t size, uint64_t address,
						uint64_t alignment, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_free(void *va, size_t size);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
					hsa_amd_memory_type_t type, uint64_t flags,
					hsa_amd_vmem_alloc_handle_t *memory_handle);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle);
hsa_status_t hsa_amd_vmem_map(void *va, size_t size, size_t in_offset,
			      hsa_amd_vmem_alloc_handle_t memory_handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_unmap(void *va, size_t size);
hsa_status_t hsa_amd_vmem_set_access(void *va, size_t size,
				     const hsa_amd_memory_access_desc_t *desc, size_t desc_cnt);
hsa_status_t hsa_amd_vmem_get_access(void *va, hsa_access_permission_t *perms,
				     hsa_agent_t agent_handle);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int *dmabuf_fd,
						  hsa_amd_vmem_alloc_handle_t handle,
						  uint64_t flags);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int dmabuf_fd,
						  hsa_amd_vmem_alloc_handle_t *handle);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t *memory_handle,
					      void *addr);
hsa_status_t
hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t memory_handle,
					      hsa_amd_memory_pool_t *pool,
					      hsa_amd_memory_type_t *type);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold);
hsa_status_t hsa_amd_enable_logging(uint8_t *flags, void *file);
uint32_t hsa_amd_signal_wait_all(uint32_t signal_count, hsa_signal_t *signals,
				 hsa_signal_condition_t *conds, hsa_signal_value_t *values,
				 uint64_t timeout_hint, hsa_wait_state_t wait_hint,
				 hsa_signal_value_t *satisfying_values);
hsa_status_t hsa_amd_ais_file_write(hsa_amd_ais_file_handle_t handle, void *device_ptr,
				    uint64_t size, int64_t file_offset, uint64_t *size_copied,
				    int32_t *status);
hsa_status_t hsa_amd_ais_file_read(hsa_amd_ais_file_handle_t handle, void *device_ptr,
				   uint64_t size, int64_t file_offset, uint64_t *size_copied,
				   int32_t *status);
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent,
				       const hsa_ext_sampler_descriptor_v2_t *sampler_descriptor,
				       hsa_ext_sampler_t *sampler);

#endif

/* Versions of the tables: root, core and finalizer, extension, image. The extension and image
 * tables count their steps. */
#define HSA_NEWER_ROOT_MAJOR	3
#define HSA_NEWER_ROOT_STEP	1
#define HSA_NEWER_TABLE_MAJOR	2
#define HSA_NEWER_AMD_STEP	18 /* AMD's interface version 1.31 */
/* ROCR 7.2.4's extension table ends before this function. */
#define HSA_NEWER_AMD_STEP_7_2	8
#define HSA_NEWER_AMD_BYTES_7_2 HSA_EXT_2_hsa_amd_counted_queue_acquire
/* ROCR 6.4.3's extension table ends before this function. */
#define HSA_NEWER_AMD_STEP_6_4	5
#define HSA_NEWER_AMD_BYTES_6_4 HSA_EXT_2_hsa_amd_memory_get_preferred_copy_engine
#define HSA_NEWER_IMAGE_STEP	1

/* The functions that follow those of the image table of major version 1. */
#define HSA_NEWER_IMAGE_EXT_TABLE(N) N(13, hsa_ext_sampler_create_v2)

#define HSA_NEWER_SLOT(index, name) __typeof__(name) *name##_fn;

struct hsa_newer_amd_ext_table {
	struct hsa_table_version version;
	HSA_AMD_EXT_TABLE_2(HSA_NEWER_SLOT)
};

struct hsa_newer_image_ext_table {
	struct hsa_image_ext_table old;
	HSA_NEWER_IMAGE_EXT_TABLE(HSA_NEWER_SLOT)
};
#undef HSA_NEWER_SLOT

struct hsa_newer_tools_table {
	struct hsa_table_version version;
	hsa_scratch_function *slot[HSA_SCRATCH_SLOTS];
};

/* dagtap uses only the position of PC sampling in the table. */

struct hsa_newer_pc_sampling_table {
	struct hsa_table_version version;
	hsa_status_t (*slot[7])(void);
};

/* The pointers of the root table point to structs such as struct hsa_newer_amd_ext_table. */
struct hsa_newer_api_table {
	struct hsa_api_table old;
	struct hsa_newer_tools_table *tools;
	struct hsa_newer_pc_sampling_table *pc_sampling;
};

_Static_assert(sizeof(struct hsa_newer_api_table) == 64, "HsaApiTable");
_Static_assert(sizeof(struct hsa_newer_amd_ext_table) == 744, "AmdExtTable");
_Static_assert(HSA_NEWER_AMD_BYTES_7_2 == 624, "AmdExtTable of ROCR 7.2.4");
_Static_assert(sizeof(struct hsa_newer_image_ext_table) == 128, "ImageExtTable");
_Static_assert(offsetof(struct hsa_newer_amd_ext_table, hsa_amd_memory_async_copy_on_engine_fn) ==
		       144,
	       "hsa_amd_memory_async_copy_on_engine");

#endif
