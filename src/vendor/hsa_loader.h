/* The part of AMD's HSA loader extension (version 1.0) that tells where loaded code objects lie
 * in memory, for code that must not depend on its headers. tests/patch compares it with the
 * installed header. */
#ifndef VENDOR_HSA_LOADER_H
#define VENDOR_HSA_LOADER_H

#include <stddef.h>
#include <stdint.h>

enum { HSA_LOADER_EXTENSION = 0x201, HSA_LOADER_STORAGE_MEMORY = 2 };

/* hsa_ven_amd_loader_segment_descriptor_t */
struct hsa_loader_segment {
	uint64_t agent;
	uint64_t executable;
	int storage_type;
	const void *storage;
	size_t storage_bytes;
	size_t storage_offset;
	const void *segment;
	size_t segment_bytes;
};

/* hsa_ven_amd_loader_1_00_pfn_t. The functions return an hsa_status_t; 0 is success. */
struct hsa_loader_table {
	int (*query_host_address)(const void *device_address, const void **ret_host_address);
	int (*query_segment_descriptors)(struct hsa_loader_segment *ret_segments, size_t *count);
	int (*query_executable)(const void *device_address, uint64_t *ret_executable);
};

#endif
