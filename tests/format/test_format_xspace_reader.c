/*
 * What the planes of an XSpace become: activities, calls, stats and graphs. The files are written
 * as other tools write them; test_format_xspace_way_back.c reads files of our own.
 */
#include <string.h>

#include "maker_case.h"

static void expect_kernel(const struct trace *trace)
{
	const struct trace_activity *kernel = &trace->activities[0];
	const struct trace_work *work = trace_work_of(trace, kernel);

	assert_int_equal(kernel->start_ns, 1000 + 653402);
	assert_int_equal(kernel->end_ns, 1000 + 653402 + 1824);
	assert_int_equal(kernel->cid, 7);
	assert_int_equal(kernel->call, 0);
	assert_int_equal(trace->scopes[kernel->scope].id, 258);
	assert_int_equal(work->kind, TRACE_KERNEL);
	read_expect_text(trace, work->name, "gemm");
	assert_int_equal(work->grid[0], 8 * 128);
	assert_int_equal(work->grid[1], 2);
	assert_int_equal(work->workgroup[0], 128);
	assert_int_equal(work->group_bytes, 16 + 8192);
}

static void expect_call(const struct trace *trace)
{
	const struct trace_call *call = &trace->calls[0];

	read_expect_text(trace, trace->apis[call->api].name, "cuLaunchKernel");
	assert_int_equal(trace->apis[call->api].domain, RECORD_DOMAIN_CUDA);
	assert_int_equal(call->begin_ns, 1000 + 600000);
	assert_int_equal(call->activity_count, 1);
	assert_int_equal(call->activities_expected, 1);
	assert_int_equal(trace->threads[call->thread].tid, 650);
	assert_int_equal(call->scope, trace->activities[0].scope);
}

static void a_kernel_and_its_call(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_event(maker, "gemm", 653402000, 1824000,
		    STATS(U64("correlation_id", 7), I64("scope_range_id", 258),
			  TEXT("context_id", "$$1"), F64("theoretical_occupancy_pct", 56.25),
			  REF("kernel_details", MAKER_DETAILS), I64("program_id", 3976)));
	maker_plane_stats(maker,
			  STATS(TEXT("gpu_device_name", "NVIDIA H200"), I64("core_count", 132),
				U64("memory_size", 150109880320), I64("process_id", 650)));
	maker_host(maker);
	maker_event(
		maker, "cuLaunchKernel", 600000000, 5000000,
		STATS(U64("device_id", 0), U64("correlation_id", 7), I64("scope_range_id", 258)));
	trace = maker_open(maker);

	assert_int_equal(trace->processes_count, 1);
	assert_int_equal(trace->processes[0].pid, 650);
	assert_int_equal(trace->agents_count, 1);
	read_expect_text(trace, trace->agents[0].name, "NVIDIA H200");
	assert_true(trace->agents[0].is_gpu);
	assert_int_equal(trace->agents[0].compute_units, 132);
	assert_int_equal(trace->agents[0].memory_bytes, 150109880320);
	assert_int_equal(trace->streams[0].ordinal, 14);
	assert_int_equal(trace->activities_count, 1);
	expect_kernel(trace);
	assert_int_equal(trace->calls_count, 1);
	expect_call(trace);
}

/*
 * All stats except the correlation id and the scope are kept, in the file's order and with types.
 */
static void stats_are_kept(void **state)
{
	struct maker *maker = *state;
	const struct trace_scope_attribute *attribute;
	struct trace *trace;
	uint32_t set;

	maker_gpu(maker);
	for (uint64_t i = 0; i < 3; i++)
		maker_event(maker, "gemm", i * 1000000, 1000,
			    STATS(U64("correlation_id", i + 1),
				  REF("kernel_details", MAKER_DETAILS), I64("negative", -5),
				  F64("half", 0.5), TEXT("note", "a"), TEXT("note", "b"),
				  U64("most", UINT64_MAX)));
	maker_event(maker, "gemm", 9000000, 1000,
		    STATS(U64("correlation_id", 4), REF("kernel_details", MAKER_DETAILS)));
	trace = maker_open(maker);

	assert_non_null(trace->activity_attributes);
	set = trace->activity_attributes[0];
	assert_int_not_equal(set, 0);
	assert_int_equal(trace->activity_attributes[1], set);
	assert_int_equal(trace->activity_attributes[2], set);
	assert_int_not_equal(trace->activity_attributes[3], set);
	assert_int_equal(trace->attribute_sets[set].count, 6);
	assert_null(read_attribute(trace, set, "correlation_id"));
	attribute = read_attribute(trace, set, "kernel_details");
	assert_int_equal(attribute->kind, RECORD_ATTRIBUTE_TEXT);
	read_expect_text(trace, attribute->value.text, MAKER_DETAILS);
	attribute = read_attribute(trace, set, "negative");
	assert_int_equal(attribute->kind, RECORD_ATTRIBUTE_INT64);
	assert_true(attribute->value.int64 == -5);
	assert_true(read_attribute(trace, set, "half")->value.float64 == 0.5);
	attribute = read_attribute(trace, set, "note");
	read_expect_text(trace, attribute[0].value.text, "a");
	read_expect_text(trace, attribute[1].value.text, "b");
	attribute = read_attribute(trace, set, "most");
	assert_int_equal(attribute->kind, RECORD_ATTRIBUTE_UINT64);
	assert_true(attribute->value.uint64 == UINT64_MAX);
	assert_int_equal(trace->works_count, 1);
}

/* The first event's details are a number in the end, so that it is no kernel. */
static void the_last_of_several_equal_stats_counts(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_event(maker, "gemm", 1000, 1000,
		    STATS(U64("correlation_id", 7), REF("kernel_details", MAKER_DETAILS),
			  U64("kernel_details", 0xffffff)));
	maker_event(maker, "axpy", 2000, 1000,
		    STATS(U64("correlation_id", 8), U64("kernel_details", 0xffffff),
			  REF("kernel_details", MAKER_DETAILS)));
	trace = maker_open(maker);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(trace->activities[0].cid, 8);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->workgroup[0], 128);
}

/* Before XLA's post-processing API calls are on planes of their own. */
static void an_unknown_field_leaves_a_stats_value(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_event(maker, "gemm", 0, 1000, STATS(REF("kernel_details", MAKER_DETAILS)));
	maker_plane_stats(maker, STATS(NEWER("gpu_device_name", "NVIDIA H200", 1000000)));
	trace = maker_open(maker);

	read_expect_text(trace, trace->agents[0].name, "NVIDIA H200");
}

static void raw_planes(void **state)
{
	struct maker *maker = *state;
	static const char *const planes[] = {"/host:CUPTI", "/host:ROCTRACER"};

	for (int i = 0; i < 2; i++) {
		struct trace *trace;

		maker_plane(maker, planes[i], 0);
		maker_line(maker, 77, "Host Threads/77", 0);
		maker_call(maker, i ? "hipLaunchKernel" : "cuLaunchKernel", 100, 7);
		maker_gpu(maker);
		maker_kernel(maker, "k", 200, 7);
		maker_plane(maker, "/host:NVTX-CUPTI", 0);
		maker_line(maker, 77, "Host Threads/77/NVTX", 0);
		maker_event(maker, "NVTX:range", 50000, 900000, NO_STATS);
		trace = maker_open(maker);
		assert_int_equal(trace->activities[0].call, 0);
		assert_int_equal(trace->apis[0].domain, i ? RECORD_DOMAIN_HIP : RECORD_DOMAIN_CUDA);
		assert_int_equal(trace->threads_count, 1);
		assert_int_equal(trace->scopes_count, 1);
		assert_int_equal(trace->scopes[0].kind, RECORD_SCOPE_RANGE);
		read_expect_text(trace, trace->scopes[0].text, "NVTX:range");
	}
}

static const struct trace_work *work_of(const struct trace *trace, uint32_t activity)
{
	return trace_work_of(trace, &trace->activities[activity]);
}

static void copies_and_memsets(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_plane(maker, "/device:GPU:0", 0);
	maker_line(maker, 7, "Stream #7(MemcpyH2D,MemcpyP2P,Memset)", 0);
	maker_event(maker, "MemcpyH2D", 1000, 1000,
		    STATS(U64("correlation_id", 1),
			  REF("memcpy_details",
			      "kind_src:pageable kind_dst:device size:4096 dest:0 async:1")));
	maker_event(maker, "MemcpyP2P", 3000, 1000,
		    STATS(U64("correlation_id", 2),
			  REF("memcpy_details",
			      "kind_src:device kind_dst:device size:64 dest:1 async:1")));
	maker_event(maker, "Memset 4", 5000, 1000,
		    STATS(U64("correlation_id", 3),
			  REF("Memset_details", "kind:device num_bytes:256 async:1")));
	maker_plane(maker, "/device:GPU:1", 1);
	maker_line(maker, 7, "Stream #7(Compute)", 0);
	maker_kernel(maker, "k", 0, 4);
	trace = maker_open(maker);

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
}

/* XLA's ROCm backend uses other words, with a space before them. */
static void details_of_rocm(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_event(maker, "k", 0, 1000,
		    STATS(U64("correlation_id", 1),
			  REF("kernel_details", " grid:4,1,1 block:64,2,1 private_mem:32 "
						"group_mem:1024 occ_pct:0")));
	trace = maker_open(maker);
	assert_int_equal(work_of(trace, 0)->grid[0], 256);
	assert_int_equal(work_of(trace, 0)->grid[1], 2);
	assert_int_equal(work_of(trace, 0)->private_bytes, 32);
	assert_int_equal(work_of(trace, 0)->group_bytes, 1024);
}

static void what_is_left_out_is_counted(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_kernel(maker, "k", 0, 1);
	maker_event(maker, "BUFFER_FLUSH", 5000000, 1000, NO_STATS);
	maker_aggregate(maker, "sum", 12);
	maker_line(maker, -559038737 + 4, "XLA Modules - from #14", 1000);
	maker_event(maker, "jit_step", 0, 1000, STATS(REF("kernel_details", MAKER_DETAILS)));
	maker_event(maker, "jit_step", 2000, 1000, STATS(REF("kernel_details", MAKER_DETAILS)));
	maker_line(maker, 3, "_counters_", 1000);
	maker_event(maker, "GPC Clock Frequency (Hz)", 0, 0, STATS(F64("value", 1)));
	maker_plane(maker, "/device:TPU:0", 0);
	maker_plane_stats(maker, STATS(BYTES("blob", "xyz")));
	trace = maker_open(maker);
	assert_int_equal(trace->activities_count, 1);
	assert_true(read_has_message(trace, "left out: 1 aggregated", false));
	assert_true(read_has_message(trace, "left out: 1 events of GPU lines", false));
	assert_true(
		read_has_message(trace, "left out: 2 events of lines that were derived", false));
	assert_true(read_has_message(trace, "left out: 1 events of counter lines", false));
	assert_true(read_has_message(trace, "left out: 1 planes", false));
	assert_int_equal(trace->messages_count, 5);
}

/*
 * CUPTI names the executable graph and the node; two launches of one graph, with a copy among the
 * nodes.
 */
static void graphs(void **state)
{
	struct maker *maker = *state;
	const struct trace_launch *launch;
	struct trace *trace;

	maker_host(maker);
	maker_call(maker, "cudaGraphLaunch", 100, 21);
	maker_call(maker, "cudaGraphLaunch", 300, 20);
	maker_gpu(maker);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t ps = 1000000 * (i + 1);

		maker_event(maker, "b", ps + 2000, 1000,
			    STATS(U64("correlation_id", 20 + i), U64("cuda_graph_id", 5),
				  U64("cuda_graph_node_id", 21474836482),
				  REF("kernel_details", MAKER_DETAILS)));
		maker_event(maker, "MemcpyH2D", ps, 1000,
			    STATS(U64("correlation_id", 20 + i), U64("cuda_graph_id", 5),
				  U64("cuda_graph_node_id", 21474836480),
				  REF("memcpy_details", "size:8")));
	}
	trace = maker_open(maker);

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
}

/* A graph execution that was traced as one event. */
static void a_graph_execution_counts_as_a_kernel(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_event(maker, "CudaGraphExec:2", 0, 100000,
		    STATS(U64("correlation_id", 8), U64("cuda_graph_exec_id", 5)));
	trace = maker_open(maker);
	assert_int_equal(trace->activities_count, 1);
	assert_int_equal(work_of(trace, 0)->kind, TRACE_KERNEL);
	read_expect_text(trace, work_of(trace, 0)->name, "CudaGraphExec:2");
	assert_int_equal(trace->execs[trace->launches[0].exec].id, 5);
}

static void orphans_and_ids_beyond_32_bits(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;
	const uint64_t large = UINT64_C(1) << 32;

	maker_gpu(maker);
	maker_kernel(maker, "high", 100, large + 1);
	maker_kernel(maker, "low", 200, 1);
	maker_kernel(maker, "nobody's", 50, 99);
	maker_event(maker, "no id", 0, 1000, STATS(REF("kernel_details", MAKER_DETAILS)));
	maker_host(maker);
	maker_call(maker, "high", 10, large + 1);
	maker_call(maker, "low", 20, 1);
	maker_call(maker, "idle", 30, 98);
	maker_call(maker, "low again", 25, 1);
	trace = maker_open(maker);

	assert_int_equal(trace->calls_count, 4);
	assert_int_equal(trace->activities_count, 4);
	read_expect_text(trace, work_of(trace, 0)->name, "low");
	read_expect_text(trace, trace->apis[trace->calls[trace->activities[0].call].api].name,
			 "low");
	read_expect_text(trace, work_of(trace, 1)->name, "high");
	read_expect_text(trace, trace->apis[trace->calls[trace->activities[1].call].api].name,
			 "high");
	assert_int_equal(trace->activities[2].call, TRACE_NONE);
	assert_int_equal(trace->activities[3].call, TRACE_NONE);
	assert_int_equal(trace->activities[2].cid, 0);
	assert_int_equal(trace->activities[3].cid, 99);
	assert_int_equal(trace->sources_count, 1);
	assert_int_equal(trace->sources[0].received, 4);
	assert_int_equal(trace->sources[0].joined, 2);
	assert_int_equal(trace->sources[0].orphan_activities, 2);
	assert_false(trace->sources[0].has_expected);
	read_expect_text(trace, trace->sources[0].state, "partial");
}

/*
 * Several activities of one call are in the order of their starts, whatever the order in the file.
 */
static void one_call_many_activities(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_kernel(maker, "c", 300, 7);
	maker_kernel(maker, "a", 100, 7);
	maker_line(maker, 15, "Stream #15(Compute)", 1000);
	maker_kernel(maker, "b", 200, 7);
	maker_host(maker);
	maker_call(maker, "hipGraphLaunch", 10, 7);
	trace = maker_open(maker);
	assert_int_equal(trace->calls[0].activity_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const names[] = {"a", "b", "c"};

		read_expect_text(trace, work_of(trace, i)->name, names[i]);
		assert_int_equal(trace->activities[i].ordinal, i);
	}
	assert_int_equal(trace->streams[trace->activities[1].stream].ordinal, 15);
}

static void times_are_whole_ns_downwards(void **state)
{
	struct maker *maker = *state;
	struct trace *trace;

	maker_gpu(maker);
	maker_event(maker, "k", 1999, 1002, STATS(REF("kernel_details", MAKER_DETAILS)));
	maker_event(maker, "k", (uint64_t)-1, 0, STATS(REF("kernel_details", MAKER_DETAILS)));
	trace = maker_open(maker);
	assert_int_equal(trace->activities[1].start_ns, 1001);
	assert_int_equal(trace->activities[1].end_ns, 1003);
	assert_int_equal(trace->activities[0].start_ns, 999);
}

/* Two planes with the same content in another order give equal models. */
static void order_in_the_file_does_not_matter(void **state)
{
	struct maker *maker = *state;
	struct trace *traces[2];

	for (int i = 0; i < 2; i++) {

		if (i)
			maker_host(maker);
		for (int j = 0; j < 2 && i; j++)
			maker_call(maker, j ? "first" : "second", j ? 10 : 20, j ? 3 : 4);
		maker_gpu(maker);
		for (int j = 0; j < 4; j++) {
			int k = i ? 3 - j : j;

			maker_kernel(maker, k & 1 ? "odd" : "even", 1000u * (unsigned)k,
				     3u + (unsigned)k / 2);
		}
		if (!i)
			maker_host(maker);
		for (int j = 0; j < 2 && !i; j++)
			maker_call(maker, j ? "second" : "first", j ? 20 : 10, j ? 4 : 3);
		traces[i] = maker_open(maker);
	}
	assert_int_equal(traces[0]->activities_count, traces[1]->activities_count);
	for (uint32_t i = 0; i < traces[0]->activities_count; i++) {
		const struct trace_activity *a = &traces[0]->activities[i];
		const struct trace_activity *b = &traces[1]->activities[i];

		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->call, b->call);
		assert_int_equal(a->ordinal, b->ordinal);
		assert_string_equal(trace_text(traces[0], work_of(traces[0], i)->name),
				    trace_text(traces[1], work_of(traces[1], i)->name));
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(traces[0]->calls[i].begin_ns, traces[1]->calls[i].begin_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MAKER_CASE(a_kernel_and_its_call),
		MAKER_CASE(stats_are_kept),
		MAKER_CASE(the_last_of_several_equal_stats_counts),
		MAKER_CASE(an_unknown_field_leaves_a_stats_value),
		MAKER_CASE(raw_planes),
		MAKER_CASE(copies_and_memsets),
		MAKER_CASE(details_of_rocm),
		MAKER_CASE(what_is_left_out_is_counted),
		MAKER_CASE(graphs),
		MAKER_CASE(a_graph_execution_counts_as_a_kernel),
		MAKER_CASE(orphans_and_ids_beyond_32_bits),
		MAKER_CASE(one_call_many_activities),
		MAKER_CASE(times_are_whole_ns_downwards),
		MAKER_CASE(order_in_the_file_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
