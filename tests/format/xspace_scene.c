/* Builds small models row by row: xspace_scene.h. */
#include "xspace_scene.h"

#include <stdlib.h>
#include <string.h>

#define NEW(scene, name)                                                                           \
	((scene)->trace.name##_count < sizeof((scene)->name) / sizeof((scene)->name[0])            \
		 ? &(scene)->name[(scene)->trace.name##_count++]                                   \
		 : (abort(), (scene)->name))

struct scene *scene_create(int64_t start_ns, unsigned gpus)
{
	struct scene *scene = keep(calloc(1, sizeof(*scene)), free);
	struct trace *trace = &scene->trace;

	trace->strings = scene->strings;
	scene->strings[trace->strings_count++] = "";
#define USE(name) trace->name = scene->name
	USE(processes);
	USE(threads);
	USE(agents);
	USE(streams);
	USE(scopes);
	USE(scope_attributes);
	USE(apis);
	USE(api_args);
	USE(calls);
	USE(works);
	USE(activities);
	USE(graphs);
	USE(nodes);
	USE(execs);
	USE(launches);
	USE(sources);
	USE(drops);
	USE(messages);
	USE(words);
#undef USE
	scene_process(scene, 100);
	scene->processes[0].start_ns = start_ns;
	scene->processes[0].end_ns = start_ns + 1000000;
	scene_thread(scene, 0, 999);
	*NEW(scene, agents) = (struct trace_agent){.name = scene_string(scene, "CPU")};
	for (unsigned i = 0; i < gpus; i++)
		scene_gpu(scene, 0, "");
	scene_stream(scene, 0, 0);
	return scene;
}

trace_string scene_string(struct scene *scene, const char *text)
{
	for (uint32_t i = 0; i < scene->trace.strings_count; i++) {
		if (strcmp(scene->strings[i], text) == 0)
			return i;
	}
	*NEW(scene, strings) = text;
	return scene->trace.strings_count - 1;
}

uint32_t scene_process(struct scene *scene, uint32_t pid)
{
	*NEW(scene, processes) = (struct trace_process){
		.pid = pid,
		.parent_pid = 1,
		.start_realtime_ns = 1700000000000000000,
		.host = scene_string(scene, "node7"),
		.exe = scene_string(scene, "/usr/bin/program"),
		.command = scene_string(scene, "program --fast"),
	};
	return scene->trace.processes_count - 1;
}

uint32_t scene_thread(struct scene *scene, uint32_t process, uint32_t tid)
{
	*NEW(scene, threads) = (struct trace_thread){process, tid, scene_string(scene, "main")};
	return scene->trace.threads_count - 1;
}

uint32_t scene_gpu(struct scene *scene, uint32_t process, const char *uuid)
{
	uint32_t index = scene->trace.agents_count;

	*NEW(scene, agents) = (struct trace_agent){
		.process = process,
		.index = index,
		.is_gpu = true,
		.gpu_ordinal = index ? index - 1 : 0,
		.name = scene_string(scene, "gfx90a"),
		.product = scene_string(scene, "A product"),
		.uuid = scene_string(scene, uuid),
		.memory_bytes = UINT64_C(1) << 36,
		.compute_units = 104,
	};
	return index;
}

uint32_t scene_stream(struct scene *scene, uint32_t process, uint32_t ordinal)
{
	*NEW(scene, streams) =
		(struct trace_stream){.process = process, .ordinal = ordinal, .agent = 1};
	return scene->trace.streams_count - 1;
}

static uint32_t find_api(struct scene *scene, const char *name)
{
	trace_string string = scene_string(scene, name);

	for (uint32_t i = 0; i < scene->trace.apis_count; i++) {
		if (scene->apis[i].name == string)
			return i;
	}
	*NEW(scene, apis) = (struct trace_api){.function = scene->trace.apis_count, .name = string};
	return scene->trace.apis_count - 1;
}

struct trace_call *scene_call(struct scene *scene, const char *name, uint64_t cid, int64_t begin_ns,
			      int64_t end_ns)
{
	struct trace_call *call = NEW(scene, calls);

	*call = (struct trace_call){
		.cid = cid,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.parent = TRACE_NONE,
		.scope = TRACE_NONE,
		.stream = TRACE_NONE,
		.launch = TRACE_NONE,
		.activity_first = scene->trace.activities_count,
		.api = find_api(scene, name),
		.arg_first = TRACE_NONE,
	};
	return call;
}

uint32_t scene_kernel(struct scene *scene, const char *name, uint32_t grid, uint32_t workgroup)
{
	*NEW(scene, works) = (struct trace_work){
		.kind = TRACE_KERNEL,
		.name = scene_string(scene, name),
		.grid = {grid, 1, 1},
		.workgroup = {workgroup, 1, 1},
		.src_agent = TRACE_NONE,
		.dst_agent = TRACE_NONE,
	};
	return scene->trace.works_count - 1;
}

uint32_t scene_copy(struct scene *scene, enum trace_copy_direction direction, uint64_t bytes)
{
	*NEW(scene, works) = (struct trace_work){
		.kind = TRACE_COPY,
		.direction = direction,
		.bytes = bytes,
		.src_agent = direction == TRACE_H2D ? 0 : 1,
		.dst_agent = direction == TRACE_D2H ? 0 : 1,
	};
	return scene->trace.works_count - 1;
}

struct trace_activity *scene_activity(struct scene *scene, uint32_t work, int64_t start_ns,
				      int64_t end_ns)
{
	uint32_t number = scene->trace.calls_count - 1;
	struct trace_call *call = scene->trace.calls_count ? &scene->calls[number] : NULL;
	struct trace_activity *activity = NEW(scene, activities);

	*activity = (struct trace_activity){
		.submit_ns = start_ns,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.cid = call ? call->cid : 0,
		.work = work,
		.call = call ? number : TRACE_NONE,
		.ordinal = call ? call->activity_count : 0,
		.agent = 1,
		.queue = TRACE_NONE,
		.scope = call ? call->scope : TRACE_NONE,
		.launch = call ? call->launch : TRACE_NONE,
		.node = TRACE_NONE,
	};
	if (call) {
		call->activity_count++;
		call->activities_expected++;
	}
	return activity;
}

struct trace_scope *scene_scope(struct scene *scene, const char *name, uint64_t id, uint32_t parent)
{
	struct trace_scope *scope = NEW(scene, scopes);

	*scope = (struct trace_scope){
		.id = id,
		.parent = parent,
		.kind = RECORD_SCOPE_DAGTAP,
		.text = scene_string(scene, name),
		.name = scene_string(scene, name),
		.begin_ns = scene->processes[0].start_ns,
		.end_ns = scene->processes[0].end_ns,
		.attribute_first = scene->trace.scope_attributes_count,
	};
	return scope;
}

void scene_attribute(struct scene *scene, struct trace_scope *scope, const char *key,
		     const char *value)
{
	*NEW(scene, scope_attributes) = (struct trace_scope_attribute){
		.key = scene_string(scene, key),
		.kind = RECORD_ATTRIBUTE_TEXT,
		.value.text = scene_string(scene, value),
	};
	scope->attribute_count++;
}

uint32_t scene_graph(struct scene *scene, uint64_t id, uint32_t nodes)
{
	uint32_t graph = scene->trace.graphs_count;

	*NEW(scene, graphs) = (struct trace_graph){
		.id = id,
		.node_first = scene->trace.nodes_count,
		.node_count = nodes,
		.parent = TRACE_NONE,
		.parent_node = TRACE_NONE,
	};
	for (uint32_t i = 0; i < nodes; i++)
		*NEW(scene, nodes) = (struct trace_node){
			.graph = graph, .index = i, .scope = TRACE_NONE, .child = TRACE_NONE};
	*NEW(scene, execs) = (struct trace_exec){.id = id + 1000, .graph = graph};
	return scene->trace.execs_count - 1;
}

uint32_t scene_launch(struct scene *scene, uint32_t exec, uint64_t replay)
{
	*NEW(scene, launches) = (struct trace_launch){
		.exec = exec, .replay = replay, .call = scene->trace.calls_count - 1};
	scene->calls[scene->trace.calls_count - 1].launch = scene->trace.launches_count - 1;
	return scene->trace.launches_count - 1;
}
