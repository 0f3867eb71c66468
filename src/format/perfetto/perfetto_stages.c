/* Writes the activities of a GPU as render stage events, Perfetto's own form for GPU activities:
 * one for each kernel, copy and memset. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/table.h"
#include "format/perfetto/perfetto_activity.h"
#include "format/perfetto/perfetto_parts.h"
#include "format/words.h"

/* Keys of `stages` for activities that are no kernels: after all trace_strings, copies by
 * direction, then memset. */
#define STAGE_MEMSET	  (TRACE_P2P + 1)
#define STAGE_FIXED_COUNT (STAGE_MEMSET + 1)

struct gpu {
	struct sequence *sequence;
	struct proto *packet;
	const struct trace *trace;
	const struct perfetto_arrows *arrows;
	uint32_t number;
	struct perfetto_tracks tracks;
	struct perfetto_args args;
	/* Specifications: tracks and stages share one numbering. */
	uint32_t next_specification;
	uint32_t *stages;	  /* by name or STAGE_* key: its specification, 0 = none yet */
	uint32_t *specifications; /* by track: its specification */
	uint32_t specifications_count;
};

static uint32_t intern_specification(struct gpu *gpu, const char *name, const char *description,
				     uint64_t category)
{
	struct proto *interned = &gpu->sequence->interned;
	uint32_t iid = gpu->next_specification++;
	size_t mark = proto_begin(interned, INTERNED_GPU_SPECIFICATIONS);

	proto_put_u64(interned, INTERNED_IID, iid);
	proto_put_text(interned, INTERNED_NAME, name);
	if (description)
		proto_put_text(interned, SPECIFICATION_DESCRIPTION, description);
	proto_put_u64(interned, SPECIFICATION_CATEGORY, category);
	proto_end(interned, mark);
	return iid;
}

/* The specification of the activity's track. 0 after an error, which is kept in sequence->error. */
static uint32_t find_track(struct gpu *gpu, const struct trace_activity *activity)
{
	int64_t track = perfetto_tracks_find(&gpu->tracks, activity);
	uint32_t *added;
	char name[128];

	if (track >= gpu->specifications_count) {
		added = table_add((void **)&gpu->specifications, &gpu->specifications_count,
				  sizeof(*added));
		perfetto_tracks_name(&gpu->tracks, activity, name, sizeof(name));
		if (added)
			*added = intern_specification(gpu, name, NULL, CATEGORY_OTHER);
		else
			track = -ENOMEM;
	}
	if (track < 0) {
		gpu->sequence->error = (int)track;
		return 0;
	}
	return gpu->specifications[track];
}

/* The specification of the activity's stage. Every reader shows the stage's name as the slice's
 * name, so each kernel name is a stage. */
static uint32_t find_stage(struct gpu *gpu, const struct trace_work *work)
{
	bool is_kernel = work->kind == TRACE_KERNEL;
	uint32_t key = work->name;

	if (work->kind == TRACE_COPY)
		key = gpu->trace->strings_count + work->direction;
	else if (work->kind == TRACE_MEMSET)
		key = gpu->trace->strings_count + STAGE_MEMSET;
	if (gpu->stages[key] == 0)
		gpu->stages[key] = intern_specification(
			gpu, words_work(gpu->trace, work), words_kind(work->kind),
			is_kernel ? CATEGORY_COMPUTE : CATEGORY_OTHER);
	return gpu->stages[key];
}

/* Writes the arguments as extra data, which readers of all versions show. Readers that know
 * launches group tracks by the launch's own arguments (put_launch_args). */
static void put_args(struct gpu *gpu, const struct trace_activity *activity)
{
	char digits[24];

	perfetto_args_fill(&gpu->args, gpu->trace, activity);
	for (unsigned i = 0; i < gpu->args.count; i++) {
		const struct perfetto_arg *arg = &gpu->args.rows[i];
		size_t mark = proto_begin(gpu->packet, STAGE_EXTRA_DATA);

		if (!arg->text)
			snprintf(digits, sizeof(digits), "%" PRIu64, arg->number);
		proto_put_text(gpu->packet, EXTRA_NAME, perfetto_arg_name(arg->name));
		proto_put_text(gpu->packet, EXTRA_VALUE, arg->text ? arg->text : digits);
		proto_end(gpu->packet, mark);
	}
}

static void put_dim(struct gpu *gpu, enum launch_field field, const uint32_t dim[3])
{
	size_t mark = proto_begin(gpu->packet, field);

	proto_put_u64(gpu->packet, DIM_X, dim[0]);
	proto_put_u64(gpu->packet, DIM_Y, dim[1]);
	proto_put_u64(gpu->packet, DIM_Z, dim[2]);
	proto_end(gpu->packet, mark);
}

/* Writes the numeric arguments, which put_args has filled in before. */
static void put_launch_args(struct gpu *gpu)
{
	for (unsigned i = 0; i < gpu->args.count; i++) {
		const struct perfetto_arg *arg = &gpu->args.rows[i];
		size_t mark;

		if (arg->text)
			continue;
		mark = proto_begin(gpu->packet, LAUNCH_ARGS);
		proto_put_u64(gpu->packet, LAUNCH_ARG_NAME_IID, (uint64_t)arg->name + 1);
		proto_put_u64(gpu->packet, LAUNCH_ARG_UINT, arg->number);
		proto_end(gpu->packet, mark);
	}
}

/* Perfetto counts the grid in workgroups; a partial one is launched too, so it counts. */
static void put_launch(struct gpu *gpu, const struct trace_work *work)
{
	uint32_t groups[3];
	size_t mark;

	for (int i = 0; i < 3; i++) {
		uint32_t size = work->workgroup[i] ? work->workgroup[i] : 1;

		groups[i] = (uint32_t)(work->grid[i] / size + (work->grid[i] % size != 0));
	}
	mark = proto_begin(gpu->packet, STAGE_LAUNCH);
	put_dim(gpu, LAUNCH_GRID, groups);
	put_dim(gpu, LAUNCH_WORKGROUP, work->workgroup);
	put_launch_args(gpu);
	proto_end(gpu->packet, mark);
}

static void put_arrows(struct gpu *gpu, uint32_t row)
{
	const struct perfetto_arrows *arrows = gpu->arrows;

	for (uint32_t i = arrows->first_to[row]; i < arrows->first_to[row + 1]; i++)
		proto_put_u64(gpu->packet, STAGE_EVENT_WAIT_IDS,
			      perfetto_event(arrows->rows[i].from));
}

static void put_activity(struct gpu *gpu, uint32_t row)
{
	const struct trace_activity *activity = &gpu->trace->activities[row];
	const struct trace_work *work = trace_work_of(gpu->trace, activity);
	struct rows_time time = perfetto_activity_time(gpu->trace->activities, row);
	size_t mark;

	sequence_packet_begin_at(gpu->sequence, time.begin_ns);
	mark = proto_begin(gpu->packet, PACKET_GPU_RENDER_STAGE_EVENT);
	proto_put_u64(gpu->packet, STAGE_EVENT_ID, perfetto_event(row));
	proto_put_u64(gpu->packet, STAGE_DURATION,
		      (uint64_t)words_span_ns(time.begin_ns, time.end_ns));
	proto_put_u64(gpu->packet, STAGE_CONTEXT, (uint64_t)activity->process + 1);
	put_args(gpu, activity);
	proto_put_u64(gpu->packet, STAGE_GPU_ID, gpu->number);
	proto_put_u64(gpu->packet, STAGE_QUEUE_IID, find_track(gpu, activity));
	proto_put_u64(gpu->packet, STAGE_STAGE_IID, find_stage(gpu, work));
	put_arrows(gpu, row);
	if (work->kind == TRACE_KERNEL) {
		proto_put_u64(gpu->packet, STAGE_KERNEL_IID,
			      sequence_intern(gpu->sequence, SEQUENCE_KERNELS, work->name));
		put_launch(gpu, work);
	}
	proto_end(gpu->packet, mark);
	sequence_packet_end(gpu->sequence);
}

/* Interns a graphics context for each process: readers use the context to find the process. */
static void put_contexts(struct gpu *gpu)
{
	struct proto *interned = &gpu->sequence->interned;

	sequence_packet_begin(gpu->sequence);
	for (uint32_t i = 0; i < PERFETTO_ARG_COUNT; i++)
		sequence_intern_text(gpu->sequence, INTERNED_COMPUTE_ARG_NAMES, i + 1,
				     perfetto_arg_name(i));
	for (uint32_t i = 0; i < gpu->trace->processes_count; i++) {
		size_t mark = proto_begin(interned, INTERNED_GRAPHICS_CONTEXTS);

		proto_put_u64(interned, INTERNED_IID, (uint64_t)i + 1);
		proto_put_u64(interned, CONTEXT_PID, gpu->trace->processes[i].pid);
		proto_put_u64(interned, CONTEXT_API, CONTEXT_API_HIP);
		proto_end(interned, mark);
	}
	sequence_packet_end(gpu->sequence);
}

int perfetto_put_stages(const struct perfetto *perfetto, uint32_t number)
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
		.next_specification = 1,
		.stages = calloc((size_t)trace->strings_count + STAGE_FIXED_COUNT,
				 sizeof(*gpu.stages)),
	};

	if (!gpu.stages)
		return -ENOMEM;
	perfetto_tracks_init(&gpu.tracks, trace);
	sequence_start(sequence);
	put_contexts(&gpu);
	for (uint32_t row = 0; row < trace->activities_count && !sequence->error; row++) {
		if (gpus_find(&perfetto->timeline->gpus, trace->activities[row].agent) == number)
			put_activity(&gpu, row);
	}
	perfetto_tracks_release(&gpu.tracks);
	free(gpu.specifications);
	free(gpu.stages);
	return sequence_error(sequence);
}
