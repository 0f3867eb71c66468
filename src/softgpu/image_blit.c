/* Host functions for ROCclr's kernels that copy between buffers and images. HIP copies its arrays
 * with them. */
#include "softgpu/image.h"

#include <string.h>

#include "softgpu/blit_region.h"
#include "softgpu/device_memory.h"

#define UNIT_MAX_BYTES 4u

/* A copy in either direction. */
struct transfer {
	uint64_t image; /* handle */
	const int32_t *origin;
	const int32_t *size;
	const uint64_t *pitch; /* row and slice pitch of the buffer, in elements */
	size_t element_bytes;
	size_t buffer_offset; /* bytes */
};

static size_t element_bytes(const uint32_t format[4])
{
	return (size_t)format[0] * format[1];
}

static size_t unit_bytes(size_t element)
{
	return element < UNIT_MAX_BYTES ? element : UNIT_MAX_BYTES;
}

/* Returns the host address of the copied part of a row; NULL when it is not all inside the
 * image. */
static char *image_row(const struct transfer *transfer, int32_t y, int32_t z)
{
	const int32_t *origin = transfer->origin;

	return image_elements(transfer->image, (size_t)origin[0], (size_t)origin[1] + (size_t)y,
			      (size_t)origin[2] + (size_t)z, (size_t)transfer->size[0],
			      transfer->element_bytes);
}

static size_t row_bytes(const struct transfer *transfer)
{
	return (size_t)transfer->size[0] * transfer->element_bytes;
}

static bool is_inside_image(const struct transfer *transfer)
{
	const int32_t *size = transfer->size;
	const char *first, *last;

	for (int axis = 0; axis < 3; axis++)
		if (transfer->origin[axis] < 0 || size[axis] < 1)
			return false;
	first = image_row(transfer, 0, 0);
	last = image_row(transfer, size[1] - 1, size[2] - 1);
	return first && last &&
	       memory_is_reachable(first, (uint64_t)(last - first) + row_bytes(transfer));
}

/* Returns the offset of a row in the buffer. */
static size_t buffer_row(const struct transfer *transfer, int32_t y, int32_t z)
{
	const uint64_t elements =
		(uint64_t)z * transfer->pitch[1] + (uint64_t)y * transfer->pitch[0];

	return transfer->buffer_offset + elements * transfer->element_bytes;
}

/* Returns whether all of the copy is inside the image and the buffer; faults otherwise. */
static bool is_possible(const struct transfer *transfer, const char *buffer)
{
	const struct blit_region region = {.base = buffer + transfer->buffer_offset,
					   .unit_bytes = transfer->element_bytes,
					   .width = (uint64_t)transfer->size[0],
					   .height = (uint64_t)transfer->size[1],
					   .depth = (uint64_t)transfer->size[2],
					   .row = transfer->pitch[0],
					   .slice = transfer->pitch[1]};

	if (is_inside_image(transfer))
		return blit_reaches(&region);
	blit_fault();
	return false;
}

/* Copies row by row: from the buffer FROM to the image, or, when FROM is NULL, from the image to
 * the buffer TO. */
static void transfer_rows(const struct transfer *transfer, const char *from, char *to)
{
	if (!is_possible(transfer, from ? from : to))
		return;
	for (int32_t z = 0; z < transfer->size[2]; z++) {
		for (int32_t y = 0; y < transfer->size[1]; y++) {
			char *row = image_row(transfer, y, z);

			if (from)
				memcpy(row, from + buffer_row(transfer, y, z), row_bytes(transfer));
			else
				memcpy(to + buffer_row(transfer, y, z), row, row_bytes(transfer));
		}
	}
}

void image_blit_from_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct image_blit_args *args = kernarg;
	const size_t element = element_bytes(args->format);
	const struct transfer transfer = {
		.image = args->image,
		.origin = args->image_origin,
		.size = args->size,
		.pitch = args->pitch,
		.element_bytes = element,
		.buffer_offset = args->buffer_origin[0] * unit_bytes(element),
	};

	transfer_rows(&transfer, args->buffer, NULL);
}

void image_blit_to_buffer(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct image_blit_args *args = kernarg;
	const size_t element = element_bytes(args->format);
	const struct transfer transfer = {
		.image = args->image,
		.origin = args->image_origin,
		.size = args->size,
		.pitch = args->pitch,
		.element_bytes = element,
		.buffer_offset = args->buffer_origin[0] * unit_bytes(element),
	};

	transfer_rows(&transfer, NULL, args->buffer);
}
