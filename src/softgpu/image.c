/* The list of images and samplers, and the HSA functions on them (image.h). All images have the
 * linear layout, and no kernel samples one. */
#include "softgpu/image.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/device_memory.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

#define ROW_ALIGNMENT  256u
#define BASE_ALIGNMENT 256u
#define MAX_ELEMENTS   (1u << 27)
#define RESOURCE_WORDS 16

/* An image or a sampler. Its handle is the address of this struct: HIP copies the words of the
 * hardware's resource descriptor from there into a texture object, 12 words for an image and 8 for
 * a sampler. */
struct image {
	uint32_t resource[RESOURCE_WORDS]; /* all 0 */
	struct image *next;
	bool is_sampler; /* the fields below are 0 */
	char *data;	 /* the program's memory, a device address */
	size_t element_bytes;
	size_t width; /* elements */
	size_t height;
	size_t slices;	  /* depth times layers of an array */
	size_t row_pitch; /* bytes */
	size_t slice_pitch;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static struct image *images; /* live images and samplers, under lock */

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

static void lock_images(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

static size_t channel_bytes(hsa_ext_image_channel_type32_t type)
{
	switch (type) {
	case HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8:
		return 1;
	case HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT:
		return 2;
	case HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32:
	case HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT:
		return 4;
	default:
		return 0; /* packed types are not supported */
	}
}

static size_t channel_count(hsa_ext_image_channel_order32_t order)
{
	switch (order) {
	case HSA_EXT_IMAGE_CHANNEL_ORDER_A:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_R:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH:
		return 1;
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RG:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RA:
		return 2;
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_ABGR:
	case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA:
		return 4;
	default:
		return 0;
	}
}

static size_t format_bytes(const hsa_ext_image_format_t *format)
{
	return channel_bytes(format->channel_type) * channel_count(format->channel_order);
}

/* Gives the size and the pitches of a described image. A row or slice pitch of 0 stands for the
 * smallest one that is allowed. */
static hsa_status_t measure(const hsa_ext_image_descriptor_t *descriptor, size_t row_pitch,
			    size_t slice_pitch, struct image *ret_image)
{
	struct image image = {.element_bytes = format_bytes(&descriptor->format)};
	size_t layers = descriptor->array_size ? descriptor->array_size : 1;

	if (image.element_bytes == 0)
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED;
	image.width = descriptor->width;
	image.height = descriptor->height ? descriptor->height : 1;
	image.slices = (descriptor->depth ? descriptor->depth : 1) * layers;
	if (image.width == 0 || image.width > MAX_ELEMENTS || image.height > MAX_ELEMENTS ||
	    descriptor->depth > MAX_ELEMENTS || layers > MAX_ELEMENTS)
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED;
	image.row_pitch = (image.width * image.element_bytes + ROW_ALIGNMENT - 1) &
			  ~(size_t)(ROW_ALIGNMENT - 1);
	if (row_pitch != 0) {
		if (row_pitch < image.width * image.element_bytes)
			return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED;
		image.row_pitch = row_pitch;
	}
	if (__builtin_mul_overflow(image.row_pitch, image.height, &image.slice_pitch))
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED;
	if (slice_pitch != 0) {
		if (slice_pitch < image.slice_pitch)
			return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED;
		image.slice_pitch = slice_pitch;
	}
	if (__builtin_mul_overflow(image.slice_pitch, image.slices, &(size_t){0}))
		return (hsa_status_t)HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED;
	*ret_image = image;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t check_agent(hsa_agent_t handle)
{
	const struct softgpu_agent *agent = agent_find(handle);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	return agent && agent->is_gpu ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t softgpu_hsa_ext_image_get_capability(hsa_agent_t agent,
						  hsa_ext_image_geometry_t geometry,
						  const hsa_ext_image_format_t *image_format,
						  uint32_t *capability_mask)
{
	hsa_status_t status = check_agent(agent);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!image_format || !capability_mask || geometry > HSA_EXT_IMAGE_GEOMETRY_2DADEPTH)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*capability_mask = 0;
	if (format_bytes(image_format) > 0)
		*capability_mask = HSA_EXT_IMAGE_CAPABILITY_READ_ONLY |
				   HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY |
				   HSA_EXT_IMAGE_CAPABILITY_READ_WRITE;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_ext_image_get_capability_with_layout(
	hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
	const hsa_ext_image_format_t *image_format, hsa_ext_image_data_layout_t image_data_layout,
	uint32_t *capability_mask)
{
	if (image_data_layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return softgpu_hsa_ext_image_get_capability(agent, geometry, image_format, capability_mask);
}

hsa_status_t softgpu_hsa_ext_image_data_get_info_with_layout(
	hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
	hsa_access_permission_t access_permission, hsa_ext_image_data_layout_t image_data_layout,
	size_t image_data_row_pitch, size_t image_data_slice_pitch,
	hsa_ext_image_data_info_t *image_data_info)
{
	hsa_status_t status = check_agent(agent);
	struct image image;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!image_descriptor || !image_data_info ||
	    image_data_layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = measure(image_descriptor, image_data_row_pitch, image_data_slice_pitch, &image);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	image_data_info->size = image.slice_pitch * image.slices;
	image_data_info->alignment = BASE_ALIGNMENT;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_ext_image_data_get_info(hsa_agent_t agent,
						 const hsa_ext_image_descriptor_t *image_descriptor,
						 hsa_access_permission_t access_permission,
						 hsa_ext_image_data_info_t *image_data_info)
{
	return softgpu_hsa_ext_image_data_get_info_with_layout(
		agent, image_descriptor, access_permission, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 0, 0,
		image_data_info);
}

/* Adds a copy of IMAGE to the list and gives its handle. */
static hsa_status_t publish(const struct image *image, uint64_t *ret_handle)
{
	struct image *made = malloc(sizeof(*made));

	if (!made)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*made = *image;
	lock_images();
	made->next = images;
	images = made;
	pthread_mutex_unlock(&lock);
	*ret_handle = (uint64_t)(uintptr_t)made;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_ext_image_create_with_layout(
	hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
	const void *image_data, hsa_access_permission_t access_permission,
	hsa_ext_image_data_layout_t image_data_layout, size_t image_data_row_pitch,
	size_t image_data_slice_pitch, hsa_ext_image_t *image)
{
	hsa_status_t status = check_agent(agent);
	struct image made;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!image_descriptor || !image_data || !image ||
	    image_data_layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = measure(image_descriptor, image_data_row_pitch, image_data_slice_pitch, &made);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	made.data = (char *)image_data;
	return publish(&made, &image->handle);
}

hsa_status_t softgpu_hsa_ext_image_create(hsa_agent_t agent,
					  const hsa_ext_image_descriptor_t *image_descriptor,
					  const void *image_data,
					  hsa_access_permission_t access_permission,
					  hsa_ext_image_t *image)
{
	return softgpu_hsa_ext_image_create_with_layout(
		agent, image_descriptor, image_data, access_permission,
		HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 0, 0, image);
}

static hsa_status_t destroy(hsa_agent_t agent, uint64_t handle, bool is_sampler)
{
	hsa_status_t status = check_agent(agent);
	struct image **link = &images;
	struct image *image;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	lock_images();
	while (*link && ((uintptr_t)*link != handle || (*link)->is_sampler != is_sampler))
		link = &(*link)->next;
	image = *link;
	if (image)
		*link = image->next;
	pthread_mutex_unlock(&lock);
	if (!image)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	free(image);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image)
{
	return destroy(agent, image.handle, false);
}

/* A sampler is only a handle, because no image is sampled. */
static hsa_status_t create_sampler(hsa_agent_t agent, const void *descriptor,
				   hsa_ext_sampler_t *ret_sampler)
{
	const struct image made = {.is_sampler = true};
	hsa_status_t status = check_agent(agent);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!descriptor || !ret_sampler)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return publish(&made, &ret_sampler->handle);
}

hsa_status_t softgpu_hsa_ext_sampler_create(hsa_agent_t agent,
					    const hsa_ext_sampler_descriptor_t *sampler_descriptor,
					    hsa_ext_sampler_t *sampler)
{
	return create_sampler(agent, sampler_descriptor, sampler);
}

hsa_status_t
softgpu_hsa_ext_sampler_create_v2(hsa_agent_t agent,
				  const hsa_ext_sampler_descriptor_v2_t *sampler_descriptor,
				  hsa_ext_sampler_t *sampler)
{
	return create_sampler(agent, sampler_descriptor, sampler);
}

hsa_status_t softgpu_hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler)
{
	return destroy(agent, sampler.handle, true);
}

/* Gives a copy of a live image. Returns false for an unknown handle. */
static bool find_image(hsa_ext_image_t handle, struct image *ret_image)
{
	const struct image *image;

	lock_images();
	image = images;
	while (image && ((uintptr_t)image != handle.handle || image->is_sampler))
		image = image->next;
	if (image)
		*ret_image = *image;
	pthread_mutex_unlock(&lock);
	return image != NULL;
}

void *image_elements(uint64_t handle, size_t x, size_t y, size_t z, size_t count,
		     size_t element_bytes)
{
	struct image image;

	if (!find_image((hsa_ext_image_t){handle}, &image) ||
	    image.element_bytes != element_bytes || x > image.width || count > image.width - x ||
	    y >= image.height || z >= image.slices)
		return NULL;
	return memory_translate(image.data + z * image.slice_pitch + y * image.row_pitch +
				x * element_bytes);
}

static bool region_inside(const struct image *image, const hsa_ext_image_region_t *region)
{
	return (uint64_t)region->offset.x + region->range.x <= image->width &&
	       (uint64_t)region->offset.y + region->range.y <= image->height &&
	       (uint64_t)region->offset.z + region->range.z <= image->slices;
}

/* Copies a region between an image and memory, row by row. A pitch that is too small for the region
 * stands for packed memory. */
static hsa_status_t move_region(hsa_ext_image_t handle, char *memory, size_t row_pitch,
				size_t slice_pitch, const hsa_ext_image_region_t *region,
				bool to_image)
{
	struct image image;
	size_t row_bytes;

	if (!memory || !region || !find_image(handle, &image) || !region_inside(&image, region))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	row_bytes = region->range.x * image.element_bytes;
	if (row_pitch < row_bytes)
		row_pitch = row_bytes;
	if (slice_pitch < row_pitch * region->range.y)
		slice_pitch = row_pitch * region->range.y;
	for (size_t z = 0; z < region->range.z; z++) {
		for (size_t y = 0; y < region->range.y; y++) {
			char *row = image.data + (region->offset.z + z) * image.slice_pitch +
				    (region->offset.y + y) * image.row_pitch +
				    region->offset.x * image.element_bytes;
			char *other = memory + z * slice_pitch + y * row_pitch;

			memmove(memory_translate(to_image ? row : other),
				memory_translate(to_image ? other : row), row_bytes);
		}
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_ext_image_import(hsa_agent_t agent, const void *src_memory,
					  size_t src_row_pitch, size_t src_slice_pitch,
					  hsa_ext_image_t dst_image,
					  const hsa_ext_image_region_t *image_region)
{
	hsa_status_t status = check_agent(agent);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	return move_region(dst_image, (char *)src_memory, src_row_pitch, src_slice_pitch,
			   image_region, true);
}

hsa_status_t softgpu_hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t src_image,
					  void *dst_memory, size_t dst_row_pitch,
					  size_t dst_slice_pitch,
					  const hsa_ext_image_region_t *image_region)
{
	hsa_status_t status = check_agent(agent);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	return move_region(src_image, dst_memory, dst_row_pitch, dst_slice_pitch, image_region,
			   false);
}
