/* A library between dagpatch and HIP (options.library). Every function that dagpatch looks up is
 * defined here and passes the call to HIP, unless the test makes the call fail or succeed
 * without effect (hip_between.h). Used by one thread only. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <hip/hip_version.h>

#include "hip_between.h"
#include "patch/hip/hip_driver.h"

struct between between;

static const struct {
	const char *name;
	enum between_kind kind;
	bool makes;
} makers[] = {
	{"hipMalloc", BETWEEN_MEMORY, true},
	{"hipFree", BETWEEN_MEMORY, false},
	{"hipHostMalloc", BETWEEN_HOST_MEMORY, true},
	{"hipHostFree", BETWEEN_HOST_MEMORY, false},
	{"hipStreamCreateWithFlags", BETWEEN_STREAMS, true},
	{"hipStreamDestroy", BETWEEN_STREAMS, false},
	{"hipEventCreateWithFlags", BETWEEN_EVENTS, true},
	{"hipEventDestroy", BETWEEN_EVENTS, false},
	{"hipModuleLoadData", BETWEEN_MODULES, true},
	{"hipModuleUnload", BETWEEN_MODULES, false},
	{"hipGraphCreate", BETWEEN_GRAPHS, true},
	{"hipGraphClone", BETWEEN_GRAPHS, true},
	{"hipStreamEndCapture", BETWEEN_GRAPHS, true},
	{"hipGraphDestroy", BETWEEN_GRAPHS, false},
	{"hipGraphInstantiate", BETWEEN_EXECS, true},
	{"hipGraphExecDestroy", BETWEEN_EXECS, false},
};

static void count_object(const char *name, bool makes)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (makers[i].makes == makes && strcmp(makers[i].name, name) == 0)
			between.live[makers[i].kind] += makes ? 1 : -1;
}

/* The result of a call that is not passed to HIP. */
__attribute__((visibility("hidden"))) int between_result;

__attribute__((visibility("hidden"))) void *between_enter(const char *name);

/* Called by each wrapper. Returns HIP's function, or NULL if the call must not be made. */
void *between_enter(const char *name)
{
	uint64_t call = ++between.calls;

	count_object(name, false);
	if (call == between.fails) {
		between_result = BETWEEN_FAILURE;
		between.failed = name;
		return NULL;
	}
	if (between.lies && strcmp(name, between.lies) == 0) {
		between_result = HIP_OK;
		return NULL;
	}
	count_object(name, true);
	return dlsym(RTLD_DEFAULT, name); /* the program links HIP before this library */
}

/* A wrapper for a function of any signature: it saves the six argument registers and leaves the
 * arguments on the stack in place. */
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
