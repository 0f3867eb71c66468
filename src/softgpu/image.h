/* Image objects: see image.c for what they are here. */
#ifndef SOFTGPU_IMAGE_H
#define SOFTGPU_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

/* The host address of COUNT elements of ELEMENT_BYTES from (X, Y, Z) on, in the image behind a
 * kernel argument. NULL when there is no such image, or when the elements are not all inside. */
void *image_elements(uint64_t handle, size_t x, size_t y, size_t z, size_t count,
		     size_t element_bytes);

/* What ROCclr's blit kernels between buffers and images are given, for BLIT_VALUE and BLIT_ADDRESS (blit.h). */
struct image_blit_args {
	char *buffer;
	uint64_t image;
	uint64_t buffer_origin[4]; /* units */
	int32_t image_origin[4];
	int32_t size[4];
	uint32_t format[4]; /* channels, bytes a channel, units an element */
	uint64_t pitch[4];  /* row and slice, in elements */
};

#define IMAGE_FROM_BUFFER_ARGUMENTS                                                                \
	BLIT_ADDRESS(struct image_blit_args, buffer, "src"),                                       \
		BLIT_VALUE(struct image_blit_args, image, "dst"),                                  \
		BLIT_VALUE(struct image_blit_args, buffer_origin, "srcOrigin"),                    \
		BLIT_VALUE(struct image_blit_args, image_origin, "dstOrigin"),                     \
		BLIT_VALUE(struct image_blit_args, size, "size"),                                  \
		BLIT_VALUE(struct image_blit_args, format, "format"),                              \
		BLIT_VALUE(struct image_blit_args, pitch, "pitch")
/* The buffer is given in smaller units as well. */
#define IMAGE_TO_BUFFER_ARGUMENTS                                                                  \
	BLIT_ADDRESS(struct image_blit_args, buffer, "dstUInt"),                                   \
		BLIT_VALUE(struct image_blit_args, image, "src"),                                  \
		BLIT_VALUE(struct image_blit_args, buffer_origin, "dstOrigin"),                    \
		BLIT_VALUE(struct image_blit_args, image_origin, "srcOrigin"),                     \
		BLIT_VALUE(struct image_blit_args, size, "size"),                                  \
		BLIT_VALUE(struct image_blit_args, format, "format"),                              \
		BLIT_VALUE(struct image_blit_args, pitch, "pitch")

/* ROCclr's blit kernels for images. */
void image_blit_from_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void image_blit_to_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

#endif
