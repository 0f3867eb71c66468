/* Projects scopes and graph launches onto GPUs, and writes the tracks of them.
 *
 * A slice is drawn inside that of the scope around it. Where it overlaps another slice in that
 * scope partially, it begins a further track, and what is in it is drawn there. So a slice is never
 * drawn inside one that did not cause it. */
#include "format/perfetto/perfetto_projection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/table.h"
#include "format/perfetto/perfetto_parts.h"

/* Scopes that are nested more deeply are drawn beside each other. */
#define DEPTH_MAX 256

#define ANNOTATIONS(X)                                                                             \
	X(SCOPE_ID, "scope_id")                                                                    \
	X(EXEC, "exec")                                                                            \
	X(REPLAY, "replay")

enum annotation {
	ANNOTATION_NONE,
#define X(name, text) ANNOTATION_##name,
	ANNOTATIONS(X)
#undef X
};

enum { CATEGORY_PROJECTION = 1 };

/* ---- projecting ---- */

static uint32_t place_of(const struct timeline *timeline, const struct trace_activity *activity)
{
	return activity->process * (timeline->gpus.count + 1) +
	       gpus_find(&timeline->gpus, activity->agent);
}

static int add_activities(struct projection *projection, const struct timeline *timeline)
{
	const struct trace *trace = timeline->trace;
	int err = 0;

	for (uint32_t i = 0; i < trace->activities_count && !err; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t what = row->scope;

		if (row->launch != TRACE_NONE)
			what = trace->scopes_count + row->launch;
		if (what != TRACE_NONE && row->untimed == RECORD_UNTIMED_NO)
			err = projection_add(projection, what, place_of(timeline, row),
					     timeline_activity_time(trace->activities, i));
	}
	return err ? err : projection_finish(projection);
}

/* Lists the rows of each scope and launch: a counting sort. */
static int index_rows(struct perfetto_projection *projection, uint64_t keys)
{
	const struct projected *rows = projection->projection.rows;
	uint32_t count = projection->projection.count;

	projection->first = table_zeroed(keys + 2, sizeof(*projection->first));
	projection->rows = table_alloc(count, sizeof(*projection->rows));
	if (!projection->first || !projection->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		projection->first[(size_t)rows[i].what + 2]++;
	for (uint64_t i = 2; i < keys + 2; i++)
		projection->first[i] += projection->first[i - 1];
	for (uint32_t i = 0; i < count; i++)
		projection->rows[projection->first[(size_t)rows[i].what + 1]++] = i;
	return 0;
}

int perfetto_projection_init(struct perfetto_projection *projection,
			     const struct timeline *timeline)
{
	const struct trace *trace = timeline->trace;
	uint32_t places = trace->processes_count * (timeline->gpus.count + 1);
	int err = projection_init(&projection->projection, trace, places);

	if (!err)
		err = add_activities(&projection->projection, timeline);
	if (!err)
		err = index_rows(projection, (uint64_t)trace->scopes_count + trace->launches_count);
	if (err)
		perfetto_projection_release(projection);
	return err;
}

void perfetto_projection_release(struct perfetto_projection *projection)
{
	projection_release(&projection->projection);
	free(projection->first);
	free(projection->rows);
	*projection = (struct perfetto_projection){0};
}

/* ---- tracks ---- */

/* A slice in the order of writing: by place, steps last, then as rows_time_before says, outer ones
 * first. */
struct entry {
	uint32_t row;
	uint32_t place;
	uint32_t depth;
	bool is_step;
	struct rows_time time;
};

/* A track: its open slices, innermost last. */
struct track {
	const struct entry *open[DEPTH_MAX];
	uint32_t depth;
};

struct writer {
	const struct perfetto *perfetto;
	struct sequence *sequence;
	const struct trace *trace;
	const struct projection *projection;
	struct entry *entries;
	struct track *tracks; /* of the current place */
	uint32_t tracks_count;
};

static bool is_step(const struct projection *projection, const struct projected *row)
{
	return projected_is_scope(projection, row) &&
	       projection->trace->scopes[row->what].kind == RECORD_SCOPE_STEP;
}

/* The row around ROW that is drawn around it: no step. 1 + its index, or 0. RET_DEPTH: the number
 * of all rows around it. */
static uint32_t parent_of(const struct projection *projection, uint32_t row, uint32_t *ret_depth)
{
	uint32_t found = 0, depth = 0;

	for (row = projection->rows[row].parent; row && depth < DEPTH_MAX;
	     row = projection->rows[row - 1].parent) {
		if (!found && !is_step(projection, &projection->rows[row - 1]))
			found = row;
		depth++;
	}
	*ret_depth = depth;
	return found;
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	if (a->is_step != b->is_step)
		return a->is_step ? 1 : -1;
	if (rows_time_before(a->time, b->time))
		return -1;
	if (rows_time_before(b->time, a->time))
		return 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int sort_entries(struct writer *writer)
{
	const struct projection *projection = writer->projection;

	writer->entries = table_alloc(projection->count, sizeof(*writer->entries));
	if (!writer->entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < projection->count; i++) {
		const struct projected *row = &projection->rows[i];
		struct entry *entry = &writer->entries[i];

		*entry = (struct entry){.row = i,
					.place = row->place,
					.is_step = is_step(projection, row),
					.time = projected_time(projection->rows, i)};
		parent_of(projection, i, &entry->depth);
	}
	qsort(writer->entries, projection->count, sizeof(*writer->entries), compare);
	return 0;
}

static uint64_t track_id(const struct entry *entry, uint32_t track)
{
	return perfetto_track_id(entry->is_step ? PERFETTO_TRACK_STEPS : PERFETTO_TRACK_PROJECTED,
				 entry->place, track);
}

static void put_track(struct writer *writer, const struct entry *entry, uint32_t track)
{
	const struct gpus *gpus = &writer->perfetto->timeline->gpus;
	uint32_t process = entry->place / (gpus->count + 1);
	uint32_t gpu = entry->place % (gpus->count + 1);
	const char *what = entry->is_step ? "steps" : "scopes";
	char name[64];

	if (gpu < gpus->count)
		snprintf(name, sizeof(name), "GPU %" PRIu32 " %s", gpu, what);
	else
		snprintf(name, sizeof(name), "no GPU, %s", what);
	sequence_packet_begin(writer->sequence);
	sequence_track_end(writer->sequence, track_id(entry, track),
			   perfetto_track_id(PERFETTO_TRACK_PROCESS, process, 0), name);
}

static void put_end(struct writer *writer, uint32_t track)
{
	struct track *row = &writer->tracks[track];
	const struct entry *entry = row->open[--row->depth];

	sequence_event_end(writer->sequence,
			   sequence_event_begin(writer->sequence, EVENT_END, track_id(entry, track),
						entry->time.end_ns));
}

/* Ends the slices that end at NS or before. */
static void close_until(struct writer *writer, uint32_t track, int64_t ns)
{
	const struct track *row = &writer->tracks[track];

	while (row->depth > 0 && row->open[row->depth - 1]->time.end_ns <= ns)
		put_end(writer, track);
}

/* Whether the slice may be drawn on the track: in the slice around it, or in none. */
static bool is_fit(const struct writer *writer, const struct entry *entry, uint32_t parent,
		   const struct track *track)
{
	if (track->depth == 0)
		return true;
	return !entry->is_step && track->depth < DEPTH_MAX && parent != 0 &&
	       track->open[track->depth - 1]->row == parent - 1;
}

/* Finds the track of the slice: that of the slice around it, else the first empty one, else a new
 * one. Returns its number or -ENOMEM. */
static int64_t find_track(struct writer *writer, const struct entry *entry)
{
	uint32_t depth, parent = parent_of(writer->projection, entry->row, &depth);
	int64_t found = -1;

	for (uint32_t i = 0; i < writer->tracks_count; i++) {
		const struct track *track = &writer->tracks[i];

		close_until(writer, i, entry->time.begin_ns);
		if (!is_fit(writer, entry, parent, track) || (track->depth == 0 && found >= 0))
			continue;
		found = i;
		if (track->depth > 0)
			break;
	}
	if (found >= 0)
		return found;
	if (!table_add((void **)&writer->tracks, &writer->tracks_count, sizeof(*writer->tracks)))
		return -ENOMEM;
	put_track(writer, entry, writer->tracks_count - 1);
	return writer->tracks_count - 1;
}

/* ---- slices ---- */

static void put_launch(struct writer *writer, const struct trace_launch *launch)
{
	const struct trace_exec *exec = &writer->trace->execs[launch->exec];
	char name[64] = "graph replay";

	if (exec->graph != TRACE_NONE)
		snprintf(name, sizeof(name), "graph %" PRIu64 " replay",
			 writer->trace->graphs[exec->graph].id);
	proto_put_text(&writer->sequence->packet, EVENT_NAME, name);
	sequence_put_uint(writer->sequence, ANNOTATION_EXEC, exec->id);
	sequence_put_uint(writer->sequence, ANNOTATION_REPLAY, launch->replay);
}

static void put_begin(struct writer *writer, const struct entry *entry, uint32_t track)
{
	const struct projection *projection = writer->projection;
	const struct projected *row = &projection->rows[entry->row];
	struct sequence *sequence = writer->sequence;
	size_t mark = sequence_event_begin(sequence, EVENT_BEGIN, track_id(entry, track),
					   entry->time.begin_ns);

	proto_put_u64(&sequence->packet, EVENT_CATEGORY_IIDS, CATEGORY_PROJECTION);
	if (projected_is_scope(projection, row)) {
		const struct trace_scope *scope = &writer->trace->scopes[row->what];

		proto_put_u64(&sequence->packet, EVENT_NAME_IID,
			      sequence_intern(sequence, SEQUENCE_EVENT_NAMES, scope->text));
		sequence_put_uint(sequence, ANNOTATION_SCOPE_ID, scope->id);
	} else {
		put_launch(writer, projected_launch(projection, row));
	}
	proto_put_fixed64(&sequence->packet, EVENT_TERMINATING_FLOW_IDS,
			  perfetto_projected_flow(writer->trace, writer->perfetto->arrows->count,
						  entry->row));
	sequence_event_end(sequence, mark);
}

static int put_slice(struct writer *writer, const struct entry *entry)
{
	int64_t track = find_track(writer, entry);
	struct track *row;

	if (track < 0)
		return (int)track;
	row = &writer->tracks[track];
	row->open[row->depth++] = entry;
	put_begin(writer, entry, (uint32_t)track);
	return 0;
}

/* Ends all slices of a place. */
static void end_place(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->tracks_count; i++)
		close_until(writer, i, INT64_MAX);
	free(writer->tracks);
	writer->tracks = NULL;
	writer->tracks_count = 0;
}

static void intern_fixed_names(struct sequence *sequence)
{
	static const char *const annotations[] = {"",
#define X(name, text) text,
						  ANNOTATIONS(X)
#undef X
	};

	sequence_packet_begin(sequence);
	for (uint32_t i = 1; i < sizeof(annotations) / sizeof(annotations[0]); i++)
		sequence_intern_text(sequence, INTERNED_ANNOTATION_NAMES, i, annotations[i]);
	sequence_intern_text(sequence, INTERNED_CATEGORIES, CATEGORY_PROJECTION, "projection");
	sequence_packet_end(sequence);
}

int perfetto_put_projection(const struct perfetto *perfetto)
{
	struct writer writer = {
		.perfetto = perfetto,
		.sequence = perfetto->sequence,
		.trace = perfetto->sequence->trace,
		.projection = &perfetto->projection->projection,
	};
	int err = sort_entries(&writer);

	if (writer.projection->count == 0) {
		free(writer.entries);
		return err;
	}
	sequence_start(writer.sequence);
	intern_fixed_names(writer.sequence);
	for (uint32_t i = 0; i < writer.projection->count && !err; i++) {
		const struct entry *entry = &writer.entries[i];

		if (i > 0 &&
		    (entry[-1].place != entry->place || entry[-1].is_step != entry->is_step))
			end_place(&writer);
		err = put_slice(&writer, entry);
	}
	end_place(&writer);
	free(writer.entries);
	return err ? err : sequence_error(writer.sequence);
}
