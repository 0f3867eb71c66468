/* A library between libdagpatch-preload.so and HIP, preloaded after it: one of the calls that pass
 * through it while it is armed fails (failing_hip.h). Used by one thread only. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "failing_hip.h"

struct failing failing;

static const struct {
	const char *name;
	enum failing_kind kind;
	bool makes;
} makers[] = {
	{"hipGraphClone", FAILING_GRAPHS, true},
	{"hipGraphDestroy", FAILING_GRAPHS, false},
	{"hipGraphInstantiate", FAILING_EXECS, true},
	{"hipGraphExecDestroy", FAILING_EXECS, false},
	{"hipEventCreateWithFlags", FAILING_EVENTS, true},
	{"hipEventDestroy", FAILING_EVENTS, false},
};

__attribute__((visibility("hidden"))) void *failing_enter(const char *name);

/* Called by each wrapper. Returns HIP's function, or NULL if the call must not be made. */
void *failing_enter(const char *name)
{
	bool fails = failing.is_armed && ++failing.calls == failing.at;

	for (size_t i = 0; failing.is_armed && i < sizeof(makers) / sizeof(*makers); i++) {
		if (strcmp(makers[i].name, name) != 0)
			continue;
		if (!fails)
			failing.live[makers[i].kind] += makers[i].makes ? 1 : -1;
		else if (!makers[i].makes)
			failing.was_destroy = (int)makers[i].kind + 1;
	}
	if (!fails)
		return dlsym(RTLD_NEXT, name);
	failing.failed = name;
	return NULL;
}

/* A wrapper for a function of any signature: it saves the six argument registers and leaves the
 * arguments on the stack in place. */
#define FAILING(name)                                                                              \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                \
		"push %rdi\n"                                                                      \
		"push %rsi\n"                                                                      \
		"push %rdx\n"                                                                      \
		"push %rcx\n"                                                                      \
		"push %r8\n"                                                                       \
		"push %r9\n"                                                                       \
		"sub $8, %rsp\n"                                                                   \
		"lea 1f(%rip), %rdi\n"                                                             \
		"call failing_enter\n"                                                             \
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
		"2: mov $719, %eax\n"                                                              \
		"ret\n"                                                                            \
		"1: .string \"" #name "\"\n"                                                       \
		".size " #name ", . - " #name "\n");
_Static_assert(FAILING_RESULT == 719, "as above");

FAILING(hipGraphClone)
FAILING(hipGraphNodeGetType)
FAILING(hipGraphDestroy)
FAILING(hipGraphGetNodes)
FAILING(hipGraphInstantiate)
FAILING(hipGraphExecDestroy)
FAILING(hipGraphLaunch)
FAILING(hipGraphExecKernelNodeSetParams)
FAILING(hipGraphExecMemcpyNodeSetParams1D)
FAILING(hipGraphExecMemsetNodeSetParams)
FAILING(hipGraphExecChildGraphNodeSetParams)
FAILING(hipGraphGetEdges)
FAILING(hipGraphKernelNodeGetParams)
FAILING(hipGraphKernelNodeGetAttribute)
FAILING(hipEventCreateWithFlags)
FAILING(hipEventDestroy)
FAILING(hipEventRecord)
FAILING(hipStreamWaitEvent)
FAILING(hipStreamDestroy)
FAILING(hipStreamIsCapturing)
