/* Which steps of CUDA's graphs are forgotten, and that graphs which stay keep their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/table.h"
#include "live/graph_history.h"
#include "row_lines.h"
#include "trace/load.h"

enum { GRAPHS_MOST = 12, MOST_BYTES = 1 << 20 };

/* Two histories get the same steps; one of them forgets. */
struct play {
	struct graph_history whole, forgetful;
	struct graph_pendings pendings;
	uint64_t ns;
	uint32_t cid;
};

static void put(struct play *play, enum record_cuda_graph_step tag, struct record_cuda_graph step)
{
	step.header = (struct record_header){RECORD_CUDA_GRAPH, sizeof(step) / 8, (uint32_t)tag};
	step.ns = play->ns++;
	assert_int_equal(graph_history_add(&play->whole, &step.header, 1), 0);
	assert_int_equal(graph_history_add(&play->forgetful, &step.header, 1), 0);
}

/* Graph I has nodes 100 I and 100 I + 1. */
static void make_graph(struct play *play, uint32_t i)
{
	put(play, RECORD_CUDA_GRAPH_CREATED, (struct record_cuda_graph){.graph = i});
	for (uint64_t node = 100 * (uint64_t)i; node < 100 * (uint64_t)i + 2; node++)
		put(play, RECORD_CUDA_NODE_CREATED,
		    (struct record_cuda_graph){.graph = i, .node = node});
	put(play, RECORD_CUDA_EDGE_CREATED,
	    (struct record_cuda_graph){
		    .graph = i, .other_node = 100 * (uint64_t)i, .node = 100 * (uint64_t)i + 1});
}

/* One call makes EXEC of graph I, by way of a clone whose nodes are 10 EXEC and 10 EXEC + 1. */
static void make_exec(struct play *play, uint32_t exec, uint32_t i)
{
	uint32_t cid = ++play->cid, clone = 1000 + exec;

	put(play, RECORD_CUDA_GRAPH_CLONED,
	    (struct record_cuda_graph){.cid = cid, .graph = clone, .other_graph = i});
	for (uint64_t node = 0; node < 2; node++)
		put(play, RECORD_CUDA_NODE_CLONED,
		    (struct record_cuda_graph){.cid = cid,
					       .graph = clone,
					       .node = 10 * (uint64_t)exec + node,
					       .other_graph = i,
					       .other_node = 100 * (uint64_t)i + node});
	put(play, RECORD_CUDA_EXEC_CREATED,
	    (struct record_cuda_graph){.cid = cid, .graph = i, .exec = exec});
}

static void end_exec(struct play *play, uint32_t exec)
{
	put(play, RECORD_CUDA_EXEC_GONE, (struct record_cuda_graph){.exec = exec});
}

static void end_graph(struct play *play, uint32_t i)
{
	put(play, RECORD_CUDA_GRAPH_GONE, (struct record_cuda_graph){.graph = i});
}

struct runs {
	struct record_run *rows;
	uint32_t rows_count;
};

static int add_run(void *runs_to_fill, const struct record_header *record, uint32_t tid)
{
	struct runs *runs = runs_to_fill;
	struct record_run *run = table_add((void **)&runs->rows, &runs->rows_count, sizeof(*run));

	assert_non_null(run);
	*run = (struct record_run){record, record->words * 8u, tid};
	return 0;
}

/* Loads HISTORY with a kernel of each node of EXECS, which are ended by 0. */
static struct trace *load(const struct graph_history *history, const uint32_t *execs)
{
	static const struct spool_info info = {
		.pid = 1, .host = "host", .exe = "exe", .cmdline = ""};
	struct record_cuda_kernel kernels[2 * GRAPHS_MOST];
	struct runs runs = {0};
	struct trace *trace;
	uint32_t count = 0;

	assert_int_equal(graph_history_selected(history, add_run, &runs), 0);
	for (; *execs; execs++) {
		for (uint64_t node = 0; node < 2; node++) {
			struct record_cuda_kernel *kernel = &kernels[count++];

			*kernel = (struct record_cuda_kernel){
				.header = {RECORD_CUDA_KERNEL, sizeof(*kernel) / 8, 0},
				.node = 10 * (uint64_t)*execs + node,
				.graph = *execs,
			};
			add_run(&runs, &kernel->header, 1);
		}
	}
	assert_int_equal(trace_open_records(&(struct record_set){&info, runs.rows, runs.rows_count},
					    NULL, &trace),
			 0);
	free(runs.rows);
	return trace;
}

/* Asserts that both histories give the kernels of EXECS the same nodes of the same graphs. */
static void assert_same_nodes(struct play *play, const uint32_t *execs)
{
	struct rows whole = {.has_nodes = true, .is_cuda = true}, forgetful = whole;
	struct trace *one = load(&play->whole, execs), *other = load(&play->forgetful, execs);

	for (uint32_t i = 0; i < one->activities_count; i++)
		assert_int_not_equal(one->activities[i].node, TRACE_NONE);
	rows_add(&whole, one);
	rows_add(&forgetful, other);
	rows_assert_same(&whole, &forgetful);
	rows_release(&whole);
	rows_release(&forgetful);
	trace_close(one);
	trace_close(other);
}

/* One history forgets what ended before now. Returns how many of its records went. */
static uint32_t forget(struct play *play, const uint32_t *execs)
{
	struct trace *window = load(&play->forgetful, execs);
	uint32_t before = play->forgetful.rows_count;

	assert_int_equal(
		graph_history_evict_cuda(&play->forgetful, &play->pendings, play->ns, window), 0);
	trace_close(window);
	return before > play->forgetful.rows_count ? before - play->forgetful.rows_count : 0;
}

static void let_activities_come(struct play *play)
{
	play->forgetful.activities += GRAPH_HISTORY_HELD;
}

static int begin(void **state)
{
	struct play *play = calloc(1, sizeof(*play));

	play->whole.most_bytes = play->forgetful.most_bytes = MOST_BYTES;
	play->ns = 1000;
	*state = play;
	return 0;
}

static int end(void **state)
{
	struct play *play = *state;

	graph_history_release(&play->whole);
	graph_history_release(&play->forgetful);
	numbers_release(&play->pendings.execs);
	free(play->pendings.rows);
	free(play);
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void what_was_destroyed_is_forgotten_and_the_rest_keeps_its_numbers(void **state)
{
	const uint32_t at_first[] = {1, 2, 3, 4, 5, 0}, later[] = {2, 4, 6, 7, 0};
	struct play *play = *state;

	for (uint32_t i = 1; i <= 5; i++) {
		make_graph(play, i);
		make_exec(play, i, i);
	}
	for (uint32_t i = 1; i <= 5; i += 2) {
		end_exec(play, i);
		end_graph(play, i);
	}
	let_activities_come(play);
	/* Of three graphs ten records each; markers for the two that stay, and one at the end. */
	assert_int_equal(forget(play, at_first), 3 * 10 - 3);
	make_graph(play, 6);
	make_exec(play, 6, 6);
	make_exec(play, 7, 2);
	assert_same_nodes(play, later);
	/* Again, with markers that are there already. */
	end_exec(play, 4);
	end_graph(play, 4);
	let_activities_come(play);
	assert_true(forget(play, later) > 0);
	make_graph(play, 8);
	make_exec(play, 8, 8);
	assert_same_nodes(play, (const uint32_t[]){2, 6, 7, 8, 0});
}

static void what_may_be_named_again_stays(void **state)
{
	const uint32_t execs[] = {1, 2, 3, 0};
	struct play *play = *state;
	struct graph_pending *added;
	void *row;

	for (uint32_t i = 1; i <= 3; i++) {
		make_graph(play, i);
		make_exec(play, i, i);
		end_exec(play, i);
	}
	end_graph(play, 1);
	end_graph(play, 2);
	/* Graph 3 lives, and a record that waits names executable graph 2. Too few activities have
	 * come since for 1 to go. */
	assert_int_equal(numbers_row(&play->pendings.execs, 1, 2, (void **)&play->pendings.rows,
				     &play->pendings.rows_count, sizeof(*added), &row),
			 0);
	added = row;
	added->exec = 2;
	play->forgetful.activities += GRAPH_HISTORY_HELD - 1;
	assert_int_equal(forget(play, execs), 0);
	assert_same_nodes(play, execs);
	play->forgetful.activities++;
	/* With the marker before it. */
	assert_int_equal(forget(play, execs), 10 + 1);
	assert_same_nodes(play, (const uint32_t[]){2, 3, 0});
}

/* What is forgotten leaves no id behind. Of executable graph 2 no record was kept for lack of room,
 * and launches may name it still. */
static void executable_graphs_are_forgotten_too(void **state)
{
	struct play *play = *state;

	make_graph(play, 1);
	make_exec(play, 1, 1);
	end_exec(play, 1);
	end_graph(play, 1);
	play->forgetful.most_bytes = play->forgetful.bytes;
	make_graph(play, 2);
	make_exec(play, 2, 2);
	assert_true(play->forgetful.left_out > 0);
	let_activities_come(play);
	forget(play, (const uint32_t[]){1, 0});
	assert_false(graph_history_has_exec(&play->forgetful, true, 1));
	assert_true(graph_history_has_exec(&play->forgetful, true, 2));
	assert_int_equal(play->forgetful.execs.count, 1);
}

static void graphs_of_an_id_that_is_used_again_have_two_numbers(void **state)
{
	struct play *play = *state;

	make_graph(play, 1);
	make_exec(play, 1, 1);
	end_exec(play, 1);
	make_graph(play, 2);
	make_exec(play, 1, 2);
	forget(play, (const uint32_t[]){1, 0});
	make_graph(play, 3);
	make_exec(play, 3, 3);
	assert_same_nodes(play, (const uint32_t[]){3, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_was_destroyed_is_forgotten_and_the_rest_keeps_its_numbers),
		CASE(what_may_be_named_again_stays),
		CASE(executable_graphs_are_forgotten_too),
		CASE(graphs_of_an_id_that_is_used_again_have_two_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
