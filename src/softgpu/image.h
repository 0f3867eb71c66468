/* Images as far as HIP's arrays need them: linear memory that can be copied. image.c holds the
 * images and their HSA functions; image_blit.c computes ROCclr's kernels that copy between buffers
 * and images. Threading: any thread; one lock protects the list of images. */
#ifndef SOFTGPU_IMAGE_H
#define SOFTGPU_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

/* Returns the host address of COUNT elements of ELEMENT_BYTES, from (X, Y, Z) on in one row of the
 * image. HANDLE is the value of a kernel argument. Returns NULL when no image has that handle, when
 * its elements have another size, or when not all COUNT elements are inside the image. */
void *image_elements(uint64_t handle, size_t x, size_t y, size_t z, size_t count,
		     size_t element_bytes);

/* The arguments of ROCclr's blit kernels between buffers and images. The macros below list them for
 * the table in blit_kernels.c. */
struct image_blit_args {
	char *buffer;		   /* host address */
	uint64_t image;		   /* handle of the image */
	uint64_t buffer_origin[4]; /* [0]: units; a unit is an element, but at most 4 bytes */
	int32_t image_origin[4];   /* elements, rows, slices */
	int32_t size[4];	   /* elements, rows, slices */
	uint32_t format[4];	   /* channels, bytes of a channel, units of an element */
	uint64_t pitch[4];	   /* distance of rows, and of slices, in elements */
};

#define IMAGE_FROM_BUFFER_ARGUMENTS                                                                \
	BLIT_ADDRESS(struct image_blit_args, buffer, "src"),                                       \
		BLIT_VALUE(struct image_blit_args, image, "dst"),                                  \
		BLIT_VALUE(struct image_blit_args, buffer_origin, "srcOrigin"),                    \
		BLIT_VALUE(struct image_blit_args, image_origin, "dstOrigin"),                     \
		BLIT_VALUE(struct image_blit_args, size, "size"),                                  \
		BLIT_VALUE(struct image_blit_args, format, "format"),                              \
		BLIT_VALUE(struct image_blit_args, pitch, "pitch")
/* The kernel has the buffer in several argument types, one for each size of unit; one is enough. */
#define IMAGE_TO_BUFFER_ARGUMENTS                                                                  \
	BLIT_ADDRESS(struct image_blit_args, buffer, "dstUInt"),                                   \
		BLIT_VALUE(struct image_blit_args, image, "src"),                                  \
		BLIT_VALUE(struct image_blit_args, buffer_origin, "dstOrigin"),                    \
		BLIT_VALUE(struct image_blit_args, image_origin, "srcOrigin"),                     \
		BLIT_VALUE(struct image_blit_args, size, "size"),                                  \
		BLIT_VALUE(struct image_blit_args, format, "format"),                              \
		BLIT_VALUE(struct image_blit_args, pitch, "pitch")

/* Host functions (softgpu_kernel_fn) that copy from a buffer to an image, and back. KERNARG is a
 * struct image_blit_args. A copy that is not all inside the image and the buffer's memory faults
 * (blit_fault) and copies nothing. */
void image_blit_from_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void image_blit_to_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

#endif
