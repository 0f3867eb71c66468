/* The calls by which a program submits a kernel, a copy, a memset or a host function to a stream of
 * the model device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/model/model_queue.h"

int model_submit(struct dagpatch_model_stream *given, const struct patch_params *params)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);
	struct operation *operation;
	int err;

	if (stream->capture)
		return model_capture_node(stream, params);
	operation = calloc(1, sizeof(*operation));
	if (!operation)
		return -ENOMEM;
	operation->what = RUN_IMAGE;
	err = model_image(params, &operation->image);
	if (err < 0) {
		patch_image_release(&operation->image);
		free(operation);
		return err;
	}
	pthread_mutex_lock(&model_queues_lock);
	model_stream_append(stream, operation);
	pthread_mutex_unlock(&model_queues_lock);
	return 0;
}

int dagpatch_model_launch_block(struct dagpatch_model_stream *stream,
				struct dagpatch_model_kernel *kernel, const uint32_t grid[3],
				const uint32_t block[3], const void *arguments, uint32_t bytes)
{
	struct patch_kernel *image;
	int err;

	if (!kernel || (!arguments && bytes > 0) || bytes > UINT16_MAX)
		return -EINVAL;
	image = calloc(1, sizeof(*image) + bytes);
	if (!image)
		return -ENOMEM;
	image->function = kernel;
	memcpy(image->grid, grid, sizeof(image->grid));
	memcpy(image->block, block, sizeof(image->block));
	image->argument_bytes = (uint16_t)bytes;
	image->form = PATCH_BY_BLOCK;
	if (bytes > 0)
		memcpy(image->arguments, arguments, bytes);
	err = model_submit(stream, &(struct patch_params){.kind = PATCH_KERNEL,
							  .size = (uint32_t)sizeof(*image) + bytes,
							  .image = image});
	free(image);
	return err;
}

int dagpatch_model_launch(struct dagpatch_model_stream *stream,
			  struct dagpatch_model_kernel *kernel, const uint32_t grid[3],
			  const uint32_t block[3], void *const *parameters)
{
	struct patch_layout *layout;
	struct patch_kernel *image;
	int err;

	if (!kernel || (!parameters && kernel->count > 0))
		return -EINVAL;
	layout = calloc(1, sizeof(*layout) + kernel->count * sizeof(*kernel->parameters));
	image = calloc(1, sizeof(*image) + kernel->bytes);
	err = layout && image ? 0 : -ENOMEM;
	if (err == 0) {
		layout->count = kernel->count;
		memcpy(layout->parameters, kernel->parameters,
		       kernel->count * sizeof(*kernel->parameters));
		image->function = kernel;
		memcpy(image->grid, grid, sizeof(image->grid));
		memcpy(image->block, block, sizeof(image->block));
		image->argument_bytes = (uint16_t)kernel->bytes;
		for (uint32_t i = 0; i < kernel->count; i++)
			memcpy(image->arguments + kernel->parameters[i].offset, parameters[i],
			       kernel->parameters[i].bytes);
		err = model_submit(stream, &(struct patch_params){.kind = PATCH_KERNEL,
								  .size = (uint32_t)sizeof(*image) +
									  kernel->bytes,
								  .image = image,
								  .layout = layout});
	}
	free(layout);
	free(image);
	return err;
}

static struct patch_end end_of(uint64_t pitch, uint64_t rows,
			       const struct dagpatch_model_copy *copy)
{
	return (struct patch_end){
		.pitch = pitch ? pitch : copy->width_bytes,
		.rows = rows ? rows : (copy->height ? copy->height : 1),
		.memory = PATCH_UNIFIED,
	};
}

int dagpatch_model_copy_async(struct dagpatch_model_stream *stream,
			      const struct dagpatch_model_copy *copy)
{
	struct patch_copy image;

	if (!copy)
		return -EINVAL;
	image = (struct patch_copy){
		.dst_address = (uintptr_t)copy->dst,
		.src_address = (uintptr_t)copy->src,
		.dst = end_of(copy->dst_pitch, copy->dst_rows, copy),
		.src = end_of(copy->src_pitch, copy->src_rows, copy),
		.width_bytes = copy->width_bytes,
		.height = copy->height ? copy->height : 1,
		.depth = copy->depth ? copy->depth : 1,
		.dimensions = copy->depth > 1	 ? 3
			      : copy->height > 1 ? 2
						 : 1,
	};

	return model_submit(
		stream,
		&(struct patch_params){.kind = PATCH_COPY, .size = sizeof(image), .image = &image});
}

int dagpatch_model_memset_async(struct dagpatch_model_stream *stream, void *dst, uint32_t value,
				uint32_t element_bytes, uint64_t width)
{
	struct patch_memset image = {
		.address = (uintptr_t)dst,
		.width = width,
		.height = 1,
		.value = value,
		.element_bytes = element_bytes,
	};

	return model_submit(stream, &(struct patch_params){.kind = PATCH_MEMSET,
							   .size = sizeof(image),
							   .image = &image});
}

int dagpatch_model_host_async(struct dagpatch_model_stream *stream, void (*function)(void *user),
			      void *user)
{
	struct patch_host image = {function, user};

	if (!function)
		return -EINVAL;
	return model_submit(
		stream,
		&(struct patch_params){.kind = PATCH_HOST, .size = sizeof(image), .image = &image});
}
