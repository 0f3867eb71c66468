/* ROCclr's own kernels (copy, fill, rectangle, stream memory operations), computed on the host. */
#ifndef SOFTGPU_BLIT_H
#define SOFTGPU_BLIT_H

#include <stdbool.h>

#include <dagtap/softgpu.h>

#define BLIT_PREFIX "__amd_rocclr_"

/* NULL for a name that is none of them. */
softgpu_kernel_fn blit_find(const char *name);

#endif
