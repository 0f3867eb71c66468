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
#include "trace/row_table.h"

/* What a scope and those inside it caused. */
struct scope_work {
	uint64_t activities;
	int64_t begin_ns, end_ns; /* end before begin: nothing timed */
};

/* The groups that are being made. */
struct making {
	const struct trace *trace;
	struct scope_work *works; /* by scope */
	uint32_t *group_of;	  /* by scope: its group, or TRACE_NONE */
	struct strtab names;	  /* of the groups */
	struct numbers numbers;	  /* numbers the names: the index of the group */
	uint32_t *first;	  /* by group: index of its first value in `values` */
	int64_t *values;	  /* durations, by group */
	struct scope_groups groups;
};

/* ---- the work of each scope ---- */

static void take_activity(struct making *making, const struct trace_activity *row)
{
	bool is_timed = row->untimed == RECORD_UNTIMED_NO;
	uint32_t scope = row->scope;

	for (int depth = 0; scope != TRACE_NONE && depth < SCOPE_DEPTH_MAX; depth++) {
		struct scope_work *work = &making->works[scope];

		work->activities++;
		if (is_timed && row->start_ns < work->begin_ns)
			work->begin_ns = row->start_ns;
		if (is_timed && row->end_ns > work->end_ns)
			work->end_ns = row->end_ns;
		scope = making->trace->scopes[scope].parent;
	}
}

static void take_activities(struct making *making)
{
	const struct trace *trace = making->trace;

	for (uint32_t i = 0; i < trace->scopes_count; i++)
		making->works[i] = (struct scope_work){.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
	for (uint32_t i = 0; i < trace->activities_count; i++)
		take_activity(making, &trace->activities[i]);
}

/* ---- groups ---- */

static int take_scope(struct making *making, uint32_t scope)
{
	const struct trace_scope *row = &making->trace->scopes[scope];
	char name[SCOPE_GROUP_CHARS];
	struct scope_group *group;
	void *added;
	int64_t number;

	scope_group_name(making->trace, row, name);
	number = numbers_row(&making->numbers, 0, strtab_intern_z(&making->names, name),
			     (void **)&making->groups.rows, &making->groups.count, sizeof(*group),
			     &added);
	if (number < 0 || making->names.failed)
		return -ENOMEM;
	group = &making->groups.rows[number];
	if (added && !(group->name = strdup(name)))
		return -ENOMEM;
	group->scopes++;
	group->activities += making->works[scope].activities;
	making->group_of[scope] = (uint32_t)number;
	return 0;
}

static int take_scopes(struct making *making)
{
	for (uint32_t i = 0; i < making->trace->scopes_count; i++) {
		making->group_of[i] = TRACE_NONE;
		if (scope_is_interval(&making->trace->scopes[i]) && take_scope(making, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Sets *RET_NS to the duration that is described, of the projection or of the host. False: the
 * scope has no projection. */
static bool get_duration(const struct making *making, uint32_t scope, bool is_projection,
			 int64_t *ret_ns)
{
	const struct trace_scope *row = &making->trace->scopes[scope];
	const struct scope_work *work = &making->works[scope];

	if (!is_projection)
		*ret_ns = tally_span(row->begin_ns, row->end_ns);
	else if (work->end_ns >= work->begin_ns)
		*ret_ns = tally_span(work->begin_ns, work->end_ns);
	else
		return false;
	return true;
}

/* Describes the durations of all groups. Each group has a part of VALUES, which has room for all
 * its scopes. */
static void describe(struct making *making, bool is_projection)
{
	struct scope_groups *groups = &making->groups;
	uint32_t *filled = making->first; /* moves through the group's part */
	uint32_t at = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		filled[i] = at;
		at += groups->rows[i].scopes;
	}
	for (uint32_t i = 0; i < making->trace->scopes_count; i++) {
		uint32_t group = making->group_of[i];
		int64_t ns;

		if (group != TRACE_NONE && get_duration(making, i, is_projection, &ns))
			making->values[filled[group]++] = ns;
	}
	at = 0;
	for (uint32_t i = 0; i < groups->count; i++) {
		struct scope_group *row = &groups->rows[i];

		distribution_make(&making->values[at], filled[i] - at,
				  is_projection ? &row->projection : &row->host);
		at += row->scopes;
	}
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
	take_activities(making);
	if (strtab_init(&making->names) < 0 || take_scopes(making) < 0)
		return -ENOMEM;
	making->first = table_alloc(making->groups.count, sizeof(*making->first));
	if (!making->first)
		return -ENOMEM;
	describe(making, false);
	describe(making, true);
	if (making->groups.count)
		qsort(making->groups.rows, making->groups.count, sizeof(*making->groups.rows),
		      compare_groups);
	return 0;
}

int scope_groups_make(const struct trace *trace, struct scope_groups *ret_groups)
{
	struct making making = {
		.trace = trace,
		.works = table_alloc(trace->scopes_count, sizeof(*making.works)),
		.group_of = table_alloc(trace->scopes_count, sizeof(*making.group_of)),
		.values = table_alloc(trace->scopes_count, sizeof(*making.values)),
	};
	int err = -ENOMEM;

	if (making.works && making.group_of && making.values)
		err = make(&making);
	free(making.works);
	free(making.group_of);
	free(making.values);
	free(making.first);
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
