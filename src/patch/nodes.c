/* Adding nodes to a recording: one function for each kind of node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/layout.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_attributes.h"
#include "patch/node_order.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/slot_add.h"

/* ---- kernels ---- */

static int choose_layout(struct dagpatch_recording *recording, const struct dagpatch_kernel *kernel,
			 const struct patch_layout **ret_layout)
{
	uint32_t *sizes;
	int err = patch_layout_find(recording->device, kernel->function, ret_layout);

	if (err != -ENOTSUP)
		return err;
	patch_fault_take(); /* an unknown kernel is not a failure */
	sizes = malloc(((size_t)kernel->argument_count + 1) * sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->argument_count; i++)
		sizes[i] = kernel->arguments[i].size;
	err = layout_pack(recording->device, kernel->function, sizes, kernel->argument_count,
			  ret_layout);
	free(sizes);
	return err;
}

/* Checks the pointers before they are used. */
static int check_given(struct dagpatch_recording *recording, const struct dagpatch_kernel *kernel)
{
	if (!kernel->function)
		return recording_fail(recording, -EINVAL, "a kernel without a function");
	if (!kernel->arguments && kernel->argument_count > 0)
		return recording_fail(recording, -EINVAL, "a kernel's arguments are missing");
	for (uint32_t i = 0; i < kernel->argument_count; i++)
		if (!kernel->arguments[i].pointers && kernel->arguments[i].pointer_count > 0)
			return recording_fail(recording, -EINVAL,
					      "the addresses in argument %u are missing", i);
	return 0;
}

static int check_arguments(struct dagpatch_recording *recording,
			   const struct dagpatch_kernel *kernel, const struct patch_layout *layout)
{
	if (layout->count != kernel->argument_count)
		return recording_fail(recording, -EINVAL, "%u arguments for a kernel that takes %u",
				      kernel->argument_count, layout->count);
	for (uint32_t i = 0; i < layout->count; i++)
		if (layout->parameters[i].bytes != kernel->arguments[i].size)
			return recording_fail(
				recording, -EINVAL, "argument %u has %u bytes, the kernel takes %u",
				i, kernel->arguments[i].size, layout->parameters[i].bytes);
	return 0;
}

static int append_pointer(struct dagpatch_recording *recording, uint32_t node, uint32_t offset,
			  const struct dagpatch_argument *argument,
			  const struct dagpatch_pointer *pointer)
{
	uint64_t slot_bytes =
		pointer->slot < recording->slot_count ? recording->slots[pointer->slot].bytes : 0;
	uint64_t range = pointer->range_bytes;
	int err;

	if (range == 0)
		range = pointer->offset < slot_bytes ? slot_bytes - pointer->offset : 0;
	err = slot_check(recording, pointer->slot, pointer->offset, range, "an argument");
	if (err < 0)
		return err;
	if (argument->size < 8 || pointer->byte > argument->size - 8)
		return recording_fail(recording, -EINVAL,
				      "an address at byte %u of an argument of %u bytes",
				      pointer->byte, argument->size);
	if (pointer->access & ~(uint32_t)(DAGPATCH_READS | DAGPATCH_WRITES))
		return recording_fail(recording, -EINVAL, "unknown access of an argument");
	err = relocation_append(recording, node,
				(uint32_t)sizeof(struct patch_kernel) + offset + pointer->byte,
				pointer->slot, pointer->offset);
	if (err < 0)
		return err;
	return access_append(recording, &(struct access){
						.node = node,
						.slot = pointer->slot,
						.begin = pointer->offset,
						.end = pointer->offset + range,
						.writes = pointer->access != DAGPATCH_READS,
					});
}

static int fill_kernel(struct dagpatch_recording *recording, uint32_t node,
		       const struct dagpatch_kernel *kernel, const struct patch_layout *layout)
{
	struct patch_kernel *image = node_image(recording, node);

	image->function = kernel->function;
	memcpy(image->grid, kernel->grid, sizeof(image->grid));
	memcpy(image->block, kernel->block, sizeof(image->block));
	image->shared_bytes = kernel->shared_bytes;
	image->argument_bytes = (uint16_t)layout->bytes;
	image->form = PATCH_BY_POINTERS;
	recording->nodes[node].detail = layout->index;
	for (uint32_t i = 0; i < kernel->argument_count; i++) {
		const struct dagpatch_argument *argument = &kernel->arguments[i];
		uint32_t offset = layout->parameters[i].offset;

		if (argument->bytes)
			memcpy(image->arguments + offset, argument->bytes, argument->size);
		for (uint32_t j = 0; j < argument->pointer_count; j++) {
			int err = append_pointer(recording, node, offset, argument,
						 &argument->pointers[j]);

			if (err < 0)
				return err;
		}
	}
	return 0;
}

static int add_kernel(struct dagpatch_recording *recording, const struct dagpatch_kernel *given,
		      const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_kernel kernel;
	const struct patch_layout *layout;
	struct mark mark;
	uint32_t node;
	int err = add_check(recording, "dagpatch_add_kernel", &mark);

	if (err == 0)
		err = recording_read(recording, &kernel, sizeof(kernel), given, "kernel");
	if (err == 0)
		err = check_given(recording, &kernel);
	if (err < 0)
		return err;
	err = choose_layout(recording, &kernel, &layout);
	if (err < 0)
		return recording_fail(recording, err, "the kernel's arguments: %s", strerror(-err));
	err = check_arguments(recording, &kernel, layout);
	if (err == 0)
		err = node_append(recording, PATCH_KERNEL,
				  (uint32_t)sizeof(struct patch_kernel) + layout->bytes, &node);
	if (err == 0)
		err = fill_kernel(recording, node, &kernel, layout);
	if (err == 0 && kernel.attributes)
		err = attributes_add(recording, node, kernel.attributes);
	return add_end(recording, err, &mark, after, ret_node);
}

int dagpatch_add_kernel(struct dagpatch_recording *recording, const struct dagpatch_kernel *kernel,
			const struct dagpatch_after *after, uint32_t *ret_node)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = add_kernel(recording, kernel, after, ret_node);
	recording_leave(recording);
	return err;
}

/* ---- copies ---- */

/* The number of bytes from the first byte to one past the last. */
static uint64_t span(const struct patch_copy *copy, const struct patch_end *end)
{
	return ((copy->depth - 1) * end->rows + copy->height - 1) * end->pitch + copy->width_bytes;
}

/* A single row has no pitch and a single slice no rows: values given for them are ignored. */
static uint64_t pitch_of(const struct patch_copy *copy, const struct dagpatch_end *end)
{
	bool is_one_row = copy->height == 1 && copy->depth == 1;

	return end->pitch && !is_one_row ? end->pitch : copy->width_bytes;
}

static uint64_t rows_of(const struct patch_copy *copy, const struct dagpatch_end *end)
{
	return end->rows && copy->depth > 1 ? end->rows : copy->height;
}

static int check_end(struct dagpatch_recording *recording, const struct dagpatch_end *end,
		     const struct patch_copy *copy)
{
	/* Products of numbers up to this limit fit into 64 bits. */
	static const uint64_t limit = UINT64_C(1) << 40;
	uint64_t pitch = pitch_of(copy, end), rows = rows_of(copy, end);

	if (pitch > limit || rows > limit / pitch || copy->depth > limit ||
	    copy->depth > (limit << 10) / (rows * pitch))
		return recording_fail(recording, -EINVAL, "a copy of more than 2^50 bytes");
	if (pitch < copy->width_bytes || rows < copy->height)
		return recording_fail(
			recording, -EINVAL, "a copy's rows overlap: pitch %llu, width %llu",
			(unsigned long long)pitch, (unsigned long long)copy->width_bytes);
	return 0;
}

static int fill_end(struct dagpatch_recording *recording, uint32_t node,
		    const struct dagpatch_end *end, bool is_dst)
{
	struct patch_copy *copy = node_image(recording, node);
	struct patch_end *image = is_dst ? &copy->dst : &copy->src;
	uint32_t byte = is_dst ? DAGPATCH_DST : DAGPATCH_SRC;
	bool on_host = end->on_host;
	int err = check_end(recording, end, copy);

	if (err < 0)
		return err;
	image->pitch = pitch_of(copy, end);
	image->rows = rows_of(copy, end);
	if (end->slot == DAGPATCH_NONE) {
		uint64_t address = (uintptr_t)end->address;

		if (!address)
			return recording_fail(recording, -EINVAL,
					      "a copy's end has neither slot nor address");
		memcpy((uint8_t *)copy + byte, &address, sizeof(address));
	} else {
		uint64_t bytes = span(copy, image);

		err = slot_check(recording, end->slot, end->offset, bytes, "a copy");
		if (err == 0)
			err = relocation_append(recording, node, byte, end->slot, end->offset);
		if (err == 0)
			err = access_append(recording,
					    &(struct access){node, end->slot, end->offset,
							     end->offset + bytes, is_dst});
		on_host = err == 0 && recording->slots[end->slot].on_host;
	}
	image->memory = on_host ? PATCH_HOST_MEMORY : PATCH_DEVICE_MEMORY;
	return err;
}

int dagpatch_add_copy(struct dagpatch_recording *recording, const struct dagpatch_copy *given,
		      const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_copy copy;
	struct mark mark;
	uint32_t node;
	int err = add_begin(recording, "dagpatch_add_copy", &mark);

	if (err == 0)
		err = recording_read(recording, &copy, sizeof(copy), given, "copy");
	if (err < 0)
		return err;
	if (copy.width_bytes == 0)
		return recording_fail(recording, -EINVAL, "a copy of 0 bytes");
	err = node_append(recording, PATCH_COPY, sizeof(struct patch_copy), &node);
	if (err == 0) {
		struct patch_copy *image = node_image(recording, node);

		image->width_bytes = copy.width_bytes;
		image->height = copy.height ? copy.height : 1;
		image->depth = copy.depth ? copy.depth : 1;
		image->dimensions = image->depth > 1 ? 3 : image->height > 1 ? 2 : 1;
		err = fill_end(recording, node, &copy.dst, true);
	}
	if (err == 0)
		err = fill_end(recording, node, &copy.src, false);
	return add_end(recording, err, &mark, after, ret_node);
}

/* ---- memsets, empty, host and event nodes ---- */

static int check_memset(struct dagpatch_recording *recording, const struct dagpatch_memset *memset,
			uint64_t *ret_bytes)
{
	uint64_t row = memset->width * memset->element_bytes;
	uint64_t height = memset->height ? memset->height : 1;

	if (memset->element_bytes != 1 && memset->element_bytes != 2 && memset->element_bytes != 4)
		return recording_fail(recording, -EINVAL,
				      "a memset's elements have 1, 2 or 4 bytes");
	if (memset->element_bytes < 4 && memset->value >> (8 * memset->element_bytes))
		return recording_fail(recording, -EINVAL,
				      "a memset's value 0x%x does not fit into %u bytes",
				      memset->value, memset->element_bytes);
	if (memset->width == 0 || memset->width > UINT64_C(1) << 48 || height > UINT64_C(1) << 32)
		return recording_fail(recording, -EINVAL, "a memset of %llu x %llu elements",
				      (unsigned long long)memset->width,
				      (unsigned long long)height);
	if (height > 1 && (memset->pitch < row || memset->pitch > (UINT64_C(1) << 60) / height))
		return recording_fail(recording, -EINVAL,
				      "a memset's pitch %llu, its rows have %llu",
				      (unsigned long long)memset->pitch, (unsigned long long)row);
	*ret_bytes = (height - 1) * memset->pitch + row;
	return 0;
}

int dagpatch_add_memset(struct dagpatch_recording *recording, const struct dagpatch_memset *given,
			const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_memset memset;
	struct mark mark;
	uint64_t bytes = 0;
	uint32_t node;
	int err = add_begin(recording, "dagpatch_add_memset", &mark);

	if (err == 0)
		err = recording_read(recording, &memset, sizeof(memset), given, "memset");
	if (err == 0)
		err = check_memset(recording, &memset, &bytes);
	if (err == 0)
		err = slot_check(recording, memset.slot, memset.offset, bytes, "a memset");
	if (err < 0)
		return err;
	err = node_append(recording, PATCH_MEMSET, sizeof(struct patch_memset), &node);
	if (err == 0) {
		*(struct patch_memset *)node_image(recording, node) = (struct patch_memset){
			.pitch = memset.height > 1 ? memset.pitch : 0,
			.width = memset.width,
			.height = memset.height ? memset.height : 1,
			.value = memset.value,
			.element_bytes = memset.element_bytes,
		};
		err = relocation_append(recording, node, 0, memset.slot, memset.offset);
	}
	if (err == 0)
		err = access_append(recording, &(struct access){node, memset.slot, memset.offset,
								memset.offset + bytes, true});
	return add_end(recording, err, &mark, after, ret_node);
}

static int add_simple(struct dagpatch_recording *recording, const struct patch_params *params,
		      const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct mark mark;
	uint32_t node;
	int err = add_begin(recording, "adding a node", &mark);

	if (err < 0)
		return err;
	err = node_append(recording, params->kind, params->size, &node);
	if (err == 0 && params->size > 0)
		memcpy(node_image(recording, node), params->image, params->size);
	return add_end(recording, err, &mark, after, ret_node);
}

int dagpatch_add_empty(struct dagpatch_recording *recording, const struct dagpatch_after *after,
		       uint32_t *ret_node)
{
	return add_simple(recording, &(struct patch_params){.kind = PATCH_EMPTY}, after, ret_node);
}

int dagpatch_add_host(struct dagpatch_recording *recording, const struct dagpatch_host *given,
		      const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_host host;
	struct patch_host image;
	int err = recording_check(recording);

	if (err == 0)
		err = recording_read(recording, &host, sizeof(host), given, "host");
	if (err < 0)
		return err;
	image = (struct patch_host){host.function, host.user};
	if (!host.function)
		return recording_fail(recording, -EINVAL, "a host node without a function");
	return add_simple(
		recording,
		&(struct patch_params){.kind = PATCH_HOST, .size = sizeof(image), .image = &image},
		after, ret_node);
}

static int add_event(struct dagpatch_recording *recording, enum patch_kind kind, void *event,
		     const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct patch_event image = {event};
	int err = recording_check(recording);

	if (err < 0)
		return err;
	if (!event)
		return recording_fail(recording, -EINVAL, "an event node without an event");
	return add_simple(
		recording,
		&(struct patch_params){.kind = kind, .size = sizeof(image), .image = &image}, after,
		ret_node);
}

int dagpatch_add_event_record(struct dagpatch_recording *recording, void *event,
			      const struct dagpatch_after *after, uint32_t *ret_node)
{
	return add_event(recording, PATCH_EVENT_RECORD, event, after, ret_node);
}

int dagpatch_add_event_wait(struct dagpatch_recording *recording, void *event,
			    const struct dagpatch_after *after, uint32_t *ret_node)
{
	return add_event(recording, PATCH_EVENT_WAIT, event, after, ret_node);
}
