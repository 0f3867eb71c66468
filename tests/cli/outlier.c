/* outlier: copies 200 times 64 bytes to the device, then once a MiB, then 200 times 64 bytes. */
#include <stdio.h>
#include <stdlib.h>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#define LARGE (1u << 20)
#define SMALL 64
#define TIMES 200

int main(void)
{
	char *host = calloc(1, LARGE);
	void *device;
	int err;

	if (!host || hipMalloc(&device, LARGE) != hipSuccess)
		return 1;
	err = 0;
	for (int i = 0; i <= 2 * TIMES && !err; i++)
		err = hipMemcpy(device, host, i == TIMES ? LARGE : SMALL, hipMemcpyHostToDevice);
	free(host);
	puts(err ? "outlier: HIP failed" : "copied");
	return err != 0;
}
