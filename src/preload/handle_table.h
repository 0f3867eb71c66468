/* A hash table from a driver's handles to numbers or pointers: open addressing; a removed entry
 * keeps its handle without a value until the table grows.
 *
 * Threading: the owner's lock. Any number of threads may look up while nobody changes. */
#ifndef DAGPATCH_PRELOAD_HANDLE_TABLE_H
#define DAGPATCH_PRELOAD_HANDLE_TABLE_H

#include <stdint.h>

struct handle_entry {
	void *handle;	/* NULL: free */
	uint64_t value; /* 0: none */
};

/* Zero is an empty table. */
struct handle_table {
	struct handle_entry *entries;
	uint32_t entry_count; /* a power of two, or 0 */
	uint32_t used;	      /* entries with a handle */
};

/* Returns the entry of HANDLE, or NULL; it may have no value. Valid until the next put. */
struct handle_entry *handle_table_find(const struct handle_table *table, const void *handle);

/* Gives HANDLE, which is not NULL, this value. -ENOMEM: nothing has changed. */
int handle_table_put(struct handle_table *table, void *handle, uint64_t value);

/* Removes HANDLE. Returns its value, or 0. */
uint64_t handle_table_remove(struct handle_table *table, const void *handle);

/* Frees the table's memory. */
void handle_table_release(struct handle_table *table);

/* Removes all handles; keeps the memory. */
void handle_table_clear(struct handle_table *table);

#endif
