/* Kernels of loaded code objects: from a packet's kernel_object to the id that was valid when the
 * packet was submitted. Addresses are used again after unloading, ids never. */
#ifndef CAPTURE_HSA_KERNELS_H
#define CAPTURE_HSA_KERNELS_H

#include <stdint.h>

#include "capture/hsa/object_map.h"

extern struct object_map hsa_kernel_map;

/* Records those that are loaded once more, for another recording. */
void hsa_kernels_record(void);

/* 0 = unknown. Lock-free. */
static inline uint32_t hsa_kernels_find(uint64_t kernel_object)
{
	const struct object *entry = object_map_find(&hsa_kernel_map, kernel_object);

	return entry ? (uint32_t)atomic_load_explicit(&entry->word, memory_order_relaxed) : 0;
}

#endif
