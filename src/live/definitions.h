/* The records that others refer to, kept while a recording is followed: threads, agents, queues,
 * names of functions, kernels, scopes, texts that scopes share, and anchors.
 *
 * A follower meets records in any order, so a record may refer to a definition that has not come
 * yet. definitions_resolve says whether all have. The end of a dispatch is resolved when its time
 * is final: when it lies before an anchor that later ones cannot displace (trace/clock_fit.h).
 *
 * What stays: all definitions but scopes and anchors, each once. A scope stays while it is open, a
 * record that was not given out yet refers to it, or a scope inside it stays. Of each agent the
 * newest anchors stay (DEFINITIONS_ANCHORS).
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_LIVE_DEFINITIONS_H
#define DAGTAP_LIVE_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/numbers.h"
#include "record/record.h"

/* At four anchors a second, half a minute; a kernel that took longer is timed by the rate between
 * the first two that are left. */
#define DEFINITIONS_ANCHORS 128

/* A record that others refer to. */
struct definition {
	struct record_header *record; /* a copy, owned; NULL: only referred to yet */
	uint32_t tid;
	uint32_t window; /* the last window that it was selected for */
};

struct scope_definition {
	uint64_t id;
	struct record_header *begin; /* copies, owned; NULL: not read yet */
	struct record_header *end;
	uint32_t tid;
	uint32_t window;
	/* Records of open units, and scopes, that refer to it. */
	uint32_t users;
	bool is_used; /* false: a free row */
};

struct agent_anchors {
	struct record_anchor rows[DEFINITIONS_ANCHORS]; /* a ring; `count` were added in all */
	uint64_t count;
	uint64_t judged;     /* number of anchors of which it is known whether they are used */
	uint64_t used_ns;    /* host time of the last of them that is used */
	uint64_t final_tick; /* its tick: times before it are final */
};

struct definitions {
	struct numbers keys; /* (type, id) of rows */
	struct definition *rows;
	uint32_t rows_count;
	struct numbers agent_handles; /* of agents that have come */
	uint32_t *agent_indices;      /* their indices, by number */
	uint32_t agent_indices_count;

	struct scope_definition *scopes;
	uint32_t scopes_count;
	uint32_t *free_scopes;
	size_t free_count, free_room;
	struct hash_map scope_map;

	struct agent_anchors **agents; /* by agent index; owned; NULL: without an anchor yet */
	uint32_t agents_count;
	uint64_t last_anchor_ns; /* host time of the newest anchor of any agent */
	bool takes_any_time;	 /* set by the owner: times need not be final */

	uint32_t window; /* number of the window that is being made */
	size_t bytes;	 /* memory of all copies */
};

/* Whether records of TYPE are definitions. */
bool definitions_has_type(enum record_type type);

/* Keeps a copy of RECORD, a definition that thread TID wrote. Returns 0 or -ENOMEM. */
int definitions_add(struct definitions *definitions, const struct record_header *record,
		    uint32_t tid);

/* Notes that RECORD, no definition, refers to its scope. Each call needs one of
 * definitions_unuse. Returns 0 or -ENOMEM. */
int definitions_use(struct definitions *definitions, const struct record_header *record);
void definitions_unuse(struct definitions *definitions, const struct record_header *record);

/* The row of the definition of TYPE with ID, none of a scope or an anchor. NULL: it has not
 * come. */
static inline struct definition *definitions_find(const struct definitions *definitions,
						  enum record_type type, uint64_t id)
{
	uint32_t number = numbers_find(&definitions->keys, type, id);

	return number == NUMBERS_NONE || !definitions->rows[number].record
		       ? NULL
		       : &definitions->rows[number];
}

/* Whether everything that RECORD refers to has come. */
bool definitions_resolve(const struct definitions *definitions, const struct record_header *record);

/* Begins a window: nothing is selected for it but what each window needs. */
void definitions_begin(struct definitions *definitions);

/* Selects for the window what RECORD, written by thread TID, refers to. */
void definitions_select(struct definitions *definitions, const struct record_header *record,
			uint32_t tid);

/* Calls TAKE for each selected definition; TAKE returns 0 or an error, which ends it. Returns 0 or
 * that error. */
int definitions_selected(const struct definitions *definitions,
			 int (*take)(void *context, const struct record_header *record,
				     uint32_t tid),
			 void *context);

/* Frees all memory; DEFINITIONS, which may be zero, becomes empty. */
void definitions_release(struct definitions *definitions);

#endif
