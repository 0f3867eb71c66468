/* The planes of GPUs in an XSpace and their lines: which exist, and the order of their events. */
#include "xspace_written.h"

static void gpu_0_idle(void **state)
{
	struct scene *scene = scene_create(0, 3);
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene_call(scene, "hipLaunchKernel", 1, 10, 20);
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100, 200)->agent = 2;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(plane.id, 0);
	assert_int_equal(xplane_count_lines(&plane), 0);
	assert_text(xplane_stat(&plane, "gpu_device_name"), XSTAT_STRING, "gfx90a");
	plane = xspace_plane(&space, "/device:GPU:1");
	assert_int_equal(plane.id, 1);
	assert_int_equal(xplane_count_events(&plane, "k"), 1);
	plane = xspace_plane(&space, "/device:GPU:2");
	assert_int_equal(xplane_count_lines(&plane), 0);
	plane = xspace_plane(&space, "/host:CPU");
	event = xplane_event(&plane, "hipLaunchKernel", 0);
	assert_number(xevent_stat(&event, "device_id"), XSTAT_UINT64, 1);
}

/* XLA subtracts the profile's start from the lines of a plugin and merges the host's planes. */
static void lines_for_a_plugin_begin_in_wall_clock_time(void **state)
{
	const struct format_thread threads[] = {{998, 7}, {999, UINT64_MAX - 5}};
	const struct format_options options = {
		.compat = "pjrt", .threads = threads, .threads_count = 2};
	struct scene *scene = scene_create(1000, 1);
	struct message space, line;
	struct xplane device, host;
	char name[128];

	scene->processes[0].start_realtime_ns = UINT64_C(1795716294883474587);
	scene->messages[scene->trace.messages_count++].text =
		scene_string(scene, "3 packets were dropped");
	scene_call(scene, "hipLaunchKernel", 1, 1010, 1020);
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 1100, 1200);
	space = write_xspace_with(scene, &options);
	device = xspace_plane(&space, "/device:GPU:0");
	line = xplane_line(&device, 0, name);
	assert_int_equal(decode_number(&line, XLINE_TIMESTAMP_NS), UINT64_C(1795716294883474587));
	assert_int_equal(xplane_event(&device, "k", 0).offset_ps, 100000);
	host = xspace_plane(&space, "/host:ROCTRACER");
	line = xplane_line(&host, 0, name);
	assert_int_equal(decode_number(&line, XLINE_ID), UINT64_MAX - 5);
	assert_int_equal(decode_number(&line, XLINE_TIMESTAMP_NS), UINT64_C(1795716294883474587));
	assert_int_equal(xplane_event(&host, "hipLaunchKernel", 0).offset_ps, 10000);
	line = xplane_find_line(&host, "dagtap messages");
	assert_int_equal(xline_count_events(&line), 1);
	assert_string_equal(xline_event(&host, &line, 0).name, "3 packets were dropped");
	assert_false(xspace_has_plane(&space, "/host:CPU"));
	assert_false(xspace_has_plane(&space, "/host:dagtap"));
	assert_false(xspace_has_plane(&space, "Task Environment"));
}

static void capabilities(void **state)
{
	struct scene *scene = scene_create(0, 2);
	struct message space;
	struct xplane plane;

	scene->agents[2].clock_khz = 1700000;
	scene->agents[2].memory_bytes_per_s = UINT64_C(1638400000000);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_text(xplane_stat(&plane, "device_vendor"), XSTAT_STRING, "AMD");
	assert_text(xplane_stat(&plane, "gpu_device_name"), XSTAT_STRING, "gfx90a");
	assert_number(xplane_stat(&plane, "core_count"), XSTAT_INT64, 104);
	assert_number(xplane_stat(&plane, "memory_size"), XSTAT_UINT64, UINT64_C(1) << 36);
	assert_number(xplane_stat(&plane, "compute_cap_major"), XSTAT_INT64, 9);
	assert_number(xplane_stat(&plane, "compute_cap_minor"), XSTAT_INT64, 0);
	/* Unknown facts are left out. */
	assert_int_equal(xplane_stat(&plane, "clock_rate").kind, 0);
	assert_int_equal(xplane_stat(&plane, "memory_bandwidth").kind, 0);
	plane = xspace_plane(&space, "/device:GPU:1");
	assert_number(xplane_stat(&plane, "clock_rate"), XSTAT_INT64, 1700000);
	assert_number(xplane_stat(&plane, "memory_bandwidth"), XSTAT_UINT64,
		      UINT64_C(1638400000000));
}

static void versions_of_architectures(void **state)
{
	static const struct {
		const char *name, *vendor;
		uint64_t major, minor;
	} cases[] = {{"gfx906", "AMD", 9, 0},	{"gfx942", "AMD", 9, 4},
		     {"gfx1030", "AMD", 10, 3}, {"gfx1201", "AMD", 12, 0},
		     {"sm_90", "Nvidia", 9, 0}, {"sm_121", "Nvidia", 12, 1}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene *scene = scene_create(0, 1);
		struct message space;
		struct xplane plane;

		scene->agents[1].name = scene_string(scene, cases[i].name);
		space = write_xspace(scene);
		plane = xspace_plane(&space, "/device:GPU:0");
		assert_text(xplane_stat(&plane, "device_vendor"), XSTAT_STRING, cases[i].vendor);
		assert_number(xplane_stat(&plane, "compute_cap_major"), XSTAT_INT64,
			      cases[i].major);
		assert_int_equal(xplane_stat(&plane, "compute_cap_minor").number, cases[i].minor);
	}
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

static void no_time_is_invented(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct trace_activity *activity;
	struct message space;
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
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_events(&plane, "k"), 2);
	assert_int_equal(xplane_event(&plane, "k", 0).offset_ps, 500000);
	assert_int_equal(xplane_event(&plane, "k", 0).duration_ps, 0);
	assert_int_equal(xplane_event(&plane, "k", 1).offset_ps, 600000);
	assert_true(has_warning(&space, "2 device events left out, as without a time: not "
					"finished when tracing ended"));
	assert_true(has_warning(&space, "1 device event left out, as without a time: the "
					"device wrote no tick"));
	assert_true(has_warning(&space, "1 device event left out: the time is out of "
					"XSpace's range"));
	assert_true(has_warning(&space, "1 event ending before the begin, shown without length"));
}

static void overlapping_kernels_have_tracks(void **state)
{
	static const int64_t spans[][2] = {{100, 500}, {200, 300}, {250, 700}, {300, 350},
					   {500, 600}, {600, 650}, {700, 800}};
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct message space;
	struct xplane plane;
	struct message line;

	scene_call(scene, "hipGraphLaunch", 1, 10, 20);
	for (unsigned i = 0; i < 7; i++)
		scene_activity(scene, work, spans[i][0], spans[i][1]);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 3);
	line = xplane_find_line(&plane, "Stream #0(Compute)");
	assert_int_equal(xline_count_events(&line), 4); /* 100, 500, 600, 700 */
	line = xplane_find_line(&plane, "Stream #0(Compute) lane 2");
	assert_int_equal(xline_count_events(&line), 2); /* 200, 300 */
	line = xplane_find_line(&plane, "Stream #0(Compute) lane 3");
	assert_int_equal(xline_count_events(&line), 1); /* 250 */
	assert_int_equal(xplane_count_events(&plane, "k"), 7);
}

/* Rows are in the order of ids, lines in the order of times. */
static void events_are_sorted_by_time(void **state)
{
	struct scene *scene = scene_create(0, 1);
	char names[200][8];
	struct message space;
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
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	assert_int_equal(xplane_count_lines(&plane), 1);
	line = xplane_line(&plane, 0, name);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		assert_string_equal(xline_event(&plane, &line, i).name, name);
	}
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
static void permuted_rows_give_identical_bytes(void **state)
{
	static const unsigned orders[][6] = {
		{0, 1, 2, 3, 4, 5}, {2, 0, 1, 5, 4, 3}, {1, 2, 0, 3, 5, 4}};
	struct message first = {0};

	for (unsigned i = 0; i < 3; i++) {
		struct scene *scene = scene_create(0, 1);
		struct message space;

		/* Interned beforehand, so that the strings' numbers are not permuted. */
		scene_string(scene, "hipLaunchKernel");
		add_kernels(scene, orders[i]);
		space = write_xspace(scene);
		if (i == 0)
			first = space;
		assert_int_equal(space.size, first.size);
		assert_memory_equal(space.bytes, first.bytes, first.size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(gpu_0_idle),
		KEPT_CASE(lines_for_a_plugin_begin_in_wall_clock_time),
		KEPT_CASE(capabilities),
		KEPT_CASE(versions_of_architectures),
		KEPT_CASE(no_time_is_invented),
		KEPT_CASE(overlapping_kernels_have_tracks),
		KEPT_CASE(events_are_sorted_by_time),
		KEPT_CASE(permuted_rows_give_identical_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
