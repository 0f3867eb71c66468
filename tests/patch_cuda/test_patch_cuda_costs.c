/*
 * What the CUDA driver measures for DAGPATCH_AUTO, on the played libcuda: the clock is held and
 * moves only with the driver's calls, so each cost is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dagpatch/dagpatch.h>
#include <time.h>

#include "../patch/bed.h"
#include "patch/context.h"
#include "patch/cuda/cuda_driver.h"

enum {
	SET_NS = 100,	  /* to set a node */
	UPLOAD_NS = 50,	  /* further time of the next launch for each node that was set */
	REPLAY_NS = 9000, /* a launch of a graph without a table */
	TABLE_NS = 500,	  /* further time of a launch of a graph with a table */
	UPDATER_NS = 1100,
	NODE_NS = 30,	   /* to add a node */
	FIRST_NS = 900000, /* further time of the process's first graph */
};

static uint64_t held_ns;
static struct cuda_functions real;
static cuda_exec with_table;
static uint32_t nodes_set, graphs;

/* The C library's own function is not needed: nothing else here asks for the time. */
int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	*ret_time = (struct timespec){.tv_sec = (time_t)(held_ns / 1000000000u),
				      .tv_nsec = (long)(held_ns % 1000000000u)};
	return 0;
}

static int set_node(cuda_exec exec, cuda_node node, const struct cuda_kernel_node_params *params)
{
	held_ns += SET_NS;
	nodes_set++;
	return real.cuGraphExecKernelNodeSetParams_v2(exec, node, params);
}

static int add_node(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
		    const struct cuda_kernel_node_params *params)
{
	held_ns += NODE_NS;
	return real.cuGraphAddKernelNode_v2(node, graph, after, count, params);
}

static int instantiate(cuda_exec *exec, cuda_graph graph, unsigned long long flags)
{
	int err = real.cuGraphInstantiateWithFlags(exec, graph, flags);

	held_ns += graphs++ ? 0 : FIRST_NS;
	if (flags)
		with_table = *exec;
	return err;
}

static int launch_graph(cuda_exec exec, cuda_stream stream)
{
	held_ns += REPLAY_NS;
	if (exec == with_table)
		held_ns += TABLE_NS;
	else
		held_ns += (uint64_t)nodes_set * UPLOAD_NS;
	nodes_set = exec == with_table ? nodes_set : 0;
	return real.cuGraphLaunch(exec, stream);
}

static int launch_kernel(cuda_function function, unsigned int gx, unsigned int gy, unsigned int gz,
			 unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			 cuda_stream stream, void **parameters, void **extra)
{
	held_ns += UPDATER_NS;
	return real.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters,
				   extra);
}

static void play(struct cuda_driver *cuda)
{
	real = cuda->call;
	cuda->call.cuGraphExecKernelNodeSetParams_v2 = set_node;
	cuda->call.cuGraphAddKernelNode_v2 = add_node;
	cuda->call.cuGraphInstantiateWithFlags = instantiate;
	cuda->call.cuGraphLaunch = launch_graph;
	cuda->call.cuLaunchKernel = launch_kernel;
}

/* What a change of nodes adds to the next replay belongs to setting, not to the replay without
 * changes after it. The first graph of a process is no measure for later ones. */
static void each_cost_is_counted_where_it_arises(void **state)
{
	const struct dagpatch_options options = {
		.size = sizeof(options), .driver = "cuda", .strategy = DAGPATCH_SET_PARAMS};
	struct patch_costs costs;
	struct dagpatch_context *context;
	struct device_visit visit;

	assert_int_equal(dagpatch_context_create(&options, &context, NULL), 0);
	play(cuda_of(context->device));
	assert_int_equal(device_enter(context->device, &visit), 0);
	assert_int_equal(cuda_measure(context->device, &costs), 0);
	device_leave(&visit);
	assert_int_equal(costs.set, SET_NS + UPLOAD_NS);
	assert_int_equal(costs.idle, TABLE_NS);
	assert_int_equal(costs.change, UPDATER_NS);
	assert_int_equal(costs.build, NODE_NS);
	dagpatch_context_destroy(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cost_is_counted_where_it_arises),
	};
	int err = bed_cuda.open();

	if (err)
		return err;
	err = cmocka_run_group_tests(tests, NULL, NULL);
	bed_cuda.close();
	return err;
}
