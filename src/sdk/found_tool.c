/* Finds tools: see found_tool.h. */
#include "sdk/found_tool.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/inject.h"
#include "sdk/calls.h"
#include "sdk/export.h"

#define SYMBOL "rocprofiler_configure"

/* Whether FUNCTION is that of the injected library, which has one only to be asked for tables, and
 * may lie before a tool's in the order of look-ups. */
static bool is_injected(const void *function)
{
	Dl_info own, injected;

	return dladdr(function, &own) && dladdr(sdk_calls_find(), &injected) &&
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

static void seek(const struct inject_call *call)
{
	static atomic_flag is_sought = ATOMIC_FLAG_INIT;
	sdk_configure *found;

	if (atomic_flag_test_and_set(&is_sought))
		return;
	found = find_named(getenv("ROCP_TOOL_LIBRARIES"));
	if (!found)
		found = find_loaded();
	sdk_calls_await(NULL);
	/* Does nothing if the tool has configured itself meanwhile. */
	if (found && rocprofiler_force_configure(found) == SDK_SUCCESS)
		sdk_calls_enter(call);
}

static void pass_return(const struct inject_call *call)
{
	(void)call;
}

static void pass_mark(const struct inject_mark *mark)
{
	(void)mark;
}

__attribute__((constructor)) static void await_first_call(void)
{
	static const struct inject_observer seeker = {seek, pass_return, pass_mark};

	if (sdk_calls_find())
		sdk_calls_await(&seeker);
}
