/* Fuzzes libdagpatch with arbitrary calls on the model device. */
#include "patch_program.h"

const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes an allocation of an impossible size return NULL instead of ending the process. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	patch_program_run(data, size);
	return 0;
}
