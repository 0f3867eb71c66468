/* Units: a call with everything that it caused, collected while a recording is followed.
 *
 * A unit has the records of a call, of the calls inside it, of the activities that they submitted,
 * of their completions and of the graph that was launched. It is complete when the call and all
 * activities that the call counted are there, each with its completion, and everything that the
 * records refer to (live/definitions.h). An activity without a call is a unit of its own, and so is
 * a memory operation whose call has been given out.
 *
 * CUPTI reports activities that have ended, and not how many a call brings. So activities of CUDA
 * are collected in units of their own, batches, of UNITS_BATCH_BYTES at most; the calls of CUDA are
 * kept apart (live/kept_cuda_calls.h).
 *
 * A unit that lacks records which will not come (a dropped one, a packet that has no record) is
 * given out quiet_ns after its call returned, if nothing is under way that can still be seen
 * to end. When the records of all units take more than a limit, the oldest units are cut off.
 *
 * Threading: one thread at a time. Cost: a record is copied once, and found by one or two look-ups
 * in hash maps. Memory: the records of the units that are there, some 120 bytes for each unit and
 * 32 for each activity that runs. */
#ifndef DAGTAP_LIVE_UNITS_H
#define DAGTAP_LIVE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "live/cuda_launches.h"
#include "live/definitions.h"
#include "live/graph_history.h"
#include "live/kept_cuda_calls.h"

#define UNITS_NONE	  UINT32_MAX
#define UNITS_BATCH_BYTES (64u << 10)

enum unit_state {
	UNIT_FREE,
	UNIT_OPEN,    /* records are missing */
	UNIT_WAITING, /* all records are there; some refer to what has not come */
	UNIT_READY,   /* may be given out */
	UNIT_STATE_COUNT
};

/* A record in a unit's bytes; the record follows. */
struct unit_entry {
	uint32_t tid;
	uint32_t bytes; /* of the record */
};

struct unit {
	enum unit_state state;
	bool is_dirty;		 /* in the list of units to be looked at */
	bool has_api;		 /* the record of the call is there */
	bool is_batch;		 /* of activities of CUDA */
	uint32_t previous, next; /* in the list of its state, by age */
	uint64_t serial;	 /* ascends in the order of making */
	uint64_t cid;		 /* of the outermost call that is known; 0: no call */
	uint64_t parent;	 /* cid of the enclosing call, 0: none */
	uint64_t end_ns;	 /* when the call returned; of a batch: when it was begun */
	uint32_t expected;	 /* activities that the call counted */
	uint32_t seen;		 /* of these, submissions and barriers that are there */
	uint32_t running;	 /* submissions without their completion */
	uint32_t early;		 /* completions without their submission */
	uint32_t inner;		 /* units of calls inside this one */
	size_t size, room;	 /* of bytes */
	size_t resolved;	 /* the entries before are resolved */
	unsigned char *bytes;	 /* struct unit_entry and record, one after the other */
};

/* A submission that runs, or a completion that came first. */
struct unit_submission {
	uint64_t kind; /* RECORD_DISPATCH or RECORD_COPY */
	uint64_t id;   /* queue id << 40 | packet index, or copy id */
	uint32_t unit;
	bool is_early;
};

struct unit_list {
	uint32_t first, last;
	uint32_t count;
};

struct units {
	struct definitions definitions;
	struct graph_history graphs;
	struct cuda_calls cuda_calls;
	struct cuda_launches *launches; /* owned; NULL: not counted */
	bool has_cuda;			/* a record of CUDA has come */
	uint32_t batch;			/* the unit that takes activities of CUDA, or UNITS_NONE */
	struct unit *rows;
	uint32_t rows_count;
	uint32_t *free_rows;
	size_t free_count, free_room;
	struct hash_map calls; /* units by cid */

	struct unit_submission *submissions;
	uint32_t submissions_count;
	uint32_t *free_submissions;
	size_t free_submission_count, free_submission_room;
	struct hash_map submission_map;

	struct unit_list lists[UNIT_STATE_COUNT];
	uint32_t *dirty;
	size_t dirty_count, dirty_room;
	uint64_t last_serial;
	uint64_t quiet_ns;		    /* of the recording's clock, as its anchors tell it */
	size_t bytes;			    /* records of all units */
	uint64_t cut_off;		    /* units that were cut off so far */
	uint64_t passed[RECORD_TYPE_COUNT]; /* records that are not followed, by type */
};

/* Makes UNITS empty; units_release frees what they hold and makes them empty again. QUIET_NS may be
 * UINT64_MAX: units that lack records are not given out. */
void units_init(struct units *units, uint64_t quiet_ns);
void units_release(struct units *units);

/* Takes a record of thread TID. Returns 0 or -ENOMEM. */
int units_add(struct units *units, const struct record_header *record, uint32_t tid);

/* Makes units ready that are complete by now. Returns 0 or -ENOMEM. */
int units_settle(struct units *units);

/* Forgets records of graphs, unless a unit that was not given out needs them, or one whose records
 * have not come yet may. WINDOW: the trace that was loaded last, with the records as they are, if
 * the process uses CUDA; else NULL, and units_settle does it. Returns 0 or -ENOMEM. */
int units_forget_graphs(struct units *units, const struct trace *window);

/* Makes units ready that are not complete, oldest first, until those that are not take at most
 * MOST_BYTES. */
void units_cut_off(struct units *units, size_t most_bytes);

/* The oldest unit that is ready, or UNITS_NONE. */
static inline uint32_t units_ready(const struct units *units)
{
	return units->lists[UNIT_READY].first;
}

/* Frees unit NUMBER, which is ready and was given out. */
void units_drop(struct units *units, uint32_t number);

/* The serial of the oldest unit that was not given out; UINT64_MAX: there is none. */
uint64_t units_oldest(const struct units *units);

/* Iterates over the records of UNIT: AT begins at 0. Returns NULL after the last one. */
static inline const struct record_header *unit_next(const struct unit *unit, size_t *at,
						    uint32_t *ret_tid)
{
	const struct unit_entry *entry = (const void *)(unit->bytes + *at);

	if (*at >= unit->size)
		return NULL;
	*ret_tid = entry->tid;
	*at += sizeof(*entry) + entry->bytes;
	return (const void *)(entry + 1);
}

#endif
