/* Loaded code objects: from a dispatch packet's kernel_object back to the kernel. */
#ifndef SOFTGPU_EXECUTABLE_H
#define SOFTGPU_EXECUTABLE_H

#include <stdbool.h>
#include <stdint.h>

struct softgpu_kernel {
	char name[512]; /* without ".kd" */
	uint32_t kernarg_bytes;
	uint32_t group_bytes;
	uint32_t private_bytes;
};

/* Looks KERNEL_OBJECT up among the loaded executables and copies what is known. Cost: a hash
 * look-up under a read lock. False when no loaded kernel has that address. */
bool executable_find_kernel(uint64_t kernel_object, struct softgpu_kernel *ret_kernel);

#endif
