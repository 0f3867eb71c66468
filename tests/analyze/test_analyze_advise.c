/*
 * Which nodes change between replays, found in HIP's records and dagpatch's marks. CUDA's are in
 * tests/capture_cuda.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/advise.h"
#include "scene.h"
#include "trace/load.h"

enum { EXEC_HANDLE = 0xe0, NODE_HANDLE = 0xa0, CALL_NS = 100 };

/*
 * Records graph GRAPH of three kernels and its executable graph EXEC; the handles are the same for
 * every graph.
 */
static void put_graph(struct scene *scene, uint64_t graph, uint64_t exec)
{
	struct record_graph record = {.graph_id = graph, .node_count = 3};
	struct record_graph_exec exec_record = {.exec_id = exec,
						.graph_id = graph,
						.handle = EXEC_HANDLE,
						.cid = scene_reserve_cid(scene)};

	scene_put(scene, 0, RECORD_GRAPH, 0, &record, sizeof(record));
	for (uint32_t i = 0; i < 3; i++) {
		struct record_graph_node node = {
			.graph_id = graph,
			.handle = NODE_HANDLE + i,
			.type = RECORD_NODE_KERNEL,
			.function = 0x101,
			.grid = {4, 1, 1},
			.block = {1, 1, 1},
		};

		scene_put(scene, 0, RECORD_GRAPH_NODE, i, &node, sizeof(node));
	}
	scene_put(scene, 0, RECORD_GRAPH_EXEC, 0, &exec_record, sizeof(exec_record));
}

static uint64_t set_node(struct scene *scene, uint64_t exec_handle, uint64_t node_handle)
{
	return scene_call(scene, SCENE_GRAPH_SET_PARAMS, 0,
			  (uint64_t[]){exec_handle, node_handle, 0}, 3);
}

static void launch(struct scene *scene, uint64_t exec, uint64_t replay)
{
	uint64_t cid = scene_reserve_cid(scene);

	scene_graph_launch(scene, exec, replay, cid);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 3, (uint64_t[]){EXEC_HANDLE, 0}, 2);
	for (uint32_t i = 0; i < 3; i++)
		scene_run(scene, cid, i, 1, 4);
}

static struct trace *load(struct scene *scene, struct advice *ret_advice)
{
	struct trace *trace;

	scene_close(scene);
	trace = scene_load(scene);
	scene_release(scene);
	assert_int_equal(advise(trace, ret_advice), 0);
	return trace;
}

static void release(struct trace *trace, struct advice *advice)
{
	advice_release(advice);
	trace_close(trace);
}

/* Other addresses in the same kernel: only the call records the change. */
static void nodes_are_told_by_calls_alone(void **state)
{
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_graph(&scene, 7, 31);
	for (uint64_t replay = 0; replay < 3; replay++) {
		set_node(&scene, EXEC_HANDLE, NODE_HANDLE + 1);
		launch(&scene, 31, replay);
	}
	trace = load(&scene, &advice);
	assert_int_equal(advice.graph_count, 1);
	assert_int_equal(advice.graphs[0].graph, 0);
	assert_int_equal(advice.graphs[0].node_count, 3);
	assert_int_equal(advice.graphs[0].changed, 1);
	assert_int_equal(advice.nodes[advice.graphs[0].first_change], 1);
	assert_int_equal(trace->nodes[1].update_count, 3);
	assert_int_equal(trace->execs[0].update_count, 3);
	assert_int_equal(advice.graphs[0].replays, 3);
	assert_int_equal(advice.graphs[0].calls, 3);
	assert_int_equal(advice.graphs[0].host_ns, 3 * CALL_NS);
	assert_int_equal(advice.graphs[0].unplaced, 0);
	assert_true(advice.graphs[0].others_are_fixed);
	assert_int_equal(advice.unplaced_calls, 0);
	release(trace, &advice);
}

static void record_and_call_of_one_update_count_once(void **state)
{
	struct record_graph_node update = {.graph_id = 31, .type = RECORD_NODE_KERNEL};
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_graph(&scene, 7, 31);
	update.cid = set_node(&scene, EXEC_HANDLE, NODE_HANDLE + 2);
	scene_put(&scene, 0, RECORD_GRAPH_EXEC_UPDATE, 2, &update, sizeof(update));
	trace = load(&scene, &advice);
	assert_int_equal(trace->execs[0].update_count, 1);
	assert_int_equal(trace->nodes[2].update_count, 1);
	assert_int_equal(advice.graphs[0].host_ns, CALL_NS);
	release(trace, &advice);
}

/* A second executable graph has the first one's handle, and nodes with the same handles. */
static void a_handle_is_the_last_one_made_before_the_call(void **state)
{
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_graph(&scene, 7, 31);
	set_node(&scene, EXEC_HANDLE, NODE_HANDLE);
	put_graph(&scene, 8, 32);
	set_node(&scene, EXEC_HANDLE, NODE_HANDLE + 1);
	set_node(&scene, EXEC_HANDLE, NODE_HANDLE + 2);
	trace = load(&scene, &advice);
	assert_int_equal(advice.graph_count, 2);
	assert_int_equal(advice.graphs[0].changed, 1);
	assert_int_equal(advice.graphs[1].changed, 2);
	assert_int_equal(advice.nodes[advice.graphs[1].first_change], 4);
	release(trace, &advice);
}

static void what_is_not_told_is_unknown(void **state)
{
	struct record_graph_node lost = {.graph_id = 31, .child_graph_id = 99};
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_graph(&scene, 7, 31);
	scene_call(&scene, SCENE_GRAPH_UPDATE, 0, (uint64_t[]){EXEC_HANDLE, 0x9, 0, 0}, 4);
	set_node(&scene, EXEC_HANDLE, 0x999);
	lost.cid = set_node(&scene, EXEC_HANDLE, 0x998);
	scene_put(&scene, 0, RECORD_GRAPH_EXEC_UPDATE, 0, &lost, sizeof(lost));
	set_node(&scene, 0x777, NODE_HANDLE);
	trace = load(&scene, &advice);
	assert_int_equal(advice.graph_count, 1);
	assert_int_equal(advice.graphs[0].whole_updates, 1);
	assert_int_equal(advice.graphs[0].unplaced, 2);
	assert_int_equal(advice.graphs[0].changed, 0);
	assert_int_equal(advice.graphs[0].calls, 3);
	assert_false(advice.graphs[0].others_are_fixed);
	assert_int_equal(advice.unplaced_calls, 1);
	assert_int_equal(advice.unplaced_ns, CALL_NS);
	release(trace, &advice);
}

static void nothing_is_fixed_where_records_are_missing(void **state)
{
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_graph(&scene, 7, 31);
	set_node(&scene, EXEC_HANDLE, NODE_HANDLE);
	scene_drop(&scene, RECORD_CLASS_API, RECORD_DROP_FULL);
	trace = load(&scene, &advice);
	assert_int_equal(advice.graphs[0].changed, 1);
	assert_true(advice.graphs[0].has_losses);
	assert_false(advice.graphs[0].others_are_fixed);
	release(trace, &advice);
}

static void graphs_without_updates_are_left_out(void **state)
{
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_graph(&scene, 7, 31);
	launch(&scene, 31, 0);
	trace = load(&scene, &advice);
	assert_int_equal(advice.graph_count, 0);
	assert_int_equal(advice.patch_count, 0);
	release(trace, &advice);
}

/* A scope with attributes in its text, which gives the same result. */
static void put_scope(struct scene *scene, const char *name, const char *attributes)
{
	static uint64_t last_id = 1ull << 48;
	char record[sizeof(struct record_scope) + 256] = {0};
	struct record_scope scope = {.id = ++last_id, .ns = scene->ns};
	struct record_scope_end end = {.id = last_id, .ns = scene->ns};
	char *text = record + sizeof(scope);

	scope.text_bytes = (uint32_t)snprintf(text, 256, "%s#%s#", name, attributes);
	memcpy(record, &scope, sizeof(scope));
	scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, record,
		  sizeof(scope) + (scope.text_bytes + 7) / 8 * 8);
	scene_put(scene, 0, RECORD_SCOPE_END, 0, &end, sizeof(end));
}

static void mark(struct scene *scene, const char *attributes)
{
	char text[256];

	snprintf(text, sizeof(text), "recording=5,%s", attributes);
	put_scope(scene, "dagpatch", text);
}

/* Of two executables; each mark has all that was counted before it. */
static void last_mark_of_sets_is_valid(void **state)
{
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	put_scope(&scene, "dagpatch sets", "executable=3,launches=1,sets=1,calls=4,ns=40");
	put_scope(&scene, "dagpatch sets",
		  "executable=4,launches=2,changed=1,sets=2,calls=8,ns=80");
	put_scope(&scene, "dagpatch sets",
		  "executable=3,launches=4,changed=3,came_back=2,sets=2,calls=16,ns=160,"
		  "calls_back=9,ns_back=90");
	put_scope(&scene, "dagpatch sets", "executable=3,launches=2,changed=1,sets=2,calls=8");
	trace = load(&scene, &advice);
	assert_int_equal(advice.set_count, 2);
	assert_int_equal(advice.patch_count, 0);
	assert_int_equal(advice.sets[0].executable, 3);
	assert_int_equal(advice.sets[0].launches, 4);
	assert_int_equal(advice.sets[0].changed, 3);
	assert_int_equal(advice.sets[0].came_back, 2);
	assert_int_equal(advice.sets[0].sets, 2);
	assert_int_equal(advice.sets[0].calls, 16);
	assert_int_equal(advice.sets[0].ns, 160);
	assert_int_equal(advice.sets[0].calls_back, 9);
	assert_int_equal(advice.sets[0].ns_back, 90);
	assert_int_equal(advice.sets[1].executable, 4);
	assert_int_equal(advice.sets[1].calls_back, 0);
	release(trace, &advice);
}

static void marks_of_a_step_take_its_time_once(void **state)
{
	struct advice advice;
	struct scene scene;
	struct trace *trace;

	scene_init(&scene, 1);
	for (int step = 0; step < 2; step++) {
		mark(&scene, "slot=1,node=4,byte=8,strategy=set_params,ns=700");
		mark(&scene, "slot=1,node=5,byte=0,strategy=set_params,ns=700");
		mark(&scene, "slot=2,strategy=device_table,ns=700");
	}
	mark(&scene, "slot=1,node=4,byte=8,strategy=set_params,ns=50");
	trace = load(&scene, &advice);
	assert_int_equal(advice.patch_count, 1);
	assert_int_equal(advice.patches[0].recording, 5);
	assert_int_equal(advice.patches[0].marks, 7);
	assert_int_equal(advice.patches[0].steps, 3);
	assert_int_equal(advice.patches[0].ns, 1450);
	assert_int_equal(advice.patches[0].slots, 2);
	assert_int_equal(advice.patches[0].nodes, 2);
	assert_true(advice.patches[0].has_table);
	assert_string_equal(trace_text(trace, advice.patches[0].strategies[1].name),
			    "device_table");
	assert_int_equal(advice.patches[0].strategies[1].marks, 2);
	release(trace, &advice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_told_by_calls_alone),
		cmocka_unit_test(record_and_call_of_one_update_count_once),
		cmocka_unit_test(a_handle_is_the_last_one_made_before_the_call),
		cmocka_unit_test(what_is_not_told_is_unknown),
		cmocka_unit_test(nothing_is_fixed_where_records_are_missing),
		cmocka_unit_test(graphs_without_updates_are_left_out),
		cmocka_unit_test(last_mark_of_sets_is_valid),
		cmocka_unit_test(marks_of_a_step_take_its_time_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
