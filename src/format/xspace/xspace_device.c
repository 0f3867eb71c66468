/* Writes a GPU's plane: its streams as lines, its activities as events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_activities.h"
#include "format/xspace/xspace_writer.h"

struct device {
	struct xspace_writer *writer;
	const struct trace *trace;
	uint32_t number;
	struct xspace_plane plane;
	struct xspace_activities activities;
	struct xspace_stats *stats; /* the activities' buffer for stats that are being encoded */
	uint64_t next_line_id;
};

static const struct trace_agent *agent_of(const struct device *device)
{
	const struct gpus *gpus = &device->writer->timeline.gpus;

	return device->number < gpus->count ? &device->trace->agents[gpus->agents[device->number]]
					    : NULL;
}

static void put_foreign(struct device *device, const struct trace_activity *activity)
{
	const struct trace *trace = device->trace;
	const uint32_t *sets = trace->activity_attributes;
	struct xspace_foreign_row row = {.scope = activity->scope};
	struct xspace_span span = {.offset_ps =
					   xspace_offset_ps(device->writer, activity->start_ns)};

	if (activity->cid)
		row.correlation_id = timeline_correlation(&device->writer->timeline,
							  activity->process, activity->cid);
	if (sets)
		row.set = sets[activity - trace->activities];
	if (activity->end_ns > activity->start_ns)
		span.duration_ps = (uint64_t)(activity->end_ns - activity->start_ns) * 1000;
	xspace_put_foreign(device->writer, &row, device->stats);
	xspace_event_put(&device->plane, trace_text(trace, trace_work_of(trace, activity)->name),
			 span, device->stats);
}

static void put_foreign_track(struct device *device, struct timeline_stream *stream)
{
	while (timeline_stream_next(stream))
		put_foreign(device, &device->trace->activities[stream->row]);
}

/* Writes a line's name, such as "Stream #1(Compute,MemcpyH2D)". XProf sorts lines with "Compute"
 * first. */
static void name_line(const struct device *device, uint32_t slot, uint8_t words, unsigned track,
		      char *name, size_t size)
{
	const struct trace *trace = device->trace;
	uint32_t process = timeline_slot_process(&device->writer->timeline, slot);
	size_t used;

	if (slot >= trace->streams_count)
		used = (size_t)snprintf(name, size, "No stream");
	else
		used = (size_t)snprintf(name, size, "Stream #%" PRIu32,
					trace->streams[slot].ordinal);
	for (unsigned word = 0, first = 1; word < XSPACE_WORD_COUNT; word++) {
		if (!(words & 1u << word))
			continue;
		used += (size_t)snprintf(name + used, size - used, "%s%s", first ? "(" : ",",
					 xspace_word_text(word));
		first = 0;
	}
	used += (size_t)snprintf(name + used, size - used, ")");
	if (trace->processes_count > 1)
		used += (size_t)snprintf(name + used, size - used, " pid %" PRIu32,
					 trace->processes[process].pid);
	if (track > 1)
		snprintf(name + used, size - used, " lane %u", track);
}

/* The id of a line: the stream's number for the first line of a stream in a file of one process,
 * else a number that no stream has. */
static uint64_t next_line_id(struct device *device, uint32_t slot, unsigned track)
{
	const struct trace *trace = device->trace;

	if (trace->processes_count == 1 && slot < trace->streams_count && track == 1)
		return trace->streams[slot].ordinal;
	return device->next_line_id++;
}

static void put_stream(struct device *device, uint32_t slot)
{
	struct timeline_stream stream =
		timeline_stream_open(&device->writer->timeline, device->number, slot);
	char name[256];

	stream.may_overlap = xspace_is_foreign(device->trace);
	while (!device->activities.error && timeline_stream_begin(&stream)) {
		struct xspace_line line = {.id = next_line_id(device, slot, stream.number),
					   .name = name};

		name_line(device, slot, stream.list.words, stream.number, name, sizeof(name));
		xspace_line_begin(&device->plane, &line);
		if (xspace_is_foreign(device->trace))
			put_foreign_track(device, &stream);
		else
			xspace_activities_put(&device->activities, &stream);
		xspace_line_end(&device->plane, &line);
	}
	if (stream.error && !device->activities.error)
		device->activities.error = stream.error;
}

/* Each process has its streams, then its activities without one. */
static void put_streams(struct device *device)
{
	const struct trace *trace = device->trace;
	uint32_t stream = 0;

	xspace_plane_use(&device->plane, XSPACE_STAT_CORRELATION_ID);
	xspace_plane_use(&device->plane, XSPACE_STAT_SCOPE_RANGE_ID);
	if (trace->processes_count == 1) {
		for (uint32_t i = 0; i < trace->streams_count; i++) {
			if (trace->streams[i].ordinal >= device->next_line_id)
				device->next_line_id = (uint64_t)trace->streams[i].ordinal + 1;
		}
	}
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		for (; stream < trace->streams_count && trace->streams[stream].process == i;
		     stream++)
			put_stream(device, stream);
		put_stream(device, trace->streams_count + i);
	}
}

/* Parses the compute capability in a name: "sm_121" is 12.1. */
static bool parse_sm(const char *name, int64_t *ret_major, int64_t *ret_minor)
{
	int64_t number;
	char *end;

	if (strncmp(name, "sm_", strlen("sm_")) != 0)
		return false;
	number = strtol(name + strlen("sm_"), &end, 10);
	if (*end || number < 10)
		return false;
	*ret_major = number / 10;
	*ret_minor = number % 10;
	return true;
}

/* Parses the version in an architecture's name. "gfx90a" is 9.0.10: the last two digits are the
 * minor version and the stepping, and the latter is often a letter. */
static bool parse_gfx(const char *name, int64_t *ret_major, int64_t *ret_minor)
{
	char digit[2] = "";
	size_t length = strlen(name);
	char *end;

	if (strncmp(name, "gfx", 3) != 0 || length < 6)
		return false;
	digit[0] = name[length - 2];
	*ret_minor = strtol(digit, &end, 16);
	if (end == digit)
		return false;
	*ret_major = strtol(name + 3, &end, 10);
	if (end < name + length - 2)
		return false;
	while (end > name + length - 2) {
		*ret_major /= 10;
		end--;
	}
	return true;
}

static void put_capabilities(struct device *device)
{
	const struct trace *trace = device->trace;
	const struct trace_agent *agent = agent_of(device);
	struct xspace_stats *stats = device->stats;
	const char *name = trace_text(trace, agent->name), *vendor = NULL;
	int64_t major = 0, minor = 0;

	stats->field = XPLANE_STATS;
	if (xspace_is_foreign(trace)) {
		xspace_put_foreign(
			device->writer,
			&(struct xspace_foreign_row){.scope = TRACE_NONE, .set = agent->attributes},
			stats);
		xspace_out_put_fields(&device->writer->out, &stats->bytes);
		return;
	}
	proto_reset(&stats->bytes);
	xspace_put_text(stats, XSPACE_STAT_DEVICE_NAME, name);
	if (parse_gfx(name, &major, &minor))
		vendor = "AMD";
	else if (parse_sm(name, &major, &minor))
		vendor = "Nvidia";
	if (vendor) {
		xspace_put_text(stats, XSPACE_STAT_DEVICE_VENDOR, vendor);
		xspace_put_i64(stats, XSPACE_STAT_COMPUTE_CAP_MAJOR, major);
		xspace_put_i64(stats, XSPACE_STAT_COMPUTE_CAP_MINOR, minor);
	}
	if (agent->clock_khz)
		xspace_put_i64(stats, XSPACE_STAT_CLOCK_RATE, agent->clock_khz);
	if (agent->compute_units)
		xspace_put_i64(stats, XSPACE_STAT_CORE_COUNT, agent->compute_units);
	if (agent->memory_bytes_per_s)
		xspace_put_u64(stats, XSPACE_STAT_MEMORY_BANDWIDTH, agent->memory_bytes_per_s);
	if (agent->memory_bytes)
		xspace_put_u64(stats, XSPACE_STAT_MEMORY_SIZE, agent->memory_bytes);
	if (agent->product)
		xspace_put_text(stats, XSPACE_STAT_DEVICE_PRODUCT,
				trace_text(trace, agent->product));
	if (agent->uuid)
		xspace_put_text(stats, XSPACE_STAT_DEVICE_UUID, trace_text(trace, agent->uuid));
	xspace_out_put_fields(&device->writer->out, &stats->bytes);
}

int xspace_put_device(struct xspace_writer *writer, uint32_t gpu)
{
	struct device device = {.writer = writer, .trace = writer->trace, .number = gpu};
	char name[64] = XSPACE_PLANE_NO_GPU;
	int err;

	if (gpu < writer->timeline.gpus.count)
		snprintf(name, sizeof(name), XSPACE_PLANE_GPU "%" PRIu32, gpu);
	err = xspace_plane_begin(&device.plane, &writer->out, gpu, name);
	if (err)
		return err;
	device.plane.lines_ns = xspace_lines_ns(writer);
	xspace_activities_init(&device.activities, writer, &device.plane, agent_of(&device));
	device.stats = &device.activities.stats;
	if (!device.activities.error)
		put_streams(&device);
	if (gpu < writer->timeline.gpus.count)
		put_capabilities(&device);
	err = xspace_plane_end(&device.plane);
	xspace_activities_release(&device.activities);
	return device.activities.error ? device.activities.error : err;
}
