/* AUTO's choice between the table and setting node by node, with the costs that the model
 * reports: setting a node 400 ns; a launch with the table 500 ns, and 1,100 ns more with a
 * change; building a graph 2,500 ns per node. */
#include "suite.h"

enum { NODES = 10 };

struct work {
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	uint32_t *a, *b;
	void *stream;
	uint32_t nodes, launches, on_a;
};

static uint64_t used(const struct work *work, enum dagpatch_strategy strategy)
{
	return stats_of(work->recording).uses[strategy];
}

static void add_marks(struct work *work, uint32_t slot, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct dagpatch_pointer at = {.slot = slot, .offset = i * sizeof(uint32_t)};
		const uint32_t one = 1;
		struct dagpatch_argument arguments[] = {dagpatch_address(&at),
							dagpatch_value(&one, sizeof(one))};

		OK(work->recording,
		   dagpatch_add_kernel(work->recording,
				       &DAGPATCH_SIZED(kernel,
						       .function = suite_bed->function(BED_MARK),
						       .grid = {1, 1, 1}, .block = {1, 1, 1},
						       .argument_count = 2, .arguments = arguments),
				       NULL, NULL));
	}
}

static void start(struct work *work, uint32_t nodes, uint32_t table_from_nodes)
{
	const struct dagpatch_options options = {.size = sizeof(options),
						 .driver = suite_bed->driver,
						 .table_from_nodes = table_from_nodes};

	*work = (struct work){.nodes = nodes, .a = buffer(0), .b = buffer(0)};
	OK(NULL, dagpatch_context_create(&options, &work->context, NULL));
	OK(NULL, dagpatch_recording_create(work->context, 0, &work->recording));
	add_marks(work, slot(work->recording, "words"), nodes);
	OK(work->recording, dagpatch_finalize(work->recording));
	work->stream = suite_bed->stream_create();
}

static void launch(struct work *work)
{
	OK(work->recording, dagpatch_launch(work->recording, work->stream));
	work->launches++;
}

/* The first launch builds the graph; each later launch changes all nodes. */
static void launch_changed(struct work *work, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		bool is_on_a = work->launches % 2 == 0;

		bind(work->recording, 0, is_on_a ? work->a : work->b);
		work->on_a += is_on_a;
		launch(work);
	}
}

/* Checks that each node ran at its bound address, whatever strategy was chosen. */
static void end(struct work *work)
{
	suite_bed->stream_synchronize(work->stream);
	expect_words(work->a, work->nodes, work->on_a, __FILE__, __LINE__);
	expect_words(work->b, work->nodes, work->launches - work->on_a, __FILE__, __LINE__);
	dagpatch_recording_destroy(work->recording);
	dagpatch_context_destroy(work->context);
	suite_bed->stream_destroy(work->stream);
	buffer_free(work->a);
	buffer_free(work->b);
}

/* Setting ten nodes one by one costs 2,400 ns more than the table. After the 11th time the loss
 * exceeds the 25,000 ns of building a new graph. */
static void changes_of_many_nodes_bring_the_table(void **state)
{
	struct work work;

	start(&work, NODES, 0);
	launch_changed(&work, 1 + 11);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 1);
	assert_int_equal(used(&work, DAGPATCH_SET_PARAMS), 11);
	launch_changed(&work, 1);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 2);
	launch_changed(&work, 7);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 2);
	assert_int_equal(used(&work, DAGPATCH_DEVICE_TABLE), 7);
	assert_int_equal(used(&work, DAGPATCH_SET_PARAMS), 11);
	end(&work);
}

/* A launch without changes costs 500 ns more with the table. */
static void launches_without_changes_give_it_up(void **state)
{
	struct work work;

	start(&work, NODES, 0);
	launch_changed(&work, 1 + 11 + 1);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 2);
	for (int i = 0; i < 51; i++) {
		work.on_a++;
		launch(&work);
	}
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 2);
	work.on_a++;
	launch(&work);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 3);
	launch_changed(&work, 2);
	assert_int_equal(used(&work, DAGPATCH_DEVICE_TABLE), 0);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 3);
	end(&work);
}

/* Setting four nodes costs 1,600 ns, as much as a change in the table. */
static void changes_of_few_nodes_never_do(void **state)
{
	struct work work;

	start(&work, 4, 0);
	launch_changed(&work, 1000);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 1);
	assert_int_equal(used(&work, DAGPATCH_SET_PARAMS), 999);
	end(&work);
}

/* A graph of 64 nodes has the table from the start. */
static void a_large_graph_has_it_from_the_start(void **state)
{
	struct work work;

	start(&work, 64, 0);
	launch_changed(&work, 2);
	assert_int_equal(used(&work, DAGPATCH_DEVICE_TABLE), 1);
	end(&work);
	start(&work, 63, 0);
	launch_changed(&work, 2);
	assert_int_equal(used(&work, DAGPATCH_DEVICE_TABLE), 0);
	end(&work);
}

/* The context's table_from_nodes overrides the choice in both directions. */
static void who_says_from_where_decides(void **state)
{
	struct work work;

	start(&work, NODES, NODES);
	launch_changed(&work, 2);
	for (int i = 0; i < 200; i++)
		launch(&work);
	launch_changed(&work, 2);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 1);
	assert_int_equal(used(&work, DAGPATCH_DEVICE_TABLE), 3);
	end(&work);
	start(&work, 64, UINT32_MAX);
	launch_changed(&work, 200);
	assert_int_equal(used(&work, DAGPATCH_INSTANTIATE), 1);
	assert_int_equal(used(&work, DAGPATCH_DEVICE_TABLE), 0);
	end(&work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_of_many_nodes_bring_the_table),
		cmocka_unit_test(launches_without_changes_give_it_up),
		cmocka_unit_test(changes_of_few_nodes_never_do),
		cmocka_unit_test(a_large_graph_has_it_from_the_start),
		cmocka_unit_test(who_says_from_where_decides),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
