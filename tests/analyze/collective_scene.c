/* Recordings of ranks, made by hand (collective_scene.h). */
#include "collective_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/create.h"
#include "trace/row_table.h"

struct trace *scene_trace;

static trace_string text(const char *name)
{
	return strtab_intern_z(trace_strings(scene_trace), name);
}

/* Adds a function with the arguments of which NAMES is a list, ended by NULL. */
static void add_api(const char *name, enum record_domain domain, const char *const *names)
{
	struct trace_api *api = trace_add(scene_trace, apis);

	api->name = text(name);
	api->domain = domain;
	api->arg_first = scene_trace->api_args_count;
	for (; names && *names; names++) {
		struct trace_api_arg *arg = trace_add(scene_trace, api_args);

		arg->name = text(*names);
		arg->kind = 'u';
		arg->word = (uint8_t)api->arg_words++;
		api->arg_count++;
	}
}

static void add_apis(void)
{
	static const char *const counted[] = {"count", "datatype", "comm",   "rank",
					      "seq",   "nranks",   "commId", NULL};
	static const char *const sent[] = {"sendcount", "datatype", "comm",   "rank",
					   "seq",	"nranks",   "commId", NULL};
	static const char *const received[] = {"recvcount", "datatype", "comm",	  "rank",
					       "seq",	    "nranks",	"commId", NULL};
	static const char *const comm[] = {"comm", NULL};

	add_api("ncclAllReduce", RECORD_DOMAIN_RCCL, counted);
	add_api("ncclAllGatherConfig", RECORD_DOMAIN_RCCL, sent);
	add_api("ncclReduceScatter", RECORD_DOMAIN_RCCL, received);
	add_api("ncclSend", RECORD_DOMAIN_RCCL, counted);
	add_api("ncclRecv", RECORD_DOMAIN_RCCL, counted);
	add_api("ncclGroupStart", RECORD_DOMAIN_RCCL, NULL);
	add_api("ncclGroupEnd", RECORD_DOMAIN_RCCL, NULL);
	add_api("ncclCommDestroy", RECORD_DOMAIN_RCCL, comm);
	add_api("cuLaunchKernelEx", RECORD_DOMAIN_CUDA, NULL);
}

void scene_process(const char *host)
{
	uint32_t number = scene_trace->processes_count;
	struct trace_process *process = trace_add(scene_trace, processes);
	struct trace_thread *thread = trace_add(scene_trace, threads);
	struct trace_agent *agent = trace_add(scene_trace, agents);
	struct trace_stream *stream = trace_add(scene_trace, streams);

	process->pid = 100 + number;
	process->host = text(host);
	process->end_ns = 100000;
	thread->process = agent->process = stream->process = number;
	thread->tid = process->pid;
	agent->is_gpu = true;
	agent->gpu_ordinal = number;
	stream->agent = number;
	stream->kind = TRACE_STREAM_NONBLOCKING;
}

uint32_t scene_call(enum scene_api api, uint32_t parent, int64_t begin_ns, int64_t end_ns)
{
	struct trace_call *call = trace_add(scene_trace, calls);
	uint32_t process = scene_trace->processes_count - 1;

	*call = (struct trace_call){
		.cid = scene_trace->calls_count,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.process = process,
		.thread = process,
		.parent = parent,
		.scope = TRACE_NONE,
		.stream = process,
		.launch = TRACE_NONE,
		.activity_first = scene_trace->activities_count,
		.api = api,
		.arg_first = TRACE_NONE,
	};
	return scene_trace->calls_count - 1;
}

/* Launches a kernel called NAME inside the call OUTER. */
void scene_run(const char *name, uint32_t outer, int64_t launch_ns, int64_t start_ns,
	       int64_t end_ns)
{
	uint32_t call = scene_call(LAUNCH, outer, launch_ns, launch_ns + 5);
	struct trace_work *work = trace_add(scene_trace, works);
	struct trace_activity *row = trace_add(scene_trace, activities);
	uint32_t process = scene_trace->processes_count - 1;

	scene_trace->calls[call].activity_count = 1;
	work->kind = TRACE_KERNEL;
	work->name = text(name);
	*row = (struct trace_activity){
		.submit_ns = launch_ns,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.cid = scene_trace->calls[call].cid,
		.work = scene_trace->works_count - 1,
		.call = call,
		.process = process,
		.agent = process,
		.queue = TRACE_NONE,
		.stream = process,
		.thread = process,
		.scope = TRACE_NONE,
		.launch = TRACE_NONE,
		.node = TRACE_NONE,
	};
}

/* Calls an operation on the communicator of two ranks. */
uint32_t scene_operation(enum scene_api api, uint64_t count, uint64_t type, uint64_t number,
			 int64_t ns, uint64_t id)
{
	const uint64_t words[] = {count,  type, HANDLE, scene_trace->processes_count - 1,
				  number, 2,	id};
	uint32_t call = scene_call(api, TRACE_NONE, ns, ns + 20);

	scene_trace->calls[call].arg_first = scene_trace->words_count;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		*trace_add(scene_trace, words) = words[i];
	return call;
}

void scene_operate(enum scene_api api, uint64_t count, uint64_t type, uint64_t number, int64_t ns,
		   int64_t start_ns, int64_t end_ns)
{
	uint32_t call = scene_operation(api, count, type, number, ns, ID);

	scene_run("ncclDevKernel_Operation(ncclDevKernelArgs)", call, ns + 5, start_ns, end_ns);
}

void scene_create(void)
{
	assert_int_equal(trace_create(&scene_trace), 0);
	add_apis();
}

void scene_merge(uint64_t error_ns)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct trace_clock *clock = trace_add(scene_trace, clocks);

		*clock = (struct trace_clock){
			.machine = i,
			.fit = {.source = i ? RANK_CLOCK_COLLECTIVES : RANK_CLOCK_REFERENCE,
				.last_ns = 100000},
		};
		for (int k = 0; k < RANK_CLOCK_KNOTS && i; k++)
			clock->fit.uncertainty_ns[k] = error_ns;
		scene_trace->processes[i].clock = i;
	}
}
