/* Graphs that come and go: a follower knows the node of each activity and forgets what is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "live_play.h"

enum { GRAPH_ROUNDS = 120, LITTLE = 16 << 10 };

/* Polls what the scene holds now. Returns how many activities came, and asserts that all are of a
 * node with this name, and that this is certain: what ran agrees with the node as it was then. */
static uint32_t poll_nodes(struct play *play, const char *name)
{
	struct trace *window;
	uint32_t count = 0;
	int more;

	assert_int_equal(pwrite(play->fd, play->scene->image, SCENE_BYTES, 0), SCENE_BYTES);
	do {
		more = live_poll(play->live, &window);
		assert_true(more >= 0);
		for (uint32_t i = 0; window && i < window->activities_count; i++, count++) {
			uint32_t node = window->activities[i].node;

			assert_int_not_equal(node, TRACE_NONE);
			assert_int_equal(window->activities[i].confidence, TRACE_CONFIDENCE_EXACT);
			assert_string_equal(trace_text(window, window->nodes[node].name), name);
		}
		trace_close(window);
	} while (more);
	return count;
}

/* Launches EXEC, whose graph has a kernel in one node: FUNCTION with grid 4. */
static void launch_one(struct scene *scene, uint64_t exec, uint64_t function)
{
	uint64_t cid = scene_reserve_cid(scene);

	scene_graph_launch(scene, exec, cid, cid);
	scene_run(scene, cid, 0, (uint32_t)(function - 0x100), 4);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 1,
		       (uint64_t[]){SCENE_EXEC_HANDLE(exec), 0}, 2);
}

/* Far more than LITTLE goes by; of each graph that is launched the node is known. */
static void graphs_that_were_destroyed_are_forgotten(void **state)
{
	const struct live_options options = {.takes_any_time = true, .most_graph_bytes = LITTLE};
	const uint64_t functions[] = {0x101};
	const uint32_t grids[] = {4};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &options);
	/* One that stays. */
	scene_graph(scene, 1, 1, 1, functions, grids);
	for (uint64_t id = 2; id < GRAPH_ROUNDS; id++) {
		struct record_graph_exec_gone gone = {.exec_id = id};

		scene_graph(scene, id, id, 1, functions, grids);
		launch_one(scene, id, 0x101);
		scene->ns += 1000000000;
		gone.ns = scene->ns;
		scene_put(scene, 0, RECORD_GRAPH_EXEC_GONE, 0, &gone, sizeof(gone));
		play_anchor(scene, scene->ns);
		launch_one(scene, 1, 0x101);
		assert_int_equal(poll_nodes(&play, "one"), 2);
	}
	assert_int_equal(play_counts(&play).graph_records_left_out, 0);
	play_end(&play);
}

/* A graph that is destroyed while a launch of it has not ended is kept until then. */
static void a_destroyed_graph_stays_while_it_runs(void **state)
{
	const struct live_options options = {
		.takes_any_time = true, .most_graph_bytes = LITTLE, .quiet_ns = 1000};
	const uint64_t functions[] = {0x101};
	const uint32_t grids[] = {4};
	struct record_graph_exec_gone gone = {.exec_id = 1};
	struct scene *scene = *state;
	uint64_t cid = scene_reserve_cid(scene), packet;
	struct play play;

	play_begin(&play, scene, &options);
	scene_graph(scene, 1, 1, 1, functions, grids);
	scene_graph_launch(scene, 1, 0, cid);
	packet = scene_dispatch(scene, cid, 0, 1, 4);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 1, (uint64_t[]){SCENE_EXEC_HANDLE(1), 0},
		       2);
	gone.ns = scene->ns;
	scene_put(scene, 0, RECORD_GRAPH_EXEC_GONE, 0, &gone, sizeof(gone));
	for (uint64_t id = 2; id < GRAPH_ROUNDS; id++) {
		gone.exec_id = id;
		scene_graph(scene, id, id, 1, functions, grids);
		scene->ns += 1000000;
		gone.ns = scene->ns;
		scene_put(scene, 0, RECORD_GRAPH_EXEC_GONE, 0, &gone, sizeof(gone));
		play_anchor(scene, scene->ns);
		assert_int_equal(poll_nodes(&play, "one"), 0);
	}
	scene_done(scene, packet, 1000, 1100);
	assert_int_equal(poll_nodes(&play, "one"), 1);
	assert_int_equal(play_counts(&play).graph_records_left_out, 0);
	play_end(&play);
}

/* Node NODE of executable graph 1 gets FUNCTION with grid 4. */
static void update_node(struct scene *scene, uint32_t node, uint64_t function)
{
	struct record_graph_node update = {
		.graph_id = 1,
		.handle = SCENE_NODE_HANDLE(1, node),
		.type = RECORD_NODE_KERNEL,
		.function = function,
		.grid = {4, 1, 1},
		.block = {1, 1, 1},
		.cid = scene_reserve_cid(scene),
		.ns = scene->ns,
	};

	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, node, &update, sizeof(update));
}

/* One node gets another kernel before each launch, the other one at the beginning. */
static void updates_that_later_ones_replaced_are_forgotten(void **state)
{
	const struct live_options options = {.takes_any_time = true, .most_graph_bytes = LITTLE};
	const uint64_t functions[] = {0x101, 0x101};
	const uint32_t grids[] = {9, 9};
	struct scene *scene = *state;
	struct play play;

	play_begin(&play, scene, &options);
	scene_graph(scene, 1, 1, 2, functions, grids);
	update_node(scene, 0, 0x102);
	for (uint32_t i = 0; i < 2 * GRAPH_ROUNDS; i++) {
		uint64_t cid;

		update_node(scene, 1, 0x101 + i % 2);
		cid = scene_reserve_cid(scene);
		scene_graph_launch(scene, 1, i, cid);
		scene_run(scene, cid, 0, 2, 4);
		scene_run(scene, cid, 1, 1 + i % 2, 4);
		scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, 2,
			       (uint64_t[]){SCENE_EXEC_HANDLE(1), 0}, 2);
		scene->ns += 1000000000;
		play_anchor(scene, scene->ns);
		assert_int_equal(poll_nodes(&play, "one"), 2);
	}
	assert_int_equal(play_counts(&play).graph_records_left_out, 0);
	play_end(&play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(graphs_that_were_destroyed_are_forgotten),
		SCENE_CASE(a_destroyed_graph_stays_while_it_runs),
		SCENE_CASE(updates_that_later_ones_replaced_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
