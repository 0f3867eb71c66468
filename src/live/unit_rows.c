/* Rows, lists and maps of units: see unit_rows.h. */
#include "live/unit_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"

void units_init(struct units *units, uint64_t quiet_ns)
{
	*units = (struct units){.quiet_ns = quiet_ns, .batch = UNITS_NONE};
	for (int state = 0; state < UNIT_STATE_COUNT; state++)
		units->lists[state] = (struct unit_list){UNITS_NONE, UNITS_NONE, 0};
}

void units_release(struct units *units)
{
	for (uint32_t i = 0; i < units->rows_count; i++)
		free(units->rows[i].bytes);
	free(units->rows);
	free(units->free_rows);
	if (units->launches)
		cuda_launches_release(units->launches);
	free(units->launches);
	free(units->submissions);
	free(units->free_submissions);
	free(units->dirty);
	hash_map_release(&units->calls);
	hash_map_release(&units->submission_map);
	definitions_release(&units->definitions);
	graph_history_release(&units->graphs);
	cuda_calls_release(&units->cuda_calls);
	units_init(units, units->quiet_ns);
}

/* ---- lists ---- */

static void list_remove(struct units *units, uint32_t number)
{
	struct unit *unit = &units->rows[number];
	struct unit_list *list = &units->lists[unit->state];

	if (unit->previous == UNITS_NONE)
		list->first = unit->next;
	else
		units->rows[unit->previous].next = unit->next;
	if (unit->next == UNITS_NONE)
		list->last = unit->previous;
	else
		units->rows[unit->next].previous = unit->previous;
	list->count--;
}

static void list_append(struct units *units, uint32_t number, enum unit_state state)
{
	struct unit *unit = &units->rows[number];
	struct unit_list *list = &units->lists[state];

	unit->state = state;
	unit->previous = list->last;
	unit->next = UNITS_NONE;
	if (list->last == UNITS_NONE)
		list->first = number;
	else
		units->rows[list->last].next = number;
	list->last = number;
	list->count++;
}

/* ---- units ---- */

/* A number of a row; UNITS_NONE: out of memory. A row that becomes free always has a place in the
 * list of free ones. */
static uint32_t take_number(uint32_t **free_numbers, size_t *free_count, size_t *free_room,
			    void **rows, uint32_t *rows_count, size_t row_bytes)
{
	if (*free_count)
		return (*free_numbers)[--*free_count];
	if (table_reserve((void **)free_numbers, free_room, *rows_count + 1ull,
			  sizeof(**free_numbers)) < 0 ||
	    !table_add(rows, rows_count, row_bytes))
		return UNITS_NONE;
	return *rows_count - 1;
}

static uint64_t hash_of_call(uint64_t cid)
{
	return hash_mix(cid, 0);
}

uint32_t units_find_call(const struct units *units, uint64_t cid)
{
	struct hash_probe probe;

	if (!cid || !units->calls.slot_count)
		return UNITS_NONE;
	probe = hash_map_probe(&units->calls, hash_of_call(cid));
	while (hash_map_next(&units->calls, &probe)) {
		if (units->rows[probe.row].cid == cid)
			return probe.row;
	}
	return UNITS_NONE;
}

static void put_call(struct units *units, uint32_t number)
{
	struct hash_probe probe =
		hash_map_probe(&units->calls, hash_of_call(units->rows[number].cid));

	while (hash_map_next(&units->calls, &probe))
		;
	hash_map_put(&units->calls, &probe, number);
}

uint32_t units_make(struct units *units, uint64_t cid)
{
	uint32_t number;

	if (hash_map_reserve(&units->calls) < 0)
		return UNITS_NONE;
	number = take_number(&units->free_rows, &units->free_count, &units->free_room,
			     (void **)&units->rows, &units->rows_count, sizeof(*units->rows));
	if (number == UNITS_NONE)
		return UNITS_NONE;
	units->rows[number] = (struct unit){
		.cid = cid,
		.serial = ++units->last_serial,
		.is_dirty = units->rows[number].is_dirty,
	};
	list_append(units, number, UNIT_OPEN);
	if (cid)
		put_call(units, number);
	return number;
}

uint32_t units_get_call(struct units *units, uint64_t cid)
{
	uint32_t number = units_find_call(units, cid);

	return number == UNITS_NONE ? units_make(units, cid) : number;
}

static void forget_call(struct units *units, uint32_t number)
{
	uint64_t cid = units->rows[number].cid;

	if (cid)
		hash_map_remove(&units->calls, hash_of_call(cid), number);
}

int units_touch(struct units *units, uint32_t number)
{
	if (units->rows[number].is_dirty)
		return 0;
	if (table_reserve((void **)&units->dirty, &units->dirty_room, units->dirty_count + 1,
			  sizeof(*units->dirty)) < 0)
		return -ENOMEM;
	units->dirty[units->dirty_count++] = number;
	units->rows[number].is_dirty = true;
	return 0;
}

static int append_bytes(struct units *units, struct unit *unit, const void *bytes, size_t size)
{
	if (table_reserve((void **)&unit->bytes, &unit->room, unit->size + size, 1) < 0)
		return -ENOMEM;
	memcpy(unit->bytes + unit->size, bytes, size);
	unit->size += size;
	units->bytes += size;
	return 0;
}

int units_append(struct units *units, uint32_t number, const struct record_header *record,
		 uint32_t tid)
{
	struct unit *unit = &units->rows[number];
	struct unit_entry entry = {.tid = tid, .bytes = record->words * 8u};

	/* A record that comes late is one more that must be resolved. */
	if (unit->state == UNIT_WAITING)
		units_move(units, number, UNIT_OPEN);
	if (table_reserve((void **)&unit->bytes, &unit->room,
			  unit->size + sizeof(entry) + entry.bytes, 1) < 0 ||
	    definitions_use(&units->definitions, record) < 0)
		return -ENOMEM;
	append_bytes(units, unit, &entry, sizeof(entry));
	append_bytes(units, unit, record, entry.bytes);
	return units_touch(units, number);
}

void units_move(struct units *units, uint32_t number, enum unit_state state)
{
	list_remove(units, number);
	list_append(units, number, state);
	if (state == UNIT_READY)
		forget_call(units, number);
}

/* Frees the row. Its records are elsewhere, or not needed. */
static void free_unit(struct units *units, uint32_t number)
{
	struct unit *unit = &units->rows[number];

	if (unit->state != UNIT_READY)
		forget_call(units, number);
	list_remove(units, number);
	units->bytes -= unit->size;
	free(unit->bytes);
	/* It may be in the list of units to be looked at, and be found there with another use. */
	*unit = (struct unit){.is_dirty = unit->is_dirty};
	units->free_rows[units->free_count++] = number;
}

void units_drop(struct units *units, uint32_t number)
{
	const struct unit *unit = &units->rows[number];
	const struct record_header *record;
	size_t at = 0;
	uint32_t tid;

	while ((record = unit_next(unit, &at, &tid)))
		definitions_unuse(&units->definitions, record);
	free_unit(units, number);
}

int units_join_outer(struct units *units, uint32_t inner, uint32_t outer)
{
	struct unit *from = &units->rows[inner], *to = &units->rows[outer];

	if (append_bytes(units, to, from->bytes, from->size) < 0)
		return -ENOMEM;
	to->inner--;
	free_unit(units, inner);
	return units_touch(units, outer);
}

/* ---- submissions ---- */

static uint64_t hash_of_submission(uint64_t kind, uint64_t id)
{
	return hash_mix(kind, id);
}

uint32_t units_find_submission(const struct units *units, enum record_type kind, uint64_t id)
{
	struct hash_probe probe;

	if (!units->submission_map.slot_count)
		return UNITS_NONE;
	probe = hash_map_probe(&units->submission_map, hash_of_submission(kind, id));
	while (hash_map_next(&units->submission_map, &probe)) {
		if (units->submissions[probe.row].kind == kind &&
		    units->submissions[probe.row].id == id)
			return probe.row;
	}
	return UNITS_NONE;
}

int units_add_submission(struct units *units, enum record_type kind, uint64_t id, uint32_t unit,
			 bool is_early)
{
	struct hash_probe probe;
	uint32_t number;

	if (hash_map_reserve(&units->submission_map) < 0)
		return -ENOMEM;
	number = take_number(&units->free_submissions, &units->free_submission_count,
			     &units->free_submission_room, (void **)&units->submissions,
			     &units->submissions_count, sizeof(*units->submissions));
	if (number == UNITS_NONE)
		return -ENOMEM;
	units->submissions[number] = (struct unit_submission){kind, id, unit, is_early};
	probe = hash_map_probe(&units->submission_map, hash_of_submission(kind, id));
	while (hash_map_next(&units->submission_map, &probe))
		;
	hash_map_put(&units->submission_map, &probe, number);
	return 0;
}

void units_drop_submission(struct units *units, uint32_t submission)
{
	const struct unit_submission *row = &units->submissions[submission];

	hash_map_remove(&units->submission_map, hash_of_submission(row->kind, row->id), submission);
	units->free_submissions[units->free_submission_count++] = submission;
}

int units_join_early(struct units *units, uint32_t submission, uint32_t number)
{
	uint32_t early = units->submissions[submission].unit;
	struct unit *from = &units->rows[early];

	if (append_bytes(units, &units->rows[number], from->bytes, from->size) < 0)
		return -ENOMEM;
	units_drop_submission(units, submission);
	free_unit(units, early);
	return units_touch(units, number);
}

enum record_type units_key_of(const struct record_header *record, uint64_t *ret_id)
{
	const void *at = record;
	uint64_t queue = (uint64_t)record->tag << 40;

	switch (record->type) {
	case RECORD_DISPATCH:
		*ret_id = queue + ((const struct record_dispatch *)at)->packet_index;
		return RECORD_DISPATCH;
	case RECORD_DISPATCH_DONE:
		*ret_id = queue + ((const struct record_dispatch_done *)at)->packet_index;
		return RECORD_DISPATCH;
	case RECORD_COPY:
		*ret_id = ((const struct record_copy *)at)->copy_id;
		return RECORD_COPY;
	case RECORD_COPY_DONE:
		*ret_id = ((const struct record_copy_done *)at)->copy_id;
		return RECORD_COPY;
	default:
		return RECORD_NONE;
	}
}

void units_forget_submissions(struct units *units, uint32_t number)
{
	const struct unit *unit = &units->rows[number];
	const struct record_header *record;
	size_t at = 0;
	uint32_t tid;

	while ((record = unit_next(unit, &at, &tid))) {
		uint64_t id = 0;
		enum record_type kind = units_key_of(record, &id);
		uint32_t submission = kind ? units_find_submission(units, kind, id) : UNITS_NONE;

		if (submission != UNITS_NONE && units->submissions[submission].unit == number)
			units_drop_submission(units, submission);
	}
}
