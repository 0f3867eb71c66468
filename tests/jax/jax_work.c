/*
 * Work on a GPU for a program of JAX that has none: a module of two operations, named as XLA names
 * them on NVIDIA GPUs. Loaded into Python by test_conformance_jax.py.
 */
#include <dagtap/annotate.h>

#include "common/kernels.h"

#define WORDS 64

static uint32_t *data;
static bool is_ready;

/* Once for a process. */
__attribute__((visibility("default"))) void jax_work_begin(void);
/* Runs the module: three kernels, two of fusion.1 and one of fusion.2, and a copy. */
__attribute__((visibility("default"))) void jax_work_run(void);

void jax_work_begin(void)
{
	if (is_ready)
		return;
	is_ready = true;
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, WORDS * sizeof(*data)));
	HIP_CHECK(hipDeviceSynchronize());
}

static void launch(uint32_t term)
{
	uint32_t count = WORDS;
	void *arguments[] = {&data, &term, &count};
	const dim3 one = {1, 1, 1}, block = {WORDS, 1, 1};

	HIP_CHECK(hipLaunchKernel(&example_kernels[MIX], one, block, arguments, 0, NULL));
}

static void begin_operation(const char *name)
{
	const struct dagtap_attribute attribute = dagtap_attribute_text("hlo_op", name);

	dagtap_scope_push_with("Thunk:", &attribute, 1);
}

void jax_work_run(void)
{
	const struct dagtap_attribute module[] = {
		dagtap_attribute_text("hlo_module", "jit_step"),
		dagtap_attribute_int64("program_id", 7),
	};
	uint32_t back[WORDS];

	dagtap_scope_push_with("XlaModule:", module, 2);
	begin_operation("fusion.1");
	launch(1);
	launch(2);
	dagtap_scope_pop();
	begin_operation("fusion.2");
	launch(3);
	dagtap_scope_pop();
	dagtap_scope_pop();
	HIP_CHECK(hipMemcpy(back, data, sizeof(back), hipMemcpyDeviceToHost));
}
