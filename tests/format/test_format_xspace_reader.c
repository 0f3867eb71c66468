/* Reads XSpaces as other tools write them. test_format_xspace_way_back.c reads files of our own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/xspace/xspace_reader.h"
#include "xspace_maker.h"

#define DETAILS                                                                                    \
	"regs:50 static_shared:16 dynamic_shared:8192 grid:8,2,1 block:128,1,1 occ_pct:56.25"

static struct trace *open_made(struct maker *maker)
{
	struct dagtap_error error = {.message = ""};
	struct read_file file;
	struct trace *trace;

	maker_finish(maker);
	file = (struct read_file){"made", maker->bytes.bytes, maker->bytes.used};
	assert_true(xspace_is_likely(&file));
	if (xspace_open(&file, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	proto_release(&maker->bytes);
	return trace;
}

static const char *text(const struct trace *trace, trace_string string)
{
	return trace_text(trace, string);
}

static void expect_text(const struct trace *trace, trace_string string, const char *expected)
{
	assert_string_equal(text(trace, string), expected);
}

static const struct trace_scope_attribute *find_attribute(const struct trace *trace, uint32_t set,
							  const char *key)
{
	const struct trace_attribute_set *row = &trace->attribute_sets[set];

	for (uint32_t i = 0; i < row->count; i++) {
		if (!strcmp(text(trace, trace->scope_attributes[row->first + i].key), key))
			return &trace->scope_attributes[row->first + i];
	}
	return NULL;
}

static bool has_message(const struct trace *trace, const char *part, bool damage)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (strstr(text(trace, trace->messages[i].text), part) &&
		    trace->messages[i].damage == damage)
			return true;
	}
	return false;
}

static void put_gpu(struct maker *maker)
{
	maker_plane(maker, "/device:GPU:0", 0);
	maker_line(maker, 14, "Stream #14(Compute)", 1000);
}

static void put_kernel(struct maker *maker, const char *name, uint64_t ns, uint64_t cid)
{
	maker_event(maker, name, ns * 1000, 500000,
		    STATS(U64("correlation_id", cid), REF("kernel_details", DETAILS)));
}

static void put_host(struct maker *maker)
{
	maker_plane(maker, "/host:CPU", 0);
	maker_line(maker, 650, "Host Threads/650", 1000);
}

static void put_call(struct maker *maker, const char *name, uint64_t ns, uint64_t cid)
{
	maker_event(maker, name, ns * 1000, 100000, STATS(U64("correlation_id", cid)));
}

static void a_kernel_and_its_call(void **state)
{
	struct maker maker = {0};
	const struct trace_activity *kernel;
	const struct trace_call *call;
	const struct trace_work *work;
	struct trace *trace;

	put_gpu(&maker);
	maker_event(&maker, "gemm", 653402000, 1824000,
		    STATS(U64("correlation_id", 7), I64("scope_range_id", 258),
			  TEXT("context_id", "$$1"), F64("theoretical_occupancy_pct", 56.25),
			  REF("kernel_details", DETAILS), I64("program_id", 3976)));
	maker_plane_stats(&maker,
			  STATS(TEXT("gpu_device_name", "NVIDIA H200"), I64("core_count", 132),
				U64("memory_size", 150109880320), I64("process_id", 650)));
	put_host(&maker);
	maker_event(
		&maker, "cuLaunchKernel", 600000000, 5000000,
		STATS(U64("device_id", 0), U64("correlation_id", 7), I64("scope_range_id", 258)));
	trace = open_made(&maker);

	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->processes[0].pid, 650);
	assert_int_equal(trace->agents_count, 1);
	expect_text(trace, trace->agents[0].name, "NVIDIA H200");
	assert_true(trace->agents[0].is_gpu);
	assert_int_equal(trace->agents[0].compute_units, 132);
	assert_int_equal(trace->agents[0].memory_bytes, 150109880320);
	assert_int_equal(trace->streams[0].ordinal, 14);

	assert_int_equal(trace->activities_count, 1);
	kernel = &trace->activities[0];
	assert_int_equal(kernel->start_ns, 1000 + 653402);
	assert_int_equal(kernel->end_ns, 1000 + 653402 + 1824);
	assert_int_equal(kernel->cid, 7);
	assert_int_equal(kernel->call, 0);
	assert_int_equal(trace->scopes[kernel->scope].id, 258);
	work = trace_work_of(trace, kernel);
	assert_int_equal(work->kind, TRACE_KERNEL);
	expect_text(trace, work->name, "gemm");
	assert_int_equal(work->grid[0], 8 * 128);
	assert_int_equal(work->grid[1], 2);
	assert_int_equal(work->workgroup[0], 128);
	assert_int_equal(work->group_bytes, 16 + 8192);

	assert_int_equal(trace->calls_count, 1);
	call = &trace->calls[0];
	expect_text(trace, trace->apis[call->api].name, "cuLaunchKernel");
	assert_int_equal(trace->apis[call->api].domain, RECORD_DOMAIN_CUDA);
	assert_int_equal(call->begin_ns, 1000 + 600000);
	assert_int_equal(call->activity_count, 1);
	assert_int_equal(call->activities_expected, 1);
	assert_int_equal(trace->threads[call->thread].tid, 650);
	assert_int_equal(call->scope, kernel->scope);
	trace_close(trace);
}

/*
 * All stats except the correlation id and the scope are kept, in the file's order and with types.
 */
static void stats_are_kept(void **state)
{
	struct maker maker = {0};
	const struct trace_scope_attribute *attribute;
	struct trace *trace;
	uint32_t set;

	put_gpu(&maker);
	for (uint64_t i = 0; i < 3; i++)
		maker_event(&maker, "gemm", i * 1000000, 1000,
			    STATS(U64("correlation_id", i + 1), REF("kernel_details", DETAILS),
				  I64("negative", -5), F64("half", 0.5), TEXT("note", "a"),
				  TEXT("note", "b"), U64("most", UINT64_MAX)));
	maker_event(&maker, "gemm", 9000000, 1000,
		    STATS(U64("correlation_id", 4), REF("kernel_details", DETAILS)));
	trace = open_made(&maker);

	assert_non_null(trace->activity_attributes);
	set = trace->activity_attributes[0];
	assert_int_not_equal(set, 0);
	assert_int_equal(trace->activity_attributes[1], set);
	assert_int_equal(trace->activity_attributes[2], set);
	assert_int_not_equal(trace->activity_attributes[3], set);
	assert_int_equal(trace->attribute_sets[set].count, 6);
	assert_null(find_attribute(trace, set, "correlation_id"));
	attribute = find_attribute(trace, set, "kernel_details");
	assert_int_equal(attribute->kind, RECORD_ATTRIBUTE_TEXT);
	expect_text(trace, attribute->value.text, DETAILS);
	attribute = find_attribute(trace, set, "negative");
	assert_int_equal(attribute->kind, RECORD_ATTRIBUTE_INT64);
	assert_true(attribute->value.int64 == -5);
	assert_true(find_attribute(trace, set, "half")->value.float64 == 0.5);
	attribute = find_attribute(trace, set, "note");
	expect_text(trace, attribute[0].value.text, "a");
	expect_text(trace, attribute[1].value.text, "b");
	attribute = find_attribute(trace, set, "most");
	assert_int_equal(attribute->kind, RECORD_ATTRIBUTE_UINT64);
	assert_true(attribute->value.uint64 == UINT64_MAX);
	assert_int_equal(trace->works_count, 1);
	trace_close(trace);
}

/* The first event's details are a number in the end, so that it is no kernel. */
static void the_last_of_several_equal_stats_counts(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	maker_event(&maker, "gemm", 1000, 1000,
		    STATS(U64("correlation_id", 7), REF("kernel_details", DETAILS),
			  U64("kernel_details", 0xffffff)));
	maker_event(&maker, "axpy", 2000, 1000,
		    STATS(U64("correlation_id", 8), U64("kernel_details", 0xffffff),
			  REF("kernel_details", DETAILS)));
	trace = open_made(&maker);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(trace->activities[0].cid, 8);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->workgroup[0], 128);
	trace_close(trace);
}

/* Before XLA's post-processing API calls are on planes of their own. */
static void raw_planes(void **state)
{
	static const char *const planes[] = {"/host:CUPTI", "/host:ROCTRACER"};

	for (int i = 0; i < 2; i++) {
		struct maker maker = {0};
		struct trace *trace;

		maker_plane(&maker, planes[i], 0);
		maker_line(&maker, 77, "Host Threads/77", 0);
		put_call(&maker, i ? "hipLaunchKernel" : "cuLaunchKernel", 100, 7);
		put_gpu(&maker);
		put_kernel(&maker, "k", 200, 7);
		maker_plane(&maker, "/host:NVTX-CUPTI", 0);
		maker_line(&maker, 77, "Host Threads/77/NVTX", 0);
		maker_event(&maker, "NVTX:range", 50000, 900000, NO_STATS);
		trace = open_made(&maker);
		assert_int_equal(trace->activities[0].call, 0);
		assert_int_equal(trace->apis[0].domain, i ? RECORD_DOMAIN_HIP : RECORD_DOMAIN_CUDA);
		assert_int_equal(trace->threads_count, 1);
		assert_int_equal(trace->scopes_count, 1);
		assert_int_equal(trace->scopes[0].kind, RECORD_SCOPE_RANGE);
		expect_text(trace, trace->scopes[0].text, "NVTX:range");
		trace_close(trace);
	}
}

static const struct trace_work *work_of(const struct trace *trace, uint32_t activity)
{
	return trace_work_of(trace, &trace->activities[activity]);
}

static void copies_and_memsets(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	maker_plane(&maker, "/device:GPU:0", 0);
	maker_line(&maker, 7, "Stream #7(MemcpyH2D,MemcpyP2P,Memset)", 0);
	maker_event(&maker, "MemcpyH2D", 1000, 1000,
		    STATS(U64("correlation_id", 1),
			  REF("memcpy_details",
			      "kind_src:pageable kind_dst:device size:4096 dest:0 async:1")));
	maker_event(&maker, "MemcpyP2P", 3000, 1000,
		    STATS(U64("correlation_id", 2),
			  REF("memcpy_details",
			      "kind_src:device kind_dst:device size:64 dest:1 async:1")));
	maker_event(&maker, "Memset 4", 5000, 1000,
		    STATS(U64("correlation_id", 3),
			  REF("Memset_details", "kind:device num_bytes:256 async:1")));
	maker_plane(&maker, "/device:GPU:1", 1);
	maker_line(&maker, 7, "Stream #7(Compute)", 0);
	put_kernel(&maker, "k", 0, 4);
	trace = open_made(&maker);

	assert_int_equal(trace->activities_count, 4);
	assert_int_equal(work_of(trace, 0)->kind, TRACE_COPY);
	assert_int_equal(work_of(trace, 0)->direction, TRACE_H2D);
	assert_int_equal(work_of(trace, 0)->bytes, 4096);
	assert_int_equal(trace->agents[work_of(trace, 0)->dst_agent].gpu_ordinal, 0);
	assert_int_equal(work_of(trace, 0)->src_agent, TRACE_NONE);
	assert_int_equal(work_of(trace, 1)->direction, TRACE_P2P);
	assert_int_equal(trace->agents[work_of(trace, 1)->src_agent].gpu_ordinal, 0);
	assert_int_equal(trace->agents[work_of(trace, 1)->dst_agent].gpu_ordinal, 1);
	assert_int_equal(work_of(trace, 2)->kind, TRACE_MEMSET);
	assert_int_equal(work_of(trace, 2)->bytes, 256);
	/* Both GPUs have a stream 7. */
	assert_int_equal(trace->streams_count, 2);
	assert_int_not_equal(trace->activities[0].stream, trace->activities[3].stream);
	assert_int_equal(
		trace->agents[trace->streams[trace->activities[3].stream].agent].gpu_ordinal, 1);
	trace_close(trace);
}

/* XLA's ROCm backend uses other words, with a space before them. */
static void details_of_rocm(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	maker_event(&maker, "k", 0, 1000,
		    STATS(U64("correlation_id", 1),
			  REF("kernel_details", " grid:4,1,1 block:64,2,1 private_mem:32 "
						"group_mem:1024 occ_pct:0")));
	trace = open_made(&maker);
	assert_int_equal(work_of(trace, 0)->grid[0], 256);
	assert_int_equal(work_of(trace, 0)->grid[1], 2);
	assert_int_equal(work_of(trace, 0)->private_bytes, 32);
	assert_int_equal(work_of(trace, 0)->group_bytes, 1024);
	trace_close(trace);
}

static void what_is_left_out_is_counted(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	put_kernel(&maker, "k", 0, 1);
	maker_event(&maker, "BUFFER_FLUSH", 5000000, 1000, NO_STATS);
	maker_aggregate(&maker, "sum", 12);
	maker_line(&maker, -559038737 + 4, "XLA Modules - from #14", 1000);
	maker_event(&maker, "jit_step", 0, 1000, STATS(REF("kernel_details", DETAILS)));
	maker_event(&maker, "jit_step", 2000, 1000, STATS(REF("kernel_details", DETAILS)));
	maker_line(&maker, 3, "_counters_", 1000);
	maker_event(&maker, "GPC Clock Frequency (Hz)", 0, 0, STATS(F64("value", 1)));
	maker_plane(&maker, "/device:TPU:0", 0);
	maker_plane_stats(&maker, STATS(BYTES("blob", "xyz")));
	trace = open_made(&maker);
	assert_int_equal(trace->activities_count, 1);
	assert_true(has_message(trace, "left out: 1 aggregated", false));
	assert_true(has_message(trace, "left out: 1 events of GPU lines", false));
	assert_true(has_message(trace, "left out: 2 events of lines that were derived", false));
	assert_true(has_message(trace, "left out: 1 events of counter lines", false));
	assert_true(has_message(trace, "left out: 1 planes", false));
	assert_int_equal(trace->messages_count, 5);
	trace_close(trace);
}

/*
 * CUPTI names the executable graph and the node; two launches of one graph, with a copy among the
 * nodes.
 */
static void graphs(void **state)
{
	struct maker maker = {0};
	const struct trace_launch *launch;
	struct trace *trace;

	put_host(&maker);
	put_call(&maker, "cudaGraphLaunch", 100, 21);
	put_call(&maker, "cudaGraphLaunch", 300, 20);
	put_gpu(&maker);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t ps = 1000000 * (i + 1);

		maker_event(&maker, "b", ps + 2000, 1000,
			    STATS(U64("correlation_id", 20 + i), U64("cuda_graph_id", 5),
				  U64("cuda_graph_node_id", 21474836482),
				  REF("kernel_details", DETAILS)));
		maker_event(&maker, "MemcpyH2D", ps, 1000,
			    STATS(U64("correlation_id", 20 + i), U64("cuda_graph_id", 5),
				  U64("cuda_graph_node_id", 21474836480),
				  REF("memcpy_details", "size:8")));
	}
	trace = open_made(&maker);

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->graphs[0].node_count, 2);
	assert_int_equal(trace->nodes[0].type, RECORD_NODE_MEMCPY);
	assert_int_equal(trace->nodes[0].index, 0);
	assert_int_equal(trace->nodes[1].type, RECORD_NODE_KERNEL);
	assert_true(trace->nodes[1].handle == 21474836482);
	assert_int_equal(trace->nodes[1].grid[0], 8 * 128);
	assert_int_equal(trace->execs_count, 1);
	assert_int_equal(trace->execs[0].launch_count, 2);
	assert_int_equal(trace->launches_count, 2);
	launch = &trace->launches[trace->activities[0].launch];
	assert_int_equal(launch->replay, 0);
	assert_int_equal(trace->calls[launch->call].cid, 20);
	assert_int_equal(launch->activity_count, 2);
	assert_int_equal(trace->calls[0].launch, trace->activities[0].launch);
	/* in the order of their starts */
	assert_int_equal(trace->activities[0].node, 0);
	assert_int_equal(trace->activities[1].node, 1);
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_EXACT);
	assert_int_equal(trace->launches[trace->activities[2].launch].replay, 1);
	trace_close(trace);
}

/* A graph execution that was traced as one event. */
static void a_graph_execution_counts_as_a_kernel(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	maker_event(&maker, "CudaGraphExec:2", 0, 100000,
		    STATS(U64("correlation_id", 8), U64("cuda_graph_exec_id", 5)));
	trace = open_made(&maker);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(work_of(trace, 0)->kind, TRACE_KERNEL);
	expect_text(trace, work_of(trace, 0)->name, "CudaGraphExec:2");
	assert_int_equal(trace->execs[trace->launches[0].exec].id, 5);
	trace_close(trace);
}

static void orphans_and_ids_beyond_32_bits(void **state)
{
	struct maker maker = {0};
	struct trace *trace;
	const uint64_t large = UINT64_C(1) << 32;

	put_gpu(&maker);
	put_kernel(&maker, "high", 100, large + 1);
	put_kernel(&maker, "low", 200, 1);
	put_kernel(&maker, "nobody's", 50, 99);
	maker_event(&maker, "no id", 0, 1000, STATS(REF("kernel_details", DETAILS)));
	put_host(&maker);
	put_call(&maker, "high", 10, large + 1);
	put_call(&maker, "low", 20, 1);
	put_call(&maker, "idle", 30, 98);
	put_call(&maker, "low again", 25, 1);
	trace = open_made(&maker);

	assert_int_equal(trace->calls_count, 4);
	assert_int_equal(trace->activities_count, 4);
	expect_text(trace, work_of(trace, 0)->name, "low");
	expect_text(trace, trace->apis[trace->calls[trace->activities[0].call].api].name, "low");
	expect_text(trace, work_of(trace, 1)->name, "high");
	expect_text(trace, trace->apis[trace->calls[trace->activities[1].call].api].name, "high");
	assert_int_equal(trace->activities[2].call, TRACE_NONE);
	assert_int_equal(trace->activities[3].call, TRACE_NONE);
	assert_int_equal(trace->activities[2].cid, 0);
	assert_int_equal(trace->activities[3].cid, 99);
	assert_int_equal(trace->sources_count, 1);
	assert_int_equal(trace->sources[0].received, 4);
	assert_int_equal(trace->sources[0].joined, 2);
	assert_int_equal(trace->sources[0].orphan_activities, 2);
	assert_false(trace->sources[0].has_expected);
	expect_text(trace, trace->sources[0].state, "partial");
	trace_close(trace);
}

/*
 * Several activities of one call are in the order of their starts, whatever the order in the file.
 */
static void one_call_many_activities(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	put_kernel(&maker, "c", 300, 7);
	put_kernel(&maker, "a", 100, 7);
	maker_line(&maker, 15, "Stream #15(Compute)", 1000);
	put_kernel(&maker, "b", 200, 7);
	put_host(&maker);
	put_call(&maker, "hipGraphLaunch", 10, 7);
	trace = open_made(&maker);
	assert_int_equal(trace->calls[0].activity_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const names[] = {"a", "b", "c"};

		expect_text(trace, work_of(trace, i)->name, names[i]);
		assert_int_equal(trace->activities[i].ordinal, i);
	}
	assert_int_equal(trace->streams[trace->activities[1].stream].ordinal, 15);
	trace_close(trace);
}

static const struct trace_scope *find_scope(const struct trace *trace, uint64_t id)
{
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (trace->scopes[i].id == id)
			return &trace->scopes[i];
	}
	fail_msg("no scope %llu", (unsigned long long)id);
	return NULL;
}

static void expect_parent(const struct trace *trace, uint64_t id, uint64_t parent)
{
	const struct trace_scope *scope = find_scope(trace, id);

	if (parent == 0)
		assert_int_equal(scope->parent, TRACE_NONE);
	else
		assert_int_equal(trace->scopes[scope->parent].id, parent);
}

static void scope_trees(void **state)
{
	struct maker maker = {0};
	struct trace *trace;
	const uint64_t shared_pool = UINT64_C(1) << 63 | 5;

	/* A deep path, one that shares its root, one from the shared pool; 9 is in no pair. */
	maker_plane(&maker, "/host:__ScopeRangeCallStack__", 0);
	for (uint64_t id = 2; id <= 300; id++)
		maker_pair(&maker, id, id - 1);
	maker_pair(&maker, 1000, 1);
	maker_pair(&maker, shared_pool, 1000);
	put_gpu(&maker);
	maker_event(&maker, "k", 0, 1000,
		    STATS(U64("correlation_id", 1), I64("scope_range_id", shared_pool),
			  REF("kernel_details", DETAILS), REF("tf_op", "XlaModule:"),
			  REF("hlo_op", "dot.1")));
	maker_event(&maker, "k", 2000, 1000,
		    STATS(U64("correlation_id", 2), I64("scope_range_id", 9000),
			  REF("kernel_details", DETAILS), REF("tf_op", "alone")));
	trace = open_made(&maker);
	assert_int_equal(trace->scopes_count, 303);
	expect_parent(trace, 300, 299);
	expect_parent(trace, 1, 0);
	expect_parent(trace, 1000, 1);
	expect_parent(trace, shared_pool, 1000);
	expect_parent(trace, 9000, 0);
	assert_true(find_scope(trace, 300)->untimed);
	expect_text(trace, find_scope(trace, shared_pool)->text, "dot.1");
	expect_text(trace, find_scope(trace, 1)->text, "XlaModule:");
	expect_text(trace, find_scope(trace, 1000)->text, "");
	expect_text(trace, find_scope(trace, 9000)->text, "alone");
	trace_close(trace);
}

static void a_cyclic_tree_is_cut(void **state)
{
	struct maker maker = {0};
	struct trace *trace;
	unsigned cut = 0;

	maker_plane(&maker, "/host:__ScopeRangeCallStack__", 0);
	maker_pair(&maker, 10, 20);
	maker_pair(&maker, 20, 10);
	maker_pair(&maker, 30, 30);
	maker_pair(&maker, 40, 10);
	put_gpu(&maker);
	maker_event(&maker, "k", 0, 1000,
		    STATS(U64("correlation_id", 1), I64("scope_range_id", 40),
			  REF("kernel_details", DETAILS)));
	trace = open_made(&maker);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		uint32_t at = i, depth = 0;

		while (at != TRACE_NONE && depth++ <= trace->scopes_count)
			at = trace->scopes[at].parent;
		assert_int_equal(at, TRACE_NONE);
		cut += trace->scopes[i].parent == TRACE_NONE;
	}
	assert_int_equal(cut, 2);
	assert_true(has_message(trace, "left out: 2 scopes", false));
	trace_close(trace);
}

/* Events without a correlation id are scopes; they nest, and calls are inside them. */
static void host_events_are_scopes(void **state)
{
	struct maker maker = {0};
	const struct trace_scope *step, *inner, *mark;
	struct trace *trace;

	maker_plane(&maker, "/host:CPU", 0);
	maker_line(&maker, 6739995211100529379, "python3", 0);
	maker_event(&maker, "train", 1000000, 90000000, STATS(I64("_r", 1), I64("step_num", 4)));
	maker_event(&maker, "Execute#module=a#", 2000000, 80000000, STATS(U64("run_id", 17)));
	maker_event(&maker, "launch", 3000000, 1000000, STATS(U64("correlation_id", 7)));
	maker_event(&maker, "nested", 3500000, 1000, STATS(U64("correlation_id", 8)));
	maker_event(&maker, "MemoryAllocation", 5000000, 0, NO_STATS);
	maker_event(&maker, "later", 95000000, 1000, STATS(U64("correlation_id", 9)));
	trace = open_made(&maker);

	assert_int_equal(trace->scopes_count, 3);
	step = &trace->scopes[0];
	inner = &trace->scopes[1];
	mark = &trace->scopes[2];
	assert_int_equal(step->kind, RECORD_SCOPE_STEP);
	assert_false(step->untimed);
	assert_int_equal(step->attribute_count, 1);
	expect_text(trace, trace->scope_attributes[step->attribute_first].key, "step_num");
	assert_int_equal(trace->scope_attributes[step->attribute_first].value.int64, 4);
	assert_int_equal(inner->parent, 0);
	expect_text(trace, inner->text, "Execute#module=a#");
	expect_text(trace, inner->name, "Execute");
	assert_int_equal(inner->begin_ns, 2000);
	assert_int_equal(inner->end_ns, 82000);
	assert_int_equal(mark->kind, RECORD_SCOPE_MARK);
	assert_int_equal(mark->parent, 1);
	assert_int_equal(trace->calls[0].scope, 1);
	assert_int_equal(trace->calls[0].parent, TRACE_NONE);
	assert_int_equal(trace->calls[1].parent, 0);
	assert_int_equal(trace->calls[2].scope, TRACE_NONE);
	expect_text(trace, trace->threads[step->thread].name, "python3");
	trace_close(trace);
}

/* A module's scope is inside the scopes that were open during all its calls. */
static void a_tree_is_inside_what_was_open(void **state)
{
	struct maker maker = {0};
	const struct trace_scope *module;
	struct trace *trace;

	maker_plane(&maker, "/host:__ScopeRangeCallStack__", 0);
	maker_pair(&maker, 11, 10);
	maker_pair(&maker, 12, 10);
	put_host(&maker);
	maker_event(&maker, "outer", 0, 100000, NO_STATS);
	maker_event(&maker, "first only", 10000, 10000, NO_STATS);
	maker_event(&maker, "l", 12000, 1000,
		    STATS(U64("correlation_id", 1), I64("scope_range_id", 11)));
	maker_event(&maker, "l", 40000, 1000,
		    STATS(U64("correlation_id", 2), I64("scope_range_id", 12)));
	trace = open_made(&maker);
	module = find_scope(trace, 10);
	assert_int_not_equal(module->parent, TRACE_NONE);
	expect_text(trace, trace->scopes[module->parent].text, "outer");
	expect_parent(trace, 11, 10);
	trace_close(trace);
}

static void times_are_whole_ns_downwards(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	maker_event(&maker, "k", 1999, 1002, STATS(REF("kernel_details", DETAILS)));
	maker_event(&maker, "k", (uint64_t)-1, 0, STATS(REF("kernel_details", DETAILS)));
	trace = open_made(&maker);
	assert_int_equal(trace->activities[1].start_ns, 1001);
	assert_int_equal(trace->activities[1].end_ns, 1003);
	assert_int_equal(trace->activities[0].start_ns, 999);
	trace_close(trace);
}

static void dropped_events_are_damage(void **state)
{
	struct maker maker = {0};
	struct trace *trace;

	put_gpu(&maker);
	put_kernel(&maker, "k", 0, 1);
	maker_warning(&maker, "Detected GPU events dropped on HOST: Profiler has collected 7 ...");
	maker_warning(&maker, "another remark");
	trace = open_made(&maker);
	assert_true(has_message(trace, "dropped on HOST", true));
	assert_true(has_message(trace, "another remark", false));
	trace_close(trace);
}

/* Fields of a later version are skipped, and a stat without a name is kept under its number. */
static void unknown_fields(void **state)
{
	struct maker maker = {0};
	struct trace *trace;
	size_t mark, stat;

	put_gpu(&maker);
	mark = proto_begin(&maker.bytes, 4);
	proto_put_u64(&maker.bytes, 1, 77);
	proto_put_u64(&maker.bytes, 2, 5000);
	proto_put_double(&maker.bytes, 60, 1.5);
	stat = proto_begin(&maker.bytes, 4);
	proto_put_u64(&maker.bytes, 1, 4711);
	proto_put_u64(&maker.bytes, 3, 9);
	proto_put_text(&maker.bytes, 99, "of the future");
	proto_end(&maker.bytes, stat);
	proto_end(&maker.bytes, mark);
	put_kernel(&maker, "k", 0, 1);
	proto_put_text(&maker.bytes, 77, "of the future");
	trace = open_made(&maker);
	assert_int_equal(trace->activities_count, 1);
	assert_true(has_message(trace, "left out: 1 events of GPU lines", false));
	trace_close(trace);
}

/* Two planes with the same content in another order give equal models. */
static void order_in_the_file_does_not_matter(void **state)
{
	struct trace *traces[2];

	for (int i = 0; i < 2; i++) {
		struct maker maker = {0};

		if (i)
			put_host(&maker);
		for (int j = 0; j < 2 && i; j++)
			put_call(&maker, j ? "first" : "second", j ? 10 : 20, j ? 3 : 4);
		put_gpu(&maker);
		for (int j = 0; j < 4; j++) {
			int k = i ? 3 - j : j;

			put_kernel(&maker, k & 1 ? "odd" : "even", 1000u * (unsigned)k,
				   3u + (unsigned)k / 2);
		}
		if (!i)
			put_host(&maker);
		for (int j = 0; j < 2 && !i; j++)
			put_call(&maker, j ? "second" : "first", j ? 20 : 10, j ? 4 : 3);
		traces[i] = open_made(&maker);
	}
	assert_int_equal(traces[0]->activities_count, traces[1]->activities_count);
	for (uint32_t i = 0; i < traces[0]->activities_count; i++) {
		const struct trace_activity *a = &traces[0]->activities[i];
		const struct trace_activity *b = &traces[1]->activities[i];

		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->call, b->call);
		assert_int_equal(a->ordinal, b->ordinal);
		assert_string_equal(text(traces[0], work_of(traces[0], i)->name),
				    text(traces[1], work_of(traces[1], i)->name));
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(traces[0]->calls[i].begin_ns, traces[1]->calls[i].begin_ns);
	trace_close(traces[0]);
	trace_close(traces[1]);
}

static void make_everything(struct maker *maker)
{
	maker_plane(maker, "/host:__ScopeRangeCallStack__", 0);
	maker_pair(maker, 11, 10);
	put_gpu(maker);
	put_kernel(maker, "k", 0, 1);
	maker_event(maker, "MemcpyD2H", 9000, 10,
		    STATS(U64("correlation_id", 2), I64("scope_range_id", 11),
			  U64("cuda_graph_id", 3), U64("cuda_graph_node_id", 4),
			  REF("memcpy_details", "size:8")));
	maker_plane_stats(maker, STATS(I64("process_id", 650)));
	put_host(maker);
	maker_event(maker, "step", 0, 900000, STATS(I64("_r", 1), F64("half", 0.5)));
	put_call(maker, "call", 10, 1);
	maker_warning(maker, "a warning");
	maker_finish(maker);
}

/*
 * Copies the input to memory of exactly that size, so that AddressSanitizer detects a read behind
 * it.
 */
static int open_copy(const uint8_t *bytes, size_t size, struct dagtap_error *error)
{
	uint8_t *copy = malloc(size ? size : 1);
	const struct read_file file = {"damaged", copy, size};
	struct trace *trace;
	int result;

	memcpy(copy, bytes, size);
	result = xspace_open(&file, NULL, &trace, error);
	if (result == 0)
		trace_close(trace);
	free(copy);
	return result;
}

static void every_cut_and_every_flipped_byte(void **state)
{
	struct maker maker = {0};
	unsigned refused = 0;

	make_everything(&maker);
	for (size_t size = 0; size < maker.bytes.used; size++) {
		struct dagtap_error error = {.message = ""};

		if (open_copy(maker.bytes.bytes, size, &error) == 0)
			continue; /* between two planes */
		refused++;
		assert_int_equal(error.code, -EBADMSG);
		assert_true(error.offset <= size);
		assert_non_null(strstr(error.message, "damaged: offset "));
	}
	assert_true(refused + 8 > maker.bytes.used);
	for (size_t i = 0; i < maker.bytes.used; i++) {
		struct dagtap_error error;

		for (int bit = 0; bit < 8; bit++) {
			maker.bytes.bytes[i] ^= (uint8_t)(1 << bit);
			open_copy(maker.bytes.bytes, maker.bytes.used, &error);
			maker.bytes.bytes[i] ^= (uint8_t)(1 << bit);
		}
	}
	proto_release(&maker.bytes);
}

static bool is_likely(const void *bytes, size_t size)
{
	return xspace_is_likely(&(struct read_file){"", bytes, size});
}

static void what_is_likely_to_be_one(void **state)
{
	struct maker maker = {0};

	make_everything(&maker);
	assert_true(is_likely(maker.bytes.bytes, maker.bytes.used));
	assert_false(is_likely(maker.bytes.bytes, maker.bytes.used - 1));
	assert_false(is_likely("", 0));
	assert_false(is_likely("DAGTAP\1\2", 8));
	assert_false(is_likely("{\"traceEvents\": []}", 19));
	/* Another message that holds only texts: its first field is not a plane. */
	assert_false(is_likely("\x0a\x04\xff\xff\xff\xff", 6));
	proto_release(&maker.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_and_its_call),
		cmocka_unit_test(stats_are_kept),
		cmocka_unit_test(the_last_of_several_equal_stats_counts),
		cmocka_unit_test(raw_planes),
		cmocka_unit_test(copies_and_memsets),
		cmocka_unit_test(details_of_rocm),
		cmocka_unit_test(what_is_left_out_is_counted),
		cmocka_unit_test(graphs),
		cmocka_unit_test(a_graph_execution_counts_as_a_kernel),
		cmocka_unit_test(orphans_and_ids_beyond_32_bits),
		cmocka_unit_test(one_call_many_activities),
		cmocka_unit_test(scope_trees),
		cmocka_unit_test(a_cyclic_tree_is_cut),
		cmocka_unit_test(host_events_are_scopes),
		cmocka_unit_test(a_tree_is_inside_what_was_open),
		cmocka_unit_test(times_are_whole_ns_downwards),
		cmocka_unit_test(dropped_events_are_damage),
		cmocka_unit_test(unknown_fields),
		cmocka_unit_test(order_in_the_file_does_not_matter),
		cmocka_unit_test(every_cut_and_every_flipped_byte),
		cmocka_unit_test(what_is_likely_to_be_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
