/* Writes the annotation rows. For each scope and stream there is one row, from the first start to
 * the last end of the activities that were submitted in the scope or in scopes inside of it. */
#include <errno.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"

/* An upper bound for a row without its name. */
#define ROW_BYTES 320

/* An annotation row. */
struct hull {
	uint32_t scope;
	uint32_t list; /* gpu * slots + slot, as the lists of kineto->activities */
	/* 1 + index of the row of the parent scope on the same list; 0 = none, or not looked up
	 * yet */
	uint32_t parent;
	int64_t begin_ns, end_ns;
};

struct hulls {
	struct kineto *kineto;
	struct hull *table;
	uint32_t count, room;
	uint32_t *hash;	    /* hash table over (scope, list): 1 + index into table; 0 = free */
	uint32_t hash_size; /* a power of two: twice `room` */
	uint32_t *last;	    /* by list: 1 + index of the row that was last looked up */
	struct rows rows;
	struct rows_nest nest;
};

/* ---- the table ---- */

static uint32_t *find_entry(const struct hulls *hulls, uint32_t scope, uint32_t list)
{
	uint64_t key = (uint64_t)scope << 32 | list;
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(hash >> 32) & (hulls->hash_size - 1);

	for (;; at = (at + 1) & (hulls->hash_size - 1)) {
		uint32_t row = hulls->hash[at];

		if (row == 0 ||
		    (hulls->table[row - 1].scope == scope && hulls->table[row - 1].list == list))
			return &hulls->hash[at];
	}
}

static int grow(struct hulls *hulls)
{
	uint32_t room = hulls->room ? 2 * hulls->room : 1024;
	struct hull *table = room <= UINT32_MAX / 4
				     ? realloc(hulls->table, (size_t)room * sizeof(*table))
				     : NULL;
	uint32_t *hash;

	if (!table)
		return -ENOMEM;
	memset(table + hulls->room, 0, (size_t)(room - hulls->room) * sizeof(*table));
	hulls->table = table;
	hash = calloc((size_t)room * 2, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	free(hulls->hash);
	hulls->hash = hash;
	hulls->hash_size = room * 2;
	hulls->room = room;
	for (uint32_t i = 0; i < hulls->count; i++)
		*find_entry(hulls, table[i].scope, table[i].list) = i + 1;
	return 0;
}

/* 1 + index of the row of SCOPE on LIST; a new row has an empty extent. 0 if there is no memory;
 * the error is kept. */
static uint32_t find(struct hulls *hulls, uint32_t scope, uint32_t list)
{
	uint32_t last = hulls->last[list];
	uint32_t *entry;

	if (hulls->table && last && hulls->table[last - 1].scope == scope)
		return last;
	if (hulls->count == hulls->room && grow(hulls) < 0) {
		kineto_fail(hulls->kineto, -ENOMEM);
		return 0;
	}
	entry = find_entry(hulls, scope, list);
	if (*entry == 0) {
		hulls->table[hulls->count] = (struct hull){
			.scope = scope, .list = list, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
		*entry = ++hulls->count;
	}
	hulls->last[list] = *entry;
	return *entry;
}

/* Extends a row to the given times; returns whether it grew. */
static bool widen(struct hull *hull, int64_t begin_ns, int64_t end_ns)
{
	bool is_wider = begin_ns < hull->begin_ns || end_ns > hull->end_ns;

	if (begin_ns < hull->begin_ns)
		hull->begin_ns = begin_ns;
	if (end_ns > hull->end_ns)
		hull->end_ns = end_ns;
	return is_wider;
}

/* Extends the row of each timed activity's scope. */
static void gather(struct hulls *hulls)
{
	const struct kineto *kineto = hulls->kineto;
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->activities_count && !kineto->out.error; i++) {
		const struct trace_activity *activity = &trace->activities[i];
		struct rows_time time = kineto_activity_time(trace->activities, i);
		uint32_t list, row;

		if (activity->scope == TRACE_NONE || !kineto_is_timed(activity))
			continue;
		list = gpus_find(&kineto->gpus, activity->agent) * kineto->slots +
		       kineto_slot(kineto, activity->stream, activity->process);
		row = find(hulls, activity->scope, list);
		if (row)
			widen(&hulls->table[row - 1], time.begin_ns, time.end_ns);
	}
}

/* Extends the rows of parent scopes. Each row extends its parents upwards until one does not grow,
 * or until one has no parent looked up yet. The latter comes later in the table, because all rows
 * before I have been looked up, and then passes its whole extent on. */
static void widen_parents(struct hulls *hulls)
{
	const struct trace *trace = hulls->kineto->trace;

	memset(hulls->last, 0, hulls->kineto->activities.lists_count * sizeof(*hulls->last));
	for (uint32_t i = 0; i < hulls->count && !hulls->kineto->out.error; i++) {
		const struct hull hull = hulls->table[i];
		uint32_t scope = trace->scopes[hull.scope].parent;
		uint32_t row = scope == TRACE_NONE ? 0 : find(hulls, scope, hull.list);

		hulls->table[i].parent = row;
		while (row && widen(&hulls->table[row - 1], hull.begin_ns, hull.end_ns))
			row = hulls->table[row - 1].parent;
	}
}

/* ---- rows ---- */

static struct rows_time hull_time(const void *table, uint32_t row)
{
	const struct hull *hull = (const struct hull *)table + row;

	return (struct rows_time){hull->begin_ns, hull->end_ns};
}

static void put_hull(struct hulls *hulls, uint32_t row, uint64_t tid)
{
	struct kineto *kineto = hulls->kineto;
	const struct hull *hull = &hulls->table[row];
	struct kineto_piece name = kineto_scope_name(kineto, hull->scope);
	char *at = kineto_out_begin(&kineto->out, (size_t)name.bytes + ROW_BYTES);

	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":");
	at = kineto_put_piece(at, &kineto->text, name);
	at = KINETO_PUT(at, ",\"pid\":");
	at = kineto_put_u64(at, hull->list / kineto->slots);
	at = KINETO_PUT(at, ",\"tid\":");
	at = kineto_put_u64(at, tid);
	at = KINETO_PUT(at, ",\"ts\":");
	at = kineto_put_time(&kineto->out, at, hull->begin_ns);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, kineto_span_ns(hull_time(hulls->table, row)));
	at = KINETO_PUT(at, ",\"args\":{\"External id\":");
	at = kineto_put_u64(at, kineto_external_id(hull->scope));
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
}

/* Writes one track; rows that do not nest stay in LIST. */
static void put_lane(struct hulls *hulls, struct rows_list *list, uint64_t tid)
{
	struct rows_walk walk = rows_walk_begin(&hulls->rows, list);
	struct rows_list rest = {.words = 0};

	hulls->nest.depth = 0;
	while (walk.row != ROWS_NONE && !hulls->kineto->out.error) {
		uint32_t row = rows_walk_take(&walk);
		int fits = rows_nest_take(&hulls->nest, hull_time(hulls->table, row));

		kineto_fail(hulls->kineto, fits);
		if (fits)
			put_hull(hulls, row, tid);
		else
			rows_run_add(&hulls->rows, &rest.main, row);
	}
	*list = rest;
}

static void put_lanes(struct hulls *hulls, uint32_t number)
{
	struct kineto *kineto = hulls->kineto;
	struct rows_list *list = &hulls->rows.lists[number];

	kineto_fail(kineto, rows_list_sort(&hulls->rows, list));
	for (unsigned lane = 1; rows_list_count(list) > 0 && !kineto->out.error; lane++)
		put_lane(hulls, list,
			 kineto_name_stream(kineto, number / kineto->slots, number % kineto->slots,
					    KINETO_LANE_SCOPES, lane));
}

static void put_all(struct hulls *hulls)
{
	uint32_t lists = (uint32_t)hulls->kineto->activities.lists_count;

	hulls->rows = (struct rows){
		.table = hulls->table, .row_bytes = sizeof(*hulls->table), .time_of = hull_time};
	if (rows_init(&hulls->rows, hulls->count, lists) < 0) {
		kineto_fail(hulls->kineto, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < hulls->count; i++)
		rows_list_deal(&hulls->rows, &hulls->rows.lists[hulls->table[i].list], i,
			       hull_time(hulls->table, i));
	for (uint32_t i = 0; i < lists && !hulls->kineto->out.error; i++)
		put_lanes(hulls, i);
	rows_release(&hulls->rows);
}

void kineto_put_hulls(struct kineto *kineto)
{
	struct hulls hulls = {
		.kineto = kineto,
		.last = calloc(kineto->activities.lists_count + 1, sizeof(*hulls.last)),
	};

	if (hulls.last) {
		gather(&hulls);
		widen_parents(&hulls);
		put_all(&hulls);
	} else {
		kineto_fail(kineto, -ENOMEM);
	}
	free(hulls.last);
	free(hulls.table);
	free(hulls.hash);
	rows_nest_release(&hulls.nest);
}
