/* The real HIP runtime on the software GPU under the tool: compares what the recording holds
 * with what the program did (hip_scenes.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hip_recording.h"
#include "trace/load.h"

static struct recording *record(const char *scene)
{
	struct recording *r = recording_make("tests/hip-scenes", scene, NULL);

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 1);
	return r;
}

/* Every wrapped call has its API record. The wrappers count calls independently of the writer. */
static void assert_calls_complete(const struct recording *r)
{
	assert_int_equal(recording_witness(r, "hip", "calls"), recording_count(r, RECORD_API));
	assert_int_equal(recording_witness(r, "hip", "open"), 0);
}

static const struct record_graph *find_graph(const struct recording *r, uint64_t handle)
{
	const struct record_graph *graph;

	for (size_t i = 0; (graph = recording_find(r, RECORD_GRAPH, i)); i++)
		if (graph->handle == handle)
			return graph;
	fail_msg("graph %llx is not in the recording", (unsigned long long)handle);
	return NULL;
}

static const struct record_graph_node *find_node(const struct recording *r, uint64_t graph_id,
						 uint32_t index)
{
	const struct record_graph_node *node;

	for (size_t i = 0; (node = recording_find(r, RECORD_GRAPH_NODE, i)); i++)
		if (node->graph_id == graph_id && node->header.tag == index)
			return node;
	fail_msg("graph %u has no node %u", (unsigned)graph_id, index);
	return NULL;
}

static bool has_edge(const struct recording *r, uint64_t graph_id, uint32_t from, uint32_t to)
{
	const struct record_graph_edge *edge;

	for (size_t i = 0; (edge = recording_find(r, RECORD_GRAPH_EDGE, i)); i++)
		if (edge->graph_id == graph_id && edge->from == from && edge->to == to)
			return true;
	return false;
}

static const struct record_node_recorded *find_recorded(const struct recording *r, uint64_t node)
{
	const struct record_node_recorded *recorded;

	for (size_t i = 0; (recorded = recording_find(r, RECORD_NODE_RECORDED, i)); i++)
		if (recorded->node == node)
			return recorded;
	fail_msg("nothing is said of where node %llx comes from", (unsigned long long)node);
	return NULL;
}

static const char *maker_of(const struct recording *r, uint64_t node)
{
	uint64_t cid = find_recorded(r, node)->cid;
	const struct record_api *api;

	for (size_t i = 0; (api = recording_find(r, RECORD_API, i)); i++)
		if (api->cid == cid)
			return recording_call_name(r, api->header.tag);
	fail_msg("no call %u", (unsigned)cid);
	return NULL;
}

static void assert_function_named(const struct recording *r, uint64_t handle, const char *name)
{
	const struct record_function *function;

	for (size_t i = 0; (function = recording_find(r, RECORD_FUNCTION, i)); i++) {
		if (function->handle != handle)
			continue;
		assert_int_equal(function->header.tag, strlen(name));
		assert_memory_equal(function->name, name, strlen(name));
		return;
	}
	fail_msg("function %llx has no name", (unsigned long long)handle);
}

/* Every kind of node is recorded with its type, its edges and its place in the graph. */
static void nodes_of_every_kind(void **state)
{
	static const uint32_t types[] = {
		RECORD_NODE_MEMSET, RECORD_NODE_MEMCPY,	      RECORD_NODE_MEMCPY,
		RECORD_NODE_CHILD,  RECORD_NODE_KERNEL,	      RECORD_NODE_EMPTY,
		RECORD_NODE_HOST,   RECORD_NODE_EVENT_RECORD, RECORD_NODE_EVENT_WAIT,
		RECORD_NODE_MEMCPY,
	};
	static const char *const makers[] = {
		"hipGraphAddMemsetNode",    "hipGraphAddMemcpyNode1D",
		"hipGraphAddMemcpyNode",    "hipGraphAddChildGraphNode",
		"hipGraphAddKernelNode",    "hipGraphAddEmptyNode",
		"hipGraphAddHostNode",	    "hipGraphAddEventRecordNode",
		"hipGraphAddEventWaitNode", "hipGraphAddMemcpyNode1D",
	};
	struct recording *r = record("nodes");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));

	assert_int_equal(graph->node_count, 10);
	assert_int_equal(graph->edge_count, 9);
	assert_int_equal(graph->parent_graph_id, 0);
	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct record_graph_node *node = find_node(r, graph->graph_id, i);

		assert_int_equal(node->handle, recording_said(r, "node", i));
		assert_int_equal(node->type, types[i]);
		assert_string_equal(maker_of(r, node->handle), makers[i]);
		if (i > 0)
			assert_true(has_edge(r, graph->graph_id, i - 1, i));
	}
	assert_calls_complete(r);
	recording_free(r);
}

/* The parameters of nodes are recorded as they were when the graph was instantiated. */
static void parameters_of_nodes(void **state)
{
	struct recording *r = record("nodes");
	uint64_t id = find_graph(r, recording_said(r, "graph", 0))->graph_id;
	uint64_t data = recording_said(r, "data", 0), other = recording_said(r, "other", 0);
	const struct record_graph_node *fill = find_node(r, id, 0), *copy = find_node(r, id, 1);
	const struct record_graph_node *rect = find_node(r, id, 2), *kernel = find_node(r, id, 4);
	const struct record_graph_node *read = find_node(r, id, 9);

	assert_int_equal(fill->dst, data);
	assert_int_equal(fill->bytes, 1024);
	assert_int_equal(fill->width, 256);
	assert_int_equal(fill->element_bytes, 4);
	/* HIP 5.2 does not return the parameters of a one-dimensional copy; they come from the
	 * call. */
	assert_int_equal(copy->dst, other);
	assert_int_equal(copy->src, data);
	assert_int_equal(copy->bytes, 1024);
	assert_int_equal(copy->copy_kind, 3);
	assert_int_equal(rect->dst, data);
	assert_int_equal(rect->bytes, 256);
	assert_int_equal(rect->height, 4);
	/* hipGraphMemcpyNodeSetParams1D halved the size before the graph was instantiated. */
	assert_int_equal(read->bytes, 512);
	assert_int_equal(read->copy_kind, 2);
	assert_int_equal(read->dst, recording_said(r, "host", 0));
	assert_int_equal(kernel->grid[0], 4);
	assert_int_equal(kernel->block[0], 64);
	assert_function_named(r, kernel->function, "mix");
	recording_free(r);
}

/* The nodes of child graphs and clones are traced back to the calls that made the originals. */
static void child_and_clone(void **state)
{
	struct recording *r = record("nodes");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));
	const struct record_graph *clone = find_graph(r, recording_said(r, "clone", 0));
	const struct record_graph_node *holder = find_node(r, graph->graph_id, 3);
	const struct record_graph_node *inner = find_node(r, holder->child_graph_id, 1);
	const struct record_graph *child = recording_find(r, RECORD_GRAPH, 1);

	assert_int_equal(child->graph_id, holder->child_graph_id);
	assert_int_equal(child->parent_graph_id, graph->graph_id);
	assert_int_equal(child->parent_node, 3);
	assert_int_equal(child->node_count, 2);
	assert_true(has_edge(r, child->graph_id, 0, 1));
	assert_function_named(r, inner->function, "rotate");
	assert_int_equal(inner->grid[0], 3);
	/* The nodes of the child and of the clone are copies; their makers are the original's
	 * calls. */
	assert_string_equal(maker_of(r, inner->handle), "hipGraphAddKernelNode");
	assert_int_equal(clone->node_count, 10);
	assert_int_equal(find_node(r, clone->graph_id, 0)->handle,
			 recording_said(r, "clone_memset", 0));
	assert_string_equal(maker_of(r, find_node(r, clone->graph_id, 1)->handle),
			    "hipGraphAddMemcpyNode1D");
	assert_int_equal(find_node(r, clone->graph_id, 1)->bytes, 1024);
	recording_free(r);
}

/* A node keeps the scope in which the program made it. */
static void scope_of_a_node(void **state)
{
	struct recording *r = record("nodes");
	const struct record_scope *scope = recording_find(r, RECORD_SCOPE, 0);
	uint64_t kernel = recording_said(r, "node", 4), fill = recording_said(r, "node", 0);
	uint64_t id = find_graph(r, recording_said(r, "clone", 0))->graph_id;

	assert_non_null(scope);
	assert_int_equal(find_recorded(r, kernel)->scope, scope->id);
	assert_int_equal(find_recorded(r, find_node(r, id, 4)->handle)->scope, scope->id);
	assert_int_equal(find_recorded(r, fill)->scope, 0);
	recording_free(r);
}

/* Executable graphs and their replays are recorded with their graph and stream. */
static void execs_and_replays(void **state)
{
	struct recording *r = record("nodes");
	const struct record_graph_exec *first = recording_find(r, RECORD_GRAPH_EXEC, 0);
	const struct record_graph_exec *second = recording_find(r, RECORD_GRAPH_EXEC, 1);

	assert_int_equal(first->handle, recording_said(r, "exec", 0));
	assert_int_equal(first->graph_id, find_graph(r, recording_said(r, "graph", 0))->graph_id);
	assert_int_equal(second->graph_id, find_graph(r, recording_said(r, "clone", 0))->graph_id);
	assert_true(second->exec_id > first->exec_id);
	assert_int_equal(recording_count(r, RECORD_GRAPH_EXEC_GONE), 2);
	assert_int_equal(recording_count(r, RECORD_GRAPH_LAUNCH), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct record_graph_launch *launch =
			recording_find(r, RECORD_GRAPH_LAUNCH, i);
		const struct record_api *call = recording_find_call(r, "hipGraphLaunch", i);

		assert_int_equal(launch->exec_id, i < 3 ? first->exec_id : second->exec_id);
		assert_int_equal(launch->replay, i < 3 ? i : 0);
		assert_int_equal(launch->cid, call->cid);
		assert_int_equal(launch->stream, recording_argument(r, call, "stream"));
	}
	recording_free(r);
}

/* Captured calls become nodes; captured waits and event records become edges. */
static void captured_nodes(void **state)
{
	static const char *const makers[] = {
		"hipMemcpyAsync",  "hipLaunchKernel",	 "hipMemsetAsync",
		"hipLaunchKernel", "hipMemcpyDtoDAsync", "hipMemcpy2DAsync",
	};
	static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 4}, {2, 3}, {3, 4}, {4, 5}};
	struct recording *r = record("capture");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));

	assert_int_equal(graph->node_count, 6);
	assert_int_equal(recording_count(r, RECORD_NODE_RECORDED), 6);
	for (uint32_t i = 0; i < 6; i++) {
		uint64_t node = find_node(r, graph->graph_id, i)->handle;

		assert_string_equal(maker_of(r, node), makers[i]);
		assert_int_equal(find_recorded(r, node)->graph, graph->handle);
	}
	assert_int_equal(graph->edge_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(has_edge(r, graph->graph_id, edges[i][0], edges[i][1]));
	assert_int_equal(find_node(r, graph->graph_id, 0)->copy_kind, 1);
	assert_int_equal(find_node(r, graph->graph_id, 4)->copy_kind, 3);
	assert_int_equal(find_node(r, graph->graph_id, 4)->bytes, 1024);
	assert_calls_complete(r);
	recording_free(r);
}

/* A program that changes the capture's dependencies makes no node. */
static void a_steered_capture(void **state)
{
	struct recording *r = record("steered");
	const struct record_graph *graph = find_graph(r, recording_said(r, "graph", 0));

	assert_int_equal(graph->node_count, 3);
	assert_int_equal(recording_count(r, RECORD_NODE_RECORDED), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(maker_of(r, find_node(r, graph->graph_id, i)->handle),
				    "hipLaunchKernel");
	assert_true(has_edge(r, graph->graph_id, 0, 1));
	assert_true(has_edge(r, graph->graph_id, 0, 2));
	recording_free(r);
}

static const struct record_graph_node *update(const struct recording *r, size_t n)
{
	const struct record_graph_node *node = recording_find(r, RECORD_GRAPH_EXEC_UPDATE, n);

	assert_non_null(node);
	return node;
}

/* Each change of an executable graph is recorded with the new parameters. */
static void updates_of_an_exec(void **state)
{
	struct recording *r = record("updates");
	const struct record_graph_exec *exec = recording_find(r, RECORD_GRAPH_EXEC, 0);
	const struct record_graph_exec *copies = recording_find(r, RECORD_GRAPH_EXEC, 1);

	/* First SetParams of the first node, then all four nodes by hipGraphExecUpdate, then two
	 * more changes. A second update with the same graph changes nothing. */
	assert_int_equal(recording_count(r, RECORD_GRAPH_EXEC_UPDATE), 7);
	assert_int_equal(update(r, 0)->graph_id, exec->exec_id);
	assert_int_equal(update(r, 0)->handle, recording_said(r, "node", 0));
	assert_int_equal(update(r, 0)->grid[0], 4);
	assert_int_equal(update(r, 0)->cid,
			 recording_find_call(r, "hipGraphExecKernelNodeSetParams", 0)->cid);
	for (size_t i = 1; i <= 4; i++) {
		assert_int_equal(update(r, i)->header.tag, i - 1);
		assert_int_equal(update(r, i)->handle, recording_said(r, "node", i - 1));
		assert_int_equal(update(r, i)->grid[0], 2);
	}
	assert_int_equal(update(r, 5)->graph_id, copies->exec_id);
	assert_int_equal(update(r, 5)->handle, recording_said(r, "copy", 0));
	assert_int_equal(update(r, 5)->bytes, 256);
	assert_int_equal(update(r, 6)->handle, recording_said(r, "fill", 0));
	assert_int_equal(update(r, 6)->width, 128);
	/* The update that failed leaves a note in the recording, and its error reaches the
	 * program. */
	assert_int_equal(recording_count(r, RECORD_NOTE), 1);
	assert_int_equal(recording_said(r, "last_error", 0), 910);
	recording_free(r);
}

/* The scene itself compares results and hipGetLastError with the values that HIP gives without
 * the tool. */
static void errors_stay_the_programs(void **state)
{
	struct recording *r = record("errors");
	const struct record_api *call = recording_find_call(r, "hipGraphLaunch", 0);
	const struct record_graph_launch *launch = recording_find(r, RECORD_GRAPH_LAUNCH, 0);

	assert_int_equal(call->result, 1);
	assert_int_equal(launch->exec_id, 0);
	assert_int_equal(recording_find_call(r, "hipMalloc", 0)->result, 2);
	assert_calls_complete(r);
	recording_free(r);
}

/* A call that HIP makes inside another call is recorded with the outer call as its parent. */
static void nested_calls_know_their_parent(void **state)
{
	struct recording *r = record("nested");
	const struct record_api *outer =
		recording_find_call(r, "hipGraphExecChildGraphNodeSetParams", 0);
	const struct record_api *inner = recording_find_call(r, "hipGraphExecUpdate", 0);

	assert_int_equal(inner->parent, outer->cid);
	assert_int_equal(outer->parent, 0);
	assert_true(inner->begin_ns >= outer->begin_ns && inner->end_ns <= outer->end_ns);
	/* The tool's own calls of the runtime are not recorded. */
	assert_null(recording_find_call(r, "hipGraphGetNodes", 0));
	recording_free(r);
}

/* Threads that build and launch graphs at the same time each get their own rows. */
static void threads_build_and_launch(void **state)
{
	struct recording *r = record("threads");
	uint64_t ids[101] = {0};

	assert_int_equal(recording_count(r, RECORD_GRAPH), 100);
	assert_int_equal(recording_count(r, RECORD_GRAPH_NODE), 500);
	assert_int_equal(recording_count(r, RECORD_GRAPH_LAUNCH), 200);
	for (size_t i = 0; i < 200; i++) {
		const struct record_graph_launch *launch =
			recording_find(r, RECORD_GRAPH_LAUNCH, i);

		assert_in_range(launch->exec_id, 1, 100);
		assert_int_equal(launch->replay, ids[launch->exec_id]++);
	}
	assert_calls_complete(r);
	recording_free(r);
}

static const struct record_source *last_hip_source(const struct recording *r)
{
	const struct record_source *source, *last = NULL;

	for (size_t i = 0; (source = recording_find(r, RECORD_SOURCE, i)); i++)
		if (!strncmp(source->name, "hip", sizeof(source->name)))
			last = source;
	assert_non_null(last);
	return last;
}

static void assert_dispatches_are_nobodys(const struct recording *r)
{
	const struct record_dispatch *dispatch;

	assert_non_null(recording_find(r, RECORD_DISPATCH, 0));
	for (size_t i = 0; (dispatch = recording_find(r, RECORD_DISPATCH, i)); i++)
		assert_int_equal(dispatch->cid, 0);
	assert_int_equal(last_hip_source(r)->header.tag, RECORD_SOURCE_PARTIAL);
}

/* Calls through dlsym on the library itself pass every wrapper. The dispatches are recorded, and
 * the trace says that their calls were not seen. */
static void unseen_calls_are_said(void **state)
{
	struct recording *r = record("unseen");

	assert_int_equal(recording_count(r, RECORD_API), 0);
	assert_dispatches_are_nobodys(r);
	recording_free(r);
}

/* With AMD_DIRECT_DISPATCH=0 another thread sends the packets. The recording must not guess
 * which call caused them. */
static void dispatches_by_a_worker(void **state)
{
	struct recording *r =
		recording_make("examples/graph-bubbles", "20", "AMD_DIRECT_DISPATCH=0");

	assert_int_equal(r->exit_code, 0);
	assert_dispatches_are_nobodys(r);
	assert_calls_complete(r);
	recording_free(r);
}

/* HIP is loaded with an RTLD_LOCAL library, where RTLD_NEXT does not find it. */
static void a_plugin_is_seen(void **state)
{
	struct recording *r = recording_make("examples/plugin", "20", NULL);

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(last_hip_source(r)->header.tag, RECORD_SOURCE_ON);
	assert_non_null(recording_find_call(r, "hipLaunchKernel", 0));
	assert_non_null(recording_find(r, RECORD_GRAPH_LAUNCH, 0));
	assert_calls_complete(r);
	recording_free(r);
}

/* Every dispatch of a launch has the cid of the call that made it. */
static void dispatches_are_under_their_call(void **state)
{
	struct recording *r = record("nodes");
	const struct record_graph_launch *launch;
	const struct record_dispatch *dispatch;
	size_t mixes = 0;

	for (size_t i = 0; (launch = recording_find(r, RECORD_GRAPH_LAUNCH, i)); i++)
		for (size_t k = 0; (dispatch = recording_find(r, RECORD_DISPATCH, k)); k++)
			mixes += dispatch->cid == launch->cid && dispatch->workgroup[0] == 64 &&
				 dispatch->grid[0] <= 256;
	/* Two kernels of the child and one of the graph, in four launches. */
	assert_int_equal(mixes, 12);
	recording_free(r);
}

/* The constructor's call is recorded. The destructor's call comes after the end of the recording
 * and passes unrecorded. */
static void before_and_after_the_tool(void **state)
{
	struct recording *r = recording_make("tests/hip-early-main", NULL, "DAGTAP_CALLS=all");

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 1);
	assert_non_null(recording_find_call(r, "hipGetDeviceCount", 0));
	assert_true(spool_reader_info(r->reader)->closed);
	recording_free(r);
}

/* ---- calls that only read or set a state ---- */

static void calls_that_only_read_have_no_row(void **state)
{
	struct recording *r = record("reads");

	assert_int_equal(recording_count(r, RECORD_API), 2);
	assert_non_null(recording_find_call(r, "hipMalloc", 0));
	assert_non_null(recording_find_call(r, "hipFree", 0));
	assert_int_equal(recording_witness(r, "hip", "calls_selected"), 1);
	assert_calls_complete(r);
	recording_free(r);
}

static void all_calls_have_one(void **state)
{
	struct recording *r = recording_make("tests/hip-scenes", "reads", "DAGTAP_CALLS=all");

	assert_int_equal(r->exit_code, 0);
	assert_non_null(recording_find_call(r, "hipGetDeviceCount", 0));
	assert_non_null(recording_find_call(r, "hipSetDevice", 0));
	assert_non_null(recording_find_call(r, "hipGetDevice", 1));
	assert_non_null(recording_find_call(r, "hipGetLastError", 0));
	assert_non_null(recording_find_call(r, "hipPeekAtLastError", 0));
	assert_int_equal(recording_count(r, RECORD_API), 8);
	assert_calls_complete(r);
	recording_free(r);
}

/* The ledger has no count of them. */
static void the_ledger_says_what_was_not_subscribed(void **state)
{
	char *output;
	struct trace *trace =
		recording_load((const char *const[]){"tests/hip-scenes", "reads", NULL}, &output);
	const struct trace_source *hip = NULL;

	for (uint32_t i = 0; i < trace->sources_count; i++)
		if (!strcmp(trace_text(trace, trace->sources[i].name), "hip"))
			hip = &trace->sources[i];
	assert_non_null(hip);
	assert_int_equal(hip->expected, 2);
	assert_int_equal(hip->unexplained, 0);
	assert_non_null(strstr(trace_text(trace, hip->text), "not subscribed"));
	trace_close(trace);
	free(output);
}

/* A program that does not use the GPU writes no spool. */
static void no_gpu_no_file(void **state)
{
	struct recording *r = recording_make("tests/hip-scenes", "idle", NULL);

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 0);
	recording_free(r);
}

/* Without DAGTAP_SPOOL the tool records nothing and the program runs as usual. */
static void without_a_spool_nothing_happens(void **state)
{
	struct recording *r = recording_make("tests/hip-scenes", "nodes", "DAGTAP_SPOOL=");

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 0);
	recording_free(r);
}

static const struct record_memory *find_memory(const struct recording *r,
					       enum record_memory_type type, uint64_t address)
{
	const struct record_memory *memory;

	for (size_t i = 0; (memory = recording_find(r, RECORD_MEMORY, i)); i++)
		if (memory->header.tag == type && memory->address == address)
			return memory;
	fail_msg("no record %d of %llx", type, (unsigned long long)address);
	return NULL;
}

static void assert_allocated(const struct recording *r, size_t nth, enum record_memory_kind kind,
			     uint64_t bytes)
{
	const struct record_memory *memory =
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "memory", nth));

	assert_int_equal(memory->kind, kind);
	assert_int_equal(memory->bytes, bytes);
	assert_int_equal(memory->result, 0);
}

/* Each function that allocates has a record with what it allocated, each one that releases one
 * with the address; a release of NULL or of something else has none. */
static void memory_of_every_kind(void **state)
{
	struct recording *r = record("allocations");
	const struct record_memory *freed =
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "freed", 0));

	assert_int_equal(freed->bytes, 1000);
	assert_allocated(r, 1, RECORD_MEMORY_KIND_HOST, 4000);
	assert_allocated(r, 2, RECORD_MEMORY_KIND_DEVICE, 7 * recording_said(r, "pitch", 0));
	assert_allocated(r, 3, RECORD_MEMORY_KIND_DEVICE, 15 * recording_said(r, "pitch", 1));
	assert_allocated(r, 4, RECORD_MEMORY_KIND_DEVICE, 2000);
	assert_allocated(r, 5, RECORD_MEMORY_KIND_ARRAY, 16 * 8 * 4);
	assert_int_equal(find_memory(r, RECORD_MEMORY_FAIL, 0)->bytes, (uint64_t)1 << 50);
	assert_int_equal(find_memory(r, RECORD_MEMORY_FAIL, 0)->result, 2);
	find_memory(r, RECORD_MEMORY_RELEASE, recording_said(r, "freed", 0));
	find_memory(r, RECORD_MEMORY_RELEASE, recording_said(r, "memory", 4));
	find_memory(r, RECORD_MEMORY_RELEASE, recording_said(r, "memory", 5));
	/* Seven allocations, three releases, one failure. */
	assert_int_equal(recording_count(r, RECORD_MEMORY), 11);
	assert_calls_complete(r);
	recording_free(r);
}

/* The memory of a GPU and of the host is known by HSA. */
static void memory_has_an_agent(void **state)
{
	struct recording *r = record("allocations");
	uint64_t gpu = 0, host = 0;
	const struct record_agent *agent;

	for (size_t i = 0; (agent = recording_find(r, RECORD_AGENT, i)); i++) {
		if (agent->is_gpu)
			gpu = agent->handle;
		else
			host = agent->handle;
	}
	assert_int_equal(
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "freed", 0))->agent, gpu);
	assert_int_equal(
		find_memory(r, RECORD_MEMORY_ALLOCATE, recording_said(r, "memory", 1))->agent,
		host);
	recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_every_kind),
		cmocka_unit_test(parameters_of_nodes),
		cmocka_unit_test(child_and_clone),
		cmocka_unit_test(scope_of_a_node),
		cmocka_unit_test(execs_and_replays),
		cmocka_unit_test(captured_nodes),
		cmocka_unit_test(a_steered_capture),
		cmocka_unit_test(updates_of_an_exec),
		cmocka_unit_test(errors_stay_the_programs),
		cmocka_unit_test(nested_calls_know_their_parent),
		cmocka_unit_test(threads_build_and_launch),
		cmocka_unit_test(unseen_calls_are_said),
		cmocka_unit_test(dispatches_by_a_worker),
		cmocka_unit_test(a_plugin_is_seen),
		cmocka_unit_test(dispatches_are_under_their_call),
		cmocka_unit_test(before_and_after_the_tool),
		cmocka_unit_test(calls_that_only_read_have_no_row),
		cmocka_unit_test(all_calls_have_one),
		cmocka_unit_test(the_ledger_says_what_was_not_subscribed),
		cmocka_unit_test(memory_of_every_kind),
		cmocka_unit_test(memory_has_an_agent),
		cmocka_unit_test(no_gpu_no_file),
		cmocka_unit_test(without_a_spool_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
