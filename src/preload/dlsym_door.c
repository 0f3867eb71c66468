/* What our dlsym does with handles of libraries: gives wrappers in the place of the vendors'
 * functions. */
#include <string.h>

#include "base/dlsym_entry.h"
#include "preload/vendor_doors.h"

static const struct door_wrappers *const libraries[] = {&door_hip, &door_cuda};

void *dlsym_of_handle(void *handle, const char *name)
{
	void *found = dlsym_inner(handle, name);

	/* All doors begin so; most names that programs ask for do not. */
	if (!found || !name ||
	    (strncmp(name, "cu", 2) != 0 && strncmp(name, "hip", 3) != 0 &&
	     strncmp(name, "__hip", 5) != 0))
		return found;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		found = door_wrap(libraries[i], name, found);
	return found;
}
