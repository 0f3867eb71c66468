/* Behaviour that only the model device can show: the size of dagpatch's data, the choice of
 * strategy, drivers with fewer features, and threads that must not disturb each other. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

static struct dagpatch_context *context_with(const struct dagpatch_options *given)
{
	struct dagpatch_options options = *given;
	struct dagpatch_context *context;

	options.size = sizeof(options);
	options.driver = "model";
	OK(NULL, dagpatch_context_create(&options, &context, NULL));
	return context;
}

/* Records COUNT kernels in a chain, out = in + in, alternating between two slots. */
static struct dagpatch_recording *chain(struct dagpatch_context *context, uint32_t count)
{
	struct dagpatch_recording *recording;
	uint32_t slots[2], node = 0;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "even");
	slots[1] = slot(recording, "odd");
	for (uint32_t i = 0; i < count; i++)
		node = add_three(recording, BED_ADD,
				 (uint32_t[]){slots[i % 2], slots[1 - i % 2], slots[1 - i % 2]},
				 i ? AFTER(node) : NULL);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

static struct dagpatch_stats stats_of(const struct dagpatch_recording *recording)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	OK(recording, dagpatch_recording_stats(recording, &stats));
	return stats;
}

static void bookkeeping_is_small(void **state)
{
	enum { NODES = 10000 };
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){0});
	struct dagpatch_recording *recording = chain(context, NODES);
	void *stream = suite_bed->stream_create();
	uint32_t *a = buffer(0), *b = buffer(0);
	struct dagpatch_stats stats;

	bind(recording, 0, a);
	bind(recording, 1, b);
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	stats = stats_of(recording);
	assert_int_equal(stats.node_count, NODES);
	assert_int_equal(stats.relocation_count, 3 * NODES);
	assert_true(stats.node_bytes <= 64 * NODES);
	assert_int_equal(stats.relocation_bytes, 16 * 3 * NODES);
	/* The driver gets 40 bytes and the 28 bytes of the arguments per node. */
	assert_true(stats.parameter_bytes <= 72 * NODES);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	suite_bed->stream_destroy(stream);
	suite_bed->free(a);
	suite_bed->free(b);
}

static void swap_and_launch(struct dagpatch_recording *recording, void *stream,
			    uint32_t *const buffers[2], uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++) {
		bind(recording, 0, buffers[i % 2]);
		bind(recording, 1, buffers[1 - i % 2]);
		OK(recording, dagpatch_launch(recording, stream));
		suite_bed->stream_synchronize(stream);
	}
}

struct run {
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream;
	uint32_t *buffers[2];
};

static struct run run_chain(const struct dagpatch_options *options, uint32_t nodes, uint32_t rounds)
{
	struct run run = {.context = context_with(options),
			  .stream = suite_bed->stream_create(),
			  .buffers = {buffer(0), buffer(0)}};

	run.recording = chain(run.context, nodes);
	swap_and_launch(run.recording, run.stream, run.buffers, rounds);
	return run;
}

static void end_run(struct run *run)
{
	dagpatch_recording_destroy(run->recording);
	dagpatch_context_destroy(run->context);
	suite_bed->stream_destroy(run->stream);
	suite_bed->free(run->buffers[0]);
	suite_bed->free(run->buffers[1]);
}

/* Newer releases of HIP need this: after updates of four times the ten nodes, a new graph. */
static void worn_out_graphs_are_instantiated_anew(void **state)
{
	const struct dagpatch_options options = {.strategy = DAGPATCH_SET_PARAMS,
						 .updates_before_instantiate = 4};
	struct run run = run_chain(&options, 10, 16);
	struct dagpatch_stats stats = stats_of(run.recording);

	assert_int_equal(stats.uses[DAGPATCH_SET_PARAMS], 12);
	assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE], 4);
	assert_int_equal(stats.nodes[DAGPATCH_SET_PARAMS], 120);
	end_run(&run);
}

static void note_strategy(void *user, const struct dagpatch_change *change)
{
	enum dagpatch_strategy *told = user;

	told[change->slot] = change->strategy;
}

/* A new graph has a new table that holds the addresses already, so nothing is bound in it. */
static void worn_out_tables_are_instantiated_anew(void **state)
{
	enum dagpatch_strategy told[2] = {DAGPATCH_AUTO, DAGPATCH_AUTO};
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){
		.strategy = DAGPATCH_DEVICE_TABLE,
		.updates_before_instantiate = 1,
		.observe = note_strategy,
		.observe_user = told,
	});
	uint32_t *buffers[2] = {buffer(0), buffer(0)}, slots[2];
	struct dagpatch_recording *recording;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "table");
	slots[1] = slot(recording, "host");
	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[0], slots[0]}, NULL);
	OK(recording, dagpatch_add_memset(recording,
					  &DAGPATCH_SIZED(memset, .slot = slots[1],
							  .element_bytes = 4, .width = 1),
					  NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	/* Two nodes: the second update of them is the last one before a new graph. */
	for (uint32_t i = 0; i < 4; i++) {
		bind(recording, slots[0], buffers[i % 2]);
		bind(recording, slots[1], buffers[1 - i % 2]);
		OK(recording, dagpatch_apply(recording));
		if (i > 0) {
			assert_int_equal(told[0],
					 i < 3 ? DAGPATCH_DEVICE_TABLE : DAGPATCH_INSTANTIATE);
			assert_int_equal(told[1],
					 i < 3 ? DAGPATCH_SET_PARAMS : DAGPATCH_INSTANTIATE);
		}
	}
	assert_int_equal(stats_of(recording).uses[DAGPATCH_DEVICE_TABLE], 2);
	assert_int_equal(stats_of(recording).uses[DAGPATCH_SET_PARAMS], 2);
	assert_int_equal(stats_of(recording).uses[DAGPATCH_INSTANTIATE], 2);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->free(buffers[i]);
}

/* Most nodes change, so the whole-graph update is tried once; after that the cheaper strategy is
 * used. */
static void costs_are_measured(void **state)
{
	struct dagpatch_stats stats;
	struct run run;

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE);
	run = run_chain(&(struct dagpatch_options){0}, 200, 20);
	stats = stats_of(run.recording);
	assert_true(stats.uses[DAGPATCH_UPDATE_GRAPH] >= 1);
	assert_true(stats.uses[DAGPATCH_SET_PARAMS] >= 1);
	assert_int_equal(stats.uses[DAGPATCH_UPDATE_GRAPH] + stats.uses[DAGPATCH_SET_PARAMS], 19);
	end_run(&run);
	/* With few nodes it is not worth trying. */
	run = run_chain(&(struct dagpatch_options){0}, 20, 20);
	assert_int_equal(stats_of(run.recording).uses[DAGPATCH_UPDATE_GRAPH], 0);
	end_run(&run);
	dagpatch_model_without(0);
}

/* Nodes that were set one by one keep their parameters when the rest is updated as a whole. */
static void updates_keep_what_was_set_before(void **state)
{
	enum { FEW = 10, MANY = 100 };
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	uint32_t *buffers[4] = {buffer(0), buffer(0), buffer(0), buffer(0)}, slots[2];

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE);
	context = context_with(&(struct dagpatch_options){.verify = 1});
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "few");
	slots[1] = slot(recording, "many");
	for (uint32_t i = 0; i < FEW + MANY; i++) {
		uint32_t to = slots[i >= FEW];

		add_three(recording, BED_ADD, (uint32_t[]){to, to, to}, NULL);
	}
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 2; i++)
		bind(recording, slots[i], buffers[2 * i]);
	OK(recording, dagpatch_apply(recording));
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, slots[i], buffers[2 * i + 1]);
		OK(recording, dagpatch_apply(recording));
	}
	assert_int_equal(stats_of(recording).uses[DAGPATCH_SET_PARAMS], 1);
	assert_int_equal(stats_of(recording).uses[DAGPATCH_UPDATE_GRAPH], 1);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
	for (uint32_t i = 0; i < 4; i++)
		suite_bed->free(buffers[i]);
}

static void what_a_driver_cannot_is_done_otherwise(void **state)
{
	static const struct {
		uint32_t without;
		enum dagpatch_strategy wanted, used;
	} cases[] = {
		{DAGPATCH_MODEL_NO_UPDATE, DAGPATCH_UPDATE_GRAPH, DAGPATCH_INSTANTIATE},
		{DAGPATCH_MODEL_NO_TABLE, DAGPATCH_DEVICE_TABLE, DAGPATCH_SET_PARAMS},
	};

	for (uint32_t i = 0; i < 2; i++) {
		struct dagpatch_stats stats;
		struct run run;

		dagpatch_model_without(cases[i].without);
		run = run_chain(&(struct dagpatch_options){.strategy = cases[i].wanted}, 4, 2);
		stats = stats_of(run.recording);
		assert_int_equal(stats.uses[cases[i].wanted], 0);
		assert_int_equal(stats.uses[cases[i].used],
				 cases[i].used == DAGPATCH_INSTANTIATE ? 2 : 1);
		assert_int_equal(stats.failures, 0);
		end_run(&run);
		dagpatch_model_without(0);
	}
}

static int capture_memset(void *user, void *stream, void *const *addresses)
{
	return suite_bed->memset(stream, addresses[0], 7, 4, WORDS) ? -EIO : 0;
}

/* Nodes in children cannot be set one by one here. A whole-graph update would restore the first
 * addresses of the table's nodes. */
static void updates_leave_the_table_alone(void **state)
{
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();
	uint32_t *a = buffer(1), *b = buffer(5), *c = buffer(2), *d = buffer(2), slots[2];

	dagpatch_model_without(DAGPATCH_MODEL_NO_NESTED_SETS);
	context = context_with(&(struct dagpatch_options){.strategy = DAGPATCH_DEVICE_TABLE});
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "table");
	slots[1] = slot(recording, "child");
	add_three(recording, BED_ADD, (uint32_t[]){slots[0], slots[0], slots[0]}, NULL);
	OK(recording, dagpatch_add_captured(recording,
					    &DAGPATCH_SIZED(capture, .record = capture_memset,
							    .slots = &slots[1], .slot_count = 1),
					    NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, c}, 2));
	OK(recording, dagpatch_apply(recording));
	bind(recording, slots[0], b);
	OK(recording, dagpatch_launch(recording, stream));
	bind(recording, slots[1], d);
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	expect_all(a, 1);
	expect_all(b, 20);
	expect_all(d, 7);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
	suite_bed->stream_destroy(stream);
	for (uint32_t i = 0; i < 4; i++)
		suite_bed->free((uint32_t *[]){a, b, c, d}[i]);
}

/* The graph contains the shadow's address, which does not change. */
static void a_moved_shadow_changes_nothing_in_the_graph(void **state)
{
	static const enum dagpatch_strategy strategies[] = {
		DAGPATCH_SET_PARAMS, DAGPATCH_DEVICE_TABLE, DAGPATCH_UPDATE_GRAPH,
		DAGPATCH_INSTANTIATE};
	uint32_t *a = buffer(0), *inputs[2] = {buffer(3), buffer(4)};
	void *stream = suite_bed->stream_create();

	for (uint32_t i = 0; i < 4; i++) {
		struct dagpatch_context *context =
			context_with(&(struct dagpatch_options){.strategy = strategies[i]});
		struct dagpatch_recording *recording;
		uint32_t to, in;

		OK(NULL, dagpatch_recording_create(context, 0, &recording));
		to = slot(recording, "to");
		OK(recording,
		   dagpatch_slot_add(recording,
				     &DAGPATCH_SIZED(slot, .bytes = WORDS * sizeof(uint32_t),
						     .flags = DAGPATCH_SHADOW_IN),
				     &in));
		add_three(recording, BED_ADD, (uint32_t[]){to, in, in}, NULL);
		OK(recording, dagpatch_finalize(recording));
		bind(recording, to, a);
		for (uint32_t j = 0; j < 2; j++) {
			bind(recording, in, inputs[j]);
			OK(recording, dagpatch_launch(recording, stream));
			suite_bed->stream_synchronize(stream);
			expect_all(a, j ? 8 : 6);
		}
		assert_int_equal(stats_of(recording).uses[DAGPATCH_INSTANTIATE], 1);
		assert_int_equal(stats_of(recording).uses[DAGPATCH_DEVICE_TABLE], 0);
		assert_int_equal(stats_of(recording).uses[DAGPATCH_SHADOW], 2);
		dagpatch_recording_destroy(recording);
		dagpatch_context_destroy(context);
	}
	suite_bed->stream_destroy(stream);
	suite_bed->free(a);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->free(inputs[i]);
}

/* ---- descriptions by the caller ---- */

static int capture_mark(void *user, void *stream, void *const *addresses)
{
	uint32_t value = 1;

	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value})
		       ? -EIO
		       : 0;
}

static int add_mark(struct dagpatch_recording *recording, uint32_t to)
{
	return dagpatch_add_captured(
		recording,
		&DAGPATCH_SIZED(capture, .record = capture_mark, .slots = &to, .slot_count = 1),
		NULL, NULL);
}

/* If the driver does not describe a captured kernel, dagpatch cannot read it unless the caller
 * describes it. */
static void caller_describes_a_kernel(void **state)
{
	const struct dagpatch_parameter right[] = {{0, 8, DAGPATCH_PARAMETER_POINTER},
						   {8, 4, DAGPATCH_PARAMETER_VALUE}};
	const struct dagpatch_parameter wrong[] = {{0, 4, 0}, {4, 4, 0}, {8, 4, 0}};
	const struct dagpatch_parameter overlapping[] = {{0, 8, 0}, {4, 8, 0}};
	void *mark = suite_bed->function(BED_MARK);
	struct dagpatch_recording *recording;
	struct dagpatch_context *context;
	uint32_t to;

	dagpatch_model_without(DAGPATCH_MODEL_NO_LAYOUTS);
	context = context_with(&(struct dagpatch_options){0});
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	scene_failed(recording, add_mark(recording, to), -ENOTSUP, "parameters unknown");
	assert_int_equal(dagpatch_kernel_describe(context, mark, overlapping, 2), -EINVAL);
	OK(NULL, dagpatch_kernel_describe(context, mark, right, 2));
	OK(NULL, dagpatch_kernel_describe(context, mark, right, 2));
	assert_int_equal(dagpatch_kernel_describe(context, mark, wrong, 3), -EEXIST);
	OK(recording, add_mark(recording, to));
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	/* An address where the description has two numbers is an error. */
	context = context_with(&(struct dagpatch_options){0});
	OK(NULL, dagpatch_kernel_describe(context, mark, wrong, 3));
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	scene_failed(recording, add_mark(recording, to), -EILSEQ, "next parameter");
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
}

/* Captures two mark kernels one after the other; in the third call, at the same time. */
static int capture_in_another_order(void *user, void *stream, void *const *addresses)
{
	uint32_t *calls = user, value = 1;
	bool forked = ++*calls == 3;
	void *other = suite_bed->stream_create();
	void *event = suite_bed->event_create();
	void *parameters[] = {(void *)&addresses[0], &value};

	if (forked) {
		assert_int_equal(suite_bed->event_record(stream, event), 0);
		assert_int_equal(suite_bed->event_wait(other, event), 0);
	}
	assert_int_equal(suite_bed->launch(stream, BED_MARK, 1, 1, parameters), 0);
	assert_int_equal(suite_bed->launch(forked ? other : stream, BED_MARK, 1, 1, parameters), 0);
	if (forked) {
		assert_int_equal(suite_bed->event_record(other, event), 0);
		assert_int_equal(suite_bed->event_wait(stream, event), 0);
	}
	suite_bed->event_destroy(event);
	suite_bed->stream_destroy(other);
	return 0;
}

/* Differences in a capture with another order must not count as unstable bytes. */
static void another_order_is_an_error(void **state)
{
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){0});
	struct dagpatch_recording *recording;
	uint32_t to, calls = 0;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	scene_failed(
		recording,
		dagpatch_add_captured(recording,
				      &DAGPATCH_SIZED(capture, .record = capture_in_another_order,
						      .user = &calls, .slots = &to, .slot_count = 1,
						      .flags = DAGPATCH_LEAVE_UNSTABLE),
				      NULL, NULL),
		-EILSEQ, "capture 4 have other dependencies");
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
}

/* ---- verify ---- */

static int capture_as_told(void *user, void *stream, void *const *addresses)
{
	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], user})
		       ? -EIO
		       : 0;
}

/* The callback would capture something else by now. */
static void verify_notices_another_capture(void **state)
{
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){0});
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(0), value = 1, to;
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = capture_as_told,
					   .user = &value,
					   .slots = &to,
					   .slot_count = 1};

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	scene_failed(recording, dagpatch_verify(recording), -EINVAL, "no graph yet");
	bind(recording, to, a);
	OK(recording, dagpatch_apply(recording));
	OK(recording, dagpatch_verify(recording));
	value = 2;
	scene_failed(recording, dagpatch_verify(recording), -EILSEQ,
		     "node 1 (kernel mark), argument 1: differs");
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	suite_bed->free(a);
}

/* On a driver where graphs are flattened and that does not describe a kernel's parameters, the
 * work stays a child, and each change builds a new graph. */
static void work_that_cannot_be_read_stays_a_child(void **state)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();
	uint32_t *buffers[2] = {buffer(0), buffer(0)}, value = 3, to;
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = capture_as_told,
					   .user = &value,
					   .slots = &to,
					   .slot_count = 1,
					   .flags = DAGPATCH_RECAPTURE};

	dagpatch_model_without(DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_LAYOUTS |
			       DAGPATCH_MODEL_NO_NESTED_SETS | DAGPATCH_MODEL_NO_CONDITIONALS |
			       DAGPATCH_MODEL_NO_CHILDREN);
	context = context_with(&(struct dagpatch_options){.verify = 1});
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
	OK(recording, dagpatch_add_empty(recording, AFTER(0), NULL));
	OK(recording, dagpatch_finalize(recording));
	for (uint32_t i = 0; i < 4; i++) {
		bind(recording, to, buffers[i % 2]);
		OK(recording, dagpatch_launch(recording, stream));
		suite_bed->stream_synchronize(stream);
		expect_words(buffers[0], 1, 3 * (i / 2 + 1), __FILE__, __LINE__);
		expect_words(buffers[1], 1, 3 * ((i + 1) / 2), __FILE__, __LINE__);
	}
	OK(recording, dagpatch_recording_stats(recording, &stats));
	assert_int_equal(stats.uses[DAGPATCH_INSTANTIATE], 4);
	assert_int_equal(stats.unread_nodes, 1);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
	suite_bed->stream_destroy(stream);
	suite_bed->free(buffers[0]);
	suite_bed->free(buffers[1]);
}

/* Two recordings use one executable graph: verify of one finds what the other has applied. */
static void verify_reads_the_executable_graph(void **state)
{
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){0});
	struct dagpatch_recording *recordings[2];
	void *stream = suite_bed->stream_create(), *graph, *exec;
	uint32_t *a = buffer(0), *b = buffer(0), value = 1, to;
	struct dagpatch_declared declared = {0, 0, 0, 0};

	suite_bed->capture_begin(stream);
	suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&a, &value});
	graph = suite_bed->capture_end(stream);
	exec = suite_bed->instantiate(graph);
	for (uint32_t i = 0; i < 2; i++) {
		OK(NULL, dagpatch_recording_create(context, 0, &recordings[i]));
		to = slot(recordings[i], "to");
		OK(recordings[i],
		   dagpatch_adopt(recordings[i],
				  &DAGPATCH_SIZED(adoption, .graph = graph,
						  .addresses = {(void *[]){a}},
						  .declared = &declared, .declared_count = 1,
						  .exec = exec)));
		OK(recordings[i], dagpatch_finalize(recordings[i]));
	}
	assert_int_equal(dagpatch_verify(recordings[0]), 0);
	bind(recordings[1], to, b);
	OK(recordings[1], dagpatch_apply(recordings[1]));
	assert_int_equal(dagpatch_verify(recordings[1]), 0);
	scene_failed(recordings[0], dagpatch_verify(recordings[0]), -EILSEQ,
		     "differs in the executable graph");
	for (uint32_t i = 0; i < 2; i++)
		dagpatch_recording_destroy(recordings[i]);
	suite_bed->exec_destroy(exec);
	suite_bed->graph_destroy(graph);
	dagpatch_context_destroy(context);
	suite_bed->stream_destroy(stream);
	suite_bed->free(a);
	suite_bed->free(b);
}

/* A value that was set later is not an address, and the callback does not know it; verify must
 * accept it. */
static void verify_knows_other_values(void **state)
{
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){.verify = 1});
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();
	uint32_t *a = buffer(0), value = 4, to;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	OK(recording, add_mark(recording, to));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, to, a);
	OK(recording, dagpatch_apply(recording));
	OK(recording, dagpatch_set_argument(recording, 1, 1, &value, sizeof(value)));
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	expect_words(a, 1, 4, __FILE__, __LINE__);
	OK(recording, dagpatch_verify(recording));
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	suite_bed->stream_destroy(stream);
	suite_bed->free(a);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 200 };

static void *thread_main(void *user)
{
	struct dagpatch_context *context = user;
	struct dagpatch_recording *recording = chain(context, 8);
	uint32_t *buffers[3] = {buffer(1), buffer(0), buffer(0)}, words[WORDS];
	struct dagpatch_model_stream *stream;

	OK(NULL, dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED, &stream));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		buffer_set(buffers[0], 1);
		bind(recording, 1, buffers[0]);
		bind(recording, 0, buffers[1 + i % 2]);
		OK(recording, dagpatch_launch(recording, stream));
		OK(NULL, dagpatch_model_stream_synchronize(stream));
		suite_bed->read(words, buffers[0], sizeof(words));
		assert_int_equal(words[WORDS - 1], 256);
	}
	dagpatch_model_stream_destroy(stream);
	dagpatch_recording_destroy(recording);
	for (uint32_t i = 0; i < 3; i++)
		suite_bed->free(buffers[i]);
	return NULL;
}

static void threads_have_their_own_recordings(void **state)
{
	struct dagpatch_context *context = context_with(&(struct dagpatch_options){0});
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_main, context), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	dagpatch_context_destroy(context);
}

/* Records captured work that copies of a nested recording and the entries of a cache share. */
static struct dagpatch_recording *sharing(struct dagpatch_context *context,
					  const struct dagpatch_recording *nested,
					  struct dagpatch_cache *cache)
{
	struct dagpatch_recording *recording;
	uint32_t to;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	OK(recording,
	   dagpatch_add_child(recording,
			      &DAGPATCH_SIZED(child, nested, &(struct dagpatch_mapping){to, 0}, 1),
			      NULL, NULL));
	OK(recording,
	   dagpatch_add_captured(recording,
				 &DAGPATCH_SIZED(capture, .record = capture_mark, .slots = &to,
						 .slot_count = 1, .flags = DAGPATCH_RECAPTURE,
						 .cache = cache),
				 NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

static uint32_t *shared_buffers[4];

static void *apply_shared(void *user)
{
	struct dagpatch_recording *recording = user;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		bind(recording, 0, shared_buffers[i % 4]);
		OK(recording, dagpatch_apply(recording));
	}
	return NULL;
}

static void threads_share_what_was_captured(void **state)
{
	struct dagpatch_cache_stats stats = {.size = sizeof(stats)};
	struct dagpatch_context *context =
		context_with(&(struct dagpatch_options){.strategy = DAGPATCH_SET_PARAMS});
	struct dagpatch_recording *nested, *recordings[THREADS];
	struct dagpatch_cache *cache;
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < 4; i++)
		shared_buffers[i] = buffer(0);
	OK(NULL, dagpatch_cache_create(
			 context,
			 &(struct dagpatch_cache_options){
				 .size = sizeof(struct dagpatch_cache_options), .capacity = 3},
			 &cache));
	OK(NULL, dagpatch_recording_create(context, DAGPATCH_NESTED, &nested));
	OK(nested, add_mark(nested, slot(nested, "inner")));
	OK(nested, dagpatch_finalize(nested));
	for (uint32_t i = 0; i < THREADS; i++)
		recordings[i] = sharing(context, nested, cache);
	dagpatch_recording_destroy(nested);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, apply_shared, recordings[i]), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	OK(NULL, dagpatch_cache_stats(cache, &stats));
	assert_int_equal(stats.hits + stats.misses, THREADS * ROUNDS);
	assert_int_equal(stats.entries, 3);
	for (uint32_t i = 0; i < THREADS; i++)
		dagpatch_recording_destroy(recordings[i]);
	dagpatch_cache_destroy(cache);
	dagpatch_context_destroy(context);
	for (uint32_t i = 0; i < 4; i++)
		suite_bed->free(shared_buffers[i]);
}

/* On a stream with a thread of its own: addresses are bound while the last replay runs. */
static void bound_while_a_replay_runs(void **state)
{
	static const enum dagpatch_strategy strategies[] = {
		DAGPATCH_SET_PARAMS, DAGPATCH_DEVICE_TABLE, DAGPATCH_UPDATE_GRAPH};

	for (uint32_t i = 0; i < 3; i++) {
		struct dagpatch_context *context = context_with(
			&(struct dagpatch_options){.strategy = strategies[i], .table_versions = 4});
		struct dagpatch_recording *recording = chain(context, 6);
		struct dagpatch_model_stream *stream;
		uint32_t *buffers[32], words[WORDS];

		OK(NULL, dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED, &stream));
		for (uint32_t j = 0; j < 32; j++)
			buffers[j] = buffer(1);
		for (uint32_t j = 0; j < 32; j += 2) {
			bind(recording, 0, buffers[j]);
			bind(recording, 1, buffers[j + 1]);
			OK(recording, dagpatch_launch(recording, stream));
		}
		OK(NULL, dagpatch_model_stream_synchronize(stream));
		for (uint32_t j = 0; j < 32; j++) {
			suite_bed->read(words, buffers[j], sizeof(words));
			assert_int_equal(words[0], j % 2 ? 64 : 32);
			suite_bed->free(buffers[j]);
		}
		dagpatch_model_stream_destroy(stream);
		dagpatch_recording_destroy(recording);
		dagpatch_context_destroy(context);
	}
}

/* ---- contexts ---- */

static void contexts_are_checked(void **state)
{
	struct dagpatch_options options = {.size = sizeof(options), .driver = "no such"};
	struct dagpatch_context *context;
	struct dagpatch_error error;

	assert_int_equal(dagpatch_context_create(&options, &context, &error), -EINVAL);
	assert_non_null(strstr(error.message, "\"no such\""));
	options.driver = "cuda";
	options.library = "/nonexistent/libcuda.so";
	assert_int_equal(dagpatch_context_create(&options, &context, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/libcuda.so"));
	options.driver = "hip";
	options.library = "/nonexistent/libamdhip64.so";
	assert_int_equal(dagpatch_context_create(&options, &context, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/libamdhip64.so"));
	options = (struct dagpatch_options){.driver = "model"};
	assert_int_equal(dagpatch_context_create(&options, &context, &error), -EINVAL);
	assert_string_equal(dagpatch_driver_name(0), "cuda");
	assert_string_equal(dagpatch_driver_name(2), "model");
	assert_null(dagpatch_driver_name(3));
	assert_null(dagpatch_driver_name(4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bookkeeping_is_small),
		cmocka_unit_test(worn_out_graphs_are_instantiated_anew),
		cmocka_unit_test(worn_out_tables_are_instantiated_anew),
		cmocka_unit_test(costs_are_measured),
		cmocka_unit_test(updates_keep_what_was_set_before),
		cmocka_unit_test(what_a_driver_cannot_is_done_otherwise),
		cmocka_unit_test(updates_leave_the_table_alone),
		cmocka_unit_test(a_moved_shadow_changes_nothing_in_the_graph),
		cmocka_unit_test(caller_describes_a_kernel),
		cmocka_unit_test(another_order_is_an_error),
		cmocka_unit_test(verify_notices_another_capture),
		cmocka_unit_test(work_that_cannot_be_read_stays_a_child),
		cmocka_unit_test(verify_reads_the_executable_graph),
		cmocka_unit_test(verify_knows_other_values),
		cmocka_unit_test(threads_have_their_own_recordings),
		cmocka_unit_test(threads_share_what_was_captured),
		cmocka_unit_test(bound_while_a_replay_runs),
		cmocka_unit_test(contexts_are_checked),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	suite_bed->close();
	return failed;
}
