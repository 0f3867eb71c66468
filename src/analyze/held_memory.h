/* The memory that the program held: each allocation's life, and from these the live and the most
 * bytes of each kind of memory of each device, of each scope, stream and function, and over time.
 *
 * Threading: none; the caller owns the results. */
#ifndef DAGTAP_ANALYZE_HELD_MEMORY_H
#define DAGTAP_ANALYZE_HELD_MEMORY_H

#include "trace/trace_model.h"

/* An allocation, or a call that failed to allocate. Indices are TRACE_NONE if not known. */
struct memory_block {
	uint32_t process;
	uint32_t agent, stream, scope, call;
	enum record_memory_kind kind;
	int32_t result; /* not 0: it failed, and held nothing */
	bool is_live;	/* never released */
	uint64_t bytes;
	int64_t begin_ns;
	int64_t end_ns;	     /* INT64_MAX if it is live */
	uint32_t begin, end; /* positions among all begins and ends, in order of time */
};

struct memory_blocks {
	struct memory_block *rows; /* by begin */
	uint32_t count;
	uint32_t events_count; /* begins and ends */
	/* Releases of what was allocated before the recording, or by a call that has no row. */
	uint64_t unknown_releases;
};

/* Matches allocations and releases. An allocation at the address of a live one ends that one: its
 * release was not recorded. Of CUDA, the calls that failed are found by name. The caller releases
 * RET_BLOCKS. 0, or -ENOMEM with RET_BLOCKS unchanged. Cost: one sort of the operations. */
int memory_blocks_find(const struct trace *trace, struct memory_blocks *ret_blocks);
void memory_blocks_release(struct memory_blocks *blocks);

/* One kind of memory of one device in one process. */
struct memory_place {
	uint32_t process, agent; /* agent: TRACE_NONE if not known */
	enum record_memory_kind kind;
	uint64_t allocations, releases;
	uint64_t allocated_bytes;
	uint64_t live_bytes, live_count; /* at the end */
	uint64_t peak_bytes;
	int64_t peak_ns;
	uint32_t peak; /* position among begins and ends */
};

/* What one function allocated in one scope and on one stream, of one place. */
struct memory_use {
	uint32_t place;	       /* index into places */
	trace_string scope;    /* its text; 0: none */
	uint32_t stream;       /* or TRACE_NONE */
	trace_string function; /* 0: not known */
	uint64_t allocations, allocated_bytes;
	uint64_t live_bytes, live_count;
	uint64_t peak_bytes;		 /* of this use alone */
	uint64_t peak_share, peak_count; /* bytes and blocks held when the place was at its peak */
};

/* Blocks of one size that one use never released. */
struct memory_leak {
	uint32_t use; /* index into uses */
	uint64_t bytes, count;
};

/* A place in a part of the recording's time. */
struct memory_step {
	uint32_t place;
	int64_t begin_ns, end_ns;
	uint64_t peak_bytes, live_bytes; /* the most, and at the end of the part */
};

struct memory {
	struct memory_place *places; /* in order of (process, first use) */
	uint32_t places_count;
	struct memory_use *uses; /* the largest peak first */
	uint32_t uses_count;
	struct memory_leak *leaks; /* most bytes in all first */
	uint32_t leaks_count;
	uint32_t *failures; /* indices into blocks, by time */
	uint32_t failures_count;
	struct memory_step *steps; /* by (place, time) */
	uint32_t steps_count;
};

/* Adds up the BLOCKS that IS_SELECTED marks (NULL: all). PARTS: into how many equal parts the time
 * from the first begin to the last event is divided. The caller releases RET_MEMORY. 0, or -ENOMEM
 * with RET_MEMORY unchanged. Cost: some walks over the blocks. */
int memory_make(const struct trace *trace, const struct memory_blocks *blocks,
		const bool *is_selected, uint32_t parts, struct memory *ret_memory);
void memory_release(struct memory *memory);

#endif
