/* Kernels of loaded code objects: maps a packet's kernel_object to the kernel id that is valid when
 * the packet is submitted. Addresses are used again after a code object is unloaded, ids never. */
#ifndef CAPTURE_HSA_KERNELS_H
#define CAPTURE_HSA_KERNELS_H

#include <stdint.h>

#include "capture/hsa/object_map.h"

extern struct object_map hsa_kernel_map;

/* Writes the KERNEL records of all loaded kernels, for a recording after the first. The runtime
 * must be open. Takes a lock and allocates. */
void hsa_kernels_record(void);

/* Returns the id of the kernel at KERNEL_OBJECT, or 0 when it is unknown. Any thread, lock-free. */
static inline uint32_t hsa_kernels_find(uint64_t kernel_object)
{
	const struct object *entry = object_map_find(&hsa_kernel_map, kernel_object);

	return entry ? (uint32_t)atomic_load_explicit(&entry->word, memory_order_relaxed) : 0;
}

#endif
