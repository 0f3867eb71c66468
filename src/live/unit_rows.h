/* The rows of units: making and freeing them, their lists by state, and the maps by which they are
 * found. For units.c alone; the data and the threading rule are in units.h. */
#ifndef DAGTAP_LIVE_UNIT_ROWS_H
#define DAGTAP_LIVE_UNIT_ROWS_H

#include "live/units.h"

/* A new open unit of call CID; 0: of no call, and then no look-up finds it. UNITS_NONE: out of
 * memory. */
uint32_t units_make(struct units *units, uint64_t cid);

/* The unit of call CID: with GET made if there is none (UNITS_NONE: out of memory), with FIND only
 * if there is one. */
uint32_t units_get_call(struct units *units, uint64_t cid);
uint32_t units_find_call(const struct units *units, uint64_t cid);

/* Appends a record to a unit that is not ready, and marks the unit to be looked at. Returns 0 or
 * -ENOMEM. */
int units_append(struct units *units, uint32_t number, const struct record_header *record,
		 uint32_t tid);

/* Marks a unit to be looked at. Returns 0 or -ENOMEM. */
int units_touch(struct units *units, uint32_t number);

/* Puts a unit at the end of the list of STATE. A unit that is READY is found by no look-up any
 * more: later records of its call make a new unit. */
void units_move(struct units *units, uint32_t number, enum unit_state state);

/* Moves the records of unit INNER to unit OUTER, that of the enclosing call, and frees INNER.
 * Returns 0 or -ENOMEM. */
int units_join_outer(struct units *units, uint32_t inner, uint32_t outer);

/* The submission with this kind and id, or UNITS_NONE. */
uint32_t units_find_submission(const struct units *units, enum record_type kind, uint64_t id);

/* Adds one, which is not there, that belongs to unit UNIT. Returns 0 or -ENOMEM. */
int units_add_submission(struct units *units, enum record_type kind, uint64_t id, uint32_t unit,
			 bool is_early);
void units_drop_submission(struct units *units, uint32_t submission);

/* Drops the submissions of unit NUMBER that run, and its early completion. */
void units_forget_submissions(struct units *units, uint32_t number);

/* The id by which a submission or a completion is found, and its kind, RECORD_NONE: RECORD is
 * neither. */
enum record_type units_key_of(const struct record_header *record, uint64_t *ret_id);

/* Moves the completion that came early to unit NUMBER, which has its submission now. Returns 0 or
 * -ENOMEM. */
int units_join_early(struct units *units, uint32_t submission, uint32_t number);

#endif
