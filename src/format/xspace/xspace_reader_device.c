/* Reads the plane of a GPU: its agent, its streams and their activities. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"

/* Ids of lines that a viewer derives from the streams' lines and stores beside them. */
#define DERIVED_LINE_FIRST (-559038737)
#define DERIVED_LINE_LAST  (-559038348)
#define COUNTER_LINE	   "_counters_"
#define NO_STREAM_LINE	   "No stream"

struct device {
	struct xread_plane *plane;
	struct trace_agent agent; /* the agent row, but for the process */
	struct xread_event event;
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The agent of PROCESS for this plane, filled in. Its row may exist already, because copies refer
 * to it. */
static int64_t add_agent(struct xread_load *load, const struct device *device, uint32_t process)
{
	struct trace_agent *row;
	int64_t number;

	if (!device->agent.is_gpu)
		return TRACE_NONE;
	number = import_agent(&load->import, process, device->agent.gpu_ordinal);
	if (number < 0)
		return number;
	row = &load->import.trace->agents[number];
	if (row->index == TRACE_NONE) {
		*row = device->agent;
		row->process = process;
	}
	return number;
}

static int read_agent(struct xread_load *load, struct device *device)
{
	struct xread_event *event = &device->event;
	const char *name = xread_string(load, device->plane->name);
	int result = xread_facts(load, device->plane, event);
	int64_t set;

	set = result == 0 ? xread_attribute_set(load, event) : result;
	if (set < 0)
		return (int)set;
	device->agent = (struct trace_agent){
		.is_gpu = begins(name, XSPACE_PLANE_GPU),
		.gpu_ordinal = xread_ordinal(name),
		.name = xread_text_of(event, XSPACE_STAT_DEVICE_NAME),
		.product = xread_text_of(event, XSPACE_STAT_DEVICE_PRODUCT),
		.uuid = xread_text_of(event, XSPACE_STAT_DEVICE_UUID),
		.memory_bytes = xread_number_of(event, XSPACE_STAT_MEMORY_SIZE),
		.compute_units = (uint32_t)xread_number_of(event, XSPACE_STAT_CORE_COUNT),
		.memory_bytes_per_s = xread_number_of(event, XSPACE_STAT_MEMORY_BANDWIDTH),
		.clock_khz = (uint32_t)xread_number_of(event, XSPACE_STAT_CLOCK_RATE),
		.attributes = (uint32_t)set,
	};
	device->agent.index = device->agent.gpu_ordinal;
	return 0;
}

/* The number in a name such as "Stream #14(Compute,MemcpyD2H)", else the line's id. */
static uint32_t stream_ordinal(const struct xread_load *load, const struct xread_line *line)
{
	const char *name = xread_string(load, line->name);
	const char *hash = strchr(name, '#');

	if (hash && hash[1] >= '0' && hash[1] <= '9')
		return (uint32_t)strtoul(hash + 1, NULL, 10);
	return (uint32_t)line->id;
}

/* The stream of a line. In dagtap's files a stream belongs to a process, on whichever GPU its
 * activities ran; in other files each GPU numbers its own. TRACE_NONE for the line of activities
 * without a stream; or -ENOMEM. */
static int64_t find_stream(struct xread_load *load, const struct xread_line *line, uint32_t process,
			   uint32_t agent)
{
	uint32_t known = load->import.trace->streams_count;
	int64_t index;

	if (load->is_ours && begins(xread_string(load, line->name), NO_STREAM_LINE))
		return TRACE_NONE;
	index = import_stream(&load->import, process, load->is_ours ? 0 : agent,
			      stream_ordinal(load, line));
	if (index == known)
		load->import.trace->streams[index].agent = agent;
	return index;
}

/* Finds the kind of an event; returns false if it is no activity. A graph that was traced as a
 * whole counts as a kernel, as in XProf. */
static bool find_kind(const struct xread_load *load, const struct xread_event *event,
		      enum trace_activity_kind *ret_kind)
{
	const char *name = xread_string(load, event->name);
	bool is_kernel = xread_text_of(event, XSPACE_STAT_KERNEL_DETAILS) != 0;

	if (!is_kernel &&
	    (xread_text_of(event, XSPACE_STAT_MEMCPY_DETAILS) || begins(name, "Memcpy")))
		*ret_kind = TRACE_COPY;
	else if (!is_kernel &&
		 (xread_text_of(event, XSPACE_STAT_MEMSET_DETAILS) || begins(name, "Memset")))
		*ret_kind = TRACE_MEMSET;
	else if (is_kernel || xread_has_number(event, XSPACE_STAT_GRAPH_EXEC_ID))
		*ret_kind = TRACE_KERNEL;
	else
		return false;
	return true;
}

static enum trace_confidence confidence_of(const struct xread_load *load,
					   const struct xread_event *event)
{
	static const struct {
		const char *text;
		enum trace_confidence confidence;
	} words[] = {
		{"unknown", TRACE_CONFIDENCE_UNKNOWN},
		{"order", TRACE_CONFIDENCE_ORDER},
		{"signature", TRACE_CONFIDENCE_SIGNATURE},
		{"time", TRACE_CONFIDENCE_TIME},
	};
	const char *text = xread_string(load, xread_text_of(event, XSPACE_STAT_CONFIDENCE));

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(text, words[i].text))
			return words[i].confidence;
	}
	return TRACE_CONFIDENCE_EXACT;
}

/* The launch of an activity, TRACE_NONE if the file does not state one, or -ENOMEM. CUPTI's graph
 * id of a kernel is the executable graph's. In dagtap's files it is the graph that holds the node,
 * maybe a child graph, and the exec of a copy is stated by its call alone. */
static int64_t find_launch(struct xread_load *load, const struct xread_event *event,
			   const struct trace_activity *row, uint32_t graph)
{
	uint64_t exec_id = xread_number_of(event, XSPACE_STAT_GRAPH_EXEC_ID);
	int64_t exec;

	if (load->is_ours && !xread_has_exec(load, event))
		return TRACE_NONE;
	if (exec_id == 0 && !load->is_ours)
		exec_id = xread_number_of(event, XSPACE_STAT_GRAPH_ID);
	if (load->is_ours && xread_has_number(event, XSPACE_STAT_GRAPH_NODE_ID))
		graph = TRACE_NONE;
	exec = import_exec(&load->import, row->process, exec_id, graph);
	return exec < 0 ? exec : import_launch(&load->import, (uint32_t)exec, row->cid);
}

static int set_graph(struct xread_load *load, const struct xread_event *event,
		     struct trace_activity *row)
{
	uint64_t graph_id = xread_number_of(event, XSPACE_STAT_GRAPH_ID);
	uint64_t node_id = xread_number_of(event, XSPACE_STAT_GRAPH_NODE_ID);
	int64_t graph = TRACE_NONE, node = TRACE_NONE, launch = -ENOMEM;

	if (graph_id == 0 && !xread_has_exec(load, event))
		return 0;
	if (graph_id)
		graph = import_graph(&load->import, row->process, graph_id);
	if (graph >= 0)
		launch = find_launch(load, event, row, (uint32_t)graph);
	if (launch >= 0 && graph_id && node_id)
		node = import_node(&load->import, (uint32_t)graph, node_id, row->work);
	if (launch < 0 || node < 0)
		return -ENOMEM;
	row->launch = (uint32_t)launch;
	row->node = (uint32_t)node;
	row->confidence = TRACE_CONFIDENCE_UNKNOWN;
	if (row->node != TRACE_NONE)
		row->confidence = (uint8_t)confidence_of(load, event);
	return 0;
}

/* Names scopes that have no event of their own by the stats of the activities in them: tf_op names
 * the outermost scope, hlo_op the innermost one. */
static void name_scopes(struct xread_load *load, const struct xread_event *event, uint32_t leaf)
{
	trace_string work = xread_text_of(event, XSPACE_STAT_HLO_OP);
	uint32_t root = import_root(&load->import, leaf);
	struct trace_scope *rows = load->import.trace->scopes;

	if (root != TRACE_NONE && rows[root].untimed && rows[root].text == 0)
		rows[root].text = xread_text_of(event, XSPACE_STAT_TF_OP);
	if (root != leaf && rows[leaf].untimed)
		rows[leaf].text = work;
}

static int add_activity(struct xread_load *load, struct device *device,
			const struct xread_line *line, enum trace_activity_kind kind)
{
	const struct xread_event *event = &device->event;
	uint64_t cid = xread_number_of(event, XSPACE_STAT_CORRELATION_ID);
	uint32_t process = xread_origin_of(load, xread_line_process(load, line), &cid);
	struct trace_activity where = {.process = process}, *row;
	int64_t agent = add_agent(load, device, process), stream = -1, work = -1, scope;

	where.agent = (uint32_t)agent;
	if (agent >= 0)
		stream = find_stream(load, line, process, where.agent);
	if (stream >= 0)
		work = xread_work(load, event, kind, &where);
	scope = xread_scope_of(load, event, process);
	if (work < 0 || scope < 0)
		return -ENOMEM;
	row = import_activity(&load->import);
	if (!row)
		return -ENOMEM;
	row->start_ns = event->begin_ns;
	row->end_ns = event->end_ns;
	row->cid = cid;
	row->work = (uint32_t)work;
	row->process = process;
	row->agent = where.agent;
	row->stream = (uint32_t)stream;
	row->scope = (uint32_t)scope;
	if (row->scope != TRACE_NONE && load->import.trace->scopes[row->scope].text == 0)
		name_scopes(load, event, row->scope);
	return set_graph(load, event, row);
}

static int take_event(struct xread_load *load, struct device *device, const struct xread_line *line)
{
	struct xread_event *event = &device->event;
	enum trace_activity_kind kind;
	int err;

	if (event->is_aggregated) {
		load->left_out[XREAD_LEFT_OUT_AGGREGATED]++;
		return 0;
	}
	if (!find_kind(load, event, &kind)) {
		load->left_out[XREAD_LEFT_OUT_NO_WORK]++;
		return 0;
	}
	err = add_activity(load, device, line, kind);
	return err == 0 ? import_set_activity(&load->import, xread_attribute_set(load, event))
			: err;
}

/* The reason to leave out a whole line; XREAD_LEFT_OUT_COUNT if there is none. */
static enum xread_left_out line_left_out(const struct xread_load *load,
					 const struct xread_line *line)
{
	int32_t id = (int32_t)line->id;

	if (id >= DERIVED_LINE_FIRST && id <= DERIVED_LINE_LAST)
		return XREAD_LEFT_OUT_DERIVED;
	if (!strcmp(xread_string(load, line->name), COUNTER_LINE))
		return XREAD_LEFT_OUT_COUNTER;
	return XREAD_LEFT_OUT_COUNT;
}

static int read_line(struct xread_load *load, struct device *device, struct xread_line *line)
{
	enum xread_left_out left_out = line_left_out(load, line);
	int got;

	while ((got = xread_event_next(load, line, &device->event)) > 0) {
		int result = 0;

		if (left_out != XREAD_LEFT_OUT_COUNT)
			load->left_out[left_out]++;
		else
			result = take_event(load, device, line);
		if (result < 0)
			return result;
	}
	return got;
}

int xread_device(struct xread_load *load, struct xread_plane *plane)
{
	struct device device = {.plane = plane};
	struct xread_line line;
	int result = read_agent(load, &device);
	int got;

	if (result == 0 && add_agent(load, &device, plane->process) < 0)
		result = -ENOMEM;
	if (result < 0)
		return result;
	plane->rest = plane->body;
	while (result == 0 && (got = xread_line_next(load, plane, &line)) != 0)
		result = got < 0 ? got : read_line(load, &device, &line);
	return result;
}
