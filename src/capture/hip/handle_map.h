/* From a handle (any non-zero number, as a rule an address) to a non-zero number.
 *
 * Threading: handle_map_get from any thread without a lock, also while others change the map;
 * put and take lock. Whoever uses a handle while somebody else destroys it gets the old value or
 * none. Tables that have been replaced are kept, since a reader may still be in one: in all less
 * than twice the newest one's size. */
#ifndef DAGTAP_CAPTURE_HIP_HANDLE_MAP_H
#define DAGTAP_CAPTURE_HIP_HANDLE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct handle_table;

struct handle_map {
	struct handle_table *_Atomic table;
	_Atomic uint64_t reuses; /* of tables that readers may still have been in */
	pthread_mutex_t lock;
};

#define HANDLE_MAP_INIT                                                                            \
	{                                                                                          \
		NULL, 0, PTHREAD_MUTEX_INITIALIZER                                                 \
	}

/* 0 = not in the map. */
uint64_t handle_map_get(struct handle_map *map, uint64_t handle);

/* Adds or replaces. 0, or -ENOMEM. */
int handle_map_put(struct handle_map *map, uint64_t handle, uint64_t value);

/* Removes and returns the value, 0 = there was none. */
uint64_t handle_map_take(struct handle_map *map, uint64_t handle);

/* Empties the map and gives its memory back, whoever held its lock: for a fork child, whose other
 * threads are gone. */
void handle_map_reset(struct handle_map *map);

#endif
