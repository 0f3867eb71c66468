/* Starts a tool that the program brings along and that waits to be found: a library with a function
 * rocprofiler_configure, among those that ROCP_TOOL_LIBRARIES names or in the process. It is looked
 * for at the first recorded call of HIP: before that, the library's constructors may not have
 * run. Its initialize runs inside of this call, of which the tool gets callbacks and a record. */
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/inject.h"
#include "sdk/calls.h"
#include "sdk/export.h"

#define SYMBOL "rocprofiler_configure"

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
		found = (sdk_configure *)dlsym(RTLD_DEFAULT, SYMBOL);
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
