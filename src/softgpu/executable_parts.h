/* The data structures of an executable. For executable.c, executable_symbol.c and loaded_object.c
 * only; all other files use handles (executable.h). */
#ifndef SOFTGPU_EXECUTABLE_PARTS_H
#define SOFTGPU_EXECUTABLE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/agent.h"
#include "softgpu/code_object.h"
#include "softgpu/executable.h"

struct code_object_reader;

struct symbol {
	struct code_object_symbol info; /* name is owned; address is the load address */
	struct softgpu_agent *agent;
	struct blit_layout *layout; /* owned; for ROCclr's own kernels, else NULL */
	struct symbol *next_kernel; /* next in the hash bucket of the kernel_object */
};

struct loaded_object {
	struct executable_loaded info;
	struct symbol *symbols; /* owned; sorted by name */
	uint32_t symbol_count;
	uint32_t first_symbol; /* index of symbols[0] among all symbols of the executable */
};

/* A variable that the program defines, for code objects that declare it without a definition. */
struct external {
	char *name;		     /* owned */
	struct softgpu_agent *agent; /* NULL: defined for every agent */
	uint64_t address;
	struct external *next;
};

struct executable {
	uint64_t handle;
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	bool is_frozen;
	struct loaded_object **loaded; /* owned, in the order of loading */
	uint32_t loaded_count;
	uint32_t symbol_count;	    /* of all loaded code objects */
	struct external *externals; /* owned */
};

/* Take and release the lock that protects all executables. No callback, no allocation of device
 * memory and no look-up of a host function happens while it is held. */
void executable_lock(void);
void executable_unlock(void);

/* Return the executable of a handle, and the executable that a symbol's handle belongs to; NULL for
 * an unknown handle. The caller holds the lock; the result is valid until executable_unlock. */
struct executable *executable_find(hsa_executable_t handle);
struct executable *executable_find_by_symbol(hsa_executable_symbol_t handle);

/* Finds the variables that a code object declares and the program defines. */
struct external_resolver {
	code_object_resolve_fn resolve;
	void *data;
};

/* Loads the code object of READER for EXECUTABLE into AGENT's memory. It is not added to the
 * executable. Called without the lock. Returns HSA_STATUS_SUCCESS, or an error and no object. */
hsa_status_t loaded_object_create(const struct code_object_reader *reader,
				  hsa_executable_t executable, struct softgpu_agent *agent,
				  const struct external_resolver *resolver,
				  struct loaded_object **ret_loaded);

/* Frees the object with its memory on the agent. LOADED may be NULL. */
void loaded_object_destroy(struct loaded_object *loaded);

/* Compares two struct symbol by name, for qsort and bsearch. */
int symbol_compare_names(const void *a, const void *b);

#endif
