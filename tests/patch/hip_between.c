/* A library between dagpatch and HIP (options.library): every call that dagpatch looks up passes
 * here and goes on to the real one, unless the test lets it fail, or succeed without being made.
 * One thread. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include <hip/hip_version.h>

#include "hip_between.h"
#include "patch/hip/hip.h"

struct between between;

/* Of a call that is not made. */
__attribute__((visibility("hidden"))) int between_result;

__attribute__((visibility("hidden"))) void *between_enter(const char *name);

/* The function to go on to, or NULL. */
void *between_enter(const char *name)
{
	uint64_t call = ++between.calls;

	if (call == between.fails) {
		between_result = BETWEEN_FAILURE;
		between.failed = name;
		return NULL;
	}
	if (between.lies && strcmp(name, between.lies) == 0) {
		between_result = HIP_OK;
		return NULL;
	}
	return dlsym(RTLD_DEFAULT, name); /* the program is linked with HIP before this */
}

/* Arguments stay where they are, whatever they are; six are in registers. */
#define BETWEEN(name, parameters)                                                                  \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                \
		"push %rdi\n"                                                                      \
		"push %rsi\n"                                                                      \
		"push %rdx\n"                                                                      \
		"push %rcx\n"                                                                      \
		"push %r8\n"                                                                       \
		"push %r9\n"                                                                       \
		"sub $8, %rsp\n"                                                                   \
		"lea 1f(%rip), %rdi\n"                                                             \
		"call between_enter\n"                                                             \
		"add $8, %rsp\n"                                                                   \
		"pop %r9\n"                                                                        \
		"pop %r8\n"                                                                        \
		"pop %rcx\n"                                                                       \
		"pop %rdx\n"                                                                       \
		"pop %rsi\n"                                                                       \
		"pop %rdi\n"                                                                       \
		"test %rax, %rax\n"                                                                \
		"jz 2f\n"                                                                          \
		"jmp *%rax\n"                                                                      \
		"2: mov between_result(%rip), %eax\n"                                              \
		"ret\n"                                                                            \
		"1: .string \"" #name "\"\n"                                                       \
		".size " #name ", . - " #name "\n");

HIP_FUNCTIONS(BETWEEN)
#if HIP_VERSION_MAJOR > 5
BETWEEN(hipGraphDebugDotPrint, )
BETWEEN(hipGraphKernelNodeCopyAttributes, )
#endif
