/* Reads the arguments of kernels from a code object's metadata: the note that compilers write for
 * the runtime, with "amdhsa.kernels" in MessagePack (LLVM's "User Guide for AMDGPU Backend",
 * section Code Object Metadata). The bytes may be anything; all of them are checked. Any thread. */
#ifndef SOFTGPU_METADATA_H
#define SOFTGPU_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "softgpu/code_object.h"

struct metadata_argument {
	const char *name; /* in the code object's bytes, without a NUL; NULL: it has none */
	size_t name_length;
	uint32_t offset; /* bytes from the start of the kernel arguments */
	uint32_t bytes;
};

/* Called for one argument; ARGUMENT is valid during the call only. DATA is the caller's. */
typedef void (*metadata_argument_fn)(const struct metadata_argument *argument, void *data);

/* Calls CALLBACK for each argument of the kernel whose descriptor is SYMBOL ("name.kd"), in their
 * order. Returns 0, -ENOENT when OBJECT has no metadata about the kernel, or -EINVAL when the
 * metadata cannot be read; CALLBACK may have been called before a failure. */
int metadata_each_argument(const struct code_object *object, const char *symbol,
			   metadata_argument_fn callback, void *data);

#endif
