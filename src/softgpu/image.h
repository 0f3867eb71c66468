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

/* ROCclr's blit kernels for images. */
void image_blit_from_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void image_blit_to_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

#endif
