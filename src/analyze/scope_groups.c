/* Groups the scopes of a trace (scope_groups.h). */
#include "analyze/scope_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_instances.h"
#include "analyze/scope_match.h"
#include "analyze/tally.h"
#include "base/numbers.h"
#include "base/strtab.h"
#include "base/workers.h"
#include "trace/row_table.h"

#define ROWS_PER_PART (1u << 16)

/* Activities of scopes. */
struct scope_work {
	uint64_t activities;
	int64_t begin_ns, end_ns; /* end before begin: nothing timed */
};

/* What is described of a scope. */
enum duration { DURATION_HOST, DURATION_PROJECTION, DURATION_KINDS };

/* The groups that are being made. Threads share the scopes, the activities and the groups. */
struct making {
	const struct trace *trace;
	/* By scope: of the calls in the scope itself; with those in the scopes inside it. */
	struct scope_work *own_works, *works;
	uint32_t *group_of;	 /* by scope: its group, or TRACE_NONE */
	uint32_t *group_of_text; /* by text of a scope: its group, or TRACE_NONE */
	struct strtab names;	 /* of the groups */
	struct numbers numbers;	 /* numbers the names: the index of the group */
	uint32_t *first;	 /* by group: where its durations begin */
	/* Durations by group, and by group where they end. */
	struct {
		int64_t *values;
		uint32_t *ends;
	} durations[DURATION_KINDS];
	struct scope_groups groups;
};

/* ---- the work of each scope ---- */

static const struct scope_work nothing = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};

static void add_work(struct scope_work *sum, const struct scope_work *more)
{
	sum->activities += more->activities;
	sum->begin_ns = more->begin_ns < sum->begin_ns ? more->begin_ns : sum->begin_ns;
	sum->end_ns = more->end_ns > sum->end_ns ? more->end_ns : sum->end_ns;
}

/* add_work for a sum that other threads add to. */
static void share_work(struct scope_work *sum, const struct scope_work *more)
{
	int64_t begin_ns = __atomic_load_n(&sum->begin_ns, __ATOMIC_RELAXED);
	int64_t end_ns = __atomic_load_n(&sum->end_ns, __ATOMIC_RELAXED);

	__atomic_fetch_add(&sum->activities, more->activities, __ATOMIC_RELAXED);
	while (more->begin_ns < begin_ns &&
	       !__atomic_compare_exchange_n(&sum->begin_ns, &begin_ns, more->begin_ns, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	while (more->end_ns > end_ns &&
	       !__atomic_compare_exchange_n(&sum->end_ns, &end_ns, more->end_ns, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static uint32_t end_of_part(uint32_t number, uint32_t rows)
{
	uint64_t end = (number + 1ull) * ROWS_PER_PART;

	return end < rows ? (uint32_t)end : rows;
}

static int clear_works(void *making_of_groups, unsigned worker, uint32_t number)
{
	const struct making *making = making_of_groups;
	uint32_t end = end_of_part(number, making->trace->scopes_count);

	for (uint32_t i = number * ROWS_PER_PART; i < end; i++)
		making->works[i] = making->own_works[i] = nothing;
	return 0;
}

/* Neighbours mostly are in one scope, and are added together. */
static int take_activities(void *making_of_groups, unsigned worker, uint32_t number)
{
	const struct making *making = making_of_groups;
	const struct trace *trace = making->trace;
	uint32_t end = end_of_part(number, trace->activities_count);
	struct scope_work work = nothing;

	for (uint32_t i = number * ROWS_PER_PART; i < end; i++) {
		const struct trace_activity *row = &trace->activities[i];

		work.activities++;
		if (row->untimed == RECORD_UNTIMED_NO && row->start_ns < work.begin_ns)
			work.begin_ns = row->start_ns;
		if (row->untimed == RECORD_UNTIMED_NO && row->end_ns > work.end_ns)
			work.end_ns = row->end_ns;
		if (i + 1 < end && row[1].scope == row->scope)
			continue;
		if (row->scope != TRACE_NONE)
			share_work(&making->own_works[row->scope], &work);
		work = nothing;
	}
	return 0;
}

/* Adds the work of scopes inside PARENT to it and to those around it. */
static void add_to_parents(const struct making *making, uint32_t parent,
			   const struct scope_work *work)
{
	for (int depth = 1; parent != TRACE_NONE && depth < SCOPE_DEPTH_MAX; depth++) {
		share_work(&making->works[parent], work);
		parent = making->trace->scopes[parent].parent;
	}
}

/* Adds the work of each scope to it and to those around it. Neighbours mostly are in one scope, and
 * are added to it together. */
static int add_works(void *making_of_groups, unsigned worker, uint32_t number)
{
	const struct making *making = making_of_groups;
	const struct trace_scope *scopes = making->trace->scopes;
	uint32_t end = end_of_part(number, making->trace->scopes_count);
	struct scope_work inside = nothing;

	for (uint32_t i = number * ROWS_PER_PART; i < end; i++) {
		const struct scope_work *own = &making->own_works[i];

		if (own->activities) {
			share_work(&making->works[i], own);
			add_work(&inside, own);
		}
		if (i + 1 < end && scopes[i + 1].parent == scopes[i].parent)
			continue;
		if (inside.activities)
			add_to_parents(making, scopes[i].parent, &inside);
		inside = nothing;
	}
	return 0;
}

static void find_works(struct making *making)
{
	const struct trace *trace = making->trace;
	uint32_t scope_parts = trace->scopes_count / ROWS_PER_PART + 1;

	workers_run(WORKERS_ALL, scope_parts, clear_works, making);
	workers_run(WORKERS_ALL, trace->activities_count / ROWS_PER_PART + 1, take_activities,
		    making);
	workers_run(WORKERS_ALL, scope_parts, add_works, making);
}

/* ---- groups ---- */

/* The group of scopes with the text of ROW, or -ENOMEM. */
static int64_t find_group(struct making *making, const struct trace_scope *row)
{
	char name[SCOPE_GROUP_CHARS];
	struct scope_group *group;
	void *added;
	int64_t number;

	if (making->group_of_text[row->text] != TRACE_NONE)
		return making->group_of_text[row->text];
	scope_group_name(making->trace, row, name);
	number = numbers_row(&making->numbers, 0, strtab_intern_z(&making->names, name),
			     (void **)&making->groups.rows, &making->groups.count, sizeof(*group),
			     &added);
	if (number < 0 || making->names.failed)
		return -ENOMEM;
	group = &making->groups.rows[number];
	if (added && !(group->name = strdup(name)))
		return -ENOMEM;
	making->group_of_text[row->text] = (uint32_t)number;
	return number;
}

static int take_scopes(struct making *making)
{
	const struct trace *trace = making->trace;

	memset(making->group_of_text, 0xff, trace->strings_count * sizeof(*making->group_of_text));
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		int64_t group = TRACE_NONE;

		if (scope_is_interval(&trace->scopes[i])) {
			group = find_group(making, &trace->scopes[i]);
			if (group < 0)
				return -ENOMEM;
			making->groups.rows[group].scopes++;
			making->groups.rows[group].activities += making->works[i].activities;
		}
		making->group_of[i] = (uint32_t)group;
	}
	return 0;
}

/* Sets *RET_NS to the duration KIND of the scope. False: the scope has no projection. */
static bool get_duration(const struct making *making, uint32_t scope, enum duration kind,
			 int64_t *ret_ns)
{
	const struct trace_scope *row = &making->trace->scopes[scope];
	const struct scope_work *work = &making->works[scope];

	if (kind == DURATION_HOST)
		*ret_ns = tally_span(row->begin_ns, row->end_ns);
	else if (work->end_ns >= work->begin_ns)
		*ret_ns = tally_span(work->begin_ns, work->end_ns);
	else
		return false;
	return true;
}

/* Puts the durations of KIND behind those of their group. */
static int gather_durations(void *making_of_groups, unsigned worker, uint32_t kind)
{
	const struct making *making = making_of_groups;
	int64_t *values = making->durations[kind].values;
	uint32_t *ends = making->durations[kind].ends;

	memcpy(ends, making->first, making->groups.count * sizeof(*ends));
	for (uint32_t i = 0; i < making->trace->scopes_count; i++) {
		uint32_t group = making->group_of[i];
		int64_t ns;

		if (group != TRACE_NONE && get_duration(making, i, kind, &ns))
			values[ends[group]++] = ns;
	}
	return 0;
}

static int describe_group(void *making_of_groups, unsigned worker, uint32_t number)
{
	const struct making *making = making_of_groups;
	uint32_t group = number / DURATION_KINDS, kind = number % DURATION_KINDS;
	struct scope_group *row = &making->groups.rows[group];
	uint32_t first = making->first[group];

	distribution_make(&making->durations[kind].values[first],
			  making->durations[kind].ends[group] - first,
			  kind == DURATION_PROJECTION ? &row->projection : &row->host);
	return 0;
}

static int init_durations(struct making *making)
{
	uint32_t groups = making->groups.count, at = 0;

	making->first = table_alloc(groups, sizeof(*making->first));
	if (!making->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < groups; i++) {
		making->first[i] = at;
		at += making->groups.rows[i].scopes;
	}
	for (int kind = 0; kind < DURATION_KINDS; kind++) {
		making->durations[kind].values = table_alloc(at, sizeof(int64_t));
		making->durations[kind].ends = table_alloc(groups, sizeof(uint32_t));
		if (!making->durations[kind].values || !making->durations[kind].ends)
			return -ENOMEM;
	}
	return 0;
}

static int describe(struct making *making)
{
	int err = init_durations(making);

	if (err == 0)
		err = workers_run(WORKERS_ALL, DURATION_KINDS, gather_durations, making);
	if (err == 0)
		err = workers_run(WORKERS_ALL, making->groups.count * DURATION_KINDS,
				  describe_group, making);
	return err;
}

static int compare_groups(const void *left, const void *right)
{
	const struct scope_group *a = left, *b = right;

	if (a->projection.total != b->projection.total)
		return a->projection.total > b->projection.total ? -1 : 1;
	if (a->host.total != b->host.total)
		return a->host.total > b->host.total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int make(struct making *making)
{
	find_works(making);
	if (strtab_init(&making->names) < 0 || take_scopes(making) < 0)
		return -ENOMEM;
	if (describe(making) < 0)
		return -ENOMEM;
	if (making->groups.count)
		qsort(making->groups.rows, making->groups.count, sizeof(*making->groups.rows),
		      compare_groups);
	return 0;
}

int scope_groups_make(const struct trace *trace, struct scope_groups *ret_groups)
{
	struct making making = {
		.trace = trace,
		.own_works = table_alloc(trace->scopes_count, sizeof(*making.own_works)),
		.works = table_alloc(trace->scopes_count, sizeof(*making.works)),
		.group_of_text = table_alloc(trace->strings_count, sizeof(*making.group_of_text)),
		.group_of = table_alloc(trace->scopes_count, sizeof(*making.group_of)),
	};
	int err = -ENOMEM;

	if (making.own_works && making.works && making.group_of && making.group_of_text)
		err = make(&making);
	free(making.own_works);
	free(making.works);
	free(making.group_of);
	free(making.group_of_text);
	free(making.first);
	for (int kind = 0; kind < DURATION_KINDS; kind++) {
		free(making.durations[kind].values);
		free(making.durations[kind].ends);
	}
	strtab_release(&making.names);
	numbers_release(&making.numbers);
	if (err < 0)
		scope_groups_release(&making.groups);
	else
		*ret_groups = making.groups;
	return err;
}

void scope_groups_release(struct scope_groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++)
		free(groups->rows[i].name);
	free(groups->rows);
	*groups = (struct scope_groups){0};
}
