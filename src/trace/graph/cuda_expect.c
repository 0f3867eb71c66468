/* Sets how many activities each CUDA call is expected to bring. CUPTI does not report it. It is
 * derived for launches; all other calls get TRACE_NONE. */
#include <errno.h>
#include <stdlib.h>

#include "record/cuda_functions.h"
#include "trace/graph/expect.h"
#include "trace/load/cuda_load.h"
#include "trace/process_load.h"

/* Returns an array by API, from first.apis: whether a call launches exactly one kernel. The caller
 * frees it. NULL: out of memory. */
static bool *find_launch_apis(const struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint32_t count = trace->apis_count - load->first.apis;
	bool *launches = calloc((size_t)count + 1, sizeof(*launches));

	for (uint32_t i = 0; launches && i < count; i++) {
		const struct trace_api *api = &trace->apis[load->first.apis + i];
		const char *name = load->strings->strings[api->name];

		launches[i] = api->domain == RECORD_DOMAIN_CUDA && cuda_name_launches_kernel(name);
	}
	return launches;
}

/* Collects the cids of calls that made a graph node, such as captured launches. The node itself may
 * have been destroyed since. */
static int learn_makers(const struct process_load *load, struct idset *makers)
{
	const struct raw_list *steps = &load->raw.lists[RECORD_CUDA_GRAPH];
	int err = 0;

	for (uint32_t i = 0; i < steps->count && err == 0; i++) {
		const struct record_cuda_graph *step = steps->rows[i].record;

		if (step->cid && (step->header.tag == RECORD_CUDA_NODE_CREATED ||
				  step->header.tag == RECORD_CUDA_NODE_CLONED))
			err = idset_add(makers, cuda_outer_cid(&load->cuda, step->cid));
	}
	return err < 0 ? err : idset_finish(makers);
}

struct expecting {
	struct process_load *load;
	bool *launches;	     /* by API, from first.apis: launches one kernel */
	struct idset makers; /* cids of calls that made a node */
	/* By exec, from first.execs: activities of a launch, or TRACE_NONE. */
	uint32_t *exec_count;
};

/* Returns an array by graph, from first.graphs: whether the graph, or a graph that it holds, has a
 * node of unknown type. Such a node may be a conditional node, whose bodies run as often as the
 * device decides. The caller frees the array. NULL: out of memory. */
static bool *find_open_graphs(const struct process_load *load)
{
	const struct trace *trace = load->trace;
	bool *open = calloc((size_t)(trace->graphs_count - load->first.graphs) + 1, sizeof(*open));

	for (uint32_t i = load->first.nodes; open && i < trace->nodes_count; i++) {
		uint32_t graph = trace->nodes[i].graph;

		if (trace->nodes[i].type != RECORD_NODE_OTHER)
			continue;
		for (int depth = 0; graph != TRACE_NONE && depth < TRACE_PARENTS_MOST; depth++) {
			open[graph - load->first.graphs] = true;
			graph = trace->graphs[graph].parent;
		}
	}
	return open;
}

static uint32_t count_of_exec(const struct process_load *load, const bool *open, uint32_t exec)
{
	uint32_t graph = load->trace->execs[exec].graph;
	const struct expect_graph *expect;
	uint64_t least;

	if (graph == TRACE_NONE || open[graph - load->first.graphs] || cuda_is_switched(load, exec))
		return TRACE_NONE;
	expect = &load->expects[graph - load->first.graphs];
	least = expect_least(expect);
	return expect->unknown || least >= TRACE_NONE ? TRACE_NONE : (uint32_t)least;
}

/* Fills exec_count. */
static int count_execs(struct expecting *expecting)
{
	const struct process_load *load = expecting->load;
	uint32_t count = load->trace->execs_count - load->first.execs;
	bool *open = find_open_graphs(load);

	expecting->exec_count = calloc((size_t)count + 1, sizeof(*expecting->exec_count));
	for (uint32_t i = 0; open && expecting->exec_count && i < count; i++)
		expecting->exec_count[i] = count_of_exec(load, open, load->first.execs + i);
	free(open);
	return open && expecting->exec_count ? 0 : -ENOMEM;
}

static uint32_t count_of_call(const struct expecting *expecting, const struct trace_call *call)
{
	const struct process_load *load = expecting->load;
	uint32_t exec =
		call->launch == TRACE_NONE ? TRACE_NONE : load->trace->launches[call->launch].exec;

	if (exec != TRACE_NONE)
		return call->result ? 0 : expecting->exec_count[exec - load->first.execs];
	if (!expecting->launches[call->api - load->first.apis])
		return TRACE_NONE;
	/* If graph records are missing, a captured launch cannot be told from other launches. */
	if (!call->activity_count && load_has_losses(load, RECORD_CLASS_GRAPH))
		return TRACE_NONE;
	return !call->result && idset_find(&expecting->makers, call->cid) == UINT32_MAX;
}

int cuda_expect_load(struct process_load *load)
{
	struct expecting expecting = {.load = load};
	int err;

	if (!cuda_is_there(&load->cuda))
		return 0;
	expecting.launches = find_launch_apis(load);
	err = expecting.launches ? learn_makers(load, &expecting.makers) : -ENOMEM;
	if (err == 0)
		err = count_execs(&expecting);
	for (uint32_t i = load->first.calls; i < load->trace->calls_count && err == 0; i++) {
		struct trace_call *call = &load->trace->calls[i];

		if (load->trace->apis[call->api].domain == RECORD_DOMAIN_CUDA)
			call->activities_expected = count_of_call(&expecting, call);
	}
	idset_release(&expecting.makers);
	free(expecting.exec_count);
	free(expecting.launches);
	return err;
}

uint64_t cuda_count_untimed(const struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint64_t count = 0;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		count += trace->apis[call->api].domain == RECORD_DOMAIN_CUDA &&
			 call->launch == TRACE_NONE && call->activities_expected == 1 &&
			 !call->activity_count;
	}
	return count;
}
