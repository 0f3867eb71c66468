/* ROCclr's own kernels (copy, fill, rectangle, stream memory operations), computed on the host. */
#ifndef SOFTGPU_BLIT_H
#define SOFTGPU_BLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagtap/softgpu.h>
#include <hsa/hsa.h>

#define BLIT_PREFIX	   "__amd_rocclr_"
#define BLIT_MAX_ARGUMENTS 13
#define BLIT_MAX_BYTES	   192 /* of a structure of arguments here */

struct code_object;

/* An argument by the name that ROCclr's source gives it, and where the kernel's structure here has it. ROCclr has
 * changed which arguments its kernels take, and their order; what a code object does not have is 0. */
struct blit_argument {
	const char *name;
	uint16_t at;
	uint16_t bytes;
	bool is_address; /* of the device, to be made one of the host */
};

#define BLIT_VALUE(type, field, name)                                                              \
	{                                                                                          \
		name, offsetof(type, field), sizeof(((type *)0)->field), false                     \
	}
#define BLIT_ADDRESS(type, field, name)                                                            \
	{                                                                                          \
		name, offsetof(type, field), sizeof(((type *)0)->field), true                      \
	}

struct blit {
	const char *name;
	softgpu_kernel_fn function;
	struct blit_argument arguments[BLIT_MAX_ARGUMENTS];
};

/* Where a code object has the arguments of one of these kernels. */
struct blit_layout {
	struct {
		uint16_t offset;
		uint16_t bytes; /* 0: it is not there */
	} from[BLIT_MAX_ARGUMENTS];
};

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
const struct blit *blit_find(const char *name);

/* By the code object's metadata; without any, nothing is there. SYMBOL is the kernel's descriptor, "name.kd". */
void blit_read_layout(const struct code_object *object, const char *symbol,
		      struct blit_layout *ret_layout);

/* Runs BLIT with arguments that lie in KERNARG, BYTES long, as LAYOUT says; the addresses there are the device's. */
void blit_run(const struct blit *blit, const struct blit_layout *layout, const void *kernarg,
	      size_t bytes, const hsa_kernel_dispatch_packet_t *packet);

#endif
