/* Writes the annotation rows. For each scope and stream there is one row, from the first start to
 * the last end of the activities that were submitted in the scope or in scopes inside of it. */
#include <errno.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"
#include "format/timeline/projection.h"

/* An upper bound for a row without its name. */
#define ROW_BYTES 320

/* The places of the projection are the lists of kineto->timeline.activities: gpu * slots + slot. */
struct annotations {
	struct kineto *kineto;
	struct projection projection;
	struct rows rows;
	struct rows_nest nest;
};

/* Projects the scope of each timed activity. */
static int project(struct annotations *annotations)
{
	const struct kineto *kineto = annotations->kineto;
	const struct trace *trace = kineto->trace;
	int err = projection_init(&annotations->projection, trace,
				  (uint32_t)kineto->timeline.activities.lists_count);

	for (uint32_t i = 0; i < trace->activities_count && !err; i++) {
		const struct trace_activity *activity = &trace->activities[i];
		size_t place;

		if (activity->scope == TRACE_NONE || !kineto_is_timed(activity))
			continue;
		place = timeline_place_of(&kineto->timeline, activity,
					  gpus_find(&kineto->timeline.gpus, activity->agent));
		err = projection_add(&annotations->projection, activity->scope, (uint32_t)place,
				     timeline_activity_time(trace->activities, i));
	}
	return err ? err : projection_finish(&annotations->projection);
}

/* ---- rows ---- */

static void put_annotation(struct annotations *annotations, uint32_t row, uint64_t tid)
{
	struct kineto *kineto = annotations->kineto;
	const struct projected *annotation = &annotations->projection.rows[row];
	struct piece name = kineto_scope_name(kineto, annotation->what);
	char *at = kineto_out_begin(&kineto->out, (size_t)name.bytes + ROW_BYTES);

	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":");
	at = pieces_copy(at, &kineto->text, name);
	at = KINETO_PUT(at, ",\"pid\":");
	at = kineto_put_u64(at, annotation->place / kineto->timeline.slots);
	at = KINETO_PUT(at, ",\"tid\":");
	at = kineto_put_u64(at, tid);
	at = KINETO_PUT(at, ",\"ts\":");
	at = kineto_put_time(&kineto->out, at, annotation->begin_ns);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, timeline_span_ns(projected_time(annotations->projection.rows, row)));
	at = KINETO_PUT(at, ",\"args\":{\"External id\":");
	at = kineto_put_near(&kineto->external_ids, at, kineto_external_id(annotation->what));
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
	const struct projection *projection = &annotations->projection;
	uint32_t lists = projection->places;

	annotations->rows = (struct rows){.table = projection->rows,
					  .row_bytes = sizeof(*projection->rows),
					  .time_of = projected_time};
	if (rows_init(&annotations->rows, projection->count, lists) < 0) {
		kineto_fail(annotations->kineto, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < projection->count; i++)
		rows_list_deal(&annotations->rows,
			       &annotations->rows.lists[projection->rows[i].place], i,
			       projected_time(projection->rows, i));
	for (uint32_t i = 0; i < lists && !annotations->kineto->out.error; i++)
		put_list(annotations, i);
	rows_release(&annotations->rows);
}

void kineto_put_annotations(struct kineto *kineto)
{
	struct annotations annotations = {.kineto = kineto};
	int err = project(&annotations);

	if (err)
		kineto_fail(kineto, err);
	else
		put_all(&annotations);
	projection_release(&annotations.projection);
	rows_nest_release(&annotations.nest);
}
