/* What an executable is made of. For executable.c and executable_symbol.c; everybody else goes by
 * handle (executable.h). */
#ifndef SOFTGPU_EXECUTABLE_PARTS_H
#define SOFTGPU_EXECUTABLE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/agent.h"
#include "softgpu/code_object.h"
#include "softgpu/executable.h"

struct symbol {
	struct code_object_symbol info; /* name: owned; address: where it was loaded */
	struct softgpu_agent *agent;
	struct blit_layout *layout; /* of ROCclr's own kernels; else NULL */
	struct symbol *next_kernel; /* in the bucket of its kernel_object */
};

struct loaded_object {
	struct executable_loaded info;
	struct symbol *symbols; /* sorted by name */
	uint32_t symbol_count;
	uint32_t first_symbol; /* number of its first symbol in the executable */
};

/* A variable that the program defines for code objects that only declare it. */
struct external {
	char *name;
	struct softgpu_agent *agent; /* NULL: every agent */
	uint64_t address;
	struct external *next;
};

struct executable {
	uint64_t handle;
	hsa_profile_t profile;
	hsa_default_float_rounding_mode_t rounding;
	bool is_frozen;
	struct loaded_object **loaded;
	uint32_t loaded_count;
	uint32_t symbol_count;
	struct external *externals;
};

/* One lock for all: no call-back, allocation of device memory or look-up of a host function happens
 * under it. What the find functions return is good until unlock. */
void executable_lock(void);
void executable_unlock(void);

struct executable *executable_find(hsa_executable_t handle);
struct executable *executable_find_by_symbol(hsa_executable_symbol_t handle);

/* The order of a loaded code object's symbols, for qsort and bsearch. */
int symbol_compare_names(const void *a, const void *b);

#endif
