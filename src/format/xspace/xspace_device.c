/* Writes a GPU's plane: its streams as lines, its activities as events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/timeline/pieces.h"
#include "format/words.h"
#include "format/xspace/xspace_event.h"
#include "format/xspace/xspace_writer.h"
#include "trace/occupancy.h"
#include "trace/row_table.h"

#define DETAILS_CHARS 320

struct work_entry {
	uint32_t event; /* id of its name's metadata; 0 = not encoded yet */
	bool is_kernel;
	struct piece stats;
};

struct node_entry {
	struct piece stats;
	uint32_t scope;
};

/* What an activity's stats depend on besides its work kind, node and scopes. */
struct extra_key {
	uint32_t launch;
	uint32_t operation; /* index into writer->with->operations; 0: none */
	uint8_t confidence;
	bool is_kernel, has_node, is_orphan;
};

struct device {
	struct xspace_writer *writer;
	const struct trace *trace;
	uint32_t number;
	struct xspace_plane plane;
	struct xspace_stats stats; /* buffer for stats that are being encoded */
	struct pieces pieces;
	struct work_entry *works;
	struct node_entry *nodes;
	struct piece *chains;
	struct extra_key extra_key;
	struct pieces extra_bytes;
	struct piece extra;
	uint64_t next_line_id;
	int error;
};

static struct piece keep_piece(struct device *device, struct pieces *pieces)
{
	const struct proto *bytes = &device->stats.bytes;
	struct piece piece = {0};

	if (!bytes->error)
		piece = pieces_add(pieces, bytes->bytes, bytes->used);
	if (!piece.made && !device->error)
		device->error = bytes->error ? bytes->error : pieces->error;
	return piece;
}

static const char *name_of(const struct device *device, const struct trace_work *work)
{
	const char *name;

	if (work->kind != TRACE_KERNEL)
		return xspace_word_text(xspace_word_of(work));
	name = trace_text(device->trace, work->name);
	return name[0] == '\0' ? "(unknown kernel)" : name;
}

static const struct trace_agent *agent_of(const struct device *device)
{
	const struct gpus *gpus = &device->writer->timeline.gpus;

	return device->number < gpus->count ? &device->trace->agents[gpus->agents[device->number]]
					    : NULL;
}

static void put_kernel(struct device *device, const struct trace_work *work)
{
	const struct trace_agent *agent = agent_of(device);
	struct occupancy occupancy = {0};
	char details[DETAILS_CHARS];
	double value = 0;

	if (agent)
		occupancy = occupancy_of(trace_text(device->trace, agent->name), work);
	if (occupancy.waves_most)
		value = occupancy_value(&occupancy);
	xspace_kernel_details(work, occupancy.waves_most ? &value : NULL, details, sizeof(details));
	xspace_put_ref(&device->stats, XSPACE_STAT_KERNEL_DETAILS, details);
	if (occupancy.waves_most)
		xspace_put_double(&device->stats, XSPACE_STAT_OCCUPANCY, 100 * value);
}

static void put_work(struct device *device, uint32_t number)
{
	const struct trace_work *work = &device->trace->works[number];
	struct work_entry *entry = &device->works[number];
	struct xspace_stats *stats = &device->stats;
	char details[DETAILS_CHARS];

	proto_reset(&stats->bytes);
	if (work->kind == TRACE_KERNEL) {
		put_kernel(device, work);
	} else if (work->kind == TRACE_COPY) {
		xspace_copy_details(device->writer, work, details, sizeof(details));
		xspace_put_ref(stats, XSPACE_STAT_MEMCPY_DETAILS, details);
	} else {
		xspace_memset_details(work, details, sizeof(details));
		xspace_put_ref(stats, XSPACE_STAT_MEMSET_DETAILS, details);
	}
	if (work->blit)
		xspace_put_ref(stats, XSPACE_STAT_BLIT_KERNEL,
			       trace_text(device->trace, work->name));
	entry->stats = keep_piece(device, &device->pieces);
	entry->event = xspace_plane_event(&device->plane, name_of(device, work));
	entry->is_kernel = work->kind == TRACE_KERNEL;
}

static void put_node(struct device *device, uint32_t number)
{
	const struct trace_node *node = &device->trace->nodes[number];

	proto_reset(&device->stats.bytes);
	xspace_put_u64(&device->stats, XSPACE_STAT_GRAPH_ID, device->trace->graphs[node->graph].id);
	xspace_put_u64(&device->stats, XSPACE_STAT_GRAPH_NODE_ID, (uint64_t)node->index + 1);
	device->nodes[number].scope = node->scope;
	device->nodes[number].stats = keep_piece(device, &device->pieces);
}

static void put_chain(struct device *device, uint32_t chain)
{
	proto_reset(&device->stats.bytes);
	xspace_chains_put(&device->writer->chains, chain, &device->stats);
	device->chains[chain] = keep_piece(device, &device->pieces);
}

/* Adds the stats of a launch. Only kernels get the exec's id, because XProf takes every event with
 * one for a kernel. */
static void put_launch(struct device *device, const struct extra_key *key)
{
	const struct trace *trace = device->trace;
	const struct trace_exec *exec = &trace->execs[trace->launches[key->launch].exec];

	if (!key->has_node && exec->graph != TRACE_NONE)
		xspace_put_u64(&device->stats, XSPACE_STAT_GRAPH_ID, trace->graphs[exec->graph].id);
	if (key->is_kernel)
		xspace_put_u64(&device->stats, XSPACE_STAT_GRAPH_EXEC_ID, exec->id);
	if (key->confidence != TRACE_CONFIDENCE_EXACT && key->confidence != TRACE_CONFIDENCE_NONE)
		xspace_put_ref(&device->stats, XSPACE_STAT_CONFIDENCE,
			       words_confidence(key->confidence));
}

static void put_extra(struct device *device, const struct extra_key *key)
{
	proto_reset(&device->stats.bytes);
	if (key->launch != TRACE_NONE)
		put_launch(device, key);
	if (key->operation)
		xspace_with_put_operation(device->writer->with, key->operation, &device->stats);
	if (key->is_orphan)
		xspace_put_ref(&device->stats, XSPACE_STAT_ORPHAN, "no call");
	device->extra_bytes.used = 0;
	device->extra_key = *key;
	device->extra = keep_piece(device, &device->extra_bytes);
}

/* Encodes the extra stats anew if they differ from those of the last activity. */
static void look_up_extra(struct device *device, const struct trace_activity *activity,
			  bool is_kernel)
{
	const struct extra_key key = {
		.launch = activity->launch,
		.operation = xspace_with_operation_of(device->writer->with, activity),
		.confidence = activity->confidence,
		.is_kernel = is_kernel,
		.has_node = activity->node != TRACE_NONE,
		.is_orphan = activity->call == TRACE_NONE,
	};
	const struct extra_key *last = &device->extra_key;

	if (!device->extra.made || key.launch != last->launch || key.operation != last->operation ||
	    key.confidence != last->confidence || key.is_kernel != last->is_kernel ||
	    key.has_node != last->has_node || key.is_orphan != last->is_orphan)
		put_extra(device, &key);
}

static const struct node_entry *find_node(struct device *device, uint32_t number)
{
	static const struct node_entry none = {.scope = TRACE_NONE};

	if (number == TRACE_NONE)
		return &none;
	if (!device->nodes[number].stats.made)
		put_node(device, number);
	return &device->nodes[number];
}

/* The chain of an activity. For a graph's node it is the scope that was open when the node was
 * recorded, because the launch's scope is the same for every node; the launch's is used if there
 * is none. */
static const struct piece *find_chain(struct device *device, const struct node_entry *node,
				      uint32_t launch_scope)
{
	uint32_t scope = node->scope == TRACE_NONE ? launch_scope : node->scope;
	uint32_t chain = xspace_chains_find(&device->writer->chains, scope);

	if (!device->chains[chain].made)
		put_chain(device, chain);
	return &device->chains[chain];
}

static void put_activity(struct device *device, const struct trace_activity *activity)
{
	struct xspace_writer *writer = device->writer;
	const struct work_entry *work = &device->works[activity->work];
	const struct node_entry *node = find_node(device, activity->node);
	const struct piece *chain = find_chain(device, node, activity->scope);
	struct xspace_event event;
	uint64_t correlation_id = 0, scope_id = 0;
	size_t bytes;
	uint8_t *room, *at;

	if (work->event == 0)
		put_work(device, activity->work);
	look_up_extra(device, activity, work->is_kernel);
	event = (struct xspace_event){
		.metadata_id = work->event,
		.offset_ps = xspace_offset_ps(writer, activity->start_ns),
	};
	if (activity->end_ns > activity->start_ns)
		event.duration_ps = (uint64_t)(activity->end_ns - activity->start_ns) * 1000;
	bytes = xspace_event_bytes(&event) + work->stats.bytes + node->stats.bytes + chain->bytes +
		device->extra.bytes;
	if (activity->cid) {
		correlation_id =
			timeline_correlation(&writer->timeline, activity->process, activity->cid);
		bytes += xspace_number_bytes(correlation_id);
	}
	if (activity->scope != TRACE_NONE) {
		scope_id = xspace_scope_id(writer, activity->scope);
		bytes += xspace_number_bytes(scope_id);
	}
	room = xspace_out_room(&writer->out);
	at = xspace_event_head(room, &event, bytes);
	if (activity->cid)
		at = xspace_number_put(at, XSPACE_STAT_CORRELATION_ID, XSTAT_UINT64,
				       correlation_id);
	if (activity->scope != TRACE_NONE)
		at = xspace_number_put(at, XSPACE_STAT_SCOPE_RANGE_ID, XSTAT_INT64, scope_id);
	at = pieces_copy(at, &device->pieces, work->stats);
	at = pieces_copy(at, &device->pieces, node->stats);
	at = pieces_copy(at, &device->extra_bytes, device->extra);
	at = pieces_copy(at, &device->pieces, *chain);
	writer->out.used += (size_t)(at - room);
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
	xspace_put_foreign(device->writer, &row, &device->stats);
	xspace_event_put(&device->plane, trace_text(trace, trace_work_of(trace, activity)->name),
			 span, &device->stats);
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
	while (!device->error && timeline_stream_begin(&stream)) {
		struct xspace_line line = {.id = next_line_id(device, slot, stream.number),
					   .name = name};

		name_line(device, slot, stream.list.words, stream.number, name, sizeof(name));
		xspace_line_begin(&device->plane, &line);
		while (timeline_stream_next(&stream)) {
			if (xspace_is_foreign(device->trace))
				put_foreign(device, &device->trace->activities[stream.row]);
			else
				put_activity(device, &device->trace->activities[stream.row]);
		}
		xspace_line_end(&device->plane, &line);
	}
	if (stream.error && !device->error)
		device->error = stream.error;
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
	struct xspace_stats *stats = &device->stats;
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

static int make_tables(struct device *device)
{
	const struct trace *trace = device->trace;
	size_t chains = device->writer->chains.rows_count;

	device->works = calloc((size_t)trace->works_count + 1, sizeof(*device->works));
	device->nodes = calloc((size_t)trace->nodes_count + 1, sizeof(*device->nodes));
	device->chains = table_zeroed(chains, sizeof(*device->chains));
	if (!device->works || !device->nodes || !device->chains)
		return -ENOMEM;
	device->chains[0] = pieces_add(&device->pieces, NULL, 0);
	return device->pieces.error;
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
	device.stats = (struct xspace_stats){.plane = &device.plane, .field = XEVENT_STATS};
	device.error = make_tables(&device);
	if (!device.error)
		put_streams(&device);
	if (gpu < writer->timeline.gpus.count)
		put_capabilities(&device);
	err = xspace_plane_end(&device.plane);
	free(device.works);
	free(device.nodes);
	free(device.chains);
	pieces_release(&device.pieces);
	pieces_release(&device.extra_bytes);
	proto_release(&device.stats.bytes);
	return device.error ? device.error : err;
}
