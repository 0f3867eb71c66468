/* Finds the vendor's functions behind our symbols; see symbol.h. */
#include "capture/symbol.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/dlsym_entry.h"
#include "base/table.h"

/* The paths of the loaded objects. */
struct objects {
	char **paths;
	uint32_t count;
};

static int add_object(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct objects *objects = data;
	char **path;

	if (!info->dlpi_name || !*info->dlpi_name)
		return 0;
	path = table_add((void **)&objects->paths, &objects->count, sizeof(*path));
	if (!path)
		return 1;
	*path = strdup(info->dlpi_name);
	return !*path;
}

/* The base address of the object that contains ADDRESS; NULL: none does. */
static void *module_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Finds SYMBOL in the loaded library PATH or its dependencies, but not in ours. Returns a handle of
 * PATH and sets *RET_ADDRESS; NULL: not found. */
static void *open_with(const char *path, const char *symbol, void **ret_address)
{
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	/* Not ours, which would answer with our wrapper. */
	void *found = library ? dlsym_inner(library, symbol) : NULL;

	if (found && module_of(found) != module_of((const void *)&open_with)) {
		*ret_address = found;
		return library;
	}
	if (library)
		dlclose(library);
	return NULL;
}

/* The same in any loaded object. */
static void *open_any_with(const char *symbol, void **ret_address)
{
	struct objects objects = {0};
	void *library = NULL;

	dl_iterate_phdr(add_object, &objects);
	for (uint32_t i = 0; i < objects.count; i++) {
		if (!library)
			library = open_with(objects.paths[i], symbol, ret_address);
		free(objects.paths[i]);
	}
	free(objects.paths);
	return library;
}

/* The handle is kept, because a library whose functions we call must not be unloaded. */
void *symbol_anywhere(const char *symbol)
{
	void *found = NULL;

	open_any_with(symbol, &found);
	return found;
}

void symbol_visit(const char *symbol, void (*visit)(void *address))
{
	void *found = NULL, *library = open_any_with(symbol, &found);

	if (!library)
		return;
	visit(found);
	dlclose(library);
}

void *symbol_next(const char *symbol, const char *const *sonames)
{
	void *found = dlsym(RTLD_NEXT, symbol);

	for (; !found && *sonames; sonames++)
		open_with(*sonames, symbol, &found);
	return found;
}
