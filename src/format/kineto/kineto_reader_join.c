/* Joins GPU activities with their calls, processes, GPUs, streams and graphs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader_load.h"
#include "trace/row_table.h"

/* ---- names of processes and threads ---- */

/* The name in brackets of "thread 410 (python3)"; the whole label if it has another form. */
static trace_string thread_name(struct kread_load *load, trace_string label)
{
	const char *text = kread_string(load, label);
	const char *open = strchr(text, '('), *close = strrchr(text, ')');

	if (strncmp(text, "thread ", strlen("thread ")) != 0 || !open || !close || close < open)
		return label;
	return strtab_intern(load->import.strings, open + 1, (size_t)(close - open - 1));
}

/* Gives processes and threads their names. Most labels are of GPUs and streams, whose pids and
 * tids belong to no process; they are ignored. */
static void name_rows(struct kread_load *load)
{
	for (uint32_t i = 0; i < load->labels_count; i++) {
		const struct kread_label *label = &load->labels[i];
		uint32_t process =
			numbers_find(&load->import.processes, label->pid.is_text, label->pid.value);
		uint32_t thread;

		if (process == NUMBERS_NONE)
			continue;
		if (!label->is_thread) {
			load->import.trace->processes[process].exe = label->text;
			continue;
		}
		thread =
			numbers_find(&load->import.threads,
				     (uint64_t)process << 1 | label->tid.is_text, label->tid.value);
		if (thread != NUMBERS_NONE)
			load->import.trace->threads[thread].name = thread_name(load, label->text);
	}
}

/* ---- processes ---- */

/* Finds the process of each activity and wait. The GPU's rows do not state it. In a file of
 * several processes it is that of the call with the same correlation id; rows without a call, and
 * all rows of a file of one process, belong to the first process. */
static int find_processes(struct kread_load *load)
{
	struct trace *trace = load->import.trace;
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
	if (load->import.trace->processes_count)
		return 0;
	return trace_add(load->import.trace, processes) ? 0 : -ENOMEM;
}

/* ---- GPUs and streams ---- */

int64_t kread_agent(struct kread_load *load, uint32_t process, uint32_t device)
{
	uint32_t known = load->import.trace->agents_count, properties;
	struct trace_agent *row;
	int64_t index;

	if (device == KREAD_NO_DEVICE)
		return TRACE_NONE;
	index = import_agent(&load->import, process, device);
	if (index != known)
		return index;
	properties = numbers_find(&load->properties, 0, device);
	row = &load->import.trace->agents[index];
	*row = (struct trace_agent){.index = device, .is_gpu = true, .gpu_ordinal = device};
	if (properties != NUMBERS_NONE)
		*row = load->agents[properties];
	row->process = process;
	return index;
}

static int add_agents(struct kread_load *load)
{
	for (uint32_t i = 0; i < load->agents_count; i++) {
		if (kread_agent(load, 0, load->agents[i].index) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* more GPUs than any machine has */
#define DEVICES_MOST 16

/* Finds a stream without knowing its GPU, which rows of calls do not state: the first GPU of
 * PROCESS on which an activity used this stream number. TRACE_NONE if there is none; the number is
 * then a handle that the file relates to no stream. */
static uint32_t find_stream(const struct kread_load *load, uint32_t process, int64_t stream)
{
	for (uint32_t device = 0; device < DEVICES_MOST; device++) {
		uint32_t number = numbers_find(&load->import.streams,
					       (uint64_t)process << 32 | device, (uint64_t)stream);

		if (number != NUMBERS_NONE)
			return number;
	}
	return TRACE_NONE;
}

int64_t kread_stream(struct kread_load *load, uint32_t process, uint32_t device, int64_t stream)
{
	uint32_t known = load->import.trace->streams_count;
	int64_t index, agent;

	if (stream == KREAD_NO_STREAM)
		return TRACE_NONE;
	if (device == KREAD_NO_DEVICE)
		return find_stream(load, process, stream);
	index = import_stream(&load->import, process, device, (uint64_t)stream);
	if (index != known)
		return index;
	agent = kread_agent(load, process, device);
	load->import.trace->streams[index].agent = (uint32_t)agent;
	load->import.trace->streams[index].handle = (uint64_t)stream;
	return agent < 0 ? agent : index;
}

/* ---- work kinds ---- */

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
	struct trace *trace = load->import.trace;

	*map = (struct work_map){.works = trace->works, .count = trace->works_count};
	trace->works = NULL;
	trace->works_count = 0;
	work_table_release(&load->import.works);
	map->places = malloc(((size_t)map->count + 1) * sizeof(*map->places));
	if (!map->places)
		return -ENOMEM;
	memset(map->places, 0xff, ((size_t)map->count + 1) * sizeof(*map->places));
	return work_table_init(&load->import.works, trace);
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
	place->work = work_intern(&load->import.works, &work);
	return place->work == TRACE_NONE ? -ENOMEM : (int64_t)place->work;
}

/* ---- graphs ---- */

/* By API: whether it launches graphs. The caller frees it. NULL: no memory. */
static bool *find_graph_launches(const struct kread_load *load)
{
	const struct trace *trace = load->import.trace;
	bool *launches_graph = calloc((size_t)trace->apis_count + 1, sizeof(*launches_graph));

	for (uint32_t i = 0; launches_graph && i < trace->apis_count; i++)
		launches_graph[i] =
			strstr(kread_string(load, trace->apis[i].name), "GraphLaunch") != NULL;
	return launches_graph;
}

/* Sets the launch and node of an activity. The file's graph id is the executable graph's; the file
 * does not name the template, so one graph row stands for it under the same id. If the file does
 * not state the graph of a graph launch, its activities belong to exec 0 of the process. */
static int join_graph(struct kread_load *load, const bool *launches_graph,
		      const struct kread_activity *raw_row, struct trace_activity *row)
{
	struct import *import = &load->import;
	struct trace *trace = import->trace;
	int64_t graph = TRACE_NONE, exec = -ENOMEM, launch = -ENOMEM, node = TRACE_NONE;

	if (raw_row->graph == 0 &&
	    !(row->call != TRACE_NONE && launches_graph[trace->calls[row->call].api]))
		return 0;
	if (raw_row->graph)
		graph = import_graph(import, row->process, raw_row->graph);
	if (graph >= 0)
		exec = import_exec(import, row->process, raw_row->graph, (uint32_t)graph);
	if (exec >= 0)
		launch = import_launch(import, (uint32_t)exec, row->cid);
	if (launch >= 0 && raw_row->graph && raw_row->node)
		node = import_node(import, (uint32_t)graph, row->id, row->work);
	if (launch < 0 || node < 0)
		return -ENOMEM;
	row->launch = (uint32_t)launch;
	row->node = (uint32_t)node;
	row->confidence = node == TRACE_NONE ? TRACE_CONFIDENCE_UNKNOWN : TRACE_CONFIDENCE_EXACT;
	return 0;
}

static int join_work(struct kread_load *load, struct work_map *works, const bool *launches_graph,
		     uint32_t index)
{
	struct trace_activity *row = &load->import.trace->activities[index];
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
	if (join_graph(load, launches_graph, raw_row, row) < 0)
		return -ENOMEM;
	import_join_call(&load->import, index);
	row->submit_ns = row->call == TRACE_NONE ? row->start_ns
						 : load->import.trace->calls[row->call].begin_ns;
	if (row->scope != TRACE_NONE)
		return 0;
	scope = kread_find_scope(load, row->process, raw_row->external_id);
	row->scope = (uint32_t)scope;
	return scope < 0 ? -ENOMEM : 0;
}

static int join_works(struct kread_load *load)
{
	bool *launches_graph = find_graph_launches(load);
	struct work_map works;
	int err = work_map_init(&works, load);

	if (!launches_graph)
		err = -ENOMEM;
	for (uint32_t i = 0; i < load->import.trace->activities_count && err == 0; i++)
		err = join_work(load, &works, launches_graph, i);
	work_map_release(&works);
	free(launches_graph);
	return err;
}

int kread_join(struct kread_load *load)
{
	int err = add_first_process(load);

	if (err < 0)
		return err;
	name_rows(load);
	err = import_order_host(&load->import);
	if (err == 0)
		err = find_processes(load);
	if (err == 0)
		err = import_order_activities(&load->import);
	if (err == 0)
		err = add_agents(load);
	return err == 0 ? join_works(load) : err;
}
