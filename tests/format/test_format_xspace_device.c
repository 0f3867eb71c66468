/* Device work in an XSpace. Ids such as RC-1 are those of XLA's own tests. */
#include "xspace_written.h"

/* One API call, one kernel, offsets from the start of the recording. */
static void test_RC_1_kernel_event_is_exported(void **state)
{
	struct scene *scene = scene_create(2000, 1);
	uint32_t work = scene_kernel(scene, "test_rocm_kernel", 25600, 256);
	struct written written;
	struct xplane plane;
	struct message line;
	struct xevent event;
	char name[128];

	scene->works[work].private_bytes = 32;
	scene->works[work].group_bytes = 1024;
	scene->works[work].registers = 48;
	scene_call(scene, "hipLaunchKernel", 42, 2500, 2600);
	scene_activity(scene, work, 3000, 4000);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
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
	written_release(&written);
	scene_destroy(scene);
}

static void test_RC_2_every_activity_of_a_correlation_id_is_exported(void **state)
{
	static const char *const names[] = {"kernel_a", "kernel_b", "kernel_c"};
	struct scene *scene = scene_create(2000, 1);
	struct written written;
	struct xplane plane;

	scene_call(scene, "hipGraphLaunch", 7, 2100, 2200);
	for (unsigned i = 0; i < 3; i++)
		scene_activity(scene, scene_kernel(scene, names[i], 64, 64), 3000 + 500 * i,
			       3500 + 500 * i);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	for (unsigned i = 0; i < 3; i++) {
		struct xevent event = xplane_event(&plane, names[i], 0);

		assert_int_equal(xplane_count_events(&plane, names[i]), 1);
		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 7);
	}
	written_release(&written);
	scene_destroy(scene);
}

/* As CC-3 requires: one event of a graph's execution, one call and one range, each on its line. */
static void test_CC_3_activity_call_and_range_have_their_lines(void **state)
{
	struct scene *scene = scene_create(80, 1);
	struct trace_scope *range = scene_scope(scene, "range", 1, TRACE_NONE);
	uint32_t exec = scene_graph(scene, 5, 1);
	struct trace_activity *activity;
	struct written written;
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
	written = write_xspace(scene);
	host = xspace_plane(&written.space, "/host:CPU");
	gpu = xspace_plane(&written.space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&gpu), 1);
	assert_int_equal(xplane_count_lines(&host), 2);
	line = xplane_find_line(&host, "main/999");
	assert_int_equal(xline_count_events(&line), 1);
	assert_int_equal(decode_number(&line, XLINE_ID), 999);
	line = xplane_find_line(&host, "main/999 ranges");
	assert_int_equal(xline_count_events(&line), 1);
	event = xplane_event(&host, "hipGraphLaunch", 0);
	assert_number(xevent_stat(&event, "cuda_graph_exec_id"), XSTAT_UINT64, 1005);
	written_release(&written);
	scene_destroy(scene);
}

/* As in CB-1: no field of an event is taken for another one. */
static void test_CB_1_every_fact_of_an_event_is_told_apart(void **state)
{
	struct scene *scene = scene_create(50, 1);
	uint32_t exec = scene_graph(scene, 5, 12);
	struct trace_activity *activity;
	struct written written;
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
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
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
	plane = xspace_plane(&written.space, "/host:CPU");
	event = xplane_event(&plane, "hipGraphLaunch", 0);
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 8);
	assert_number(xevent_stat(&event, "graph_replay"), XSTAT_UINT64, 3);
	assert_number(xevent_stat(&event, "device_id"), XSTAT_UINT64, 0);
	written_release(&written);
	scene_destroy(scene);
}

static void test_two_streams_in_one_launch(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct written written;
	struct xplane plane;
	struct message line;

	scene_stream(scene, 0, 1);
	scene_stream(scene, 0, 2);
	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	scene_activity(scene, work, 100, 200)->stream = 1;
	scene_activity(scene, work, 100, 200)->stream = 2;
	scene_activity(scene, work, 200, 300)->stream = 1;
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 2);
	line = xplane_find_line(&plane, "Stream #1(Compute)");
	assert_int_equal(decode_number(&line, XLINE_ID), 1);
	assert_int_equal(xline_count_events(&line), 2);
	line = xplane_find_line(&plane, "Stream #2(Compute)");
	assert_int_equal(xline_count_events(&line), 1);
	written_release(&written);
	scene_destroy(scene);
}

static void test_two_launches_of_one_graph_with_a_copy_inside(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t exec = scene_graph(scene, 5, 2);
	uint32_t kernel = scene_kernel(scene, "k", 64, 64);
	uint32_t copy = scene_copy(scene, TRACE_D2D, 4096);
	struct written written;
	struct xplane plane;

	for (unsigned replay = 0; replay < 2; replay++) {
		int64_t start_ns = 1000 * (replay + 1);

		scene_call(scene, "hipGraphLaunch", replay + 1, start_ns - 100, start_ns - 50);
		scene_launch(scene, exec, replay);
		scene_activity(scene, kernel, start_ns, start_ns + 100)->node = 0;
		scene_activity(scene, copy, start_ns + 200, start_ns + 300)->node = 1;
	}
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
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
	written_release(&written);
	scene_destroy(scene);
}

static void test_dimensions_are_each_kernels_own(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct written written;
	struct xplane plane;
	struct xevent event;

	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	scene_activity(scene, scene_kernel(scene, "same name", 256, 64), 100, 200);
	scene_activity(scene, scene_kernel(scene, "same name", 1000, 256), 200, 300);
	scene_activity(scene, scene_kernel(scene, "no workgroup", 1000, 0), 300, 400);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
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
	written_release(&written);
	scene_destroy(scene);
}

/* As in test_trace_occupancy.c: of gfx90a's 32 waves, 256 registers allow 8. */
static void test_occupancy_of_kernels(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "half", 1024, 256);
	struct written written;
	struct xplane plane;
	struct xevent event;
	struct xvalue value;
	double percent;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20);
	scene->works[work].registers = 256;
	scene_activity(scene, work, 100, 200);
	scene_activity(scene, scene_kernel(scene, "unknown", 256, 64), 200, 300);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
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
	written_release(&written);
	scene_destroy(scene);
}

static void test_ids_from_2_to_the_32_on(void **state)
{
	static const uint64_t cids[] = {UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
					UINT64_C(1) << 56, INT64_MAX};
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct written written;
	struct xplane gpu, host;

	for (unsigned i = 0; i < 5; i++) {
		scene_call(scene, "hipLaunchKernel", cids[i], 100 * i, 100 * i + 10);
		scene_activity(scene, work, 100 * i + 20, 100 * i + 50);
	}
	written = write_xspace(scene);
	gpu = xspace_plane(&written.space, "/device:GPU:0");
	host = xspace_plane(&written.space, "/host:CPU");
	for (unsigned i = 0; i < 5; i++) {
		struct xevent event = xplane_event(&gpu, "k", i);

		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, cids[i]);
		event = xplane_event(&host, "hipLaunchKernel", i);
		assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, cids[i]);
	}
	written_release(&written);
	scene_destroy(scene);
}

static void test_gpu_0_idle(void **state)
{
	struct scene *scene = scene_create(0, 3);
	struct written written;
	struct xplane plane;
	struct xevent event;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20);
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100, 200)->agent = 2;
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	assert_int_equal(plane.id, 0);
	assert_int_equal(xplane_count_lines(&plane), 0);
	assert_text(xplane_stat(&plane, "gpu_device_name"), XSTAT_STRING, "gfx90a");
	plane = xspace_plane(&written.space, "/device:GPU:1");
	assert_int_equal(plane.id, 1);
	assert_int_equal(xplane_count_events(&plane, "k"), 1);
	plane = xspace_plane(&written.space, "/device:GPU:2");
	assert_int_equal(xplane_count_lines(&plane), 0);
	plane = xspace_plane(&written.space, "/host:CPU");
	event = xplane_event(&plane, "hipLaunchKernel", 0);
	assert_number(xevent_stat(&event, "device_id"), XSTAT_UINT64, 1);
	written_release(&written);
	scene_destroy(scene);
}

static void test_capabilities(void **state)
{
	struct scene *scene = scene_create(0, 2);
	struct written written;
	struct xplane plane;

	scene->agents[2].clock_khz = 1700000;
	scene->agents[2].memory_bytes_per_s = UINT64_C(1638400000000);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	assert_text(xplane_stat(&plane, "device_vendor"), XSTAT_STRING, "AMD");
	assert_text(xplane_stat(&plane, "gpu_device_name"), XSTAT_STRING, "gfx90a");
	assert_number(xplane_stat(&plane, "core_count"), XSTAT_INT64, 104);
	assert_number(xplane_stat(&plane, "memory_size"), XSTAT_UINT64, UINT64_C(1) << 36);
	assert_number(xplane_stat(&plane, "compute_cap_major"), XSTAT_INT64, 9);
	assert_number(xplane_stat(&plane, "compute_cap_minor"), XSTAT_INT64, 0);
	/* Unknown facts are left out. */
	assert_int_equal(xplane_stat(&plane, "clock_rate").kind, 0);
	assert_int_equal(xplane_stat(&plane, "memory_bandwidth").kind, 0);
	plane = xspace_plane(&written.space, "/device:GPU:1");
	assert_number(xplane_stat(&plane, "clock_rate"), XSTAT_INT64, 1700000);
	assert_number(xplane_stat(&plane, "memory_bandwidth"), XSTAT_UINT64,
		      UINT64_C(1638400000000));
	written_release(&written);
	scene_destroy(scene);
}

static void test_versions_of_architectures(void **state)
{
	static const struct {
		const char *name, *vendor;
		uint64_t major, minor;
	} cases[] = {{"gfx906", "AMD", 9, 0},	{"gfx942", "AMD", 9, 4},
		     {"gfx1030", "AMD", 10, 3}, {"gfx1201", "AMD", 12, 0},
		     {"sm_90", "Nvidia", 9, 0}, {"sm_121", "Nvidia", 12, 1}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene *scene = scene_create(0, 1);
		struct written written;
		struct xplane plane;

		scene->agents[1].name = scene_string(scene, cases[i].name);
		written = write_xspace(scene);
		plane = xspace_plane(&written.space, "/device:GPU:0");
		assert_text(xplane_stat(&plane, "device_vendor"), XSTAT_STRING, cases[i].vendor);
		assert_number(xplane_stat(&plane, "compute_cap_major"), XSTAT_INT64,
			      cases[i].major);
		assert_int_equal(xplane_stat(&plane, "compute_cap_minor").number, cases[i].minor);
		written_release(&written);
		scene_destroy(scene);
	}
}

static void test_orphans_both_ways_are_kept_and_marked(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct trace_activity *activity;
	struct written written;
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
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_text(xevent_stat(&event, "orphan"), XSTAT_REF, "no call");
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 77);
	event = xplane_event(&plane, "k", 1);
	assert_text(xevent_stat(&event, "orphan"), XSTAT_REF, "no call");
	assert_int_equal(xevent_stat(&event, "correlation_id").kind, 0);
	plane = xspace_plane(&written.space, "/host:CPU");
	event = xplane_event(&plane, "hipLaunchKernel", 0);
	assert_text(xevent_stat(&event, "orphan"), XSTAT_REF, "no activity");
	assert_int_equal(xevent_stat(&event, "device_id").kind, 0);
	written_release(&written);
	scene_destroy(scene);
}

static bool has_warning(const struct message *space, const char *text)
{
	struct field field;

	for (unsigned i = 0; decode_find(space, XSPACE_WARNINGS, i, &field); i++) {
		if (decode_is_text(&field.message, text))
			return true;
	}
	return false;
}

static void test_no_time_is_invented(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct trace_activity *activity;
	struct written written;
	struct xplane plane;

	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	for (unsigned i = 0; i < 2; i++) {
		activity = scene_activity(scene, work, 0, 0);
		activity->untimed = RECORD_UNTIMED_SHUTDOWN;
	}
	scene_activity(scene, work, 0, 0)->untimed = RECORD_UNTIMED_ZERO_TICK;
	scene_activity(scene, work, 500, 400);
	scene_activity(scene, work, INT64_MAX - 1, INT64_MAX);
	scene_activity(scene, work, 600, 600);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	assert_int_equal(xplane_count_events(&plane, "k"), 2);
	assert_int_equal(xplane_event(&plane, "k", 0).offset_ps, 500000);
	assert_int_equal(xplane_event(&plane, "k", 0).duration_ps, 0);
	assert_int_equal(xplane_event(&plane, "k", 1).offset_ps, 600000);
	assert_true(has_warning(&written.space, "2 device events left out, as without a time: not "
						"finished when tracing ended"));
	assert_true(has_warning(&written.space, "1 device event left out, as without a time: the "
						"device wrote no tick"));
	assert_true(has_warning(&written.space, "1 device event left out: the time is out of "
						"XSpace's range"));
	assert_true(has_warning(&written.space,
				"1 event ending before the begin, shown without length"));
	written_release(&written);
	scene_destroy(scene);
}

static void test_overlapping_kernels_have_tracks(void **state)
{
	static const int64_t spans[][2] = {{100, 500}, {200, 300}, {250, 700}, {300, 350},
					   {500, 600}, {600, 650}, {700, 800}};
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct written written;
	struct xplane plane;
	struct message line;

	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	for (unsigned i = 0; i < 7; i++)
		scene_activity(scene, work, spans[i][0], spans[i][1]);
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 3);
	line = xplane_find_line(&plane, "Stream #0(Compute)");
	assert_int_equal(xline_count_events(&line), 4); /* 100, 500, 600, 700 */
	line = xplane_find_line(&plane, "Stream #0(Compute) lane 2");
	assert_int_equal(xline_count_events(&line), 2); /* 200, 300 */
	line = xplane_find_line(&plane, "Stream #0(Compute) lane 3");
	assert_int_equal(xline_count_events(&line), 1); /* 250 */
	assert_int_equal(xplane_count_events(&plane, "k"), 7);
	written_release(&written);
	scene_destroy(scene);
}

/* Rows are in the order of ids, lines in the order of times. */
static void test_events_are_sorted_by_time(void **state)
{
	struct scene *scene = scene_create(0, 1);
	char names[200][8];
	struct written written;
	struct xplane plane;
	struct message line;
	char name[128];

	for (unsigned i = 0; i < 200; i++) {
		int64_t start_ns = 1000 + (int64_t)((i * 73) % 200) * 10;

		snprintf(names[i], sizeof(names[i]), "k%u", (i * 73) % 200);
		scene_call(scene, "hipLaunchKernel", i + 1, 5 * i, 5 * i + 3);
		scene_activity(scene, scene_kernel(scene, names[i], 64, 64), start_ns,
			       start_ns + 9);
	}
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 1);
	line = xplane_line(&plane, 0, name);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		assert_string_equal(xline_event(&plane, &line, i).name, name);
	}
	written_release(&written);
	scene_destroy(scene);
}

static void add_kernels(struct scene *scene, const unsigned order[6])
{
	static const char *const names[] = {"a", "b", "c"};
	uint32_t works[3];

	for (unsigned i = 0; i < 3; i++)
		works[order[i] % 3] =
			scene_kernel(scene, names[order[i] % 3], 64 + order[i] % 3, 64);
	for (unsigned i = 0; i < 6; i++) {
		unsigned k = order[i];

		scene_call(scene, "hipLaunchKernel", k + 1, 100 * k, 100 * k + 50);
		scene_activity(scene, works[k % 3], 100 * k + 20, 100 * k + 80);
	}
}

/* Neither the order of the work kinds nor the loader's order of rows changes the bytes. */
static void test_permuted_rows_give_identical_bytes(void **state)
{
	static const unsigned orders[][6] = {
		{0, 1, 2, 3, 4, 5}, {2, 0, 1, 5, 4, 3}, {1, 2, 0, 3, 5, 4}};
	struct written first = {0};

	for (unsigned i = 0; i < 3; i++) {
		struct scene *scene = scene_create(0, 1);
		struct written written;

		/* Interned beforehand, so that the strings' numbers are not permuted. */
		scene_string(scene, "hipLaunchKernel");
		add_kernels(scene, orders[i]);
		written = write_xspace(scene);
		if (i == 0) {
			first = written;
		} else {
			assert_int_equal(written.space.size, first.space.size);
			assert_memory_equal(written.bytes, first.bytes, first.space.size);
			written_release(&written);
		}
		scene_destroy(scene);
	}
	written_release(&first);
}

static void test_copies_memsets_and_their_carriers(void **state)
{
	struct scene *scene = scene_create(0, 2);
	uint32_t p2p = scene_copy(scene, TRACE_P2P, 64);
	uint32_t blit = scene_copy(scene, TRACE_H2D, 128);
	uint32_t memset_work = scene_copy(scene, TRACE_COPY_UNKNOWN, 256);
	struct written written;
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
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:GPU:0");
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
	written_release(&written);
	scene_destroy(scene);
}

/* Work without a GPU has a plane that XProf shows as a tool's own. */
static void test_work_without_a_gpu_or_a_stream(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "", 64, 64);
	struct trace_activity *activity;
	struct written written;
	struct xplane plane;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20);
	scene_activity(scene, work, 100, 200)->agent = 0;
	activity = scene_activity(scene, work, 100, 200);
	activity->agent = TRACE_NONE;
	activity->stream = TRACE_NONE;
	written = write_xspace(scene);
	plane = xspace_plane(&written.space, "/device:CUSTOM:no GPU");
	assert_int_equal(xplane_count_lines(&plane), 2);
	xplane_find_line(&plane, "Stream #0(Compute)");
	xplane_find_line(&plane, "No stream(Compute)");
	assert_int_equal(xplane_count_events(&plane, "(unknown kernel)"), 2);
	written_release(&written);
	scene_destroy(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_RC_1_kernel_event_is_exported),
		cmocka_unit_test(test_RC_2_every_activity_of_a_correlation_id_is_exported),
		cmocka_unit_test(test_CC_3_activity_call_and_range_have_their_lines),
		cmocka_unit_test(test_CB_1_every_fact_of_an_event_is_told_apart),
		cmocka_unit_test(test_two_streams_in_one_launch),
		cmocka_unit_test(test_two_launches_of_one_graph_with_a_copy_inside),
		cmocka_unit_test(test_dimensions_are_each_kernels_own),
		cmocka_unit_test(test_occupancy_of_kernels),
		cmocka_unit_test(test_ids_from_2_to_the_32_on),
		cmocka_unit_test(test_gpu_0_idle),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_versions_of_architectures),
		cmocka_unit_test(test_orphans_both_ways_are_kept_and_marked),
		cmocka_unit_test(test_no_time_is_invented),
		cmocka_unit_test(test_overlapping_kernels_have_tracks),
		cmocka_unit_test(test_events_are_sorted_by_time),
		cmocka_unit_test(test_permuted_rows_give_identical_bytes),
		cmocka_unit_test(test_copies_memsets_and_their_carriers),
		cmocka_unit_test(test_work_without_a_gpu_or_a_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
