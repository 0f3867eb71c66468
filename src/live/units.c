/* Collecting units: see units.h. unit_rows.c has the rows, lists and maps. */
#include "live/units.h"

#include <errno.h>
#include <stdlib.h>

#include "live/unit_rows.h"

/* ---- records ---- */

/* A call returned. Its unit may be there, by an activity or an inner call. */
static int add_call(struct units *units, const struct record_api *api, uint32_t tid)
{
	uint32_t number = units_get_call(units, api->cid);
	struct unit *unit;

	if (number == UNITS_NONE)
		return -ENOMEM;
	unit = &units->rows[number];
	if (unit->has_api)
		return 0;
	unit->has_api = true;
	unit->parent = api->parent == api->cid ? 0 : api->parent;
	unit->expected = api->activities;
	unit->end_ns = api->end_ns;
	if (unit->parent) {
		uint32_t outer = units_get_call(units, unit->parent);

		if (outer == UNITS_NONE)
			return -ENOMEM;
		units->rows[outer].inner++;
	}
	return units_append(units, number, &api->header, tid);
}

/* An activity was submitted by call CID, or by none. IS_AWAITED: its completion is recorded. */
static int add_submission(struct units *units, const struct record_header *record, uint32_t tid,
			  uint64_t cid, bool is_awaited)
{
	uint64_t id = 0;
	enum record_type kind = units_key_of(record, &id);
	uint32_t submission = units_find_submission(units, kind, id);
	uint32_t number = cid ? units_get_call(units, cid) : units_make(units, 0);
	int err;

	if (number == UNITS_NONE)
		return -ENOMEM;
	units->rows[number].seen++;
	err = units_append(units, number, record, tid);
	if (err || !is_awaited)
		return err;
	if (submission == UNITS_NONE) {
		units->rows[number].running++;
		return units_add_submission(units, kind, id, number, false);
	}
	if (!units->submissions[submission].is_early)
		return 0; /* a second record of one packet: none that dagtap writes */
	return units_join_early(units, submission, number);
}

static int add_completion(struct units *units, const struct record_header *record, uint32_t tid)
{
	uint64_t id = 0;
	enum record_type kind = units_key_of(record, &id);
	uint32_t submission = units_find_submission(units, kind, id), number;

	if (submission != UNITS_NONE && units->submissions[submission].is_early)
		return 0;
	if (submission != UNITS_NONE) {
		number = units->submissions[submission].unit;
		units->rows[number].running--;
		units_drop_submission(units, submission);
		return units_append(units, number, record, tid);
	}
	number = units_make(units, 0);
	if (number == UNITS_NONE)
		return -ENOMEM;
	units->rows[number].early = 1;
	if (units_add_submission(units, kind, id, number, true) < 0)
		return -ENOMEM;
	return units_append(units, number, record, tid);
}

/* Of a barrier only its call's count is of use. */
static int add_barrier(struct units *units, const struct record_barrier *barrier)
{
	uint32_t number = barrier->cid ? units_get_call(units, barrier->cid) : UNITS_NONE;

	if (!barrier->cid)
		return 0;
	if (number == UNITS_NONE)
		return -ENOMEM;
	units->rows[number].seen++;
	return units_touch(units, number);
}

/* A record of a call that is no activity: belongs to the call's unit, if it is there. */
static int add_to_call(struct units *units, const struct record_header *record, uint32_t tid,
		       uint64_t cid, bool is_before)
{
	uint32_t number = UNITS_NONE;

	if (cid)
		number = is_before ? units_get_call(units, cid) : units_find_call(units, cid);
	if (number == UNITS_NONE)
		number = units_make(units, 0);
	return number == UNITS_NONE ? -ENOMEM : units_append(units, number, record, tid);
}

/* An activity of CUDA, which has ended. */
static int add_to_batch(struct units *units, const struct record_header *record, uint32_t tid)
{
	int err;

	if (units->batch == UNITS_NONE) {
		units->batch = units_make(units, 0);
		if (units->batch == UNITS_NONE)
			return -ENOMEM;
		units->rows[units->batch].is_batch = true;
		units->rows[units->batch].end_ns = units->definitions.last_anchor_ns;
	}
	units->graphs.activities++;
	err = units_append(units, units->batch, record, tid);
	if (units->rows[units->batch].size >= UNITS_BATCH_BYTES)
		units->batch = UNITS_NONE;
	return err;
}

/* Whether RECORD says that the process uses CUDA. */
static bool is_of_cuda(const struct record_header *record)
{
	return (record->type >= RECORD_CUDA_KERNEL && record->type <= RECORD_CUDA_UPDATE) ||
	       (record->type == RECORD_ANCHOR && record->tag == RECORD_CUDA_CLOCK) ||
	       (record->type == RECORD_API && record->tag >= RECORD_CUDA_FUNCTION_FIRST);
}

/* Whether RECORD is one of those that cuda_calls keeps. */
static bool is_cuda_call(const struct units *units, const struct record_header *record)
{
	return units->has_cuda &&
	       (record->type == RECORD_CUDA_INNER || record->type == RECORD_GRAPH_LAUNCH ||
		(record->type == RECORD_API && record->tag >= RECORD_RCCL_FUNCTION_FIRST));
}

/* Counts what RECORD, of thread TID, tells of what was launched and what came. */
static int count_launches(const struct units *units, const struct record_header *record,
			  uint32_t tid)
{
	struct cuda_launches *launches = units->launches;
	const struct record_graph_launch *launch;
	const void *at = record;

	switch (record->type) {
	case RECORD_API_NAME:
		cuda_launches_add_name(launches, at);
		return 0;
	case RECORD_CUDA_GRAPH:
		return cuda_launches_add_step(launches, at);
	case RECORD_GRAPH_LAUNCH:
		return units->has_cuda ? cuda_launches_add_launch(launches, at) : 0;
	case RECORD_API:
		launch = cuda_calls_find_launch(&units->cuda_calls, cuda_calls_cid(record));
		return cuda_launches_add_call(launches, at, launch, tid);
	case RECORD_CUDA_KERNEL:
	case RECORD_CUDA_COPY:
		launch = cuda_calls_find_launch(&units->cuda_calls, cuda_calls_cid(record));
		return cuda_launches_add_activity(launches, record, launch);
	default:
		return 0;
	}
}

int units_add(struct units *units, const struct record_header *record, uint32_t tid)
{
	const void *at = record;
	const struct record_dispatch *dispatch = at;
	const struct record_copy *copy = at;

	units->has_cuda = units->has_cuda || is_of_cuda(record);
	if (units->launches && count_launches(units, record, tid) < 0)
		return -ENOMEM;
	if (definitions_has_type(record->type))
		return definitions_add(&units->definitions, record, tid);
	if (units->graphs.most_bytes && graph_history_has_type(record->type))
		return graph_history_add(&units->graphs, record, tid);
	if (is_cuda_call(units, record))
		return cuda_calls_add(&units->cuda_calls, &units->definitions, record, tid);
	switch (record->type) {
	case RECORD_API:
		return add_call(units, at, tid);
	case RECORD_DISPATCH:
		return add_submission(units, record, tid, dispatch->cid,
				      dispatch->untimed == RECORD_UNTIMED_NO);
	case RECORD_COPY:
		return add_submission(units, record, tid, copy->cid, true);
	case RECORD_DISPATCH_DONE:
	case RECORD_COPY_DONE:
		return add_completion(units, record, tid);
	case RECORD_BARRIER:
		return add_barrier(units, at);
	case RECORD_GRAPH_LAUNCH:
		return add_to_call(units, record, tid,
				   ((const struct record_graph_launch *)at)->cid, true);
	case RECORD_MEMORY:
		return add_to_call(units, record, tid, ((const struct record_memory *)at)->cid,
				   false);
	case RECORD_CUDA_KERNEL:
	case RECORD_CUDA_COPY:
		return add_to_batch(units, record, tid);
	default:
		units->passed[record->type]++;
		return 0;
	}
}

/* ---- completeness ---- */

/* Whether all records of the unit are there. */
static bool is_complete(const struct unit *unit)
{
	if (unit->running || unit->early || unit->inner)
		return false;
	return !unit->cid || (unit->has_api && unit->seen >= unit->expected);
}

/* Whether what the unit lacks will not come: see units.h. */
static bool is_quiet(const struct units *units, const struct unit *unit)
{
	uint64_t now = units->definitions.last_anchor_ns;

	return (unit->has_api || unit->is_batch) && !unit->running && !unit->inner &&
	       now > unit->end_ns && now - unit->end_ns > units->quiet_ns;
}

/* Whether everything that RECORD refers to has come. */
static bool has_all_of(const struct units *units, const struct record_header *record)
{
	const void *at = record;
	uint32_t cuda_exec = 0;

	if (record->type == RECORD_GRAPH_LAUNCH &&
	    !graph_history_has_exec(&units->graphs, false,
				    ((const struct record_graph_launch *)at)->exec_id))
		return false;
	if (record->type == RECORD_CUDA_KERNEL)
		cuda_exec = ((const struct record_cuda_kernel *)at)->graph;
	else if (record->type == RECORD_CUDA_COPY)
		cuda_exec = ((const struct record_cuda_copy *)at)->graph;
	if (cuda_exec && !graph_history_has_exec(&units->graphs, true, cuda_exec))
		return false;
	return definitions_resolve(&units->definitions, record);
}

static bool is_resolved(const struct units *units, struct unit *unit)
{
	size_t at = unit->resolved;
	const struct record_header *record;
	uint32_t tid;

	while ((record = unit_next(unit, &at, &tid))) {
		if (!has_all_of(units, record))
			return false;
		unit->resolved = at;
	}
	return true;
}

/* Moves a unit whose records are all there on: into that of the enclosing call, or to those that
 * wait. */
static int advance(struct units *units, uint32_t number)
{
	struct unit *unit = &units->rows[number];
	uint32_t outer = unit->parent ? units_find_call(units, unit->parent) : UNITS_NONE;

	if (outer == UNITS_NONE) {
		units_move(units, number, UNIT_WAITING);
		return 0;
	}
	return units_join_outer(units, number, outer);
}

static int settle_dirty(struct units *units)
{
	int err = 0;

	/* advance may add the enclosing call's unit to the list. */
	while (units->dirty_count && err == 0) {
		uint32_t number = units->dirty[--units->dirty_count];
		struct unit *unit = &units->rows[number];

		unit->is_dirty = false;
		if (unit->state == UNIT_OPEN && is_complete(unit))
			err = advance(units, number);
	}
	return err;
}

static int settle_quiet(struct units *units)
{
	uint32_t number = units->lists[UNIT_OPEN].first;
	int err = 0;

	while (number != UNITS_NONE && err == 0) {
		struct unit *unit = &units->rows[number];
		uint32_t next = unit->next;

		if (is_quiet(units, unit))
			err = advance(units, number);
		number = next;
	}
	return err;
}

/* ---- graphs that are over ---- */

/* Notes the executable graph that RECORD, of a unit, names, if it names one. */
static int note_exec(struct graph_pendings *pendings, const struct record_header *record)
{
	const void *at = record;
	const struct record_graph_launch *launch = at;
	struct graph_pending named = {0};
	bool is_cuda = record->type != RECORD_GRAPH_LAUNCH;
	int64_t number;
	void *added;

	if (record->type == RECORD_GRAPH_LAUNCH)
		named = (struct graph_pending){launch->exec_id, launch->cid};
	else if (record->type == RECORD_CUDA_KERNEL)
		named.exec = ((const struct record_cuda_kernel *)at)->graph;
	else if (record->type == RECORD_CUDA_COPY)
		named.exec = ((const struct record_cuda_copy *)at)->graph;
	if (!named.exec)
		return 0;
	number = numbers_row(&pendings->execs, is_cuda, named.exec, (void **)&pendings->rows,
			     &pendings->rows_count, sizeof(*pendings->rows), &added);
	if (number < 0)
		return -ENOMEM;
	if (added || named.cid < pendings->rows[number].cid)
		pendings->rows[number] = named;
	return 0;
}

static int note_execs(const struct units *units, struct graph_pendings *pendings)
{
	const struct record_header *record;
	int err = 0;
	uint32_t tid;

	for (int state = UNIT_OPEN; state < UNIT_STATE_COUNT; state++) {
		uint32_t number = units->lists[state].first;

		for (; number != UNITS_NONE; number = units->rows[number].next) {
			size_t at = 0;

			while (err == 0 && (record = unit_next(&units->rows[number], &at, &tid)))
				err = note_exec(pendings, record);
		}
	}
	return err;
}

int units_forget_graphs(struct units *units, const struct trace *window)
{
	uint64_t now = units->definitions.last_anchor_ns;
	uint64_t before = now > units->quiet_ns ? now - units->quiet_ns : 0;
	struct graph_pendings pendings = {0};
	int err = note_execs(units, &pendings);

	if (err == 0)
		err = window ? graph_history_evict_cuda(&units->graphs, &pendings, before, window)
			     : graph_history_evict(&units->graphs, &pendings, before);
	free(pendings.rows);
	numbers_release(&pendings.execs);
	return err;
}

int units_settle(struct units *units)
{
	int err;

	units->batch = UNITS_NONE;
	err = settle_dirty(units);
	if (err == 0)
		err = settle_quiet(units);
	/* A quiet inner call may have completed the call around it. */
	if (err == 0)
		err = settle_dirty(units);
	for (uint32_t number = units->lists[UNIT_WAITING].first; number != UNITS_NONE;) {
		struct unit *unit = &units->rows[number];
		uint32_t next = unit->next;

		if (is_resolved(units, unit) || is_quiet(units, unit))
			units_move(units, number, UNIT_READY);
		number = next;
	}
	if (err == 0 && !units->has_cuda && graph_history_is_due(&units->graphs))
		err = units_forget_graphs(units, NULL);
	return err;
}

/* Makes a unit ready that is not complete. */
static void cut_off(struct units *units, uint32_t number)
{
	struct unit *unit = &units->rows[number];
	uint32_t outer = unit->parent ? units_find_call(units, unit->parent) : UNITS_NONE;

	if (outer != UNITS_NONE && unit->state == UNIT_OPEN)
		units->rows[outer].inner--;
	units_forget_submissions(units, number);
	units->cut_off += unit->state == UNIT_OPEN;
	units_move(units, number, UNIT_READY);
}

void units_cut_off(struct units *units, size_t most_bytes)
{
	static const enum unit_state states[] = {UNIT_WAITING, UNIT_OPEN};
	size_t left = 0;

	for (uint32_t i = units->lists[UNIT_READY].first; i != UNITS_NONE; i = units->rows[i].next)
		left += units->rows[i].size;
	left = units->bytes - left;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		while (left > most_bytes && units->lists[states[i]].count) {
			uint32_t number = units->lists[states[i]].first;

			left -= units->rows[number].size;
			cut_off(units, number);
		}
	}
}

uint64_t units_oldest(const struct units *units)
{
	uint64_t oldest = UINT64_MAX;

	for (int state = UNIT_OPEN; state < UNIT_STATE_COUNT; state++) {
		uint32_t number = units->lists[state].first;

		if (number != UNITS_NONE && units->rows[number].serial < oldest)
			oldest = units->rows[number].serial;
	}
	return oldest;
}
