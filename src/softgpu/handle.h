/* Handles that can be checked: a slot in a table, a generation that tells a re-used slot from its
 * former owner, and an index of something inside the owner (a symbol, a loaded code object). The
 * caller locks. */
#ifndef SOFTGPU_HANDLE_H
#define SOFTGPU_HANDLE_H

#include <stdint.h>

#define HANDLE_MAX_INDEX 0xffffffu

struct handle_slot {
	void *item; /* NULL: free */
	uint16_t generation;
};

struct handle_table {
	struct handle_slot *slots;
	uint32_t count;
};

/* What kind of thing a handle names: it must match, or the handle is unknown. */
enum handle_kind {
	HANDLE_READER = 1,
	HANDLE_EXECUTABLE,
	HANDLE_SYMBOL,
	HANDLE_LOADED_OBJECT,
	HANDLE_MEMORY,
};

/* 0 with the handle of KIND and index 0; -ENOMEM. */
int handle_add(struct handle_table *table, enum handle_kind kind, void *item, uint64_t *ret_handle);

/* The owner of HANDLE; NULL when it is of another kind, or was removed, or never was. */
void *handle_find(const struct handle_table *table, enum handle_kind kind, uint64_t handle);

/* Takes the owner out: its handles are unknown from here on. */
void *handle_remove(struct handle_table *table, enum handle_kind kind, uint64_t handle);

/* A handle of another KIND for the owner of HANDLE, with INDEX in it; and that index back. */
uint64_t handle_inner(uint64_t handle, enum handle_kind kind, uint32_t index);
uint32_t handle_index(uint64_t handle);

#endif
