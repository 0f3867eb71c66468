/* Reads what AMD's compilers write into a code object about the arguments of its kernels: the note
 * of type 32 of "AMDGPU", in MessagePack, under "amdhsa.kernels" (LLVM's User Guide for AMDGPU
 * Backend, Code Object Metadata, versions 3 to 5). On HIP this is the second source of facts about
 * kernels' parameters. */
#ifndef DAGPATCH_PATCH_AMD_CODE_H
#define DAGPATCH_PATCH_AMD_CODE_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* Fills the parameters of the kernel NAME (without ".kd") in the ELF image at BYTES, hidden ones
 * too, CAPACITY at most, and returns how many there are. -ENOENT: the image does not mention the
 * kernel. -EINVAL: it is not such a file, or it is broken. All bytes are checked; nothing is
 * allocated. Any thread. */
int amd_code_parameters(const void *bytes, size_t size, const char *name,
			struct dagpatch_parameter *ret_parameters, uint32_t capacity);

#endif
