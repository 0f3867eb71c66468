/*
 * What the HIP examples share: checked calls, kernels without hipcc, and the last line of output,
 * which the tests read. Plain C: hiprtc compiles the kernels' source when the program starts, and
 * the kernels are registered as hipcc's start-up code does it, so that hipLaunchKernel works, also
 * in stream capture. A function that cannot do its work ends the program.
 */
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

/*
 * A kernel for hipLaunchKernel. HIP uses the address of this struct as the key ("host stub") of the
 * kernel and never calls it.
 */
struct example_kernel {
	const char *name;
};

struct example_code {
	char *bytes;
	size_t size;
};

/* Prints the message on stderr and exits with 1. */
__attribute__((noreturn, format(printf, 1, 2))) void example_fail(const char *format, ...);

/* Ends the program with a message if ERROR is one. Use HIP_CHECK. */
void example_check(hipError_t error, const char *call, const char *file, int line);

/*
 * Returns the positive decimal number argv[INDEX], or FALLBACK when there is no such argument;
 * exits when it is not such a number.
 */
unsigned example_argument(int argc, char **argv, int index, unsigned fallback);

/* Compiles HIP source for the current device's architecture. The caller frees ret_code->bytes. */
void example_compile(const char *source, struct example_code *ret_code);

/* Compiles SOURCE and registers its COUNT kernels. Call once in a program. */
void example_register(const char *source, const struct example_kernel *kernels, size_t count);

/*
 * Call hipLaunchKernel with one-dimensional sizes. example_launch counts a kernel; example_capture
 * does not, because its stream is capturing.
 */
void example_launch(const struct example_kernel *kernel, unsigned blocks, unsigned threads,
		    void **arguments, hipStream_t stream);
void example_capture(const struct example_kernel *kernel, unsigned blocks, unsigned threads,
		     void **arguments, hipStream_t stream);

/*
 * Adds COUNT to the kernels launched; for those that example_launch does not see: graph nodes at
 * each replay, launches of module functions.
 */
void example_count_kernels(uint64_t count);

/* Compares COUNT words; exits with 1 and names the first difference, if there is one. */
void example_expect(const uint32_t *got, const uint32_t *want, size_t count, const char *what);

/* Prints "kernels launched: N" and returns main's exit code. */
int example_finish(void);

#endif
