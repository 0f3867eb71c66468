/* What our dlsym does with handles of libraries: a program that looks up a function of RCCL or NCCL
 * in a library that it has loaded gets our wrapper, as one that is linked with the library does. So
 * do frameworks that load NCCL themselves, such as JAX. For CUPTI's functions the cuda source says
 * what they get. */
#include <dlfcn.h>
#include <string.h>

#include "base/dlsym_entry.h"
#include "capture/cuda/cuda_subscription.h"
#include "capture/rccl/rccl_wrap.h"

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Whether ADDRESS is in a library that is RCCL or NCCL by its file's name. */
static bool is_inside(const void *address)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return starts_with(slash ? slash + 1 : info.dli_fname, "libnccl") ||
	       starts_with(slash ? slash + 1 : info.dli_fname, "librccl");
}

/* A wrapper passes its calls to one library, the one that a program that is linked with it gets.
 * Functions of a second one are given out as they are: communicators of one must not reach the
 * other. */
static void *wrapper_of(const char *name, void *found)
{
	void *next;

	for (uint32_t i = 1; i < RCCL_COUNT; i++) {
		if (strcmp(rccl_functions[i].symbol, name) != 0)
			continue;
		if (found == rccl_symbols[i] || !is_inside(found))
			return found;
		next = rccl_next_at(DOOR_SYMBOL, (enum rccl_function)(RCCL_NONE + i));
		/* The program's look-up has succeeded, so it expects no error. */
		(void)dlerror();
		return next == found ? rccl_symbols[i] : found;
	}
	return found;
}

void *dlsym_of_handle(void *handle, const char *name)
{
	void *found = dlsym_inner(handle, name);

	if (found && name && starts_with(name, "cupti"))
		return cuda_subscription_lookup(name, found);
	/* All functions begin so; most names that programs ask for do not. */
	if (!found || !name || (!starts_with(name, "nccl") && !starts_with(name, "msccl")))
		return found;
	return wrapper_of(name, found);
}
