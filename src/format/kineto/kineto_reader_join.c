/* Joins GPU activities with their calls, processes, GPUs, streams and graphs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader_load.h"
#include "format/read_graphs.h"
#include "trace/row_table.h"

/* ---- names of processes and threads ---- */

/* The name in brackets of "thread 410 (python3)"; the whole label if it has another form. */
static trace_string thread_name(struct kread_load *load, trace_string label)
{
	const char *text = kread_string(load, label);
	const char *open = strchr(text, '('), *close = strrchr(text, ')');

	if (strncmp(text, "thread ", strlen("thread ")) != 0 || !open || !close || close < open)
		return label;
	return strtab_intern(load->strings, open + 1, (size_t)(close - open - 1));
}

/* Gives processes and threads their names. Most labels are of GPUs and streams, whose pids and
 * tids belong to no process; they are ignored. */
static void name_rows(struct kread_load *load)
{
	for (uint32_t i = 0; i < load->labels_count; i++) {
		const struct kread_label *label = &load->labels[i];
		uint32_t process =
			numbers_find(&load->processes, label->pid.is_text, label->pid.value);
		uint32_t thread;

		if (process == NUMBERS_NONE)
			continue;
		if (!label->is_thread) {
			load->trace->processes[process].exe = label->text;
			continue;
		}
		thread = numbers_find(&load->threads, (uint64_t)process << 1 | label->tid.is_text,
				      label->tid.value);
		if (thread != NUMBERS_NONE)
			load->trace->threads[thread].name = thread_name(load, label->text);
	}
}

/* ---- processes ---- */

/* Finds the process of each activity and wait. The GPU's rows do not state it. In a file of
 * several processes it is that of the call with the same correlation id; rows without a call, and
 * all rows of a file of one process, belong to the first process. */
static int find_processes(struct kread_load *load)
{
	struct trace *trace = load->trace;
	struct numbers cids = {0};
	uint32_t *owners = NULL, count = 0;
	int err = 0;

	if (trace->processes_count > 1) {
		owners = calloc((size_t)trace->calls_count + 1, sizeof(*owners));
		if (!owners)
			return -ENOMEM;
	}
	for (uint32_t i = 0; owners && i < trace->calls_count && err == 0; i++) {
		uint32_t number;

		if (trace->calls[i].cid == 0)
			continue;
		number = numbers_get(&cids, 0, trace->calls[i].cid);
		if (number == NUMBERS_NONE)
			err = -ENOMEM;
		else if (number == count)
			owners[count++] = trace->calls[i].process;
	}
	for (uint32_t i = 0; owners && i < trace->activities_count; i++) {
		uint32_t number = numbers_find(&cids, 0, trace->activities[i].cid);

		if (number != NUMBERS_NONE)
			trace->activities[i].process = owners[number];
	}
	for (uint32_t i = 0; i < load->syncs_count; i++) {
		struct kread_sync *sync = &load->syncs[i];
		uint32_t number = numbers_find(&cids, 0, sync->cid);

		if (sync->process == TRACE_NONE)
			sync->process = owners && number != NUMBERS_NONE ? owners[number] : 0;
	}
	numbers_release(&cids);
	free(owners);
	return err;
}

static int add_first_process(struct kread_load *load)
{
	if (load->trace->processes_count)
		return 0;
	return trace_add(load->trace, processes) ? 0 : -ENOMEM;
}

/* ---- GPUs and streams ---- */

int64_t kread_agent(struct kread_load *load, uint32_t process, uint32_t device)
{
	uint32_t known = load->devices.count, number, properties;
	struct trace_agent *row;

	if (device == KREAD_NO_DEVICE)
		return TRACE_NONE;
	number = numbers_get(&load->devices, process, device);
	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	row = trace_add(load->trace, agents);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_agent){.index = device, .is_gpu = true, .gpu_ordinal = device};
	properties = numbers_find(&load->properties, 0, device);
	if (properties != NUMBERS_NONE)
		*row = load->agents[properties];
	row->process = process;
	return number;
}

static int add_agents(struct kread_load *load)
{
	for (uint32_t i = 0; i < load->agents_count; i++) {
		if (kread_agent(load, 0, load->agents[i].index) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The first half of a stream's key. */
static uint64_t stream_space(uint32_t process, uint32_t device)
{
	return (uint64_t)process << 32 | device;
}

/* more GPUs than any machine has */
#define DEVICES_MOST 16

/* Finds a stream without knowing its GPU, which rows of calls do not state: the first GPU of
 * PROCESS on which an activity used this stream number. TRACE_NONE if there is none; the number is
 * then a handle that the file relates to no stream. */
static uint32_t find_stream(const struct kread_load *load, uint32_t process, int64_t stream)
{
	for (uint32_t device = 0; device < DEVICES_MOST; device++) {
		uint32_t number = numbers_find(&load->streams, stream_space(process, device),
					       (uint64_t)stream);

		if (number != NUMBERS_NONE)
			return number;
	}
	return TRACE_NONE;
}

int64_t kread_stream(struct kread_load *load, uint32_t process, uint32_t device, int64_t stream)
{
	uint32_t known = load->streams.count, number;
	struct trace_stream *row;
	int64_t agent;

	if (stream == KREAD_NO_STREAM)
		return TRACE_NONE;
	if (device == KREAD_NO_DEVICE)
		return find_stream(load, process, stream);
	number = numbers_get(&load->streams, stream_space(process, device), (uint64_t)stream);
	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
	agent = kread_agent(load, process, device);
	row = agent >= 0 ? trace_add(load->trace, streams) : NULL;
	if (!row)
		return -ENOMEM;
	*row = (struct trace_stream){
		.process = process,
		.ordinal = (uint32_t)stream,
		.handle = (uint64_t)stream,
		.agent = (uint32_t)agent,
	};
	return number;
}

/* ---- raw_row kinds ---- */

/* Maps work kinds whose agents are device numbers to work kinds with a process's agents. `works` is
 * the old table, owned. */
struct work_map {
	struct trace_work *works;
	uint32_t count;
	struct work_place {
		uint32_t process, work;
	} * places; /* by old index: the new index for the last process */
};

static int work_map_init(struct work_map *map, struct kread_load *load)
{
	struct trace *trace = load->trace;

	*map = (struct work_map){.works = trace->works, .count = trace->works_count};
	trace->works = NULL;
	trace->works_count = 0;
	work_table_release(&load->works);
	map->places = malloc(((size_t)map->count + 1) * sizeof(*map->places));
	if (!map->places)
		return -ENOMEM;
	memset(map->places, 0xff, ((size_t)map->count + 1) * sizeof(*map->places));
	return work_table_init(&load->works, trace);
}

static void work_map_release(struct work_map *map)
{
	free(map->works);
	free(map->places);
}

static int64_t map_work(struct kread_load *load, struct work_map *map, uint32_t process,
			uint32_t from)
{
	struct work_place *place = &map->places[from];
	struct trace_work work = map->works[from];
	int64_t source, target;

	if (place->process == process)
		return place->work;
	source = kread_agent(load, process, work.src_agent);
	target = kread_agent(load, process, work.dst_agent);
	if (source < 0 || target < 0)
		return -ENOMEM;
	work.src_agent = (uint32_t)source;
	work.dst_agent = (uint32_t)target;
	place->process = process;
	place->work = work_intern(&load->works, &work);
	return place->work == TRACE_NONE ? -ENOMEM : (int64_t)place->work;
}

/* ---- graphs ---- */

struct graphs {
	struct numbers execs;	 /* (process, graph id) -> index into trace.execs */
	struct numbers graphs;	 /* (process, graph id) -> index into trace.graphs */
	struct numbers nodes;	 /* (graph, node id) -> index into trace.nodes */
	struct numbers launches; /* (exec, cid) -> index into trace.launches */
	bool *launches_graph;	 /* by API: it launches graphs */
};

static int graphs_init(struct graphs *graphs, const struct kread_load *load)
{
	const struct trace *trace = load->trace;

	*graphs = (struct graphs){.launches_graph = calloc((size_t)trace->apis_count + 1, 1)};
	if (!graphs->launches_graph)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->apis_count; i++)
		graphs->launches_graph[i] =
			strstr(kread_string(load, trace->apis[i].name), "GraphLaunch") != NULL;
	return 0;
}

static void graphs_release(struct graphs *graphs)
{
	numbers_release(&graphs->execs);
	numbers_release(&graphs->graphs);
	numbers_release(&graphs->nodes);
	numbers_release(&graphs->launches);
	free(graphs->launches_graph);
}

/* The exec with the file's graph id, which is the executable graph's. The file does not name the
 * template, so one graph row stands for it under the same id. */
static int64_t find_exec(struct trace *trace, struct graphs *graphs, uint32_t process, uint64_t id)
{
	int64_t graph = id ? read_graph(trace, &graphs->graphs, process, id) : TRACE_NONE;
	uint32_t known = graphs->execs.count;
	uint32_t number = numbers_get(&graphs->execs, process, id);
	struct trace_exec *row;

	if (graph < 0 || number == NUMBERS_NONE)
		return -ENOMEM;
	if (number != known)
		return number;
	row = trace_add(trace, execs);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_exec){.process = process, .id = id, .graph = (uint32_t)graph};
	return number;
}

/* Sets the launch and node of an activity. If the file does not state the graph of a graph launch,
 * its activities belong to exec 0 of the process. */
static int join_graph(struct kread_load *load, struct graphs *graphs,
		      const struct kread_activity *raw_row, struct trace_activity *row)
{
	struct trace *trace = load->trace;
	const struct trace_call *call = row->call == TRACE_NONE ? NULL : &trace->calls[row->call];
	int64_t exec, launch = -ENOMEM, node = TRACE_NONE;

	if (raw_row->graph == 0 && !(call && graphs->launches_graph[call->api]))
		return 0;
	exec = find_exec(trace, graphs, row->process, raw_row->graph);
	if (exec >= 0)
		launch = read_graph_launch(trace, &graphs->launches, (uint32_t)exec, row->cid);
	if (launch >= 0 && raw_row->graph && raw_row->node)
		node = read_graph_node(trace, &graphs->nodes, trace->execs[exec].graph, row->id,
				       row->work);
	if (launch < 0 || node < 0)
		return -ENOMEM;
	row->launch = (uint32_t)launch;
	row->node = (uint32_t)node;
	row->confidence = node == TRACE_NONE ? TRACE_CONFIDENCE_UNKNOWN : TRACE_CONFIDENCE_EXACT;
	return 0;
}

/* ---- calls ---- */

/* Joins an activity with its call. The activities of a call are contiguous. */
static void join_call(struct trace *trace, uint32_t index)
{
	struct trace_activity *row = &trace->activities[index];
	struct trace_call *call;

	row->submit_ns = row->start_ns;
	if (row->call == TRACE_NONE)
		return;
	call = &trace->calls[row->call];
	if (call->activity_count == 0) {
		call->activity_first = index;
		call->stream = row->stream;
	}
	row->ordinal = call->activity_count++;
	call->activities_expected = call->activity_count;
	row->submit_ns = call->begin_ns;
	row->thread = call->thread;
	row->scope = call->scope;
	if (call->launch == TRACE_NONE)
		call->launch = row->launch;
}

static int join_work(struct kread_load *load, struct work_map *works, struct graphs *graphs,
		     uint32_t index)
{
	struct trace_activity *row = &load->trace->activities[index];
	const struct kread_activity *raw_row = &load->raw[row->id];
	int64_t agent = kread_agent(load, row->process, raw_row->device), stream = -1, work = -1;
	int64_t scope;

	if (agent >= 0)
		stream = kread_stream(load, row->process, raw_row->device, raw_row->stream);
	if (stream >= 0)
		work = map_work(load, works, row->process, raw_row->work);
	if (work < 0)
		return -ENOMEM;
	row->agent = (uint32_t)agent;
	row->stream = (uint32_t)stream;
	row->work = (uint32_t)work;
	row->id = raw_row->node;
	if (join_graph(load, graphs, raw_row, row) < 0)
		return -ENOMEM;
	join_call(load->trace, index);
	if (row->scope != TRACE_NONE)
		return 0;
	scope = kread_find_scope(load, row->process, raw_row->external_id);
	row->scope = (uint32_t)scope;
	return scope < 0 ? -ENOMEM : 0;
}

static int join_works(struct kread_load *load)
{
	struct graphs graphs = {0};
	struct work_map works;
	int err = work_map_init(&works, load);

	if (err == 0)
		err = graphs_init(&graphs, load);
	for (uint32_t i = 0; i < load->trace->activities_count && err == 0; i++)
		err = join_work(load, &works, &graphs, i);
	work_map_release(&works);
	graphs_release(&graphs);
	return err == 0 ? order_graphs(load->trace) : err;
}

int kread_join(struct kread_load *load)
{
	struct trace *trace = load->trace;
	int result = add_first_process(load);

	if (result == 0) {
		name_rows(load);
		result = order_threads(trace);
	}
	if (result == 0)
		result = order_apis(trace);
	if (result == 0)
		result = order_calls(trace, &load->call_sets);
	if (result == 0)
		result = find_processes(load);
	if (result == 0)
		result = order_activities(trace, &load->activity_sets);
	if (result == 0)
		result = add_agents(load);
	return result == 0 ? join_works(load) : result;
}
