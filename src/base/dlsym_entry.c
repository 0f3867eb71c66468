/* Finds the C library's dlsym; see dlsym_entry.h. */
#include "base/dlsym_entry.h"

#include <dlfcn.h>
#include <stddef.h>

void *(*dlsym_libc)(void *handle, const char *name);

/* The sanitizers' runtimes call dlsym before they are ready. */
__attribute__((no_sanitize("address", "thread", "undefined"))) void dlsym_open(void)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
	void *found = NULL;

	for (size_t i = 0; !found && i < sizeof(versions) / sizeof(*versions); i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	dlsym_libc = (void *(*)(void *, const char *))found;
}

void *dlsym_inner(void *handle, const char *name)
{
	if (!dlsym_libc)
		dlsym_open();
	return dlsym_libc(handle, name);
}
