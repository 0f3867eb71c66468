/* Finds tools: see found_tool.h. */
#include "sdk/found_tool.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/injected.h"

#define SYMBOL "rocprofiler_configure"
#define TOOLS  "ROCP_TOOL_LIBRARIES"

/* Whether FUNCTION is that of the injected library, which has one to receive dispatch tables. It is
 * no tool's, but may come first in the order of look-ups. */
static bool is_injected(const void *function)
{
	Dl_info own, injected;

	return dladdr(function, &own) && dladdr(injected_find(), &injected) &&
	       own.dli_fbase == injected.dli_fbase;
}

sdk_configure *found_tool_of(sdk_configure *configure, const void *caller)
{
	sdk_configure *own = NULL;
	void *library = NULL;
	Dl_info of_caller;

	if (!is_injected((const void *)configure))
		return configure;
	if (dladdr(caller, &of_caller))
		library = dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (library)
		own = (sdk_configure *)dlsym(library, SYMBOL);
	return own ? own : configure;
}

/* The function of a library of the process; NULL: there is none. */
static sdk_configure *find_loaded(void)
{
	void *first = dlsym(RTLD_DEFAULT, SYMBOL);

	/* This library is preloaded behind the injected one. */
	if (first && is_injected(first))
		first = dlsym(RTLD_NEXT, SYMBOL);
	return (sdk_configure *)first;
}

/* The function of the library at PATH, which is loaded if it is not; NULL: it has none. */
static sdk_configure *find_in(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (!library)
		library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	return library ? (sdk_configure *)dlsym(library, SYMBOL) : NULL;
}

static sdk_configure *find_named(const char *paths)
{
	sdk_configure *found = NULL;
	char path[PATH_MAX];

	while (paths && *paths && !found) {
		size_t bytes = strcspn(paths, ":");

		if (bytes && bytes < sizeof(path)) {
			snprintf(path, sizeof(path), "%.*s", (int)bytes, paths);
			found = find_in(path);
		}
		paths += bytes + (paths[bytes] == ':');
	}
	return found;
}

bool found_tool_is_there(void)
{
	const char *named = getenv(TOOLS);

	return (named && *named) || find_loaded();
}

sdk_configure *found_tool(void)
{
	sdk_configure *found = find_named(getenv(TOOLS));

	return found ? found : find_loaded();
}
