/* Whether CUDA's executables are made virtual, and what ends for all of them. */
#include <pthread.h>

#include "preload/cuda_real.h"

static bool is_open;
static _Atomic bool is_off; /* for good: the program has a call that is not known */

static void open_cuda(void)
{
	is_open = cuda_inner_open() && cuda_images_open() == 0;
}

bool cuda_is_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_cuda);
	return is_open && !is_off;
}

void cuda_pass_all(void)
{
	if (!virtual_is_on())
		return;
	is_off = true;
	virtual_pass_all(&cuda_vendor, "a call that is not known");
}

void cuda_forget_functions(void *module)
{
	if (!virtual_is_on() || !cuda_is_open())
		return;
	virtual_functions_end(&cuda_vendor, module);
	cuda_images_forget_functions();
}
