/* Pools, allocations, locked (pinned) ranges and pointer information. Device memory is host
 * memory; hsa_amd_memory_lock gives an alias address (a reserved, unmapped range), which whoever
 * dereferences device pointers must translate (software-HSA rule: HIP aborts on identity). */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The host address behind a device address: alias ranges are mapped back, all else is returned as
 * it is. Lock-free when nothing is locked. */
void *memory_translate(const void *device_address);

/* Rewrites, in a private copy of a kernel's arguments, each aligned 8-byte word that points into
 * an alias range. */
void memory_translate_words(void *words, size_t bytes);

/* True when ADDRESS lies in a live pool allocation (any pool). */
bool memory_is_pool_address(const void *address);

#endif
