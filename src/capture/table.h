/* Dispatch tables that a vendor's library hands over (rocprofiler_set_api_table): a size in bytes,
 * then pointers to functions, in an order that only ever grows at the end.
 *
 * A table is used as far as it reaches: a slot beyond its size, or without a function, is left alone,
 * and slots that came after our list was made are not known. A library of a major version that the list
 * does not speak of may have changed what a slot means: nothing of its table is touched.
 *
 * Threading: a table is taken by the thread that hands it over, others may be calling through it. What
 * was taken stays so: a table that comes again is known, and left as it is. */
#ifndef DAGTAP_CAPTURE_TABLE_H
#define DAGTAP_CAPTURE_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/frame.h"

struct table_slot {
	uint32_t op; /* index into the lists of what is behind the wrappers */
	void (*wrappers[DOOR_TABLES])(void);
};

/* What lies where, made from a checked-in list. */
struct table_layout {
	const struct table_slot *slots; /* by place in the table; without wrappers = not wrapped */
	size_t slot_count;
};

/* Where a table of one kind is received. All but the state is constant. */
struct table_door {
	const char *name;		  /* of the SOURCE record */
	uint32_t major_first, major_last; /* of the library: what the list speaks of */
	const struct table_layout *layout;
	void *_Atomic *nexts[DOOR_TABLES]; /* by op: what was in the slots */

	struct table_state {
		pthread_mutex_t lock;
		uint32_t
			count; /* of tables that came, more than DOOR_TABLES = the others are left alone */
		struct table_taken {
			const void *table;
			uint32_t lib_version; /* 10000 * major + 100 * minor + patch */
			size_t size_bytes;
			size_t wrapped_count; /* 0 = refused */
		} taken[DOOR_TABLES];
	} state;
};

/* Wraps a table. 0, also when it was there before or is one too many; -ENOTSUP when it is of another
 * major version or no table at all. */
int table_take(struct table_door *door, void *table, uint64_t lib_version);

/* What became of the tables, as a SOURCE record; nothing if none came. While a session is on. */
void table_tell(struct table_door *door);

/* For a fork child, whose parent's other threads are gone. */
void table_reset(struct table_door *door);

#endif
