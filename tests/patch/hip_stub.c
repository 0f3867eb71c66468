/* A libamdhip64 of release STUB without a GPU, for test_patch_hip_library.c. It defines the
 * names that dagpatch looks up, and counts how often dagpatch asked for the number of devices. */
#include <string.h>

#include "patch/hip/hip_driver.h"

static int asked;

int stub_asked(void);

int stub_asked(void)
{
	return asked;
}

static int stub_call(const char *name, int *ret_first)
{
	if (strcmp(name, "hipGetDeviceCount") == 0) {
		asked++;
		*ret_first = 1;
		return HIP_OK;
	}
	if (strcmp(name, "hipRuntimeGetVersion") == 0) {
		*ret_first = STUB * 10000000;
		return HIP_OK;
	}
	return HIP_NOT_SUPPORTED;
}

#define STUB_CALL(name, parameters)                                                                \
	int name(int *ret_first);                                                                  \
	int name(int *ret_first)                                                                   \
	{                                                                                          \
		return stub_call(#name, ret_first);                                                \
	}
HIP_FUNCTIONS(STUB_CALL)

#define STUB_TEXT(name)                                                                            \
	const char *name(void);                                                                    \
	const char *name(void)                                                                     \
	{                                                                                          \
		return "a stub";                                                                   \
	}
STUB_TEXT(hipGetErrorString)
STUB_TEXT(hipKernelNameRef)
STUB_TEXT(hipKernelNameRefByPtr)
