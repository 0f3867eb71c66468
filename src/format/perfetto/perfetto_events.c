/* Writes the activities of a GPU as track events: slices like those of the CPU, with typed
 * arguments, and with arrows that every reader draws. A GPU is a track; its pairs of stream and
 * queue are tracks below it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/table.h"
#include "format/perfetto/perfetto_activity.h"
#include "format/perfetto/perfetto_parts.h"
#include "format/words.h"

/* Numbers of interned names and categories that are no strings of the trace; copies by
 * direction. */
#define NAME_COPY   1
#define NAME_MEMSET (NAME_COPY + TRACE_P2P + 1)
#define NAME_KERNEL (NAME_MEMSET + 1) /* a kernel whose symbol is unknown */

#define CATEGORY_KIND 1 /* plus enum trace_activity_kind */

/* Numbers of annotation names: the arguments of both forms, then those of this form. */
#define ANNOTATION_ARG	     1
#define ANNOTATION_GRID	     (ANNOTATION_ARG + PERFETTO_ARG_COUNT)
#define ANNOTATION_WORKGROUP (ANNOTATION_GRID + 1)
#define ANNOTATION_GRID_UNIT (ANNOTATION_GRID + 2)

struct gpu {
	struct sequence *sequence;
	struct proto *packet;
	const struct trace *trace;
	const struct perfetto_arrows *arrows;
	uint32_t number;
	struct perfetto_args args;
	struct perfetto_tracks tracks;
	struct rows rows; /* activities; a list for each row of `tracks` */
};

static uint64_t gpu_track(const struct gpu *gpu)
{
	return perfetto_track_id(PERFETTO_TRACK_GPU, gpu->number, 0);
}

/* The track's index has room for 4,096 GPUs with 2^20 tracks each, numbered from 1. */
static uint64_t subtrack_id(const struct gpu *gpu, uint32_t list, uint32_t subtrack)
{
	return perfetto_track_id(PERFETTO_TRACK_QUEUE, gpu->number << 20 | (list + 1), subtrack);
}

static void intern_fixed_names(struct gpu *gpu)
{
	struct sequence *sequence = gpu->sequence;

	for (uint32_t i = 0; i < PERFETTO_ARG_COUNT; i++)
		sequence_intern_text(sequence, INTERNED_ANNOTATION_NAMES, ANNOTATION_ARG + i,
				     perfetto_arg_name(i));
	sequence_intern_text(sequence, INTERNED_ANNOTATION_NAMES, ANNOTATION_GRID, "grid");
	sequence_intern_text(sequence, INTERNED_ANNOTATION_NAMES, ANNOTATION_GRID_UNIT,
			     "grid_unit");
	sequence_intern_text(sequence, INTERNED_ANNOTATION_NAMES, ANNOTATION_WORKGROUP,
			     "workgroup");
	for (uint32_t i = TRACE_KERNEL; i <= TRACE_MEMSET; i++)
		sequence_intern_text(sequence, INTERNED_CATEGORIES, CATEGORY_KIND + i,
				     words_kind(i));
	for (uint32_t i = TRACE_COPY_UNKNOWN; i <= TRACE_P2P; i++) {
		const struct trace_work copy = {.kind = TRACE_COPY, .direction = i};

		sequence_intern_text(sequence, INTERNED_EVENT_NAMES, NAME_COPY + i,
				     words_work(gpu->trace, &copy));
	}
	sequence_intern_text(sequence, INTERNED_EVENT_NAMES, NAME_MEMSET, "memset");
	sequence_intern_text(sequence, INTERNED_EVENT_NAMES, NAME_KERNEL, "(unknown kernel)");
	sequence_reserve(sequence, SEQUENCE_EVENT_NAMES, NAME_KERNEL);
}

static void put_gpu_track(struct gpu *gpu, const struct gpus *gpus)
{
	char name[160] = "no GPU";

	if (gpu->number < gpus->count) {
		const struct trace_agent *agent = &gpu->trace->agents[gpus->agents[gpu->number]];

		snprintf(name, sizeof(name), "GPU %" PRIu32 " (%s)", gpu->number,
			 trace_text(gpu->trace, agent->name));
	}
	sequence_packet_begin(gpu->sequence);
	intern_fixed_names(gpu);
	sequence_track_end(gpu->sequence, gpu_track(gpu), 0, name);
}

static void begin_track(void *context, const struct slice *first)
{
	struct gpu *gpu = context;
	char name[128];

	perfetto_tracks_name(&gpu->tracks, &gpu->trace->activities[first->row], name, sizeof(name));
	sequence_packet_begin(gpu->sequence);
	sequence_track_end(gpu->sequence, subtrack_id(gpu, first->list, first->subtrack),
			   gpu_track(gpu), name);
}

static uint32_t find_name(struct gpu *gpu, const struct trace_work *work)
{
	if (work->kind == TRACE_COPY)
		return NAME_COPY + work->direction;
	if (work->kind == TRACE_MEMSET)
		return NAME_MEMSET;
	if (work->name == 0)
		return NAME_KERNEL;
	return sequence_intern(gpu->sequence, SEQUENCE_EVENT_NAMES, work->name);
}

static void put_args(struct gpu *gpu, const struct trace_activity *activity)
{
	perfetto_args_fill(&gpu->args, gpu->trace, activity);
	for (unsigned i = 0; i < gpu->args.count; i++) {
		const struct perfetto_arg *arg = &gpu->args.rows[i];

		if (arg->text)
			sequence_put_text(gpu->sequence, ANNOTATION_ARG + arg->name, arg->text);
		else
			sequence_put_uint(gpu->sequence, ANNOTATION_ARG + arg->name, arg->number);
	}
}

static void put_dim(struct gpu *gpu, uint32_t name, uint64_t x, uint64_t y, uint64_t z)
{
	char text[80];

	snprintf(text, sizeof(text), "%" PRIu64 "x%" PRIu64 "x%" PRIu64, x, y, z);
	sequence_put_text(gpu->sequence, name, text);
}

/* Writes the arrows of an activity: to activities that waited for it, from those that it waited
 * for, and from its call. */
static void put_arrows(struct gpu *gpu, uint32_t row)
{
	const struct perfetto_arrows *arrows = gpu->arrows;

	for (uint32_t i = arrows->first_from[row]; i < arrows->first_from[row + 1]; i++)
		proto_put_fixed64(gpu->packet, EVENT_FLOW_IDS,
				  perfetto_wait_flow(gpu->trace, arrows->from_rows[i]));
	for (uint32_t i = arrows->first_to[row]; i < arrows->first_to[row + 1]; i++)
		proto_put_fixed64(gpu->packet, EVENT_TERMINATING_FLOW_IDS,
				  perfetto_wait_flow(gpu->trace, i));
	if (gpu->trace->activities[row].call != TRACE_NONE)
		proto_put_fixed64(gpu->packet, EVENT_TERMINATING_FLOW_IDS, perfetto_event(row));
}

static void put_grid(struct gpu *gpu, const struct trace_work *work, bool in_blocks)
{
	uint64_t grid[3];

	for (int i = 0; i < 3; i++)
		grid[i] =
			in_blocks ? words_blocks(work->grid[i], work->workgroup[i]) : work->grid[i];
	put_dim(gpu, ANNOTATION_GRID, grid[0], grid[1], grid[2]);
	sequence_put_text(gpu->sequence, ANNOTATION_GRID_UNIT, in_blocks ? "blocks" : "work_items");
}

static void begin_slice(void *context, const struct slice *slice)
{
	struct gpu *gpu = context;
	const struct trace_activity *activity = &gpu->trace->activities[slice->row];
	const struct trace_work *work = trace_work_of(gpu->trace, activity);
	size_t mark = sequence_event_begin(gpu->sequence, EVENT_BEGIN,
					   subtrack_id(gpu, slice->list, slice->subtrack),
					   slice->time.begin_ns);

	proto_put_u64(gpu->packet, EVENT_CATEGORY_IIDS, CATEGORY_KIND + work->kind);
	proto_put_u64(gpu->packet, EVENT_NAME_IID, find_name(gpu, work));
	put_args(gpu, activity);
	if (work->kind == TRACE_KERNEL) {
		put_grid(gpu, work, words_counts_blocks(gpu->trace, activity));
		put_dim(gpu, ANNOTATION_WORKGROUP, work->workgroup[0], work->workgroup[1],
			work->workgroup[2]);
	}
	put_arrows(gpu, slice->row);
	sequence_event_end(gpu->sequence, mark);
}

static void end_slice(void *context, uint32_t list, uint32_t subtrack, int64_t ns)
{
	struct gpu *gpu = context;

	sequence_event_end(gpu->sequence,
			   sequence_event_begin(gpu->sequence, EVENT_END,
						subtrack_id(gpu, list, subtrack), ns));
}

/* Distributes the GPU's activities to a list for each of its tracks. */
static int deal(struct gpu *gpu, const struct gpus *gpus)
{
	const struct trace *trace = gpu->trace;
	struct rows *rows = &gpu->rows;
	uint32_t lists = 0;

	for (uint32_t row = 0; row < trace->activities_count; row++) {
		int64_t track;

		if (gpus_find(gpus, trace->activities[row].agent) != gpu->number)
			continue;
		track = perfetto_tracks_find(&gpu->tracks, &trace->activities[row]);
		if (track < 0 || (track == lists &&
				  !table_add((void **)&rows->lists, &lists, sizeof(*rows->lists))))
			return -ENOMEM;
		rows_list_deal(rows, &rows->lists[track], row,
			       perfetto_activity_time(trace->activities, row));
	}
	return 0;
}

static int put_slices(struct gpu *gpu, const struct gpus *gpus)
{
	const struct slices_output output = {true, begin_track, begin_slice, end_slice, gpu};
	int err = rows_init(&gpu->rows, gpu->trace->activities_count, 0);

	if (!err)
		err = deal(gpu, gpus);
	for (uint32_t list = 0; list < gpu->tracks.count && !err; list++)
		err = slices_put(&gpu->rows, list, &output);
	rows_release(&gpu->rows);
	return err;
}

int perfetto_put_events(const struct perfetto *perfetto, uint32_t number)
{
	struct sequence *sequence = perfetto->sequence;
	const struct trace *trace = sequence->trace;
	struct gpu gpu = {
		.sequence = sequence,
		.packet = &sequence->packet,
		.trace = trace,
		.arrows = perfetto->arrows,
		.number = number,
		.args = {.path.scope = TRACE_NONE, .launch_path.scope = TRACE_NONE},
		.rows = {.table = trace->activities,
			 .row_bytes = sizeof(*trace->activities),
			 .time_of = perfetto_activity_time},
	};
	int err;

	perfetto_tracks_init(&gpu.tracks, trace);
	sequence_start(sequence);
	put_gpu_track(&gpu, &perfetto->timeline->gpus);
	err = put_slices(&gpu, &perfetto->timeline->gpus);
	perfetto_tracks_release(&gpu.tracks);
	return err ? err : sequence_error(sequence);
}
