/* How the program's calls reach us: the library exports functions with the names of the vendors'
 * (LD_PRELOAD), dlsym gives our functions for theirs (dlsym_door.c), and so do cuGetProcAddress and
 * hipGetProcAddress. A *door* is one such function. */
#ifndef DAGPATCH_PRELOAD_VENDOR_DOORS_H
#define DAGPATCH_PRELOAD_VENDOR_DOORS_H

#include <stdatomic.h>
#include <stddef.h>

#define DOOR_EXPORT __attribute__((visibility("default")))

struct door {
	const char *name;
	_Atomic(void *) real; /* NULL: not found yet */
};

/* The doors of one vendor's library. If the process has several such libraries, those after the
 * first one are left alone. */
struct door_library {
	const char *prefix; /* of its file's name */
	struct door *doors;
	size_t count;
	_Atomic(void *) base; /* where it is loaded; NULL: not known yet */
};

/* What is given to the program in the place of a library's functions. */
struct door_wrappers {
	struct door_library *library;
	void *const *wrappers; /* one for each door */
	/* Called when the program gets a function that is no door, of any library. May be NULL. */
	void (*unwrapped)(const char *name);
};

extern const struct door_wrappers door_hip, door_cuda;

/* The function behind one of our wrappers, or NULL: no library has it. */
void *door_real(struct door_library *library, size_t door);

/* Finds a function that is no door. NULL: no library has it. */
void *door_find(struct door_library *library, const char *name);

/* Returns our wrapper in the place of FUNCTION, which was found by NAME, or FUNCTION itself. */
void *door_wrap(const struct door_wrappers *to, const char *name, void *function);

#endif
