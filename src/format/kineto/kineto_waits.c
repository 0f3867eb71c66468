/* Who waited for what: a row for each wait, and what the calls say of theirs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"
#include "format/perfetto/perfetto_lanes.h"
#include "format/words.h"

/* Of a row. */
#define ROW_BYTES 640

static bool is_for_event(enum trace_wait_type type)
{
	return type == TRACE_WAIT_EVENT || type == TRACE_WAIT_STREAM_EVENT;
}

static int64_t stream_number(const struct kineto *kineto, uint32_t stream)
{
	return stream == TRACE_NONE ? -1 : (int64_t)kineto->slot_numbers[stream];
}

/* The three that tell the producer, -1 where it is not known; the event's handle always. */
static char *put_producer(const struct kineto *kineto, char *at, const struct trace_wait *wait,
			  const char *vendor)
{
	const struct trace_event_record *record =
		wait->producer == TRACE_NONE ? NULL : &kineto->trace->event_records[wait->producer];

	at = KINETO_PUT(at, ",\"wait_on_stream\":");
	at = kineto_put_i64(at, record ? stream_number(kineto, record->stream) : -1);
	at = KINETO_PUT(at, ",\"wait_on_");
	at = kineto_put_z(at, vendor);
	at = KINETO_PUT(at, "_event_record_corr_id\":");
	at = record ? kineto_put_u64(at, kineto_correlation(kineto, record->process, record->cid))
		    : KINETO_PUT(at, "-1");
	at = KINETO_PUT(at, ",\"wait_on_");
	at = kineto_put_z(at, vendor);
	at = KINETO_PUT(at, "_event_id\":");
	at = wait->event != TRACE_NONE
		     ? kineto_put_u64(at, kineto->trace->events[wait->event].handle)
		     : KINETO_PUT(at, "-1");
	if (!record || wait->known == TRACE_KNOWN_NOT)
		return at;
	at = KINETO_PUT(at, ",\"known by\":\"");
	at = kineto_put_z(at, words_known(wait->known));
	*at++ = '"';
	return at;
}

/* ---- calls ---- */

/* HTA would take what calls say for the waits' own rows. */
static void see_wait(struct kineto *kineto, uint32_t call, uint32_t number)
{
	const struct trace *trace = kineto->trace;

	if (call == TRACE_NONE || kineto->is_hta ||
	    trace->apis[trace->calls[call].api].domain != RECORD_DOMAIN_HIP)
		return;
	kineto->waits_of_calls[call] = number;
	kineto_mark(kineto, call, KINETO_MARK_WAIT);
}

int kineto_find_waits(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	uint32_t count = trace->waits_count;

	if (count == 0 && trace->event_records_count == 0)
		return 0;
	kineto->waits_of_calls =
		calloc((size_t)trace->calls_count + 1, sizeof(*kineto->waits_of_calls));
	if (!kineto->waits_of_calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->event_records_count; i++)
		see_wait(kineto, trace->event_records[i].call, count + i + 1);
	for (uint32_t i = 0; i < count; i++)
		see_wait(kineto, trace->waits[i].call, i + 1);
	return 0;
}

static char *put_handle(char *at, const char *key, uint64_t handle)
{
	at = KINETO_PUT(at, ",\"");
	at = kineto_put_z(at, key);
	at = KINETO_PUT(at, "\":");
	return kineto_put_u64(at, handle);
}

static char *put_stream_and_event(const struct trace *trace, char *at, uint32_t stream,
				  uint32_t event)
{
	if (stream != TRACE_NONE)
		at = put_handle(at, "hip_stream", trace->streams[stream].handle);
	return event == TRACE_NONE ? at : put_handle(at, "hip_event", trace->events[event].handle);
}

char *kineto_put_wait_args(const struct kineto *kineto, char *at, uint32_t call)
{
	const struct trace *trace = kineto->trace;
	uint32_t number = kineto->waits_of_calls[call];
	const struct trace_event_record *record;
	const struct trace_wait *wait;

	if (number > trace->waits_count) {
		record = &trace->event_records[number - trace->waits_count - 1];
		return put_stream_and_event(trace, at, record->stream, record->event);
	}
	wait = &trace->waits[number - 1];
	at = KINETO_PUT(at, ",\"sync_type\":\"");
	at = kineto_put_z(at, kineto_wait_name(wait->type));
	*at++ = '"';
	at = put_stream_and_event(trace, at, wait->stream, wait->event);
	return is_for_event(wait->type) ? put_producer(kineto, at, wait, "hip") : at;
}

/* ---- rows of their own ---- */

struct waits {
	struct kineto *kineto;
	uint32_t *only_gpus; /* by process; the place of none if it has several */
	/* The tid of the lane that was last named. */
	uint32_t group, lanes;
	uint64_t *tids;
};

static uint32_t gpu_of_stream(const struct kineto *kineto, uint32_t stream)
{
	return stream == TRACE_NONE
		       ? kineto->gpus.host
		       : gpus_find(&kineto->gpus, kineto->trace->streams[stream].agent);
}

/* HTA takes the wait's GPU for the producer's. */
static uint32_t gpu_of(const struct waits *waits, const struct trace_wait *wait)
{
	const struct kineto *kineto = waits->kineto;
	uint32_t producer = kineto->gpus.host;
	uint32_t gpu = gpu_of_stream(kineto, wait->stream);

	if (wait->producer != TRACE_NONE)
		producer =
			gpu_of_stream(kineto, kineto->trace->event_records[wait->producer].stream);
	if (producer != kineto->gpus.host && (gpu == kineto->gpus.host || kineto->is_hta))
		gpu = producer;
	return gpu == kineto->gpus.host ? waits->only_gpus[wait->process] : gpu;
}

/* The stream whose row it is; the device's for waits of the host that are not for one stream. */
static uint32_t slot_of(const struct waits *waits, const struct trace_wait *wait)
{
	bool is_of_stream =
		wait->type == TRACE_WAIT_STREAM_EVENT || wait->type == TRACE_WAIT_STREAM;

	if (!is_of_stream)
		return TRACE_NONE;
	return kineto_slot(waits->kineto, wait->stream, wait->process);
}

static uint32_t group_of(const struct waits *waits, const struct trace_wait *wait)
{
	uint32_t slot = slot_of(waits, wait);
	uint32_t slots = waits->kineto->slots;

	return gpu_of(waits, wait) * (slots + 1) + (slot == TRACE_NONE ? slots : slot);
}

static uint64_t find_tid(struct waits *waits, uint32_t group, uint32_t lane)
{
	struct kineto *kineto = waits->kineto;
	uint32_t gpu = group / (kineto->slots + 1);
	uint32_t slot = group % (kineto->slots + 1);

	if (group != waits->group)
		waits->lanes = 0;
	waits->group = group;
	for (; waits->lanes <= lane; waits->lanes++)
		waits->tids[waits->lanes] =
			kineto_name_stream(kineto, gpu, slot == kineto->slots ? TRACE_NONE : slot,
					   KINETO_LANE_SYNC, waits->lanes + 1);
	return waits->tids[lane];
}

static void put_wait(void *context, const struct slice *slice, uint32_t lane)
{
	struct waits *waits = context;
	struct kineto *kineto = waits->kineto;
	const struct trace_wait *wait = &kineto->trace->waits[slice->index];
	uint64_t tid = find_tid(waits, slice->group, lane);
	const char *name = kineto_wait_name(wait->type);
	uint32_t gpu = slice->group / (kineto->slots + 1);
	uint32_t slot = slot_of(waits, wait);
	char *at = kineto_out_begin(&kineto->out, ROW_BYTES);

	if (!at)
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"");
	at = kineto_put_z(at, name);
	at = KINETO_PUT(at, "\",\"pid\":");
	at = kineto_put_u64(at, gpu);
	at = KINETO_PUT(at, ",\"tid\":");
	at = kineto_put_u64(at, tid);
	at = KINETO_PUT(at, ",\"ts\":");
	at = kineto_put_time(&kineto->out, at, slice->begin_ns);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, (uint64_t)slice->end_ns - (uint64_t)slice->begin_ns);
	at = KINETO_PUT(at, ",\"args\":{\"cuda_sync_kind\":\"");
	at = kineto_put_z(at, name);
	*at++ = '"';
	if (is_for_event(wait->type))
		at = put_producer(kineto, at, wait, "cuda");
	at = KINETO_PUT(at, ",\"stream\":");
	at = kineto_put_i64(at, slot == TRACE_NONE ? -1 : (int64_t)kineto->slot_numbers[slot]);
	at = KINETO_PUT(at, ",\"correlation\":");
	at = kineto_put_u64(at, kineto_correlation(kineto, wait->process, wait->cid));
	at = KINETO_PUT(at, ",\"device\":");
	at = kineto_put_u64(at, gpu);
	kineto_out_end(&kineto->out, KINETO_PUT(at, "}},\n"));
}

static void put_nothing(void *context, uint32_t group, uint32_t lane, int64_t ns)
{
	(void)context, (void)group, (void)lane, (void)ns;
}

static void find_only_gpus(struct waits *waits)
{
	const struct kineto *kineto = waits->kineto;
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->processes_count; i++)
		waits->only_gpus[i] = TRACE_NONE;
	for (uint32_t i = 0; i < trace->agents_count; i++) {
		uint32_t *only = &waits->only_gpus[trace->agents[i].process];

		if (trace->agents[i].is_gpu)
			*only = *only == TRACE_NONE ? gpus_find(&kineto->gpus, i)
						    : kineto->gpus.host;
	}
	for (uint32_t i = 0; i < trace->processes_count; i++)
		if (waits->only_gpus[i] == TRACE_NONE)
			waits->only_gpus[i] = kineto->gpus.host;
}

void kineto_put_waits(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	uint32_t count = trace->waits_count;
	struct waits waits = {
		.kineto = kineto,
		.group = TRACE_NONE,
		.only_gpus = calloc((size_t)trace->processes_count + 1, sizeof(*waits.only_gpus)),
		.tids = calloc((size_t)count + 1, sizeof(*waits.tids)),
	};
	const struct lanes_output output = {false, put_wait, put_nothing, &waits};
	struct slice *slices = calloc((size_t)count + 1, sizeof(*slices));

	if (!waits.only_gpus || !waits.tids || !slices) {
		kineto_fail(kineto, -ENOMEM);
	} else {
		find_only_gpus(&waits);
		for (uint32_t i = 0; i < count; i++) {
			const struct trace_wait *wait = &trace->waits[i];
			int64_t end_ns =
				wait->end_ns < wait->begin_ns ? wait->begin_ns : wait->end_ns;

			slices[i] =
				(struct slice){group_of(&waits, wait), i, wait->begin_ns, end_ns};
		}
		kineto_fail(kineto, lanes_put(slices, count, &output));
	}
	free(waits.only_gpus);
	free(waits.tids);
	free(slices);
}
