/* Scopes, annotations, steps and host lines in an XSpace. */
#include "xspace_written.h"

#define TREE "/host:__ScopeRangeCallStack__"

/* Returns the parent that the tree gives CHILD, 0 if none. */
static int64_t tree_parent(const struct message *space, int64_t child)
{
	struct xplane plane = xspace_plane(space, TREE);
	struct field field;

	for (unsigned i = 0; decode_find(&plane.bytes, XPLANE_STATS, i, &field); i++) {
		if ((int64_t)decode_number(&field.message, XSTAT_METADATA_ID) == child)
			return (int64_t)decode_number(&field.message, XSTAT_INT64);
	}
	return 0;
}

static unsigned tree_size(const struct message *space)
{
	struct xplane plane = xspace_plane(space, TREE);
	struct field field;
	unsigned count = 0;

	while (decode_find(&plane.bytes, XPLANE_STATS, count, &field))
		count++;
	return count;
}

static void cc_8_no_tree_if_it_is_empty(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct message space = write_xspace(scene);

	assert_false(xspace_has_plane(&space, TREE));
	/* Only leaves are in the tree: roots have no parent. */
	scene_scope(scene, "a", 1, TRACE_NONE);
	scene_scope(scene, "b", 2, TRACE_NONE);
	space = write_xspace(scene);
	assert_false(xspace_has_plane(&space, TREE));
}

static void cc_9_later_ids_do_not_run_into_the_tree(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct message space;
	struct xplane plane;
	struct message value;
	struct field field;

	scene_scope(scene, "child", 1, 1);
	scene_scope(scene, "parent", 2, TRACE_NONE);
	scene_scope(scene, "child", 3, 3);
	scene_scope(scene, "parent", 10, TRACE_NONE);
	space = write_xspace(scene);
	assert_int_equal(tree_parent(&space, 1), 2);
	assert_int_equal(tree_parent(&space, 3), 10);
	assert_int_equal(tree_size(&space), 2);
	plane = xspace_plane(&space, TREE);
	assert_true(decode_find(&plane.bytes, XPLANE_STAT_METADATA, 0, &field));
	assert_int_equal(decode_number(&field.message, XMAP_KEY), 10);
	value = decode_message(&field.message, XMAP_VALUE);
	assert_int_equal(decode_number(&value, XSTAT_METADATA_KEY), 10);
	assert_false(decode_find(&value, XSTAT_METADATA_NAME, 0, &field));
	assert_false(decode_find(&plane.bytes, XPLANE_STAT_METADATA, 1, &field));
}

static void deep_tree_with_a_shared_prefix(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct message space;
	struct xplane plane;
	struct xevent event;

	for (uint32_t i = 0; i < 2000; i++)
		scene_scope(scene, i == 0 ? "root" : "level", i + 1, i ? i - 1 : TRACE_NONE);
	/* two leaves of one parent */
	scene_scope(scene, "leaf", 5001, 1999);
	scene_scope(scene, "leaf", 5002, 1999);
	scene_call(scene, "hipLaunchKernel", 1, 10, 20)->scope = 2000;
	scene_activity(scene, work, 100, 200);
	scene_call(scene, "hipLaunchKernel", 2, 30, 40)->scope = 2001;
	scene_activity(scene, work, 200, 300);
	space = write_xspace(scene);
	assert_int_equal(tree_size(&space), 2001);
	assert_int_equal(tree_parent(&space, 5001), 2000);
	assert_int_equal(tree_parent(&space, 5002), 2000);
	assert_int_equal(tree_parent(&space, 2), 1);
	plane = xspace_plane(&space, "/device:GPU:0");
	for (unsigned i = 0; i < 2; i++) {
		event = xplane_event(&plane, "k", i);
		assert_number(xevent_stat(&event, "scope_range_id"), XSTAT_INT64, 5001 + i);
		assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "root");
	}
}

static void a_cycle_ends(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct message space;

	scene_scope(scene, "a", 10, 1);
	scene_scope(scene, "b", 20, 0);
	scene_scope(scene, "self", 30, 2);
	scene_call(scene, "hipLaunchKernel", 1, 10, 20)->scope = 0;
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100, 200)->scope = 2;
	space = write_xspace(scene);
	assert_int_equal(tree_parent(&space, 10), 20);
	assert_int_equal(tree_parent(&space, 20), 10);
}

/* Ids of the shared pool have the top bit set: as int64 they are negative. */
static void ids_of_the_shared_pool(void **state)
{
	const uint64_t pool = UINT64_C(1) << 63;
	struct scene *scene = scene_create(0, 1);
	struct message space;
	struct xplane plane;
	struct xevent event;
	struct field field;

	scene_scope(scene, "outer", 5, TRACE_NONE);
	scene_scope(scene, "inner", pool | 7, 0);
	scene_call(scene, "hipLaunchKernel", 1, 10, 20)->scope = 1;
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100, 200);
	space = write_xspace(scene);
	assert_int_equal(tree_parent(&space, (int64_t)(pool | 7)), 5);
	plane = xspace_plane(&space, TREE);
	assert_true(decode_find(&plane.bytes, XPLANE_STAT_METADATA, 0, &field));
	assert_int_equal(decode_number(&field.message, XMAP_KEY), 5);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_number(xevent_stat(&event, "scope_range_id"), XSTAT_INT64, pool | 7);
}

static void add_typed(struct scene *scene, struct trace_scope *scope, const char *key,
		      struct trace_scope_attribute attribute)
{
	struct trace_scope_attribute *last;

	scene_attribute(scene, scope, key, "");
	last = &scene->scope_attributes[scene->trace.scope_attributes_count - 1];
	attribute.key = last->key;
	*last = attribute;
}

static void annotations_innermost_wins(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct trace_scope *scope = scene_scope(scene, "XlaModule:", 1, TRACE_NONE);
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene_attribute(scene, scope, "hlo_module", "jit_step");
	scene_attribute(scene, scope, "hlo_op", "of the module");
	add_typed(
		scene, scope, "program_id",
		(struct trace_scope_attribute){.kind = RECORD_ATTRIBUTE_INT64, .value.int64 = -12});
	/* An attribute cannot replace a stat that the writer itself writes. */
	scene_attribute(scene, scope, "kernel_details", "none");
	scene_attribute(scene, scope, "correlation_id", "none");
	scope = scene_scope(scene, "Thunk:", 2, 0);
	scene_attribute(scene, scope, "hlo_op", "first");
	scene_attribute(scene, scope, "hlo_op", "fusion.1");
	add_typed(scene, scope, "big",
		  (struct trace_scope_attribute){.kind = RECORD_ATTRIBUTE_UINT64,
						 .value.uint64 = UINT64_MAX});
	add_typed(scene, scope, "ratio",
		  (struct trace_scope_attribute){.kind = RECORD_ATTRIBUTE_DOUBLE,
						 .value.float64 = 1.0});
	scene_call(scene, "hipLaunchKernel", 1, 10, 20)->scope = 1;
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 100, 200);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "XlaModule:");
	assert_text(xevent_stat(&event, "hlo_module"), XSTAT_REF, "jit_step");
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "fusion.1");
	assert_number(xevent_stat(&event, "program_id"), XSTAT_INT64, (uint64_t)-12);
	assert_number(xevent_stat(&event, "big"), XSTAT_UINT64, UINT64_MAX);
	assert_number(xevent_stat(&event, "ratio"), XSTAT_DOUBLE, UINT64_C(0x3ff0000000000000));
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 1);
	assert_text(xevent_stat(&event, "kernel_details"), XSTAT_REF,
		    "static_shared:0 dynamic_shared:0 grid:1,1,1 block:64,1,1");
}

/* As on CUDA, where a node's annotation replaces the launch's. */
static void annotation_of_a_node_goes_before_the_launchs(void **state)
{
	struct scene *scene = scene_create(0, 1);
	uint32_t exec = scene_graph(scene, 1, 2);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct message space;
	struct xplane plane;
	struct xevent event;

	scene_attribute(scene, scene_scope(scene, "recorded", 1, TRACE_NONE), "hlo_op", "fusion.1");
	scene_attribute(scene, scene_scope(scene, "launched", 2, TRACE_NONE), "hlo_op",
			"command_buffer_0");
	scene->nodes[0].scope = 0;
	scene_call(scene, "hipGraphLaunch", 1, 10, 20)->scope = 1;
	scene_launch(scene, exec, 0);
	scene_activity(scene, work, 100, 200)->node = 0;
	scene_activity(scene, work, 200, 300)->node = 1;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "fusion.1");
	assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "recorded");
	assert_number(xevent_stat(&event, "scope_range_id"), XSTAT_INT64, 2);
	event = xplane_event(&plane, "k", 1);
	assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, "command_buffer_0");
	assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "launched");
}

static void names_of_any_kind(void **state)
{
	static const char *const names[] = {"a::b",	      "a#b=c#",
					    "say \"it\"",     "\xc3\xa4\xe2\x82\xac",
					    "kernel_details", "device_id"};
	struct scene *scene = scene_create(0, 1);
	struct message space;
	struct xplane gpu, host;

	for (unsigned i = 0; i < 6; i++) {
		struct trace_scope *scope = scene_scope(scene, names[i], i + 1, TRACE_NONE);

		scene_attribute(scene, scope, "hlo_op", names[i]);
		scope->begin_ns = 100 * i;
		scope->end_ns = 100 * i + 90;
		scene_call(scene, "hipLaunchKernel", i + 1, 100 * i + 1, 100 * i + 2)->scope = i;
		scene_activity(scene, scene_kernel(scene, names[i], 64, 64), 100 * i, 100 * i + 50);
	}
	scene_call(scene, "hipLaunchKernel", 7, 700, 710);
	scene_activity(scene, scene_kernel(scene, "bad \xff byte", 64, 64), 700, 710);
	space = write_xspace(scene);
	gpu = xspace_plane(&space, "/device:GPU:0");
	host = xspace_plane(&space, "/host:CPU");
	for (unsigned i = 0; i < 6; i++) {
		struct xevent event = xplane_event(&gpu, names[i], 0);

		assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, names[i]);
		assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, names[i]);
		event = xplane_event(&host, names[i], 0);
		assert_text(xevent_stat(&event, "hlo_op"), XSTAT_REF, names[i]);
	}
	/* A reader may refuse text that is not UTF-8. */
	xplane_event(&gpu, "bad \xef\xbf\xbd byte", 0);
}

/*
 * XProf groups by what lies within an event that has _r, on its line. It distinguishes runs of a
 * module by the root of the tree, which the step must not be.
 */
static void steps(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct trace_scope *step = scene_scope(scene, "train", 1, TRACE_NONE);
	struct message space;
	struct xplane plane;
	struct message line;
	struct xevent event;

	step->kind = RECORD_SCOPE_STEP;
	add_typed(
		scene, step, "step_num",
		(struct trace_scope_attribute){.kind = RECORD_ATTRIBUTE_INT64, .value.int64 = 41});
	step->begin_ns = 100;
	step->end_ns = 900;
	for (unsigned i = 0; i < 2; i++) {
		struct trace_scope *module = scene_scope(scene, "XlaModule:", 2 + 2 * i, 0);
		struct trace_scope *thunk;

		module->begin_ns = 200 + 300 * i;
		module->end_ns = module->begin_ns + 200;
		thunk = scene_scope(scene, "Thunk:", 3 + 2 * i, 1 + 2 * i);
		thunk->begin_ns = module->begin_ns;
		thunk->end_ns = module->end_ns;
		scene_call(scene, "hipLaunchKernel", i + 1, module->begin_ns + 10,
			   module->end_ns - 10)
			->scope = 2 + 2 * i;
		scene_activity(scene, scene_kernel(scene, "k", 64, 64), 1000 + 100 * i,
			       1050 + 100 * i);
	}
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/host:CPU");
	assert_int_equal(xplane_count_lines(&plane), 1);
	line = xplane_find_line(&plane, "main/999");
	event = xline_event(&plane, &line, 0);
	assert_string_equal(event.name, "train");
	assert_number(xevent_stat(&event, "_r"), XSTAT_INT64, 1);
	assert_number(xevent_stat(&event, "step_num"), XSTAT_INT64, 41);
	assert_text(xevent_stat(&event, "scope_kind"), XSTAT_REF, "step");
	assert_string_equal(xline_event(&plane, &line, 1).name, "XlaModule:");
	assert_string_equal(xline_event(&plane, &line, 2).name, "Thunk:");
	assert_string_equal(xline_event(&plane, &line, 3).name, "hipLaunchKernel");
	event = xplane_event(&plane, "XlaModule:", 0);
	assert_number(xevent_stat(&event, "scope_parent"), XSTAT_INT64, 1);
	assert_int_equal(tree_size(&space), 2);
	assert_int_equal(tree_parent(&space, 3), 2);
	assert_int_equal(tree_parent(&space, 5), 4);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_text(xevent_stat(&event, "tf_op"), XSTAT_REF, "XlaModule:");
	assert_int_equal(xevent_stat(&event, "step_num").kind, 0);
}

static void roctx_ranges_and_marks(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct trace_scope *scope = scene_scope(scene, "pushed", 1, TRACE_NONE);
	struct message space;
	struct xplane plane;
	struct message line;
	struct xevent event;

	scope->kind = RECORD_SCOPE_ROCTX;
	scope->open = true;
	for (unsigned i = 0; i < 2; i++) {
		scope = scene_scope(scene, i ? "range 2" : "range 1", 2 + i, TRACE_NONE);
		scope->kind = RECORD_SCOPE_RANGE;
		scope->begin_ns = 100 + 50 * i;
		scope->end_ns = 200 + 50 * i;
	}
	scope = scene_scope(scene, "mark", 4, TRACE_NONE);
	scope->kind = RECORD_SCOPE_MARK;
	scope->begin_ns = scope->end_ns = 120;
	scene_call(scene, "hipLaunchKernel", 1, 110, 160)->scope = 0;
	scene_activity(scene, scene_kernel(scene, "k", 64, 64), 300, 400);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/host:CPU");
	assert_int_equal(xplane_count_lines(&plane), 3);
	line = xplane_find_line(&plane, "main/999");
	assert_int_equal(xline_count_events(&line), 3);
	line = xplane_find_line(&plane, "main/999 ranges");
	assert_string_equal(xline_event(&plane, &line, 0).name, "range 1");
	line = xplane_find_line(&plane, "main/999 ranges lane 2");
	assert_string_equal(xline_event(&plane, &line, 0).name, "range 2");
	event = xplane_event(&plane, "mark", 0);
	assert_int_equal(event.duration_ps, 0);
	assert_text(xevent_stat(&event, "scope_kind"), XSTAT_REF, "mark");
	event = xplane_event(&plane, "pushed", 0);
	assert_text(xevent_stat(&event, "scope_kind"), XSTAT_REF, "roctx");
	assert_number(xevent_stat(&event, "scope_open"), XSTAT_INT64, 1);
	plane = xspace_plane(&space, "/device:GPU:0");
	event = xplane_event(&plane, "k", 0);
	assert_text(xevent_stat(&event, "nvtx_range"), XSTAT_REF, "pushed");
}

static void host_events_that_do_not_nest_have_tracks(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct trace_scope *scope = scene_scope(scene, "crosses", 1, TRACE_NONE);
	struct message space;
	struct xplane plane;
	struct message line;

	scope->begin_ns = 150;
	scope->end_ns = 250;
	scene_call(scene, "outer", 1, 100, 200);
	scene_call(scene, "inner", 2, 110, 140);
	scene_call(scene, "after", 3, 200, 300);
	/* Out of order, as another tool's calls may be. */
	scene_call(scene, "before", 4, 50, 90);
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/host:CPU");
	line = xplane_find_line(&plane, "main/999");
	assert_int_equal(xline_count_events(&line), 4);
	assert_string_equal(xline_event(&plane, &line, 0).name, "before");
	line = xplane_find_line(&plane, "main/999 lane 2");
	assert_int_equal(xline_count_events(&line), 1);
}

static void threads_that_had_one_number(void **state)
{
	struct scene *scene = scene_create(0, 1);
	struct message space;
	struct xplane plane;
	char name[128];

	scene_call(scene, "first", 1, 10, 20);
	scene_call(scene, "second", 2, 10, 20)->thread = scene_thread(scene, 0, 999);
	scene_call(scene, "nobody's", 3, 10, 20)->thread = TRACE_NONE;
	space = write_xspace(scene);
	plane = xspace_plane(&space, "/host:CPU");
	assert_int_equal(xplane_count_lines(&plane), 3);
	xplane_line(&plane, 1, name);
	assert_string_equal(name, "main/999");
	xplane_line(&plane, 2, name);
	assert_string_equal(name, "No thread");
}

static void several_processes(void **state)
{
	struct scene *scene = scene_create(0, 0);
	uint32_t work = scene_kernel(scene, "k", 64, 64);
	struct trace_activity *activity;
	struct trace_call *call;
	struct message space;
	struct xplane plane;
	struct xevent event;
	struct field host;

	scene_gpu(scene, 0, "GPU-0123456789abcdef");
	scene_process(scene, 200);
	scene_thread(scene, 1, 999);
	scene_gpu(scene, 1, "GPU-0123456789abcdef");
	scene_stream(scene, 1, 0);
	scene_scope(scene, "scope", 1, TRACE_NONE);
	scene_scope(scene, "scope", 1, TRACE_NONE)->process = 1;
	scene_call(scene, "hipLaunchKernel", 5, 10, 20)->scope = 0;
	scene_activity(scene, work, 100, 200);
	call = scene_call(scene, "hipLaunchKernel", 5, 30, 40);
	call->process = 1;
	call->thread = 1;
	call->scope = 1;
	activity = scene_activity(scene, work, 150, 250);
	activity->process = 1;
	activity->agent = 2;
	activity->stream = 1;
	space = write_xspace(scene);
	assert_false(xspace_has_plane(&space, "/device:GPU:1"));
	plane = xspace_plane(&space, "/device:GPU:0");
	xplane_find_line(&plane, "Stream #0(Compute) pid 100");
	xplane_find_line(&plane, "Stream #0(Compute) pid 200");
	event = xplane_event(&plane, "k", 0);
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 5);
	assert_number(xevent_stat(&event, "scope_range_id"), XSTAT_INT64, 1);
	event = xplane_event(&plane, "k", 1);
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 10);
	assert_number(xevent_stat(&event, "scope_range_id"), XSTAT_INT64, 2);
	plane = xspace_plane(&space, "/host:CPU");
	xplane_find_line(&plane, "program pid 100: main/999");
	xplane_find_line(&plane, "program pid 200: main/999");
	event = xplane_event(&plane, "hipLaunchKernel", 1);
	assert_number(xevent_stat(&event, "correlation_id"), XSTAT_UINT64, 10);
	assert_true(decode_find(&space, XSPACE_HOSTNAMES, 0, &host));
	assert_true(decode_is_text(&host.message, "node7"));
	assert_false(decode_find(&space, XSPACE_HOSTNAMES, 1, &host));
	plane = xspace_plane(&space, "/host:dagtap");
	event = xplane_event(&plane, "/usr/bin/program", 1);
	assert_number(xevent_stat(&event, "process_id"), XSTAT_UINT64, 200);
	assert_number(xevent_stat(&event, "correlation_base"), XSTAT_UINT64, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(cc_8_no_tree_if_it_is_empty),
		KEPT_CASE(cc_9_later_ids_do_not_run_into_the_tree),
		KEPT_CASE(deep_tree_with_a_shared_prefix),
		KEPT_CASE(a_cycle_ends),
		KEPT_CASE(ids_of_the_shared_pool),
		KEPT_CASE(annotations_innermost_wins),
		KEPT_CASE(annotation_of_a_node_goes_before_the_launchs),
		KEPT_CASE(names_of_any_kind),
		KEPT_CASE(steps),
		KEPT_CASE(roctx_ranges_and_marks),
		KEPT_CASE(host_events_that_do_not_nest_have_tracks),
		KEPT_CASE(threads_that_had_one_number),
		KEPT_CASE(several_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
