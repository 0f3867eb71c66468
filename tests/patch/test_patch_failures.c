/* Every call of the driver fails in turn. The old addresses must stay complete, or the recording
 * is lost and reports that; nothing leaks; and what failed can be tried again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

#include "suite.h"

enum { NODES = 24, MEMSET_NODE = 1, KERNEL_NODE = 2, COPY_NODE = 3, CHILD_NODE = 2 + NODES };

static void expect_same_live(const struct dagpatch_model_live *before)
{
	struct dagpatch_model_live now;

	dagpatch_model_live(&now);
	assert_memory_equal(&now, before, sizeof(now));
}

static int record_pair(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS, value = 1;

	if (suite_bed->launch(stream, BED_ADD, 1, WORDS,
			      (void *[]){(void *)&addresses[0], (void *)&addresses[0],
					 (void *)&addresses[1], &count}) ||
	    suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value}))
		return -EIO;
	return 0;
}

static int add_part(struct dagpatch_recording *recording, const uint32_t slots[2], uint32_t kind,
		    const struct dagpatch_after *after, uint32_t *ret_node)
{
	uint32_t count = WORDS;
	struct dagpatch_pointer pointers[2] = {{.slot = slots[0]}, {.slot = slots[1]}};
	struct dagpatch_argument arguments[] = {
		dagpatch_address(&pointers[0]),
		dagpatch_address(&pointers[0]),
		dagpatch_address(&pointers[1]),
		dagpatch_value(&count, sizeof(count)),
	};

	switch (kind) {
	case 0:
		return dagpatch_add_kernel(
			recording,
			&DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_ADD),
					.grid = {1, 1, 1}, .block = {WORDS, 1, 1},
					.argument_count = 4, .arguments = arguments),
			after, ret_node);
	case 1:
		return dagpatch_add_copy(
			recording,
			&DAGPATCH_SIZED(copy, .dst = {.slot = slots[0], .offset = 128},
					.src = {.slot = slots[1]}, .width_bytes = 64),
			after, ret_node);
	default:
		return dagpatch_add_memset(recording,
					   &DAGPATCH_SIZED(memset, .slot = slots[0], .value = 3,
							   .element_bytes = 4, .width = 8),
					   after, ret_node);
	}
}

/* A library's graph at two sets of addresses. It is made once, while no call fails. */
static struct {
	void *at[2][2];
	void *graphs[2];
} library;

static int make_library(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		void *stream = suite_bed->stream_create();

		for (uint32_t j = 0; j < 2; j++)
			library.at[i][j] = buffer(0);
		suite_bed->capture_begin(stream);
		assert_int_equal(record_pair(NULL, stream, library.at[i]), 0);
		library.graphs[i] = suite_bed->capture_end(stream);
		suite_bed->stream_destroy(stream);
	}
	return 0;
}

static int free_library(void **state)
{
	for (uint32_t i = 0; i < 4; i++)
		buffer_free(library.at[i / 2][i % 2]);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->graph_destroy(library.graphs[i]);
	return 0;
}

static int add_library(struct dagpatch_recording *recording, const uint32_t slots[2],
		       const struct dagpatch_after *after, uint32_t *ret_node)
{
	return dagpatch_add_graph(recording,
				  &DAGPATCH_SIZED(graph, .graph = library.graphs[0], .slots = slots,
						  .slot_count = 2,
						  .addresses = {library.at[0], library.at[1]},
						  .other_graph = library.graphs[1]),
				  after, ret_node);
}

/* The caller destroys *RET_NESTED, also after a failure. */
static int record_nested(struct dagpatch_context *context, struct dagpatch_recording **ret_nested)
{
	const struct dagpatch_slot one = {.size = sizeof(one), .bytes = WORDS * 4};
	struct dagpatch_recording *nested = NULL;
	uint32_t inner[2], node;
	int rc = dagpatch_recording_create(context, DAGPATCH_NESTED, &nested);

	*ret_nested = nested;
	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = dagpatch_slot_add(nested, &one, &inner[i]);
	if (rc == 0)
		rc = add_part(nested, inner, 0, NULL, &node);
	if (rc == 0)
		rc = add_part(nested, inner, 2, AFTER(node), &node);
	if (rc == 0)
		rc = add_library(nested, inner, AFTER(node), NULL);
	return rc < 0 ? rc : dagpatch_finalize(nested);
}

/* Records kernels, copies, memsets, a nested recording, captured work, work that is captured
 * again, an existing graph, and a shadowed slot. */
static int record_all(struct dagpatch_context *context, struct dagpatch_recording *recording)
{
	struct dagpatch_recording *nested = NULL;
	const struct dagpatch_slot one = {.size = sizeof(one), .bytes = WORDS * 4};
	const struct dagpatch_slot shadow = {
		.size = sizeof(shadow), .bytes = WORDS * 4, .flags = DAGPATCH_SHADOW_IN};
	uint32_t slots[3], node;
	struct dagpatch_capture capture = {
		.size = sizeof(capture), .record = record_pair, .slots = slots, .slot_count = 2};
	int rc = record_nested(context, &nested);

	for (uint32_t i = 0; rc == 0 && i < 3; i++)
		rc = dagpatch_slot_add(recording, i < 2 ? &one : &shadow, &slots[i]);
	if (rc == 0)
		rc = dagpatch_add_empty(recording, NULL, &node);
	/* This node is MEMSET_NODE. Later nodes add to its result, so the result shows at the
	 * end. */
	if (rc == 0)
		rc = dagpatch_add_memset(recording,
					 &DAGPATCH_SIZED(memset, .slot = slots[0], .offset = 192,
							 .value = 3, .element_bytes = 4,
							 .width = 16),
					 AFTER(node), &node);
	for (uint32_t i = 0; rc == 0 && i < NODES; i++)
		rc = add_part(recording, (uint32_t[]){slots[0], slots[i % 5 ? 1 : 2]}, i % 3,
			      AFTER(node), &node);
	if (rc == 0)
		rc = dagpatch_add_child(
			recording,
			&DAGPATCH_SIZED(child, nested,
					(struct dagpatch_mapping[]){{slots[0], 0}, {slots[1], 0}},
					2),
			AFTER(node), &node);
	if (rc == 0)
		rc = dagpatch_add_captured(recording, &capture, AFTER(node), &node);
	capture.flags = DAGPATCH_LEAVE_UNSTABLE;
	if (rc == 0)
		rc = dagpatch_add_captured(recording, &capture, AFTER(node), &node);
	capture.flags = DAGPATCH_RECAPTURE;
	if (rc == 0)
		rc = dagpatch_add_captured(recording, &capture, AFTER(node), &node);
	dagpatch_recording_destroy(nested);
	return rc < 0 ? rc : dagpatch_finalize(recording);
}

/* ---- other parameters ---- */

/* What a change sets: only a memset's value, or also a kernel, a copy and a child with other
 * slots. */
enum sets { VALUE, NODES_TOO };

/* The child that record_all adds, or the same child with its slots exchanged. */
static int set_child(struct dagpatch_context *context, struct dagpatch_recording *recording,
		     bool is_other)
{
	struct dagpatch_recording *nested = NULL;
	uint32_t mapped = is_other;
	int rc = record_nested(context, &nested);

	if (rc == 0)
		rc = dagpatch_set_child(
			recording, CHILD_NODE,
			&DAGPATCH_SIZED(child, nested,
					(struct dagpatch_mapping[]){{mapped, 0}, {!mapped, 0}}, 2));
	dagpatch_recording_destroy(nested);
	return rc;
}

static int set_kernel(struct dagpatch_recording *recording, bool is_other)
{
	uint32_t count = WORDS;
	struct dagpatch_pointer pointers[3] = {
		{.slot = 0}, {.slot = 0}, {.slot = is_other ? 1 : 2}};
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&count, sizeof(count))};
	enum bed_kernel kernel = is_other ? BED_MUL : BED_ADD;

	return dagpatch_set_kernel(recording, KERNEL_NODE,
				   &DAGPATCH_SIZED(kernel, .function = suite_bed->function(kernel),
						   .grid = {1, 1, 1}, .block = {WORDS, 1, 1},
						   .argument_count = 4, .arguments = arguments));
}

static int set_nodes(struct dagpatch_context *context, struct dagpatch_recording *recording,
		     enum sets sets, bool is_other)
{
	int rc = dagpatch_set_memset_value(recording, MEMSET_NODE, is_other ? 9 : 3);

	if (rc < 0 || sets == VALUE)
		return rc;
	rc = set_kernel(recording, is_other);
	if (rc == 0)
		rc = dagpatch_set_copy(
			recording, COPY_NODE,
			&DAGPATCH_SIZED(copy, .dst = {.slot = 0, .offset = 128},
					.src = {.slot = 1, .offset = is_other ? 32 : 0},
					.width_bytes = 64));
	return rc < 0 ? rc : set_child(context, recording, is_other);
}

/* Launches once from known contents and returns the contents of all buffers. */
static void run_from_start(struct dagpatch_recording *recording, void *stream,
			   uint32_t *const buffers[6], uint32_t words[6][WORDS])
{
	for (uint32_t i = 0; i < 6; i++)
		buffer_set(buffers[i], i + 1);
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	for (uint32_t i = 0; i < 6; i++)
		suite_bed->read(words[i], buffers[i], WORDS * 4);
}

static int bind_three(struct dagpatch_recording *recording, uint32_t *const *buffers)
{
	return dagpatch_bind_all(recording, (const void *[]){buffers[0], buffers[1], buffers[2]},
				 3);
}

struct expected {
	uint32_t first[6][WORDS], second[6][WORDS];
};

/* Binds the first three buffers and checks that a launch works as before the failure. */
static void check_after_failure(struct dagpatch_recording *recording, void *stream,
				uint32_t *const *buffers, const struct expected *expected)
{
	uint32_t words[6][WORDS];

	bool is_lost = dagpatch_recording_state(recording) == DAGPATCH_LOST;

	if (is_lost)
		assert_int_equal(dagpatch_launch(recording, stream), -EINVAL);
	OK(recording, dagpatch_revert(recording));
	if (is_lost) {
		OK(recording, dagpatch_finalize(recording));
	} else {
		run_from_start(recording, stream, buffers, words);
		assert_memory_equal(words, expected->first, sizeof(words));
		/* No prepared change is left for the next change. */
		bind(recording, 2, buffers[5]);
		OK(recording, dagpatch_apply(recording));
		bind(recording, 2, buffers[2]);
		run_from_start(recording, stream, buffers, words);
		assert_memory_equal(words, expected->first, sizeof(words));
	}
	/* The change that failed must work when no call fails. */
	OK(recording, bind_three(recording, buffers + 3));
	run_from_start(recording, stream, buffers, words);
	assert_memory_equal(words, expected->second, sizeof(words));
	OK(recording, dagpatch_verify(recording));
	OK(recording, bind_three(recording, buffers));
	run_from_start(recording, stream, buffers, words);
	assert_memory_equal(words, expected->first, sizeof(words));
}

static struct dagpatch_context *context_with(enum dagpatch_strategy strategy)
{
	struct dagpatch_context *context;

	OK(NULL, dagpatch_context_create(
			 &(struct dagpatch_options){.size = sizeof(struct dagpatch_options),
						    .driver = "model",
						    .strategy = strategy,
						    .table_from_nodes = 64},
			 &context, NULL));
	return context;
}

/* Allocation number FAILS from now on fails; 0: none. */
static uint64_t allocations, fails;

static bool is_refused(void)
{
	return ++allocations == fails;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes)
{
	return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return is_refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return is_refused() ? NULL : __real_realloc(old, bytes);
}

char *__wrap_strdup(const char *text)
{
	return is_refused() ? NULL : __real_strdup(text);
}

enum { NO_MEMORY = 0 }; /* value of COUNT: an allocation fails instead of driver calls */

static void let_fail(uint64_t which, uint64_t count)
{
	if (count == NO_MEMORY)
		fails = allocations + which;
	else
		dagpatch_model_fail(which, count);
}

static uint64_t made_so_far(uint64_t count)
{
	return count == NO_MEMORY ? allocations : dagpatch_model_calls();
}

static void let_nothing_fail(void)
{
	dagpatch_model_fail(0, 0);
	fails = 0;
}

/* Makes COUNT driver calls fail, starting at each call in turn of those that a changed binding
 * makes. Returns how many times the recording was lost. */
static uint32_t fail_each_apply(enum dagpatch_strategy strategy, uint64_t count, enum sets sets)
{
	struct dagpatch_context *context = context_with(strategy);
	struct dagpatch_recording *recording;
	static struct expected expected;
	uint32_t *buffers[6], lost = 0, words[6][WORDS];
	void *stream = suite_bed->stream_create();
	uint64_t begin, calls;

	for (uint32_t i = 0; i < 6; i++)
		buffers[i] = buffer(0);
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	OK(recording, record_all(context, recording));
	OK(recording, bind_three(recording, buffers + 3));
	run_from_start(recording, stream, buffers, expected.second);
	OK(recording, bind_three(recording, buffers));
	run_from_start(recording, stream, buffers, expected.first);
	/* Make the change once without failures to count its calls, then change back. */
	OK(recording, bind_three(recording, buffers + 3));
	OK(recording, set_nodes(context, recording, sets, true));
	begin = made_so_far(count);
	OK(recording, dagpatch_apply(recording));
	calls = made_so_far(count) - begin;
	assert_true(calls > 3);
	OK(recording, bind_three(recording, buffers));
	OK(recording, set_nodes(context, recording, sets, false));
	OK(recording, dagpatch_apply(recording));
	for (uint64_t call = 1; call <= calls; call++) {
		int rc;

		OK(recording, bind_three(recording, buffers + 3));
		OK(recording, set_nodes(context, recording, sets, true));
		let_fail(call, count);
		rc = dagpatch_apply(recording);
		let_nothing_fail();
		/* A callback that gets no memory returns -EIO. */
		assert_true(rc == -EIO || (count == NO_MEMORY && rc == -ENOMEM));
		if (count != NO_MEMORY)
			assert_int_equal(dagpatch_recording_error(recording)->driver_code, 999);
		lost += dagpatch_recording_state(recording) == DAGPATCH_LOST;
		check_after_failure(recording, stream, buffers, &expected);
	}
	run_from_start(recording, stream, buffers, words);
	suite_bed->stream_destroy(stream);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	for (uint32_t i = 0; i < 6; i++)
		buffer_free(buffers[i]);
	return lost;
}

static const enum dagpatch_strategy strategies[] = {
	DAGPATCH_AUTO,	       DAGPATCH_SET_PARAMS,  DAGPATCH_DEVICE_TABLE,
	DAGPATCH_UPDATE_GRAPH, DAGPATCH_INSTANTIATE,
};
enum { STRATEGIES = sizeof(strategies) / sizeof(*strategies) };

/* When one call or one allocation fails, undoing the change succeeds, so no recording is lost. */
static void failure_midway_keeps_old_bindings(void **state)
{
	struct dagpatch_model_live before;

	dagpatch_model_live(&before);
	for (uint32_t i = 0; i < STRATEGIES; i++)
		assert_int_equal(fail_each_apply(strategies[i], 1, VALUE), 0);
	for (uint32_t i = 0; i < STRATEGIES; i++)
		assert_int_equal(fail_each_apply(strategies[i], 1, NODES_TOO), 0);
	for (uint32_t i = 0; i < STRATEGIES; i++)
		assert_int_equal(fail_each_apply(strategies[i], NO_MEMORY, NODES_TOO), 0);
	dagpatch_model_without(suite_without | DAGPATCH_MODEL_NO_FUNCTIONS);
	assert_int_equal(fail_each_apply(DAGPATCH_SET_PARAMS, 1, NODES_TOO), 0);
	dagpatch_model_without(suite_without | DAGPATCH_MODEL_NO_NESTED_SETS);
	assert_int_equal(fail_each_apply(DAGPATCH_SET_PARAMS, 1, NODES_TOO), 0);
	dagpatch_model_without(suite_without);
	expect_same_live(&before);
}

/* Restoring the old addresses fails as well. */
static void failure_of_putting_back_is_lost(void **state)
{
	struct dagpatch_model_live before;

	dagpatch_model_live(&before);
	for (uint32_t i = 0; i < STRATEGIES; i++) {
		uint32_t lost = fail_each_apply(strategies[i], 1000000, VALUE);

		if (strategies[i] == DAGPATCH_INSTANTIATE)
			assert_int_equal(lost, 0);
		else
			assert_true(lost > 0);
	}
	expect_same_live(&before);
}

/* Records, builds, launches, patches and destroys a recording, so that every call of its life
 * can fail. */
static int whole_life(uint32_t *const *buffers, void *stream, enum dagpatch_strategy strategy)
{
	struct dagpatch_context *context = context_with(strategy);
	struct dagpatch_recording *recording;
	int rc;

	OK(NULL, dagpatch_recording_create(context, DAGPATCH_DERIVE_DEPENDENCIES, &recording));
	rc = record_all(context, recording);
	if (rc == 0)
		rc = bind_three(recording, buffers);
	if (rc == 0)
		rc = dagpatch_launch(recording, stream);
	if (rc == 0)
		rc = bind_three(recording, buffers + 3);
	if (rc == 0)
		rc = set_nodes(context, recording, NODES_TOO, true);
	if (rc == 0)
		rc = dagpatch_launch(recording, stream);
	if (rc == 0)
		rc = dagpatch_verify(recording);
	suite_bed->stream_synchronize(stream);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	return rc < 0 ? rc : 0; /* rc may also be DAGPATCH_CANNOT_TELL */
}

static void every_call_fails_in_turn(void **state)
{
	struct dagpatch_model_live before;
	void *stream = suite_bed->stream_create();
	uint32_t *buffers[6];

	for (uint32_t i = 0; i < 6; i++)
		buffers[i] = buffer(0);
	dagpatch_model_live(&before);
	for (uint32_t i = 0; i < STRATEGIES; i++) {
		uint64_t begin = dagpatch_model_calls(), calls;

		assert_int_equal(whole_life(buffers, stream, strategies[i]), 0);
		calls = dagpatch_model_calls() - begin;
		for (uint64_t call = 1; call <= calls; call++) {
			dagpatch_model_fail(call, 1);
			assert_true(whole_life(buffers, stream, strategies[i]) < 0);
			dagpatch_model_fail(0, 0);
			expect_same_live(&before);
		}
	}
	suite_bed->stream_destroy(stream);
	for (uint32_t i = 0; i < 6; i++)
		buffer_free(buffers[i]);
}

/* ---- no memory ---- */

static int life_of(uint32_t *const *buffers, struct dagpatch_context *context)
{
	struct dagpatch_recording *recording = NULL;
	int rc = dagpatch_recording_create(context, DAGPATCH_DERIVE_DEPENDENCIES, &recording);

	if (rc == 0)
		rc = record_all(context, recording);
	for (uint32_t i = 0; rc == 0 && i < 2; i++) {
		rc = bind_three(recording, buffers + 3 * i);
		if (rc == 0 && i)
			rc = set_nodes(context, recording, NODES_TOO, true);
		if (rc == 0)
			rc = dagpatch_apply(recording);
	}
	if (rc == 0)
		rc = dagpatch_verify(recording);
	dagpatch_recording_destroy(recording);
	return rc < 0 ? rc : 0;
}

static void every_allocation_fails_in_turn(void **state)
{
	struct dagpatch_model_live before;
	uint32_t *buffers[6];

	for (uint32_t i = 0; i < 6; i++)
		buffers[i] = buffer(0);
	dagpatch_model_live(&before);
	for (uint32_t i = 0; i < STRATEGIES; i++) {
		bool is_through = false;

		for (uint64_t which = 1; !is_through; which++) {
			struct dagpatch_context *context = NULL;
			const struct dagpatch_options options = {.size = sizeof(options),
								 .driver = "model",
								 .strategy = strategies[i]};
			uint64_t begin;
			int rc;

			begin = allocations;
			let_fail(which, NO_MEMORY);
			rc = dagpatch_context_create(&options, &context, NULL);
			if (rc == 0)
				rc = life_of(buffers, context);
			is_through = allocations - begin < which;
			let_nothing_fail();
			dagpatch_context_destroy(context);
			expect_same_live(&before);
			assert_true(rc == 0 || !is_through);
		}
	}
	for (uint32_t i = 0; i < 6; i++)
		buffer_free(buffers[i]);
}

/* ---- only changes that reached the graph are undone ---- */

enum { PART_COUNT = 3 }; /* the argument of add_part's kernel that holds its count of words */

static struct dagpatch_recording *recording_with_slots(struct dagpatch_context *context,
						       uint32_t slots[2])
{
	struct dagpatch_recording *recording;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	slots[0] = slot(recording, "first");
	slots[1] = slot(recording, "second");
	return recording;
}

/* The host set another value of a table node before binding in the table fails. Undoing the
 * binding must keep the value and the address. */
static void a_value_put_back_keeps_the_address(void **state)
{
	struct dagpatch_context *context = context_with(DAGPATCH_DEVICE_TABLE);
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(5), slots[2], node, count = WORDS / 2;

	recording = recording_with_slots(context, slots);
	OK(recording, add_part(recording, slots, 0, NULL, &node));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], a);
	bind(recording, slots[1], b);
	OK(recording, dagpatch_apply(recording));
	bind(recording, slots[0], c);
	OK(recording, dagpatch_set_argument(recording, node, PART_COUNT, &count, sizeof(count)));
	dagpatch_model_fail(2, 1);
	scene_failed(recording, dagpatch_apply(recording), -EIO, "in the table");
	dagpatch_model_fail(0, 0);
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	OK(recording, dagpatch_revert(recording));
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	expect_all(a, 3);
	expect_all(c, 5);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	suite_bed->stream_destroy(stream);
	buffer_free(a);
	buffer_free(b);
	buffer_free(c);
}

static int capture_mark(void *user, void *stream, void *const *addresses)
{
	uint32_t value = 1;

	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value})
		       ? -EIO
		       : 0;
}

/* Two slots, each with captured work: the work of the first is captured again; that of the
 * second is patched but cannot be set in an executable graph. */
static void what_cannot_be_set_is_not_put_back(void **state)
{
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();
	uint32_t *buffers[] = {buffer(0), buffer(0), buffer(0), buffer(0), buffer(0)}, slots[2];
	struct dagpatch_capture capture = {.size = sizeof(capture),
					   .record = capture_mark,
					   .slot_count = 1,
					   .flags = DAGPATCH_RECAPTURE};

	dagpatch_model_without(DAGPATCH_MODEL_NO_NESTED_SETS);
	context = context_with(DAGPATCH_SET_PARAMS);
	recording = recording_with_slots(context, slots);
	for (uint32_t i = 0; i < 2; i++) {
		capture.slots = &slots[i];
		OK(recording, dagpatch_add_captured(recording, &capture, NULL, NULL));
		capture.flags = 0;
	}
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], buffers[0]);
	bind(recording, slots[1], buffers[3]);
	OK(recording, dagpatch_apply(recording));
	bind(recording, slots[0], buffers[1]);
	OK(recording, dagpatch_apply(recording));
	bind(recording, slots[0], buffers[2]);
	bind(recording, slots[1], buffers[4]);
	/* The capture succeeds; building a new graph fails. */
	dagpatch_model_fail(3, 1000000);
	assert_int_equal(dagpatch_apply(recording), -EIO);
	dagpatch_model_fail(0, 0);
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	OK(recording, dagpatch_revert(recording));
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	for (uint32_t i = 0; i < 5; i++)
		expect_first(buffers[i], i == 1 || i == 3);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
	suite_bed->stream_destroy(stream);
	for (uint32_t i = 0; i < 5; i++)
		buffer_free(buffers[i]);
}

static void *capture_nested_mark(uint32_t *buffer)
{
	void *stream = suite_bed->stream_create();
	void *address = buffer, *inner, *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(capture_mark(NULL, stream, &address), 0);
	inner = suite_bed->capture_end(stream);
	suite_bed->capture_begin(stream);
	assert_int_equal(suite_bed->graph_launch(stream, inner), 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->graph_destroy(inner);
	suite_bed->stream_destroy(stream);
	return graph;
}

/* dagpatch can do nothing else to an executable graph of the program, which stays as it was. */
static void a_foreign_graph_that_cannot_be_set_is_not_lost(void **state)
{
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create(), *graphs[2], *exec;
	uint32_t *buffers[] = {buffer(0), buffer(0), buffer(0)};
	uint32_t slots[2];

	dagpatch_model_without(DAGPATCH_MODEL_NO_NESTED_SETS);
	context = context_with(DAGPATCH_AUTO);
	recording = recording_with_slots(context, slots);
	for (uint32_t i = 0; i < 2; i++)
		graphs[i] = capture_nested_mark(buffers[i]);
	exec = suite_bed->instantiate(graphs[0]);
	OK(recording,
	   dagpatch_adopt(recording,
			  &DAGPATCH_SIZED(adoption, .graph = graphs[0],
					  .addresses = {(void *[]){buffers[0], buffers[0]},
							(void *[]){buffers[1], buffers[2]}},
					  .other_graph = graphs[1], .exec = exec)));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, slots[0], buffers[1]);
	scene_failed(recording, dagpatch_apply(recording), -ENOTSUP, "node 1");
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_READY);
	OK(recording, dagpatch_revert(recording));
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	expect_first(buffers[0], 1);
	expect_first(buffers[1], 0);
	dagpatch_recording_destroy(recording);
	suite_bed->exec_destroy(exec);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->graph_destroy(graphs[i]);
	for (uint32_t i = 0; i < 3; i++)
		buffer_free(buffers[i]);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
	suite_bed->stream_destroy(stream);
}

/* ---- counters and state after a failure ---- */

static struct dagpatch_stats stats_of(const struct dagpatch_recording *recording)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	OK(recording, dagpatch_recording_stats(recording, &stats));
	return stats;
}

/* One failed call counts as one failure, however many strategies it tried. */
static void a_call_that_fails_is_one_failure(void **state)
{
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	uint32_t *a = buffer(1), *b = buffer(2), slots[2];

	dagpatch_model_without(DAGPATCH_MODEL_NO_UPDATE);
	context = context_with(DAGPATCH_UPDATE_GRAPH);
	recording = recording_with_slots(context, slots);
	OK(recording, add_part(recording, slots, 0, NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, a}, 2));
	OK(recording, dagpatch_apply(recording));
	bind(recording, slots[0], b);
	/* The node is set, the update is refused, and building a new graph fails. */
	dagpatch_model_fail(3, 1000000);
	scene_failed(recording, dagpatch_apply(recording), -EIO, "making the graph");
	dagpatch_model_fail(0, 0);
	assert_int_equal(stats_of(recording).failures, 1);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	dagpatch_model_without(0);
	buffer_free(a);
	buffer_free(b);
}

static void lose(struct dagpatch_recording *recording)
{
	dagpatch_model_fail(1, 1000000);
	assert_int_equal(dagpatch_apply(recording), -EIO);
	dagpatch_model_fail(0, 0);
	assert_int_equal(dagpatch_recording_state(recording), DAGPATCH_LOST);
}

/* A lost recording has no graph until its next launch. Only bindings that never were in a graph
 * can be dropped. */
static void a_lost_recording_keeps_its_addresses(void **state)
{
	struct dagpatch_context *context = context_with(DAGPATCH_SET_PARAMS);
	struct dagpatch_recording *recording;
	void *stream = suite_bed->stream_create();
	uint32_t *a = buffer(1), *b = buffer(2), *c = buffer(5), slots[2], node;

	recording = recording_with_slots(context, slots);
	OK(recording, add_part(recording, slots, 0, NULL, &node));
	OK(recording, dagpatch_finalize(recording));
	OK(recording, dagpatch_bind_all(recording, (const void *[]){a, b}, 2));
	OK(recording, dagpatch_apply(recording));
	assert_non_null(dagpatch_node_handle(recording, node));
	bind(recording, slots[0], c);
	lose(recording);
	OK(recording, dagpatch_finalize(recording));
	assert_null(dagpatch_recording_exec(recording));
	assert_null(dagpatch_node_handle(recording, node));
	OK(recording, dagpatch_revert(recording));
	OK(recording, dagpatch_launch(recording, stream));
	suite_bed->stream_synchronize(stream);
	expect_all(a, 3);
	expect_all(c, 5);
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	suite_bed->stream_destroy(stream);
	buffer_free(a);
	buffer_free(b);
	buffer_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failure_midway_keeps_old_bindings),
		cmocka_unit_test(failure_of_putting_back_is_lost),
		cmocka_unit_test(every_call_fails_in_turn),
		cmocka_unit_test(every_allocation_fails_in_turn),
		cmocka_unit_test(a_value_put_back_keeps_the_address),
		cmocka_unit_test(what_cannot_be_set_is_not_put_back),
		cmocka_unit_test(a_foreign_graph_that_cannot_be_set_is_not_lost),
		cmocka_unit_test(a_call_that_fails_is_one_failure),
		cmocka_unit_test(a_lost_recording_keeps_its_addresses),
	};
	/* The same cases on a driver where graphs are flattened, as on HIP. */
	const struct CMUnitTest flat[] = {
		cmocka_unit_test(failure_midway_keeps_old_bindings),
		cmocka_unit_test(failure_of_putting_back_is_lost),
		cmocka_unit_test(every_call_fails_in_turn),
		cmocka_unit_test(every_allocation_fails_in_turn),
	};
	int failed;

	suite_bed = &bed_model;
	suite_bed->open();
	failed = cmocka_run_group_tests(tests, make_library, free_library);
	suite_without = DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_NESTED_SETS |
			DAGPATCH_MODEL_NO_CONDITIONALS | DAGPATCH_MODEL_NO_CHILDREN;
	dagpatch_model_without(suite_without);
	failed += cmocka_run_group_tests_name("flat", flat, make_library, free_library);
	suite_without |= DAGPATCH_MODEL_NO_KEPT_MEMSETS;
	dagpatch_model_without(suite_without);
	failed +=
		cmocka_run_group_tests_name("forgotten memsets", flat, make_library, free_library);
	dagpatch_model_without(0);
	suite_bed->close();
	return failed;
}
