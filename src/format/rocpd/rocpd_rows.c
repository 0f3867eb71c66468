/* The rows of a rocpd file: calls, scopes, activities, launches of graphs, allocations (see
 * rocpd.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/rocpd/rocpd.h"
#include "format/words.h"

#define JSON_CHARS 160

/* The events of the first scope, activity and memory operation. */
static uint64_t first_scope(const struct trace *trace)
{
	return (uint64_t)trace->calls_count + 1;
}

static uint64_t first_activity(const struct trace *trace)
{
	return first_scope(trace) + trace->scopes_count;
}

static uint64_t first_memory(const struct trace *trace)
{
	return first_activity(trace) + trace->activities_count;
}

/* Begins an event; a scope's takes more values. */
static struct rocpd_row begin_event(struct rocpd *rocpd, enum rocpd_insert insert, uint32_t process,
				    uint64_t id, uint32_t category, uint64_t stack, uint64_t parent)
{
	struct rocpd_row row = rocpd_begin(rocpd, insert, process);

	rocpd_put(&row, id);
	rocpd_put(&row, category);
	rocpd_put(&row, stack);
	rocpd_put(&row, parent);
	return row;
}

static void put_event(struct rocpd *rocpd, uint32_t process, uint64_t id, uint32_t category,
		      uint64_t stack, uint64_t parent)
{
	struct rocpd_row row =
		begin_event(rocpd, ROCPD_EVENT, process, id, category, stack, parent);

	rocpd_end(&row);
}

/* Writes a region, whose id is that of its event. */
static void put_region(struct rocpd *rocpd, uint64_t event, uint32_t process, uint32_t thread,
		       int64_t begin_ns, int64_t end_ns, uint32_t name)
{
	struct rocpd_row row = rocpd_begin(rocpd, ROCPD_REGION, process);

	rocpd_put(&row, event);
	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, process + 1);
	rocpd_put(&row, rocpd_thread(rocpd, process, thread));
	rocpd_put(&row, (uint64_t)begin_ns);
	rocpd_put(&row, (uint64_t)end_ns);
	rocpd_put(&row, name);
	rocpd_put(&row, event);
	rocpd_end(&row);
}

/* ---- calls and scopes ---- */

static const char *category_of(enum record_domain domain)
{
	static const char *const names[] = {
		[RECORD_DOMAIN_HIP] = "HIP_RUNTIME_API",
		[RECORD_DOMAIN_HSA] = "HSA_CORE_API",
		[RECORD_DOMAIN_CUDA] = "CUDA_DRIVER_API",
		[RECORD_DOMAIN_RCCL] = "RCCL_API",
	};

	return domain < sizeof(names) / sizeof(names[0]) && names[domain] ? names[domain] : "API";
}

static void put_call(struct rocpd *rocpd, uint32_t index)
{
	const struct trace *trace = rocpd->trace;
	const struct trace_call *call = &trace->calls[index];
	uint64_t parent = call->parent == TRACE_NONE ? 0 : trace->calls[call->parent].cid;
	uint32_t category =
		rocpd_string(rocpd, call->process, category_of(trace_domain_of(trace, call)));
	uint32_t name = rocpd_text(rocpd, call->process, trace->apis[call->api].name);

	put_event(rocpd, call->process, (uint64_t)index + 1, category,
		  rocpd_stack(rocpd, call->process, call->cid),
		  rocpd_stack(rocpd, call->process, parent));
	put_region(rocpd, (uint64_t)index + 1, call->process, call->thread, call->begin_ns,
		   call->end_ns, name);
}

/* Stack ids of scopes follow those of calls. */
static uint64_t scope_stack(const struct rocpd *rocpd, uint32_t scope)
{
	return scope == TRACE_NONE ? 0 : rocpd->bases[rocpd->trace->processes_count] + scope + 1;
}

static void put_scope(struct rocpd *rocpd, uint32_t index)
{
	const struct trace *trace = rocpd->trace;
	const struct trace_scope *scope = &trace->scopes[index];
	uint64_t event = first_scope(trace) + index;
	uint32_t name = rocpd_text(rocpd, scope->process, scope->text);
	uint32_t category = rocpd_string(
		rocpd, scope->process,
		scope->kind == RECORD_SCOPE_MARK ? "MARKER_CORE_API" : "MARKER_CORE_RANGE_API");
	struct rocpd_row row =
		begin_event(rocpd, ROCPD_SCOPE_EVENT, scope->process, event, category,
			    scope_stack(rocpd, index), scope_stack(rocpd, scope->parent));

	rocpd_put_text(&row, trace_text(trace, scope->text));
	rocpd_put_constant(&row, words_scope_kind(scope->kind));
	rocpd_put(&row, scope->open);
	rocpd_end(&row);
	put_region(rocpd, event, scope->process, scope->thread, scope->begin_ns, scope->end_ns,
		   name);
}

void rocpd_put_host(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;

	for (uint32_t i = 0; i < trace->calls_count && !rocpd->err; i++)
		put_call(rocpd, i);
	for (uint32_t i = 0; i < trace->scopes_count && !rocpd->err; i++) {
		if (!trace->scopes[i].untimed)
			put_scope(rocpd, i);
	}
}

/* ---- activities ---- */

/* The times of an activity. One without has those of its submission, and its extdata says why. */
static void put_times(struct rocpd_row *row, const struct trace_activity *activity)
{
	bool is_timed = activity->untimed == RECORD_UNTIMED_NO;

	rocpd_put(row, (uint64_t)(is_timed ? activity->start_ns : activity->submit_ns));
	rocpd_put(row, (uint64_t)(is_timed ? activity->end_ns : activity->submit_ns));
}

/* The id of an executable graph, of which 0 stands for none. One that has id 0 itself, in a file
 * that does not say which graph was launched, has ROCPD_EXEC_ZERO. */
static uint64_t exec_id(const struct trace *trace, uint32_t launch)
{
	uint64_t id = trace->execs[trace->launches[launch].exec].id;

	return id ? id : ROCPD_EXEC_ZERO;
}

static void put_graph(struct rocpd_row *row, const struct trace_activity *activity)
{
	const struct trace *trace = row->rocpd->trace;

	rocpd_put(row, activity->launch == TRACE_NONE ? 0 : exec_id(trace, activity->launch));
	/* 0 stands for none. */
	rocpd_put(row, activity->node == TRACE_NONE
			       ? 0
			       : (uint64_t)trace->nodes[activity->node].index + 1);
}

static const char *untimed_json(const struct trace_activity *activity, char json[JSON_CHARS])
{
	if (activity->untimed == RECORD_UNTIMED_NO)
		return "{}";
	snprintf(json, JSON_CHARS, "{\"untimed\":\"%s\"}", words_untimed(activity->untimed));
	return json;
}

/* Where an activity ran, as ids. */
struct place {
	uint32_t thread, agent, queue, stream, region;
};

static struct place place_of(struct rocpd *rocpd, const struct trace_activity *row)
{
	return (struct place){
		.thread = rocpd_thread(rocpd, row->process, row->thread),
		.agent = rocpd_agent(rocpd, row->process, row->agent),
		.queue = rocpd_queue(rocpd, row->process, row->queue),
		.stream = rocpd_stream(rocpd, row->process, row->stream),
		.region = rocpd_path(rocpd, row->process, trace_scope_of(rocpd->trace, row)),
	};
}

/* Begins a dispatch or a copy: what both begin with. */
static struct rocpd_row begin_work(struct rocpd *rocpd, enum rocpd_insert insert, uint32_t index,
				   const struct place *place)
{
	uint32_t process = rocpd->trace->activities[index].process;
	struct rocpd_row row = rocpd_begin(rocpd, insert, process);

	rocpd_put(&row, (uint64_t)index + 1);
	rocpd_put(&row, rocpd_node(process));
	rocpd_put(&row, process + 1);
	rocpd_put(&row, place->thread);
	return row;
}

static void put_dispatch(struct rocpd *rocpd, uint32_t index, uint64_t event)
{
	const struct trace_activity *activity = &rocpd->trace->activities[index];
	const struct trace_work *work = trace_work_of(rocpd->trace, activity);
	uint32_t symbol = rocpd_symbol(rocpd, activity->process, activity->work);
	struct place place = place_of(rocpd, activity);
	struct rocpd_row row = begin_work(rocpd, ROCPD_DISPATCH, index, &place);
	char json[JSON_CHARS];

	rocpd_put(&row, place.agent);
	rocpd_put(&row, symbol);
	rocpd_put(&row, (uint64_t)index + 1);
	rocpd_put(&row, place.queue);
	rocpd_put(&row, place.stream);
	put_times(&row, activity);
	rocpd_put(&row, work->private_bytes);
	rocpd_put(&row, work->group_bytes);
	for (int i = 0; i < 3; i++)
		rocpd_put(&row, work->workgroup[i]);
	for (int i = 0; i < 3; i++)
		rocpd_put(&row, work->grid[i]);
	put_graph(&row, activity);
	rocpd_put(&row, place.region);
	rocpd_put(&row, event);
	rocpd_put_constant(&row, untimed_json(activity, json));
	rocpd_end(&row);
}

/* The agent of the host in a process, or TRACE_NONE. Cost: a scan of the agents. */
static uint32_t host_agent(const struct trace *trace, uint32_t process)
{
	for (uint32_t i = 0; i < trace->agents_count; i++) {
		if (trace->agents[i].process == process && !trace->agents[i].is_gpu)
			return i;
	}
	return TRACE_NONE;
}

/* The agents between which WORK moves bytes: as recorded, else as the direction says. */
static void find_ends(const struct trace *trace, const struct trace_activity *activity,
		      uint32_t *ret_dst, uint32_t *ret_src)
{
	const struct trace_work *work = trace_work_of(trace, activity);
	bool is_dst_host = work->direction == TRACE_D2H || work->direction == TRACE_H2H;
	bool is_src_host = work->direction == TRACE_H2D || work->direction == TRACE_H2H;
	uint32_t host = host_agent(trace, activity->process);

	*ret_dst = work->dst_agent;
	*ret_src = work->src_agent;
	if (*ret_dst == TRACE_NONE)
		*ret_dst = is_dst_host ? host : activity->agent;
	/* Of a copy between two GPUs one end may not be known. */
	if (*ret_src == TRACE_NONE && work->direction != TRACE_P2P)
		*ret_src = is_src_host ? host : activity->agent;
}

static const char *copy_name(const struct trace_work *work)
{
	static const char *const names[] = {
		[TRACE_COPY_UNKNOWN] = "MEMORY_COPY_NONE",
		[TRACE_H2H] = "MEMORY_COPY_HOST_TO_HOST",
		[TRACE_H2D] = "MEMORY_COPY_HOST_TO_DEVICE",
		[TRACE_D2H] = "MEMORY_COPY_DEVICE_TO_HOST",
		[TRACE_D2D] = "MEMORY_COPY_DEVICE_TO_DEVICE",
		[TRACE_P2P] = "MEMORY_COPY_DEVICE_TO_DEVICE",
	};

	return work->kind == TRACE_MEMSET ? "MEMORY_SET" : names[work->direction];
}

static void put_copy(struct rocpd *rocpd, uint32_t index, uint64_t event)
{
	const struct trace_activity *activity = &rocpd->trace->activities[index];
	const struct trace_work *work = trace_work_of(rocpd->trace, activity);
	uint32_t name = rocpd_string(rocpd, activity->process, copy_name(work)), dst, src;
	struct place place = place_of(rocpd, activity);
	struct rocpd_row row;
	char json[JSON_CHARS];

	find_ends(rocpd->trace, activity, &dst, &src);
	dst = rocpd_agent(rocpd, activity->process, dst);
	src = rocpd_agent(rocpd, activity->process, src);
	row = begin_work(rocpd, ROCPD_COPY, index, &place);
	put_times(&row, activity);
	rocpd_put(&row, name);
	rocpd_put(&row, dst);
	rocpd_put(&row, work->dst);
	rocpd_put(&row, src);
	rocpd_put(&row, work->src);
	rocpd_put(&row, work->bytes);
	rocpd_put(&row, place.queue);
	rocpd_put(&row, place.stream);
	put_graph(&row, activity);
	rocpd_put(&row, place.region);
	rocpd_put(&row, event);
	rocpd_put_constant(&row, untimed_json(activity, json));
	rocpd_end(&row);
}

void rocpd_put_activities(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;

	for (uint32_t i = 0; i < trace->activities_count && !rocpd->err; i++) {
		const struct trace_activity *row = &trace->activities[i];
		bool is_kernel = trace_work_of(trace, row)->kind == TRACE_KERNEL;
		uint32_t category = rocpd_string(rocpd, row->process,
						 is_kernel ? "KERNEL_DISPATCH" : "MEMORY_COPY");
		uint64_t stack = rocpd_stack(rocpd, row->process, row->cid);
		uint64_t event = first_activity(trace) + i;

		put_event(rocpd, row->process, event, category, stack, stack);
		if (is_kernel)
			put_dispatch(rocpd, i, event);
		else
			put_copy(rocpd, i, event);
	}
}

/* ---- launches of graphs ---- */

/* What the activities of a launch tell. */
struct launch_work {
	int64_t begin_ns, end_ns;
	uint32_t kernels, first; /* 1 + the first activity, 0 = none */
};

static void see_activity(const struct trace *trace, struct launch_work *work, uint32_t index)
{
	const struct trace_activity *row = &trace->activities[index];

	work->kernels += trace_work_of(trace, row)->kind == TRACE_KERNEL;
	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	if (!work->first || row->start_ns < work->begin_ns)
		work->begin_ns = row->start_ns;
	if (!work->first || row->end_ns > work->end_ns)
		work->end_ns = row->end_ns;
	if (!work->first)
		work->first = index + 1;
}

static void put_launch(struct rocpd *rocpd, uint32_t index, const struct launch_work *work)
{
	const struct trace *trace = rocpd->trace;
	const struct trace_launch *launch = &trace->launches[index];
	const struct trace_call *call =
		launch->call == TRACE_NONE ? NULL : &trace->calls[launch->call];
	const struct trace_activity *first =
		work->first ? &trace->activities[work->first - 1] : NULL;
	uint32_t thread = rocpd_thread(rocpd, launch->process, call ? call->thread : TRACE_NONE);
	uint32_t agent = rocpd_agent(rocpd, launch->process, first ? first->agent : TRACE_NONE);
	uint32_t queue = rocpd_queue(rocpd, launch->process, first ? first->queue : TRACE_NONE);
	struct rocpd_row row;

	/* It has no event to belong to. */
	if (!call)
		return;
	row = rocpd_begin(rocpd, ROCPD_LAUNCH, launch->process);
	rocpd_put(&row, (uint64_t)index + 1);
	rocpd_put(&row, rocpd_node(launch->process));
	rocpd_put(&row, launch->process + 1);
	rocpd_put(&row, thread);
	rocpd_put(&row, agent);
	rocpd_put(&row, queue);
	rocpd_put(&row, (uint64_t)(first ? work->begin_ns : call->begin_ns));
	rocpd_put(&row, (uint64_t)(first ? work->end_ns : call->end_ns));
	rocpd_put(&row, exec_id(trace, index));
	rocpd_put(&row, work->kernels);
	rocpd_put(&row, (uint64_t)launch->call + 1);
	rocpd_end(&row);
}

void rocpd_put_launches(struct rocpd *rocpd)
{
	const struct trace *trace = rocpd->trace;
	struct launch_work *works = calloc((size_t)trace->launches_count + 1, sizeof(*works));

	if (!works) {
		rocpd->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		if (trace->activities[i].launch != TRACE_NONE)
			see_activity(trace, &works[trace->activities[i].launch], i);
	}
	for (uint32_t i = 0; i < trace->launches_count && !rocpd->err; i++)
		put_launch(rocpd, i, &works[i]);
	free(works);
}

/* ---- memory ---- */

static void put_operation(struct rocpd *rocpd, uint32_t index)
{
	const struct trace *trace = rocpd->trace;
	const struct trace_memory_operation *row = &trace->memory_operations[index];
	const struct trace_call *call = row->call == TRACE_NONE ? NULL : &trace->calls[row->call];
	uint32_t thread = rocpd_thread(rocpd, row->process, call ? call->thread : TRACE_NONE);
	uint32_t agent = rocpd_agent(rocpd, row->process, row->agent);
	uint32_t stream = rocpd_stream(rocpd, row->process, row->stream);
	uint32_t category = rocpd_string(rocpd, row->process, "MEMORY_ALLOCATION");
	uint64_t stack = rocpd_stack(rocpd, row->process, row->cid);
	uint64_t event = first_memory(trace) + index;
	struct rocpd_row out;

	put_event(rocpd, row->process, event, category, stack, stack);
	out = rocpd_begin(rocpd, ROCPD_ALLOCATE, row->process);
	rocpd_put(&out, (uint64_t)index + 1);
	rocpd_put(&out, rocpd_node(row->process));
	rocpd_put(&out, row->process + 1);
	rocpd_put(&out, thread);
	rocpd_put(&out, agent);
	rocpd_put_constant(&out, row->is_release ? "FREE" : "ALLOC");
	rocpd_put(&out, (uint64_t)(call ? call->begin_ns : row->ns));
	rocpd_put(&out, (uint64_t)(call ? call->end_ns : row->ns));
	rocpd_put(&out, row->address);
	rocpd_put(&out, row->bytes);
	rocpd_put(&out, stream);
	rocpd_put(&out, event);
	rocpd_end(&out);
}

void rocpd_put_memory(struct rocpd *rocpd)
{
	/* The schema has no place for allocations that failed. */
	for (uint32_t i = 0; i < rocpd->trace->memory_operations_count && !rocpd->err; i++) {
		if (rocpd->trace->memory_operations[i].result == 0)
			put_operation(rocpd, i);
	}
}
