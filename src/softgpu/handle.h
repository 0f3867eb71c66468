/* Handles that can be checked. A handle holds the kind of thing it names, the slot of its owner in
 * a table, the generation of that slot, and the index of a part of the owner (a symbol, a loaded
 * code object). The generation tells a reused slot from its former owner.
 *
 * Threading: the caller must hold its own lock for every call with the same table. */
#ifndef SOFTGPU_HANDLE_H
#define SOFTGPU_HANDLE_H

#include <stdint.h>

#define HANDLE_MAX_INDEX 0xffffffu

struct handle_slot {
	void *item;	     /* the owner; NULL: the slot is free */
	uint16_t generation; /* how often an owner was removed from the slot, modulo 65,536 */
};

/* Zeroed at first. */
struct handle_table {
	struct handle_slot *slots; /* owned */
	uint32_t count;		   /* free slots included */
};

/* The kind of thing that a handle names. A handle of another kind than asked for is unknown. */
enum handle_kind {
	HANDLE_READER = 1,
	HANDLE_EXECUTABLE,
	HANDLE_SYMBOL,
	HANDLE_LOADED_OBJECT,
	HANDLE_MEMORY,
};

/* Adds ITEM, which stays the caller's. Gives a handle of KIND with index 0. Returns 0, or -ENOMEM
 * also when the table has 2^20 slots. Cost: a scan for the first free slot. */
int handle_add(struct handle_table *table, enum handle_kind kind, void *item, uint64_t *ret_handle);

/* Returns the owner of HANDLE; NULL when HANDLE is of another kind, or its owner was removed, or it
 * never existed. */
void *handle_find(const struct handle_table *table, enum handle_kind kind, uint64_t handle);

/* Removes the owner of HANDLE and returns it; NULL as in handle_find. All handles of that owner are
 * unknown afterwards. */
void *handle_remove(struct handle_table *table, enum handle_kind kind, uint64_t handle);

/* Returns a handle of KIND for the owner of HANDLE, with INDEX, at most HANDLE_MAX_INDEX. */
uint64_t handle_inner(uint64_t handle, enum handle_kind kind, uint32_t index);
/* Returns the index that handle_inner put into HANDLE. */
uint32_t handle_index(uint64_t handle);

#endif
