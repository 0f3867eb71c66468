/* Finds the dlsym behind ours; see dlsym_entry.h. */
#include "base/dlsym_entry.h"

#include <dlfcn.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* Weak, as in dlsym_entry.S: programs that only look functions up have none. */
void *dlsym_of_handle(void *handle, const char *name) __attribute__((weak));

typedef void *(*dlsym_function)(void *handle, const char *name);

void *(*dlsym_libc)(void *handle, const char *name);
/* That of the next library that gives functions out, by what it exports; or the C library's. */
static dlsym_function dlsym_next;

/* The exported name is not dlsym, because a look-up that names the C library's version passes a
 * dlsym without a version over. */
EXPORT void *dagtap_dlsym_of_handle_v1(void *handle, const char *name)
{
	return dlsym_of_handle(handle, name);
}

/* The sanitizers' runtimes call dlsym before they are ready. */
__attribute__((no_sanitize("address", "thread", "undefined"))) void dlsym_open(void)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
	void *found = NULL, *next;

	for (size_t i = 0; !found && i < sizeof(versions) / sizeof(*versions); i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	dlsym_libc = (dlsym_function)found;
	if (!dlsym_libc)
		return;
	next = dlsym_libc(RTLD_NEXT, "dagtap_dlsym_of_handle_v1");
	dlsym_next = next ? (dlsym_function)next : dlsym_libc;
}

void *dlsym_inner(void *handle, const char *name)
{
	if (!dlsym_next)
		dlsym_open();
	if (!dlsym_next)
		return NULL;
	return handle == RTLD_DEFAULT || handle == RTLD_NEXT ? dlsym_libc(handle, name)
							     : dlsym_next(handle, name);
}
