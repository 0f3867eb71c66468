/* Dispatch tables that a vendor's library hands over (rocprofiler_set_api_table): a size in
 * bytes, then pointers to functions, in an order to which functions are only ever added at the
 * end.
 *
 * A table is wrapped as far as it reaches: a slot beyond its size, or without a function, is
 * left alone, and so are slots that are newer than our list. In a library of a major version
 * that the list does not cover, a slot may have another meaning: its table is not changed at
 * all.
 *
 * Threading: the thread that hands a table over calls table_take; other threads may be calling
 * through the table meanwhile. A wrapped table stays wrapped: one that comes again is recognised
 * and left as it is. */
#ifndef DAGTAP_CAPTURE_DISPATCH_TABLE_H
#define DAGTAP_CAPTURE_DISPATCH_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/frame.h"

struct table_slot {
	uint32_t function;		     /* index into nexts of the table_door */
	void (*wrappers[DOOR_TABLES])(void); /* by the number of the table */
};

/* The layout of a table, generated from a checked-in list. */
struct table_layout {
	/* By place in the table; a slot without wrappers is not wrapped. */
	const struct table_slot *slots;
	size_t slot_count;
};

/* Receives the tables of one kind. Everything but the state is constant. It is kept apart from the
 * layout, so that a capture source can tell of its tables without knowing the wrappers. */
struct table_door {
	const char *name;		  /* name in the SOURCE record */
	uint32_t major_first, major_last; /* versions of the library that the layout covers */
	/* By number of the table and function: the vendor's functions, as they were in the
	 * slots. */
	void *_Atomic *nexts[DOOR_TABLES];

	struct table_state {
		pthread_mutex_t lock; /* over all of state */
		/* Tables that were handed over. Those beyond DOOR_TABLES are left alone. */
		uint32_t count;
		struct table_taken {
			const void *table;    /* the library's memory */
			uint32_t lib_version; /* 10000 * major + 100 * minor + patch */
			size_t size_bytes;
			size_t wrapped_count; /* 0: refused */
		} taken[DOOR_TABLES];
		size_t slot_count; /* of the layout; valid once a table was handed over */
	} state;
};

/* Wraps the functions of TABLE, which the vendor's library owns. LAYOUT is that of DOOR's tables,
 * always the same for one DOOR. LIB_VERSION is 10000 * major + 100 * minor + patch. Returns 0,
 * also when the table was wrapped before or is beyond DOOR_TABLES; -ENOTSUP when its major version
 * is not covered or it is not a table. When a session is on, writes the SOURCE record. */
int table_take(struct table_door *door, const struct table_layout *layout, void *table,
	       uint64_t lib_version);

/* Writes a SOURCE record that says how far the tables were wrapped; nothing if none came. Call
 * while a session starts or is on. */
void table_tell(struct table_door *door);

/* In a fork child, where another thread of the parent may have held the lock. */
void table_reset(struct table_door *door);

#endif
