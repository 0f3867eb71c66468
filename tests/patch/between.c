/* A library between dagpatch and its driver (options.library): HIP or, with BETWEEN_CUDA, CUDA.
 * Every function that dagpatch looks up is defined here and passes the call to the driver, unless
 * the test makes the call fail or succeed without effect (between.h). Used by one thread only. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "between.h"
#ifdef BETWEEN_CUDA
#include "vendor/cuda_types.h"
#else
#include <hip/hip_version.h>

#include "patch/hip/hip_driver.h"
#endif

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
	{"cuMemAlloc_v2", BETWEEN_MEMORY, true},
	{"cuMemFree_v2", BETWEEN_MEMORY, false},
	{"cuMemHostAlloc", BETWEEN_HOST_MEMORY, true},
	{"cuMemFreeHost", BETWEEN_HOST_MEMORY, false},
	{"cuStreamCreate", BETWEEN_STREAMS, true},
	{"cuStreamDestroy_v2", BETWEEN_STREAMS, false},
	{"cuEventCreate", BETWEEN_EVENTS, true},
	{"cuEventDestroy_v2", BETWEEN_EVENTS, false},
	{"cuLibraryLoadData", BETWEEN_MODULES, true},
	{"cuLibraryUnload", BETWEEN_MODULES, false},
	{"cuGraphCreate", BETWEEN_GRAPHS, true},
	{"cuGraphClone", BETWEEN_GRAPHS, true},
	{"cuStreamEndCapture", BETWEEN_GRAPHS, true},
	{"cuGraphDestroy", BETWEEN_GRAPHS, false},
	{"cuGraphInstantiateWithFlags", BETWEEN_EXECS, true},
	{"cuGraphExecDestroy", BETWEEN_EXECS, false},
	{"cuDevicePrimaryCtxRetain", BETWEEN_CONTEXTS, true},
	{"cuDevicePrimaryCtxRelease_v2", BETWEEN_CONTEXTS, false},
};

static void count_object(const char *name, bool makes)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (makers[i].makes == makes && strcmp(makers[i].name, name) == 0)
			between.live[makers[i].kind] += makes ? 1 : -1;
}

/* The result of a call that is not passed on. */
__attribute__((visibility("hidden"))) int between_result;

__attribute__((visibility("hidden"))) void *between_enter(const char *name);

static void *driver_function(const char *name)
{
	/* A program that is linked with the driver links it before this library. */
	return dlsym(between.next ? between.next : RTLD_DEFAULT, name);
}

/* cuStreamEndCapture ends the capture also when it fails. */
static int end_capture_and_fail(void *stream, void **ret_graph)
{
	int (*end)(void *, void **) = driver_function("cuStreamEndCapture");
	int (*destroy)(void *) = driver_function("cuGraphDestroy");
	void *graph = NULL;

	if (end(stream, &graph) == 0 && graph)
		destroy(graph);
	*ret_graph = NULL;
	return BETWEEN_FAILURE;
}

/* Called by each wrapper. Returns the driver's function, or NULL if the call must not be made. */
void *between_enter(const char *name)
{
	uint64_t call = ++between.calls;

	count_object(name, false);
	if (call == between.fails) {
		between_result = BETWEEN_FAILURE;
		between.failed = name;
		return strcmp(name, "cuStreamEndCapture") == 0 ? end_capture_and_fail : NULL;
	}
	if (between.lies && strcmp(name, between.lies) == 0) {
		between_result = 0;
		return NULL;
	}
	count_object(name, true);
	return driver_function(name);
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

#ifdef BETWEEN_CUDA
CUDA_FUNCTIONS(BETWEEN)
#else
HIP_FUNCTIONS(BETWEEN)
#if HIP_VERSION_MAJOR > 5
BETWEEN(hipGraphDebugDotPrint, )
BETWEEN(hipGraphKernelNodeCopyAttributes, )
#endif
#endif
