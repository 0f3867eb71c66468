/* dagpatch on the real HIP, where each call fails in turn or returns success without effect
 * (hip_between.h). A launch that succeeds must compute the right result at the bound addresses;
 * a launch that fails can be made again; a HIP call without effect is not used. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>
#include <sys/mman.h>

#include "example.h"
#include "hip_between.h"
#include "suite.h"

enum { A, B, C, D, E, SLOTS };

/* Captures d = c by a copy, then sets half of d by a memset. */
static int record_copy(void *user, void *stream, void *const *addresses)
{
	/* HIP 5.2 can read captured copies only if they have several rows. */
	const struct bed_copy copy = {.dst = addresses[0],
				      .src = addresses[1],
				      .width = WORDS,
				      .height = 4,
				      .dst_pitch = WORDS,
				      .src_pitch = WORDS};
	const struct bed_copy row = {
		.dst = addresses[0], .src = addresses[1], .width = WORDS, .height = 1};
	int rc = suite_bed->copy(stream, &copy);

	if (rc == 0 && suite_bed->host)
		rc = suite_bed->copy(stream, &row);
	if (rc == 0)
		rc = suite_bed->memset(stream, (uint32_t *)addresses[0] + WORDS / 2, 7, 4,
				       WORDS / 2);
	return rc ? -EIO : 0;
}

/* Captures e = d * d. */
static int record_square(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS;

	return suite_bed->launch(stream, BED_MUL, 1, WORDS,
				 (void *[]){(void *)&addresses[0], (void *)&addresses[1],
					    (void *)&addresses[1], &count})
		       ? -EIO
		       : 0;
}

static int add_nested_sum(struct dagpatch_context *context, struct dagpatch_recording *recording,
			  uint32_t *ret_node)
{
	const struct dagpatch_slot one = {.size = sizeof(one), .bytes = WORDS * 4};
	struct dagpatch_recording *nested = NULL;
	struct dagpatch_pointer pointers[3] = {{.slot = C}, {.slot = A}, {.slot = B}};
	uint32_t count = WORDS, number;
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&count, sizeof(count))};
	int rc = dagpatch_recording_create(context, DAGPATCH_NESTED, &nested);

	for (uint32_t i = 0; rc == 0 && i < 3; i++)
		rc = dagpatch_slot_add(nested, &one, &number);
	if (rc == 0)
		rc = dagpatch_add_kernel(
			nested,
			&DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_ADD),
					.grid = {1, 1, 1}, .block = {WORDS, 1, 1},
					.argument_count = 4, .arguments = arguments),
			NULL, NULL);
	if (rc == 0)
		rc = dagpatch_finalize(nested);
	if (rc == 0)
		rc = dagpatch_add_child(
			recording,
			&DAGPATCH_SIZED(child, nested,
					(struct dagpatch_mapping[]){{A, 0}, {B, 0}, {C, 0}}, 3),
			NULL, ret_node);
	dagpatch_recording_destroy(nested);
	return rc;
}

/* FLAGS apply to the last part. */
static int record_all(struct dagpatch_context *context, struct dagpatch_recording *recording,
		      uint32_t flags)
{
	const struct dagpatch_slot one = {.size = sizeof(one), .bytes = WORDS * 4};
	uint32_t node, number;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < SLOTS; i++)
		rc = dagpatch_slot_add(recording, &one, &number);
	if (rc == 0)
		rc = add_nested_sum(context, recording, &node);
	if (rc == 0)
		rc = dagpatch_add_captured(recording,
					   &DAGPATCH_SIZED(capture, .record = record_copy,
							   .slots = (uint32_t[]){D, C},
							   .slot_count = 2),
					   AFTER(node), &node);
	if (rc == 0)
		rc = dagpatch_add_captured(recording,
					   &DAGPATCH_SIZED(capture, .record = record_square,
							   .slots = (uint32_t[]){E, D},
							   .slot_count = 2, .flags = flags),
					   AFTER(node), NULL);
	return rc < 0 ? rc : dagpatch_finalize(recording);
}

/* ---- one life ---- */

static uint32_t *buffers[2][SLOTS];
static void *stream;

static uint32_t first_result[2]; /* the value of C, by set */

/* Sets the child's kernel to c = a * b, or back to a + b. */
static int set_first(struct dagpatch_recording *recording, bool is_product)
{
	struct dagpatch_pointer pointers[3] = {{.slot = C}, {.slot = A}, {.slot = B}};
	uint32_t count = WORDS;
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&count, sizeof(count))};
	enum bed_kernel kernel = is_product ? BED_MUL : BED_ADD;

	first_result[0] = is_product ? 2 : 3;
	first_result[1] = is_product ? 200 : 30;
	return dagpatch_set_kernel(recording, 1,
				   &DAGPATCH_SIZED(kernel, .function = suite_bed->function(kernel),
						   .grid = {1, 1, 1}, .block = {WORDS, 1, 1},
						   .argument_count = 4, .arguments = arguments));
}

static void clear_results(void)
{
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = C; j < SLOTS; j++)
			buffer_set(buffers[i][j], 0);
}

/* Checks that the launch wrote only to the buffers of SET. */
static void expect_result(uint32_t set, const char *when)
{
	uint32_t sum = first_result[set], words[WORDS];

	suite_bed->stream_synchronize(stream);
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->read(words, buffers[i][E], sizeof(words));
		for (uint32_t j = 0; j < WORDS; j++) {
			uint32_t expected = j < WORDS / 2 ? sum * sum : 49;

			if (words[j] != (i == set ? expected : 0))
				fail_msg("%s, %s: set %u, word %u is %u", when,
					 between.failed ? between.failed
					 : between.lies ? between.lies
							: "nothing",
					 i, j, words[j]);
		}
	}
}

static int bind_and_launch(struct dagpatch_recording *recording, uint32_t set)
{
	int rc = dagpatch_bind_all(recording, (const void *const *)buffers[set], SLOTS);

	clear_results();
	return rc < 0 ? rc : dagpatch_launch(recording, stream);
}

/* The failure was reported; without further failures the launch must succeed. */
static void launch_again(struct dagpatch_recording *recording, uint32_t set)
{
	between.fails = 0;
	if (dagpatch_recording_state(recording) == DAGPATCH_LOST)
		OK(recording, dagpatch_finalize(recording));
	suite_bed->stream_synchronize(stream);
	OK(recording, bind_and_launch(recording, set));
	expect_result(set, "again");
}

static struct dagpatch_context *context_with(enum dagpatch_strategy strategy,
					     struct dagpatch_error *error)
{
	struct dagpatch_context *context = NULL;

	dagpatch_context_create(&(struct dagpatch_options){.size = sizeof(struct dagpatch_options),
							   .driver = "hip",
							   .library = BETWEEN_LIBRARY,
							   .strategy = strategy},
				&context, error);
	return context;
}

static void expect_named(const char *message)
{
	if (!between.failed)
		fail_msg("%s", message);
	if (!strstr(message, between.failed))
		fail_msg("%s failed, and the error is: %s", between.failed, message);
}

/* Launches with two sets of addresses, then with the first one again. */
static void whole_life(enum dagpatch_strategy strategy)
{
	struct dagpatch_error error = {0};
	struct dagpatch_context *context = context_with(strategy, &error);
	struct dagpatch_recording *recording = NULL;

	if (!context) {
		assert_true(error.code < 0);
		expect_named(error.message);
		return;
	}
	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	/* A graph with work that is captured again is never updated as a whole, so this strategy
	 * needs other work. */
	if (record_all(context, recording,
		       strategy == DAGPATCH_UPDATE_GRAPH ? 0 : DAGPATCH_RECAPTURE) < 0) {
		expect_named(dagpatch_recording_error(recording)->message);
	} else {
		for (uint32_t i = 0; i < 3; i++) {
			OK(recording, set_first(recording, i == 1));
			if (bind_and_launch(recording, i % 2) < 0) {
				expect_named(dagpatch_recording_error(recording)->message);
				launch_again(recording, i % 2);
			} else {
				expect_result(i % 2, "at once");
			}
		}
		assert_true(dagpatch_verify(recording) >= 0 || between.failed);
	}
	between.fails = 0;
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
}

static const enum dagpatch_strategy strategies[] = {DAGPATCH_SET_PARAMS, DAGPATCH_UPDATE_GRAPH,
						    DAGPATCH_INSTANTIATE};

/* Asserts that dagpatch has destroyed everything that HIP made for it. */
static void expect_nothing_left(void)
{
	for (uint32_t i = 0; i < BETWEEN_KINDS; i++)
		if (between.live[i] != 0)
			fail_msg("%s failed: %d objects of kind %u are left",
				 between.failed ? between.failed : "nothing", (int)between.live[i],
				 i);
}

static void every_call_fails_in_turn(void **state)
{
	for (uint32_t i = 0; i < sizeof(strategies) / sizeof(*strategies); i++) {
		uint64_t begin = between.calls, calls;

		between.failed = NULL;
		whole_life(strategies[i]);
		calls = between.calls - begin;
		expect_nothing_left();
		print_message("strategy %u: %u calls\n", strategies[i], (uint32_t)calls);
		assert_true(calls > 100);
		for (uint64_t call = 1; call <= calls; call++) {
			between.failed = NULL;
			between.fails = between.calls + call;
			whole_life(strategies[i]);
			between.fails = 0;
			expect_nothing_left();
		}
	}
}

/* ---- calls that succeed and do nothing ---- */

static void expect_right_though(const char *lie, enum dagpatch_strategy strategy)
{
	between.lies = lie;
	between.failed = NULL;
	whole_life(strategy);
	between.lies = NULL;
}

/* HIP calls that change a node or a graph return success without effect. The results must be right
 * nevertheless. */
static void a_way_without_effect_is_not_used(void **state)
{
	static const char *const lies[] = {
		"hipGraphExecKernelNodeSetParams",
		"hipGraphExecMemcpyNodeSetParams",
		"hipGraphExecMemcpyNodeSetParams1D",
		"hipGraphExecMemsetNodeSetParams",
		"hipGraphExecUpdate",
		"hipGraphMemsetNodeSetParams",
		"hipGraphMemcpyNodeSetParams",
		"hipGraphMemcpyNodeSetParams1D",
		"hipGraphKernelNodeSetParams",
	};

	for (uint32_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		for (uint32_t j = 0; j < sizeof(strategies) / sizeof(*strategies); j++)
			expect_right_though(lies[i], strategies[j]);
}

/* ---- code that was unmapped ---- */

static const char gone_source[] =
	"extern \"C\" __global__ void bed_gone(unsigned *at, unsigned value) { at[0] += value; }\n";

__attribute__((visibility("default"))) void
softgpu_kernel_bed_gone(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

void softgpu_kernel_bed_gone(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		uint32_t *at;
		uint32_t value;
	} *gone = kernarg;

	*gone->at += gone->value;
}

/* Loads a module whose code the program then unmaps. */
static hipFunction_t load_gone(hipModule_t *ret_module)
{
	struct example_code code;
	hipFunction_t function;
	char *mapped;

	example_compile(gone_source, &code);
	mapped = mmap(NULL, code.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(mapped != MAP_FAILED);
	memcpy(mapped, code.bytes, code.size);
	free(code.bytes);
	HIP_CHECK(hipModuleLoadData(ret_module, mapped));
	HIP_CHECK(hipModuleGetFunction(&function, *ret_module, "bed_gone"));
	munmap(mapped, code.size);
	return function;
}

static void code_that_was_unmapped_is_not_read(void **state)
{
	struct dagpatch_context *context = context_with(DAGPATCH_AUTO, NULL);
	struct dagpatch_recording *recording;
	struct dagpatch_pointer pointer = {0};
	uint32_t value = 5, to;
	struct dagpatch_argument arguments[2] = {dagpatch_address(&pointer),
						 dagpatch_value(&value, sizeof(value))};
	hipModule_t module;
	hipFunction_t function = load_gone(&module);

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	to = slot(recording, "to");
	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = function, .grid = {1, 1, 1},
					       .block = {1, 1, 1}, .argument_count = 2,
					       .arguments = arguments),
			       NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	clear_results();
	for (uint32_t i = 0; i < 2; i++) {
		bind(recording, to, buffers[i][C]);
		OK(recording, dagpatch_launch(recording, stream));
		suite_bed->stream_synchronize(stream);
		expect_words(buffers[i][C], 1, 5, __FILE__, __LINE__);
	}
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	HIP_CHECK(hipModuleUnload(module));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails_in_turn),
		cmocka_unit_test(a_way_without_effect_is_not_used),
		cmocka_unit_test(code_that_was_unmapped_is_not_read),
	};
	int failed;

	suite_bed = &bed_hip;
	failed = suite_bed->open();
	if (failed)
		return failed;
	stream = suite_bed->stream_create();
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < SLOTS; j++)
			buffers[i][j] = buffer(j == A ? (i ? 10 : 1) : j == B ? (i ? 20 : 2) : 0);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < SLOTS; j++)
			suite_bed->free(buffers[i][j]);
	suite_bed->stream_destroy(stream);
	suite_bed->close();
	return failed;
}
