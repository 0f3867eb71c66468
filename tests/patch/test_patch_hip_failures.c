/* dagpatch on the real HIP, where each call fails in turn or returns success without effect
 * (between.h). A HIP call without effect is not used. Code that is gone, and per-thread streams. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>
#include <sys/mman.h>

#include "between_life.h"
#include "example.h"

static const enum dagpatch_strategy strategies[] = {DAGPATCH_SET_PARAMS, DAGPATCH_UPDATE_GRAPH,
						    DAGPATCH_INSTANTIATE};

static void every_call_fails_in_turn(void **state)
{
	for (uint32_t i = 0; i < sizeof(strategies) / sizeof(*strategies); i++)
		life_fail_each_call(strategies[i]);
}

/* ---- calls that succeed and do nothing ---- */

static void expect_right_though(const char *lie, enum dagpatch_strategy strategy)
{
	between.lies = lie;
	between.failed = NULL;
	life_run(strategy);
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
	struct dagpatch_context *context = life_context(DAGPATCH_AUTO, NULL);
	struct dagpatch_recording *recording;
	struct dagpatch_pointer pointer = {0};
	uint32_t *buffers[2], value = 5, to;
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
	for (uint32_t i = 0; i < 2; i++) {
		buffers[i] = buffer(0);
		bind(recording, to, buffers[i]);
		OK(recording, dagpatch_launch(recording, NULL));
		suite_bed->stream_synchronize(NULL);
		expect_first(buffers[i], 5);
		buffer_free(buffers[i]);
	}
	dagpatch_recording_destroy(recording);
	dagpatch_context_destroy(context);
	HIP_CHECK(hipModuleUnload(module));
}

/* ---- a thread that has called nothing of HIP ---- */

static void *add_without_arguments(void *context)
{
	struct dagpatch_recording *recording;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	scene_failed(recording,
		     dagpatch_add_kernel(recording,
					 &DAGPATCH_SIZED(kernel,
							 .function = suite_bed->function(BED_MARK),
							 .grid = {1, 1, 1}, .block = {1, 1, 1}),
					 NULL, NULL),
		     -EINVAL, "0 arguments for a kernel that takes 2");
	dagpatch_recording_destroy(recording);
	return NULL;
}

/* dagpatch finds the parameters of a kernel there as on any other thread. HIP 5.2.3 does not find
 * the kernel. */
static void a_thread_that_is_new_to_hip(void **state)
{
	struct dagpatch_context *context = life_context(DAGPATCH_AUTO, NULL);
	pthread_t thread;

	threads_begin();
	assert_int_equal(pthread_create(&thread, NULL, add_without_arguments, context), 0);
	pthread_join(thread, NULL);
	threads_end();
	dagpatch_context_destroy(context);
}

/* ---- per-thread streams ---- */

static struct dagpatch_recording *recording_of_one(struct dagpatch_context *context,
						   enum bed_kernel kernel, void *address)
{
	struct dagpatch_recording *recording;
	struct dagpatch_pointer pointer = {0};
	uint32_t value = 1;
	struct dagpatch_argument arguments[2] = {dagpatch_address(&pointer),
						 dagpatch_value(&value, sizeof(value))};

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	pointer.slot = slot(recording, "address");
	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(kernel),
					       .grid = {1, 1, 1}, .block = {1, 1, 1},
					       .argument_count = kernel == BED_HOLD ? 1 : 2,
					       .arguments = arguments),
			       NULL, NULL));
	OK(recording, dagpatch_finalize(recording));
	bind(recording, pointer.slot, address);
	OK(recording, dagpatch_launch(recording, suite_bed->per_thread_stream));
	return recording;
}

struct marking {
	struct dagpatch_context *context;
	uint32_t *to;
	int64_t execs; /* that exist after the launch */
};

/* Launches into this thread's per-thread stream, waits for it, and lets the context look for what
 * is done. */
static void *launch_and_reap(void *user)
{
	struct marking *marking = user;
	struct dagpatch_recording *mine, *next;

	mine = recording_of_one(marking->context, BED_MARK, marking->to);
	suite_bed->stream_synchronize(suite_bed->per_thread_stream);
	OK(NULL, dagpatch_recording_create(marking->context, 0, &next));
	marking->execs = between.live[BETWEEN_EXECS];
	dagpatch_recording_destroy(next);
	dagpatch_recording_destroy(mine);
	return NULL;
}

/* The replay of a destroyed recording is in this thread's per-thread stream. Another thread's
 * launch by the same handle tells nothing about it: its executable graph must stay. */
static void another_threads_stream_marks_nothing(void **state)
{
	uint32_t *flag = suite_bed->alloc_host(256), *to = buffer(0);
	struct marking marking = {.context = life_context(DAGPATCH_AUTO, NULL), .to = to};
	pthread_t thread;

	*flag = 0;
	dagpatch_recording_destroy(recording_of_one(marking.context, BED_HOLD, flag));
	threads_begin();
	assert_int_equal(pthread_create(&thread, NULL, launch_and_reap, &marking), 0);
	pthread_join(thread, NULL);
	threads_end();
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE); /* first, so that a failed case ends */
	assert_int_equal(marking.execs, 2);
	suite_bed->stream_synchronize(suite_bed->per_thread_stream);
	dagpatch_context_destroy(marking.context);
	assert_int_equal(between.live[BETWEEN_EXECS], 0);
	expect_first(to, 1);
	suite_bed->free_host(flag);
	buffer_free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails_in_turn),
		cmocka_unit_test(a_way_without_effect_is_not_used),
		cmocka_unit_test(code_that_was_unmapped_is_not_read),
		cmocka_unit_test(a_thread_that_is_new_to_hip),
		cmocka_unit_test(another_threads_stream_marks_nothing),
	};
	int failed;

	failed = life_open(&bed_hip);
	if (failed)
		return failed;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	life_close();
	return failed;
}
