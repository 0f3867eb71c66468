/* The table of wrappers, cuGetProcAddress, which gives them to the program, and functions that have
 * none. */
#include <string.h>

#include "preload/cuda_real.h"
#include "preload/graph_versions.h"
#include "preload/passing.h"

static void *const wrappers[CUDA_DOORS] = {
#define CUDA_WRAPPER(name, ...) (void *)name,
	CUDA_OTHER_DOORS(CUDA_WRAPPER) CUDA_PASSING_DOORS(CUDA_WRAPPER)
		CUDA_GRAPH_DOORS(CUDA_WRAPPER) CUDA_MEMORY_DOORS(CUDA_WRAPPER)};

const struct door_wrappers door_cuda = {&cuda_doors, wrappers, cuda_unwrapped};

#define REAL(name) CUDA_REAL(name)

/* Whether NAME is another function in VERSION than in the last one that we know, perhaps with other
 * parameters. A driver that has VERSION has the older one, too. */
static bool is_newer(const char *name, void *function, int version, uint64_t flags)
{
	void *known = NULL;

	if (version <= CUDA_KNOWN_VERSION)
		return false;
	return !REAL(cuGetProcAddress_v2) ||
	       REAL(cuGetProcAddress_v2)(name, &known, CUDA_KNOWN_VERSION, flags, NULL) !=
		       CUDA_OK ||
	       known != function;
}

static void wrap(const char *name, void **function, int version, uint64_t flags)
{
	char symbol[CUDA_SYMBOL_BYTES];

	if (!name || !function || !*function)
		return;
	if (!is_newer(name, *function, version, flags) && cuda_symbol(name, version, flags, symbol))
		*function = door_wrap(&door_cuda, symbol, *function);
	else
		cuda_unwrapped(name);
}

int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	int err = DOOR_PASS(REAL(cuGetProcAddress), name, function, version, flags);

	if (err == CUDA_OK)
		wrap(name, function, version, flags);
	return err;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
			int *ret_found)
{
	int err = DOOR_PASS(REAL(cuGetProcAddress_v2), name, function, version, flags, ret_found);

	if (err == CUDA_OK)
		wrap(name, function, version, flags);
	return err;
}

/* ---- functions that are not wrapped ---- */

static bool begins_with(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}
#define BEGINS_WITH(name, prefixes)                                                                \
	begins_with(name, prefixes, sizeof(prefixes) / sizeof(*(prefixes)))

static bool begins_or_ends_capture(const char *name)
{
	return strncmp(name, "cuStreamBegin", 13) == 0 || strncmp(name, "cuStreamEnd", 11) == 0;
}

/* Whether a function of this name leaves all graphs as they are. */
static bool leaves_graphs(const char *name)
{
	static const char *const harmless[] = {
		"cuGraphics",
		"cuGraphExec",
		"cuGraphInstantiate",
		"cuGraphLaunch",
		"cuGraphUpload",
		"cuGraphNodeFindInClone",
		"cuGraphDebugDot",
		"cuGraphNodeSetEnabled",
		"cuGraphConditionalHandleCreate",
		"cuGraphRetainUserObject",
		"cuGraphReleaseUserObject",
	};

	if (begins_or_ends_capture(name))
		return false;
	return strncmp(name, "cuGraph", 7) != 0 || strstr(name, "Get") ||
	       BEGINS_WITH(name, harmless);
}

/* Whether a function of this name changes executables, or ends what they need. */
static bool may_change_execs(const char *name)
{
	static const char *const changing[] = {
		"cuGraphExec",
		"cuGraphLaunch",
		"cuGraphUpload",
		"cuGraphNodeSet",
		"cuGraphNodeGetEnabled",
		"cuGraphDestroy",
		"cuStreamDestroy",
		"cuModuleUnload",
		"cuLibraryUnload",
		"cuCtxDestroy",
		"cuCtxDetach",
		"cuGreenCtxDestroy",
		"cuDevicePrimaryCtxReset",
		"cuDevicePrimaryCtxRelease",
		"cuGetProcAddress",
	};

	return BEGINS_WITH(name, changing) && strncmp(name, "cuGraphExecGet", 14) != 0;
}

/* Whether a function of this name may end an allocation. */
static bool may_end_memory(const char *name)
{
	static const char *const ending[] = {
		"cuMemFree",
		"cuMemHostUnregister",
		"cuMemUnmap",
		"cuMemAddressFree",
		"cuMemPoolDestroy",
		"cuMemPoolTrim",
		"cuDeviceGraphMemTrim",
		"cuIpcClose",
		"cuDestroyExternal",
		"cuGraphicsUn",
		"cuGLUn",
	};
	static const char *const semaphores = "cuDestroyExternalSemaphore";

	return BEGINS_WITH(name, ending) && strcmp(name, semaphores) != 0;
}

void cuda_unwrapped(const char *name)
{
	if (may_end_memory(name))
		cuda_memory_unknown_call();
	if (begins_or_ends_capture(name))
		cuda_capture_unknown_call();
	if (!leaves_graphs(name))
		graph_unknown_call();
	if (may_change_execs(name))
		cuda_pass_all();
}
