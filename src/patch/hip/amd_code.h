/* What AMD's compilers write into a code object about its kernels' arguments: the note of type 32 of
 * "AMDGPU", MessagePack, "amdhsa.kernels" (LLVM's User Guide for AMDGPU Backend, Code Object Metadata,
 * versions 3 to 5). The second witness for relocations on HIP. */
#ifndef DAGPATCH_PATCH_AMD_CODE_H
#define DAGPATCH_PATCH_AMD_CODE_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* Parameters of the kernel NAME (without ".kd") in the ELF image at BYTES, hidden ones too: fills at most
 * CAPACITY and returns how many there are. -ENOENT: it says nothing of it; -EINVAL: it is no such
 * file, or broken. */
int amd_code_parameters(const void *bytes, size_t size, const char *name,
			struct dagpatch_parameter *ret_parameters, uint32_t capacity);

#endif
