/* Loaded code objects: from a dispatch packet's kernel_object back to the kernel, and what the
 * loader extension tells about executables. */
#ifndef SOFTGPU_EXECUTABLE_H
#define SOFTGPU_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "softgpu/blit.h"

struct softgpu_kernel {
	char name[4096]; /* without ".kd"; hipBLASLt has names of some 600 bytes */
	uint32_t kernarg_bytes;
	uint32_t group_bytes;
	uint32_t private_bytes;
	struct blit_layout layout; /* of ROCclr's own */
};

/* Looks KERNEL_OBJECT up among the loaded executables and copies what is known. Cost: a hash
 * look-up under a lock. False when no loaded kernel has that address. */
bool executable_find_kernel(uint64_t kernel_object, struct softgpu_kernel *ret_kernel);

/* A code object that was loaded into an executable, as one segment of memory. */
struct executable_loaded {
	hsa_executable_t executable;
	hsa_agent_t agent;
	bool is_file;
	int file;
	const void *storage; /* the bytes it was loaded from: as long as the program keeps them */
	size_t storage_bytes;
	uintptr_t load_base;
	size_t load_bytes;
	int64_t load_delta; /* load address less linked address */
	char uri[4352];	    /* a path of PATH_MAX and its range; cut if encoding makes it longer */
};

bool executable_get_loaded(hsa_loaded_code_object_t handle, struct executable_loaded *ret_loaded);

/* Iteration without holding a lock: the executable in a slot at or after *CURSOR, which is moved
 * behind it; the INDEX-th code object of an executable. False at the end. */
bool executable_next(uint32_t *cursor, hsa_executable_t *ret_executable);
bool executable_loaded_at(hsa_executable_t executable, uint32_t index,
			  hsa_loaded_code_object_t *ret_handle);

bool executable_exists(hsa_executable_t executable);

#endif
