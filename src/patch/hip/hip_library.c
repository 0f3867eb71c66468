/* Chooses the libamdhip64, and reports failures of its calls. A machine may have several of these
 * libraries, and a graph, a stream or an address of one of them means nothing to another. The
 * library that the process has loaded already is the one that the caller's handles belong to. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

/* The loaded file may have any name: PyTorch's wheels add a hash to it. */
static bool is_hip(const char *path)
{
	static const char name[] = "libamdhip64";
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, name, sizeof(name) - 1) == 0;
}

struct search {
	const void *function; /* a function of the wanted library; NULL: any library */
	char path[4096];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	Dl_info found;

	if (!info->dlpi_name || !is_hip(info->dlpi_name) ||
	    strlen(info->dlpi_name) >= sizeof(search->path))
		return 0;
	if (search->function &&
	    (!dladdr(search->function, &found) || (uintptr_t)found.dli_fbase != info->dlpi_addr))
		return 0;
	snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

/* If several are loaded, takes the one whose functions the program itself calls. */
static void *find_loaded(void)
{
	struct search search = {.function = dlsym(RTLD_DEFAULT, "hipGetDeviceCount")};

	if (!search.function || !dl_iterate_phdr(look_at, &search)) {
		search.function = NULL;
		if (!dl_iterate_phdr(look_at, &search))
			return NULL;
	}
	return dlopen(search.path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

void *hip_library_open(const char *given)
{
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5", "libamdhip64.so"};
	void *library;

	if (given)
		return dlopen(given, RTLD_NOW | RTLD_LOCAL);
	library = find_loaded();
	for (uint32_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* ---- failures of its calls ---- */

int hip_check(struct hip_driver *hip, const char *call, int err)
{
	int code = -EIO;

	if (err == HIP_OK)
		return 0;
	if (err == HIP_OUT_OF_MEMORY)
		code = -ENOMEM;
	else if (err == HIP_NOT_SUPPORTED || err == HIP_GRAPH_EXEC_UPDATE_FAILURE)
		code = -ENOTSUP;
	return patch_fault(code, call, err, hip->call.hipGetErrorString(err));
}
