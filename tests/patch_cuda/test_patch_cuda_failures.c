/* dagpatch on CUDA, played or real, where each call of the driver fails in turn (between.h). */
#include <dlfcn.h>

#include "../patch/bed_cuda.h"
#include "../patch/between_life.h"

/* Releases; the mode of captures, and the thread's own context, which the test does not depend on;
 * marks, without which dagpatch waits later; an instantiation for launches from the device, after
 * which a plain one is made. */
static const char *const silent[] = {
	"Destroy",
	"Free",
	"Release",
	"Unload",
	"cuThreadExchangeStreamCaptureMode",
	"cuCtxGetCurrent",
	"cuCtxSetCurrent",
	"cuEvent",
	"cuGraphInstantiateWithFlags",
	NULL,
};

static void every_call_fails_in_turn(void **state)
{
	life_fail_each_call((enum dagpatch_strategy)(uintptr_t)*state);
}

#define WITH(strategy)                                                                             \
	{                                                                                          \
		"every_call_fails_in_turn " #strategy, every_call_fails_in_turn, NULL, NULL,       \
			(void *)(uintptr_t)(strategy)                                              \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(DAGPATCH_SET_PARAMS),
		WITH(DAGPATCH_DEVICE_TABLE),
		WITH(DAGPATCH_UPDATE_GRAPH),
		WITH(DAGPATCH_INSTANTIATE),
	};
	int failed = life_open(&bed_cuda);

	if (failed)
		return failed;
	between.next = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	life_silent = silent;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	life_close();
	return failed;
}
