/* A map from handles (any numbers but 0, mostly addresses) to numbers that are not 0.
 *
 * Threading: any thread. handle_map_get takes no lock, also while other threads change the map;
 * put and take lock. A thread that looks up a handle while another thread removes it gets the
 * old value or none. Tables that were replaced by larger ones are kept, since a reader may still
 * use them; together they take less than twice the memory of the newest one. */
#ifndef DAGTAP_CAPTURE_HANDLE_MAP_H
#define DAGTAP_CAPTURE_HANDLE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct handle_table;

struct handle_map {
	struct handle_table *_Atomic table; /* the newest one; NULL: nothing was ever put */
	/* How often a table was cleared and used again while readers may have been in it. */
	_Atomic uint64_t reuses;
	pthread_mutex_t lock;
};

#define HANDLE_MAP_INIT                                                                            \
	{                                                                                          \
		NULL, 0, PTHREAD_MUTEX_INITIALIZER                                                 \
	}

/* Returns the value of HANDLE; 0: it is not in the map. */
uint64_t handle_map_get(struct handle_map *map, uint64_t handle);

/* Adds HANDLE, which is not 0, or replaces its value. VALUE is not 0. Returns 0 or -ENOMEM. */
int handle_map_put(struct handle_map *map, uint64_t handle, uint64_t value);

/* Removes HANDLE and returns its value; 0: it was not in the map. */
uint64_t handle_map_take(struct handle_map *map, uint64_t handle);

/* In a fork child, where another thread of the parent may have held the lock: empties the map
 * and frees its memory. */
void handle_map_reset(struct handle_map *map);

#endif
