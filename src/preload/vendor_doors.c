/* Finds the functions behind our wrappers, and gives the wrappers to programs that ask dlsym. */
#include "preload/vendor_doors.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "base/dlsym_entry.h"

/* Returns whether ADDRESS is in a library of this vendor, which then is the one that is wrapped,
 * unless another one came before. */
static bool is_inside(struct door_library *library, const void *address)
{
	void *none = NULL;
	const char *slash, *file;
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	file = slash ? slash + 1 : info.dli_fname;
	if (strncmp(file, library->prefix, strlen(library->prefix)) != 0)
		return false;
	return atomic_compare_exchange_strong(&library->base, &none, info.dli_fbase) ||
	       none == info.dli_fbase;
}

struct search {
	const struct door_library *library;
	size_t skip; /* so many libraries before */
	char path[4096];
};

/* Libraries that the program has loaded for itself alone (RTLD_LOCAL). Only copies the path,
 * because the loader's lock is held. */
static int find_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const char *prefix = search->library->prefix;

	if (!slash || strncmp(slash + 1, prefix, strlen(prefix)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(search->path) || search->skip-- > 0)
		return 0;
	strcpy(search->path, info->dlpi_name);
	return 1;
}

void *door_find(struct door_library *library, const char *name)
{
	void *found = dlsym_inner(RTLD_NEXT, name);

	for (size_t i = 0; !found; i++) {
		struct search search = {library, i, ""};
		void *handle;

		if (!dl_iterate_phdr(find_loaded, &search))
			return NULL;
		/* The handle is kept: a library whose functions we call must stay. */
		handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
		found = handle ? dlsym_inner(handle, name) : NULL;
	}
	is_inside(library, found);
	return found;
}

void *door_real(struct door_library *library, size_t door)
{
	struct door *at = &library->doors[door];
	void *real = atomic_load_explicit(&at->real, memory_order_acquire);

	if (real)
		return real;
	real = door_find(library, at->name);
	atomic_store_explicit(&at->real, real, memory_order_release);
	return real;
}

void *door_wrap(const struct door_wrappers *to, const char *name, void *function)
{
	struct door_library *library = to->library;

	for (size_t i = 0; function && i < library->count; i++) {
		struct door *door = &library->doors[i];
		void *none = NULL;

		if (strcmp(door->name, name) != 0)
			continue;
		if (function == to->wrappers[i] || !is_inside(library, function))
			return function;
		atomic_compare_exchange_strong(&door->real, &none, function);
		return to->wrappers[i];
	}
	if (to->unwrapped && function)
		to->unwrapped(name);
	return function;
}
