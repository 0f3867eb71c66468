/* Images: a node's parameters as bytes. The layout depends only on the node's kind and is the same
 * for every driver. The core records, compares and patches images; a driver (driver.h) converts an
 * image into its own structs and back. */
#ifndef DAGPATCH_PATCH_NODE_IMAGE_H
#define DAGPATCH_PATCH_NODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

struct driver_graph; /* driver.h */

/* Kinds of nodes. A node's kind selects the layout of its image. */
enum patch_kind {
	PATCH_KERNEL,
	PATCH_COPY,
	PATCH_MEMSET,
	PATCH_CHILD,
	PATCH_EMPTY,
	PATCH_HOST,
	PATCH_EVENT_RECORD,
	PATCH_EVENT_WAIT,
	PATCH_CONDITIONAL,
	PATCH_OPAQUE, /* any other kind: cannot be read and cannot be added */
	PATCH_KINDS
};

/* How a kernel's arguments are placed in its argument block. Layouts are interned: equal layouts
 * of a function have the same pointer, which is valid as long as the device exists. */
struct patch_layout {
	const void *function;
	uint32_t index; /* number among the device's layouts */
	uint32_t count; /* number of parameters */
	uint32_t bytes; /* end of the last parameter */
	/* the driver or the caller stated it; otherwise packed from what was passed */
	bool is_known;
	struct dagpatch_parameter parameters[];
};

/* How a kernel node passes its arguments to the driver. */
enum patch_form {
	PATCH_BY_POINTERS, /* kernelParams: pointers into the block, cut by the layout */
	PATCH_BY_BLOCK,	   /* the whole block, by `extra`: the kernel was captured that way */
};

/* Image of PATCH_KERNEL. */
struct patch_kernel {
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	uint16_t argument_bytes; /* size of the argument block */
	uint16_t form;		 /* enum patch_form */
	uint8_t arguments[];	 /* placed at the layout's offsets; aligned to 8 bytes */
};
_Static_assert(sizeof(struct patch_kernel) == 40, "a node and this are 64 bytes");

/* The kind of memory at one end of a copy. */
enum patch_memory { PATCH_HOST_MEMORY = 1, PATCH_DEVICE_MEMORY, PATCH_ARRAY, PATCH_UNIFIED };

/* One end of a copy. */
struct patch_end {
	uint64_t array; /* PATCH_ARRAY: used instead of the address */
	uint64_t pitch; /* bytes from one row to the next */
	uint64_t rows;	/* rows from one slice to the next */
	/* position inside; recorded copies have it in the address instead */
	uint64_t x_bytes, y, z;
	uint32_t memory; /* enum patch_memory */
	uint32_t level;	 /* mipmap level of an array */
};

/* Image of PATCH_COPY. It begins with the two addresses, at DAGPATCH_DST and DAGPATCH_SRC. */
struct patch_copy {
	uint64_t dst_address;
	uint64_t src_address;
	struct patch_end dst, src;
	uint64_t width_bytes, height, depth; /* at least 1 */
	uint32_t dimensions; /* 1, 2 or 3: which call made it, where a driver distinguishes them */
	uint32_t reserved;   /* 0, because images are compared byte by byte */
};
_Static_assert(offsetof(struct patch_copy, dst_address) == DAGPATCH_DST, "");
_Static_assert(offsetof(struct patch_copy, src_address) == DAGPATCH_SRC, "");

/* Image of PATCH_MEMSET. */
struct patch_memset {
	uint64_t address;
	uint64_t pitch;
	uint64_t width;	 /* elements in a row */
	uint64_t height; /* rows */
	uint32_t value;
	uint32_t element_bytes;
};

/* Image of PATCH_CHILD: the embedded graph. */
struct patch_child {
	struct driver_graph *graph;
};

/* Image of PATCH_HOST. */
struct patch_host {
	void (*function)(void *user);
	void *user;
};

/* Image of PATCH_EVENT_RECORD and PATCH_EVENT_WAIT. */
struct patch_event {
	void *event;
};

/* PATCH_EMPTY, PATCH_CONDITIONAL and PATCH_OPAQUE have no image. */

/* An image in a buffer that grows. The caller owns it; a driver's node_get and exec_get fill it,
 * with patch_image_resize. Starts zeroed. */
struct patch_image {
	enum patch_kind kind;
	uint32_t size;			   /* in bytes */
	uint32_t capacity;		   /* of BYTES */
	const struct patch_layout *layout; /* kernels: may be NULL; otherwise unused */
	uint8_t *bytes;			   /* allocated by malloc */
};

/* Sets the size; new bytes are 0. -ENOMEM. */
int patch_image_resize(struct patch_image *image, uint32_t size);

/* Frees the buffer and zeroes the struct. */
void patch_image_release(struct patch_image *image);

/* An image that is only read: what struct patch_image has without its buffer. */
struct patch_params {
	enum patch_kind kind;
	uint32_t size;
	const void *image;
	const struct patch_layout *layout; /* kernels: may be NULL */
	/* For kernels, in node_add only: launch attributes that concern dependencies. NULL:
	 * none. */
	const struct dagpatch_attributes *attributes;
};

/* Fills the pointers into an argument block that kernelParams needs, one for each parameter. */
enum { PATCH_PARAMETERS = 1024 }; /* most parameters that a layout has */
static inline void patch_kernel_pointers(const struct patch_kernel *kernel,
					 const struct patch_layout *layout, void **ret_pointers)
{
	const struct dagpatch_parameter *parameter = layout->parameters;
	const struct dagpatch_parameter *end = parameter + layout->count;

	for (; parameter < end; parameter++)
		*ret_pointers++ = (void *)(kernel->arguments + parameter->offset);
}

#endif
