/* What every HIP example shares: checked calls, kernels without hipcc, and the closing line that
 * the tests read. Plain C: the kernels' source is compiled by hiprtc when the program starts and
 * registered the way hipcc's own start-up code does it, so that hipLaunchKernel (and with it
 * stream capture) works. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#include <hip/hip_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIP_CHECK(call) example_check((call), #call, __FILE__, __LINE__)

/* A kernel that hipLaunchKernel knows. Its address is the "host stub": HIP uses it as a key only. */
struct example_kernel {
	const char *name;
};

struct example_code {
	char *bytes;
	size_t size;
};

/* Prints the message on stderr and exits with 1. */
__attribute__((noreturn, format(printf, 1, 2))) void example_fail(const char *format, ...);

void example_check(hipError_t error, const char *call, const char *file, int line);

/* A positive decimal number from argv[INDEX], or FALLBACK when there is none; exits on anything else. */
unsigned example_argument(int argc, char **argv, int index, unsigned fallback);

/* Compiles HIP source for the current device's architecture; free(ret_code->bytes) afterwards. */
void example_compile(const char *source, struct example_code *ret_code);

/* Compiles SOURCE and registers COUNT kernels of it. Once in a program. */
void example_register(const char *source, const struct example_kernel *kernels, size_t count);

/* hipLaunchKernel with 1-D sizes; counts the launch unless it is only captured. */
void example_launch(const struct example_kernel *kernel, unsigned blocks, unsigned threads,
		    void **arguments, hipStream_t stream);
void example_capture(const struct example_kernel *kernel, unsigned blocks, unsigned threads,
		     void **arguments, hipStream_t stream);

/* For kernels that example_launch does not see: graph nodes at each replay, module launches. */
void example_count_kernels(uint64_t count);

/* Compares COUNT values; on the first difference names it and exits with 1. */
void example_expect(const uint32_t *got, const uint32_t *want, size_t count, const char *what);

/* Prints "kernels launched: N" and returns main's exit code. */
int example_finish(void);

#endif
