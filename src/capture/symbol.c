#include "capture/symbol.h"

#include <dlfcn.h>
#include <stddef.h>

void *symbol_next(const char *symbol, const char *const *sonames)
{
	void *found = dlsym(RTLD_NEXT, symbol);

	/* The handle is kept: a library whose functions we call must stay. */
	for (; !found && *sonames; sonames++) {
		void *library = dlopen(*sonames, RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			found = dlsym(library, symbol);
	}
	return found;
}
