/* Device work in an XSpace. Ids such as RC-1 are those of XLA's own tests. */
#include "xspace_written.h"

/* One API call, one kernel, offsets from the start of the recording. */
static void rc_1_kernel_event_is_exported(void **state)
{
	struct scene *scene = scene_create(2000, 1);
	uint32_t work = scene_kernel(scene, "test_rocm_kernel", 25600, 256);
	struct message space;
	struct xplane plane;
	struct message line;
	struct xevent event;
	char name[128];

	scene->works[work].private_bytes = 32;
	scene->works[work].group_bytes = 1024;
	scene->works[work].registers = 48;
	scene_call(scene, "hipLaunchKernel", 42, 2500, 2600);
	scene_activity(scene, work, 3000, 4000);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 1);
	line = xplane_line(&plane, 0, name);
	assert_string_equal(name, "Stream #0(Compute)");
	assert_int_equal(xline_count_events(&line), 1);
	event = xline_event(&plane, &line, 0);
	assert_int_equal(event.offset_ps, (3000 - 2000) * 1000);
	assert_int_equal(event.duration_ps, 1000000);
	assert_string_equal(event.name, "test_rocm_kernel");
	assert_text(xevent_stat(&event, "kernel_details"), XSTAT_REF,
		    "regs:48 static_shared:1024 dynamic_shared:0 grid:100,1,1 block:256,1,1 "
		    "occ_pct:100 private_mem:32");
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 42);
}

static void rc_2_every_activity_of_a_correlation_id_is_exported(void **state)
{
	static const char *const names[] = {"kernel_a", "kernel_b", "kernel_c"};
	struct scene *scene = scene_create(2000, 1);
	struct message space;
	struct xplane plane;

	scene_call(scene, "hipGraphLaunch", 7, 2100, 2200);
	for (unsigned i = 0; i < 3; i++)
		scene_activity(scene, scene_kernel(scene, names[i], 64, 64), 3000 + 500 * i,
			       3500 + 500 * i);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	for (unsigned i = 0; i < 3; i++) {
		struct xevent event = xplane_event(&plane, names[i], 0);

		assert_int_equal(xplane_count_events(&plane, names[i]), 1);
		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 7);
	}
}

/* As CC-3 requires: one event of a graph's execution, one call and one range, each on its line. */
static void cc_3_activity_call_and_range_have_their_lines(void **state)
{
	struct scene *scene = scene_create(80, 1);
	struct trace_scope *range = scene_scope(scene, "range", 1, TRACE_NONE);
	uint32_t exec = scene_graph(scene, 5, 1);
	struct trace_activity *activity;
	struct message space;
	struct xplane host, gpu;
	struct message line;
	struct xevent event;

	range->kind = RECORD_SCOPE_RANGE;
	range->begin_ns = 85;
	range->end_ns = 125;
	scene_call(scene, "hipGraphLaunch", 8, 90, 120);
	scene_launch(scene, exec, 0);
	activity = scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100, 200);
	activity->node = 0;
	activity->confidence = TRACE_CONFIDENCE_EXACT;
	space = write_xspace(scene);
	host = xspace_plane(&space, "/host:CPU");
	gpu = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&gpu), 1);
	assert_int_equal(xplane_count_lines(&host), 2);
	line = xplane_find_line(&host, "main/999");
	assert_int_equal(xline_count_events(&line), 1);
	assert_int_equal(decode_number(&line, XLINE_ID), 999);
	line = xplane_find_line(&host, "main/999 ranges");
	assert_int_equal(xline_count_events(&line), 1);
	event = xplane_event(&host, "hipGraphLaunch", 0);
	assert_number(xevent_stat(&event, "cuda_graph_exec_id"), XSTAT_UINT64, 1005);
}

/* As in CB-1: no field of an event is taken for another one. */
static void cb_1_every_fact_of_an_event_is_told_apart(void **state)
{
	struct scene *scene = scene_create(50, 1);
	uint32_t exec = scene_graph(scene, 5, 12);
	struct trace_activity *activity;
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene_attribute(scene, scene_scope(scene, "annotation", 10, TRACE_NONE), "hlo_op", "op");
	scene_call(scene, "hipGraphLaunch", 8, 60, 70)->scope = 0;
	scene_launch(scene, exec, 3);
	scene_stream(scene, 0, 2);
	activity = scene_activity(scene, scene_kernel(scene, "kernel", 64, 64), 100, 200);
	activity->stream = 1;
	activity->node = 10;
	activity->confidence = TRACE_CONFIDENCE_SIGNATURE;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "kernel", 0);
	assert_int_equal(event.offset_ps, 50000);
	assert_int_equal(event.duration_ps, 100000);
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 8);
	assert_number(xevent_stat(&event, "scope_range_id"), XSTAT_INT64, 10);
	assert_number(xevent_stat(&event, "cuda_graph_id"), XSTAT_UINT64, 5);
	assert_number(xevent_stat(&event, "cuda_graph_node_id"), XSTAT_UINT64, 11);
	assert_number(xevent_stat(&event, "cuda_graph_exec_id"), XSTAT_UINT64, 1005);
	assert_text(xevent_stat(&event, "graph_node_confidence"), XSTAT_REF, "signature");
	assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "annotation");
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "op");
	assert_int_equal(xevent_stat(&event, "orphan").kind, 0);
	plane = xspace_plane(&space, "/host:CPU");
	event = xplane_event(&plane, "hipGraphLaunch", 0);
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 8);
	assert_number(xevent_stat(&event, "graph_replay"), XSTAT_UINT64, 3);
	assert_number(xevent_stat(&event, "device_id"), XSTAT_UINT64, 0);
}

static void two_streams_in_one_launch(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct message space;
	struct xplane plane;
	struct message line;

	scene_stream(scene, 0, 1);
	scene_stream(scene, 0, 2);
	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	scene_activity(scene, work, 100, 200)->stream = 1;
	scene_activity(scene, work, 100, 200)->stream = 2;
	scene_activity(scene, work, 200, 300)->stream = 1;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 2);
	line = xplane_find_line(&plane, "Stream #1(Compute)");
	assert_int_equal(decode_number(&line, XLINE_ID), 1);
	assert_int_equal(xline_count_events(&line), 2);
	line = xplane_find_line(&plane, "Stream #2(Compute)");
	assert_int_equal(xline_count_events(&line), 1);
}

static void two_launches_of_one_graph_with_a_copy_inside(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t exec = scene_graph(scene, 5, 2);
	uint32_t kernel = scene_kernel(scene, "k", 64, 64);
	uint32_t copy = scene_copy(scene, TRACE_D2D, 4096);
	struct message space;
	struct xplane plane;

	for (unsigned replay = 0; replay < 2; replay++) {
		int64_t start_ns = 1000 * (replay + 1);

		scene_call(scene, "hipGraphLaunch", replay + 1, start_ns - 100, start_ns - 50);
		scene_launch(scene, exec, replay);
		scene_activity(scene, kernel, start_ns, start_ns + 100)->node = 0;
		scene_activity(scene, copy, start_ns + 200, start_ns + 300)->node = 1;
	}
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	for (unsigned replay = 0; replay < 2; replay++) {
		struct xevent event = xplane_event(&plane, "k", replay);

		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, replay + 1);
		assert_number(xevent_stat(&event, "cuda_graph_node_id"), XSTAT_UINT64, 1);
		assert_number(xevent_stat(&event, "cuda_graph_exec_id"), XSTAT_UINT64, 1005);
		event = xplane_event(&plane, "MemcpyD2D", replay);
		assert_number(xevent_stat(&event, "cuda_graph_node_id"), XSTAT_UINT64, 2);
		assert_text(xevent_stat(&event, "memcpy_details"), XSTAT_REF,
			    "kind_src:device kind_dst:device size:4096 src:0 dest:0");
		/* XProf would take the event for a kernel. */
		assert_int_equal(xevent_stat(&event, "cuda_graph_exec_id").kind, 0);
		assert_int_equal(xevent_stat(&event, "kernel_details").kind, 0);
	}
}

static void dimensions_are_each_kernels_own(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	scene_activity(scene, scene_kernel(scene, "same name", 256, 64), 100, 200);
	scene_activity(scene, scene_kernel(scene, "same name", 1000, 256), 200, 300);
	scene_activity(scene, scene_kernel(scene, "no workgroup", 1000, 0), 300, 400);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "same name", 0);
	assert_text(xevent_stat(&event, "kernel_details"), XSTAT_REF,
		    "static_shared:0 dynamic_shared:0 grid:4,1,1 block:64,1,1");
	event = xplane_event(&plane, "same name", 1);
	assert_text(xevent_stat(&event, "kernel_details"), XSTAT_REF,
		    "static_shared:0 dynamic_shared:0 grid:4,1,1 block:256,1,1 "
		    "work_items:1000,1,1");
	event = xplane_event(&plane, "no workgroup", 0);
	assert_text(xevent_stat(&event, "kernel_details"), XSTAT_REF,
		    "static_shared:0 dynamic_shared:0 grid:0,1,1 block:0,1,1 work_items:1000,1,1");
}

/* As in test_trace_occupancy.c: of gfx90a's 32 waves, 256 registers allow 8. */
static void occupancy_of_kernels(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "half", 1024, 256);
	struct message space;
	struct xplane plane;
	struct xevent event;
	struct xvalue value;
	double percent;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20);
	scene->works[work].registers = 256;
	scene_activity(scene, work, 100, 200);
	scene_activity(scene, scene_kernel(scene, "unknown", 256, 64), 200, 300);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "half", 0);
	value = xevent_stat(&event, "theoretical_occupancy_pct");
	assert_int_equal(value.kind, XSTAT_DOUBLE);
	memcpy(&percent, &value.number, sizeof(percent));
	assert_true(percent == 25);
	assert_text(xevent_stat(&event, "kernel_details"), XSTAT_REF,
		    "regs:256 static_shared:0 dynamic_shared:0 grid:4,1,1 block:256,1,1 "
		    "occ_pct:25");
	event = xplane_event(&plane, "unknown", 0);
	assert_int_equal(xevent_stat(&event, "theoretical_occupancy_pct").kind, 0);
}

static void ids_from_2_to_the_32_on(void **state)
{
	static const uint64_t cids[] = {UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
					UINT64_C(1) << 56, INT64_MAX};
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct message space;
	struct xplane gpu, host;

	for (unsigned i = 0; i < 5; i++) {
		scene_call(scene, "hipLaunchKernel", cids[i], 100 * i, 100 * i + 10);
		scene_activity(scene, work, 100 * i + 20, 100 * i + 50);
	}
	space = write_xspace(scene);
	gpu = xspace_plane(&space, "/device:GPU:0");
	host = xspace_plane(&space, "/host:CPU");
	for (unsigned i = 0; i < 5; i++) {
		struct xevent event = xplane_event(&gpu, "k", i);

		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, cids[i]);
		event = xplane_event(&host, "hipLaunchKernel", i);
		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, cids[i]);
	}
}

static void orphans_both_ways_are_kept_and_marked(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct trace_activity *activity;
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20)->activities_expected = 1;
	activity = scene_activity(scene, work, 100, 200);
	scene->calls[0].activity_count = 0;
	activity->call = TRACE_NONE;
	activity->cid = 77;
	activity = scene_activity(scene, work, 300, 400);
	scene->calls[0].activity_count = 0;
	activity->call = TRACE_NONE;
	activity->cid = 0;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_text(xevent_stat(&event, "orphan"), XSTAT_REF, "no call");
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 77);
	event = xplane_event(&plane, "k", 1);
	assert_text(xevent_stat(&event, "orphan"), XSTAT_REF, "no call");
	assert_int_equal(xevent_stat(&event, "correlation_id").kind, 0);
	plane = xspace_plane(&space, "/host:CPU");
	event = xplane_event(&plane, "hipLaunchKernel", 0);
	assert_text(xevent_stat(&event, "orphan"), XSTAT_REF, "no activity");
	assert_int_equal(xevent_stat(&event, "device_id").kind, 0);
}

static void copies_memsets_and_their_carriers(void **state)
{
	struct scene *scene = scene_create(0, 2);
	uint32_t p2p = scene_copy(scene, TRACE_P2P, 64);
	uint32_t blit = scene_copy(scene, TRACE_H2D, 128);
	uint32_t memset_work = scene_copy(scene, TRACE_COPY_UNKNOWN, 256);
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene->works[p2p].dst_agent = 2;
	scene->works[blit].blit = true;
	scene->works[blit].name = scene_string(scene, "__amd_rocclr_copyBuffer");
	scene->works[memset_work].kind = TRACE_MEMSET;
	scene_call(scene, "hipMemcpy", 1, 10, 20);
	scene_activity(scene, p2p, 100, 200);
	scene_activity(scene, blit, 200, 300);
	scene_activity(scene, memset_work, 300, 400);
	scene_activity(scene, scene_copy(scene, TRACE_H2H, 1), 400, 500);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	xplane_find_line(&plane, "Stream #0(MemcpyH2D,MemcpyP2P,MemcpyOther,Memset)");
	event = xplane_event(&plane, "MemcpyP2P", 0);
	assert_text(xevent_stat(&event, "memcpy_details"), XSTAT_REF,
		    "kind_src:device kind_dst:device size:64 src:0 dest:1");
	event = xplane_event(&plane, "MemcpyH2D", 0);
	assert_text(xevent_stat(&event, "blit_kernel"), XSTAT_REF, "__amd_rocclr_copyBuffer");
	assert_text(xevent_stat(&event, "memcpy_details"), XSTAT_REF,
		    "kind_src:host kind_dst:device size:128 dest:0");
	event = xplane_event(&plane, "Memset", 0);
	assert_text(xevent_stat(&event, "Memset_details"), XSTAT_REF, "kind:device num_bytes:256");
	event = xplane_event(&plane, "MemcpyOther", 0);
	assert_text(xevent_stat(&event, "memcpy_details"), XSTAT_REF,
		    "kind_src:host kind_dst:host size:1 src:0 dest:0");
}

/* Work without a GPU has a plane that XProf shows as a tool's own. */
static void work_without_a_gpu_or_a_stream(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "", 64, 64);
	struct trace_activity *activity;
	struct message space;
	struct xplane plane;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20);
	scene_activity(scene, work, 100, 200)->agent = 0;
	activity = scene_activity(scene, work, 100, 200);
	activity->agent = TRACE_NONE;
	activity->stream = TRACE_NONE;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:CUSTOM:no GPU");
	assert_int_equal(xplane_count_lines(&plane), 2);
	xplane_find_line(&plane, "Stream #0(Compute)");
	xplane_find_line(&plane, "No stream(Compute)");
	assert_int_equal(xplane_count_events(&plane, "(unknown kernel)"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(rc_1_kernel_event_is_exported),
		KEPT_CASE(rc_2_every_activity_of_a_correlation_id_is_exported),
		KEPT_CASE(cc_3_activity_call_and_range_have_their_lines),
		KEPT_CASE(cb_1_every_fact_of_an_event_is_told_apart),
		KEPT_CASE(two_streams_in_one_launch),
		KEPT_CASE(two_launches_of_one_graph_with_a_copy_inside),
		KEPT_CASE(dimensions_are_each_kernels_own),
		KEPT_CASE(occupancy_of_kernels),
		KEPT_CASE(ids_from_2_to_the_32_on),
		KEPT_CASE(orphans_both_ways_are_kept_and_marked),
		KEPT_CASE(copies_memsets_and_their_carriers),
		KEPT_CASE(work_without_a_gpu_or_a_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
