/* The registry of memory blocks: what lies at a device address. device_memory.c, memory_lock.c and
 * pointer_info.c make blocks, change them and release them; all other code asks through
 * device_memory.h.
 *
 * Threading: any thread may call any function. A block of the registry is read and changed between
 * blocks_lock and blocks_unlock; a block that is not in it belongs to its thread. */
#ifndef SOFTGPU_MEMORY_BLOCK_H
#define SOFTGPU_MEMORY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa_ext_amd.h>

#include "softgpu/agent.h"
#include "softgpu/pool.h"

/* A deallocation callback. */
struct notifier {
	hsa_amd_deallocation_callback_t callback;
	void *user_data;
	struct notifier *next;
};

/* A range of device addresses: a pool allocation or a mapping of vmem.c, where the device address
 * is the host address, or a locked range, where it is an alias. Ranges are whole pages and do not
 * overlap. */
struct memory_block {
	uintptr_t begin; /* device address */
	size_t bytes;
	uintptr_t host_begin;
	bool is_locked;
	bool is_mapping;       /* of vmem.c, which owns the memory */
	size_t lock_lead;      /* offset in the first page of the memory that the program locked */
	size_t lock_bytes;     /* size of that memory */
	uint32_t lock_count;   /* locks of exactly that memory, which share this block */
	uint32_t global_flags; /* hsa_amd_memory_pool_global_flag_t, for pointer information */
	struct softgpu_agent *owner;
	struct agent_set access;    /* the agents that were given access */
	void *user_data;	    /* the program's */
	struct notifier *notifiers; /* owned */
	struct memory_block *next_locked;
};

/* The size of the whole pages that hold BYTES. */
static inline size_t block_bytes(size_t bytes)
{
	return (bytes + POOL_GRANULE_BYTES - 1) & ~(size_t)(POOL_GRANULE_BYTES - 1);
}

/* Take and release the lock of the registry. */
void blocks_lock(void);
void blocks_unlock(void);

/* Under lock. The block that contains a device address; NULL when there is none. */
struct memory_block *block_find(const void *address);

/* Under lock. The locked block that contains a host address; NULL when there is none. This needs a
 * scan, because the host addresses of locked ranges may overlap. */
struct memory_block *block_find_locked_host(const void *address);

/* Under lock. The most recent block of a range that was locked at HOST_ADDRESS with this size, or,
 * when BYTES is 0, with any size; NULL when there is none. */
struct memory_block *block_find_lock(const void *host_address, size_t bytes);

/* Maps memory for BLOCK, of which bytes is set to whole pages, and enters it into the registry.
 * PROTECTION is PROT_NONE for the alias of a locked range. False: out of memory, nothing is
 * mapped. */
bool block_map(struct memory_block *block, int protection);

/* Takes the lock. Adds a block that block_map has entered to the locked ones. */
void block_list_lock(struct memory_block *block);

/* Under lock. Removes the block from the registry; its memory and the struct are the caller's. */
void block_remove(struct memory_block *block);

#endif
