/* A library that uses HIP before the tool's constructor and after its destructor, as libraries
 * with device code do. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void arrive(void)
{
	int count = 0;

	if (hipGetDeviceCount(&count) || count < 1)
		_exit(3);
}

__attribute__((destructor)) static void leave(void)
{
	int device;

	if (hipGetDevice(&device))
		_exit(4);
}

int early_is_here(void);

int early_is_here(void)
{
	return 0;
}
