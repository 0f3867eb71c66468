/* Executables and the code objects that are loaded into them: finds the kernel of a dispatch
 * packet's kernel_object, and describes executables for the loader extension (loader_ext.c).
 * executable.c holds the HSA functions on executables, executable_symbol.c those on their symbols.
 *
 * Threading: any thread may call these functions; one lock protects all executables. */
#ifndef SOFTGPU_EXECUTABLE_H
#define SOFTGPU_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "softgpu/blit_kernels.h"

/* A copy of what is known about a loaded kernel. */
struct softgpu_kernel {
	char name[4096]; /* without ".kd"; cut when longer. hipBLASLt has names of some 600 bytes */
	uint32_t kernarg_bytes;
	uint32_t group_bytes;
	uint32_t private_bytes;
	struct blit_layout layout; /* set for ROCclr's own kernels only */
};

/* Looks KERNEL_OBJECT up among all loaded kernels and copies what is known about the kernel.
 * Returns false when no loaded kernel has that address. Cost: a hash look-up and a copy of the name
 * under the lock. */
bool executable_find_kernel(uint64_t kernel_object, struct softgpu_kernel *ret_kernel);

/* A copy of what is known about a code object that was loaded into an executable. A code object is
 * one segment of memory. */
struct executable_loaded {
	hsa_executable_t executable;
	hsa_agent_t agent;
	bool is_file; /* loaded from a file; false: from the program's memory */
	int file;     /* the program's descriptor of that file; else -1 */
	/* The program's memory that it was loaded from; valid as long as the program keeps it. NULL
	 * for a file. */
	const void *storage;
	size_t storage_bytes; /* size of the code object as it was read */
	uintptr_t load_base;
	size_t load_bytes;
	int64_t load_delta; /* load address minus linked address */
	char uri[4352];	    /* room for PATH_MAX and the range; cut if the encoding is longer */
};

/* Copies what is known about the loaded code object HANDLE. Returns false for an unknown handle. */
bool executable_get_loaded(hsa_loaded_code_object_t handle, struct executable_loaded *ret_loaded);

/* Iterates over all executables without holding the lock between calls: returns the next one from
 * slot *CURSOR on and moves *CURSOR behind it. *CURSOR is 0 at first. Returns false at the end. */
bool executable_next(uint32_t *cursor, hsa_executable_t *ret_executable);
/* Gives the handle of the INDEX-th code object that was loaded into EXECUTABLE. Returns false when
 * there is none, or no such executable. */
bool executable_loaded_at(hsa_executable_t executable, uint32_t index,
			  hsa_loaded_code_object_t *ret_handle);

/* Returns whether EXECUTABLE is the handle of an executable that was not destroyed. */
bool executable_exists(hsa_executable_t executable);

#endif
