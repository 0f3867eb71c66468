/* Writes the annotation rows. For each scope and stream there is one row, from the first start to
 * the last end of the activities that were submitted in the scope or in scopes inside of it. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/table.h"
#include "format/kineto/kineto_writer.h"

/* An upper bound for a row without its name. */
#define ROW_BYTES 320

/* An annotation row. */
struct annotation {
	uint32_t scope;
	uint32_t list; /* gpu * slots + slot, as the lists of kineto->timeline.activities */
	/* 1 + index of the row of the parent scope on the same list; 0 = none, or not looked up
	 * yet */
	uint32_t parent;
	int64_t begin_ns, end_ns;
};

struct annotations {
	struct kineto *kineto;
	struct annotation *table;
	uint32_t count;
	struct hash_map map; /* of `table`, by scope and list */
	uint32_t *last;	     /* by list: 1 + index of the row that was last looked up */
	struct rows rows;
	struct rows_nest nest;
};

/* ---- the table ---- */

/* The index of the row of SCOPE on LIST, or -ENOMEM. A new row has an empty extent. */
static int64_t find_row(struct annotations *annotations, uint32_t scope, uint32_t list)
{
	struct annotation *row;
	struct hash_probe probe;

	if (hash_map_reserve(&annotations->map) < 0)
		return -ENOMEM;
	probe = hash_map_probe(&annotations->map, hash_mix(scope, list));
	while (hash_map_next(&annotations->map, &probe)) {
		row = &annotations->table[probe.row];
		if (row->scope == scope && row->list == list)
			return probe.row;
	}
	row = table_add((void **)&annotations->table, &annotations->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = (struct annotation){
		.scope = scope, .list = list, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
	hash_map_put(&annotations->map, &probe, annotations->count - 1);
	return annotations->count - 1;
}

/* The same plus 1, or 0 if there is no memory; the error is kept. */
static uint32_t find(struct annotations *annotations, uint32_t scope, uint32_t list)
{
	uint32_t last = annotations->last[list];
	int64_t row;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): last is 0 if the table is empty */
	if (last && annotations->table[last - 1].scope == scope)
		return last;
	row = find_row(annotations, scope, list);
	if (row < 0) {
		kineto_fail(annotations->kineto, (int)row);
		return 0;
	}
	annotations->last[list] = (uint32_t)row + 1;
	return annotations->last[list];
}

/* Extends a row to the given times; returns whether it grew. */
static bool widen(struct annotation *annotation, int64_t begin_ns, int64_t end_ns)
{
	bool is_wider = begin_ns < annotation->begin_ns || end_ns > annotation->end_ns;

	if (begin_ns < annotation->begin_ns)
		annotation->begin_ns = begin_ns;
	if (end_ns > annotation->end_ns)
		annotation->end_ns = end_ns;
	return is_wider;
}

/* Extends the row of each timed activity's scope. */
static void gather(struct annotations *annotations)
{
	const struct kineto *kineto = annotations->kineto;
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->activities_count && !kineto->out.error; i++) {
		const struct trace_activity *activity = &trace->activities[i];
		struct rows_time time = timeline_activity_time(trace->activities, i);
		uint32_t list, row;

		if (activity->scope == TRACE_NONE || !kineto_is_timed(activity))
			continue;
		list = (uint32_t)timeline_place_of(
			&kineto->timeline, activity,
			gpus_find(&kineto->timeline.gpus, activity->agent));
		row = find(annotations, activity->scope, list);
		if (row)
			widen(&annotations->table[row - 1], time.begin_ns, time.end_ns);
	}
}

/* Extends the rows of parent scopes. Each row extends its parents upwards until one does not grow,
 * or until one has no parent looked up yet. The latter comes later in the table, because all rows
 * before I have been looked up, and then passes its whole extent on. */
static void widen_parents(struct annotations *annotations)
{
	const struct trace *trace = annotations->kineto->trace;

	memset(annotations->last, 0,
	       annotations->kineto->timeline.activities.lists_count * sizeof(*annotations->last));
	for (uint32_t i = 0; i < annotations->count && !annotations->kineto->out.error; i++) {
		const struct annotation annotation = annotations->table[i];
		uint32_t scope = trace->scopes[annotation.scope].parent;
		uint32_t row = scope == TRACE_NONE ? 0 : find(annotations, scope, annotation.list);

		annotations->table[i].parent = row;
		while (row &&
		       widen(&annotations->table[row - 1], annotation.begin_ns, annotation.end_ns))
			row = annotations->table[row - 1].parent;
	}
}

/* ---- rows ---- */

static struct rows_time annotation_time(const void *table, uint32_t row)
{
	const struct annotation *annotation = (const struct annotation *)table + row;

	return (struct rows_time){annotation->begin_ns, annotation->end_ns};
}

static void put_annotation(struct annotations *annotations, uint32_t row, uint64_t tid)
{
	struct kineto *kineto = annotations->kineto;
	const struct annotation *annotation = &annotations->table[row];
	struct piece name = kineto_scope_name(kineto, annotation->scope);
	char *at = kineto_out_begin(&kineto->out, (size_t)name.bytes + ROW_BYTES);

	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":");
	at = pieces_copy(at, &kineto->text, name);
	at = KINETO_PUT(at, ",\"pid\":");
	at = kineto_put_u64(at, annotation->list / kineto->timeline.slots);
	at = KINETO_PUT(at, ",\"tid\":");
	at = kineto_put_u64(at, tid);
	at = KINETO_PUT(at, ",\"ts\":");
	at = kineto_put_time(&kineto->out, at, annotation->begin_ns);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, timeline_span_ns(annotation_time(annotations->table, row)));
	at = KINETO_PUT(at, ",\"args\":{\"External id\":");
	at = kineto_put_u64(at, kineto_external_id(annotation->scope));
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
}

static void put_list(struct annotations *annotations, uint32_t number)
{
	struct kineto *kineto = annotations->kineto;
	uint32_t slots = kineto->timeline.slots;
	struct tracks tracks = tracks_open(&annotations->rows, &annotations->rows.lists[number],
					   NULL, NULL, &annotations->nest);

	while (!kineto->out.error && tracks_begin(&tracks)) {
		uint64_t tid = kineto_name_stream(kineto, number / slots, number % slots,
						  KINETO_TRACK_SCOPES, tracks.number);

		while (!kineto->out.error && tracks_next(&tracks))
			put_annotation(annotations, tracks.row, tid);
	}
	kineto_fail(kineto, tracks.error);
}

static void put_all(struct annotations *annotations)
{
	uint32_t lists = (uint32_t)annotations->kineto->timeline.activities.lists_count;

	annotations->rows = (struct rows){.table = annotations->table,
					  .row_bytes = sizeof(*annotations->table),
					  .time_of = annotation_time};
	if (rows_init(&annotations->rows, annotations->count, lists) < 0) {
		kineto_fail(annotations->kineto, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < annotations->count; i++)
		rows_list_deal(&annotations->rows,
			       &annotations->rows.lists[annotations->table[i].list], i,
			       annotation_time(annotations->table, i));
	for (uint32_t i = 0; i < lists && !annotations->kineto->out.error; i++)
		put_list(annotations, i);
	rows_release(&annotations->rows);
}

void kineto_put_annotations(struct kineto *kineto)
{
	struct annotations annotations = {
		.kineto = kineto,
		.last = calloc(kineto->timeline.activities.lists_count + 1,
			       sizeof(*annotations.last)),
	};

	if (annotations.last) {
		gather(&annotations);
		widen_parents(&annotations);
		put_all(&annotations);
	} else {
		kineto_fail(kineto, -ENOMEM);
	}
	free(annotations.last);
	free(annotations.table);
	hash_map_release(&annotations.map);
	rows_nest_release(&annotations.nest);
}
