/* Host functions for ROCclr's own kernels, the *blit kernels*: copies, fills, copies of rectangles,
 * and stream memory operations. image_blit.c has those for images.
 *
 * ROCclr changes from version to version which arguments its kernels take, and in which order. So
 * each host function has its own structure of arguments. A code object's metadata says where the
 * kernel has the argument of a given name (blit_read_layout), and blit_run copies each argument
 * from there into the structure.
 *
 * Threading: any thread. */
#ifndef SOFTGPU_BLIT_H
#define SOFTGPU_BLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagtap/softgpu.h>
#include <hsa/hsa.h>

#define BLIT_PREFIX	   "__amd_rocclr_"
#define BLIT_MAX_ARGUMENTS 13
#define BLIT_MAX_BYTES	   192 /* size of the largest structure of arguments */

struct code_object;

/* Maps an argument's name in ROCclr's source to a field of the host function's structure. The field
 * is 0 when the code object's kernel has no argument of that name. */
struct blit_argument {
	const char *name; /* NULL ends the list of a blit */
	uint16_t at;	  /* offset of the field in the structure */
	uint16_t bytes;	  /* size of the field */
	bool is_address;  /* a device address, which blit_run translates to a host address */
};

#define BLIT_VALUE(type, field, name)                                                              \
	{                                                                                          \
		name, offsetof(type, field), sizeof(((type *)0)->field), false                     \
	}
#define BLIT_ADDRESS(type, field, name)                                                            \
	{                                                                                          \
		name, offsetof(type, field), sizeof(((type *)0)->field), true                      \
	}

/* A blit kernel that can be computed on the host. */
struct blit {
	const char *name; /* kernel name, with BLIT_PREFIX */
	softgpu_kernel_fn function;
	struct blit_argument arguments[BLIT_MAX_ARGUMENTS];
};

/* The places of a blit kernel's arguments in the kernel arguments of one code object. The elements
 * belong to those of blit.arguments with the same index. */
struct blit_layout {
	struct {
		uint16_t offset; /* bytes from the start of the kernel arguments */
		uint16_t bytes;	 /* 0: the kernel has no such argument */
	} from[BLIT_MAX_ARGUMENTS];
};

/* Returns the blit kernel with NAME (without ".kd"); NULL when there is no host function for it. */
const struct blit *blit_find(const char *name);

/* Reads from OBJECT's metadata where the kernel has its arguments. SYMBOL is the name of the
 * kernel's descriptor, "name.kd". RET_LAYOUT lacks the arguments that the metadata does not have or
 * that cannot be read. */
void blit_read_layout(const struct code_object *object, const char *symbol,
		      struct blit_layout *ret_layout);

/* Runs BLIT. KERNARG holds the kernel's arguments, BYTES long, with the places that LAYOUT gives;
 * the addresses in it are device addresses. An argument that LAYOUT places outside of BYTES is
 * 0. */
void blit_run(const struct blit *blit, const struct blit_layout *layout, const void *kernarg,
	      size_t bytes, const hsa_kernel_dispatch_packet_t *packet);

#endif
