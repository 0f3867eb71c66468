/* What a code object says of its kernels' arguments: the note that compilers put in for the runtime, "amdhsa.kernels"
 * in MessagePack (LLVM's "User Guide for AMDGPU Backend", Code Object Metadata). */
#ifndef SOFTGPU_METADATA_H
#define SOFTGPU_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "softgpu/code_object.h"

struct metadata_argument {
	const char *name; /* in the code object's bytes, not ended; NULL: it has none */
	size_t name_length;
	uint32_t offset;
	uint32_t bytes;
};

typedef void (*metadata_argument_fn)(const struct metadata_argument *argument, void *data);

/* Calls back for each argument of the kernel whose descriptor is SYMBOL ("name.kd"), in order. -ENOENT: the code
 * object says nothing of it; -EINVAL: what it says cannot be read. */
int metadata_each_argument(const struct code_object *object, const char *symbol,
			   metadata_argument_fn callback, void *data);

#endif
