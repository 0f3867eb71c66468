/* ROCclr's own kernels (copy, fill, rectangle, stream memory operations), computed on the host. */
#ifndef SOFTGPU_BLIT_H
#define SOFTGPU_BLIT_H

#include <stdbool.h>
#include <stdint.h>

#include <dagtap/softgpu.h>

#define BLIT_PREFIX "__amd_rocclr_"

/* What a kernel touches through one pointer; all but the base in units. */
struct blit_region {
	const void *base; /* host address */
	uint64_t unit_bytes;
	uint64_t start;
	uint64_t width, height, depth;
	uint64_t row, slice; /* from one to the next */
};

/* True when all of it is memory of the device or locked memory. Otherwise the kernel has to do
 * nothing: it has faulted. */
bool blit_reaches(const struct blit_region *region);

/* For what is out of range by another measure than a region: this thread's kernel has faulted. */
void blit_fault(void);

/* Whether a kernel has faulted in this thread since the last call. */
bool blit_take_fault(void);

/* NULL for a name that is none of them. */
softgpu_kernel_fn blit_find(const char *name);

#endif
